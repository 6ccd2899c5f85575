"""The workloads, a file for each subject. Each knows its source, its data, the work that it does, and the right result."""

from . import builds, hashing, images, language, linear, numeric, runtime, scaling, searching, sorting, spirv, stencils, streams
from .base import OpenClDevice, Skip, Workload
from .scaling import SERIES, steps

__all__ = ["FAMILIES", "SERIES", "OpenClDevice", "Skip", "WORKLOADS", "Workload", "find", "steps"]

FAMILIES = {
    "streams": streams, "linear algebra": linear, "stencils": stencils, "sorting and scans": sorting, "searching and counting": searching,
    "hashing and ciphers": hashing, "numeric": numeric, "language": language, "images": images, "runtime": runtime, "builds": builds, "SPIR-V": spirv,
}
WORKLOADS = {}
for family, module in FAMILIES.items():
    for name, workload in module.WORKLOADS.items():
        workload.family = family
        WORKLOADS[name] = workload


def find(name):
    """The class of a workload by its name, or of a step of a series by the series and its number."""
    return SERIES[name[0]][name[1]] if isinstance(name, tuple) else WORKLOADS[name]
