# Functions for the scripts in this directory. Source this file; do not run it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
python=$target/python/bin/python

# The target of a cross-build. Empty for this machine.
cross=

# The library's file name on this system.
case $(uname -s) in
Darwin) library_name=libwgcl.dylib ;;
*) library_name=libwgcl.so ;;
esac

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Runs a command as root, directly or with sudo. Fails without a message if neither is possible.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        return 1
    fi
}

# Builds the library and the given packages of the workspace, for the target `$cross` if it is not empty, and prints the library's path. If WGCL_LIBRARY
# is set, prints that path instead.
library() { # [PACKAGE...]
    if [ -n "${WGCL_LIBRARY:-}" ]; then
        [ -e "$WGCL_LIBRARY" ] || die "WGCL_LIBRARY=$WGCL_LIBRARY: file not found"
        realpath "$WGCL_LIBRARY"
        return
    fi
    command -v cargo >/dev/null || die "cargo is not installed; install Rust from https://rustup.rs"
    local quiet=--quiet built=$target/${cross:+$cross/}release
    if is_stale "$built/$library_name"; then
        say "building wgcl in $built (2 to 10 minutes the first time)"
        quiet=
    fi
    # shellcheck disable=SC2086
    (cd "$root" && cargo build --release $quiet ${cross:+--target "$cross"} --package wgcl ${*/#/--package }) >&2 || die "cargo build failed"
    # If cargo did not rebuild, mark the library as current.
    [ -n "$quiet" ] || touch "$built/$library_name"
    realpath "$built/$library_name"
}

# Succeeds if a build result is missing or older than a source file.
is_stale() {
    [ -e "$1" ] || return 0
    local newer
    newer=$(find "$root" \( -path "$target" -o -name .git -o -name target \) -prune -o -type f \
        \( -name '*.rs' -o -name '*.toml' -o -name '*.cl' -o -name '*.h' -o -name Cargo.lock \) -newer "$1" -print -quit)
    [ -n "$newer" ]
}

# Sets the ICD loaders (ocl-icd and Khronos) to this library only, for programs started by this shell.
use_library() {
    local folder=$target/icd
    mkdir -p "$folder"
    printf '%s\n' "$1" >"$folder/wgcl.icd.$$"
    mv "$folder/wgcl.icd.$$" "$folder/wgcl.icd"
    export OCL_ICD_VENDORS=$folder OPENCL_VENDOR_PATH=$folder
    unset OCL_ICD_FILENAMES
}
