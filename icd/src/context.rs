//! Contexts (OpenCL API 4.4).

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::platform::Platform;
use wgcl_api::types::callback::Notify;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::printf::Printer;
use wgcl_compiler::target::Zeroed;

use crate::device::devices_of;
use crate::ffi::{BytesMut, Callback, List, Out, UserData};
use crate::gl::contexts::{self, Graphics};
use crate::host::Allocator;
use crate::info::Query;
use crate::{check, errors, handles};
use wgcl_opencl_headers::{
    _cl_context, CL_CONTEXT_DEVICES, CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_MEMORY_INITIALIZE_KHR, CL_CONTEXT_NUM_DEVICES,
    CL_CONTEXT_PLATFORM, CL_CONTEXT_PROPERTIES, CL_CONTEXT_REFERENCE_COUNT, CL_PRINTF_BUFFERSIZE_ARM, CL_PRINTF_CALLBACK_ARM, cl_context,
    cl_context_info, cl_context_properties, cl_device_id, cl_device_type, cl_uint,
};

/// pfn_notify of a context.
type NotifyFn = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);
/// pfn_notify of clSetContextDestructorCallback.
type DestructorFn = unsafe extern "C" fn(cl_context, *mut c_void);

/// The callback of CL_PRINTF_CALLBACK_ARM. Its parameters are the output, the number of bytes, whether these are the
/// last bytes of the kernel, and the user_data of the context.
type PrintfFn = unsafe extern "C" fn(*const c_char, usize, usize, *mut c_void);

/// CL_CONTEXT_MEMORY_INITIALIZE_LOCAL_KHR
const ZERO_LOCAL: isize = 1 << 0;
/// CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR
const ZERO_PRIVATE: isize = 1 << 1;

/// Returns a function that passes the printf output of kernels to the callback of CL_PRINTF_CALLBACK_ARM
/// (cl_arm_printf), or `None` if the list has no such callback.
fn printer(list: &List<cl_context_properties>, user_data: UserData) -> Option<Printer> {
    let (pairs, _) = list.properties()?;
    let (_, value) = pairs.into_iter().find(|(name, _)| *name == CL_PRINTF_CALLBACK_ARM)?;
    let pointer: *const c_void = std::ptr::with_exposed_provenance(value.cast_unsigned());
    // SAFETY: cl_arm_printf says that the value is null or a function of this type. `None` of an `Option` of a function
    // is null.
    let callback = unsafe { std::mem::transmute::<*const c_void, Option<PrintfFn>>(pointer) }?;
    Some(Arc::new(move |text: &[u8]| {
        // SAFETY: the application's function, called as the extension says.
        unsafe { callback(text.as_ptr().cast(), text.len(), 1, user_data.get()) };
    }))
}

/// Returns which memory is zero-initialised for kernels (CL_CONTEXT_MEMORY_INITIALIZE_KHR of cl_khr_initialize_memory).
fn zeroed(list: &List<cl_context_properties>) -> Option<Zeroed> {
    let (pairs, _) = list.properties()?;
    let (_, value) = pairs.into_iter().find(|(name, _)| *name == CL_CONTEXT_MEMORY_INITIALIZE_KHR)?;
    Some(Zeroed { local: value & ZERO_LOCAL != 0, private: value & ZERO_PRIVATE != 0 })
}

/// Creates a context, and applies the extension properties: the printf callback and zero-initialised memory.
fn create(
    devices: &[Arc<Device>],
    list: &List<cl_context_properties>,
    checked: Option<Vec<isize>>,
    pfn_notify: &Callback<NotifyFn>,
    user_data: UserData,
) -> Result<*mut _cl_context> {
    let pairs = list.properties().map(|(pairs, _)| pairs).unwrap_or_default();
    let connection = contexts::connection_of(&pairs)?;
    if connection.is_some() {
        // "CL_INVALID_OPERATION ... if any of the devices specified in the devices argument cannot support OpenCL
        // objects which share the data store of an OpenGL object."
        let unable = devices.iter().find(|device| !device.shares_graphics());
        check!(unable.is_none(), InvalidOperation, "a device does not support cl_khr_gl_sharing");
    }
    let context = Context::new(devices, checked, notify(pfn_notify, user_data), Arc::new(Allocator))?;
    if let Some(connection) = connection {
        Graphics::connect(&context, connection);
    }
    if let Some(printer) = printer(list, user_data) {
        context.set_printer(printer);
    }
    if let Some(zeroed) = zeroed(list) {
        context.set_zeroed(zeroed);
    }
    Ok(handles::retained(context))
}

/// Checks a list of context properties and returns it unchanged. Returns `None` for a null pointer.
fn properties(list: &List<cl_context_properties>) -> Result<Option<Vec<isize>>> {
    let Some((pairs, all)) = list.properties() else { return Ok(None) };
    for (index, &(name, value)) in pairs.iter().enumerate() {
        // "CL_INVALID_PROPERTY if ... the same property name is specified more than once."
        check!(pairs[..index].iter().all(|(other, _)| *other != name), InvalidProperty, "property {name:#x} is specified twice");
        match name {
            // "CL_INVALID_PLATFORM ... if platform value specified in properties is not a valid platform."
            CL_CONTEXT_PLATFORM => drop(handles::get::<Platform>(std::ptr::with_exposed_provenance_mut(value.cast_unsigned()))?),
            CL_CONTEXT_INTEROP_USER_SYNC if value == 0 || value == 1 => {}
            CL_CONTEXT_MEMORY_INITIALIZE_KHR if value & !(ZERO_LOCAL | ZERO_PRIVATE) == 0 => {}
            // The requested buffer size is ignored: the size is CL_DEVICE_PRINTF_BUFFER_SIZE.
            CL_PRINTF_CALLBACK_ARM | CL_PRINTF_BUFFERSIZE_ARM => {}
            name if contexts::is_property(name) => {}
            _ => {
                return Err(Error::InvalidProperty(
                    format!("context property {name:#x} is unknown, or its value {value:#x} is invalid").into(),
                ));
            }
        }
    }
    Ok(Some(all))
}

/// Returns a function that calls the application's callback with the text of an error, and with its code as
/// private_info.
fn notify(callback: &Callback<NotifyFn>, user_data: UserData) -> Option<Notify> {
    let callback = callback.get()?;
    Some(Arc::new(move |message: &str, code: i32| {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the application's function, called as the specification says: the pointers are valid until it
        // returns.
        unsafe { callback(message.as_ptr(), (&raw const code).cast(), size_of_val(&code), user_data.get()) };
    }))
}

/// Makes the current call report "errors during context creation" to the callback.
fn listen(callback: &Callback<NotifyFn>, user_data: UserData) {
    if let Some(listener) = notify(callback, user_data) {
        errors::set_listener(&listener);
    }
}

crate::entry! {
    fn clCreateContext(
        list: List<cl_context_properties>,
        num_devices: cl_uint,
        devices: List<cl_device_id>,
        pfn_notify: Callback<NotifyFn>,
        user_data: UserData,
    ) -> *mut _cl_context {
        listen(&pfn_notify, user_data);
        let checked = properties(&list)?;
        // "CL_INVALID_VALUE if devices is NULL; if num_devices is equal to zero; if pfn_notify is NULL but user_data
        // is not NULL."
        check!(!devices.is_null() && num_devices != 0, InvalidValue, "the list of devices is null or empty");
        let callback = pfn_notify.get().is_some() || printer(&list, user_data).is_some();
        check!(callback || user_data.is_null(), InvalidValue, "user_data is not null, but the callback is null");
        // "CL_INVALID_DEVICE if any device in devices is not a valid device."
        let devices = handles::get_all::<Device>(&devices.get(num_devices as usize))?;
        create(&devices, &list, checked, &pfn_notify, user_data)
    }

    fn clCreateContextFromType(
        list: List<cl_context_properties>,
        device_type: cl_device_type,
        pfn_notify: Callback<NotifyFn>,
        user_data: UserData,
    ) -> *mut _cl_context {
        listen(&pfn_notify, user_data);
        let checked = properties(&list)?;
        let callback = pfn_notify.get().is_some() || printer(&list, user_data).is_some();
        check!(callback || user_data.is_null(), InvalidValue, "user_data is not null, but the callback is null");
        let devices = devices_of(device_type)?;
        create(&devices, &list, checked, &pfn_notify, user_data)
    }

    fn clRetainContext(context: cl_context) {
        handles::retain::<Context>(context)
    }

    fn clReleaseContext(context: cl_context) {
        handles::release::<Context>(context).map(drop)
    }

    fn clGetContextInfo(context: cl_context, param: cl_context_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let context = handles::get::<Context>(context)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_CONTEXT_REFERENCE_COUNT => query.put(handles::reference_count(&context)),
            CL_CONTEXT_NUM_DEVICES => query.put(context.devices().len() as cl_uint),
            CL_CONTEXT_DEVICES => query.put(context.devices().iter().map(handles::borrowed).collect::<Vec<_>>()),
            CL_CONTEXT_PROPERTIES => query.put(context.property_list().unwrap_or(&[])),
            _ => query.unknown(param),
        }
    }

    fn clSetContextDestructorCallback(context: cl_context, pfn_notify: Callback<DestructorFn>, user_data: UserData) {
        let handle = UserHandle(context);
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if pfn_notify is NULL."
        let callback = pfn_notify.get().ok_or_else(|| Error::InvalidValue("the callback is null".into()))?;
        context.on_destruction(Box::new(move || {
            let handle = handle;
            // SAFETY: the application's function, called as the specification says.
            unsafe { callback(handle.0, user_data.get()) };
        }));
        Ok(())
    }
}

/// A handle that is passed to a callback.
#[derive(Clone, Copy)]
pub(crate) struct UserHandle<T>(pub *mut T);

// SAFETY: only the registry interprets handles. All other code treats them as numbers.
unsafe impl<T> Send for UserHandle<T> {}
