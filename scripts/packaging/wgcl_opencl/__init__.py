"""wgcl, an OpenCL driver, as a package of Python: pyopencl from PyPI finds it without further ado."""

import os

# The library: `OCL_ICD_VENDORS` (ocl-icd) and `OCL_ICD_FILENAMES` (Khronos's loader) take it for programs other than pyopencl.
library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyopencl", ".libs", "libwgcl.so")
