# Functions shared by the scripts of this folder; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
python=$target/python/bin/python

# What the library is called on this system.
case $(uname -s) in
Darwin) library_name=libwgcl.dylib ;;
*) library_name=libwgcl.so ;;
esac

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Runs a command as root: directly, or through sudo. Fails without a word where neither is possible.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        return 1
    fi
}

# Builds libwgcl.so, and other packages of the workspace that are named, and prints the library's path; WGCL_LIBRARY names a ready one instead.
library() { # [PACKAGE...]
    if [ -n "${WGCL_LIBRARY:-}" ]; then
        [ -e "$WGCL_LIBRARY" ] || die "WGCL_LIBRARY=$WGCL_LIBRARY: no such file"
        realpath "$WGCL_LIBRARY"
        return
    fi
    command -v cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
    local quiet=--quiet
    if is_stale "$target/release/$library_name"; then
        say "building wgcl in $target/release: two to ten minutes the first time, cargo tells how far it is"
        quiet=
    fi
    # shellcheck disable=SC2086
    (cd "$root" && cargo build --release $quiet --package wgcl ${*/#/--package }) >&2 || die "the build failed"
    # Where cargo had nothing to do for what is newer, it need not be told of again.
    [ -n "$quiet" ] || touch "$target/release/$library_name"
    realpath "$target/release/$library_name"
}

# Whether a build result is missing, or older than anything that it may be made of.
is_stale() {
    [ -e "$1" ] || return 0
    local newer
    newer=$(find "$root" \( -path "$target" -o -name .git -o -name target \) -prune -o -type f \
        \( -name '*.rs' -o -name '*.toml' -o -name '*.cl' -o -name '*.h' -o -name Cargo.lock \) -newer "$1" -print -quit)
    [ -n "$newer" ]
}

# Points the ICD loaders (ocl-icd and Khronos's) to one library, and to nothing else, for the programs that this shell starts.
use_library() {
    local folder=$target/icd
    mkdir -p "$folder"
    printf '%s\n' "$1" >"$folder/wgcl.icd.$$"
    mv "$folder/wgcl.icd.$$" "$folder/wgcl.icd"
    export OCL_ICD_VENDORS=$folder OPENCL_VENDOR_PATH=$folder
    unset OCL_ICD_FILENAMES
}
