# small_book.sh: for scripts that check what the book's checker, the words of ${command[@]}, says of
# a small book in $dir, which is in order. A script ends with $failed.
failed=0
check() { "${command[@]}" "$@"; }

book() {
    rm -rf "$dir"
    mkdir -p "$dir/01_one" "$dir/docs/results"
    printf 'int a;\nint b;\nint c;\nint d;\n' >"$dir/01_one/kernel.cu"
    cat >"$dir/docs/results/gpu.jsonl" <<'END'
{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run"}
{"stage": "01_one", "variant": null, "backend": "cuda", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "burst": {"tflops": 100}, "baselines": [{"name": "cublas", "burst": {"tflops": 200}}]}
END
    cat >"$dir/README.md" <<'END'
# Book

[one](01_one/README.md#the-idea), [self](#book), `[not](a link)`
<!-- table: results=gpu kernels=01,cublas shapes=64 columns=burst,cublas -->
<!-- end -->
END
    {
        echo '# One'
        for section in 'Where we are' 'The idea' Prediction 'The code' Measured \
            'What breaks without it' Exercises 'Further reading'; do
            echo "## $section"
        done
        printf '<!-- excerpt: 01_one/kernel.cu -->\n```c\nint a;\nint b;\nint c;\n```\n'
    } >"$dir/01_one/README.md"
    check --write "$dir" >/dev/null
}

# expect CODE TEXT: the book is judged so.
expect() {
    local code=0 out
    out=$(check "$dir" 2>&1) || code=$?
    if [ "$code" -ne "$1" ] || ! grep -qF -- "$2" <<<"$out"; then
        echo "expected exit code $1 and '$2', got $code and:"
        echo "$out"
        failed=1
    fi
}
