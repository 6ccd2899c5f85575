//! The dispatch table through which the ICD loader calls, and the lookup of extension functions by name.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::command_buffer::{
    clCommandBarrierWithWaitListKHR, clCommandCopyBufferKHR, clCommandCopyBufferRectKHR, clCommandCopyBufferToImageKHR,
    clCommandCopyImageKHR, clCommandCopyImageToBufferKHR, clCommandFillBufferKHR, clCommandFillImageKHR, clCommandNDRangeKernelKHR,
    clCommandSVMMemFillKHR, clCommandSVMMemcpyKHR, clCreateCommandBufferKHR, clEnqueueCommandBufferKHR, clFinalizeCommandBufferKHR,
    clGetCommandBufferInfoKHR, clReleaseCommandBufferKHR, clRemapCommandBufferKHR, clRetainCommandBufferKHR,
};
use crate::context::{
    clCreateContext, clCreateContextFromType, clGetContextInfo, clReleaseContext, clRetainContext, clSetContextDestructorCallback,
};
use crate::device::{
    clCreateSubDevices, clCreateSubDevicesEXT, clGetDeviceAndHostTimer, clGetDeviceIDs, clGetDeviceInfo, clGetHostTimer, clReleaseDevice,
    clReleaseDeviceEXT, clRetainDevice, clRetainDeviceEXT,
};
use crate::enqueue::{
    clEnqueueBarrier, clEnqueueBarrierWithWaitList, clEnqueueCopyBuffer, clEnqueueCopyBufferRect, clEnqueueFillBuffer, clEnqueueMapBuffer,
    clEnqueueMarker, clEnqueueMarkerWithWaitList, clEnqueueMigrateMemObjects, clEnqueueNDRangeKernel, clEnqueueNativeKernel,
    clEnqueueReadBuffer, clEnqueueReadBufferRect, clEnqueueTask, clEnqueueUnmapMemObject, clEnqueueWaitForEvents, clEnqueueWriteBuffer,
    clEnqueueWriteBufferRect,
};
use crate::event::{
    clCreateUserEvent, clGetEventInfo, clGetEventProfilingInfo, clReleaseEvent, clRetainEvent, clSetEventCallback, clSetUserEventStatus,
    clWaitForEvents,
};
use crate::external::{clEnqueueAcquireExternalMemObjectsKHR, clEnqueueReleaseExternalMemObjectsKHR};
use crate::gl::{
    clCreateEventFromEGLSyncKHR, clCreateEventFromGLsyncKHR, clCreateFromEGLImageKHR, clCreateFromGLBuffer, clCreateFromGLRenderbuffer,
    clCreateFromGLTexture, clCreateFromGLTexture2D, clCreateFromGLTexture3D, clEnqueueAcquireEGLObjectsKHR, clEnqueueAcquireGLObjects,
    clEnqueueReleaseEGLObjectsKHR, clEnqueueReleaseGLObjects, clGetGLContextInfoKHR, clGetGLObjectInfo, clGetGLTextureInfo,
};
use crate::image::{
    clCreateImage, clCreateImage2D, clCreateImage3D, clCreateImageWithProperties, clGetImageInfo, clGetImageRequirementsInfoEXT,
    clGetSupportedImageFormats,
};
use crate::image_enqueue::{
    clEnqueueCopyBufferToImage, clEnqueueCopyImage, clEnqueueCopyImageToBuffer, clEnqueueFillImage, clEnqueueMapImage, clEnqueueReadImage,
    clEnqueueWriteImage,
};
use crate::kernel::{
    clCloneKernel, clCreateKernel, clCreateKernelsInProgram, clGetKernelArgInfo, clGetKernelInfo, clGetKernelSubGroupInfo,
    clGetKernelSubGroupInfoKHR, clGetKernelSuggestedLocalWorkSize, clGetKernelSuggestedLocalWorkSizeKHR, clGetKernelWorkGroupInfo,
    clReleaseKernel, clRetainKernel, clSetKernelArg,
};
use crate::memory::{
    clCreateBuffer, clCreateBufferWithProperties, clCreateSubBuffer, clGetMemObjectInfo, clReleaseMemObject, clRetainMemObject,
    clSetContentSizeBufferPoCL, clSetMemObjectDestructorCallback,
};
use crate::mutable_dispatch::{clGetMutableCommandInfoKHR, clUpdateMutableCommandsKHR};
use crate::pipe::{clCreatePipe, clGetPipeInfo};
use crate::platform::{
    clGetExtensionFunctionAddress, clGetExtensionFunctionAddressForPlatform, clGetPlatformIDs, clGetPlatformInfo,
    clIcdGetFunctionAddressForPlatformKHR, clIcdGetPlatformIDsKHR, clIcdSetPlatformDispatchDataKHR, clUnloadCompiler,
    clUnloadPlatformCompiler,
};
use crate::program::{
    clBuildProgram, clCompileProgram, clCreateProgramWithBinary, clCreateProgramWithBuiltInKernels, clCreateProgramWithIL,
    clCreateProgramWithILKHR, clCreateProgramWithSource, clGetProgramBuildInfo, clGetProgramInfo, clLinkProgram, clReleaseProgram,
    clRetainProgram, clSetProgramReleaseCallback, clSetProgramSpecializationConstant,
};
use crate::queue::{
    clCreateCommandQueue, clCreateCommandQueueWithProperties, clCreateCommandQueueWithPropertiesKHR, clFinish, clFlush,
    clGetCommandQueueInfo, clReleaseCommandQueue, clRetainCommandQueue, clSetCommandQueueProperty, clSetDefaultDeviceCommandQueue,
};
use crate::sampler::{clCreateSampler, clCreateSamplerWithProperties, clGetSamplerInfo, clReleaseSampler, clRetainSampler};
use crate::semaphore::{
    clCreateSemaphoreWithPropertiesKHR, clEnqueueSignalSemaphoresKHR, clEnqueueWaitSemaphoresKHR, clGetSemaphoreHandleForTypeKHR,
    clGetSemaphoreInfoKHR, clReImportSemaphoreSyncFdKHR, clReleaseSemaphoreKHR, clRetainSemaphoreKHR,
};
use crate::svm::{
    clEnqueueSVMFree, clEnqueueSVMMap, clEnqueueSVMMemFill, clEnqueueSVMMemcpy, clEnqueueSVMMigrateMem, clEnqueueSVMUnmap, clSVMAlloc,
    clSVMFree, clSetKernelArgSVMPointer, clSetKernelExecInfo,
};
use crate::svm_arm::{
    clEnqueueSVMFreeARM, clEnqueueSVMMapARM, clEnqueueSVMMemFillARM, clEnqueueSVMMemcpyARM, clEnqueueSVMUnmapARM, clSVMAllocARM,
    clSVMFreeARM, clSetKernelArgSVMPointerARM, clSetKernelExecInfoARM,
};
use crate::usm::{
    clDeviceMemAllocINTEL, clEnqueueMemAdviseINTEL, clEnqueueMemFillINTEL, clEnqueueMemcpyINTEL, clEnqueueMemsetINTEL,
    clEnqueueMigrateMemINTEL, clGetMemAllocInfoINTEL, clHostMemAllocINTEL, clMemBlockingFreeINTEL, clMemFreeINTEL,
    clSetKernelArgDevicePointerEXT, clSetKernelArgMemPointerINTEL, clSharedMemAllocINTEL,
};
use wgcl_opencl_headers::cl_icd_dispatch;

/// Defines the dispatch table, and the lookup of its functions by name.
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        /// The addresses of the functions, and null pointers for the functions of other systems.
        const FUNCTIONS: cl_icd_dispatch = cl_icd_dispatch {
            $($name: Some($name),)*
            clGetDeviceIDsFromD3D10KHR: std::ptr::null_mut(),
            clCreateFromD3D10BufferKHR: std::ptr::null_mut(),
            clCreateFromD3D10Texture2DKHR: std::ptr::null_mut(),
            clCreateFromD3D10Texture3DKHR: std::ptr::null_mut(),
            clEnqueueAcquireD3D10ObjectsKHR: std::ptr::null_mut(),
            clEnqueueReleaseD3D10ObjectsKHR: std::ptr::null_mut(),
            clGetDeviceIDsFromD3D11KHR: std::ptr::null_mut(),
            clCreateFromD3D11BufferKHR: std::ptr::null_mut(),
            clCreateFromD3D11Texture2DKHR: std::ptr::null_mut(),
            clCreateFromD3D11Texture3DKHR: std::ptr::null_mut(),
            clCreateFromDX9MediaSurfaceKHR: std::ptr::null_mut(),
            clEnqueueAcquireD3D11ObjectsKHR: std::ptr::null_mut(),
            clEnqueueReleaseD3D11ObjectsKHR: std::ptr::null_mut(),
            clGetDeviceIDsFromDX9MediaAdapterKHR: std::ptr::null_mut(),
            clEnqueueAcquireDX9MediaSurfacesKHR: std::ptr::null_mut(),
            clEnqueueReleaseDX9MediaSurfacesKHR: std::ptr::null_mut(),
        };

        /// Returns the address of a function with an entry in the table, or `None` for other functions.
        fn dispatched(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => Some($name as *mut c_void),)*
                "clGetKernelSuggestedLocalWorkSize" => Some(clGetKernelSuggestedLocalWorkSize as *mut c_void),
                _ => None,
            }
        }
    };
}

functions! {
    clGetPlatformIDs,
    clGetPlatformInfo,
    clGetDeviceIDs,
    clGetDeviceInfo,
    clCreateContext,
    clCreateContextFromType,
    clRetainContext,
    clReleaseContext,
    clGetContextInfo,
    clCreateCommandQueue,
    clRetainCommandQueue,
    clReleaseCommandQueue,
    clGetCommandQueueInfo,
    clSetCommandQueueProperty,
    clCreateBuffer,
    clCreateImage2D,
    clCreateImage3D,
    clRetainMemObject,
    clReleaseMemObject,
    clGetSupportedImageFormats,
    clGetMemObjectInfo,
    clGetImageInfo,
    clCreateSampler,
    clRetainSampler,
    clReleaseSampler,
    clGetSamplerInfo,
    clCreateProgramWithSource,
    clCreateProgramWithBinary,
    clRetainProgram,
    clReleaseProgram,
    clBuildProgram,
    clUnloadCompiler,
    clGetProgramInfo,
    clGetProgramBuildInfo,
    clCreateKernel,
    clCreateKernelsInProgram,
    clRetainKernel,
    clReleaseKernel,
    clSetKernelArg,
    clGetKernelInfo,
    clGetKernelWorkGroupInfo,
    clWaitForEvents,
    clGetEventInfo,
    clRetainEvent,
    clReleaseEvent,
    clGetEventProfilingInfo,
    clFlush,
    clFinish,
    clEnqueueReadBuffer,
    clEnqueueWriteBuffer,
    clEnqueueCopyBuffer,
    clEnqueueReadImage,
    clEnqueueWriteImage,
    clEnqueueCopyImage,
    clEnqueueCopyImageToBuffer,
    clEnqueueCopyBufferToImage,
    clEnqueueMapBuffer,
    clEnqueueMapImage,
    clEnqueueUnmapMemObject,
    clEnqueueNDRangeKernel,
    clEnqueueTask,
    clEnqueueNativeKernel,
    clEnqueueMarker,
    clEnqueueWaitForEvents,
    clEnqueueBarrier,
    clGetExtensionFunctionAddress,
    clCreateFromGLBuffer,
    clCreateFromGLTexture2D,
    clCreateFromGLTexture3D,
    clCreateFromGLRenderbuffer,
    clGetGLObjectInfo,
    clGetGLTextureInfo,
    clEnqueueAcquireGLObjects,
    clEnqueueReleaseGLObjects,
    clGetGLContextInfoKHR,
    clSetEventCallback,
    clCreateSubBuffer,
    clSetMemObjectDestructorCallback,
    clCreateUserEvent,
    clSetUserEventStatus,
    clEnqueueReadBufferRect,
    clEnqueueWriteBufferRect,
    clEnqueueCopyBufferRect,
    clCreateSubDevicesEXT,
    clRetainDeviceEXT,
    clReleaseDeviceEXT,
    clCreateEventFromGLsyncKHR,
    clCreateSubDevices,
    clRetainDevice,
    clReleaseDevice,
    clCreateImage,
    clCreateProgramWithBuiltInKernels,
    clCompileProgram,
    clLinkProgram,
    clUnloadPlatformCompiler,
    clGetKernelArgInfo,
    clEnqueueFillBuffer,
    clEnqueueFillImage,
    clEnqueueMigrateMemObjects,
    clEnqueueMarkerWithWaitList,
    clEnqueueBarrierWithWaitList,
    clGetExtensionFunctionAddressForPlatform,
    clCreateFromGLTexture,
    clCreateFromEGLImageKHR,
    clEnqueueAcquireEGLObjectsKHR,
    clEnqueueReleaseEGLObjectsKHR,
    clCreateEventFromEGLSyncKHR,
    clCreateCommandQueueWithProperties,
    clCreatePipe,
    clGetPipeInfo,
    clSVMAlloc,
    clSVMFree,
    clEnqueueSVMFree,
    clEnqueueSVMMemcpy,
    clEnqueueSVMMemFill,
    clEnqueueSVMMap,
    clEnqueueSVMUnmap,
    clCreateSamplerWithProperties,
    clSetKernelArgSVMPointer,
    clSetKernelExecInfo,
    clGetKernelSubGroupInfoKHR,
    clCloneKernel,
    clCreateProgramWithIL,
    clEnqueueSVMMigrateMem,
    clGetDeviceAndHostTimer,
    clGetHostTimer,
    clGetKernelSubGroupInfo,
    clSetDefaultDeviceCommandQueue,
    clSetProgramReleaseCallback,
    clSetProgramSpecializationConstant,
    clCreateBufferWithProperties,
    clCreateImageWithProperties,
    clSetContextDestructorCallback,
}

/// CL_ICD2_TAG_KHR of `cl_ext.h`: "OPENCL31", or "CL31" in 32 bits.
const ICD2_TAG: usize = if size_of::<usize>() == 8 { 0x4F50_454E_434C_3331_u64 as usize } else { 0x434C_3331 };

/// The dispatch table. Its address is the first word of every handle.
///
/// Loaders never call clGetPlatformIDs and clUnloadCompiler through the table, because these functions have no handle
/// argument. The entries of these two functions contain [`ICD2_TAG`], by which loaders recognise a driver that supports
/// cl_khr_icd 2. Every handle of such a driver has a second word for the loader
/// ([`crate::handles::set_dispatch_data`]). The loader stores a pointer to its own table in this word, and fills its
/// table from [`function`]. Older loaders call through the driver's table.
pub(crate) static TABLE: Table = Table::tagged();

/// The entries of OpenCL 3.0, which the bindings declare, followed by the entry of OpenCL 3.1.
#[repr(C)]
#[derive(Clone, Copy)]
struct TableEntries {
    before: cl_icd_dispatch,
    suggested_local_work_size: *const c_void,
}

/// The table as words, so that two entries can hold values that are not function addresses.
#[repr(C)]
pub(crate) union Table {
    functions: TableEntries,
    words: [*const c_void; size_of::<TableEntries>() / size_of::<*const c_void>()],
}

impl Table {
    const fn tagged() -> Self {
        let functions = TableEntries { before: FUNCTIONS, suggested_local_work_size: clGetKernelSuggestedLocalWorkSize as *const c_void };
        let mut table = Self { functions };
        let places = [offset_of!(cl_icd_dispatch, clGetPlatformIDs), offset_of!(cl_icd_dispatch, clUnloadCompiler)];
        // SAFETY: the whole union is initialised, and every word is a pointer or a function pointer.
        let words = unsafe { &mut table.words };
        words[places[0] / size_of::<*const c_void>()] = std::ptr::without_provenance(ICD2_TAG);
        words[places[1] / size_of::<*const c_void>()] = std::ptr::without_provenance(ICD2_TAG);
        table
    }
}

// SAFETY: no code writes to the table, and its words are function addresses and constants.
unsafe impl Sync for Table {}

/// Returns the address of a function of OpenCL or of an extension, for a loader. Returns null if it is unknown.
pub(crate) fn function(name: &str) -> *mut c_void {
    dispatched(name).unwrap_or_else(|| extension(name))
}

/// Returns the address of an extension function, or null. Core functions are excluded: "clGetExtensionFunctionAddress
/// ... may not be queried for core (non-extension) functions".
pub(crate) fn extension(name: &str) -> *mut c_void {
    match name {
        "clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *mut c_void,
        "clIcdGetFunctionAddressForPlatformKHR" => clIcdGetFunctionAddressForPlatformKHR as *mut c_void,
        "clIcdSetPlatformDispatchDataKHR" => clIcdSetPlatformDispatchDataKHR as *mut c_void,
        "clCreateCommandQueueWithPropertiesKHR" => clCreateCommandQueueWithPropertiesKHR as *mut c_void,
        "clCreateProgramWithILKHR" => clCreateProgramWithILKHR as *mut c_void,
        "clGetKernelSubGroupInfoKHR" => clGetKernelSubGroupInfoKHR as *mut c_void,
        "clGetKernelSuggestedLocalWorkSizeKHR" => clGetKernelSuggestedLocalWorkSizeKHR as *mut c_void,
        "clCreateCommandBufferKHR" => clCreateCommandBufferKHR as *mut c_void,
        "clRetainCommandBufferKHR" => clRetainCommandBufferKHR as *mut c_void,
        "clReleaseCommandBufferKHR" => clReleaseCommandBufferKHR as *mut c_void,
        "clRemapCommandBufferKHR" => clRemapCommandBufferKHR as *mut c_void,
        "clFinalizeCommandBufferKHR" => clFinalizeCommandBufferKHR as *mut c_void,
        "clEnqueueCommandBufferKHR" => clEnqueueCommandBufferKHR as *mut c_void,
        "clCommandBarrierWithWaitListKHR" => clCommandBarrierWithWaitListKHR as *mut c_void,
        "clCommandCopyBufferKHR" => clCommandCopyBufferKHR as *mut c_void,
        "clCommandCopyBufferRectKHR" => clCommandCopyBufferRectKHR as *mut c_void,
        "clCommandCopyBufferToImageKHR" => clCommandCopyBufferToImageKHR as *mut c_void,
        "clCommandCopyImageKHR" => clCommandCopyImageKHR as *mut c_void,
        "clCommandCopyImageToBufferKHR" => clCommandCopyImageToBufferKHR as *mut c_void,
        "clCommandFillBufferKHR" => clCommandFillBufferKHR as *mut c_void,
        "clCommandFillImageKHR" => clCommandFillImageKHR as *mut c_void,
        "clCommandNDRangeKernelKHR" => clCommandNDRangeKernelKHR as *mut c_void,
        "clCommandSVMMemcpyKHR" => clCommandSVMMemcpyKHR as *mut c_void,
        "clCommandSVMMemFillKHR" => clCommandSVMMemFillKHR as *mut c_void,
        "clGetCommandBufferInfoKHR" => clGetCommandBufferInfoKHR as *mut c_void,
        "clUpdateMutableCommandsKHR" => clUpdateMutableCommandsKHR as *mut c_void,
        "clGetMutableCommandInfoKHR" => clGetMutableCommandInfoKHR as *mut c_void,
        "clGetImageRequirementsInfoEXT" => clGetImageRequirementsInfoEXT as *mut c_void,
        "clEnqueueAcquireExternalMemObjectsKHR" => clEnqueueAcquireExternalMemObjectsKHR as *mut c_void,
        "clEnqueueReleaseExternalMemObjectsKHR" => clEnqueueReleaseExternalMemObjectsKHR as *mut c_void,
        "clCreateSemaphoreWithPropertiesKHR" => clCreateSemaphoreWithPropertiesKHR as *mut c_void,
        "clEnqueueWaitSemaphoresKHR" => clEnqueueWaitSemaphoresKHR as *mut c_void,
        "clEnqueueSignalSemaphoresKHR" => clEnqueueSignalSemaphoresKHR as *mut c_void,
        "clReImportSemaphoreSyncFdKHR" => clReImportSemaphoreSyncFdKHR as *mut c_void,
        "clGetSemaphoreHandleForTypeKHR" => clGetSemaphoreHandleForTypeKHR as *mut c_void,
        "clGetSemaphoreInfoKHR" => clGetSemaphoreInfoKHR as *mut c_void,
        "clRetainSemaphoreKHR" => clRetainSemaphoreKHR as *mut c_void,
        "clReleaseSemaphoreKHR" => clReleaseSemaphoreKHR as *mut c_void,
        "clCreateFromGLBuffer" => clCreateFromGLBuffer as *mut c_void,
        "clCreateFromGLTexture" => clCreateFromGLTexture as *mut c_void,
        "clCreateFromGLTexture2D" => clCreateFromGLTexture2D as *mut c_void,
        "clCreateFromGLTexture3D" => clCreateFromGLTexture3D as *mut c_void,
        "clCreateFromGLRenderbuffer" => clCreateFromGLRenderbuffer as *mut c_void,
        "clGetGLObjectInfo" => clGetGLObjectInfo as *mut c_void,
        "clGetGLTextureInfo" => clGetGLTextureInfo as *mut c_void,
        "clEnqueueAcquireGLObjects" => clEnqueueAcquireGLObjects as *mut c_void,
        "clEnqueueReleaseGLObjects" => clEnqueueReleaseGLObjects as *mut c_void,
        "clGetGLContextInfoKHR" => clGetGLContextInfoKHR as *mut c_void,
        "clCreateEventFromGLsyncKHR" => clCreateEventFromGLsyncKHR as *mut c_void,
        "clCreateFromEGLImageKHR" => clCreateFromEGLImageKHR as *mut c_void,
        "clEnqueueAcquireEGLObjectsKHR" => clEnqueueAcquireEGLObjectsKHR as *mut c_void,
        "clCreateEventFromEGLSyncKHR" => clCreateEventFromEGLSyncKHR as *mut c_void,
        "clEnqueueReleaseEGLObjectsKHR" => clEnqueueReleaseEGLObjectsKHR as *mut c_void,
        "clHostMemAllocINTEL" => clHostMemAllocINTEL as *mut c_void,
        "clDeviceMemAllocINTEL" => clDeviceMemAllocINTEL as *mut c_void,
        "clSharedMemAllocINTEL" => clSharedMemAllocINTEL as *mut c_void,
        "clMemFreeINTEL" => clMemFreeINTEL as *mut c_void,
        "clMemBlockingFreeINTEL" => clMemBlockingFreeINTEL as *mut c_void,
        "clGetMemAllocInfoINTEL" => clGetMemAllocInfoINTEL as *mut c_void,
        "clSetKernelArgMemPointerINTEL" => clSetKernelArgMemPointerINTEL as *mut c_void,
        "clEnqueueMemFillINTEL" => clEnqueueMemFillINTEL as *mut c_void,
        "clEnqueueMemsetINTEL" => clEnqueueMemsetINTEL as *mut c_void,
        "clEnqueueMemcpyINTEL" => clEnqueueMemcpyINTEL as *mut c_void,
        "clEnqueueMigrateMemINTEL" => clEnqueueMigrateMemINTEL as *mut c_void,
        "clEnqueueMemAdviseINTEL" => clEnqueueMemAdviseINTEL as *mut c_void,
        "clSetKernelArgDevicePointerEXT" => clSetKernelArgDevicePointerEXT as *mut c_void,
        "clSVMAllocARM" => clSVMAllocARM as *mut c_void,
        "clSVMFreeARM" => clSVMFreeARM as *mut c_void,
        "clEnqueueSVMFreeARM" => clEnqueueSVMFreeARM as *mut c_void,
        "clEnqueueSVMMemcpyARM" => clEnqueueSVMMemcpyARM as *mut c_void,
        "clEnqueueSVMMemFillARM" => clEnqueueSVMMemFillARM as *mut c_void,
        "clEnqueueSVMMapARM" => clEnqueueSVMMapARM as *mut c_void,
        "clEnqueueSVMUnmapARM" => clEnqueueSVMUnmapARM as *mut c_void,
        "clSetKernelArgSVMPointerARM" => clSetKernelArgSVMPointerARM as *mut c_void,
        "clSetKernelExecInfoARM" => clSetKernelExecInfoARM as *mut c_void,
        "clSetContentSizeBufferPoCL" => clSetContentSizeBufferPoCL as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}
