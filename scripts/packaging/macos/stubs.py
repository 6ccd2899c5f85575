#!/usr/bin/env python3
"""Writes text stubs (.tbd) of macOS libraries, with which zig links. zig contains the stub of libSystem only.

    stubs.py LIST FOLDER

LIST has one line for each symbol: its library and its name (scripts/lib/macos-symbols.txt). For a framework NAME, the script writes
FOLDER/NAME.framework/NAME.tbd. For a library libNAME, it writes FOLDER/libNAME.tbd.
"""

import collections
import pathlib
import sys

TARGETS = "[ x86_64-macos, arm64-macos ]"
STUB = """--- !tapi-tbd
tbd-version:     4
targets:         {targets}
install-name:    '{install_name}'
current-version: {version}
compatibility-version: 1
{exports}...
"""
# The install names of libraries that are not frameworks, and their versions in macOS 11.
LIBRARIES = {"libobjc": ("/usr/lib/libobjc.A.dylib", "228")}
# Frameworks that wgcl loads by the names of their classes, without a symbol.
CLASSES_ONLY = ["QuartzCore"]


def stub(name, symbols):
    install_name, version = LIBRARIES.get(name, (f"/System/Library/Frameworks/{name}.framework/Versions/A/{name}", "1"))
    exports = f"exports:\n  - targets:         {TARGETS}\n    symbols:         [ {', '.join(sorted(symbols))} ]\n" if symbols else ""
    return STUB.format(targets=TARGETS, install_name=install_name, version=version, exports=exports)


def main():
    listed, folder = map(pathlib.Path, sys.argv[1:])
    symbols = collections.defaultdict(list)
    for line in listed.read_text().splitlines():
        if line and not line.startswith("#"):
            library, symbol = line.split()
            symbols[library].append(symbol)
    for name in [*symbols, *CLASSES_ONLY]:
        path = folder / f"{name}.tbd" if name in LIBRARIES else folder / f"{name}.framework" / f"{name}.tbd"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(name, symbols.get(name, [])))


if __name__ == "__main__":
    main()
