//! Command buffers.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::common::commands::{Functions, Handle, Point, functions};
use super::common::ffi::{cl_event, cl_int, cl_uint};
use super::{COMMANDS, EVENT, Fuzzer, KERNEL, MEM, QUEUE};

impl Fuzzer {
    pub(super) fn count_commands(&self, handle: Handle, retain: bool) {
        if let Some(functions) = functions() {
            if retain {
                functions.clRetainCommandBufferKHR(handle)
            } else {
                functions.clReleaseCommandBufferKHR(handle)
            };
        }
    }

    pub(super) fn query_commands(&mut self, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int {
        let handle = self.handle(COMMANDS);
        functions().map_or(0, |functions| functions.clGetCommandBufferInfoKHR(handle, name, size, value, ret))
    }

    pub(super) fn record(&mut self) {
        let Some(functions) = functions() else { return };
        match self.random.below(8) {
            0 => {
                self.say("clCreateCommandBufferKHR");
                let queues = [self.handle(QUEUE), self.handle(QUEUE)];
                let list = [0x1293 + u64::from(self.random.chance(5)), self.random.bits(2), 0];
                let list = if self.random.chance(50) { list.as_ptr() } else { null() };
                let count = [1, 1, 1, 1, 0, 2][self.random.below(6)];
                let queues = if self.random.chance(98) { queues.as_ptr() } else { null() };
                self.keep(COMMANDS, functions.clCreateCommandBufferKHR(count, queues, list, null_mut()));
            }
            1 => {
                self.say("clFinalizeCommandBufferKHR");
                let commands = self.handle(COMMANDS);
                functions.clFinalizeCommandBufferKHR(commands);
            }
            2 | 3 => {
                self.say("clEnqueueCommandBufferKHR");
                let (commands, queue) = (self.handle(COMMANDS), [self.handle(QUEUE)]);
                let (n, list) = self.list(EVENT);
                let wait = self.pointer(&list);
                let mut event: cl_event = null_mut();
                let (count, queues) = if self.random.chance(80) { (0, null()) } else { (1, queue.as_ptr()) };
                functions.clEnqueueCommandBufferKHR(count, queues, commands, n, wait, &mut event);
                self.keep(EVENT, event);
            }
            _ => self.record_command(functions),
        }
    }

    fn record_command(&mut self, functions: &Functions) {
        let commands = self.handle(COMMANDS);
        let queue = if self.random.chance(3) { self.handle(QUEUE) } else { null_mut() };
        let (a, b) = (self.handle(MEM), self.handle(MEM));
        let list: Vec<Point> = (0..self.random.below(3)).map(|_| self.random.below(self.points as usize + 2) as Point).collect();
        let (n, waits) = (list.len() as cl_uint, if list.is_empty() { null() } else { list.as_ptr() });
        let mut given = 0;
        let point: *mut Point = if self.random.chance(70) { &mut given } else { null_mut() };
        let mut handle: Handle = null_mut();
        let mutable: *mut Handle = if self.random.chance(3) { &mut handle } else { null_mut() };
        let properties = [self.random.next(), 0, 0];
        let properties = if self.random.chance(3) { properties.as_ptr() } else { null() };
        let (offset, size, [x, y, z]) = (self.random.size(), self.random.size(), self.sizes());
        let [origin, other, region] = [self.range(), self.range(), self.range()];
        let (from, to, part) = (origin.as_ptr(), other.as_ptr(), region.as_ptr());
        let memory = self.memory();
        let pattern = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0][self.random.below(10)];
        let kind = self.random.below(11);
        self.say(&format!("record {kind} offset {offset} size {size}, {n} points"));
        match kind {
            0 => functions.clCommandBarrierWithWaitListKHR(commands, queue, properties, n, waits, point, mutable),
            1 => functions.clCommandCopyBufferKHR(commands, queue, properties, a, b, offset, x, size, n, waits, point, mutable),
            2 => functions
                .clCommandCopyBufferRectKHR(commands, queue, properties, a, b, from, to, part, x, y, z, x, n, waits, point, mutable),
            3 => functions.clCommandFillBufferKHR(commands, queue, properties, a, memory, pattern, offset, size, n, waits, point, mutable),
            4 => functions.clCommandCopyImageKHR(commands, queue, properties, a, b, from, to, part, n, waits, point, mutable),
            5 => functions.clCommandCopyImageToBufferKHR(commands, queue, properties, a, b, from, part, offset, n, waits, point, mutable),
            6 => functions.clCommandCopyBufferToImageKHR(commands, queue, properties, a, b, offset, from, part, n, waits, point, mutable),
            7 => functions.clCommandFillImageKHR(commands, queue, properties, a, memory, from, part, n, waits, point, mutable),
            8 => {
                let (dst, src) = (self.place(true), self.place(true));
                let size = self.copied([dst, src]);
                functions.clCommandSVMMemcpyKHR(commands, queue, properties, dst, src, size, n, waits, point, mutable)
            }
            9 => {
                let place = self.place(false);
                functions.clCommandSVMMemFillKHR(commands, queue, properties, place, memory, pattern, size, n, waits, point, mutable)
            }
            _ => {
                let (kernel, dims) = (self.handle(KERNEL), [1, 1, 2, 3, 0, 4][self.random.below(6)]);
                let local = if self.random.chance(50) { to } else { null() };
                functions.clCommandNDRangeKernelKHR(
                    commands,
                    queue,
                    properties,
                    kernel,
                    dims,
                    null(),
                    part,
                    local,
                    n,
                    waits,
                    point,
                    mutable,
                )
            }
        };
        self.points = self.points.max(given);
    }
}
