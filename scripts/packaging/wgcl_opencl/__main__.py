"""Prints what the package contains, which devices wgcl finds, whether pyopencl sees them, and how to test them.

    python -m wgcl_opencl             the report; the exit status is 0 if pyopencl sees a device
    python -m wgcl_opencl --test      also runs a kernel on each device with pyopencl and checks its result
    python -m wgcl_opencl --vendors   prints a directory for OCL_ICD_VENDORS, for programs other than pyopencl (not on Windows)
    python -m wgcl_opencl --library   prints the path of the library
"""

import ctypes
import importlib.metadata
import importlib.util
import os
import sys

from wgcl_opencl import library, vendors

DEVICE_TYPE_ALL = 0xFFFFFFFF
DEVICE_NAME = 0x102B
SOURCE = "kernel void add(global int *a, global const int *b) { size_t i = get_global_id(0); a[i] += b[i]; }"


def devices():
    """The names of wgcl's devices. Calls the library directly, without an ICD loader. Raises OSError if the library cannot be loaded."""
    wgcl = ctypes.CDLL(library)
    platform, count = ctypes.c_void_p(), ctypes.c_uint32()
    if wgcl.clGetPlatformIDs(1, ctypes.byref(platform), None) != 0:
        return []
    wgcl.clGetDeviceIDs(platform, ctypes.c_uint64(DEVICE_TYPE_ALL), 0, None, ctypes.byref(count))
    found = (ctypes.c_void_p * count.value)()
    if count.value:
        wgcl.clGetDeviceIDs(platform, ctypes.c_uint64(DEVICE_TYPE_ALL), count, found, None)
    names = []
    for device in found:
        text = ctypes.create_string_buffer(512)
        wgcl.clGetDeviceInfo(ctypes.c_void_p(device), DEVICE_NAME, ctypes.c_size_t(len(text)), text, None)
        names.append(text.value.decode(errors="replace"))
    return names


def pyopencl_problem():
    """Returns None if pyopencl sees wgcl. Otherwise returns a line that says why not, and what to do."""
    found = importlib.util.find_spec("pyopencl")
    if found is None or found.origin is None:
        return "pyopencl is not installed; run: pip install pyopencl"
    try:
        import pyopencl

        if any(platform.name == "wgcl" for platform in pyopencl.get_platforms()):
            return None
        reason = "its platforms are " + (", ".join(platform.name for platform in pyopencl.get_platforms()) or "none")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    where = os.path.dirname(found.origin)
    if sys.platform == "win32":
        # Khronos' loader ignores OCL_ICD_FILENAMES in a process with an administrator's rights.
        return f"pyopencl in {where} does not see wgcl ({reason}); run Python without an administrator's rights, or add a registry value: " + registration()
    if sys.platform == "darwin":
        return f"pyopencl in {where} does not see wgcl ({reason}); its wheels use Apple's OpenCL framework, which loads no drivers"
    for name in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"):
        if name in os.environ:
            return f"pyopencl does not see wgcl ({reason}), because {name}={os.environ[name]} replaces its list of drivers; run: unset {name}"
    return f"pyopencl in {where} does not see wgcl ({reason}); set OCL_ICD_VENDORS={vendors()}"


def registration():
    """The command that registers the library for all programs on Windows."""
    return f'reg add "HKLM\\SOFTWARE\\Khronos\\OpenCL\\Vendors" /v "{library}" /t REG_DWORD /d 0'


def test():
    """Runs a kernel on each device. Returns whether all results are correct."""
    import numpy
    import pyopencl

    good = True
    platform = next(platform for platform in pyopencl.get_platforms() if platform.name == "wgcl")
    for device in platform.get_devices():
        context = pyopencl.Context([device])
        queue = pyopencl.CommandQueue(context)
        a, b = numpy.arange(1000, dtype=numpy.int32), numpy.full(1000, 7, numpy.int32)
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
        buffers = [pyopencl.Buffer(context, flags, hostbuf=array) for array in (a, b)]
        pyopencl.Program(context, SOURCE).build().add(queue, a.shape, None, *buffers)
        result = numpy.empty_like(a)
        pyopencl.enqueue_copy(queue, result, buffers[0]).wait()
        passed = bool((result == a + b).all())
        print(f"test on {device.name.strip()}: {'passed' if passed else 'FAILED'}")
        good &= passed
    return good


def main():
    arguments = sys.argv[1:]
    if arguments == ["--vendors"] and sys.platform != "win32":
        print(vendors())
        return 0
    if arguments == ["--library"]:
        print(library)
        return 0
    if arguments not in ([], ["--test"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    print(f"wgcl {importlib.metadata.version('wgcl-opencl')}: {library}")
    try:
        names = devices()
    except OSError as error:
        print(f"cannot load the library: {error}")
        return 1
    for name in names:
        print(f"device: {name.strip()}")
    if not names:
        print("no device: WGCL_LOG=info prints why each device was skipped")
        return 1
    problem = pyopencl_problem()
    if problem:
        print(problem)
        return 1
    print(f"pyopencl {importlib.metadata.version('pyopencl')} sees wgcl")
    if arguments == ["--test"]:
        return 0 if test() else 1
    print("to run a test kernel: python -m wgcl_opencl --test")
    return 0


sys.exit(main())
