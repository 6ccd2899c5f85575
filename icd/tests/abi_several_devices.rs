//! Tests one context with all devices. Queues of all devices write buffers, sub-buffers and images in sequence. Each
//! command waits for the event of the previous one. Built-in kernels run on the devices of their program.
//!
//! The devices are those that the environment selects, and the interpreter. To test two Vulkan drivers and the CPU, set
//! `VK_DRIVER_FILES=lvp_icd.json:vk_swiftshader_icd.json`, `WGCL_CPU=1` and
//! `WGCL_DEVICE=llvmpipe,swiftshader,NAME_OF_CPU,interpreter`. `WGCL_STRESS_STEPS` is the number of steps, and
//! `WGCL_FUZZ_SEED` the seed. The ignored test `migration_times` measures transfers between devices.

mod common;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::time::Instant;

use common::ffi::{
    CL_DEVICE_TYPE_ALL, CL_INVALID_DEVICE, CL_INVALID_PROGRAM_EXECUTABLE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE, CL_SUCCESS,
    CL_TRUE, cl_buffer_region, cl_device_id, cl_event, cl_image_desc, cl_image_format, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Kernel, Mem, Program, Queue};
use common::random::{Random, setting};
use common::{info, info_string, target};

const SOURCE: &str = "
    kernel void step(global uint *a, uint n) { size_t i = get_global_id(0); a[i] = a[i] * 5 + n; }
    kernel void move(global const uint *a, global uint *b) { b[get_global_id(0)] = a[get_global_id(0)] + 1; }
    kernel void paint(read_only image2d_t a, write_only image2d_t b, uint n) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        write_imageui(b, at, read_imageui(a, at) * 3 + n);
    }";

/// Words of a buffer. Sub-buffers begin at word 0 or [`HALF`], which are offsets that every device permits.
const WORDS: usize = 4096;
const HALF: usize = WORDS / 2;
/// Pixels along an edge of an image.
const EDGE: usize = 16;

/// CL_BUFFER_CREATE_TYPE_REGION
const REGION: cl_uint = 0x1220;
/// CL_MEM_OBJECT_IMAGE2D
const IMAGE_2D: cl_uint = 0x10F1;
/// CL_RGBA, CL_UNSIGNED_INT32
const RGBA_UINT: cl_image_format = cl_image_format { image_channel_order: 0x10B5, image_channel_data_type: 0x10DC };

/// A context of all devices, with a queue for each device.
struct World {
    context: Context,
    devices: Vec<cl_device_id>,
    queues: Vec<Queue>,
    names: Vec<String>,
    program: Program,
}

impl World {
    /// Returns `None` on platforms other than wgcl.
    fn new() -> Option<Self> {
        if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
            return None;
        }
        static ASKED: std::sync::Once = std::sync::Once::new();
        // SAFETY: every test of this process begins here, under a lock, and no other thread reads the environment
        // before.
        ASKED.call_once(|| unsafe { std::env::set_var("WGCL_INTERPRETER", "1") });
        let (cl, platform) = (&target().cl, target().platform);
        let mut devices: Vec<cl_device_id> = vec![null_mut(); 16];
        let mut count: cl_uint = 0;
        assert_eq!(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices.as_mut_ptr(), &mut count), CL_SUCCESS);
        devices.truncate(count as usize);
        assert!(devices.len() > 1, "a device besides the interpreter");
        let mut status = 1;
        let context = Context(cl.clCreateContext(null(), count, devices.as_ptr(), None, null_mut(), &mut status));
        assert_eq!(status, CL_SUCCESS, "clCreateContext");
        let queues = devices.iter().map(|&device| Queue(cl.clCreateCommandQueue(context.0, device, 0, &mut status))).collect();
        // CL_DEVICE_NAME
        let name = |&device: &cl_device_id| {
            info_string(|size, value, ret| cl.clGetDeviceInfo(device, 0x102B, size, value, ret)).unwrap_or_default()
        };
        let names = devices.iter().map(name).collect();
        let program = context.program(SOURCE);
        assert_eq!(cl.clBuildProgram(program.0, 0, null(), c"-cl-std=CL3.0".as_ptr().cast::<c_char>(), None, null_mut()), CL_SUCCESS);
        Some(Self { context, devices, queues, names, program })
    }

    fn part(&self, whole: &Mem, first: usize, words: usize) -> Mem {
        let region = cl_buffer_region { origin: 4 * first, size: 4 * words };
        let mut status = 1;
        let part = target().cl.clCreateSubBuffer(whole.0, CL_MEM_READ_WRITE, REGION, std::ptr::from_ref(&region).cast(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateSubBuffer");
        Mem(part)
    }

    fn image(&self) -> Mem {
        let desc = cl_image_desc {
            image_type: IMAGE_2D,
            image_width: EDGE,
            image_height: EDGE,
            image_depth: 1,
            image_array_size: 1,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            mem_object: null_mut(),
        };
        let mut status = 1;
        let mut zeros = vec![0_u32; 4 * EDGE * EDGE];
        // CL_MEM_COPY_HOST_PTR
        let flags = CL_MEM_READ_WRITE | 1 << 5;
        let image = target().cl.clCreateImage(self.context.0, flags, &RGBA_UINT, &desc, zeros.as_mut_ptr().cast(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateImage");
        Mem(image)
    }
}

/// The event of the last command. The next command waits for it.
#[derive(Default)]
struct Chain(Option<Event>);

impl Chain {
    /// Enqueues a command that waits for the last command. `enqueue` gets the wait list and the pointer for the new
    /// event.
    fn next(&mut self, enqueue: impl FnOnce(cl_uint, *const cl_event, *mut cl_event) -> i32) {
        let mut event: cl_event = null_mut();
        let (count, list) = self.0.as_ref().map_or((0, null()), |last| (1, std::ptr::from_ref(&last.0)));
        assert_eq!(enqueue(count, list, &mut event), CL_SUCCESS);
        self.0 = Some(Event(event));
    }

    fn launch(&mut self, queue: &Queue, kernel: &common::objects::Kernel, global: &[usize]) {
        let cl = &target().cl;
        self.next(|n, list, event| {
            let dimensions = global.len() as cl_uint;
            cl.clEnqueueNDRangeKernel(queue.0, kernel.0, dimensions, null(), global.as_ptr(), null(), n, list, event)
        });
        assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
    }
}

/// The expected contents of the buffers and images.
struct Model {
    words: [Vec<u32>; 2],
    pixels: [u32; 2],
}

/// Enqueues one random command on a random device, and applies its effect to the model.
fn random_command(world: &World, random: &mut Random, mems: &[Mem; 2], images: &[Mem; 2], model: &mut Model, chain: &mut Chain) {
    let cl = &target().cl;
    let (queue, number, n) = (&world.queues[random.below(world.queues.len())], random.below(2), random.below(1000) as u32);
    let (mem, first) = (&mems[number], random.below(2) * HALF);
    let range = first..first + HALF;
    match random.below(8) {
        0 | 1 => {
            // A part of a buffer, or all of it.
            let is_whole = random.below(2) == 0;
            let part = world.part(mem, first, HALF);
            let kernel = world.program.kernel("step");
            kernel.set_mem(0, if is_whole { mem } else { &part });
            assert_eq!(kernel.set(1, &n), CL_SUCCESS);
            chain.launch(queue, &kernel, &[if is_whole { WORDS } else { HALF }]);
            let words = if is_whole { 0..WORDS } else { range };
            model.words[number][words].iter_mut().for_each(|word| *word = word.wrapping_mul(5).wrapping_add(n));
        }
        2 => {
            // A kernel copies from a half of one buffer to a half of the other buffer.
            let (from, to) = (world.part(mem, first, HALF), world.part(&mems[1 - number], HALF - first, HALF));
            let kernel = world.program.kernel("move");
            kernel.set_mem(0, &from);
            kernel.set_mem(1, &to);
            chain.launch(queue, &kernel, &[HALF]);
            let moved: Vec<u32> = model.words[number][range].iter().map(|word| word.wrapping_add(1)).collect();
            model.words[1 - number][HALF - first..WORDS - first].copy_from_slice(&moved);
        }
        3 => {
            chain.next(|count, list, event| {
                cl.clEnqueueCopyBuffer(queue.0, mem.0, mems[1 - number].0, 4 * first, 4 * first, 4 * HALF, count, list, event)
            });
            let copied = model.words[number][range.clone()].to_vec();
            model.words[1 - number][range].copy_from_slice(&copied);
        }
        4 => {
            let pattern = std::ptr::from_ref(&n).cast();
            chain.next(|count, list, event| cl.clEnqueueFillBuffer(queue.0, mem.0, pattern, 4, 4 * first, 4 * HALF, count, list, event));
            model.words[number][range].fill(n);
        }
        5 => {
            // The host maps the buffer, checks it, and changes it.
            let (mut status, mut event) = (1, null_mut());
            let (count, list) = chain.0.as_ref().map_or((0, null()), |last| (1, std::ptr::from_ref(&last.0)));
            let flags = CL_MAP_READ | CL_MAP_WRITE;
            let place = cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, flags, 4 * first, 4 * HALF, count, list, &mut event, &mut status);
            assert_eq!(status, CL_SUCCESS, "clEnqueueMapBuffer");
            chain.0 = Some(Event(event));
            // SAFETY: `HALF` words are mapped, and only this test uses them.
            let words = unsafe { std::slice::from_raw_parts_mut(place.cast::<u32>(), HALF) };
            assert!(*words == model.words[number][range.clone()], "what is mapped");
            words.iter_mut().for_each(|word| *word ^= n);
            model.words[number][range].iter_mut().for_each(|word| *word ^= n);
            chain.next(|count, list, event| cl.clEnqueueUnmapMemObject(queue.0, mem.0, place, count, list, event));
        }
        6 => {
            let objects = [mems[0].0, mems[1].0, images[0].0];
            chain.next(|count, list, event| cl.clEnqueueMigrateMemObjects(queue.0, 3, objects.as_ptr(), 0, count, list, event));
        }
        _ => {
            let kernel = world.program.kernel("paint");
            kernel.set_mem(0, &images[number]);
            kernel.set_mem(1, &images[1 - number]);
            assert_eq!(kernel.set(2, &n), CL_SUCCESS);
            chain.launch(queue, &kernel, &[EDGE, EDGE]);
            model.pixels[1 - number] = model.pixels[number].wrapping_mul(3).wrapping_add(n);
        }
    }
    assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
}

/// Reads all buffers and images through one queue, after the last command, and compares them with the model.
fn compare(queue: &Queue, mems: &[Mem; 2], images: &[Mem; 2], model: &Model, chain: &Chain) {
    let cl = &target().cl;
    let (count, list) = chain.0.as_ref().map_or((0, null()), |last| (1, std::ptr::from_ref(&last.0)));
    for (mem, expected) in mems.iter().zip(&model.words) {
        let mut words = vec![0_u32; WORDS];
        let place: *mut c_void = words.as_mut_ptr().cast();
        assert_eq!(cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, 0, 4 * WORDS, place, count, list, null_mut()), CL_SUCCESS);
        assert!(words == *expected, "a buffer");
    }
    for (image, expected) in images.iter().zip(model.pixels) {
        let mut pixels = vec![0_u32; 4 * EDGE * EDGE];
        let (origin, region, place) = ([0_usize; 3], [EDGE, EDGE, 1], pixels.as_mut_ptr().cast());
        let read = cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, origin.as_ptr(), region.as_ptr(), 0, 0, place, count, list, null_mut());
        assert_eq!(read, CL_SUCCESS);
        assert!(pixels.iter().all(|pixel| *pixel == expected), "an image");
    }
}

#[test]
fn all_devices_run_in_sequence() {
    let Some(world) = World::new() else { return };
    let (steps, seed) = (setting("WGCL_STRESS_STEPS", 400), setting("WGCL_FUZZ_SEED", 1));
    println!("{steps} steps on {:?}, seed {seed}", world.names);
    let mut random = Random(seed);
    let mems = [0, 1].map(|_| world.context.buffer(4 * WORDS));
    let images = [0, 1].map(|_| world.image());
    let mut model = Model { words: [0, 1].map(|number| (number..).take(WORDS).collect()), pixels: [0; 2] };
    mems.iter().zip(&model.words).for_each(|(mem, words)| world.queues[0].write(mem, words));
    let mut chain = Chain::default();
    for step in 0..steps {
        random_command(&world, &mut random, &mems, &images, &mut model, &mut chain);
        if step % 16 == 15 || step + 1 == steps {
            compare(&world.queues[random.below(world.queues.len())], &mems, &images, &model, &chain);
        }
    }
    world.queues.iter().for_each(Queue::finish);
}

#[test]
fn built_in_kernels_run_on_the_devices_of_their_program() {
    let Some(world) = World::new() else { return };
    let cl = &target().cl;
    let status_on = |queue: &Queue, kernel: &Kernel| queue.launch(kernel, &[64], None);
    let device_count = |program: &Program| {
        // CL_PROGRAM_NUM_DEVICES
        info::<cl_uint>(|size, value, ret| cl.clGetProgramInfo(program.0, 0x1162, size, value, ret))
    };
    let mem = world.context.buffer(256);
    world.queues[0].write(&mem, &[1_i32; 64]);
    let program = world.context.built_in_for(&world.devices, "pocl.add.i32").expect("a program");
    assert_eq!(device_count(&program), Ok(world.devices.len() as cl_uint));
    let add = program.kernel("pocl.add.i32");
    for (index, queue) in world.queues.iter().enumerate() {
        let sum = world.context.buffer(256);
        [&mem, &mem, &sum].into_iter().zip(0..).for_each(|(mem, index)| add.set_mem(index, mem));
        assert_eq!(status_on(queue, &add), CL_SUCCESS);
        queue.finish();
        assert_eq!(world.queues[0].read::<i32>(&sum, 64), [2; 64], "{}", world.names[index]);
    }
    // A program of the last device only.
    let (last, others) = world.queues.split_last().expect("a queue");
    let device = world.devices[others.len()];
    let program = world.context.built_in_for(&[device], "pocl.copy.i8").expect("a program");
    assert_eq!(device_count(&program), Ok(1));
    let (copy, out) = (program.kernel("pocl.copy.i8"), world.context.buffer(256));
    copy.set_mem(0, &mem);
    copy.set_mem(1, &out);
    assert_eq!(status_on(last, &copy), CL_SUCCESS);
    last.finish();
    others.iter().for_each(|queue| assert_eq!(status_on(queue, &copy), CL_INVALID_PROGRAM_EXECUTABLE));
    // CL_KERNEL_GLOBAL_WORK_SIZE
    let size_on = |device| info::<[usize; 3]>(|size, value, ret| cl.clGetKernelWorkGroupInfo(copy.0, device, 0x11B5, size, value, ret));
    assert_eq!(size_on(device), Ok([u32::MAX as usize; 3]));
    assert_eq!(size_on(null_mut()), size_on(device), "a null device means the only one");
    assert_eq!(size_on(world.devices[0]), Err(CL_INVALID_DEVICE));
    // The devices must belong to the context.
    let mut status = 1;
    let small = Context(cl.clCreateContext(null(), 1, &device, None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(small.built_in_for(&world.devices, "pocl.copy.i8").err(), Some(CL_INVALID_DEVICE));
}

#[test]
#[ignore = "a measurement"]
fn migration_times() {
    const BYTES: usize = 64 << 20;
    let Some(world) = World::new() else { return };
    let cl = &target().cl;
    let mem = world.context.buffer(BYTES);
    let kernel = world.program.kernel("step");
    kernel.set_mem(0, &mem);
    assert_eq!(kernel.set(1, &3_u32), CL_SUCCESS);
    let objects: [cl_mem; 1] = [mem.0];
    let last = world.queues.len() - 1;
    // The interpreter, which is the last device, is too slow for so large a buffer.
    for (from, to) in (0..last).flat_map(|from| (0..last).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let mut times = Vec::new();
        for _ in 0..6 {
            assert_eq!(world.queues[from].launch(&kernel, &[BYTES / 4], None), CL_SUCCESS);
            world.queues[from].finish();
            let begin = Instant::now();
            let queue = &world.queues[to];
            assert_eq!(cl.clEnqueueMigrateMemObjects(queue.0, 1, objects.as_ptr(), 0, 0, null(), null_mut()), CL_SUCCESS);
            queue.finish();
            times.push(begin.elapsed());
        }
        // The first transfer allocates the memory.
        let (first, rest) = times.split_first_mut().expect("times");
        rest.sort();
        println!("{} to {}: {:.1} ms, {:.1} ms at first", world.names[from], world.names[to], ms(rest[rest.len() / 2]), ms(*first));
    }
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
