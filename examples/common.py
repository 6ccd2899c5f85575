"""What the examples share: the choice of a device, the check against a reference, the last line of output."""

import argparse
import sys

import numpy as np
import pyopencl as cl


def arguments(description, **options):
    """Parses the command line: --platform, --device and an option for each keyword, given as (default, help)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--platform", default="", help="part of the name of the OpenCL platform; the first one without it")
    parser.add_argument("--device", type=int, default=0, help="index of the platform's device")
    for name, (default, text) in options.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default, help=text)
    return parser.parse_args()


def open_device(args):
    """A context and a queue on the device that the command line names."""
    platforms = [p for p in cl.get_platforms() if args.platform.lower() in p.name.lower()]
    if not platforms:
        sys.exit(f"no OpenCL platform named {args.platform!r}: {[p.name for p in cl.get_platforms()]}")
    device = platforms[0].get_devices()[args.device]
    print(f"{device.name.strip()} ({platforms[0].name})")
    context = cl.Context([device])
    return context, cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)


def to_device(context, array):
    """A buffer with a copy of a numpy array."""
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)


def to_host(queue, buffer, like):
    """The contents of a buffer as an array of the shape and type of another."""
    result = np.empty_like(like)
    cl.enqueue_copy(queue, result, buffer)
    return result


def milliseconds(event):
    """The time that a command ran on the device."""
    event.wait()
    return (event.profile.end - event.profile.start) * 1e-6


def verdict(what, right):
    """Prints whether a result was right and ends the program if it was not."""
    print(f"{what}: {'right' if right else 'WRONG'}")
    if not right:
        sys.exit(1)
