#!/usr/bin/env python3
"""Checks the undefined symbols of a Mach-O library.

    macos-symbols.py LIBRARY LIST STUB...

Each undefined symbol must be in a stub (.tbd) or in the list. The list has one line for each symbol: its library and its name.
Prints the number of symbols of each library, and the symbols that are in none. The exit code is 1 if there are any.
"""

import collections
import pathlib
import re
import struct
import sys

# Constants of <mach-o/loader.h> and <mach-o/nlist.h>.
MAGIC_64 = 0xFEEDFACF
LC_SYMTAB = 2
N_STAB, N_TYPE, N_EXT = 0xE0, 0x0E, 0x01


def undefined_symbols(data):
    magic, _, _, _, commands = struct.unpack_from("<5I", data)
    if magic != MAGIC_64:
        sys.exit("the library is not a 64-bit Mach-O file")
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command == LC_SYMTAB:
            symbols, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
            for index in range(count):
                name, kind = struct.unpack_from("<IB", data, symbols + 16 * index)
                if not kind & N_STAB and kind & N_TYPE == 0 and kind & N_EXT:
                    start = strings + name
                    yield data[start:data.index(b"\0", start)].decode()
        at += size


def main():
    library, listed, *stubs = sys.argv[1:]
    known = dict(line.split()[::-1] for line in pathlib.Path(listed).read_text().splitlines() if line and not line.startswith("#"))
    for stub in stubs:
        for name in re.findall(r"[\w$.]+", pathlib.Path(stub).read_text()):
            known.setdefault(name, pathlib.Path(stub).stem)
    count, missing = collections.Counter(), []
    for name in sorted(set(undefined_symbols(pathlib.Path(library).read_bytes()))):
        if name in known:
            count[known[name]] += 1
        else:
            missing.append(name)
    print(f"{library}: " + ", ".join(f"{number} symbols of {name}" for name, number in count.most_common()))
    for name in missing:
        print(f"in no known library: {name}")
    return 1 if missing or not count else 0


if __name__ == "__main__":
    sys.exit(main())
