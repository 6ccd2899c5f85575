#!/usr/bin/env python3
"""Makes the manual page wgcl(7) of the table in docs/options.md, which a test holds to the source."""

import pathlib
import re
import sys

HEAD = r""".TH WGCL 7 "" "wgcl" "wgcl"
.SH NAME
wgcl \- OpenCL driver for CPUs and Vulkan devices
.SH DESCRIPTION
.B wgcl
runs OpenCL programs on every x86-64 processor, and on GPUs that have a Vulkan driver.
Programs reach it through the OpenCL ICD loader
.RI ( libOpenCL.so.1 ),
which finds the library by the file
.IR wgcl.icd .
.BR clinfo (1)
shows its devices.
.PP
Where no device is found, or another one than wanted,
.B WGCL_LOG=warn
says which were left out and why.
.B WGCL_LOG=debug
prints every call that returns an error, and why.
.SH ENVIRONMENT
Each of these options may also stand in the configuration file, in lower case and without
.BR WGCL_ .
"""

TAIL = r""".SH FILES
.TP
.I /etc/OpenCL/vendors/wgcl.icd
The path of the library, for the ICD loader.
.TP
.I ~/.config/wgcl/config.toml
The configuration file.
.TP
.I ~/.cache/wgcl
Programs and kernels that were compiled once.
.SH SEE ALSO
.BR wgclc (1),
.BR clinfo (1)
"""


def roff(text):
    """Markdown within a line, as roff: code in bold, links by their text and address."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    return r"\&" + text if text[:1] in (".", "'") else text


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    table = page.split("<!-- options:begin -->")[1].split("<!-- options:end -->")[0]
    rows = [line.strip("| \n").split(" | ") for line in table.strip().splitlines()[2:]]
    text = [HEAD]
    for name, takes, default, meaning in rows:
        text.append(f".TP\n{roff(name)}=\\fI{roff(takes)}\\fP\n{roff(meaning)}\nDefault: {roff(default)}.\n")
    sys.stdout.write("".join(text) + TAIL)


main()
