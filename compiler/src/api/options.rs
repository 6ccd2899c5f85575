//! The options of a compilation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::options::{BuildOptions, CStd, OptionError, Source, parse_options};
use crate::target::{Target, ValueChecks};

/// A version of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    Cl11,
    /// The default, as in OpenCL.
    Cl12,
    Cl20,
    Cl30,
    Cl31,
}

/// The kind of device for which shaders are compiled. It determines the features of the language, such as `double`, and
/// the features that a shader may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// Vulkan 1.2 with SPIR-V: 64-bit integers, `double` and `half` are available. A shader uses only the capabilities
    /// that its kernel needs.
    Vulkan,
    /// WebGPU in browsers and plain wgpu: 32-bit types. 64-bit integers are pairs of 32-bit integers.
    WebGpu,
    Metal,
    /// Direct3D 12 with shader model 6.
    Direct3d12,
    /// OpenGL ES 3.1.
    OpenGlEs,
    /// A CPU, for listings of machine code and for the interpreter: all types are available. There are no shaders.
    Cpu,
}

impl Device {
    pub(super) fn target(self) -> Target {
        match self {
            Self::Vulkan => Target::full(),
            Self::WebGpu => Target::webgpu(),
            Self::Metal => Target::metal(),
            Self::Direct3d12 => Target::dx12(),
            Self::OpenGlEs => Target::gles(),
            Self::Cpu => Target::cpu(),
        }
    }
}

/// An invalid option of clBuildProgram.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct OptionsError(#[source] OptionError);

/// The options of a compilation: device, language version, macros, headers.
///
/// ```
/// use wgcl_compiler::{Device, Options, Version, check};
///
/// let options = Options::new(Device::WebGpu).version(Version::Cl30).define("N", "4");
/// let options = options.header("n.h", "#define M (2 * N)");
/// assert!(check("#include \"n.h\"\nkernel void k(global int *a) { a[0] = M; }", &options).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) device: Device,
    checks: ValueChecks,
    pub(super) build: BuildOptions,
    name: Option<String>,
    headers: BTreeMap<String, String>,
}

impl Options {
    /// Creates the default options for a device.
    pub fn new(device: Device) -> Self {
        Self { device, checks: ValueChecks::NONE, build: BuildOptions::default(), name: None, headers: BTreeMap::new() }
    }

    /// Sets the language version, like `-cl-std`.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.build.std = match version {
            Version::Cl11 => CStd::Cl11,
            Version::Cl12 => CStd::Cl12,
            Version::Cl20 => CStd::Cl20,
            Version::Cl30 => CStd::Cl30,
            Version::Cl31 => CStd::Cl31,
        };
        self
    }

    /// Defines a macro, like `-D name=value`.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.build.macros.push((name.into(), Some(value.into())));
        self
    }

    /// Adds a folder that is searched for headers, like `-I`.
    #[must_use]
    pub fn include_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.build.include_dirs.push(folder.into());
        self
    }

    /// Adds a header. It has precedence over files.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.insert(name.into(), text.into());
        self
    }

    /// Sets the name of the source in diagnostics. Headers in the folder of the source are also found.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether [`Program::run`](super::Program::run) reports operations that compute a NaN from other values.
    #[must_use]
    pub const fn check_nans(mut self, check: bool) -> Self {
        self.checks.nans = check;
        self
    }

    /// Whether [`Program::run`](super::Program::run) reports conversions of floats to integers that are out of range.
    #[must_use]
    pub const fn check_conversions(mut self, check: bool) -> Self {
        self.checks.conversions = check;
        self
    }

    /// Adds options of clBuildProgram as text. Macros and folders are added to the present ones. The other options
    /// replace the present ones.
    ///
    /// ```
    /// use wgcl_compiler::{Device, Options};
    ///
    /// let options = Options::new(Device::Vulkan);
    /// assert!(options.clone().build_options("-cl-std=CL3.0 -DN=4 -cl-mad-enable").is_ok());
    /// assert_eq!(options.build_options("-cl-fast").unwrap_err().to_string(), "unknown build option `-cl-fast`");
    /// ```
    ///
    /// # Errors
    /// Fails if an option is unknown or its value is invalid.
    pub fn build_options(mut self, text: &str) -> Result<Self, OptionsError> {
        let mut build = parse_options(text).map_err(OptionsError)?;
        build.macros.splice(0..0, std::mem::take(&mut self.build.macros));
        build.include_dirs.splice(0..0, std::mem::take(&mut self.build.include_dirs));
        self.build = build;
        Ok(self)
    }

    pub(super) fn target(&self) -> Target {
        Target { value_checks: self.checks, ..self.device.target() }
    }

    pub(super) fn source(&self, text: &str) -> Source {
        Source { text: text.to_owned(), name: self.name.clone(), headers: self.headers.clone() }
    }
}
