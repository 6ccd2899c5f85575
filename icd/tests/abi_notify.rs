//! The callback of a context receives the cause of each failed call, once, on the calling thread. The callback may call
//! OpenCL.

mod common;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use common::ffi::{CL_CONTEXT_NUM_DEVICES, CL_SUCCESS, cl_int, cl_uint};
use common::objects::Context;
use common::{info, target};

/// The calls of a context's callback: text, code, and the number of devices that the context reported during the call.
#[derive(Default)]
struct Reports {
    context: Mutex<Option<Context>>,
    reported: Mutex<Vec<(String, cl_int, Option<cl_uint>)>>,
}

impl Reports {
    fn take(&self) -> Vec<(String, cl_int)> {
        let reported = std::mem::take(&mut *self.reported.lock().unwrap_or_else(PoisonError::into_inner));
        reported
            .into_iter()
            .map(|(text, code, devices)| {
                assert_eq!(devices.unwrap_or(1), 1, "a call within the callback");
                (text, code)
            })
            .collect()
    }
}

unsafe extern "C" fn hear(text: *const c_char, private: *const c_void, size: usize, data: *mut c_void) {
    assert_eq!(size, 4);
    // SAFETY: the context passes a string, four bytes and the test's user data, which lives as long as the process.
    let (text, code, reports) =
        unsafe { (CStr::from_ptr(text), private.cast::<cl_int>().read_unaligned(), &*data.cast_const().cast::<Reports>()) };
    let context = reports.context.lock().unwrap_or_else(PoisonError::into_inner);
    let devices = context.as_ref().map(|context| {
        info(|size, value, ret| target().cl.clGetContextInfo(context.0, CL_CONTEXT_NUM_DEVICES, size, value, ret)).expect("devices")
    });
    reports.reported.lock().unwrap_or_else(PoisonError::into_inner).push((text.to_string_lossy().into_owned(), code, devices));
}

/// Creates a context with a callback.
fn context_with_callback() -> &'static Reports {
    let reports: &'static Reports = Box::leak(Box::default());
    let target = target();
    let mut status = 1;
    let data = std::ptr::from_ref(reports).cast_mut().cast();
    let context = target.cl.clCreateContext(null(), 1, &target.device, Some(hear), data, &mut status);
    assert_eq!(status, CL_SUCCESS);
    *reports.context.lock().unwrap_or_else(PoisonError::into_inner) = Some(Context(context));
    reports
}

/// Runs calls with the context.
fn with<T>(reports: &Reports, calls: impl FnOnce(&Context) -> T) -> T {
    // The callback locks `reports.context`, so this function must not hold the lock during the calls.
    let raw = reports.context.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(null_mut(), |context| context.0);
    let context = std::mem::ManuallyDrop::new(Context(raw));
    calls(&context)
}

#[test]
fn failed_calls_report_their_cause() {
    if !target().is_wgcl() {
        return;
    }
    let (one, other) = (context_with_callback(), context_with_callback());
    let mut status = CL_SUCCESS;
    with(one, |context| target().cl.clCreateBuffer(context.0, 0, 0, null_mut(), &mut status));
    assert_eq!(status, -61);
    let reported = one.take();
    let [(text, -61)] = reported.as_slice() else { unreachable!("{reported:?}") };
    assert!(text.starts_with("clCreateBuffer: CL_INVALID_BUFFER_SIZE: "), "{text}");
    // Failed calls with objects of the context are reported to the context's callback as well.
    let kernel = with(one, |context| context.build("kernel void k(global int *a) { a[0] = 1; }").kernel("k"));
    assert_eq!(kernel.set(7, &0u32), -49);
    let reported = one.take();
    assert!(matches!(reported.as_slice(), [(text, -49)] if text.starts_with("clSetKernelArg: CL_INVALID_ARG_INDEX: ")), "{reported:?}");
    assert_eq!(kernel.set(0, &[0u64; 4]), -51);
    assert_eq!(one.take().len(), 1);
    // Successful calls report nothing, nor do calls without a context.
    with(one, |context| drop(context.queue(0)));
    assert_ne!(target().cl.clReleaseMemObject(null_mut()), CL_SUCCESS);
    assert_eq!((one.take(), other.take()), (Vec::new(), Vec::new()));
}

#[test]
fn failed_builds_are_reported_once_and_failed_user_events_never() {
    if !target().is_wgcl() {
        return;
    }
    let reports = context_with_callback();
    let program = with(reports, |context| context.program("kernel void k(global int *a) { a[0] = ; }"));
    assert_eq!(program.build(""), -11);
    let reported = reports.take();
    assert!(matches!(reported.as_slice(), [(text, -11)] if text.starts_with("clBuildProgram: CL_BUILD_PROGRAM_FAILURE: ")), "{reported:?}");
    // The application itself sets the error of the event, so a wait that returns this error is not reported.
    let mut status = 1;
    let event = with(reports, |context| target().cl.clCreateUserEvent(context.0, &mut status));
    assert_eq!(target().cl.clSetUserEventStatus(event, -5), CL_SUCCESS);
    assert_eq!(target().cl.clWaitForEvents(1, &event), -14);
    assert_eq!(reports.take(), []);
    assert_eq!(target().cl.clReleaseEvent(event), CL_SUCCESS);
}

#[test]
fn errors_of_context_creation_are_reported() {
    if !target().is_wgcl() {
        return;
    }
    let reports: &'static Reports = Box::leak(Box::default());
    let properties = [0x7777isize, 1, 0];
    let mut status = CL_SUCCESS;
    let data = std::ptr::from_ref(reports).cast_mut().cast();
    let context = target().cl.clCreateContext(properties.as_ptr(), 1, &target().device, Some(hear), data, &mut status);
    assert!(context.is_null() && status == -64, "{status}");
    let reported = reports.take();
    assert!(matches!(reported.as_slice(), [(text, -64)] if text.starts_with("clCreateContext: CL_INVALID_PROPERTY: ")), "{reported:?}");
}
