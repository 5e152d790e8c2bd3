# sass_loop.awk: one row about the kernel in cuobjdump's listing that multiplies most.

function hexadecimal(text, i, value) {
    value = 0
    for (i = 1; i <= length(text); ++i)
        value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
    return value
}

# The function that has just ended.
function judge(    i, j, mma, length_, best_here) {
    for (i = 1; i <= count; ++i) {
        if (target[i] == "" || target[i] > address[i]) continue
        mma = length_ = 0
        for (j = 1; j <= i; ++j) {
            if (address[j] < target[i]) continue
            ++length_
            mma += operation[j] ~ /^HG?MMA/
        }
        if (mma == 0 || mma < best_mma || (mma == best_mma && length_ >= best_length)) continue
        best_mma = mma
        best_length = length_
        for (k in kinds) found[k] = 0
        for (j = 1; j <= i; ++j)
            if (address[j] >= target[i])
                for (k in kinds) found[k] += operation[j] ~ kinds[k]
    }
    for (i = 1; i <= count; ++i) registers += operation[i] ~ /^USETMAXREG/
    count = 0
}

BEGIN {
    kinds["hmma"] = "^HMMA"
    kinds["hgmma"] = "^HGMMA"
    kinds["ldsm"] = "^LDSM"
    kinds["ldgsts"] = "^LDGSTS"
    kinds["tma"] = "^UTMA|^UBLKCP"
    kinds["mbarrier"] = "^SYNCS"
    kinds["bar"] = "^BAR"
}

/^[ \t]*Function :/ { judge() }

/^[ \t]*\/\*[0-9a-f]+\*\/[ \t]+[^\/ \t]/ {
    line = $0
    sub(/^[ \t]*\/\*/, "", line)
    ++count
    address[count] = hexadecimal(substr(line, 1, index(line, "*/") - 1))
    sub(/^[^\/]*\/[ \t]+/, "", line)
    sub(/^@!?U?P[T0-9]+ +/, "", line)
    operation[count] = line
    target[count] = ""
    if (line ~ /^BRA/ && match(line, /0x[0-9a-f]+/))
        target[count] = hexadecimal(substr(line, RSTART + 2, RLENGTH - 2))
}

END {
    judge()
    if (!best_mma) {
        printf "| %s | no loop with multiplications |\n", kernel
        exit 1
    }
    per = per_tile && found["hmma"] ? sprintf("%.0f", best_length * per_tile / found["hmma"]) : "-"
    printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %d |\n", kernel, best_length,
        found["hmma"], found["hgmma"], found["ldsm"], found["ldgsts"], found["tma"],
        found["mbarrier"], found["bar"], per, registers
}
