//! Calls OpenCL from another thread while a kernel runs for seconds. On OpenGL ES, the calls wait for the context.
//! wgpu-hal would panic after 6 seconds, so wgcl waits with its own lock. On other devices, no call waits for the
//! kernel.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::objects::{Context, Kernel, Mem, Queue};
use common::{device_name, target};

/// The minimum duration of the kernel, which is longer than the time after which wgpu-hal panics.
const LONG: Duration = Duration::from_secs(8);

/// Work-items of the first launch.
const ITEMS: usize = 4096;

const SOURCE: &str = "
    kernel void spin(global uint *out, uint n) {
        uint s = get_global_id(0);
        for (uint i = 0; i < n; i++) s = s * 1664525u + (s >> 7);
        out[get_global_id(0) & 1023] = s;
    }
    kernel void set(global uint *out) { out[get_global_id(0)] = 7; }";

fn seconds_of(queue: &Queue, kernel: &Kernel, items: usize) -> Duration {
    let begin = Instant::now();
    assert_eq!(queue.launch(kernel, &[items], None), 0);
    queue.finish();
    begin.elapsed()
}

/// Creates, uses and releases objects until `done` is set. Returns the number of rounds.
fn use_device(context: &Context, done: &AtomicBool) -> usize {
    let mut rounds = 0;
    while !done.load(Ordering::Acquire) || rounds == 0 {
        let buffer: Mem = context.buffer(4096);
        let queue = context.queue(0);
        queue.write(&buffer, &[1u32; 1024]);
        let program = context.build(&SOURCE.replace('7', &format!("{}", 7 + rounds)));
        let kernel = program.kernel("set");
        kernel.set_mem(0, &buffer);
        assert_eq!(queue.launch(&kernel, &[1024], None), 0);
        assert_eq!(queue.read::<u32>(&buffer, 1024), vec![7 + rounds as u32; 1024]);
        rounds += 1;
    }
    rounds
}

#[test]
fn other_threads_can_use_the_device_meanwhile() {
    if device_name(target()).contains("interpreter") {
        return;
    }
    let context = Context::new();
    let program = context.build(SOURCE);
    let kernel = program.kernel("spin");
    let buffer = context.buffer(4096);
    let queue = context.queue(0);
    kernel.set_mem(0, &buffer);
    assert_eq!(kernel.set(1, &20_000u32), 0);
    seconds_of(&queue, &kernel, ITEMS);
    // On a fast GPU, the duration of this launch is mostly overhead. Add work-items until the launch takes 50 ms.
    let mut items = ITEMS;
    let mut took = seconds_of(&queue, &kernel, items);
    while took < Duration::from_millis(50) {
        items *= 4;
        took = seconds_of(&queue, &kernel, items);
    }
    let mut items = (items as f64 * LONG.as_secs_f64() / took.as_secs_f64()) as usize / 64 * 64;
    let mut took = Duration::ZERO;
    // Repeat with more work-items if the kernel is too short. On a busy machine, the measured launches are slower, so
    // the estimated number of work-items is too small.
    while took < LONG {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| use_device(&context, &done));
            took = seconds_of(&queue, &kernel, items);
            done.store(true, Ordering::Release);
            println!("a kernel of {took:?}, {} rounds of calls meanwhile", other.join().expect("the other thread's calls succeed"));
        });
        items *= 2;
    }
}
