//! What can go wrong.

use std::path::PathBuf;

use crate::names::error_name;

/// A text that is no launch, no argument or no expression, or an expression that cannot be evaluated.
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

/// Why a kernel did not run.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A library that was named, or all that were looked for.
    #[error("no OpenCL: {}", .tried.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect::<Vec<_>>().join("; "))]
    NoLibrary {
        /// Where, and why it is not there.
        tried: Vec<(PathBuf, String)>,
    },
    /// No device fits the name.
    #[error("there is no {}; there are {}", if .wanted.is_empty() { "device for that".to_owned() } else { format!("device called `{wanted}`") }, if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    NoDevice {
        /// The name, or a part of it; empty where any would do that can do what is asked for.
        wanted: String,
        /// The names of all devices.
        known: Vec<String>,
    },
    /// A call returned an error.
    #[error("{call}: {}{}", error_name(*.code), .told.iter().map(|text| format!("\n  {text}")).collect::<String>())]
    Call {
        /// The function, with what it was about.
        call: String,
        /// The code that it returned.
        code: i32,
        /// What the driver told of it by the context's callback.
        told: Vec<String>,
    },
    /// The program did not build.
    #[error("the program does not build")]
    Build {
        /// The build log.
        log: String,
    },
    /// The program has no such kernel.
    #[error("there is no kernel `{wanted}`; there are {}", .known.join(", "))]
    NoKernel {
        /// The name.
        wanted: String,
        /// The kernels that the program has.
        known: Vec<String>,
    },
    /// An argument is wrong, or their number.
    #[error("{0}")]
    Arguments(String),
}

impl From<NotationError> for ClientError {
    fn from(error: NotationError) -> Self {
        Self::Arguments(error.to_string())
    }
}
