//! Random calls on command buffers.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::common::commands::{Config, Functions, Handle, NewArg, NewInfo, Point, functions};
use super::common::ffi::{cl_event, cl_int, cl_uint};
use super::{COMMAND_BUFFER, EVENT, Fuzzer, KERNEL, MEM, MUTABLE_COMMAND, QUEUE, Random};

impl Fuzzer {
    pub(super) fn retain_or_release_command_buffer(&self, handle: Handle, retain: bool) {
        if let Some(functions) = functions() {
            if retain {
                functions.clRetainCommandBufferKHR(handle)
            } else {
                functions.clReleaseCommandBufferKHR(handle)
            };
        }
    }

    pub(super) fn query_commands(&mut self, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int {
        let handle = self.handle(COMMAND_BUFFER);
        functions().map_or(0, |functions| functions.clGetCommandBufferInfoKHR(handle, name, size, value, ret))
    }

    pub(super) fn record(&mut self) {
        let Some(functions) = functions() else { return };
        match self.random.below(10) {
            0 => {
                self.say("clCreateCommandBufferKHR");
                let queues = [self.handle(QUEUE), self.handle(QUEUE)];
                let list = [0x1293 + u64::from(self.random.chance(5)), self.random.bits(2), 0];
                let list = if self.random.chance(50) { list.as_ptr() } else { null() };
                let count = [1, 1, 1, 1, 0, 2][self.random.below(6)];
                let queues = if self.random.chance(98) { queues.as_ptr() } else { null() };
                self.keep(COMMAND_BUFFER, functions.clCreateCommandBufferKHR(count, queues, list, null_mut()));
            }
            1 => {
                self.say("clFinalizeCommandBufferKHR");
                let commands = self.handle(COMMAND_BUFFER);
                functions.clFinalizeCommandBufferKHR(commands);
            }
            2 | 3 => {
                self.say("clEnqueueCommandBufferKHR");
                let (commands, queue) = (self.handle(COMMAND_BUFFER), [self.handle(QUEUE)]);
                let (n, list) = self.list(EVENT);
                let wait = self.pointer(&list);
                let mut event: cl_event = null_mut();
                let (count, queues) = if self.random.chance(80) { (0, null()) } else { (1, queue.as_ptr()) };
                functions.clEnqueueCommandBufferKHR(count, queues, commands, n, wait, &mut event);
                self.keep(EVENT, event);
            }
            4 | 5 => self.update(functions),
            _ => self.record_command(functions),
        }
    }

    /// Calls clUpdateMutableCommandsKHR with up to two configurations for random commands. Few of the handles are null
    /// or of another kind.
    fn update(&mut self, functions: &Functions) {
        self.say("clUpdateMutableCommandsKHR");
        let (commands, mem, word) = (self.handle(COMMAND_BUFFER), self.handle(MEM), self.random.next());
        let sizes = [self.range(), self.range()];
        let arg = |random: &mut Random| NewArg {
            index: random.below(4) as cl_uint,
            size: [4, 8, 8, 8, 0][random.below(5)],
            value: [(&raw const mem).cast(), (&raw const mem).cast(), (&raw const word).cast(), null()][random.below(4)],
        };
        let args = [arg(&mut self.random), arg(&mut self.random)];
        let svm = [NewArg { value: self.place(false), ..args[0] }];
        let pointers = [self.place(false)];
        let info = [NewInfo { name: 0x11B6 + self.random.below(3) as cl_uint, size: 8, value: pointers.as_ptr().cast() }];
        let configs: Vec<Config> = (0..self.random.below(3))
            .map(|_| {
                let chosen = |random: &mut Random| if random.chance(30) { sizes[random.below(2)].as_ptr() } else { null() };
                let (with_svm, with_info) = (self.random.chance(20), self.random.chance(10));
                Config {
                    work_dim: [0, 0, 1, 2][self.random.below(4)],
                    num_svm_args: with_svm.into(),
                    svm_args: if with_svm { svm.as_ptr() } else { null() },
                    num_exec_infos: with_info.into(),
                    exec_infos: if with_info { info.as_ptr() } else { null() },
                    global_offset: chosen(&mut self.random),
                    global_size: chosen(&mut self.random),
                    local_size: chosen(&mut self.random),
                    ..Config::new(self.handle(MUTABLE_COMMAND)).with_args(&args[..self.random.below(3)])
                }
            })
            .collect();
        let types: Vec<cl_uint> = configs.iter().map(|_| self.random.chance(3).into()).collect();
        let list: Vec<*const c_void> =
            configs.iter().map(|config| if self.random.chance(98) { (&raw const *config).cast() } else { null() }).collect();
        let types = if types.is_empty() || self.random.chance(2) { null() } else { types.as_ptr() };
        let configs = if list.is_empty() || self.random.chance(2) { null() } else { list.as_ptr() };
        functions.clUpdateMutableCommandsKHR(commands, list.len() as cl_uint, types, configs);
    }

    pub(super) fn query_command(&mut self, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int {
        let handle = self.handle(MUTABLE_COMMAND);
        functions().map_or(0, |functions| functions.clGetMutableCommandInfoKHR(handle, name, size, value, ret))
    }

    fn record_command(&mut self, functions: &Functions) {
        let commands = self.handle(COMMAND_BUFFER);
        let queue = if self.random.chance(3) { self.handle(QUEUE) } else { null_mut() };
        let (a, b) = (self.handle(MEM), self.handle(MEM));
        let list: Vec<Point> = (0..self.random.below(3)).map(|_| self.random.below(self.points as usize + 2) as Point).collect();
        let (n, waits) = (list.len() as cl_uint, if list.is_empty() { null() } else { list.as_ptr() });
        let mut given = 0;
        let point: *mut Point = if self.random.chance(70) { &mut given } else { null_mut() };
        let mut handle: Handle = null_mut();
        let kind = self.random.below(13);
        let is_launch = kind >= 10;
        let mutable: *mut Handle = if self.random.chance(if is_launch { 60 } else { 3 }) { &mut handle } else { null_mut() };
        let name = [0x12B1, 0x12B1, 0x12B8, self.random.next()][self.random.below(4)];
        let properties = [name, self.random.bits(5), 0];
        let properties = if self.random.chance(if is_launch { 30 } else { 3 }) { properties.as_ptr() } else { null() };
        let (offset, size, [x, y, z]) = (self.random.size(), self.random.size(), self.sizes());
        let [origin, other, region] = [self.range(), self.range(), self.range()];
        let (from, to, part) = (origin.as_ptr(), other.as_ptr(), region.as_ptr());
        let memory = self.memory();
        let pattern = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0][self.random.below(10)];
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
                let size = self.copyable_bytes([dst, src]);
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
        self.keep(MUTABLE_COMMAND, handle);
    }
}
