//! Errors in SPIR-V modules: instruction, offset and reason.

use std::fmt;

use rspirv::spirv::StorageClass;

use super::lines::Line;
use crate::ir::{Scalar, Type};

/// An error in a module, as the build log reports it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instruction} at byte {offset}: {problem}")]
pub(crate) struct InvalidModule {
    /// Name of the invalid instruction.
    pub(crate) instruction: String,
    /// Byte offset of the instruction.
    pub(crate) offset: usize,
    pub(crate) problem: ErrorKind,
    /// Source location of the instruction. `None` if the module has none.
    pub(crate) line: Option<Line>,
}

/// The reason for an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ErrorKind {
    /// The instruction violates SPIR-V or its environment for OpenCL.
    #[error("{0}")]
    Invalid(String),
    /// The instruction is valid, but the compiler or the device does not support it.
    #[error("{0} is not supported")]
    Unsupported(String),
}

/// Formats a type for messages: "32-bit float", "4 x 16-bit integer".
pub(super) struct Shown(pub(super) Type);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = |scalar: Scalar| match scalar {
            Scalar::Bool => "bool".to_owned(),
            float if float.is_float() => format!("{}-bit float", float.bits()),
            integer => format!("{}-bit integer", integer.bits()),
        };
        match self.0 {
            Type::Void => f.write_str("void"),
            Type::Ptr(_) => f.write_str("pointer"),
            Type::Scalar(of) => f.write_str(&scalar(of)),
            Type::Vector(of, count) => write!(f, "{count} x {}", scalar(of)),
        }
    }
}

/// Formats the index of an operand for messages. Operand 0 follows the result type and the result id.
pub(super) struct OperandIndex(pub(super) usize);

impl fmt::Display for OperandIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operand {} (counted from 0, without result type and result id)", self.0)
    }
}

/// Returns the name of a storage class, or its number if the number is unknown.
pub(super) fn storage_class_name(class: u32) -> String {
    StorageClass::from_u32(class).map_or_else(|| class.to_string(), |class| format!("{class:?}"))
}

/// The result of processing one instruction.
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
