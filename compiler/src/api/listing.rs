//! The stages of a kernel as text, with the lines of the source.

use super::options::Device;
use super::program::Program;
use super::shader::Language;
use super::shader::{Launch, ShaderError};
use crate::diag::Span;
use crate::emit;
use crate::launch::LaunchKey;
use crate::specialise::specialise_with_lines;
#[cfg(feature = "native")]
use crate::vectorize::{self, Style};

/// An instruction set of CPUs.
#[cfg(feature = "native")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cpu {
    /// x86-64 with SSE4.2. The code is scalar.
    Sse42,
    /// x86-64 with vectors of 32 bytes.
    Avx2,
    /// x86-64 with vectors of 64 bytes.
    Avx512,
    /// AArch64 without extensions.
    Armv8,
    /// AArch64 with FP16, LSE and DotProd.
    Armv82,
    /// AArch64 with SVE and vectors of 16 bytes.
    Sve128,
    /// AArch64 with SVE and vectors of 32 bytes.
    Sve256,
    /// AArch64 with SVE and vectors of 64 bytes.
    Sve512,
}

#[cfg(feature = "native")]
impl Cpu {
    const fn style(self) -> Style {
        use wgcl_codegen::Isa;
        Style::of(match self {
            Self::Sse42 => Isa::SSE42,
            Self::Avx2 => Isa::AVX2,
            Self::Avx512 => Isa::AVX512,
            Self::Armv8 => Isa::ARMV8,
            Self::Armv82 => Isa::ARMV8_2,
            Self::Sve128 => Isa::SVE_128,
            Self::Sve256 => Isa::SVE_256,
            Self::Sve512 => Isa::SVE_512,
        })
    }
}

/// A stage of a kernel that [`Program::listing`] prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The vector IR of the CPU device. The program must be compiled for [`Device::Cpu`].
    #[cfg(feature = "native")]
    VectorIr(Cpu),
    /// The machine code of the CPU device. The program must be compiled for [`Device::Cpu`].
    #[cfg(feature = "native")]
    Assembly(Cpu),
    /// SPIR-V, with names. The program must be compiled for [`Device::Vulkan`].
    Spirv,
    /// The shader in a language. Only WGSL has the lines of the source.
    Shader(Language),
}

/// A stage of a kernel as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    pub text: String,
    /// For each line of the text, the line of the source, from 1. `None` if it is not known or not in the source
    /// itself, such as code of a library function.
    pub lines: Vec<Option<u32>>,
}

impl Program {
    /// Prints a stage of a kernel. This also works for kernels with images.
    ///
    /// ```
    /// use wgcl_compiler::{Cpu, Device, Form, Language, Launch, Options, compile};
    ///
    /// let source = "kernel void k(global float *a) {\n  int i = get_global_id(0);\n  a[i] = a[i] * a[i] + 1;\n}";
    /// let cpu = compile(source, &Options::new(Device::Cpu)).unwrap();
    /// let launch = Launch::new([64, 1, 1]);
    /// let listing = cpu.listing("k", &launch, Form::Assembly(Cpu::Avx512)).unwrap();
    /// let (row, _) = listing.text.lines().enumerate().find(|(_, row)| row.contains("vfmadd")).unwrap();
    /// assert_eq!(listing.lines[row], Some(3));
    ///
    /// let web = compile(source, &Options::new(Device::WebGpu)).unwrap();
    /// let listing = web.listing("k", &launch, Form::Shader(Language::Wgsl)).unwrap();
    /// assert_eq!(listing.text, web.shader("k", &launch).unwrap().text(Language::Wgsl).unwrap());
    /// assert!(listing.lines.contains(&Some(3)));
    /// ```
    ///
    /// # Errors
    /// Fails if the program is compiled for another device than the stage needs, or like [`Program::shader`].
    pub fn listing(&self, kernel: &str, launch: &Launch, form: Form) -> Result<Listing, ShaderError> {
        let function = self.kernel_function(kernel)?;
        let key = launch.key(function);
        let sources = self.inner.sources.as_deref();
        let line_of = move |span: Span| sources.and_then(|sources| sources.main_line(span));
        match form {
            #[cfg(feature = "native")]
            Form::VectorIr(cpu) => {
                self.requires(Device::Cpu)?;
                let made = vectorize::vector_ir_with_spans(&self.inner.module, kernel, &key, &self.target, cpu.style())?;
                Ok(Listing::of_spans(made, line_of))
            }
            #[cfg(feature = "native")]
            Form::Assembly(cpu) => {
                self.requires(Device::Cpu)?;
                let made = vectorize::assembly_with_spans(&self.inner.module, kernel, &key, &self.target, cpu.style())?;
                Ok(Listing::of_spans(made, line_of))
            }
            Form::Spirv => {
                self.requires(Device::Vulkan)?;
                self.shader_listing(kernel, &key, emit::Format::Spirv, &line_of)
            }
            Form::Shader(_) if matches!(self.device, Device::Cpu | Device::Vulkan) => {
                Err(ShaderError::Unsupported("compile the program for the device `WebGpu`, `Metal`, `Direct3d12` or `OpenGlEs`".to_owned()))
            }
            Form::Shader(language) => self.shader_listing(kernel, &key, language.format(), &line_of),
        }
    }

    fn requires(&self, device: Device) -> Result<(), ShaderError> {
        if self.device == device {
            return Ok(());
        }
        Err(ShaderError::Unsupported(format!("the program is compiled for the device `{:?}`; compile it for `{device:?}`", self.device)))
    }

    fn shader_listing(
        &self,
        kernel: &str,
        key: &LaunchKey,
        format: emit::Format,
        line_of: emit::LineOf<'_>,
    ) -> Result<Listing, ShaderError> {
        let shader = specialise_with_lines(&self.inner.module, kernel, key, &self.target, line_of)?;
        let made = emit::print_lines(&shader, format, &self.target, line_of)?;
        Ok(Listing { text: made.text, lines: made.lines })
    }
}

#[cfg(feature = "native")]
impl Listing {
    fn of_spans((text, spans): (String, Vec<Span>), line_of: impl Fn(Span) -> Option<u32>) -> Self {
        Self { text, lines: spans.into_iter().map(line_of).collect() }
    }
}
