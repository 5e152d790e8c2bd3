#!/bin/sh
# book_text.sh ROOT FILE: the book's text of a file, as the last commit has it. What tells of the
# book's kernels is made of this text, so that a reader's edit of a kernel changes the kernel alone.
# Without a repository in ROOT, or for a file that it has not, the text is that of the file. So it is
# with HOPPER_BOOK=tree in the environment, for those who change the book.
#
# book_text.sh --edited ROOT FOLDER...: the files of which the two differ.
if [ "$1" = --edited ]; then
    root=$2
    shift 2
    [ -e "$root/.git" ] && [ "${HOPPER_BOOK-}" != tree ] || exit 0
    exec git -C "$root" diff --name-only HEAD -- "$@" 2>/dev/null
fi
if [ -e "$1/.git" ] && [ "${HOPPER_BOOK-}" != tree ]; then
    git -C "$1" cat-file blob "HEAD:$2" 2>/dev/null && exit
fi
exec cat "$1/$2"
