#!/usr/bin/env python3
"""Joins Mach-O files of several architectures into a universal file (fat_header, fat_arch of <mach-o/fat.h>).

    universal.py OUTPUT FILE...

The files keep their bytes, so code signatures stay valid.
"""

import pathlib
import struct
import sys

FAT_MAGIC = 0xCAFEBABE
MACH_MAGIC_64 = 0xFEEDFACF
# Each file starts at a multiple of 2^14 bytes, which is the page size of AArch64 systems.
ALIGN = 14


def slices(files):
    """Yields the processor type, the subtype and the content of each file."""
    for file in files:
        content = pathlib.Path(file).read_bytes()
        magic, kind, subtype = struct.unpack_from("<3I", content)
        if magic != MACH_MAGIC_64:
            sys.exit(f"{file}: not a 64-bit Mach-O file")
        yield kind, subtype, content


def joined(parts):
    """Returns the universal file as bytes."""
    if len({kind for kind, _, _ in parts}) != len(parts):
        sys.exit("two files have the same architecture")
    header, body = struct.pack(">2I", FAT_MAGIC, len(parts)), b""
    size = len(header) + 20 * len(parts)
    for kind, subtype, content in parts:
        body += b"\0" * (-(size + len(body)) % (1 << ALIGN))
        header += struct.pack(">5I", kind, subtype, size + len(body), len(content), ALIGN)
        body += content
    return header + body


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(joined(list(slices(sys.argv[2:]))))
    output.chmod(0o755)


if __name__ == "__main__":
    main()
