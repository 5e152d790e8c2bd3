# fit_variables.awk: chapter 10's fit.h with variables instead of constants, which a program can
# change, and a list of the formula's rates and latencies. The variables are weak: all files that
# include the header share them.
#
# fit.h has one constant of an enum on each line: "    NAME = VALUE,", the last without the comma.
/^enum \{$/ {
    inside = 1
    next
}
inside && /^\};$/ {
    inside = 0
    if (!rates) next
    rates = 0
    print "struct fit_rate { const char *name; int *value; };"
    print "__attribute__((weak)) struct fit_rate fit_rates[] = {" list "};"
    print "enum { FIT_RATES = sizeof fit_rates / sizeof *fit_rates };"
    next
}
inside {
    if (!match($0, /^    [A-Z0-9_]+ = [^,\/]*/)) {
        print "#error one constant on a line is expected"
        next
    }
    split(substr($0, 5, RLENGTH - 4), word, " = ")
    print "__attribute__((weak)) int " word[1] " = " word[2] ";"
    if (word[1] == "FIT_TENSOR_CORE") rates = 1
    if (rates) list = list " {\"" word[1] "\", &" word[1] "},"
    next
}
{ print }
