//! Events (OpenCL API 5.11 to 5.14).

use std::ffi::c_void;
use std::sync::Arc;

use wgcl_api::objects::context::Context;
use wgcl_api::objects::event::Event;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::status::Status;

use crate::check;
use crate::ffi::{BytesMut, Callback, List, Out, UserData};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_event, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE, CL_EVENT_CONTEXT,
    CL_EVENT_REFERENCE_COUNT, CL_PROFILING_COMMAND_COMPLETE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED,
    CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT, cl_context, cl_event, cl_event_info, cl_int, cl_profiling_info, cl_uint,
};

/// pfn_notify of clSetEventCallback.
type EventFn = unsafe extern "C" fn(cl_event, cl_int, *mut c_void);

/// Returns the events of a wait list.
///
/// # Errors
/// "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, or event_wait_list is not
/// NULL and num_events_in_wait_list is 0, or if event objects in event_wait_list are not valid events."
pub(crate) fn wait_list(count: cl_uint, events: &List<cl_event>) -> Result<Vec<Arc<Event>>> {
    check!(
        (count == 0) == events.is_null(),
        InvalidEventWaitList,
        "num_events_in_wait_list is {count}, but event_wait_list is {}null",
        if events.is_null() { "" } else { "not " }
    );
    handles::get_all(&events.get(count as usize)).map_err(|error| Error::InvalidEventWaitList(error.to_string().into()))
}

/// Returns an event to the application, if it requests one.
pub(crate) fn return_event(out: &Out<cl_event>, event: Arc<Event>) {
    if !out.is_null() {
        out.set(handles::retained(event));
    }
}

crate::entry! {
    fn clWaitForEvents(count: cl_uint, events: List<cl_event>) {
        // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
        check!(count != 0 && !events.is_null(), InvalidValue, "the list of events is empty");
        Event::wait_all(&handles::get_all(&events.get(count as usize))?)
    }

    fn clGetEventInfo(event: cl_event, param: cl_event_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let event = handles::get::<Event>(event)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_EVENT_COMMAND_QUEUE => query.put(event.queue().map_or(std::ptr::null_mut(), handles::borrowed)),
            CL_EVENT_CONTEXT => query.put(handles::borrowed(event.context())),
            CL_EVENT_COMMAND_TYPE => query.put(event.command_type() as u32),
            CL_EVENT_COMMAND_EXECUTION_STATUS => query.put(event.poll().0),
            CL_EVENT_REFERENCE_COUNT => query.put(handles::reference_count(&event)),
            _ => query.unknown(param),
        }
    }

    fn clRetainEvent(event: cl_event) {
        handles::retain::<Event>(event)
    }

    fn clReleaseEvent(event: cl_event) {
        handles::release::<Event>(event).map(drop)
    }

    fn clGetEventProfilingInfo(event: cl_event, param: cl_profiling_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let event = handles::get::<Event>(event)?;
        let profile = event.profile()?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_PROFILING_COMMAND_QUEUED => query.put(profile.queued),
            CL_PROFILING_COMMAND_SUBMIT => query.put(profile.submit),
            CL_PROFILING_COMMAND_START => query.put(profile.start),
            CL_PROFILING_COMMAND_END => query.put(profile.end),
            CL_PROFILING_COMMAND_COMPLETE => query.put(profile.complete),
            _ => query.unknown(param),
        }
    }

    fn clCreateUserEvent(context: cl_context) -> *mut _cl_event {
        let context = handles::get::<Context>(context)?;
        Ok(handles::retained(Event::user(&context)))
    }

    fn clSetUserEventStatus(event: cl_event, status: cl_int) {
        handles::get::<Event>(event)?.set_user_status(Status(status))
    }

    fn clSetEventCallback(event: cl_event, trigger: cl_int, pfn_notify: Callback<EventFn>, user_data: UserData) {
        let event = handles::get::<Event>(event)?;
        // "CL_INVALID_VALUE if pfn_event_notify is NULL or if command_exec_callback_type is not CL_SUBMITTED,
        // CL_RUNNING or CL_COMPLETE."
        let callback = pfn_notify.get().ok_or_else(|| Error::InvalidValue("the callback is null".into()))?;
        let trigger = Status(trigger);
        let valid = [Status::SUBMITTED, Status::RUNNING, Status::COMPLETE].contains(&trigger);
        check!(valid, InvalidValue, "callback type {} is unknown", trigger.0);
        event.on_status(
            trigger,
            Box::new(move |event, status| {
                // SAFETY: the application's function, called as the specification says. The event lives until the
                // function returns.
                unsafe { callback(handles::borrowed(event), status.0, user_data.get()) };
            }),
        );
        Ok(())
    }
}
