#!/usr/bin/env python3
"""Prints the manual page wgcl(7), created from the tables in docs/options.md. A test compares these tables with the source.

Arguments: the path of docs/options.md, and the address of the repository.
"""

import pathlib
import re
import sys

HEAD = r""".TH WGCL 7 "" "wgcl" "wgcl"
.SH NAME
wgcl \- OpenCL driver for CPUs and Vulkan devices
.SH DESCRIPTION
.B wgcl
is an OpenCL 3.1 driver for x86-64 and AArch64 CPUs and for GPUs with a Vulkan driver.
Programs use it through the OpenCL ICD loader
.RI ( libOpenCL.so.1 ),
which reads the library's path from the file
.IR wgcl.icd .
.BR clinfo (1)
lists its devices.
.PP
.B WGCL_LOG=info
lists the devices that wgcl skips, and why.
.B WGCL_LOG=debug
prints every call that returns an error, with the reason.
.SH ENVIRONMENT
Each option can also be set in the configuration file, in lower case and without
.BR WGCL_ .
"""

TAIL = r""".SH FILES
.TP
.I /etc/OpenCL/vendors/wgcl.icd
The library's path, for the ICD loader.
.TP
.I ~/.config/wgcl/config.toml
The configuration file.
.TP
.I ~/.cache/wgcl
The cache of compiled programs and kernels.
.SH BUGS
Report bugs at
.UR @address@/issues
.UE .
.SH SEE ALSO
.BR wgclc (1),
.BR clinfo (1)
"""


def roff(text):
    """Converts inline Markdown to roff: code becomes bold, and links show their text and address."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    return r"\&" + text if text[:1] in (".", "'") else text


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    text = [HEAD]
    for section, title in (("options", ""), ("testing options", ".SH TESTING OPTIONS\n")):
        table = page.split(f"<!-- {section}:begin -->")[1].split(f"<!-- {section}:end -->")[0]
        text.append(title)
        for line in table.strip().splitlines()[2:]:
            name, values, default, meaning = line.strip("| \n").split(" | ")
            text.append(f".TP\n{roff(name)}\n{roff(meaning)}\nValues: {roff(values)}. Default: {roff(default)}.\n")
    sys.stdout.write("".join(text) + TAIL.replace("@address@", sys.argv[2]))


main()
