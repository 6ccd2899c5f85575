//! The errors of API calls, and the only conversion from an error to an OpenCL error code.
//!
//! Every error has a message with its cause. The C ABI can return no more than the code. The message is written to the
//! log (`WGCL_LOG=debug`) and to the context's notification callback.

use std::borrow::Cow;

use crate::backend::BackendError;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an error, in words.
pub type Why = Cow<'static, str>;

/// Declares [`Error`]: variant, code, name in the specification.
macro_rules! errors {
    ($($(#[$doc:meta])* $variant:ident = $code:literal $name:literal,)*) => {
        /// An error of the OpenCL API.
        #[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
        pub enum Error {
            $(
                #[doc = concat!("`", $name, "`")]
                #[error("{}: {}", $name, .0)]
                $variant(Why),
            )*
        }

        impl Error {
            /// The code that the C ABI returns.
            pub const fn code(&self) -> i32 {
                match self {
                    $(Self::$variant(_) => $code,)*
                }
            }

            /// The specification's name of the code.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Returns the error with a code, or `None` if OpenCL does not define the code.
            pub fn from_code(code: i32, why: impl Into<Why>) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant(why.into())),)*
                    _ => None,
                }
            }
        }
    };
}

errors! {
    DeviceNotFound = -1 "CL_DEVICE_NOT_FOUND",
    DeviceNotAvailable = -2 "CL_DEVICE_NOT_AVAILABLE",
    CompilerNotAvailable = -3 "CL_COMPILER_NOT_AVAILABLE",
    MemObjectAllocationFailure = -4 "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    OutOfResources = -5 "CL_OUT_OF_RESOURCES",
    OutOfHostMemory = -6 "CL_OUT_OF_HOST_MEMORY",
    ProfilingInfoNotAvailable = -7 "CL_PROFILING_INFO_NOT_AVAILABLE",
    MemCopyOverlap = -8 "CL_MEM_COPY_OVERLAP",
    ImageFormatMismatch = -9 "CL_IMAGE_FORMAT_MISMATCH",
    ImageFormatNotSupported = -10 "CL_IMAGE_FORMAT_NOT_SUPPORTED",
    BuildProgramFailure = -11 "CL_BUILD_PROGRAM_FAILURE",
    MapFailure = -12 "CL_MAP_FAILURE",
    MisalignedSubBufferOffset = -13 "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    ExecStatusErrorForEventsInWaitList = -14 "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    CompileProgramFailure = -15 "CL_COMPILE_PROGRAM_FAILURE",
    LinkerNotAvailable = -16 "CL_LINKER_NOT_AVAILABLE",
    LinkProgramFailure = -17 "CL_LINK_PROGRAM_FAILURE",
    DevicePartitionFailed = -18 "CL_DEVICE_PARTITION_FAILED",
    KernelArgInfoNotAvailable = -19 "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
    InvalidValue = -30 "CL_INVALID_VALUE",
    InvalidDeviceType = -31 "CL_INVALID_DEVICE_TYPE",
    InvalidPlatform = -32 "CL_INVALID_PLATFORM",
    InvalidDevice = -33 "CL_INVALID_DEVICE",
    InvalidContext = -34 "CL_INVALID_CONTEXT",
    InvalidQueueProperties = -35 "CL_INVALID_QUEUE_PROPERTIES",
    InvalidCommandQueue = -36 "CL_INVALID_COMMAND_QUEUE",
    InvalidHostPtr = -37 "CL_INVALID_HOST_PTR",
    InvalidMemObject = -38 "CL_INVALID_MEM_OBJECT",
    InvalidImageFormatDescriptor = -39 "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
    InvalidImageSize = -40 "CL_INVALID_IMAGE_SIZE",
    InvalidSampler = -41 "CL_INVALID_SAMPLER",
    InvalidBinary = -42 "CL_INVALID_BINARY",
    InvalidBuildOptions = -43 "CL_INVALID_BUILD_OPTIONS",
    InvalidProgram = -44 "CL_INVALID_PROGRAM",
    InvalidProgramExecutable = -45 "CL_INVALID_PROGRAM_EXECUTABLE",
    InvalidKernelName = -46 "CL_INVALID_KERNEL_NAME",
    InvalidKernelDefinition = -47 "CL_INVALID_KERNEL_DEFINITION",
    InvalidKernel = -48 "CL_INVALID_KERNEL",
    InvalidArgIndex = -49 "CL_INVALID_ARG_INDEX",
    InvalidArgValue = -50 "CL_INVALID_ARG_VALUE",
    InvalidArgSize = -51 "CL_INVALID_ARG_SIZE",
    InvalidKernelArgs = -52 "CL_INVALID_KERNEL_ARGS",
    InvalidWorkDimension = -53 "CL_INVALID_WORK_DIMENSION",
    InvalidWorkGroupSize = -54 "CL_INVALID_WORK_GROUP_SIZE",
    InvalidWorkItemSize = -55 "CL_INVALID_WORK_ITEM_SIZE",
    InvalidGlobalOffset = -56 "CL_INVALID_GLOBAL_OFFSET",
    InvalidEventWaitList = -57 "CL_INVALID_EVENT_WAIT_LIST",
    InvalidEvent = -58 "CL_INVALID_EVENT",
    InvalidOperation = -59 "CL_INVALID_OPERATION",
    InvalidGlObject = -60 "CL_INVALID_GL_OBJECT",
    InvalidBufferSize = -61 "CL_INVALID_BUFFER_SIZE",
    InvalidMipLevel = -62 "CL_INVALID_MIP_LEVEL",
    InvalidGlobalWorkSize = -63 "CL_INVALID_GLOBAL_WORK_SIZE",
    InvalidProperty = -64 "CL_INVALID_PROPERTY",
    InvalidImageDescriptor = -65 "CL_INVALID_IMAGE_DESCRIPTOR",
    InvalidCompilerOptions = -66 "CL_INVALID_COMPILER_OPTIONS",
    InvalidLinkerOptions = -67 "CL_INVALID_LINKER_OPTIONS",
    InvalidDevicePartitionCount = -68 "CL_INVALID_DEVICE_PARTITION_COUNT",
    InvalidPipeSize = -69 "CL_INVALID_PIPE_SIZE",
    InvalidDeviceQueue = -70 "CL_INVALID_DEVICE_QUEUE",
    InvalidSpecId = -71 "CL_INVALID_SPEC_ID",
    MaxSizeRestrictionExceeded = -72 "CL_MAX_SIZE_RESTRICTION_EXCEEDED",
    InvalidGlShareGroupReference = -1000 "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR",
    EglResourceNotAcquired = -1092 "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR",
    InvalidEglObject = -1093 "CL_INVALID_EGL_OBJECT_KHR",
    InvalidCommandBuffer = -1138 "CL_INVALID_COMMAND_BUFFER_KHR",
    InvalidSyncPointWaitList = -1139 "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR",
    IncompatibleCommandQueue = -1140 "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR",
    InvalidMutableCommand = -1141 "CL_INVALID_MUTABLE_COMMAND_KHR",
    InvalidSemaphore = -1142 "CL_INVALID_SEMAPHORE_KHR",
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::OutOfDeviceMemory => Self::MemObjectAllocationFailure("out of device memory".into()),
            BackendError::OutOfHostMemory => Self::OutOfHostMemory("out of host memory".into()),
            BackendError::DeviceLost(_) | BackendError::Launch(_) | BackendError::Other(_) => {
                Self::OutOfResources(error.to_string().into())
            }
        }
    }
}

/// Returns `Err(Error::$variant(why))` unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $variant:ident, $($why:tt)+) => {
        if !$condition {
            return Err($crate::types::error::Error::$variant(std::borrow::Cow::from(format!($($why)+))));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn codes_and_names_agree() {
        let error = Error::InvalidKernelArgs("argument 3 is not set".into());
        assert_eq!(error.code(), -52);
        assert_eq!(error.to_string(), "CL_INVALID_KERNEL_ARGS: argument 3 is not set");
        assert_eq!(Error::from_code(-52, "argument 3 is not set"), Some(error));
        assert_eq!(Error::from_code(5, ""), None);
    }
}
