//! A process that uses OpenCL and ends.

use std::ffi::c_void;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::FreeLibrary;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, LoadLibraryW};
use windows_sys::Win32::System::Threading::ExitProcess;

use super::common::library_under_test;
use super::common::objects::Context;
use super::parent::REPORT;
use super::wine;

/// The exit status that a child passes to `exit` or `ExitProcess`.
pub const STATUS: i32 = 5;

const SOURCE: &str = "kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }";
/// The number of work-items, which is sufficient for several threads.
const ITEMS: usize = 1 << 18;

pub fn run(way: &str) -> ExitCode {
    if way == "unload_unused" {
        return if unload(1) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if let Ok(path) = std::env::var(REPORT) {
        wine::open_report(&path);
    }
    use_opencl();
    match way {
        "exit" => {
            use_opencl_on_threads();
            std::process::exit(STATUS)
        }
        "exit_process" | "exit_process_checked" | "exit_process_traced" => {
            use_opencl_on_threads();
            // SAFETY: the call ends the process.
            let ending = thread::spawn(|| unsafe { ExitProcess(STATUS.cast_unsigned()) });
            let _ = ending.join();
            ExitCode::FAILURE
        }
        "unload" => {
            // Unload the library more often than the loader and the test have loaded it.
            unload(4);
            thread::sleep(Duration::from_millis(20));
            ExitCode::SUCCESS
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Launches a kernel on all threads and checks its result. Then enqueues a launch, and does not wait for it.
fn use_opencl() {
    let context = Context::new();
    let queue = context.queue(0);
    let memory = context.buffer(4 * ITEMS);
    let kernel = context.build(SOURCE).kernel("add");
    kernel.set_mem(0, &memory);
    kernel.set(1, &2u32);
    queue.write(&memory, &vec![0u32; ITEMS]);
    for _ in 0..3 {
        queue.launch(&kernel, &[ITEMS], None);
    }
    assert!(queue.read::<u32>(&memory, ITEMS).iter().all(|&word| word == 6), "wrong results");
    queue.launch(&kernel, &[ITEMS], None);
    // The objects live until the process has ended.
    std::mem::forget((kernel, memory, queue, context));
}

/// Starts two threads that use OpenCL until the process has ended.
fn use_opencl_on_threads() {
    for _ in 0..2 {
        thread::spawn(|| {
            loop {
                use_opencl();
            }
        });
    }
    thread::sleep(Duration::from_millis(20));
}

/// Loads the library, and unloads it `count` times. Returns whether the library is no longer in the process.
fn unload(count: u32) -> bool {
    let library = library_under_test().expect("the library");
    let name: Vec<u16> = library.to_string_lossy().encode_utf16().chain([0]).collect();
    // SAFETY: the name ends in zero. Without uses of OpenCL, no thread runs code of the library. After uses, the
    // library keeps itself loaded, which this test checks.
    unsafe {
        let module: *mut c_void = LoadLibraryW(name.as_ptr());
        assert!(!module.is_null(), "cannot load {}: {}", library.display(), std::io::Error::last_os_error());
        for _ in 0..count {
            FreeLibrary(module);
        }
        GetModuleHandleW(name.as_ptr()).is_null()
    }
}
