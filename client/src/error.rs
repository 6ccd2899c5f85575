//! The errors of this crate.

use std::path::PathBuf;

use crate::error_names::error_name;

/// A text is not a launch, an argument or an expression, or an expression cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotationError(String);

impl From<String> for NotationError {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for NotationError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The reason why a kernel did not run.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No library could be loaded.
    #[error("no OpenCL library can be loaded: {}", .tried.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect::<Vec<_>>().join("; "))]
    NoLibrary {
        /// The paths, each with the reason.
        tried: Vec<(PathBuf, String)>,
    },
    /// No device has the name.
    #[error("no {}; available devices: {}", if .wanted.is_empty() { "suitable device".to_owned() } else { format!("device named `{wanted}`") }, if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    NoDevice {
        /// The name or a part of it. It is empty if any suitable device was requested.
        wanted: String,
        /// The names of all devices.
        known: Vec<String>,
    },
    /// A call returned an error.
    #[error("{call}: {}{}", error_name(*.code), .texts.iter().map(|text| format!("\n  {text}")).collect::<String>())]
    Call {
        /// The function, with its object.
        call: String,
        /// The error code.
        code: i32,
        /// The error texts of the driver, from the context's callback.
        texts: Vec<String>,
    },
    /// The program did not build.
    #[error("the program failed to build")]
    Build {
        /// The build log.
        log: String,
    },
    /// The program has no such kernel.
    #[error("no kernel is named `{wanted}`; the kernels of the program: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    NoKernel {
        /// The requested name.
        wanted: String,
        /// The kernels that the program has.
        known: Vec<String>,
    },
    /// An argument is invalid, or the number of arguments.
    #[error("{0}")]
    Arguments(String),
}

impl From<NotationError> for ClientError {
    fn from(error: NotationError) -> Self {
        Self::Arguments(error.to_string())
    }
}
