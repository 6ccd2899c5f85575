# Toolchains for cross-builds, for scripts that test other targets. Source this file after common.sh.

# Succeeds if the compiler that cargo uses has the standard library for a target.
has_target() { # TRIPLE
    [ -e "$(cd "$root" && rustc --print target-libdir --target "$1" 2>/dev/null)" ]
}

# Extracts Debian packages of bookworm and its security updates, which have the newest rustc-web. Installs nothing on this system.
extract_debian() { # FOLDER LOG PACKAGES
    local from security
    from=$(mirror)
    security=${from:-http://deb.debian.org/debian}-security
    if ! mmdebstrap --variant=extract --aptopt='APT::Install-Recommends "false"' --include="$3" bookworm "$1" \
        "deb ${from:-http://deb.debian.org/debian} bookworm main" "deb $security bookworm-security main" >"$2" 2>&1; then
        tail -n 20 "$2" >&2
        die "mmdebstrap failed"
    fi
}

# Extracts Debian's rustc-web with the source of the standard library into a folder, and exports RUSTC. cargo then builds the standard
# library from source (-Zbuild-std).
debian_rust() { # FOLDER LOG
    local folder=$1 log=$2 name file
    if [ ! -x "$folder/rustc" ]; then
        say "--- extracting Debian's rustc-web in $folder (log: $log)"
        rm -rf --one-file-system "$folder/rust" "$folder/lib"
        mkdir -p "$folder/lib"
        extract_debian "$folder/rust" "$log" rustc-web,rust-web-src
        # Link only the libraries that this system may not have. rustc must use the C library of this system.
        for name in librustc_driver libLLVM libffi libedit libz3 libzstd libxml2 libicuuc libicudata libbsd libmd; do
            for file in "$folder/rust/usr/lib/x86_64-linux-gnu/$name"[.-]*so*; do
                if [ -e "$file" ]; then ln -sf "$file" "$folder/lib/"; fi
            done
        done
        printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$folder/lib" "$folder/rust/usr/bin/rustc" >"$folder/rustc.new"
        chmod +x "$folder/rustc.new"
        mv "$folder/rustc.new" "$folder/rustc"
    fi
    # With RUSTC_BOOTSTRAP, cargo and rustc treat this release like a nightly release, which -Zbuild-std requires.
    export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
}

# The arguments of cargo for a toolchain without the standard library of the target. The functions below set them.
build_std=()

# Prepares cargo for x86_64-pc-windows-gnu. Extracts Debian's rustc into the folder if cargo's toolchain has no standard library for the target.
windows_toolchain() { # FOLDER LOG [CRATES]
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
    build_std=()
    if has_target x86_64-pc-windows-gnu; then return; fi
    debian_rust "$1" "$2"
    windows_start_objects "$1"
    build_std=("-Zbuild-std=${3:-std,panic_unwind}")
}

# Prepares cargo for macOS, with zig as the linker, which also signs the files. zig contains the symbols of libSystem only. The other
# libraries are stubs with the symbols that scripts/lib/macos-symbols.txt lists.
macos_toolchain() { # FOLDER ARCHITECTURE
    local folder=$1 triple=$2-apple-darwin
    "$root/scripts/setup" zig || exit 1
    mkdir -p "$folder/tools"
    python3 "$root/scripts/packaging/macos/stubs.py" "$root/scripts/lib/macos-symbols.txt" "$folder/stubs" || die "cannot write stubs of the libraries of macOS"
    # zig does not know some options of Apple's linker. The C library of macOS contains iconv's symbols only in a library that wgcl does not use.
    cat >"$folder/clang" <<END
#!/usr/bin/env bash
arguments=()
while [ \$# -gt 0 ]; do
    case \$1 in
    -liconv | -lSystem | -Wl,-dead_strip | -mmacosx-version-min=*) ;;
    -arch) shift ;;
    *) arguments+=("\$1") ;;
    esac
    shift
done
exec "$target/zig/bin/python-zig" cc -target "\$ZIG_TARGET" -F "$folder/stubs" -L "$folder/stubs" "\${arguments[@]}"
END
    # rustc calls rust-objcopy to remove symbols, which would invalidate the signature. This replacement does nothing.
    printf '#!/bin/sh\n' >"$folder/tools/rust-objcopy"
    chmod +x "$folder/clang" "$folder/tools/rust-objcopy"
    case $PATH in "$folder/tools:"*) ;; *) PATH=$folder/tools:$PATH ;; esac
    export "CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$triple")_LINKER=$folder/clang" "ZIG_TARGET=$2-macos.11.0" MACOSX_DEPLOYMENT_TARGET=11.0
    build_std=()
    if has_target "$triple"; then return; fi
    debian_rust "$folder" "$folder/rust.log"
    build_std=(-Zbuild-std=std,panic_unwind)
}

# Extracts Debian's rustc-web, and lld for the same version of LLVM. Exports RUSTC and the linker for wasm32-unknown-unknown.
debian_wasm_rust() { # FOLDER
    local folder=$1 version
    debian_rust "$folder" "$folder.log"
    if [ ! -x "$folder/wasm-ld" ]; then
        version=$(basename "$folder"/rust/usr/lib/x86_64-linux-gnu/libLLVM.so.* | sed -E 's/libLLVM\.so\.([0-9]+).*/\1/')
        rm -rf --one-file-system "$folder/lld"
        extract_debian "$folder/lld" "$folder.log" "lld-$version"
        printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$folder/lib" "$folder/lld/usr/lib/llvm-$version/bin/wasm-ld" >"$folder/wasm-ld.new"
        chmod +x "$folder/wasm-ld.new"
        mv "$folder/wasm-ld.new" "$folder/wasm-ld"
    fi
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$folder/wasm-ld
}

# Compiles the start-up objects of the target x86_64-pc-windows-gnu for the toolchain of `debian_rust`.
windows_start_objects() { # FOLDER
    local library=$1/rust/usr/lib/rustlib name
    mkdir -p "$library/x86_64-pc-windows-gnu/lib"
    for name in rsbegin rsend; do
        [ -e "$library/x86_64-pc-windows-gnu/lib/$name.o" ] || "$RUSTC" --edition 2021 --target x86_64-pc-windows-gnu -Zunstable-options --emit=obj \
            -o "$library/x86_64-pc-windows-gnu/lib/$name.o" "$library/src/rust/library/rtstartup/$name.rs" || die "cannot compile $name.rs"
    done
}

# Prints the test programs in a log of `cargo test --no-run --message-format=json`: package folder, kind, name and path, one per line.
list_test_programs() { # LOG
    sed -nE 's/.*"package_id":"[^"]*\/([a-z-]+)(#[^"]*)?".*"kind":\["([a-z]+)"\].*"name":"([a-z_-]+)".*"overflow_checks":[a-z]*,"test":true.*"executable":"([^"]+)".*/\1 \3 \4 \5/p' "$1" | sort -u
}

# Reads the output of tests from standard input, and prints each test that fails. When a test ends 20 seconds or more after the last
# count was printed, also prints the number of tests that have ended.
progress() {
    local line count=0 bad=0 last=$SECONDS
    while IFS= read -r line; do
        case $line in
        'test '*' ... FAILED'*) bad=$((bad + 1)) && line=${line#test } && say "  ${line%% ... *} FAILED" ;;
        'test '*' ... '*) ;;
        *) continue ;;
        esac
        count=$((count + 1))
        if [ $((SECONDS - last)) -ge 20 ]; then last=$SECONDS && say "  $count tests, $bad failed"; fi
    done
}

# Appends the result of a program to a log, in the format that `judge` reads. The program has passed if PASSED is not empty.
result() { # LOG NAME PASSED
    if [ -n "$3" ]; then
        printf 'test %s ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n' "$2" >>"$1"
    else
        printf 'test %s ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n' "$2" >>"$1"
    fi
}
