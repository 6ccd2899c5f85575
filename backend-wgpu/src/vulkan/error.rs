//! Vulkan's error codes as errors of the backend.

use ash::vk;
use wgcl_api::backend::BackendError;

pub(crate) fn backend_error(result: vk::Result) -> BackendError {
    match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => BackendError::OutOfHostMemory,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_POOL_MEMORY => BackendError::OutOfDeviceMemory,
        vk::Result::ERROR_DEVICE_LOST => BackendError::DeviceLost("the driver reported VK_ERROR_DEVICE_LOST".to_owned()),
        other => BackendError::Other(format!("Vulkan driver: {other}")),
    }
}

/// Returns the error for a successful call that returned fewer handles than requested.
pub(crate) fn missing_handle() -> BackendError {
    BackendError::Other("Vulkan driver: a call succeeded without returning a handle".to_owned())
}
