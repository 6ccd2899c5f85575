"""Functions for all examples: device selection, and the comparison with a reference result."""

import argparse
import sys

import numpy as np
import pyopencl as cl


def arguments(description, **options):
    """Parses the command line: --platform, --device, and one option per keyword argument (default, help)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--platform", default="", help="a part of the OpenCL platform's name (default: the first platform)")
    parser.add_argument("--device", type=int, default=0, help="index of the device on the platform (default 0)")
    for name, (default, text) in options.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default, help=text)
    return parser.parse_args()


def open_device(args):
    """Creates a context and a profiling queue on the selected device."""
    platforms = [p for p in cl.get_platforms() if args.platform.lower() in p.name.lower()]
    if not platforms:
        sys.exit(f"no OpenCL platform named {args.platform!r}: {[p.name for p in cl.get_platforms()]}")
    device = platforms[0].get_devices()[args.device]
    print(f"{device.name.strip()} ({platforms[0].name})")
    context = cl.Context([device])
    return context, cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)


def to_device(context, array):
    """Creates a buffer with a copy of a numpy array."""
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)


def to_host(queue, buffer, like):
    """Reads a buffer into an array with the shape and type of `like`."""
    result = np.empty_like(like)
    cl.enqueue_copy(queue, result, buffer)
    return result


def milliseconds(event):
    """The device time of a command in milliseconds."""
    event.wait()
    return (event.profile.end - event.profile.start) * 1e-6


def verdict(what, right):
    """Prints whether a result is correct. Exits with an error if it is not."""
    print(f"{what}: {'correct' if right else 'WRONG'}")
    if not right:
        sys.exit(1)
