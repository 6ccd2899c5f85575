"""The OpenCL driver wgcl as a Python package. pyopencl from PyPI finds it automatically on Linux and Windows."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))

# The library's path, for `OCL_ICD_FILENAMES` of the Khronos loader. On Linux, pyopencl's own loader finds the library in this folder.
if sys.platform == "win32":
    library = os.path.join(_here, "wgcl.dll")
elif sys.platform == "darwin":
    library = os.path.join(_here, "libwgcl.dylib")
else:
    library = os.path.join(os.path.dirname(_here), "pyopencl", ".libs", "libwgcl.so")


def add_to_loader():
    """Adds the library to `OCL_ICD_FILENAMES`, unless it contains the library.

    Khronos' loader on Windows reads this variable, but not in a process with an administrator's rights. On Windows, the wheel contains a .pth file that calls
    this function when Python starts.
    """
    names = [name for name in os.environ.get("OCL_ICD_FILENAMES", "").split(os.pathsep) if name]
    if library not in names and os.path.exists(library):
        os.environ["OCL_ICD_FILENAMES"] = os.pathsep.join([*names, library])


def vendors():
    """Returns the path of a directory with an .icd file, for `OCL_ICD_VENDORS` of ocl-icd and the Khronos loader.

    The file contains the library's absolute path, which is known only after the installation of the wheel. This function therefore creates the file in the
    user's cache directory.
    """
    import tempfile

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
