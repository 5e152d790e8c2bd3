#!/bin/sh
# attention_lengths.sh CHAPTER ANSWER: the checker of 16's exercise, with the chapter's kernel, which
# has no sequences of different lengths, and with the answer's.
set -u
. "$(dirname "$0")/../../../common/tests/support/expect_run.sh"
expect 1 'sequence 0, head 0, mask none: O is off by' "$1"
expect 0 ' 0 failed' "$2"
exit $failed
