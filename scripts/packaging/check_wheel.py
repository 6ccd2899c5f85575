#!/usr/bin/env python3
"""Checks a wheel for Windows or macOS, without that system: its record, its metadata, the architecture of its library, and its .pth file.

    check_wheel.py WHEEL FOLDER

Unpacks the wheel in FOLDER, which must not exist, and prints the path of the library.
"""

import base64
import csv
import email.parser
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import zipfile

# The first bytes of the library, and the library, by the end of the wheel's name.
LIBRARIES = {
    "win_amd64": (b"MZ", "wgcl_opencl/wgcl.dll", "win32"),
    "universal2": (b"\xca\xfe\xba\xbe", "wgcl_opencl/libwgcl.dylib", "darwin"),
}


def check(condition, text):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {text}")


def check_record(archive, information):
    """Checks that RECORD has each file with its hash and its size."""
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(f"{information}/RECORD").decode()))}
    check(set(rows) == set(archive.namelist()), "RECORD and the archive list different files")
    for name, (digest, size) in rows.items():
        if name.endswith("/RECORD"):
            continue
        content = archive.read(name)
        actual = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        check(actual == digest and int(size) == len(content), f"{name}: the hash or the size in RECORD is wrong")


def check_start(folder, system, library):
    """Starts Python with the unpacked wheel as a site directory, and with the name of the other system."""
    program = f"""
import os, site, sys
sys.platform = {system!r}
site.addsitedir({str(folder)!r})
import wgcl_opencl
assert wgcl_opencl.library == {str(library)!r}, wgcl_opencl.library
print(os.environ.get("OCL_ICD_FILENAMES", ""))
"""
    environment = {name: value for name, value in os.environ.items() if name != "OCL_ICD_FILENAMES"}
    done = subprocess.run([sys.executable, "-S", "-c", program], env=environment, check=True, capture_output=True, text=True)
    check(not done.stderr, f"Python prints at its start: {done.stderr}")
    return done.stdout.strip()


def main():
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    name, version, *tag = path.stem.split("-")
    information = f"{name}-{version}.dist-info"
    magic, member, system = next(value for end, value in LIBRARIES.items() if tag[-1].endswith(end))
    with zipfile.ZipFile(path) as archive:
        check_record(archive, information)
        wheel = email.parser.Parser().parsestr(archive.read(f"{information}/WHEEL").decode())
        check(wheel["Tag"] == "-".join(tag), f"the tag is {wheel['Tag']}")
        metadata = email.parser.Parser().parsestr(archive.read(f"{information}/METADATA").decode())
        check(metadata["Name"] == "wgcl-opencl" and metadata["Version"] == version, "METADATA has another name or version")
        check("python -m wgcl_opencl" in metadata.get_payload(), "METADATA has no description")
        check(archive.read(member).startswith(magic), f"{member}: wrong file format")
        archive.extractall(folder)
    library = folder / member
    names = check_start(folder, system, library)
    check(names == (str(library) if system == "win32" else ""), f"OCL_ICD_FILENAMES is {names!r}")
    print(library)


if __name__ == "__main__":
    main()
