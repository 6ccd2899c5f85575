# Functions for the scripts in this directory. Source this file; do not run it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
python=$target/python/bin/python

# The Rust target of a cross-build. Empty if the build is for this machine.
cross=

# The oldest glibc version that released packages support. RHEL 8 and wheels for manylinux_2_28 use this version.
glibc=2.28

# The library's file name on this system.
case $(uname -s) in
Darwin) library_name=libwgcl.dylib ;;
*) library_name=libwgcl.so ;;
esac

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Prints a value of [workspace.package] in Cargo.toml: version, rust-version, license, repository, authors.
project() { # NAME
    sed -n '/^\[workspace.package\]/,/^\[/s/^'"$1"' = \[\{0,1\}"\([^"]*\)".*/\1/p' "$root/Cargo.toml"
}

# Prints a line with the elapsed time at an interval. With a log of tests, also prints the number of tests that have ended. Start this
# function in the background. It ends when `stop_progress` is called or this shell ends.
show_progress() { # SECONDS TEXT [LOG]
    local begin=$SECONDS waiting
    trap 'kill "$waiting" 2>/dev/null; exit' TERM
    while sleep "$1" & waiting=$!; wait "$waiting" && kill -0 $$ 2>/dev/null; do
        say "$2: $((SECONDS - begin)) s${3:+, $(grep -c '^test .* \.\.\. ' "$3") tests}"
    done
}

stop_progress() { # PROCESS
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# Runs a command. While it runs, prints a line with the elapsed time every 9 seconds.
with_progress() { # TEXT COMMAND...
    local text=$1 pid status=0
    shift
    show_progress 9 "$text" >/dev/null &
    pid=$!
    "$@" || status=$?
    stop_progress "$pid"
    return "$status"
}

# The free disk space in MiB that a release build needs.
build_space=2048

# Whether cc can link a program.
links_programs() {
    local folder status=0
    folder=$(mktemp -d)
    printf 'int main(void) { return 0; }\n' | cc -x c - -o "$folder/program" 2>/dev/null || status=$?
    rm -rf "$folder"
    return "$status"
}

# Prints what a build needs and this machine lacks, one line each.
missing_for_build() {
    local wanted folder=$target free
    wanted=$(project rust-version)
    if ! command -v cargo >/dev/null; then
        echo "Rust $wanted or later: install it from https://rustup.rs"
    elif [ "$(printf '%s\n' "$wanted" "$(cd "$root" && rustc --version | cut -d' ' -f2)" | sort -V | head -n 1)" != "$wanted" ]; then
        echo "Rust $wanted or later: found $(cd "$root" && rustc --version); run: rustup update"
    fi
    if ! command -v cc >/dev/null; then
        echo "a C compiler, which links the library: install the Debian package gcc"
    elif ! links_programs; then
        echo "the files that cc needs to link programs: install the Debian package libc6-dev"
    fi
    while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
    free=$(($(df -Pk "$folder" | awk 'END {print $4}') / 1024))
    # A build that only updates an existing one needs less space.
    [ -e "$target/release/$library_name" ] || [ "$free" -ge "$build_space" ] || echo "$build_space MiB of disk space in $folder: $free MiB are free; set CARGO_TARGET_DIR to another file system"
}

# Ends the script with a list of the programs and files that a build needs and this machine lacks. Does nothing if the list is empty.
check_build() {
    local missing
    missing=$(missing_for_build)
    [ -z "$missing" ] || die "cannot build wgcl. Missing:"$'\n'"$(printf '%s\n' "$missing" | sed 's/^/  /')"
}

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
    local quiet=--quiet built=$target/${cross:+$cross/}release
    if is_stale "$built/$library_name"; then
        check_build
        say "building wgcl in $built (2 to 10 minutes the first time)"
        quiet=
    fi
    # shellcheck disable=SC2086
    (cd "$root" && with_progress "building wgcl" cargo build --release $quiet ${cross:+--target "$cross"} --package wgcl ${*/#/--package }) >&2 || die "cargo build failed"
    # If the library is older than a source but cargo did not rebuild it, mark it as current.
    [ -n "$quiet" ] || touch "$built/$library_name"
    realpath "$built/$library_name"
}

# Builds the library and wgclc for every Linux system with glibc 2.28 or later, and prints the library's path. zig is the linker, so that the result does
# not depend on the glibc and the linker of this machine. Paths of this machine are replaced, so that two builds in different directories give the same bytes.
portable_library() {
    local machine=${cross:-$(uname -m)-unknown-linux-gnu} flags
    "$root/scripts/setup" zig
    check_build
    say "building wgcl for glibc $glibc and later in $target/$machine/release (5 to 15 minutes the first time)"
    flags="--remap-path-prefix=$root=/wgcl"$'\x1f'"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    (cd "$root" && PATH="$target/zig/bin:$PATH" CARGO_ENCODED_RUSTFLAGS=$flags CARGO_INCREMENTAL=0 \
        with_progress "building wgcl" cargo zigbuild --release --locked --target "$machine.$glibc" --package wgcl --package wgclc) >&2 ||
        die "cargo zigbuild failed"
    realpath "$target/$machine/release/$library_name"
}

# Succeeds if a build result does not exist or is older than a source file.
is_stale() {
    [ -e "$1" ] || return 0
    local newer
    newer=$(find "$root" \( -path "$target" -o -name .git -o -name target \) -prune -o -type f \
        \( -name '*.rs' -o -name '*.toml' -o -name '*.cl' -o -name '*.h' -o -name Cargo.lock \) -newer "$1" -print -quit)
    [ -n "$newer" ]
}

# Makes the ICD loaders (ocl-icd and Khronos) load only this library, in programs that this shell starts.
use_library() {
    local folder=$target/icd
    mkdir -p "$folder"
    printf '%s\n' "$1" >"$folder/wgcl.icd.$$"
    mv "$folder/wgcl.icd.$$" "$folder/wgcl.icd"
    export OCL_ICD_VENDORS=$folder OPENCL_VENDOR_PATH=$folder
    unset OCL_ICD_FILENAMES
}

# Prints the Debian mirror that apt uses: the first source of the main archive, in either format. Prints nothing on other
# systems: debootstrap and mmdebstrap then use their defaults.
mirror() {
    if [ -n "${WGCL_TEST_MIRROR:-}" ]; then printf '%s\n' "$WGCL_TEST_MIRROR"; return; fi
    local found
    found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | sed -nE 's/^(deb .*|URIs: *)(https?:[^ ]*\/debian)\/?( .*)?$/\2/p' | head -n 1)
    printf '%s\n' "$found"
}
