"""The OpenCL driver wgcl as a Python package. pyopencl from PyPI finds it automatically."""

import os
import tempfile

# The library's path, for `OCL_ICD_FILENAMES` of the Khronos loader.
library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyopencl", ".libs", "libwgcl.so")


def vendors():
    """Returns the path of a directory with an .icd file, for `OCL_ICD_VENDORS` of ocl-icd and the Khronos loader.

    The file contains the library's absolute path, which is known only after the installation of the wheel. This function therefore creates the file in the
    user's cache directory.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "wgcl_opencl", library.strip("/").replace("/", "-"))
    path = os.path.join(folder, "wgcl.icd")
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == library + "\n":
                return folder
    except OSError:
        pass
    os.makedirs(folder, exist_ok=True)
    # The file is replaced atomically, so that programs that start at the same time never read an incomplete file.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix="new-", delete=False) as file:
        file.write(library + "\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
    return folder
