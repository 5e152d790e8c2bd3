#!/bin/sh
# book_text.sh ROOT FILE: the book's text of a file, as the last commit has it. What tells of the
# book's kernels is made of this text, so that a reader's edit of a kernel changes the kernel alone.
# Without a repository in ROOT, or for a file that it has not, the text is that of the file. So it
# is with HOPPER_BOOK=tree in the environment, for those who change the book.
#
# book_text.sh --edited ROOT: the kernels, and headers beside them, of which the two differ.
# book_text.sh --note ROOT: says so in a sentence, if there are some.
edited() {
    [ -e "$1/.git" ] && [ "${HOPPER_BOOK-}" != tree ] || return
    (cd "$1" && git diff --name-only HEAD -- '[0-9]*/*.cu' '[0-9]*/*.[ch]' 'beyond/[0-9]*/*.cu' \
        'beyond/[0-9]*/*.[ch]' '*/building_blocks/*.h') 2>/dev/null
}
case $1 in
--edited) edited "$2" ;;
--note)
    edited "$2" | while read -r file; do
        echo "note: $file differs from the book's, which is the last commit's;" \
            "git checkout $file puts it back"
    done
    ;;
*)
    if [ -e "$1/.git" ] && [ "${HOPPER_BOOK-}" != tree ]; then
        git -C "$1" cat-file blob "HEAD:$2" 2>/dev/null && exit
    fi
    exec cat "$1/$2"
    ;;
esac
