//! Shared virtual memory (OpenCL API 5.6).

use std::ffi::c_void;

use wgcl_api::backend::SvmCapabilities;
use wgcl_api::commands::svm_types::{SvmApi, SvmCopy};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::kernel::{Kernel, PointerSet};
use wgcl_api::objects::memory::MemFlags;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{Bytes, BytesMut, Callback, List, Out, OutList, UserData};
use crate::handles;
use wgcl_opencl_headers::{
    CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, CL_MEM_SVM_ATOMICS,
    CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue,
    cl_context, cl_event, cl_kernel, cl_kernel_exec_info, cl_map_flags, cl_mem_migration_flags, cl_svm_mem_flags, cl_uint,
};

/// CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, which the headers of the bindings do not have yet.
const DEVICE_PTRS: cl_kernel_exec_info = 0x5002;

/// CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, and the flags for device and shared memory. The bindings lack them.
const INDIRECT_HOST_ACCESS: cl_kernel_exec_info = 0x4200;
const INDIRECT_DEVICE_ACCESS: cl_kernel_exec_info = 0x4201;
const INDIRECT_SHARED_ACCESS: cl_kernel_exec_info = 0x4202;

/// pfn_free_func of clEnqueueSVMFree.
pub(crate) type SvmFreeFn = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

/// The arguments of the callback of clEnqueueSVMFree.
struct FreeCall {
    queue: cl_command_queue,
    pointers: Vec<*mut c_void>,
    function: Option<SvmFreeFn>,
    user_data: UserData,
}

// SAFETY: the pointers are only passed on, and the specification allows callbacks on any thread.
unsafe impl Send for FreeCall {}

impl FreeCall {
    fn run(mut self, context: &Context) {
        match self.function {
            // SAFETY: the application's function, called as the specification says.
            Some(function) => unsafe {
                function(self.queue, self.pointers.len() as cl_uint, self.pointers.as_mut_ptr(), self.user_data.get());
            },
            None => self.pointers.iter().for_each(|pointer| context.svm_free(pointer.addr())),
        }
    }
}

pub(crate) fn alloc(context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint) -> Result<*mut c_void> {
    let context = handles::get::<Context>(context)?;
    let (fine, atomics) = (CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_SVM_ATOMICS);
    let mut wanted = SvmCapabilities::empty();
    wanted.set(SvmCapabilities::FINE_GRAIN_BUFFER, flags & fine != 0);
    wanted.set(SvmCapabilities::ATOMICS, flags & atomics != 0);
    // "CL_MEM_SVM_ATOMICS: This flag is valid only if CL_MEM_SVM_FINE_GRAIN_BUFFER is specified in flags."
    check!(wanted != SvmCapabilities::ATOMICS, InvalidValue, "CL_MEM_SVM_ATOMICS requires CL_MEM_SVM_FINE_GRAIN_BUFFER");
    let flags = MemFlags::parse(flags & !(fine | atomics))?;
    let access = MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::READ_ONLY;
    check!(access.contains(flags), InvalidValue, "memory flags {flags} are not valid for shared virtual memory");
    // clSVMAlloc fails if "alignment is not a power of two". 0 selects the default alignment.
    check!(alignment == 0 || alignment.is_power_of_two(), InvalidValue, "alignment {alignment}: it must be 0 or a power of two");
    context.svm_alloc(flags, wanted, (size as u64, alignment)).map(std::ptr::with_exposed_provenance_mut)
}

/// Frees memory for clSVMFree or clSVMFreeARM.
pub(crate) fn free(context: cl_context, pointer: *mut c_void) -> Result<()> {
    handles::get::<Context>(context)?.svm_free(pointer.addr());
    Ok(())
}

/// `clSVMAlloc`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clSVMAlloc(context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint) -> *mut c_void {
    crate::ffi::pointer("clSVMAlloc", std::ptr::null_mut(), |_| alloc(context, flags, size, alignment))
}

/// `clSVMFree`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clSVMFree(context: cl_context, pointer: *mut c_void) {
    let _ = crate::ffi::status("clSVMFree", || free(context, pointer));
}

/// A value that clSetKernelExecInfo sets.
pub(crate) enum ExecInfo {
    /// The memory that kernels access through pointers in memory.
    Pointers(PointerSet, Vec<usize>),
    /// No change: the requested state is always active.
    None,
}

/// Returns the set of pointers that a parameter denotes, and whether a device of the context supports it. Returns
/// `None` for other parameters.
fn pointer_set(param: cl_kernel_exec_info, context: &Context) -> Option<(PointerSet, bool)> {
    match param {
        CL_KERNEL_EXEC_INFO_SVM_PTRS => Some((PointerSet::Svm, context.has_svm())),
        CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL => Some((PointerSet::Usm, context.has_usm())),
        DEVICE_PTRS => Some((PointerSet::Device, context.has_device_addresses())),
        _ => None,
    }
}

/// Reads a value of clSetKernelExecInfo. Each parameter requires its own feature: the parameters of unified shared
/// memory and of buffer addresses do not require SVM.
pub(crate) fn read_exec_info(param: cl_kernel_exec_info, size: usize, value: Bytes, context: &Context) -> Result<ExecInfo> {
    let set = pointer_set(param, context);
    // "CL_INVALID_VALUE if param_name is not valid, if param_value is NULL or if the size specified by
    // param_value_size is not valid." An empty list is valid: it removes the earlier pointers.
    let none = set.is_some() && size == 0;
    check!(none || !value.is_null(), InvalidValue, "the value is null");
    if let Some((set, known)) = set {
        // "CL_INVALID_OPERATION if ... no devices in the context associated with kernel support" the feature of the
        // parameter.
        check!(known, InvalidOperation, "param_name {param:#x} requires a feature that the devices of the context do not support");
        check!(
            size.is_multiple_of(size_of::<usize>()),
            InvalidValue,
            "the size is {size} bytes, which is not a multiple of the size of a pointer"
        );
        let bytes = value.get(size);
        let pointers = bytes.chunks_exact(size_of::<usize>()).map(|b| b.try_into().map_or(0, usize::from_ne_bytes));
        return Ok(ExecInfo::Pointers(set, pointers.collect()));
    }
    let (required, has) = match param {
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
            // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
            check!(context.has_svm(), InvalidOperation, "no device of the context supports SVM");
            (SupportRequired::IfTrue, context.svm_capabilities().contains(SvmCapabilities::FINE_GRAIN_SYSTEM))
        }
        // These flags have no effect: a device with unified shared memory can access all addresses.
        INDIRECT_HOST_ACCESS | INDIRECT_DEVICE_ACCESS | INDIRECT_SHARED_ACCESS => (SupportRequired::Always, context.has_usm()),
        _ => return Err(Error::InvalidValue(format!("kernel execution info {param:#x} is unknown").into())),
    };
    check!(size == size_of::<cl_bool>(), InvalidValue, "expected a cl_bool of {} bytes, got {size}", size_of::<cl_bool>());
    // "CL_INVALID_OPERATION if param_name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM and param_value = CL_TRUE but
    // no devices in context associated with kernel support fine-grain system SVM allocations". The flags of unified
    // shared memory require support for every value.
    let needed = required == SupportRequired::Always || value.get(size).iter().any(|&byte| byte != 0);
    let memory = if required == SupportRequired::IfTrue { "fine-grained system SVM" } else { "unified shared memory" };
    check!(!needed || has, InvalidOperation, "no device of the context supports {memory}");
    Ok(ExecInfo::None)
}

/// When a flag of clSetKernelExecInfo requires support by a device: for every value, or only if it is true.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SupportRequired {
    Always,
    IfTrue,
}

/// The wait list of a command, and the place for its event.
pub(crate) struct Waits {
    pub count: cl_uint,
    pub list: List<cl_event>,
    pub event: Out<cl_event>,
}

/// Enqueues a free for clEnqueueSVMFree or clEnqueueSVMFreeARM.
pub(crate) fn enqueue_free(
    api: SvmApi,
    handle: cl_command_queue,
    (count, pointers): (cl_uint, OutList<*mut c_void>),
    (function, user_data): (Callback<SvmFreeFn>, UserData),
    waits: &Waits,
) -> Result<()> {
    let queue = handles::get::<Queue>(handle)?;
    let list = wait_list(waits.count, &waits.list)?;
    // "CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers is NULL and
    // num_svm_pointers is not 0."
    check!((count == 0) == pointers.is_null(), InvalidValue, "the list of pointers does not match the count {count}");
    let call = FreeCall { queue: handle, pointers: pointers.get(count as usize), function: function.get(), user_data };
    let context = queue.context().clone();
    return_event(&waits.event, queue.svm_free(api, move || call.run(&context), &list)?);
    Ok(())
}

/// Enqueues a copy for clEnqueueSVMMemcpy or clEnqueueSVMMemcpyARM.
pub(crate) fn enqueue_copy(
    api: SvmApi,
    queue: cl_command_queue,
    blocking: cl_bool,
    (dst, src, size): (BytesMut, Bytes, usize),
    waits: &Waits,
) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let list = wait_list(waits.count, &waits.list)?;
    let copy = SvmCopy { dst: dst.address(), src: src.address(), size: size as u64 };
    let event = queue.svm_copy(api, blocking != 0, copy, |size| dst.target(size), |size| src.source(size), &list)?;
    return_event(&waits.event, event);
    Ok(())
}

/// Enqueues a fill for clEnqueueSVMMemFill or clEnqueueSVMMemFillARM.
pub(crate) fn enqueue_fill(
    api: SvmApi,
    queue: cl_command_queue,
    (pointer, size): (BytesMut, usize),
    (pattern, pattern_size): (Bytes, usize),
    waits: &Waits,
) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let list = wait_list(waits.count, &waits.list)?;
    let pattern = pattern.fill_pattern(pattern_size)?;
    return_event(&waits.event, queue.svm_fill(api, pointer.address(), (pattern, size as u64), |size| pointer.target(size), &list)?);
    Ok(())
}

/// Enqueues a map for clEnqueueSVMMap or clEnqueueSVMMapARM.
pub(crate) fn enqueue_map(
    api: SvmApi,
    queue: cl_command_queue,
    (blocking, flags): (cl_bool, cl_map_flags),
    (pointer, size): (BytesMut, usize),
    waits: &Waits,
) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let list = wait_list(waits.count, &waits.list)?;
    return_event(&waits.event, queue.svm_map(api, blocking != 0, flags, (pointer.address(), size as u64), &list)?);
    Ok(())
}

/// Enqueues an unmap for clEnqueueSVMUnmap or clEnqueueSVMUnmapARM.
pub(crate) fn enqueue_unmap(api: SvmApi, queue: cl_command_queue, pointer: BytesMut, waits: &Waits) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let list = wait_list(waits.count, &waits.list)?;
    return_event(&waits.event, queue.svm_unmap(api, pointer.address(), &list)?);
    Ok(())
}

/// Sets an argument for clSetKernelArgSVMPointer or clSetKernelArgSVMPointerARM.
pub(crate) fn set_arg(kernel: cl_kernel, index: cl_uint, value: Bytes) -> Result<()> {
    let kernel = handles::get::<Kernel>(kernel)?;
    // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
    check!(kernel.program().context().has_svm(), InvalidOperation, "no device of the context supports SVM");
    kernel.set_arg_svm(index, value.address())
}

/// Sets a value for clSetKernelExecInfo or clSetKernelExecInfoARM.
pub(crate) fn set_exec_info(kernel: cl_kernel, param: cl_kernel_exec_info, size: usize, value: Bytes) -> Result<()> {
    let kernel = handles::get::<Kernel>(kernel)?;
    match read_exec_info(param, size, value, kernel.program().context())? {
        ExecInfo::Pointers(set, addresses) => kernel.set_pointers(set, &addresses),
        ExecInfo::None => Ok(()),
    }
}

crate::entry! {
    fn clEnqueueSVMFree(
        queue: cl_command_queue,
        count: cl_uint,
        pointers: OutList<*mut c_void>,
        function: Callback<SvmFreeFn>,
        user_data: UserData,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_free(SvmApi::Core, queue, (count, pointers), (function, user_data), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMemcpy(
        queue: cl_command_queue,
        blocking: cl_bool,
        dst: BytesMut,
        src: Bytes,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_copy(SvmApi::Core, queue, blocking, (dst, src, size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMemFill(
        queue: cl_command_queue,
        pointer: BytesMut,
        pattern: Bytes,
        pattern_size: usize,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_fill(SvmApi::Core, queue, (pointer, size), (pattern, pattern_size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMap(
        queue: cl_command_queue,
        blocking: cl_bool,
        flags: cl_map_flags,
        pointer: BytesMut,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_map(SvmApi::Core, queue, (blocking, flags), (pointer, size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMUnmap(
        queue: cl_command_queue,
        pointer: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_unmap(SvmApi::Core, queue, pointer, &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMigrateMem(
        queue: cl_command_queue,
        count: cl_uint,
        pointers: OutList<*const c_void>,
        sizes: List<usize>,
        flags: cl_mem_migration_flags,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        // "CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL."
        check!(count != 0 && !pointers.is_null(), InvalidValue, "the list of pointers is null or empty");
        let (to_host, undefined) = (CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
        check!(flags & !(to_host | undefined) == 0, InvalidValue, "flags {flags:#x} are unknown");
        let sizes = sizes.get(count as usize);
        let parts: Vec<(usize, u64)> = pointers
            .get(count as usize)
            .into_iter()
            .enumerate()
            .map(|(index, pointer)| (pointer.addr(), sizes.get(index).map_or(0, |&size| size as u64)))
            .collect();
        return_event(&event, queue.svm_migrate(&parts, flags & to_host != 0, flags & undefined != 0, &waits)?);
        Ok(())
    }

    fn clSetKernelArgSVMPointer(kernel: cl_kernel, index: cl_uint, value: Bytes) {
        set_arg(kernel, index, value)
    }

    fn clSetKernelExecInfo(kernel: cl_kernel, param: cl_kernel_exec_info, size: usize, value: Bytes) {
        set_exec_info(kernel, param, size, value)
    }
}
