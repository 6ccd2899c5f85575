//! Semaphores (cl_khr_semaphore; OpenCL API 5.16).

use std::sync::Arc;

use wgcl_api::backend::ExternalSemaphore;
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::queue::Queue;
use wgcl_api::objects::semaphore::{Semaphore, SemaphoreProperties, TYPE_BINARY};
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_semaphore_khr, CL_SEMAPHORE_CONTEXT_KHR, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_PAYLOAD_KHR,
    CL_SEMAPHORE_PROPERTIES_KHR, CL_SEMAPHORE_REFERENCE_COUNT_KHR, CL_SEMAPHORE_TYPE_KHR, cl_command_queue, cl_context, cl_device_id,
    cl_event, cl_external_semaphore_handle_type_khr, cl_properties, cl_semaphore_info_khr, cl_semaphore_khr, cl_semaphore_payload_khr,
    cl_semaphore_properties_khr, cl_uint,
};

/// CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, which the headers of the bindings do not have yet. A zero ends the list of
/// handles.
const DEVICE_HANDLE_LIST: u32 = 0x2053;
/// CL_SEMAPHORE_EXPORTABLE_KHR, which the headers of the bindings do not have yet.
const EXPORTABLE: cl_semaphore_info_khr = 0x2054;

/// Reads a list of properties.
///
/// # Errors
/// If the pointer is null, or if a name is unknown or specified twice. Also fails for several external handles and for
/// invalid values.
fn properties(list: &List<cl_semaphore_properties_khr>) -> Result<SemaphoreProperties> {
    // "CL_INVALID_VALUE if sema_props is NULL".
    check!(!list.is_null(), InvalidValue, "the list of properties is null");
    let mut found = SemaphoreProperties::default();
    let mut next = || -> u64 {
        let value = list.get(found.list.len() + 1).pop().unwrap_or_default();
        found.list.push(value);
        value
    };
    let (mut kind, mut devices, mut exports, mut import) = (None, None, None, None);
    loop {
        let name = next();
        // "CL_INVALID_PROPERTY ... if the same property name is specified more than once."
        match u32::try_from(name) {
            Ok(0) => break,
            Ok(CL_SEMAPHORE_TYPE_KHR) if kind.is_none() => kind = Some(next()),
            Ok(DEVICE_HANDLE_LIST) if devices.is_none() => {
                let named = std::iter::from_fn(|| Some(next()).filter(|&handle| handle != 0));
                devices = Some(named.map(|handle| std::ptr::with_exposed_provenance_mut(handle as usize)).collect::<Vec<_>>());
            }
            Ok(CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR) if exports.is_none() => {
                exports = Some(std::iter::from_fn(|| Some(next()).filter(|&raw| raw != 0)).collect::<Vec<_>>());
            }
            // "CL_INVALID_PROPERTY if sema_props includes more than one external semaphore handle."
            Ok(_) if import.is_none() && ExternalSemaphore::from_raw(name).is_some() => {
                let (handle, value) = (ExternalSemaphore::from_raw(name), next());
                // The value is an `int`. -1 denotes a sync file that is already signalled.
                let fd = i32::try_from(value.cast_signed())
                    .map_err(|_| Error::InvalidProperty(format!("{value:#x} is not a file descriptor").into()))?;
                import = handle.map(|kind| (kind, fd));
            }
            _ => return Err(Error::InvalidProperty(format!("semaphore property {name:#x} is unknown, or specified twice").into())),
        }
    }
    (found.kind, found.exports, found.import) = (kind, exports, import);
    found.devices = devices.map(|handles| handles::get_all(&handles)).transpose()?;
    Ok(found)
}

/// Returns the semaphores of a list. Callers ignore the list of payloads, which binary semaphores do not have.
fn semaphores(count: cl_uint, list: &List<cl_semaphore_khr>) -> Result<Vec<Arc<Semaphore>>> {
    check!(count != 0, InvalidValue, "the number of semaphores is 0");
    check!(!list.is_null(), InvalidValue, "the list of semaphores is null");
    handles::get_all(&list.get(count as usize))
}

crate::entry! {
    fn clCreateSemaphoreWithPropertiesKHR(
        context: cl_context,
        list: List<cl_semaphore_properties_khr>,
    ) -> *mut _cl_semaphore_khr {
        let context = handles::get::<Context>(context)?;
        Semaphore::new(&context, properties(&list)?).map(handles::retained)
    }

    fn clEnqueueWaitSemaphoresKHR(
        queue: cl_command_queue,
        count: cl_uint,
        list: List<cl_semaphore_khr>,
        _payloads: List<cl_semaphore_payload_khr>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let (semaphores, waits) = (semaphores(count, &list)?, wait_list(num_waits, &waits)?);
        return_event(&event, queue.wait_semaphores(&semaphores, &waits)?);
        Ok(())
    }

    fn clEnqueueSignalSemaphoresKHR(
        queue: cl_command_queue,
        count: cl_uint,
        list: List<cl_semaphore_khr>,
        _payloads: List<cl_semaphore_payload_khr>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let (semaphores, waits) = (semaphores(count, &list)?, wait_list(num_waits, &waits)?);
        return_event(&event, queue.signal_semaphores(&semaphores, &waits)?);
        Ok(())
    }

    fn clGetSemaphoreInfoKHR(
        semaphore: cl_semaphore_khr,
        param: cl_semaphore_info_khr,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let semaphore = handles::get::<Semaphore>(semaphore)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_SEMAPHORE_CONTEXT_KHR => query.put(handles::borrowed(semaphore.context())),
            CL_SEMAPHORE_REFERENCE_COUNT_KHR => query.put(handles::reference_count(&semaphore)),
            CL_SEMAPHORE_PROPERTIES_KHR => query.put(semaphore.property_list()),
            CL_SEMAPHORE_TYPE_KHR => query.put(TYPE_BINARY),
            CL_SEMAPHORE_PAYLOAD_KHR => query.put(u64::from(semaphore.is_signalled())),
            EXPORTABLE => query.put(!semaphore.export_types().is_empty()),
            CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => {
                query.put(semaphore.export_types().into_iter().map(|kind| kind as u32).collect::<Vec<_>>())
            }
            DEVICE_HANDLE_LIST => query.put(semaphore.devices().iter().map(handles::borrowed).collect::<Vec<_>>()),
            _ => query.unknown(param),
        }
    }

    fn clGetSemaphoreHandleForTypeKHR(
        semaphore: cl_semaphore_khr,
        device: cl_device_id,
        kind: cl_external_semaphore_handle_type_khr,
        size: usize,
        handle: BytesMut,
        size_ret: Out<usize>,
    ) {
        let semaphore = handles::get::<Semaphore>(semaphore)?;
        let device = handles::get::<Device>(device)?;
        // If the application provides no buffer for the descriptor, only check whether it could be exported.
        let fd = if handle.is_null() {
            semaphore.check_export(&device, kind.into())?;
            0
        } else {
            check!(size >= size_of::<i32>(), InvalidValue, "the buffer has {size} bytes; a file descriptor has {}", size_of::<i32>());
            semaphore.export(&device, kind.into())?
        };
        Query::new(size, handle, size_ret).put(fd)
    }

    fn clReImportSemaphoreSyncFdKHR(semaphore: cl_semaphore_khr, properties: List<cl_properties>, fd: i32) {
        let semaphore = handles::get::<Semaphore>(semaphore)?;
        properties.checked_properties(|name, _| Err(Error::InvalidValue(format!("property {name:#x}: semaphore handles have no properties").into())))?;
        semaphore.reimport(fd)
    }

    fn clRetainSemaphoreKHR(semaphore: cl_semaphore_khr) {
        handles::retain::<Semaphore>(semaphore)
    }

    fn clReleaseSemaphoreKHR(semaphore: cl_semaphore_khr) {
        handles::release::<Semaphore>(semaphore).map(drop)
    }
}
