"""The workloads, one file per subject. Each has its source, its data, the amount of work, and a check of the result."""

from . import (
    applications, builds, hashing, images, language, learning, linear, numeric, passwords, photos, rendering, runtime, scaling, searching, simulation, sorting,
    spirv, stencils, streams, texts)
from .base import OpenClDevice, Skip, Workload
from .scaling import SERIES, steps

__all__ = ["FAMILIES", "SERIES", "OpenClDevice", "Skip", "WORKLOADS", "Workload", "find", "steps"]

FAMILIES = {
    "streams": streams, "linear algebra": linear, "stencils": stencils, "sorting and scans": sorting, "searching and counting": searching,
    "hashing and ciphers": hashing, "numeric": numeric, "language": language, "images": images, "applications": applications,
    "password hashes": passwords, "texts": texts, "photos": photos, "learning": learning, "simulation": simulation, "rendering": rendering,
    "runtime": runtime, "builds": builds, "SPIR-V": spirv,
}
WORKLOADS = {}
for family, module in FAMILIES.items():
    for name, workload in module.WORKLOADS.items():
        workload.family = family
        WORKLOADS[name] = workload


def find(name):
    """Returns the class of a workload by its name, or of a step of a series by the pair (series, number)."""
    return SERIES[name[0]][name[1]] if isinstance(name, tuple) else WORKLOADS[name]
