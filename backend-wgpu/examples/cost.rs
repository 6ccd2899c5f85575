//! Prints every device's properties and the cost of commands: `cargo run --release -p wgcl-backend-wgpu --example
//! cost`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool for developers")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{adder, buffer, launch, run, start};
use wgcl_api::backend::{Action, Command, CopyRegion, Device, LaunchArg};
use wgcl_backend_wgpu::{WgpuBackend, WgpuDevice};

fn main() {
    for settings in common::ALL {
        for device in WgpuBackend::new(settings).list_devices() {
            println!("\n{settings:?}\n{:#?}\n{:?}", device.properties(), device.target());
            measure(&device);
        }
    }
}

/// Runs `f` `runs` times. Returns the median duration in seconds.
fn median(runs: usize, mut f: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn wait(device: &WgpuDevice, command: impl Into<Command>) {
    run(device, command);
}

fn measure(device: &Arc<WgpuDevice>) {
    let program = adder(device);
    let memory = device.allocate(1 << 20).unwrap();
    let value = LaunchArg::Value(vec![1, 0, 0, 0].into());
    let add = || launch(&program, "add", vec![buffer(&memory), value.clone()], [64, 1, 1], [64, 1, 1]);
    run(&**device, add());
    let one = median(500, || wait(device, add()));
    println!("launch, flush, wait: {:.1} us", one * 1e6);
    let nop = median(500, || wait(device, Command::Nop));
    println!("nop, flush, wait: {:.1} us", nop * 1e6);
    for profile in [false, true] {
        let batch = median(10, || {
            let pending: Vec<_> = (0..1000).map(|_| start(&**device, add(), profile)).collect();
            device.flush();
            for one in pending {
                one.wait().unwrap();
            }
        });
        println!("1000 launches, profiled {profile}: {:.2} us each", batch * 1e3);
    }
    let enqueue = median(10, || {
        let mut pending: Vec<_> = (0..1000).map(|_| start(&**device, add(), false)).collect();
        device.flush();
        pending.pop().map(common::Pending::wait);
    });
    println!("1000 launches, one waited for: {:.2} us each", enqueue * 1e3);
    threads();
    let large = device.allocate(64 << 20).unwrap();
    let other = device.allocate(64 << 20).unwrap();
    let data = common::noise(64 << 20, 1);
    common::write(&**device, &large, 0, &data);
    let whole = || vec![CopyRegion { buffer: 0, host: 0, size: 64 << 20 }];
    let target = common::Target(Arc::new(std::sync::Mutex::new(vec![0; 64 << 20])));
    let report = |what: &str, seconds: f64| println!("{what} 64 MiB: {:.2} ms, {:.1} GB/s", seconds * 1e3, 0.0671 / seconds);
    let source = Arc::new(data);
    report(
        "write",
        median(5, || wait(device, Action::Write { dst: Arc::clone(&large), src: Arc::new(Shared(Arc::clone(&source))), regions: whole() })),
    );
    report("read", median(5, || wait(device, Action::Read { src: Arc::clone(&large), dst: Arc::new(target.clone()), regions: whole() })));
    report("copy", median(5, || wait(device, Action::Copy { src: Arc::clone(&large), dst: Arc::clone(&other), regions: whole() })));
    let fill = |pattern: Vec<u8>| Action::Fill { dst: Arc::clone(&large), pattern, offset: 0, size: 64 << 20 };
    report("fill with zero", median(5, || wait(device, fill(vec![0; 4]))));
    report("fill with a pattern", median(5, || wait(device, fill(vec![1, 2, 3, 4]))));
    let small = median(200, || common::write(&**device, &memory, 0, &[1, 2, 3, 4]));
    println!("write 4 bytes: {:.1} us", small * 1e6);
    let small = median(200, || drop(common::read(&**device, &memory, 0, 4)));
    println!("read 4 bytes: {:.1} us", small * 1e6);
}

#[derive(Debug)]
struct Shared(Arc<Vec<u8>>);

impl wgcl_api::backend::HostSource for Shared {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        f(&self.0);
    }
}

/// Prints the processor time of every thread of this process.
fn threads() {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
    for task in tasks.flatten() {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let schedule = read("schedstat");
        let nanoseconds: u64 = schedule.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        println!("  {:16} {:8.1} ms", read("comm").trim(), nanoseconds as f64 / 1e6);
    }
}
