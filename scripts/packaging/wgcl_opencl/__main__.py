"""Prints the path of the library."""

from wgcl_opencl import library

print(library)
