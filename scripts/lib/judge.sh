# Compares the results of test programs with the known failures, for scripts that run them on other systems. Source this file after common.sh.

passed=0
failed=0
skipped=0

# Prints the known failures for the arguments WORD (such as a device and a version), one test per line. An entry in FILE is `fails WORDS: REASON`,
# followed by indented names of tests. It applies if each of its WORDS matches the argument at the same position. `*` matches every argument, and
# `25.0` also matches `25.0.1`.
known_failures() { # FILE WORD...
    known_tests fails "$@"
}

# Prints the tests of entries that begin with KIND: `fails`, or `sometimes` for tests that fail only in some runs.
known_tests() { # KIND FILE WORD...
    local kind=$1 file=$2
    shift 2
    awk -v kind="$kind" -v given="$*" '
        BEGIN { count = split(given, value, " ") }
        /^#/ || /^ *$/ { next }
        /^ / { if (applies) print $1; next }
        {
            split($0, part, ":")
            applies = split(part[1], word, " ") == count + 1 && word[1] == kind
            for (i = 1; i <= count; i++) applies = applies && (word[i + 1] == "*" || index(value[i] ".", word[i + 1] ".") == 1)
        }
    ' "$file"
}

# Compares the tests that failed in a log with the known failures. Adds the counts to `passed`, `failed` and `skipped`, and prints a line with them.
# A known failure counts as skipped, and a known failure that passes counts as failed. A test that fails sometimes counts as skipped if it fails.
judge() { # NAME LOG FILE WORD...
    local name=$1 log=$2 file=$3 known sometimes results p f i unknown outcome test
    shift 3
    results=$(sed -nE 's/^test (.*) \.\.\. (ok|FAILED).*/\2 \1/p' "$log" | sed 's/ - should panic$//')
    known=$(known_failures "$file" "$@")
    sometimes=$(known_tests sometimes "$file" "$@")
    read -r p f i < <(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1 \2 \3/p' "$log" |
        awk '{p += $1; f += $2; i += $3} END {print p + 0, f + 0, i + 0}')
    unknown=0
    while read -r outcome test; do
        [ -n "$test" ] || continue
        if grep -Fxq -- "$test" <<<"$known"; then
            if [ "$outcome" = ok ]; then
                say "$name: $test passes, but $file lists it as a failure ($*): remove the test from the file"
                unknown=$((unknown + 1)) p=$((p - 1))
            else
                i=$((i + 1)) f=$((f - 1))
            fi
        elif [ "$outcome" = FAILED ] && grep -Fxq -- "$test" <<<"$sometimes"; then
            i=$((i + 1)) f=$((f - 1))
        elif [ "$outcome" = FAILED ]; then
            say "$name: FAILED $test"
        fi
    done <<<"$results"
    f=$((f + unknown))
    # A program that crashed has no result line.
    if [ "$p" -eq 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    printf '%-28s %5d passed %4d failed %4d skipped or known (%s)\n' "$name" "$p" "$f" "$i" "$log"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + i))
}

# Prints the line with the counts of all calls of `judge`, in cargo's format. Fails if a test failed.
print_result() {
    printf '\ntest result: %s. %d passed; %d failed; %d ignored\n' "$([ "$failed" -eq 0 ] && echo ok || echo FAILED)" "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}
