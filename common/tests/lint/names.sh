#!/bin/sh
# names.sh REPOSITORY: a file's name has to be unique in its folder alone. Two names have to be unique
# in the whole project: that of a Python module, which others import without its folder, and that of
# an include guard, or one of two headers would be empty where both are included.
set -u
cd "$1" || exit 2
folders=$(ls -d common beyond library hopper_check docs/site 2>/dev/null)
modules() {
    # shellcheck disable=SC2086 # a list of words
    find $folders -name '*.py'
}
failed=0
for name in $(modules | sed 's|.*/||' | sort | uniq -d); do
    echo "one name for several modules:" $(modules | grep "/$name\$")
    failed=1
done
# shellcheck disable=SC2086
for guard in $(grep -rhE --include='*.h' '^#ifndef [A-Z0-9_]+_H$' $folders [0-9]*/ | cut -d' ' -f2 |
    sort | uniq -d); do
    echo "one guard for several headers:" $(grep -rlx --include='*.h' "#ifndef $guard" $folders [0-9]*/)
    failed=1
done
[ "$(modules | wc -l)" -ge 50 ] || { echo "that cannot be all modules"; failed=1; }
exit "$failed"
