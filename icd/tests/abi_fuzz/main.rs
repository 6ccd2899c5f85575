//! Random sequences of calls with random arguments, many of them invalid, through the loader: nothing may crash or
//! hang.
//!
//! Each sequence runs in a child process with a watchdog. `WGCL_FUZZ_COUNT` is the number of sequences,
//! `WGCL_FUZZ_SEED` the first seed, `WGCL_FUZZ_CALLS` the length of a sequence. `WGCL_FUZZ_VERBOSE` prints every call
//! to standard error before it runs.
//!
//! Arguments that the C API cannot check are valid. Handles are null or were handles once. Counts do not exceed their
//! arrays. Pointers are null or valid for the bytes that the call may access. Strings and lists are terminated.
//! Everything else is random.

#[path = "../common/mod.rs"]
mod common;
mod images;
mod recorded;
mod shared;

use std::ffi::{CString, c_void};
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use common::ffi::{CL_COMPLETE, cl_bitfield, cl_event, cl_int, cl_kernel, cl_mem, cl_program, cl_uint};
use common::target;

/// Environment variable with the seed of the sequence that a child process runs.
const CHILD: &str = "WGCL_TEST_FUZZ_CHILD";
/// The number of valid bytes at any pointer to memory of the application.
const ARENA: usize = 1 << 16;

const SOURCES: [&str; 7] = [
    "kernel void a(global uint *p, uint n) { if (n == 42) p[0] = n; }",
    "kernel void a(global uint *p, local uint *l, constant float *c, float4 f) { if (f.x == 42.5f) { l[0] = 1; p[0] = (uint)c[0] + l[0]; } }\n\
     kernel __attribute__((reqd_work_group_size(8, 1, 1))) void b(uchar c) {}",
    "kernel void a(global uint *p { return 1; }",
    "",
    "int f(int x);\nkernel void a(global int *p) { if (p == 0) return; }\nint g(int x) { return x; }",
    "kernel void a(read_only image2d_t i, write_only image2d_t o, sampler_t s) {\n\
         if (get_global_id(0) == 99) write_imagef(o, (int2)(0, 0), read_imagef(i, s, (float2)(0.5f, 0.5f))); }\n\
     kernel void b(read_write image1d_array_t i, sampler_t s, global uint *p) { if (get_global_id(0) == 99) p[0] = read_imageui(i, (int2)(1, 1)).x; }",
    "struct S { int a; float b; }; kernel void a(struct S s, global struct S *p) { if (s.a == 42) p->b = s.b; }",
];
const OPTIONS: [&str; 8] =
    ["", "-DX=1", "-cl-std=CL3.0 -cl-kernel-arg-info", "-nonsense", "-I", "-create-library", "-cl-fast-relaxed-math -Werror", "  \t -w "];
const NAMES: [&str; 5] = ["a", "b", "", "nothing", "a.h"];

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns a number that may be a size: mostly small, rarely too large for any device.
    fn size(&mut self) -> usize {
        match self.below(20) {
            0 => usize::MAX - self.below(9),
            1 => 1 << self.below(64),
            2 | 3 => 0,
            4..=9 => self.below(64),
            10..=14 => 4 << self.below(8),
            _ => self.below(4096),
        }
    }

    /// Returns flags: a combination of defined flags, or any bits.
    fn bits(&mut self, known: u32) -> cl_bitfield {
        match self.below(10) {
            0 => self.next(),
            1..=5 => 1 << self.below(known as usize),
            6 | 7 => 0,
            _ => self.next() & ((1 << known) - 1),
        }
    }
}

extern "C" fn on_event(_: cl_event, _: cl_int, _: *mut c_void) {}
extern "C" fn on_program(_: cl_program, _: *mut c_void) {}
extern "C" fn on_mem(_: cl_mem, _: *mut c_void) {}

const DEVICE: usize = 0;
const CONTEXT: usize = 1;
const QUEUE: usize = 2;
const MEM: usize = 3;
const PROGRAM: usize = 4;
const KERNEL: usize = 5;
const EVENT: usize = 6;
const SAMPLER: usize = 7;
const COMMAND_BUFFER: usize = 8;
/// The kind of the handles of launches in command buffers.
const MUTABLE_COMMAND: usize = 9;
const KINDS: usize = 10;

struct Fuzzer {
    random: Random,
    handles: [Vec<*mut c_void>; KINDS],
    /// User events whose status is not set yet. The fuzzer has a reference to each of them. While one exists, no
    /// blocking call is permitted.
    undecided: Vec<cl_event>,
    /// The pointers of maps, which later unmap calls use.
    mapped: Vec<*mut c_void>,
    /// Shared virtual memory that was not freed.
    shared: Vec<shared::Shared>,
    /// Start addresses of shared memory that commands of other contexts may still access. The test never frees this
    /// memory.
    retained: Vec<*mut c_void>,
    /// The number of synchronisation points that calls have returned. The values of synchronisation points are small
    /// numbers.
    points: cl_uint,
    arena: Vec<u64>,
    verbose: bool,
}

impl Fuzzer {
    fn new(seed: u64) -> Self {
        let target = target();
        let mut handles: [Vec<*mut c_void>; KINDS] = Default::default();
        handles[DEVICE].push(target.device);
        let verbose = std::env::var_os("WGCL_FUZZ_VERBOSE").is_some();
        Self {
            random: Random(seed),
            handles,
            undecided: Vec::new(),
            mapped: Vec::new(),
            shared: Vec::new(),
            retained: Vec::new(),
            points: 0,
            arena: vec![0; ARENA / 8],
            verbose,
        }
    }

    /// Returns a handle of this kind. In rare cases, returns a handle of another kind, or null.
    fn handle(&mut self, kind: usize) -> *mut c_void {
        let kind = if self.random.chance(3) { self.random.below(KINDS) } else { kind };
        if self.random.chance(2) || self.handles[kind].is_empty() {
            return null_mut();
        }
        // Select one of the newest handles in most cases, because their objects are the most likely to exist.
        let count = self.handles[kind].len();
        let index = if self.random.chance(70) { count - 1 - self.random.below(count.min(4)) } else { self.random.below(count) };
        self.handles[kind][index]
    }

    fn keep(&mut self, kind: usize, handle: *mut c_void) {
        if !handle.is_null() {
            self.handles[kind].push(handle);
        }
    }

    /// Returns memory of the application, or null.
    fn memory(&mut self) -> *mut c_void {
        if self.random.chance(4) { null_mut() } else { self.arena.as_mut_ptr().cast() }
    }

    /// Returns a count, and a list with this number of handles. Some handles may be null.
    fn list(&mut self, kind: usize) -> (cl_uint, Vec<*mut c_void>) {
        let length = [0, 0, 0, 1, 1, 2, 3][self.random.below(7)];
        let list: Vec<_> = (0..length).map(|_| self.handle(kind)).collect();
        (length as cl_uint, list)
    }

    fn pointer(&mut self, list: &[*mut c_void]) -> *const *mut c_void {
        if list.is_empty() || self.random.chance(2) { null() } else { list.as_ptr() }
    }

    fn sizes(&mut self) -> [usize; 3] {
        std::array::from_fn(|_| self.random.size())
    }

    /// Returns global or local sizes of launches that finish soon.
    fn range(&mut self) -> [usize; 3] {
        std::array::from_fn(|_| [0, 1, 1, 2, 7, 8, 16, 31][self.random.below(8)])
    }

    fn text(&mut self, from: &[&str]) -> CString {
        CString::new(from[self.random.below(from.len())]).unwrap_or_default()
    }

    /// Sets the status of every user event, so that blocking calls can follow.
    fn complete_user_events(&mut self) {
        let cl = &target().cl;
        for event in std::mem::take(&mut self.undecided) {
            cl.clSetUserEventStatus(event, if self.random.chance(20) { -1 } else { CL_COMPLETE });
            cl.clReleaseEvent(event);
        }
    }

    fn blocking(&mut self) -> cl_uint {
        let blocking = self.random.chance(30);
        if blocking {
            self.complete_user_events();
        }
        cl_uint::from(blocking)
    }

    fn say(&self, call: &str) {
        if self.verbose {
            eprintln!("{call}");
        }
    }

    fn objects(&mut self) -> Option<()> {
        let cl = &target().cl;
        let mut status = 0;
        let code: *mut cl_int = if self.random.chance(90) { &mut status } else { null_mut() };
        match self.random.below(11) {
            // Create only a few contexts, so that objects often belong to the same context.
            0 if self.handles[CONTEXT].is_empty() || self.random.chance(15) => {
                self.say("clCreateContext");
                let devices = [target().device, self.handle(DEVICE)];
                let properties: [isize; 3] =
                    [[0x1084, 0x40B0, 77][self.random.below(3)], [0, target().platform as isize][self.random.below(2)], 0];
                let list = if self.random.chance(30) { properties.as_ptr() } else { null() };
                let count = 1 + self.random.below(2) as cl_uint;
                let context = cl.clCreateContext(list, count, devices.as_ptr(), None, null_mut(), code);
                self.keep(CONTEXT, context);
            }
            1 => {
                self.say("clCreateCommandQueue");
                let (context, device, bits) = (self.handle(CONTEXT), self.handle(DEVICE), self.random.bits(4));
                self.keep(QUEUE, cl.clCreateCommandQueue(context, device, bits, code));
            }
            2 => {
                self.say("clCreateCommandQueueWithProperties");
                let list = [0x1093 + self.random.below(2) as u64, self.random.bits(4), 0];
                let (context, device) = (self.handle(CONTEXT), self.handle(DEVICE));
                let list = if self.random.chance(50) { list.as_ptr() } else { null() };
                self.keep(QUEUE, cl.clCreateCommandQueueWithProperties(context, device, list, code));
            }
            0 | 3..=5 => {
                self.say("clCreateBuffer");
                let (context, flags, host) = (self.handle(CONTEXT), self.random.bits(10), self.memory());
                let size = self.random.size();
                // With CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR, the size must not exceed the application's memory.
                // Otherwise, it must not exhaust the memory of the machine.
                let size = if size > ARENA && (flags & 0x28 != 0 || size < usize::MAX / 4) { ARENA } else { size };
                let host = if flags & 0x28 == 0 && self.random.chance(95) { null_mut() } else { host };
                self.keep(MEM, cl.clCreateBuffer(context, flags, size, host, code));
            }
            6 => {
                self.say("clCreateSubBuffer");
                let region = [self.random.size() & !127, self.random.size()];
                let pointer = if self.random.chance(95) { region.as_ptr().cast() } else { null() };
                let (mem, flags, kind) = (self.handle(MEM), self.random.bits(10), 0x1220 + cl_uint::from(self.random.chance(5)));
                self.keep(MEM, cl.clCreateSubBuffer(mem, flags, kind, pointer, code));
            }
            7 => {
                self.say("clCreateProgramWithSource");
                let text = self.text(&SOURCES);
                let pointer = if self.random.chance(3) { null() } else { text.as_ptr() };
                let context = self.handle(CONTEXT);
                self.keep(PROGRAM, cl.clCreateProgramWithSource(context, 1, &pointer, null(), code));
            }
            8 | 9 => {
                self.say("clCreateKernel");
                let (program, name) = (self.handle(PROGRAM), self.text(&NAMES));
                self.keep(KERNEL, cl.clCreateKernel(program, name.as_ptr(), code));
            }
            _ => {
                self.say("clCreateUserEvent");
                let context = self.handle(CONTEXT);
                let event = cl.clCreateUserEvent(context, code);
                if !event.is_null() {
                    cl.clRetainEvent(event);
                    self.undecided.push(event);
                    self.keep(EVENT, event);
                }
            }
        }
        Some(())
    }

    fn retain_or_release(&mut self) {
        let cl = &target().cl;
        let kind = self.random.below(KINDS);
        let handle = self.handle(kind);
        let retain = self.random.chance(45);
        self.say(&format!("retain {retain} {kind}"));
        let call: fn(&common::ffi::Cl, *mut c_void) -> cl_int = match (kind, retain) {
            (CONTEXT, true) => |cl, h| cl.clRetainContext(h),
            (CONTEXT, false) => |cl, h| cl.clReleaseContext(h),
            (QUEUE, true) => |cl, h| cl.clRetainCommandQueue(h),
            (QUEUE, false) => |cl, h| cl.clReleaseCommandQueue(h),
            (MEM, true) => |cl, h| cl.clRetainMemObject(h),
            (MEM, false) => |cl, h| cl.clReleaseMemObject(h),
            (PROGRAM, true) => |cl, h| cl.clRetainProgram(h),
            (PROGRAM, false) => |cl, h| cl.clReleaseProgram(h),
            (KERNEL, true) => |cl, h| cl.clRetainKernel(h),
            (KERNEL, false) => |cl, h| cl.clReleaseKernel(h),
            (SAMPLER, true) => |cl, h| cl.clRetainSampler(h),
            (SAMPLER, false) => |cl, h| cl.clReleaseSampler(h),
            (COMMAND_BUFFER, retain) => return self.retain_or_release_command_buffer(handle, retain),
            (EVENT, true) => |cl, h| cl.clRetainEvent(h),
            (EVENT, false) => |cl, h| cl.clReleaseEvent(h),
            (_, true) => |cl, h| cl.clRetainDevice(h),
            (_, false) => |cl, h| cl.clReleaseDevice(h),
        };
        // Do not release undecided events here. Too many releases would also remove the reference of the fuzzer.
        if retain || !self.undecided.contains(&handle) {
            call(cl, handle);
        }
    }

    fn queries(&mut self) {
        let cl = &target().cl;
        let kind = self.random.below(KINDS + 5);
        let base =
            [0x1000, 0x1080, 0x1090, 0x1100, 0x1160, 0x1190, 0x11D0, 0x1150, 0x1294, 0x12A0, 0x1180, 0x11B0, 0x1196, 0x1280, 0x1110][kind];
        let name = if self.random.chance(5) {
            self.random.next() as cl_uint
        } else {
            base + self.random.below(if kind == DEVICE { 0x80 } else { 14 }) as cl_uint
        };
        let size = self.random.size().min(ARENA);
        let value = self.memory();
        let mut needed = 0usize;
        let ret: *mut usize = if self.random.chance(90) { &mut needed } else { null_mut() };
        self.say(&format!("query {kind} {name:#x} {size}"));
        let device = self.handle(DEVICE);
        match kind {
            DEVICE => cl.clGetDeviceInfo(device, name, size, value, ret),
            CONTEXT => cl.clGetContextInfo(self.handle(CONTEXT), name, size, value, ret),
            QUEUE => cl.clGetCommandQueueInfo(self.handle(QUEUE), name, size, value, ret),
            MEM => cl.clGetMemObjectInfo(self.handle(MEM), name, size, value, ret),
            PROGRAM => {
                // For CL_PROGRAM_BINARIES, the value is an array of pointers to which the driver writes the binaries.
                // All pointers are null, so the driver writes nothing.
                self.arena.fill(0);
                cl.clGetProgramInfo(self.handle(PROGRAM), name, size, value, ret)
            }
            KERNEL => cl.clGetKernelInfo(self.handle(KERNEL), name, size, value, ret),
            EVENT => cl.clGetEventInfo(self.handle(EVENT), name, size, value, ret),
            SAMPLER => cl.clGetSamplerInfo(self.handle(SAMPLER), name, size, value, ret),
            COMMAND_BUFFER => self.query_commands(name, size, value, ret),
            MUTABLE_COMMAND => self.query_command(name, size, value, ret),
            10 => cl.clGetProgramBuildInfo(self.handle(PROGRAM), device, name, size, value, ret),
            11 => cl.clGetKernelWorkGroupInfo(self.handle(KERNEL), device, name, size, value, ret),
            12 => cl.clGetKernelArgInfo(self.handle(KERNEL), self.random.below(5) as cl_uint, name, size, value, ret),
            13 => cl.clGetImageInfo(self.handle(MEM), name, size, value, ret),
            _ => cl.clGetEventProfilingInfo(self.handle(EVENT), name, size, value, ret),
        };
    }

    fn programs(&mut self) {
        let cl = &target().cl;
        let options = self.text(&OPTIONS);
        let program = self.handle(PROGRAM);
        let device = [self.handle(DEVICE)];
        let (count, devices) = if self.random.chance(50) { (0, null()) } else { (self.random.below(2) as cl_uint, device.as_ptr()) };
        match self.random.below(8) {
            0 => {
                self.say("clCompileProgram");
                let (header, name) = ([self.handle(PROGRAM)], [c"a.h".as_ptr()]);
                let (n, list, names) = if self.random.chance(50) { (1, header.as_ptr(), name.as_ptr()) } else { (0, null(), null()) };
                cl.clCompileProgram(program, count, devices, options.as_ptr(), n, list, names, None, null_mut());
            }
            1 => {
                self.say("clLinkProgram");
                let (n, list) = self.list(PROGRAM);
                let (context, pointer) = (self.handle(CONTEXT), self.pointer(&list));
                let linked = cl.clLinkProgram(context, count, devices, options.as_ptr(), n, pointer, None, null_mut(), null_mut());
                self.keep(PROGRAM, linked);
            }
            2 => {
                self.say("clCreateProgramWithBinary");
                let length = [self.random.below(200)];
                let noise: Vec<u64> = (0..ARENA / 64).map(|_| self.random.next()).collect();
                let bytes: *const u8 = noise.as_ptr().cast();
                let context = self.handle(CONTEXT);
                let made = cl.clCreateProgramWithBinary(context, 1, device.as_ptr(), length.as_ptr(), &bytes, null_mut(), null_mut());
                self.keep(PROGRAM, made);
            }
            3 => {
                self.say("clCreateKernelsInProgram");
                let mut kernels: [cl_kernel; 4] = [null_mut(); 4];
                cl.clCreateKernelsInProgram(program, self.random.below(5) as cl_uint, kernels.as_mut_ptr(), null_mut());
                for kernel in kernels {
                    self.keep(KERNEL, kernel);
                }
            }
            4 => {
                self.say("clBuildProgram, later");
                let callback: common::ffi::ProgramCallback = Some(on_program);
                cl.clBuildProgram(program, count, devices, options.as_ptr(), callback, null_mut());
            }
            _ => {
                self.say("clBuildProgram");
                cl.clBuildProgram(program, count, devices, options.as_ptr(), None, null_mut());
            }
        }
    }

    fn kernels(&mut self) {
        let cl = &target().cl;
        let kernel = self.handle(KERNEL);
        if self.random.chance(8) {
            self.say("clCloneKernel");
            self.keep(KERNEL, cl.clCloneKernel(kernel, null_mut()));
            return;
        }
        let (index, mem) = (self.random.below(6) as cl_uint, self.handle(MEM));
        self.arena[0] = match self.random.below(10) {
            0..=5 => mem as u64,
            6 | 7 => self.handle(SAMPLER) as u64,
            _ => self.random.next(),
        };
        let size = if self.random.chance(70) { [8, 4, 16, 1, 64][self.random.below(5)] } else { self.random.size() };
        let value = if size > ARENA { null_mut() } else { self.memory() };
        self.say(&format!("clSetKernelArg {index} {size}"));
        cl.clSetKernelArg(kernel, index, size, value);
    }

    fn enqueue(&mut self) {
        let cl = &target().cl;
        let (queue, mem, other) = (self.handle(QUEUE), self.handle(MEM), self.handle(MEM));
        let (n, list) = self.list(EVENT);
        let wait = self.pointer(&list);
        let mut event = null_mut();
        let out: *mut cl_event = if self.random.chance(80) { &mut event } else { null_mut() };
        let (offset, size) = (self.random.size(), self.random.size());
        // The application's memory is as large as the largest buffer. The driver rejects a larger size before any
        // access.
        let memory = self.memory();
        let kind = self.random.below(14);
        self.say(&format!("command {kind} offset {offset} size {size}, {n} events"));
        match kind {
            0 | 1 => {
                let block = self.blocking();
                cl.clEnqueueReadBuffer(queue, mem, block, offset, size, memory, n, wait, out);
            }
            2 | 3 => {
                let block = self.blocking();
                cl.clEnqueueWriteBuffer(queue, mem, block, offset, size, memory, n, wait, out);
            }
            4 => {
                cl.clEnqueueCopyBuffer(queue, mem, other, offset, self.random.size(), size, n, wait, out);
            }
            5 => {
                let pattern = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0][self.random.below(10)];
                cl.clEnqueueFillBuffer(queue, mem, memory, pattern, offset, size, n, wait, out);
            }
            6 => {
                let (block, mut code) = (self.blocking(), 0);
                let flags = self.random.bits(3);
                let mapped = cl.clEnqueueMapBuffer(queue, mem, block, flags, offset, size, n, wait, out, &mut code);
                if !mapped.is_null() {
                    self.mapped.push(mapped);
                }
            }
            7 => {
                let index = self.random.below(self.mapped.len() + 1);
                let mapped = self.mapped.get(index).copied().unwrap_or(memory);
                cl.clEnqueueUnmapMemObject(queue, mem, mapped, n, wait, out);
            }
            8 => {
                cl.clEnqueueMarkerWithWaitList(queue, n, wait, out);
            }
            9 => {
                cl.clEnqueueBarrierWithWaitList(queue, n, wait, out);
            }
            10 => {
                // Choose host pitches for which the application's memory is large enough.
                let [origin, region, host] = [self.sizes(), self.range(), self.range()];
                let (row, slice) = (self.random.size(), self.random.size());
                let block = self.blocking();
                let (from, to, part) = (origin.as_ptr(), host.as_ptr(), region.as_ptr());
                if self.random.chance(50) {
                    cl.clEnqueueReadBufferRect(queue, mem, block, from, to, part, row, slice, 32, 1024, memory, n, wait, out);
                } else {
                    cl.clEnqueueCopyBufferRect(queue, mem, other, from, to, part, row, slice, row, slice, n, wait, out);
                }
            }
            _ => {
                let (kernel, dims) = (self.handle(KERNEL), [1, 1, 2, 3, 0, 4][self.random.below(6)]);
                let [global, local, offset] = [self.range(), self.range(), self.sizes()];
                let offset = if self.random.chance(20) { offset.as_ptr() } else { null() };
                let local = if self.random.chance(50) { local.as_ptr() } else { null() };
                let global = if self.random.chance(97) { global.as_ptr() } else { null() };
                cl.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, out);
            }
        }
        self.keep(EVENT, event);
    }

    fn events(&mut self) {
        let cl = &target().cl;
        match self.random.below(6) {
            0 => {
                self.say("clWaitForEvents");
                self.complete_user_events();
                let (n, list) = self.list(EVENT);
                let pointer = self.pointer(&list);
                cl.clWaitForEvents(n, pointer);
            }
            1 => {
                self.say("clFinish");
                self.complete_user_events();
                let queue = self.handle(QUEUE);
                cl.clFinish(queue);
            }
            2 => {
                self.say("clFlush");
                let queue = self.handle(QUEUE);
                cl.clFlush(queue);
            }
            3 => {
                self.say("clSetUserEventStatus");
                let (event, status) = (self.handle(EVENT), [0, -1, -1000, 1, 2, 3][self.random.below(6)]);
                cl.clSetUserEventStatus(event, status);
            }
            4 => {
                self.say("clSetEventCallback");
                let (event, state) = (self.handle(EVENT), self.random.below(5) as cl_int - 1);
                cl.clSetEventCallback(event, state, if self.random.chance(95) { Some(on_event) } else { None }, null_mut());
            }
            _ => {
                self.say("clSetMemObjectDestructorCallback");
                let mem = self.handle(MEM);
                cl.clSetMemObjectDestructorCallback(mem, if self.random.chance(95) { Some(on_mem) } else { None }, null_mut());
            }
        }
    }

    fn run(&mut self, calls: usize) {
        for _ in 0..calls {
            match self.random.below(28) {
                0..=4 => drop(self.objects()),
                5 => self.retain_or_release(),
                6 | 7 => self.queries(),
                8 | 9 => self.programs(),
                10..=12 => self.kernels(),
                13..=17 => self.enqueue(),
                18 | 19 => self.make_image(),
                20..=22 => self.image_commands(),
                23 => self.shared(),
                24 | 25 => self.record(),
                _ => self.events(),
            }
        }
        // Commands in flight use the arena, so it must live until they are complete.
        self.complete_user_events();
        for queue in self.handles[QUEUE].clone() {
            target().cl.clFinish(queue);
        }
        std::mem::forget(std::mem::take(&mut self.arena));
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs one sequence, in a process that the test starts.
#[test]
#[ignore = "the test starts it in child processes"]
fn sequence() {
    let seed = std::env::var(CHILD).expect("the test starts this process").parse().expect("a number");
    Fuzzer::new(seed).run(setting("WGCL_FUZZ_CALLS", 1500) as usize);
}

#[test]
fn random_calls_neither_crash_nor_hang() {
    if !target().is_wgcl() {
        // Invalid arguments crash other platforms.
        return;
    }
    let (count, first) = (setting("WGCL_FUZZ_COUNT", 8), setting("WGCL_FUZZ_SEED", 1));
    let limit = Duration::from_secs(120);
    let mut wrong = Vec::new();
    for seed in first..first + count {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "sequence", "--ignored", "--nocapture"])
            .env(CHILD, seed.to_string())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let begin = Instant::now();
        let status = loop {
            match child.try_wait().expect("its state") {
                Some(status) => break Some(status),
                None if begin.elapsed() > limit => {
                    child.kill().and_then(|()| child.wait()).expect("killed");
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        match status {
            Some(status) if status.success() => {}
            Some(status) => wrong.push(format!("seed {seed}: {status}")),
            None => wrong.push(format!("seed {seed}: hangs")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
