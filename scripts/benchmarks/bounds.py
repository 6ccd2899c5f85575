"""Bounds: for ten kernels, the speed of hand-written C (`bounds.c`), of OpenBLAS or of FFTW on one thread. The benchmark treats them as a platform.

A bound uses the data and the check of the workload. The ratio in the table is the bound's time divided by wgcl's time: wgcl's fraction of the bound.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from worker import Worker

NAME = "bound (C, OpenBLAS, FFTW)"
SOURCE = Path(__file__).parent / "bounds.c"
# The workloads with a bound, and the method of `BoundDevice` that prepares it.
BOUNDED = {
    "triad_float": "triad", "reduction": "sum", "sgemm_tiled": "sgemm", "sgemm_registers": "sgemm", "gemm_tuned": "sgemm", "scan": "scan", "fft_1024": "fourier",
    "fft_radix8": "fourier", "radix_sort": "sort", "sha256": "sha256", "nbody": "nbody", "generated_convolution": "convolution", "spmv_csr": "spmv",
}
LIBRARIES = {"OpenBLAS": ("libopenblas.so.0", "libopenblas0-serial"), "FFTW": ("libfftw3f.so.3", "libfftw3-single3")}
# The constants of cblas.h and fftw3.h.
ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
FORWARD, MEASURE = -1, 0
# The number of steps of the loop of multiply-adds, and the number of operations per step and lane.
PEAK_STEPS, PEAK_OPERATIONS = 1 << 21, 24


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class BoundDevice:
    """The compiled C kernels and the libraries, with the interface of `OpenClDevice`. Its buffers are arrays."""

    kind = "cpu"

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.peak.restype = ctypes.c_float

    def buffer(self, array):
        import numpy as np

        # Whole pages, like the buffers of OpenCL.
        space = np.empty(array.nbytes + 4096, np.uint8)
        aligned = space[-space.ctypes.data % 4096 :][: array.nbytes].view(array.dtype).reshape(array.shape)
        aligned[...] = array
        return aligned

    def fetch(self, buffer, like):
        return buffer.copy()

    def named(self, name):
        from workloads import Skip

        file, package = LIBRARIES[name]
        try:
            return ctypes.CDLL(file)
        except OSError:
            raise Skip(f"{name} is not installed ({file}; on Debian: {package})") from None

    def attach(self, workload, name):
        """Makes a run of the workload call the bound."""
        function, *arguments = getattr(self, BOUNDED[name])(workload)

        def repeat(loops):
            for _ in range(loops):
                function(*arguments)

        workload.repeat, workload.device_time = repeat, lambda: None

    def peak(self, clock):
        """The floating-point operations per second of independent multiply-adds: the best of 10 measurements."""
        def once():
            begin = clock()
            self.library.peak(ctypes.c_size_t(PEAK_STEPS))
            return clock() - begin

        return PEAK_STEPS * PEAK_OPERATIONS * self.library.lanes() / min(once() for _ in range(10))

    def triad(self, workload):
        return self.library.triad, *map(pointer, workload.buffers), ctypes.c_size_t(workload.a.size)

    def sum(self, workload):
        return self.library.sum, *map(pointer, workload.buffers), ctypes.c_size_t(workload.values.size)

    def scan(self, workload):
        return self.library.scan, pointer(workload.from_), pointer(workload.to), ctypes.c_size_t(workload.a.size)

    def sort(self, workload):
        import numpy as np

        self.other = np.empty(2 * workload.a.size, np.uint32)
        return self.library.sort, *map(pointer, (workload.from_, workload.keys, self.other)), ctypes.c_size_t(workload.a.size)

    def sha256(self, workload):
        import numpy as np

        self.constants = np.array([value for part in workload.constants() for value in part], np.uint32)
        return self.library.sha256, *map(pointer, (*workload.buffers, self.constants)), ctypes.c_size_t(workload.count())

    def nbody(self, workload):
        return self.library.nbody, *map(pointer, workload.buffers), ctypes.c_size_t(workload.count())

    def convolution(self, workload):
        return self.library.convolution, *map(pointer, workload.arguments), workload.CHANNELS, workload.side()

    def spmv(self, workload):
        return self.library.spmv, *map(pointer, workload.buffers), ctypes.c_size_t(workload.rows())

    def sgemm(self, workload):
        sgemm, one, zero = self.named("OpenBLAS").cblas_sgemm, ctypes.c_float(1), ctypes.c_float(0)
        if hasattr(workload, "buffers"):
            n = workload.n()
            a, b, c = map(pointer, workload.buffers)
            return sgemm, ROW_MAJOR, PLAIN, PLAIN, n, n, n, one, a, n, b, n, zero, c, n
        # The rows of this workload's matrices are the columns of the product's factors.
        n, (a, b, c) = workload.side(), map(pointer, workload.arguments[5:])
        return sgemm, ROW_MAJOR, TRANSPOSED, PLAIN, n, n, n, ctypes.c_float(1.5), b, n, a, n, zero, c, n

    def fourier(self, workload):
        fftw = self.named("FFTW")
        fftw.fftwf_plan_many_dft.restype = ctypes.c_void_p
        points, (source, target) = (1024, workload.buffers) if hasattr(workload, "buffers") else (workload.points(), workload.arguments[:2])
        kept, length, none = source.copy(), ctypes.c_int(points), ctypes.c_void_p()
        plan = fftw.fftwf_plan_many_dft(
            1, ctypes.byref(length), workload.batches(), pointer(source), none, 1, points, pointer(target), none, 1, points, FORWARD, MEASURE)
        # Planning overwrites the input.
        source[...] = kept
        return fftw.fftwf_execute, ctypes.c_void_p(plan)


class BoundWorker(Worker):
    """Runs the bounds of workloads in a separate process."""

    def supports(self, workload):
        return workload in BOUNDED


def find_bounds(folder):
    """The platform of the bounds, compiled into this folder. An empty list, and a message, if there is no C compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        print("bounds: skipped, because there is no C compiler (cc)", file=sys.stderr)
        return []
    library = os.path.join(folder, "bounds.so")
    # CFLAGS are last, so that they can select another instruction set.
    flags = ["-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi", "-shared", "-fPIC", *os.environ.get("CFLAGS", "").split()]
    done = subprocess.run([compiler, *flags, "-o", library, str(SOURCE), "-lm"], capture_output=True, text=True)
    if done.returncode:
        print(f"bounds: skipped, because {compiler} failed: {done.stderr[-400:]}", file=sys.stderr)
        return []
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return [{"platform": NAME, "device": "one thread", "version": version, "is_cpu": True, "variables": {"OPENBLAS_NUM_THREADS": "1"}, "library": library}]
