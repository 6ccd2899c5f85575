"""The OpenCL driver wgcl as a Python package. pyopencl from PyPI finds it automatically."""

import os

# The library's path, for `OCL_ICD_VENDORS` (ocl-icd) and `OCL_ICD_FILENAMES` (the Khronos loader) of programs other than pyopencl.
library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyopencl", ".libs", "libwgcl.so")
