//! Kernels that are compiled in the background, while launches, flushes and releases happen.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use common::{ALL, buffer, device, launch, run, shader, start};
use wgcl_api::backend::{BackendError, BackendResult, Device, LoadedProgram};
use wgcl_backend_wgpu::WgpuDevice;
use wgcl_compiler::binding::ArgLayout;
use wgcl_compiler::emit::Shader;

/// Maximum wait for an expected event, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A counter that threads can wait for.
#[derive(Default)]
struct Count(Mutex<u32>, Condvar);

impl Count {
    fn add(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    fn wait_for(&self, number: u32) -> bool {
        let reached = self.1.wait_timeout_while(self.0.lock().unwrap(), LONG, |count| *count < number).unwrap();
        !reached.1.timed_out()
    }
}

/// Creates a program of kernels without arguments. `on_compile` is called when a kernel is compiled.
fn program(
    device: &Arc<WgpuDevice>,
    kernels: &[&str],
    on_compile: impl Fn(&str) -> BackendResult<()> + Send + Sync + 'static,
) -> Arc<dyn LoadedProgram> {
    let spirv = device.target().shaders.spirv;
    let kernels = kernels.iter().map(|name| ((*name).to_owned(), vec![])).collect();
    let make = move |name: &str, _: &_| -> BackendResult<Shader> {
        on_compile(name)?;
        Ok(shader("@compute @workgroup_size(1) fn main() { }", vec![], ArgLayout::default(), spirv))
    };
    device.load_shaders(kernels, make).unwrap()
}

#[test]
fn kernels_of_queued_launches_are_compiled_in_parallel() {
    let device = device(ALL[0]);
    let begun = Arc::new(Count::default());
    let counter = Arc::clone(&begun);
    let on_compile = move |_: &str| {
        counter.add();
        // Each compilation waits for the other.
        assert!(counter.wait_for(2), "the kernels are compiled in sequence");
        Ok(())
    };
    let program = program(&device, &["one", "two"], on_compile);
    let pending = ["one", "two"].map(|name| start(&*device, launch(&program, name, vec![], [1, 1, 1], [1, 1, 1]), false));
    device.flush();
    for one in pending {
        one.wait().unwrap();
    }
    assert_eq!(*begun.0.lock().unwrap(), 2, "each kernel is compiled once");
}

#[test]
fn the_driver_compiles_only_shaders_that_run() {
    // An invocation runs at most 16 work-items of `bytes` or 2 of `doubles`: their elements have 16 bytes in total.
    // `apart` cannot be coarsened.
    let source = "
        kernel void bytes(global const uchar *a, global uchar *b) { b[get_global_id(0)] = a[get_global_id(0)] + 1; }
        kernel void doubles(global const long *a, global long *b) { b[get_global_id(0)] = a[get_global_id(0)] + 1; }
        kernel void apart(global const int *a, global int *b) { b[get_global_id(0) * 3] = a[get_global_id(0) * 5] + 1; }";
    let device = device(ALL[0]);
    let options = wgcl_compiler::program::parse_options("").unwrap();
    let source = wgcl_compiler::program::Source { text: source.to_owned(), ..Default::default() };
    let module = wgcl_compiler::build::build(&source, &options, device.target()).program.unwrap().module;
    for in_a_row in [false, true] {
        let program = device.load(Arc::clone(&module), None).unwrap();
        let (a, b) = (device.allocate(8 << 20).unwrap(), device.allocate(8 << 20).unwrap());
        let mut pending = Vec::new();
        for name in ["bytes", "doubles", "apart"] {
            let launch = launch(&program, name, vec![buffer(&a), buffer(&b)], [1 << 18, 1, 1], [64, 1, 1]);
            pending.push(start(&*device, launch, false));
            if !in_a_row {
                device.flush();
                pending.remove(0).wait().unwrap();
            }
        }
        device.flush();
        for one in pending {
            one.wait().unwrap();
        }
        assert_eq!(WgpuDevice::pipelines(&*program), 3, "{in_a_row}");
    }
}

#[test]
fn the_device_runs_while_a_kernel_is_compiled() {
    let device = device(ALL[0]);
    let done = Arc::new(Count::default());
    let first_done = Arc::clone(&done);
    let on_compile = move |name: &str| {
        assert!(name == "first" || first_done.wait_for(1), "the first launch waits for the second kernel");
        Ok(())
    };
    let program = program(&device, &["first", "second"], on_compile);
    run(&*device, launch(&program, "first", vec![], [1, 1, 1], [1, 1, 1]));
    // No thread flushes the device. The second launch must therefore make the device start the first one.
    let first = start(&*device, launch(&program, "first", vec![], [1, 1, 1], [1, 1, 1]), false);
    let second = start(&*device, launch(&program, "second", vec![], [1, 1, 1], [1, 1, 1]), false);
    first.wait().unwrap();
    done.add();
    device.flush();
    second.wait().unwrap();
}

#[test]
fn a_program_may_be_dropped_while_its_kernels_are_compiled() {
    for _ in 0..3 {
        let device = device(ALL[0]);
        let made = Arc::new(AtomicU32::new(0));
        let (begun, count) = (Arc::new(Count::default()), Arc::clone(&made));
        let counter = Arc::clone(&begun);
        let names: Vec<String> = (0..50).map(|number| format!("kernel{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let on_compile = move |_: &str| {
            counter.add();
            thread::sleep(Duration::from_millis(20));
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let program = program(&device, &names, on_compile);
        for name in &names {
            program.precompile(name, Some([1, 1, 1]), &[]);
        }
        assert!(begun.wait_for(1));
        drop(program);
        drop(device);
        // Compilations in progress end. The other compilations do not start.
        thread::sleep(Duration::from_millis(200));
        assert!(made.load(Ordering::SeqCst) < 50);
    }
}

#[test]
fn a_kernel_that_fails_in_the_background_fails_its_launch() {
    let device = device(ALL[0]);
    let program =
        program(
            &device,
            &["bad", "good"],
            |name| if name == "bad" { Err(BackendError::Other("expected failure".to_owned())) } else { Ok(()) },
        );
    program.precompile("bad", Some([1, 1, 1]), &[]);
    program.precompile("good", Some([1, 1, 1]), &[]);
    let pending = ["bad", "good"].map(|name| start(&*device, launch(&program, name, vec![], [1, 1, 1], [1, 1, 1]), false));
    device.flush();
    let results = pending.map(|one| one.wait());
    assert!(matches!(&results[0], Err(BackendError::Other(message)) if message == "expected failure"), "{:?}", results[0]);
    assert!(results[1].is_ok());
}

#[test]
fn the_device_may_be_lost_while_kernels_are_compiled() {
    let device = device(ALL[0]);
    let (begun, lost) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let (counter, loss) = (Arc::clone(&begun), Arc::clone(&lost));
    let on_compile = move |_: &str| {
        counter.add();
        assert!(loss.wait_for(1));
        Ok(())
    };
    let program = program(&device, &["one", "two", "three"], on_compile);
    program.precompile("three", Some([1, 1, 1]), &[]);
    let pending = ["one", "two"].map(|name| start(&*device, launch(&program, name, vec![], [1, 1, 1], [1, 1, 1]), false));
    assert!(begun.wait_for(1));
    device.lose().unwrap();
    lost.add();
    device.flush();
    for one in pending {
        // A launch that was dequeued before the loss may fail at its submission, or complete.
        let _ = one.wait();
    }
    let late = start(&*device, launch(&program, "three", vec![], [1, 1, 1], [1, 1, 1]), false);
    device.flush();
    assert!(matches!(late.wait(), Err(BackendError::DeviceLost(_))));
}
