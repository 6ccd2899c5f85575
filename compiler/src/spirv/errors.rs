//! Errors in SPIR-V modules: instruction, offset and reason.

use super::lines::Line;

/// An error in a module, worded for a build log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instruction} at byte {offset}: {problem}")]
pub(crate) struct InvalidModule {
    /// Name of the instruction.
    pub(crate) instruction: String,
    /// Byte offset of the instruction.
    pub(crate) offset: usize,
    pub(crate) problem: ErrorKind,
    /// Source location, if the module has one.
    pub(crate) line: Option<Line>,
}

/// The reason of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ErrorKind {
    /// The instruction violates a rule of SPIR-V or of its environment for OpenCL.
    #[error("{0}")]
    Invalid(String),
    /// The instruction is valid, but not supported by this compiler or device.
    #[error("{0} is not supported")]
    Unsupported(String),
}

/// The result of handling one instruction.
pub(super) type Checked<T> = Result<T, ErrorKind>;

/// Formats an [`ErrorKind::Invalid`].
macro_rules! invalid {
    ($($message:tt)+) => {
        $crate::spirv::errors::ErrorKind::Invalid(format!($($message)+))
    };
}

/// Formats an [`ErrorKind::Unsupported`].
macro_rules! unsupported {
    ($($message:tt)+) => {
        $crate::spirv::errors::ErrorKind::Unsupported(format!($($message)+))
    };
}

pub(super) use {invalid, unsupported};
