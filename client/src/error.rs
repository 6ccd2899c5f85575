//! The errors of this crate.

use std::path::PathBuf;

use crate::error_names::error_name;

/// The error if a text is not a launch, an argument or an expression, or if an expression cannot be evaluated.
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
        /// The path of each library, and the reason why it cannot be loaded.
        tried: Vec<(PathBuf, String)>,
    },
    /// No suitable device has the name.
    #[error("no {}", if .wanted.is_empty() { "suitable device; clinfo lists the devices of the installed drivers".to_owned() } else { format!("device named `{wanted}`; suitable devices: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") }) })]
    NoDevice {
        /// The requested name, or a part of the name. Empty if any suitable device was requested.
        wanted: String,
        /// The names of the suitable devices.
        known: Vec<String>,
    },
    /// An OpenCL function returned an error.
    #[error("{call}: {}{}", error_name(*.code), .texts.iter().map(|text| format!("\n  {text}")).collect::<String>())]
    Call {
        /// The name of the function, and its object or arguments.
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
    /// The program has no kernel with the requested name.
    #[error("no kernel is named `{wanted}`; the kernels of the program: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    NoKernel {
        /// The requested name.
        wanted: String,
        /// The names of the program's kernels.
        known: Vec<String>,
    },
    /// The launch, an argument or the number of arguments is invalid, or the source file cannot be read.
    #[error("{0}")]
    Arguments(String),
}

impl From<NotationError> for ClientError {
    fn from(error: NotationError) -> Self {
        Self::Arguments(error.to_string())
    }
}
