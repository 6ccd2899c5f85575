//! Kernels (OpenCL API 5.9).

use std::ffi::c_void;
use std::sync::Arc;

use wgcl_api::image::Image;
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::kernel::{ArgValue, Kernel};
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::pipe::Pipe;
use wgcl_api::objects::program::Program;
use wgcl_api::objects::queue::Queue;
use wgcl_api::objects::sampler::Sampler;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::nd_range::{MAX_GLOBAL_SIZE, NdRange};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::program::{AccessQualifier, ArgInfo};

use crate::check;
use crate::ffi::{Bytes, BytesMut, List, Out, OutList, Text};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_kernel, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_READ_WRITE,
    CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
    CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_CONST, CL_KERNEL_ARG_TYPE_NAME,
    CL_KERNEL_ARG_TYPE_PIPE, CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_TYPE_RESTRICT, CL_KERNEL_ARG_TYPE_VOLATILE, CL_KERNEL_ATTRIBUTES,
    CL_KERNEL_COMPILE_NUM_SUB_GROUPS, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_CONTEXT,
    CL_KERNEL_FUNCTION_NAME, CL_KERNEL_GLOBAL_WORK_SIZE, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
    CL_KERNEL_MAX_NUM_SUB_GROUPS, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_NUM_ARGS,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_PROGRAM, CL_KERNEL_REFERENCE_COUNT,
    CL_KERNEL_SPILL_MEM_SIZE_INTEL, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, CL_KERNEL_WORK_GROUP_SIZE, cl_command_queue, cl_device_id,
    cl_kernel, cl_kernel_arg_info, cl_kernel_info, cl_kernel_sub_group_info, cl_kernel_work_group_info, cl_mem, cl_program, cl_sampler,
    cl_uint,
};

/// Returns the handle in an argument's value, or 0 if the value is null.
fn handle_in(value: Bytes) -> usize {
    value.get(size_of::<usize>()).try_into().map_or(0, usize::from_ne_bytes)
}

/// Returns the buffer whose handle is the value of an argument. For a pipe, returns the buffer of the pipe. Returns
/// `None` for a null handle of a buffer, and for arguments that are neither buffers nor pipes.
fn buffer_in(index: cl_uint, info: &ArgInfo, size: usize, value: Bytes) -> Result<Option<Arc<Buffer>>> {
    if !matches!(info.passing, KernelParam::Buffer { .. }) {
        return Ok(None);
    }
    // "CL_INVALID_ARG_SIZE ... if the argument is a memory object and arg_size != sizeof(cl_mem)."
    check!(
        size == size_of::<cl_mem>(),
        InvalidArgSize,
        "argument {index} is a memory object: expected {} bytes, got {size}",
        size_of::<cl_mem>()
    );
    let handle = handle_in(value);
    if info.packet.is_some() {
        // "If the kernel argument being set is a pipe, then arg_value must point to a pipe memory object."
        let pipe = handles::get::<Pipe>(std::ptr::with_exposed_provenance_mut(handle))?;
        return pipe.argument(index, info).cloned().map(Some);
    }
    // "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value is not a
    // valid memory object."
    if handle == 0 { Ok(None) } else { handles::get::<Buffer>(std::ptr::with_exposed_provenance_mut(handle)).map(Some) }
}

/// Returns the value of a `queue_t` argument.
fn queue_arg(context: &Arc<Context>, index: cl_uint, size: usize, value: Bytes) -> Result<ArgValue> {
    check!(
        size == size_of::<cl_command_queue>(),
        InvalidArgSize,
        "argument {index} is a queue: expected {} bytes, got {size}",
        size_of::<cl_command_queue>()
    );
    // "CL_INVALID_DEVICE_QUEUE for an argument declared to be of type queue_t when the specified arg_value is not a
    // valid device queue object."
    let queue = handles::get::<Queue>(std::ptr::with_exposed_provenance_mut(handle_in(value))).ok().filter(|queue| queue.is_on_device());
    let queue = queue.ok_or_else(|| Error::InvalidDeviceQueue(format!("argument {index} is not an on-device queue").into()))?;
    check!(Arc::ptr_eq(queue.context(), context), InvalidContext, "argument {index} is a queue of another context");
    Ok(ArgValue::Value(queue.device_handle().to_ne_bytes().as_slice().into()))
}

/// Reads an argument according to its kind.
pub(crate) fn read_arg(context: &Arc<Context>, index: cl_uint, info: &ArgInfo, size: usize, value: Bytes) -> Result<ArgValue> {
    match &info.passing {
        KernelParam::Value | KernelParam::Bytes { .. } => {
            // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value": null is not valid for arguments that
            // are passed by value.
            check!(!value.is_null(), InvalidArgValue, "argument {index} ({}): the value is null", info.type_name);
            if info.is_queue {
                return queue_arg(context, index, size, value);
            }
            check!(
                size == info.size as usize,
                InvalidArgSize,
                "argument {index} ({}): expected {} bytes, got {size}",
                info.type_name,
                info.size
            );
            Ok(ArgValue::Value(value.value(size)))
        }
        KernelParam::Buffer { .. } => {
            let buffer = buffer_in(index, info, size, value)?;
            Ok(buffer.map_or(ArgValue::Null, |buffer| ArgValue::Buffer(Arc::downgrade(&buffer))))
        }
        KernelParam::Local { .. } => {
            // "CL_INVALID_ARG_VALUE if the argument is declared with the local qualifier and arg_value is not NULL."
            check!(value.is_null(), InvalidArgValue, "argument {index} is local memory; its value must be null");
            let bytes = u32::try_from(size)
                .map_err(|_| Error::MaxSizeRestrictionExceeded(format!("argument {index} is local memory of {size} bytes").into()))?;
            Ok(ArgValue::Local(bytes))
        }
        KernelParam::Sampler => {
            // "CL_INVALID_SAMPLER if the kernel argument is a sampler, but arg_value does not point to a valid
            // sampler object."
            check!(!value.is_null(), InvalidSampler, "argument {index} is a sampler; it cannot be null");
            check!(
                size == size_of::<cl_sampler>(),
                InvalidArgSize,
                "argument {index} is a sampler: expected {} bytes, got {size}",
                size_of::<cl_sampler>()
            );
            let sampler = handles::get::<Sampler>(std::ptr::with_exposed_provenance_mut(handle_in(value)))?;
            // "CL_INVALID_CONTEXT if the context associated with kernel and an OpenCL object pointed to by arg_value
            // are not the same."
            check!(Arc::ptr_eq(sampler.context(), context), InvalidContext, "argument {index} is a sampler of another context");
            Ok(ArgValue::Sampler(sampler.kernel_value()))
        }
        KernelParam::Image => {
            // "CL_INVALID_MEM_OBJECT if arg_value is NULL and it must point to a valid memory object."
            check!(!value.is_null(), InvalidMemObject, "argument {index} is an image; it cannot be null");
            check!(
                size == size_of::<cl_mem>(),
                InvalidArgSize,
                "argument {index} is a memory object: expected {} bytes, got {size}",
                size_of::<cl_mem>()
            );
            let image = handles::get::<Image>(std::ptr::with_exposed_provenance_mut(handle_in(value)))?;
            Ok(ArgValue::Image(Arc::downgrade(&image)))
        }
    }
}

/// Returns the device of a query. The handle may be null if the kernel has only one device.
fn device_of(kernel: &Kernel, device: cl_device_id) -> Result<Arc<Device>> {
    match kernel.program().devices() {
        // "If there is only a single device associated with kernel, device can be a NULL value."
        [only] if device.is_null() => Ok(only.clone()),
        _ => handles::get(device),
    }
}

/// Implements clGetKernelSuggestedLocalWorkSize and clGetKernelSuggestedLocalWorkSizeKHR.
fn suggest_local_size(
    queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    offset_and_size: [&List<usize>; 2],
    suggested: &OutList<usize>,
) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let kernel = handles::get::<Kernel>(kernel)?;
    // The arrays have `work_dim` elements. If `work_dim` is invalid, nothing is read here, and `suggest_local_size`
    // reports the error.
    let count = if work_dim <= 3 { work_dim as usize } else { 0 };
    let [offset, global] = offset_and_size.map(|list| (!list.is_null()).then(|| list.get(count)));
    let range = NdRange { work_dim, global_offset: offset.as_deref(), global_size: global.as_deref(), local_size: None };
    let size = queue.suggest_local_size(&kernel, &range)?;
    // "CL_INVALID_VALUE if suggested_local_work_size is NULL."
    check!(!suggested.is_null(), InvalidValue, "the pointer for the result is null");
    let wide: Vec<usize> = size.iter().take(count).map(|&n| n as usize).collect();
    suggested.set(&wide);
    Ok(())
}

/// Implements clGetKernelSubGroupInfo and clGetKernelSubGroupInfoKHR.
fn sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    param: cl_kernel_sub_group_info,
    (input_size, input): (usize, Bytes),
    query: &Query,
) -> Result<()> {
    let kernel = handles::get::<Kernel>(kernel)?;
    // "CL_INVALID_DEVICE if device is not in the list of devices associated with kernel."
    let device = device_of(&kernel, device)?;
    let info = kernel.sub_group_info(&device)?;
    let input = |min_count: usize, max_count: usize| {
        let count = input_size / size_of::<usize>();
        // "CL_INVALID_VALUE if ... the size in bytes specified by input_value_size is not valid or if input_value is
        // NULL."
        check!(
            !input.is_null() && input_size.is_multiple_of(size_of::<usize>()) && (min_count..=max_count).contains(&count),
            InvalidValue,
            "the input is null or has the wrong size: {input_size} bytes; expected {min_count} to {max_count} values of type size_t"
        );
        let bytes = input.get(input_size);
        Ok(bytes.chunks_exact(size_of::<usize>()).map(|b| b.try_into().map_or(0, usize::from_ne_bytes)).collect::<Vec<_>>())
    };
    match param {
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            input(1, 3)?;
            query.put(info.size as usize)
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => query.put(info.count(&input(1, 3)?) as usize),
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            let count = input(1, 1)?.first().copied().unwrap_or(0);
            let size = info.local_size(count as u64);
            // The result has as many dimensions as fit the application's buffer.
            match query.size() / size_of::<usize>() {
                1 => query.put([size[0]]),
                2 => query.put([size[0], size[1]]),
                _ => query.put(size),
            }
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => query.put(info.max_count() as usize),
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => query.put(info.required_count as usize),
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => query.put(info.required_size as usize),
        _ => query.unknown(param),
    }
}

crate::entry! {
    fn clCreateKernel(program: cl_program, name: Text) -> *mut _cl_kernel {
        let program = handles::get::<Program>(program)?;
        // "CL_INVALID_VALUE if kernel_name is NULL." If the program also has no executable, that error takes
        // precedence.
        let name = name.get();
        if name.is_none() {
            check!(program.executables().iter().any(Option::is_some), InvalidProgramExecutable, "the program has no executable: it was not built, or the build failed");
        }
        let name = name.ok_or_else(|| Error::InvalidValue("the kernel name is null".into()))?;
        Kernel::new(&program, &name).map(handles::retained)
    }

    fn clCreateKernelsInProgram(program: cl_program, num_kernels: cl_uint, kernels: OutList<cl_kernel>, num_kernels_ret: Out<cl_uint>) {
        let program = handles::get::<Program>(program)?;
        let all = Kernel::all(&program)?;
        // "CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in program."
        check!(kernels.is_null() || num_kernels as usize >= all.len(), InvalidValue, "the array has {num_kernels} elements, but the program has {} kernels", all.len());
        num_kernels_ret.set(all.len() as cl_uint);
        if !kernels.is_null() {
            kernels.set(&all.into_iter().map(handles::retained).collect::<Vec<_>>());
        }
        Ok(())
    }

    fn clCloneKernel(kernel: cl_kernel) -> *mut _cl_kernel {
        Ok(handles::retained(handles::get::<Kernel>(kernel)?.duplicate()))
    }

    fn clRetainKernel(kernel: cl_kernel) {
        handles::retain::<Kernel>(kernel)
    }

    fn clReleaseKernel(kernel: cl_kernel) {
        handles::release::<Kernel>(kernel).map(drop)
    }

    fn clSetKernelArg(kernel: cl_kernel, index: cl_uint, size: usize, value: Bytes) {
        let kernel = handles::get::<Kernel>(kernel)?;
        let info = kernel.arg(index)?;
        match buffer_in(index, info, size, value)? {
            Some(buffer) => kernel.set_buffer(index, &buffer),
            None => kernel.set_arg(index, read_arg(kernel.program().context(), index, info, size, value)?),
        }
    }

    fn clGetKernelInfo(kernel: cl_kernel, param: cl_kernel_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let kernel = handles::get::<Kernel>(kernel)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_KERNEL_FUNCTION_NAME => query.put(&**kernel.name()),
            CL_KERNEL_NUM_ARGS => query.put(kernel.info()?.args.len() as cl_uint),
            CL_KERNEL_REFERENCE_COUNT => query.put(handles::reference_count(&kernel)),
            CL_KERNEL_CONTEXT => query.put(handles::borrowed(kernel.program().context())),
            CL_KERNEL_PROGRAM => query.put(handles::borrowed(kernel.program())),
            CL_KERNEL_ATTRIBUTES => query.put(kernel.info()?.attributes.as_str()),
            _ => query.unknown(param),
        }
    }

    fn clGetKernelArgInfo(kernel: cl_kernel, index: cl_uint, param: cl_kernel_arg_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let kernel = handles::get::<Kernel>(kernel)?;
        let arg = kernel.arg(index)?;
        let query = Query::new(size, value, size_ret);
        // "CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel": it is available
        // only if the program was built with -cl-kernel-arg-info.
        if (CL_KERNEL_ARG_ADDRESS_QUALIFIER..=CL_KERNEL_ARG_NAME).contains(&param) {
            check!(kernel.has_arg_info(), KernelArgInfoNotAvailable, "the program was built without -cl-kernel-arg-info");
        }
        match param {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => query.put(match arg.address {
                Space::Private | Space::Generic => CL_KERNEL_ARG_ADDRESS_PRIVATE,
                Space::Local => CL_KERNEL_ARG_ADDRESS_LOCAL,
                Space::Global => CL_KERNEL_ARG_ADDRESS_GLOBAL,
                Space::Constant => CL_KERNEL_ARG_ADDRESS_CONSTANT,
            }),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => query.put(match arg.access {
                AccessQualifier::None => CL_KERNEL_ARG_ACCESS_NONE,
                AccessQualifier::ReadOnly => CL_KERNEL_ARG_ACCESS_READ_ONLY,
                AccessQualifier::WriteOnly => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                AccessQualifier::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            }),
            CL_KERNEL_ARG_TYPE_NAME => query.put(arg.type_name.as_str()),
            CL_KERNEL_ARG_TYPE_QUALIFIER => {
                let qualifiers = [
                    (arg.is_const, CL_KERNEL_ARG_TYPE_CONST),
                    (arg.is_restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
                    (arg.is_volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
                    (arg.packet.is_some(), CL_KERNEL_ARG_TYPE_PIPE),
                ];
                query.put(qualifiers.iter().filter(|(set, _)| *set).fold(0u64, |bits, (_, bit)| bits | u64::from(*bit)))
            }
            CL_KERNEL_ARG_NAME => query.put(arg.name.as_str()),
            _ => query.unknown(param),
        }
    }

    fn clGetKernelWorkGroupInfo(
        kernel: cl_kernel,
        device: cl_device_id,
        param: cl_kernel_work_group_info,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let kernel = handles::get::<Kernel>(kernel)?;
        let device = device_of(&kernel, device)?;
        let info = kernel.work_group_info(&device)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_KERNEL_WORK_GROUP_SIZE => query.put(kernel.work_group_size(&device)? as usize),
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => query.put(info.compiled.map(|n| n as usize)),
            CL_KERNEL_LOCAL_MEM_SIZE => query.put(info.local_memory),
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => query.put(info.preferred_multiple.max(1) as usize),
            CL_KERNEL_SPILL_MEM_SIZE_INTEL => query.put(0u64),
            CL_KERNEL_PRIVATE_MEM_SIZE => query.put(kernel.private_memory(&device)?),
            CL_KERNEL_GLOBAL_WORK_SIZE if kernel.program().is_built_in() => query.put([MAX_GLOBAL_SIZE as usize; 3]),
            // "CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and kernel is not a built-in kernel."
            _ => query.unknown(param),
        }
    }

    fn clGetKernelSubGroupInfo(
        kernel: cl_kernel,
        device: cl_device_id,
        param: cl_kernel_sub_group_info,
        input_size: usize,
        input: Bytes,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        sub_group_info(kernel, device, param, (input_size, input), &Query::new(size, value, size_ret))
    }

    fn clGetKernelSuggestedLocalWorkSize(
        queue: cl_command_queue,
        kernel: cl_kernel,
        work_dim: cl_uint,
        offset: List<usize>,
        global: List<usize>,
        suggested: OutList<usize>,
    ) {
        suggest_local_size(queue, kernel, work_dim, [&offset, &global], &suggested)
    }

    fn clGetKernelSuggestedLocalWorkSizeKHR(
        queue: cl_command_queue,
        kernel: cl_kernel,
        work_dim: cl_uint,
        offset: List<usize>,
        global: List<usize>,
        suggested: OutList<usize>,
    ) {
        suggest_local_size(queue, kernel, work_dim, [&offset, &global], &suggested)
    }

    fn clGetKernelSubGroupInfoKHR(
        kernel: cl_kernel,
        device: cl_device_id,
        param: cl_kernel_sub_group_info,
        input_size: usize,
        input: Bytes,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        sub_group_info(kernel, device, param, (input_size, input), &Query::new(size, value, size_ret))
    }
}

/// user_func of clEnqueueNativeKernel.
pub(crate) type NativeKernelFn = unsafe extern "C" fn(*mut c_void);
