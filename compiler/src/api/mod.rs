//! The stable interface of the crate, which the crate's root exports.
//!
//! The types here contain no types of other modules, so that the other modules can change.

mod diagnostic;
mod image;
#[cfg(feature = "languages")]
mod listing;
mod options;
mod program;
mod range;
mod run;
#[cfg(feature = "shaders")]
mod shader;

pub use diagnostic::{Diagnostic, DiagnosticKind, Location, Note};
pub use image::{Addressing, Image, ImageFormat, Sampler};
#[cfg(all(feature = "languages", feature = "native"))]
pub use listing::Cpu;
#[cfg(feature = "languages")]
pub use listing::{Form, Listing};
pub use options::{Device, Options, OptionsError, Version};
#[cfg(feature = "spirv-input")]
pub use program::compile_spirv;
pub use program::{Argument, ArgumentKind, CompileError, Kernel, Program, check, compile};
pub use range::Range;
pub use run::{RunError, Value};
#[cfg(feature = "languages")]
pub use shader::Language;
#[cfg(feature = "shaders")]
pub use shader::{Binding, BindingKind, Launch, Resource, Shader, ShaderError};
