#!/usr/bin/env python3
"""Creates a zip archive of the files in a directory. The same files and the same SOURCE_DATE_EPOCH give the same bytes.

Text files get the line ends of Windows, because cmd may misread scripts with other line ends.
"""

import os
import pathlib
import sys
import time
import zipfile

TEXTS = {".cmd", ".md", ".txt", ""}


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = file.read_bytes()
            if file.suffix in TEXTS:
                content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            entry = zipfile.ZipInfo(str(pathlib.PurePosixPath(folder.name) / file.relative_to(folder).as_posix()), moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()
