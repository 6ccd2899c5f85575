//! The dispatch table that the ICD loader calls through, and the functions of extensions by name.

use std::ffi::c_void;

use crate::absent::{
    clCreateEventFromEGLSyncKHR, clCreateEventFromGLsyncKHR, clCreateFromEGLImageKHR, clCreateFromGLBuffer, clCreateFromGLRenderbuffer,
    clCreateFromGLTexture, clCreateFromGLTexture2D, clCreateFromGLTexture3D, clCreatePipe, clEnqueueAcquireEGLObjectsKHR,
    clEnqueueAcquireGLObjects, clEnqueueReleaseEGLObjectsKHR, clEnqueueReleaseGLObjects, clGetGLContextInfoKHR, clGetGLObjectInfo,
    clGetGLTextureInfo, clGetPipeInfo,
};
use crate::bindings::cl_icd_dispatch;
use crate::command_buffer::{
    clCommandBarrierWithWaitListKHR, clCommandCopyBufferKHR, clCommandCopyBufferRectKHR, clCommandCopyBufferToImageKHR,
    clCommandCopyImageKHR, clCommandCopyImageToBufferKHR, clCommandFillBufferKHR, clCommandFillImageKHR, clCommandNDRangeKernelKHR,
    clCommandSVMMemFillKHR, clCommandSVMMemcpyKHR, clCreateCommandBufferKHR, clEnqueueCommandBufferKHR, clFinalizeCommandBufferKHR,
    clGetCommandBufferInfoKHR, clReleaseCommandBufferKHR, clRetainCommandBufferKHR,
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
use crate::image::{
    clCreateImage, clCreateImage2D, clCreateImage3D, clCreateImageWithProperties, clGetImageInfo, clGetSupportedImageFormats,
};
use crate::image_enqueue::{
    clEnqueueCopyBufferToImage, clEnqueueCopyImage, clEnqueueCopyImageToBuffer, clEnqueueFillImage, clEnqueueMapImage, clEnqueueReadImage,
    clEnqueueWriteImage,
};
use crate::kernel::{
    clCloneKernel, clCreateKernel, clCreateKernelsInProgram, clGetKernelArgInfo, clGetKernelInfo, clGetKernelSubGroupInfo,
    clGetKernelSubGroupInfoKHR, clGetKernelSuggestedLocalWorkSizeKHR, clGetKernelWorkGroupInfo, clReleaseKernel, clRetainKernel,
    clSetKernelArg,
};
use crate::memory::{
    clCreateBuffer, clCreateBufferWithProperties, clCreateSubBuffer, clGetMemObjectInfo, clReleaseMemObject, clRetainMemObject,
    clSetMemObjectDestructorCallback,
};
use crate::mutable_dispatch::{clGetMutableCommandInfoKHR, clUpdateMutableCommandsKHR};
use crate::platform::{
    clGetExtensionFunctionAddress, clGetExtensionFunctionAddressForPlatform, clGetPlatformIDs, clGetPlatformInfo, clIcdGetPlatformIDsKHR,
    clUnloadCompiler, clUnloadPlatformCompiler,
};
use crate::program::{
    clBuildProgram, clCompileProgram, clCreateProgramWithBinary, clCreateProgramWithBuiltInKernels, clCreateProgramWithIL,
    clCreateProgramWithSource, clGetProgramBuildInfo, clGetProgramInfo, clLinkProgram, clReleaseProgram, clRetainProgram,
    clSetProgramReleaseCallback, clSetProgramSpecializationConstant,
};
use crate::queue::{
    clCreateCommandQueue, clCreateCommandQueueWithProperties, clCreateCommandQueueWithPropertiesKHR, clFinish, clFlush,
    clGetCommandQueueInfo, clReleaseCommandQueue, clRetainCommandQueue, clSetCommandQueueProperty, clSetDefaultDeviceCommandQueue,
};
use crate::sampler::{clCreateSampler, clCreateSamplerWithProperties, clGetSamplerInfo, clReleaseSampler, clRetainSampler};
use crate::svm::{
    clEnqueueSVMFree, clEnqueueSVMMap, clEnqueueSVMMemFill, clEnqueueSVMMemcpy, clEnqueueSVMMigrateMem, clEnqueueSVMUnmap, clSVMAlloc,
    clSVMFree, clSetKernelArgSVMPointer, clSetKernelExecInfo,
};

/// The table. Its address is the first word of every handle.
pub static TABLE: Table = Table(cl_icd_dispatch {
    clGetPlatformIDs: Some(clGetPlatformIDs),
    clGetPlatformInfo: Some(clGetPlatformInfo),
    clGetDeviceIDs: Some(clGetDeviceIDs),
    clGetDeviceInfo: Some(clGetDeviceInfo),
    clCreateContext: Some(clCreateContext),
    clCreateContextFromType: Some(clCreateContextFromType),
    clRetainContext: Some(clRetainContext),
    clReleaseContext: Some(clReleaseContext),
    clGetContextInfo: Some(clGetContextInfo),
    clCreateCommandQueue: Some(clCreateCommandQueue),
    clRetainCommandQueue: Some(clRetainCommandQueue),
    clReleaseCommandQueue: Some(clReleaseCommandQueue),
    clGetCommandQueueInfo: Some(clGetCommandQueueInfo),
    clSetCommandQueueProperty: Some(clSetCommandQueueProperty),
    clCreateBuffer: Some(clCreateBuffer),
    clCreateImage2D: Some(clCreateImage2D),
    clCreateImage3D: Some(clCreateImage3D),
    clRetainMemObject: Some(clRetainMemObject),
    clReleaseMemObject: Some(clReleaseMemObject),
    clGetSupportedImageFormats: Some(clGetSupportedImageFormats),
    clGetMemObjectInfo: Some(clGetMemObjectInfo),
    clGetImageInfo: Some(clGetImageInfo),
    clCreateSampler: Some(clCreateSampler),
    clRetainSampler: Some(clRetainSampler),
    clReleaseSampler: Some(clReleaseSampler),
    clGetSamplerInfo: Some(clGetSamplerInfo),
    clCreateProgramWithSource: Some(clCreateProgramWithSource),
    clCreateProgramWithBinary: Some(clCreateProgramWithBinary),
    clRetainProgram: Some(clRetainProgram),
    clReleaseProgram: Some(clReleaseProgram),
    clBuildProgram: Some(clBuildProgram),
    clUnloadCompiler: Some(clUnloadCompiler),
    clGetProgramInfo: Some(clGetProgramInfo),
    clGetProgramBuildInfo: Some(clGetProgramBuildInfo),
    clCreateKernel: Some(clCreateKernel),
    clCreateKernelsInProgram: Some(clCreateKernelsInProgram),
    clRetainKernel: Some(clRetainKernel),
    clReleaseKernel: Some(clReleaseKernel),
    clSetKernelArg: Some(clSetKernelArg),
    clGetKernelInfo: Some(clGetKernelInfo),
    clGetKernelWorkGroupInfo: Some(clGetKernelWorkGroupInfo),
    clWaitForEvents: Some(clWaitForEvents),
    clGetEventInfo: Some(clGetEventInfo),
    clRetainEvent: Some(clRetainEvent),
    clReleaseEvent: Some(clReleaseEvent),
    clGetEventProfilingInfo: Some(clGetEventProfilingInfo),
    clFlush: Some(clFlush),
    clFinish: Some(clFinish),
    clEnqueueReadBuffer: Some(clEnqueueReadBuffer),
    clEnqueueWriteBuffer: Some(clEnqueueWriteBuffer),
    clEnqueueCopyBuffer: Some(clEnqueueCopyBuffer),
    clEnqueueReadImage: Some(clEnqueueReadImage),
    clEnqueueWriteImage: Some(clEnqueueWriteImage),
    clEnqueueCopyImage: Some(clEnqueueCopyImage),
    clEnqueueCopyImageToBuffer: Some(clEnqueueCopyImageToBuffer),
    clEnqueueCopyBufferToImage: Some(clEnqueueCopyBufferToImage),
    clEnqueueMapBuffer: Some(clEnqueueMapBuffer),
    clEnqueueMapImage: Some(clEnqueueMapImage),
    clEnqueueUnmapMemObject: Some(clEnqueueUnmapMemObject),
    clEnqueueNDRangeKernel: Some(clEnqueueNDRangeKernel),
    clEnqueueTask: Some(clEnqueueTask),
    clEnqueueNativeKernel: Some(clEnqueueNativeKernel),
    clEnqueueMarker: Some(clEnqueueMarker),
    clEnqueueWaitForEvents: Some(clEnqueueWaitForEvents),
    clEnqueueBarrier: Some(clEnqueueBarrier),
    clGetExtensionFunctionAddress: Some(clGetExtensionFunctionAddress),
    clCreateFromGLBuffer: Some(clCreateFromGLBuffer),
    clCreateFromGLTexture2D: Some(clCreateFromGLTexture2D),
    clCreateFromGLTexture3D: Some(clCreateFromGLTexture3D),
    clCreateFromGLRenderbuffer: Some(clCreateFromGLRenderbuffer),
    clGetGLObjectInfo: Some(clGetGLObjectInfo),
    clGetGLTextureInfo: Some(clGetGLTextureInfo),
    clEnqueueAcquireGLObjects: Some(clEnqueueAcquireGLObjects),
    clEnqueueReleaseGLObjects: Some(clEnqueueReleaseGLObjects),
    clGetGLContextInfoKHR: Some(clGetGLContextInfoKHR),
    clGetDeviceIDsFromD3D10KHR: std::ptr::null_mut(),
    clCreateFromD3D10BufferKHR: std::ptr::null_mut(),
    clCreateFromD3D10Texture2DKHR: std::ptr::null_mut(),
    clCreateFromD3D10Texture3DKHR: std::ptr::null_mut(),
    clEnqueueAcquireD3D10ObjectsKHR: std::ptr::null_mut(),
    clEnqueueReleaseD3D10ObjectsKHR: std::ptr::null_mut(),
    clSetEventCallback: Some(clSetEventCallback),
    clCreateSubBuffer: Some(clCreateSubBuffer),
    clSetMemObjectDestructorCallback: Some(clSetMemObjectDestructorCallback),
    clCreateUserEvent: Some(clCreateUserEvent),
    clSetUserEventStatus: Some(clSetUserEventStatus),
    clEnqueueReadBufferRect: Some(clEnqueueReadBufferRect),
    clEnqueueWriteBufferRect: Some(clEnqueueWriteBufferRect),
    clEnqueueCopyBufferRect: Some(clEnqueueCopyBufferRect),
    clCreateSubDevicesEXT: Some(clCreateSubDevicesEXT),
    clRetainDeviceEXT: Some(clRetainDeviceEXT),
    clReleaseDeviceEXT: Some(clReleaseDeviceEXT),
    clCreateEventFromGLsyncKHR: Some(clCreateEventFromGLsyncKHR),
    clCreateSubDevices: Some(clCreateSubDevices),
    clRetainDevice: Some(clRetainDevice),
    clReleaseDevice: Some(clReleaseDevice),
    clCreateImage: Some(clCreateImage),
    clCreateProgramWithBuiltInKernels: Some(clCreateProgramWithBuiltInKernels),
    clCompileProgram: Some(clCompileProgram),
    clLinkProgram: Some(clLinkProgram),
    clUnloadPlatformCompiler: Some(clUnloadPlatformCompiler),
    clGetKernelArgInfo: Some(clGetKernelArgInfo),
    clEnqueueFillBuffer: Some(clEnqueueFillBuffer),
    clEnqueueFillImage: Some(clEnqueueFillImage),
    clEnqueueMigrateMemObjects: Some(clEnqueueMigrateMemObjects),
    clEnqueueMarkerWithWaitList: Some(clEnqueueMarkerWithWaitList),
    clEnqueueBarrierWithWaitList: Some(clEnqueueBarrierWithWaitList),
    clGetExtensionFunctionAddressForPlatform: Some(clGetExtensionFunctionAddressForPlatform),
    clCreateFromGLTexture: Some(clCreateFromGLTexture),
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
    clCreateFromEGLImageKHR: Some(clCreateFromEGLImageKHR),
    clEnqueueAcquireEGLObjectsKHR: Some(clEnqueueAcquireEGLObjectsKHR),
    clEnqueueReleaseEGLObjectsKHR: Some(clEnqueueReleaseEGLObjectsKHR),
    clCreateEventFromEGLSyncKHR: Some(clCreateEventFromEGLSyncKHR),
    clCreateCommandQueueWithProperties: Some(clCreateCommandQueueWithProperties),
    clCreatePipe: Some(clCreatePipe),
    clGetPipeInfo: Some(clGetPipeInfo),
    clSVMAlloc: Some(clSVMAlloc),
    clSVMFree: Some(clSVMFree),
    clEnqueueSVMFree: Some(clEnqueueSVMFree),
    clEnqueueSVMMemcpy: Some(clEnqueueSVMMemcpy),
    clEnqueueSVMMemFill: Some(clEnqueueSVMMemFill),
    clEnqueueSVMMap: Some(clEnqueueSVMMap),
    clEnqueueSVMUnmap: Some(clEnqueueSVMUnmap),
    clCreateSamplerWithProperties: Some(clCreateSamplerWithProperties),
    clSetKernelArgSVMPointer: Some(clSetKernelArgSVMPointer),
    clSetKernelExecInfo: Some(clSetKernelExecInfo),
    clGetKernelSubGroupInfoKHR: Some(clGetKernelSubGroupInfoKHR),
    clCloneKernel: Some(clCloneKernel),
    clCreateProgramWithIL: Some(clCreateProgramWithIL),
    clEnqueueSVMMigrateMem: Some(clEnqueueSVMMigrateMem),
    clGetDeviceAndHostTimer: Some(clGetDeviceAndHostTimer),
    clGetHostTimer: Some(clGetHostTimer),
    clGetKernelSubGroupInfo: Some(clGetKernelSubGroupInfo),
    clSetDefaultDeviceCommandQueue: Some(clSetDefaultDeviceCommandQueue),
    clSetProgramReleaseCallback: Some(clSetProgramReleaseCallback),
    clSetProgramSpecializationConstant: Some(clSetProgramSpecializationConstant),
    clCreateBufferWithProperties: Some(clCreateBufferWithProperties),
    clCreateImageWithProperties: Some(clCreateImageWithProperties),
    clSetContextDestructorCallback: Some(clSetContextDestructorCallback),
});

/// The table as a static: it holds addresses of functions and, for other systems' APIs, null pointers.
#[repr(transparent)]
pub struct Table(pub cl_icd_dispatch);

// SAFETY: nobody writes to the table, and what it holds are addresses of functions.
unsafe impl Sync for Table {}

/// Functions that an application finds by name: those of extensions. None of OpenCL's own: "clGetExtensionFunctionAddress ... may not be queried for
/// core (non-extension) functions".
pub fn extension(name: &str) -> *mut c_void {
    match name {
        "clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *mut c_void,
        "clCreateCommandQueueWithPropertiesKHR" => clCreateCommandQueueWithPropertiesKHR as *mut c_void,
        "clGetKernelSubGroupInfoKHR" => clGetKernelSubGroupInfoKHR as *mut c_void,
        "clGetKernelSuggestedLocalWorkSizeKHR" => clGetKernelSuggestedLocalWorkSizeKHR as *mut c_void,
        "clCreateCommandBufferKHR" => clCreateCommandBufferKHR as *mut c_void,
        "clRetainCommandBufferKHR" => clRetainCommandBufferKHR as *mut c_void,
        "clReleaseCommandBufferKHR" => clReleaseCommandBufferKHR as *mut c_void,
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
        _ => std::ptr::null_mut(),
    }
}
