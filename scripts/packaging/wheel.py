#!/usr/bin/env python3
"""Creates a Python wheel with the library and wgclc, for pyopencl.

The wheels of pyopencl contain an ICD loader (ocl-icd). It reads /etc/OpenCL/vendors and `pyopencl/.libs/*.icd`. If such an .icd file contains a file name
without a directory, the loader finds the file in `pyopencl/.libs`, because this directory is the run path of pyopencl's module. The wheel therefore
installs the library in `pyopencl/.libs`.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
NAME = "wgcl_opencl"

METADATA = """Metadata-Version: 2.1
Name: wgcl-opencl
Version: {version}
Summary: OpenCL driver for x86-64 and AArch64 CPUs and Vulkan GPUs, for pyopencl and other programs
Author-email: {author}
License: MIT OR Apache-2.0
Project-URL: Homepage, {address}
Project-URL: Issues, {address}/issues
Keywords: opencl,gpu,vulkan,compiler,driver
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Requires-Dist: pyopencl
Description-Content-Type: text/markdown

wgcl is an OpenCL 3.1 driver for x86-64 and AArch64 CPUs and for GPUs with a Vulkan driver. `pip install` also installs `pyopencl`, which finds its devices.
`python -m wgcl_opencl` lists the devices and shows how to test them. For other programs, set `OCL_ICD_VENDORS=$(python -m wgcl_opencl --vendors)`.
The package also contains `wgclc`, the compiler as a command.
"""


def glibc(binaries, objdump):
    """Returns the oldest glibc version that has all symbols that the binaries need, as (major, minor). The result is at least 2.17."""
    versions = [(2, 17)]
    for binary in binaries:
        symbols = subprocess.run([objdump, "-T", binary], check=True, capture_output=True, text=True).stdout
        versions += [tuple(map(int, match)) for match in re.findall(r"\bGLIBC_(\d+)\.(\d+)", symbols)]
    return max(versions)


class Wheel:
    """Writes a wheel and the record of its files."""

    def __init__(self, path, version):
        self.information = f"{NAME}-{version}.dist-info"
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []
        self.time = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]

    def add(self, path, content, mode=0o644):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{path},sha256={digest},{len(content)}")
        self.write(path, content, mode)

    def write(self, path, content, mode):
        entry = zipfile.ZipInfo(path, self.time)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)

    def close(self):
        path = f"{self.information}/RECORD"
        self.write(path, "\n".join([*self.record, f"{path},,", ""]).encode(), 0o644)
        self.archive.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=pathlib.Path, required=True, help="the directory that scripts/packaging/stage.sh filled")
    parser.add_argument("--version", required=True, help="the version of the package")
    parser.add_argument("--machine", required=True, help="the processor architecture, as in the name of the wheel")
    parser.add_argument("--objdump", default="objdump", help="objdump for that architecture (default: %(default)s)")
    parser.add_argument("--address", required=True, help="the project's address")
    parser.add_argument("--author", required=True, help="the maintainer, as NAME <ADDRESS>")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the output directory")
    args = parser.parse_args()

    library, tool, doc = args.stage / "lib/libwgcl.so", args.stage / "bin/wgclc", args.stage / "share/doc/wgcl"
    major, minor = glibc([library, tool], args.objdump)
    tag = f"py3-none-manylinux_{major}_{minor}_{args.machine}"
    path = args.output / f"{NAME}-{args.version}-{tag}.whl"
    wheel = Wheel(path, args.version)
    wheel.add("pyopencl/.libs/libwgcl.so", library.read_bytes(), 0o755)
    wheel.add("pyopencl/.libs/wgcl.icd", b"libwgcl.so\n")
    for source in sorted((HERE / NAME).glob("*.py")):
        wheel.add(f"{NAME}/{source.name}", source.read_bytes())
    wheel.add(f"{NAME}-{args.version}.data/scripts/wgclc", tool.read_bytes(), 0o755)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.gz"):
        wheel.add(f"{wheel.information}/licenses/{name}", (doc / name).read_bytes())
    wheel.add(f"{wheel.information}/METADATA", METADATA.format(version=args.version, address=args.address, author=args.author).encode())
    wheel.add(f"{wheel.information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wgcl\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close()
    print(path)


main()
