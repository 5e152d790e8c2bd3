# fit_variables.awk: chapter 10's cost.h with variables instead of the constants that are fitted,
# which a program can change, and a list of them. The variables are weak: all files that include the
# header share them.
#
# They are the enum that begins with COST_PORT_BYTES, one constant on each line:
# "    NAME = VALUE,".
/^enum \{$/ {
    enum = 1
    next
}
enum {
    enum = 0
    rates = /^    COST_PORT_BYTES = /
    if (!rates) print "enum {"
}
rates && /^\};$/ {
    rates = 0
    print "struct fit_rate { const char *name; int *value; };"
    print "__attribute__((weak)) struct fit_rate fit_rates[] = {" list "};"
    print "enum { FIT_RATES = sizeof fit_rates / sizeof *fit_rates };"
    next
}
rates {
    if (!match($0, /^    [A-Z0-9_]+ = [^,\/]*/)) {
        print "#error one constant on a line is expected"
        next
    }
    split(substr($0, 5, RLENGTH - 4), word, " = ")
    print "__attribute__((weak)) int " word[1] " = " word[2] ";"
    list = list " {\"" word[1] "\", &" word[1] "},"
    next
}
{ print }
