# Packages for Windows and macOS, built on Linux. scripts/package sources this file after common.sh and stage.sh.

. "$root/scripts/lib/cross.sh"

# Builds the library and wgclc in release mode for a target, and prints the library's path. If WGCL_LIBRARY is set, prints that path instead.
# The paths of this machine are replaced, as in `portable_library`.
foreign_library() { # TRIPLE FLAG...
    if [ -n "${WGCL_LIBRARY:-}" ]; then library; return; fi
    local triple=$1 flags="--remap-path-prefix=$root=/wgcl"$'\x1f'"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" flag
    shift
    for flag in "$@"; do flags+=$'\x1f'$flag; done
    say "building wgcl in $target/$triple/release (5 to 20 minutes the first time)"
    (cd "$root" && CARGO_ENCODED_RUSTFLAGS=$flags CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$target \
        with_progress "building wgcl" cargo build --release --locked --target "$triple" ${build_std[@]+"${build_std[@]}"} --package wgcl --package wgclc) >&2 ||
        die "cargo build failed for $triple"
    realpath "$target/$triple/release/$library_name"
}

windows_library() {
    [ -n "${WGCL_LIBRARY:-}" ] || windows_toolchain "$target/windows" "$target/windows/rust.log"
    # Without the option, the linker writes the current time.
    foreign_library x86_64-pc-windows-gnu -Clink-arg=-Wl,--no-insert-timestamp
}

# Fails if a file imports a library that is not a part of Windows, for example a library of MinGW.
check_imports() { # FILE
    local foreign
    foreign=$("${tools}objdump" --private-headers "$1" | sed -n 's/.*DLL Name: //p' | tr 'A-Z' 'a-z' | sort -u |
        grep -Ev '^(api-ms-win-[a-z0-9-]*|advapi32|bcrypt|bcryptprimitives|combase|dxgi|gdi32|kernel32|msvcrt|ntdll|ole32|oleaut32|opengl32|rpcrt4|setupapi|shell32|user32|userenv|ws2_32)\.dll$' || true)
    [ -z "$foreign" ] || die "$1: imports libraries that are not a part of Windows: $(tr '\n' ' ' <<<"$foreign")"
}

# Fills a folder with the files that the zip archive and the installer contain.
windows_folder() { # FOLDER
    rm -rf --one-file-system "$1"
    mkdir -p "$1"
    cp "$stage/lib/wgcl.dll" "$stage/bin/wgclc.exe" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/CHANGELOG.md" "$1"
    cp "$root/scripts/packaging/windows/register.cmd" "$root/scripts/packaging/windows/README.txt" "$1"
    gzip -dc "$stage/share/doc/wgcl/THIRD-PARTY.gz" >"$1/THIRD-PARTY.txt"
}

zip() {
    local name=wgcl-$version-$machine-windows
    windows_folder "$packages/zip/$name"
    rm -f "$packages/$name.zip"
    "$(any_python)" "$root/scripts/packaging/windows/zip.py" "$packages/zip/$name" "$packages/$name.zip"
    rm -rf "$packages/zip"
    say "$packages/$name.zip"
}

# Prints an identifier that depends only on the project's address, the version and a name.
identifier() { # NAME
    "$(any_python)" -c 'import sys, uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(sys.argv[1:])))' "$(project repository)" "$version" "$1"
}

# Creates the installer. The name of the maintainer is the part of `authors` before the address.
msi() {
    local folder=$packages/msi file=$packages/wgcl-$version-$machine.msi author
    author=$(project authors)
    windows_folder "$folder"
    cp "$root/scripts/packaging/windows/wgcl.wxs" "$folder"
    find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
    # A version of Windows Installer consists of numbers only.
    (cd "$folder" && wixl --arch x64 -D "ProductCode=$(identifier product)" -D "Version=${version%%-*}" -D "Manufacturer=${author%% <*}" \
        -D "Address=$(project repository)" -o "$file" wgcl.wxs) || die "wixl failed"
    "$(any_python)" "$root/scripts/packaging/windows/fix_msi.py" "$file" "$(identifier "package of $(sha256sum "$folder/wgcl.dll" "$folder/wgclc.exe")")"
    rm -rf --one-file-system "$folder"
    say "$file"
}

# Builds universal files of both architectures in a folder, and prints the library's path.
macos_library() {
    if [ -n "${WGCL_LIBRARY:-}" ]; then library; return; fi
    local architecture built=() folder=$target/macos/universal
    for architecture in aarch64 x86_64; do
        macos_toolchain "$target/macos" "$architecture"
        # The linker removes the symbols, because a change after linking would invalidate the signature of the file.
        built+=("$(dirname "$(foreign_library "$architecture-apple-darwin" -Cstrip=none -Clink-arg=-s)")")
    done
    for file in "$library_name" wgclc; do
        "$(any_python)" "$root/scripts/packaging/macos/universal.py" "$folder/$file" "${built[@]/%//$file}" >&2
    done
    realpath "$folder/$library_name"
}

macos_archive() {
    local name=wgcl-$version-universal-macos folder=$packages/archive
    rm -rf --one-file-system "$folder"
    mkdir -p "$folder"
    cp -a "$stage" "$folder/$name"
    cp "$root/scripts/packaging/install" "$folder/$name/install"
    touch -d "@$SOURCE_DATE_EPOCH" "$folder/$name/install" "$folder/$name"
    tar --create --directory "$folder" --sort=name --owner=0 --group=0 --numeric-owner "$name" | compressed "$packages/$name.tar.gz"
    rm -rf --one-file-system "$folder"
    say "$packages/$name.tar.gz"
}
