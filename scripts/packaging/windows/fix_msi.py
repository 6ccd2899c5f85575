#!/usr/bin/env python3
"""Replaces the random and current values in the summary of an .msi, so that the same files give the same bytes.

    fix_msi.py FILE PACKAGE_CODE

wixl writes a random package code, and the current time. The times become SOURCE_DATE_EPOCH.
"""

import os
import pathlib
import re
import struct
import sys
import time

# The type of a time in a property set ([MS-OLEPS] 2.15), which counts units of 100 ns since 1601.
VT_FILETIME = struct.pack("<I", 64)
UNITS, OFFSET = 10_000_000, 11_644_473_600
CODE = re.compile(rb"\{[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\}")


def filetime(seconds):
    return struct.pack("<Q", (int(seconds) + OFFSET) * UNITS)


def main():
    path, code = pathlib.Path(sys.argv[1]), sys.argv[2].upper().encode()
    content = path.read_bytes()
    # The summary contains its strings in one byte per character, and is the only place with the type of the package code.
    start = content.index(b"Installation Database")
    found = CODE.search(content, start)
    if not found:
        sys.exit(f"{path}: no package code in the summary")
    content = content[: found.start()] + b"{" + code + b"}" + content[found.end() :]
    moment = filetime(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    earliest, latest = filetime(time.time() - 3600), filetime(time.time() + 3600)
    at, count = start, 0
    while (at := content.find(VT_FILETIME, at)) >= 0 and at < found.end() + 1024:
        if int.from_bytes(earliest, "little") < int.from_bytes(content[at + 4 : at + 12], "little") < int.from_bytes(latest, "little"):
            content = content[: at + 4] + moment + content[at + 12 :]
            count += 1
        at += 4
    if count != 2:
        sys.exit(f"{path}: expected 2 times in the summary, found {count}")
    path.write_bytes(content)


if __name__ == "__main__":
    main()
