# Creates the directory tree that all packages contain. scripts/package and scripts/install source this file.

# The prefix of the names of the binutils programs, and the emulator that runs wgclc. Both are set for a cross-build only.
tools=
runner=()

# Prints the path of a Python 3: that of the environment with pyopencl, or the system's.
any_python() {
    if [ -x "$python" ]; then printf '%s\n' "$python"; else command -v python3 || die "python3 is not installed"; fi
}

# Copies a binary and strips its debug information. Binaries for macOS are already stripped: a change would invalidate their signatures.
stripped() { # FROM TO
    mkdir -p "$(dirname "$2")"
    install -m 755 "$1" "$2"
    [ "${system:-}" != macos ] || return 0
    "${tools}strip" --strip-unneeded --remove-section=.comment "$2" 2>/dev/null || say "$(basename "$2"): not stripped, because strip (package binutils) is not installed"
}

# Compresses standard input to a file. The result contains no timestamp and no name, so that builds are reproducible.
compressed() { # TO
    mkdir -p "$(dirname "$1")"
    gzip -9 -n >"$1"
}

# Prints the licences of the linked crates.
third_party() {
    local platform=${cross/universal/aarch64}
    (cd "$root" && cargo metadata --format-version 1 --locked --filter-platform "${platform:-$(rustc -vV | sed -n 's/^host: //p')}") |
        "$(any_python)" "$root/scripts/packaging/licences.py"
}

# Empties a directory and fills it with the library, wgclc and licences. For systems whose programs this machine cannot run.
stage_plain() { # LIBRARY WGCLC FOLDER
    local to=$3 doc=$3/share/doc/wgcl
    rm -rf "$to"
    stripped "$1" "$to/lib/$library_name"
    stripped "$2" "$to/bin/$(basename "$2")"
    mkdir -p "$doc"
    cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/CHANGELOG.md" "$doc"
    third_party | compressed "$doc/THIRD-PARTY.gz"
    find "$to" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" {} +
}

# Empties a directory and fills it with the library, wgclc, manual pages, shell completions and licences.
stage() { # LIBRARY WGCLC FOLDER
    local library=$1 tool=$2 to=$3 doc=$3/share/doc/wgcl
    local command=(${runner[@]+"${runner[@]}"} "$tool")
    rm -rf "$to"
    stripped "$library" "$to/lib/$library_name"
    stripped "$tool" "$to/bin/wgclc"
    "${command[@]}" --manual | compressed "$to/share/man/man1/wgclc.1.gz"
    "$(any_python)" "$root/scripts/packaging/manual.py" "$root/docs/options.md" "$(project repository)" | compressed "$to/share/man/man7/wgcl.7.gz"
    mkdir -p "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
    "${command[@]}" --completions bash >"$to/share/bash-completion/completions/wgclc"
    "${command[@]}" --completions zsh >"$to/share/zsh/site-functions/_wgclc"
    "${command[@]}" --completions fish >"$to/share/fish/vendor_completions.d/wgclc.fish"
    mkdir -p "$doc"
    cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$doc"
    sed -e "s|@address@|$(project repository)|" -e "s|@author@|$(project authors)|" "$root/scripts/packaging/copyright" >"$doc/copyright"
    compressed "$doc/CHANGELOG.md.gz" <"$root/CHANGELOG.md"
    third_party | compressed "$doc/THIRD-PARTY.gz"
    find "$to" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" {} +
}
