//! What is wrong with a module: the instruction, where it is, and why.

use super::lines::Line;

/// A module that is refused: worded for a build log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instruction} at byte {offset}: {problem}")]
pub(crate) struct InvalidModule {
    /// The instruction's name, or what else stands there.
    pub(crate) instruction: String,
    /// Byte of the module at which it begins.
    pub(crate) offset: usize,
    /// What is wrong with it.
    pub(crate) problem: ErrorKind,
    /// Where it comes from, if the module says so.
    pub(crate) line: Option<Line>,
}

/// What is wrong with one instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ErrorKind {
    /// It breaks a rule of SPIR-V or of its environment for OpenCL.
    #[error("{0}")]
    Invalid(String),
    /// It is right, and this compiler or this device does not have it.
    #[error("{0} is not supported")]
    Unsupported(String),
}

/// The outcome of work on one instruction.
pub(super) type Checked<T> = Result<T, ErrorKind>;

/// [`ErrorKind::Invalid`], worded as `format!` does.
macro_rules! invalid {
    ($($message:tt)+) => {
        $crate::spirv::errors::ErrorKind::Invalid(format!($($message)+))
    };
}

/// [`ErrorKind::Unsupported`], worded as `format!` does.
macro_rules! unsupported {
    ($($message:tt)+) => {
        $crate::spirv::errors::ErrorKind::Unsupported(format!($($message)+))
    };
}

pub(super) use {invalid, unsupported};
