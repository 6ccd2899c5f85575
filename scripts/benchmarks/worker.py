"""A process for each platform: a driver that crashes or hangs costs its own results and nobody else's."""

import multiprocessing
import traceback

SPAWN = multiprocessing.get_context("spawn")


def _list_devices(pipe):
    import pyopencl as cl

    devices = []
    for platform in cl.get_platforms():
        try:
            found = platform.get_devices()
        except cl.Error:
            found = []
        for index, device in enumerate(found[:1]):
            is_cpu = bool(device.type & cl.device_type.CPU) or "llvmpipe" in device.name
            devices.append({
                "platform": platform.name.strip(), "index": index, "device": device.name.strip(), "version": device.driver_version.strip(),
                "is_cpu": is_cpu,
            })
    pipe.send(devices)


def find_devices():
    """The first device of every platform."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=_list_devices, args=(there,))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return []
    finally:
        process.join()


def _serve(pipe, device):
    """Carries out the calls of a Worker until told to stop."""
    import pyopencl as cl
    from workloads import WORKLOADS

    platform = next(p for p in cl.get_platforms() if p.name.strip() == device["platform"])
    context = cl.Context([platform.get_devices()[device["index"]]])
    queue = cl.CommandQueue(context)
    workload = None
    while True:
        message = pipe.recv()
        try:
            if message[0] == "prepare":
                workload = WORKLOADS[message[1]](message[2])
                workload.prepare(context, queue)
                # Compilers that wait for the first launch, and memory that is first touched, are not what is timed.
                workload.warm_up()
                pipe.send(None)
            elif message[0] == "time":
                pipe.send(workload.time())
            elif message[0] == "check":
                pipe.send(None if workload.check() else "wrong result")
            else:
                return
        except Exception as error:  # The report has to survive whatever a driver does.
            lines = traceback.format_exception_only(error)
            pipe.send(" ".join("".join(lines).split())[:400] or "failed")


class Worker:
    """Runs workloads on one device in a process of its own, which is started again after a crash."""

    def __init__(self, device, timeout):
        self.device, self.timeout = device, timeout
        self.name = device["platform"]
        self.process = None

    def call(self, *message):
        """The answer of the process; a text where it failed."""
        if self.process is None:
            self.pipe, there = SPAWN.Pipe()
            self.process = SPAWN.Process(target=_serve, args=(there, self.device), daemon=True)
            self.process.start()
            there.close()
        try:
            self.pipe.send(message)
            if self.pipe.poll(self.timeout):
                return self.pipe.recv()
            reason = f"no answer within {self.timeout:.0f} s"
        except (EOFError, OSError):
            self.process.join(5)
            reason = f"the process ended with status {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self.process = None
        return reason

    def stop(self):
        if self.process is not None:
            try:
                self.pipe.send(("stop",))
                self.process.join(10)
            except OSError:
                pass
            self.process.kill()
            self.process = None
