#!/bin/sh
# no_toolkit.sh CMAKE BUILD_DIRECTORY TARGET: without a CUDA toolkit the target of a GPU program
# fails, and one line says what is missing.
set -u
output=$("$1" --build "$2" --target "$3" 2>&1) && { echo "$3 was built: $output"; exit 1; }
said=$(printf '%s\n' "$output" | grep -c "^$3: .*CUDA toolkit")
[ "$said" -eq 1 ] || { echo "$3 says: $output"; exit 1; }
