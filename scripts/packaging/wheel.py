#!/usr/bin/env python3
"""Creates a Python wheel with the library and wgclc, for pyopencl.

Linux: the wheels of pyopencl contain an ICD loader (ocl-icd). It reads /etc/OpenCL/vendors and `pyopencl/.libs/*.icd`. If such an .icd file contains a
file name without a directory, the loader finds the file in `pyopencl/.libs`, because this directory is the run path of pyopencl's module. The wheel
therefore installs the library in `pyopencl/.libs`.

Windows: the wheels of pyopencl contain Khronos' loader. It reads the registry, which pip cannot change, and the environment variable OCL_ICD_FILENAMES.
The wheel therefore installs a .pth file, with which Python sets this variable when it starts.

macOS: the wheels of pyopencl use Apple's OpenCL framework, which loads no drivers. The wheel serves programs with Khronos' loader or ocl-icd, and does
not require pyopencl.
"""

import argparse
import base64
import dataclasses
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
Classifier: Operating System :: {system}
Requires-Python: >=3.8
{requires}Description-Content-Type: text/markdown

{description}
The package also contains `wgclc`, the compiler as a command.
"""

LINUX_TEXT = """wgcl is an OpenCL 3.1 driver for x86-64 and AArch64 CPUs and for GPUs with a Vulkan driver. `pip install` also installs `pyopencl`, which finds its devices.
`python -m wgcl_opencl` lists the devices and shows how to test them. For other programs, set `OCL_ICD_VENDORS=$(python -m wgcl_opencl --vendors)`."""

WINDOWS_TEXT = """wgcl is an OpenCL 3.1 driver for x86-64 CPUs and for GPUs with a Vulkan or Direct3D 12 driver. `pip install` also installs `pyopencl`.
When Python starts, the package adds the driver to `OCL_ICD_FILENAMES`, so that `pyopencl` finds its devices. The loader ignores this variable in processes of
an administrator. `python -m wgcl_opencl` lists the devices and shows how to test them. `python -m wgcl_opencl --library` prints the path of the driver."""

MACOS_TEXT = """wgcl is an OpenCL 3.1 driver for x86-64 and AArch64 CPUs. It has not run on macOS yet. The wheels of `pyopencl` use Apple's OpenCL framework, which loads no
drivers. For programs with Khronos' loader or ocl-icd, set `OCL_ICD_VENDORS=$(python -m wgcl_opencl --vendors)`. `python -m wgcl_opencl` lists the devices."""

# Sets OCL_ICD_FILENAMES when Python starts. Each line of a .pth file that starts with `import` is executed.
PTH = "import wgcl_opencl; wgcl_opencl.add_to_loader()\n"


@dataclasses.dataclass
class System:
    """The contents of the wheel on an operating system."""

    # The classifier of PyPI.
    name: str
    description: str
    # The folder of the library in the wheel.
    folder: str
    library: str
    command: str
    # Whether the wheels of pyopencl can load drivers.
    has_loader: bool


SYSTEMS = {
    "linux": System("POSIX :: Linux", LINUX_TEXT, "pyopencl/.libs", "libwgcl.so", "wgclc", True),
    "windows": System("Microsoft :: Windows", WINDOWS_TEXT, NAME, "wgcl.dll", "wgclc.exe", True),
    "macos": System("MacOS", MACOS_TEXT, NAME, "libwgcl.dylib", "wgclc", False),
}


def glibc(binaries, objdump):
    """Returns the oldest glibc version that has all symbols that the binaries need, as (major, minor). The result is at least 2.17."""
    versions = [(2, 17)]
    for binary in binaries:
        symbols = subprocess.run([objdump, "-T", binary], check=True, capture_output=True, text=True).stdout
        versions += [tuple(map(int, match)) for match in re.findall(r"\bGLIBC_(\d+)\.(\d+)", symbols)]
    return max(versions)


def platform_tag(system, machine, binaries, objdump):
    """Returns the platform of the wheel's name."""
    if system == "windows":
        return {"x86_64": "win_amd64", "aarch64": "win_arm64"}[machine]
    if system == "macos":
        return f"macosx_11_0_{machine}"
    major, minor = glibc(binaries, objdump)
    return f"manylinux_{major}_{minor}_{machine}"


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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=pathlib.Path, required=True, help="the directory that scripts/packaging/stage.sh filled")
    parser.add_argument("--version", required=True, help="the version of the package")
    parser.add_argument("--system", choices=SYSTEMS, default="linux", help="the operating system (default: %(default)s)")
    parser.add_argument("--machine", required=True, help="the processor architecture, as in the name of the wheel")
    parser.add_argument("--objdump", default="objdump", help="objdump for that architecture, for Linux (default: %(default)s)")
    parser.add_argument("--address", required=True, help="the project's address")
    parser.add_argument("--author", required=True, help="the maintainer, as NAME <ADDRESS>")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the output directory")
    return parser.parse_args()


def main():
    args = arguments()
    system = SYSTEMS[args.system]
    library, tool, doc = args.stage / "lib" / system.library, args.stage / "bin" / system.command, args.stage / "share/doc/wgcl"
    tag = f"py3-none-{platform_tag(args.system, args.machine, [library, tool], args.objdump)}"
    path = args.output / f"{NAME}-{args.version}-{tag}.whl"
    wheel = Wheel(path, args.version)
    wheel.add(f"{system.folder}/{system.library}", library.read_bytes(), 0o755)
    if args.system == "linux":
        wheel.add(f"{system.folder}/wgcl.icd", f"{system.library}\n".encode())
    if args.system == "windows":
        wheel.add(f"{NAME}.pth", PTH.encode())
    for source in sorted((HERE / NAME).glob("*.py")):
        wheel.add(f"{NAME}/{source.name}", source.read_bytes())
    wheel.add(f"{NAME}-{args.version}.data/scripts/{system.command}", tool.read_bytes(), 0o755)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.gz"):
        wheel.add(f"{wheel.information}/licenses/{name}", (doc / name).read_bytes())
    requires = "Requires-Dist: pyopencl\n" if system.has_loader else ""
    text = METADATA.format(
        version=args.version, address=args.address, author=args.author, system=system.name, requires=requires, description=system.description
    )
    wheel.add(f"{wheel.information}/METADATA", text.encode())
    wheel.add(f"{wheel.information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wgcl\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close()
    print(path)


main()
