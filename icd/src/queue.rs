//! Command queues (OpenCL API 5.1).

use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::flags::QueueProperties;

use crate::check;
use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_command_queue, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_ON_DEVICE, CL_QUEUE_ON_DEVICE_DEFAULT,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR,
    CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_REFERENCE_COUNT,
    CL_QUEUE_SIZE, CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_LOW_KHR, CL_QUEUE_THROTTLE_MED_KHR, cl_bool,
    cl_command_queue, cl_command_queue_info, cl_command_queue_properties, cl_context, cl_device_id, cl_queue_properties,
};

/// Parses queue properties.
fn parse(bits: cl_command_queue_properties) -> Result<QueueProperties> {
    let known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    // "CL_INVALID_VALUE if values specified in properties are not valid."
    check!(bits & !known == 0, InvalidValue, "queue properties {bits:#x} are unknown");
    Ok(QueueProperties::from_bits_truncate(bits))
}

/// Checks the value of a priority or throttle hint: "CL_INVALID_VALUE if values specified in properties are not valid."
fn check_hint(value: cl_queue_properties, known: [u32; 3]) -> Result<()> {
    check!(known.iter().any(|&hint| u64::from(hint) == value), InvalidValue, "hint {value:#x} is unknown");
    Ok(())
}

fn create(context: cl_context, device: cl_device_id, list: &List<cl_queue_properties>) -> Result<*mut _cl_command_queue> {
    let context = handles::get::<Context>(context)?;
    let device = handles::get::<Device>(device)?;
    // "CL_INVALID_DEVICE if device is not a valid device or is not associated with context."
    check!(context.device_index(&device).is_some(), InvalidDevice, "the device does not belong to the context");
    let mut properties = QueueProperties::empty();
    let (mut size, mut has_hint) = (None, false);
    let list = list.properties();
    if let Some((pairs, _)) = &list {
        for (index, &(name, value)) in pairs.iter().enumerate() {
            check!(pairs[..index].iter().all(|(other, _)| *other != name), InvalidValue, "queue property {name:#x} is specified twice");
            match u32::try_from(name) {
                Ok(CL_QUEUE_PROPERTIES) => properties = parse(value)?,
                // Hints (cl_khr_priority_hints, cl_khr_throttle_hints) are checked and otherwise ignored, because all
                // command queues of a device share one internal queue.
                Ok(CL_QUEUE_PRIORITY_KHR) => {
                    check_hint(value, [CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PRIORITY_LOW_KHR])?;
                    has_hint = true;
                }
                Ok(CL_QUEUE_THROTTLE_KHR) => {
                    check_hint(value, [CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_MED_KHR, CL_QUEUE_THROTTLE_LOW_KHR])?;
                    has_hint = true;
                }
                Ok(CL_QUEUE_SIZE) => size = Some(u32::try_from(value).unwrap_or(u32::MAX)),
                _ => return Err(Error::InvalidValue(format!("queue property {name:#x} is unknown").into())),
            }
        }
    }
    let list = list.map(|(_, all)| all);
    if properties.intersects(QueueProperties::ON_DEVICE | QueueProperties::ON_DEVICE_DEFAULT) {
        // "CL_INVALID_QUEUE_PROPERTIES ... if the CL_QUEUE_PRIORITY_KHR property is specified, and the queue is a
        // CL_QUEUE_ON_DEVICE"
        check!(!has_hint, InvalidQueueProperties, "only host queues have hints");
        return Queue::on_device(&context, &device, properties, size, list).map(handles::retained);
    }
    if size.is_some() {
        // "This [CL_QUEUE_SIZE] can only be specified if CL_QUEUE_ON_DEVICE is set in CL_QUEUE_PROPERTIES."
        let has_queues = device.has_device_queues();
        check!(has_queues, InvalidQueueProperties, "the device has no on-device queues");
        return Err(Error::InvalidValue("only an on-device queue has a size".into()));
    }
    Queue::new(&context, &device, properties, list).map(handles::retained)
}

crate::entry! {
    fn clCreateCommandQueueWithProperties(
        context: cl_context,
        device: cl_device_id,
        properties: List<cl_queue_properties>,
    ) -> *mut _cl_command_queue {
        create(context, device, &properties)
    }

    fn clCreateCommandQueueWithPropertiesKHR(
        context: cl_context,
        device: cl_device_id,
        properties: List<cl_queue_properties>,
    ) -> *mut _cl_command_queue {
        create(context, device, &properties)
    }

    fn clCreateCommandQueue(
        context: cl_context,
        device: cl_device_id,
        properties: cl_command_queue_properties,
    ) -> *mut _cl_command_queue {
        let context = handles::get::<Context>(context)?;
        let device = handles::get::<Device>(device)?;
        check!(context.device_index(&device).is_some(), InvalidDevice, "the device does not belong to the context");
        let known = QueueProperties::from_bits(properties)
            .filter(|known| device.queue_properties().contains(*known))
            .ok_or_else(|| Error::InvalidValue(format!("queue properties {properties:#x} are unknown").into()))?;
        Queue::new(&context, &device, known, None).map(handles::retained)
    }

    fn clRetainCommandQueue(queue: cl_command_queue) {
        handles::retain::<Queue>(queue)
    }

    fn clReleaseCommandQueue(queue: cl_command_queue) {
        // "clReleaseCommandQueue performs an implicit flush to issue any previously queued OpenCL commands in
        // command_queue."
        if let Some(queue) = handles::release::<Queue>(queue)? {
            queue.flush();
        }
        Ok(())
    }

    fn clGetCommandQueueInfo(queue: cl_command_queue, param: cl_command_queue_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let queue = handles::get::<Queue>(queue)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_QUEUE_CONTEXT => query.put(handles::borrowed(queue.context())),
            CL_QUEUE_DEVICE => query.put(handles::borrowed(queue.device())),
            CL_QUEUE_REFERENCE_COUNT => query.put(handles::reference_count(&queue)),
            CL_QUEUE_PROPERTIES => query.put(queue.properties().bits()),
            CL_QUEUE_PROPERTIES_ARRAY => query.put(queue.property_list().unwrap_or(&[])),
            // "CL_INVALID_COMMAND_QUEUE ... if command_queue is not a valid command-queue for param_name": only
            // on-device queues have a size.
            CL_QUEUE_SIZE if queue.is_on_device() => query.put(queue.size()),
            CL_QUEUE_SIZE => Err(Error::InvalidCommandQueue("the queue is not an on-device queue".into())),
            CL_QUEUE_DEVICE_DEFAULT => {
                let default = queue.context().default_queue(queue.device());
                query.put(default.map_or(std::ptr::null_mut::<_cl_command_queue>(), |queue| handles::borrowed(&queue)))
            }
            _ => query.unknown(param),
        }
    }

    fn clSetCommandQueueProperty(
        queue: cl_command_queue,
        _properties: cl_command_queue_properties,
        _enable: cl_bool,
        _old_properties: Out<cl_command_queue_properties>,
    ) {
        handles::get::<Queue>(queue)?;
        // OpenCL 1.1 deprecates this function. On devices of later versions, it "may return CL_INVALID_OPERATION".
        Err(Error::InvalidOperation("properties of a queue cannot be changed since OpenCL 1.1".into()))
    }

    fn clSetDefaultDeviceCommandQueue(context: cl_context, device: cl_device_id, queue: cl_command_queue) {
        let context = handles::get::<Context>(context)?;
        let device = handles::get::<Device>(device)?;
        check!(context.device_index(&device).is_some(), InvalidDevice, "the device does not belong to the context");
        // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue."
        check!(device.has_device_queues(), InvalidOperation, "the device has no on-device queues");
        handles::get::<Queue>(queue)?.make_default(&context, &device)
    }

    fn clFlush(queue: cl_command_queue) {
        let queue = handles::get::<Queue>(queue)?;
        queue.check_host()?;
        queue.flush();
        Ok(())
    }

    fn clFinish(queue: cl_command_queue) {
        let queue = handles::get::<Queue>(queue)?;
        queue.check_host()?;
        queue.finish()
    }
}
