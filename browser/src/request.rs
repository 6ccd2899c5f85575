//! Requests as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use wgcl_compiler as compiler;

/// The names of the enumeration's values in JSON, and the values.
macro_rules! names {
    ($name:ident for $value:ty { $($variant:ident = $text:literal),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, Deserialize)]
        pub(crate) enum $name {
            $(#[serde(rename = $text)] $variant),*
        }

        impl From<$name> for $value {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant),*
                }
            }
        }
    };
}

names!(Device for compiler::Device {
    Cpu = "cpu", Vulkan = "vulkan", WebGpu = "webgpu", Metal = "metal", Direct3d12 = "direct3d12", OpenGlEs = "opengl-es",
});
names!(Cpu for compiler::Cpu { Sse42 = "sse4.2", Avx2 = "avx2", Avx512 = "avx512", Armv8 = "armv8", Armv82 = "armv8.2", Sve128 = "sve-128", Sve256 = "sve-256", Sve512 = "sve-512" });
names!(Language for compiler::Language { Wgsl = "wgsl", Msl = "msl", Hlsl = "hlsl", Glsl = "glsl" });
names!(Format for compiler::ImageFormat {
    Rgba8 = "rgba8", Rgba8Uint = "rgba8uint", Rgba32Float = "rgba32float", R8 = "r8", R32Float = "r32float",
});
names!(Addressing for compiler::Addressing {
    Clamp = "clamp", ClampToEdge = "clamp-to-edge", Repeat = "repeat", MirroredRepeat = "mirrored-repeat",
});

/// The options of a compilation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    device: Device,
    #[serde(default)]
    build_options: String,
    #[serde(default)]
    file_name: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    check_nans: bool,
    #[serde(default)]
    check_conversions: bool,
}

impl Options {
    pub(crate) fn convert(self) -> Result<compiler::Options, compiler::OptionsError> {
        let mut options = compiler::Options::new(self.device.into()).build_options(&self.build_options)?;
        options = options.check_nans(self.check_nans).check_conversions(self.check_conversions);
        if let Some(name) = self.file_name {
            options = options.file_name(name);
        }
        Ok(self.headers.into_iter().fold(options, |options, (name, text)| options.header(name, text)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sampler {
    #[serde(default)]
    is_normalized: bool,
    #[serde(default)]
    is_linear: bool,
    addressing: Option<Addressing>,
}

impl From<&Sampler> for compiler::Sampler {
    fn from(sampler: &Sampler) -> Self {
        let addressing = sampler.addressing.map_or_else(Default::default, Into::into);
        Self { is_normalized: sampler.is_normalized, addressing, is_linear: sampler.is_linear }
    }
}

/// The properties of a launch for which code is compiled. The lists contain indices of arguments and their values.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Launch {
    work_group_size: Vec<u32>,
    #[serde(default)]
    local_memory: Vec<(usize, u32)>,
    #[serde(default)]
    images: Vec<(usize, Format)>,
    #[serde(default)]
    samplers: Vec<(usize, Sampler)>,
}

impl From<Launch> for compiler::Launch {
    fn from(launch: Launch) -> Self {
        let mut made = Self::new(three(&launch.work_group_size));
        for (argument, bytes) in launch.local_memory {
            made = made.local_memory(argument, bytes);
        }
        for (argument, format) in launch.images {
            made = made.image(argument, format.into());
        }
        for (argument, sampler) in &launch.samplers {
            made = made.sampler(*argument, sampler.into());
        }
        made
    }
}

fn three(sizes: &[u32]) -> [u32; 3] {
    std::array::from_fn(|dimension| sizes.get(dimension).copied().unwrap_or(1))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Range {
    global_size: Vec<u32>,
    work_group_size: Vec<u32>,
}

impl From<Range> for compiler::Range {
    fn from(range: Range) -> Self {
        let (global, local) = (three(&range.global_size), three(&range.work_group_size));
        match range.global_size.len() {
            0 | 1 => Self::linear(global[0], local[0]),
            2 => Self::plane([global[0], global[1]], [local[0], local[1]]),
            _ => Self::space(global, local),
        }
    }
}

/// An argument. `Bytes`, `Buffer` and `Image` take the next section of the message.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum Argument {
    Bytes,
    Buffer,
    Null,
    Local { size: u32 },
    Image { width: u32, height: u32, format: Format },
    Sampler(Sampler),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "form", rename_all = "camelCase")]
pub(crate) enum Form {
    VectorIr { cpu: Cpu },
    Assembly { cpu: Cpu },
    Spirv,
    Shader { language: Language },
}

impl From<Form> for compiler::Form {
    fn from(form: Form) -> Self {
        match form {
            Form::VectorIr { cpu } => Self::VectorIr(cpu.into()),
            Form::Assembly { cpu } => Self::Assembly(cpu.into()),
            Form::Spirv => Self::Spirv,
            Form::Shader { language } => Self::Shader(language.into()),
        }
    }
}

/// A request. `program` and `shader` are the numbers that `compile` and `shader` return.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub(crate) enum Request {
    Check {
        source: String,
        options: Options,
    },
    Compile {
        source: String,
        options: Options,
    },
    /// Section 1 is the module.
    CompileSpirv {
        options: Options,
    },
    Listing {
        program: usize,
        kernel: String,
        launch: Launch,
        form: Form,
    },
    Run {
        program: usize,
        kernel: String,
        range: Range,
        arguments: Vec<Argument>,
    },
    Shader {
        program: usize,
        kernel: String,
        launch: Launch,
    },
    Spirv {
        shader: usize,
    },
    Text {
        shader: usize,
        language: Language,
    },
    /// The kinds of values are `Bytes` and `Image`, whose section is empty.
    Arguments {
        shader: usize,
        range: Range,
        values: Vec<(usize, Argument)>,
    },
    FreeProgram {
        program: usize,
    },
    FreeShader {
        shader: usize,
    },
}
