//! Specialisation: what is known only when a kernel is launched, and what comes out for the device.
//!
//! # The argument buffer
//! One uniform binding of group 0 (the first, where the shader needs it), an array of `vec4<u32>`, holds the hidden values of [`hidden`] in its first
//! [`ArgLayout::HEADER`] bytes and then every by-value argument at its own offset ([`ArgLayout::values`]). It is little-endian, and its
//! size is rounded up to 16 bytes. Behind them come identity, first byte and size of those pointer arguments of which the kernel asks it
//! ([`ArgLayout::identities`]): only kernels that keep pointers in memory, or compare arguments with each other, do. Everything else is a binding of its own in group 0, listed in [`Shader::bindings`].

use serde::{Deserialize, Serialize};

use crate::image::ImageFormat;
use crate::ir;
use crate::target::Target;

/// Byte offsets of the hidden values in the argument buffer; each is a `u32`.
pub mod hidden {
    /// Three words: the global offset.
    pub const GLOBAL_OFFSET: u32 = 0;
    /// The number of dimensions.
    pub const WORK_DIM: u32 = 12;
    /// Three words: the global size.
    pub const GLOBAL_SIZE: u32 = 16;
    /// Three words: number of groups of the whole NDRange.
    pub const NUM_GROUPS: u32 = 32;
    /// Three words: the first group of this dispatch, where an NDRange is split. Groups are split off for their number, and where those at an edge are smaller.
    pub const GROUP_BASE: u32 = 48;
}

/// Identities of memory objects: the high halves of 64-bit pointers. Null has 0.
///
/// Below [`FIRST_BUFFER`](identity::FIRST_BUFFER) are the high halves of the addresses that a host gives to its applications: memory that both share may have
/// them for its own, if it starts at a multiple of 4 GiB.
pub mod identity {
    /// The first that a buffer may have.
    pub const FIRST_BUFFER: u32 = 0x0001_0000;
    /// One more than the last that a buffer may have.
    pub const END_BUFFER: u32 = 0x7000_0000;
    /// The memory of a program's `__global` variables.
    pub const VARIABLES: u32 = END_BUFFER;
    /// The memory of a program's constants.
    pub const CONSTANTS: u32 = END_BUFFER + 1;
    /// The first of those that a kernel gives to its local and private objects: they mean nothing outside of it.
    pub const FIRST_OWN: u32 = END_BUFFER + 2;
}

/// Where the by-value arguments of a kernel are in the argument buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgLayout {
    /// For each parameter of the kernel: byte offset and size in the argument buffer if it is passed by value, else `None`.
    pub values: Vec<Option<(u32, u32)>>,
    /// For each parameter: byte offset of four `u32` words if the kernel asks for them (the identity of the buffer's allocation, the byte of it at which
    /// the argument starts, the argument's bytes, and where among them it points; all 0 for null), else `None`. Empty where it asks for none.
    pub identities: Vec<Option<u32>>,
    /// For each parameter: byte offset of the eight words of `ImageDescriptor::words` if the kernel asks for them. Empty where it asks for none.
    pub images: Vec<Option<u32>>,
    /// For each parameter: byte offset of the word that says where in the common buffer it is, if it is folded. Empty where none is.
    pub folds: Vec<Option<u32>>,
    /// Bytes of the whole, a multiple of 16.
    pub size: u32,
}

impl ArgLayout {
    /// Bytes taken by the hidden values.
    pub const HEADER: u32 = 64;
    /// Bytes of what the kernel asks of one argument's identity.
    pub const IDENTITY: u32 = 16;
}

/// How a `__constant` argument is bound in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConstantBinding {
    /// A uniform buffer of that many bytes (a power of two from 256 to the device's limit): the binding must be as large.
    Uniform(u32),
    /// A read-write storage buffer (like a `__global` argument): too large for a uniform binding, or also bound writable.
    Storage,
}

/// Buffers that are larger than a binding may be: each is bound as several *pieces*, one after the other, and an access chooses the one where it begins
/// (`passes::pieces`).
///
/// A piece begins [`Pieces::step`] bytes behind the one before it and has `1 << shift` bytes, the last one what is left: it goes on for [`Pieces::overlap`]
/// bytes where the next one has begun, so that an access lies in one piece whatever its alignment. The first piece is bound for the parameter itself, the
/// others for parameters behind all others, in the order of `params`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pieces {
    /// The parameters, those for extra buffers included, and how many pieces each is bound as: two at least.
    pub params: Vec<(u32, u32)>,
    /// Bytes of a piece, as a power of two.
    pub shift: u32,
    /// Bytes that a piece shares with the next: a multiple of the alignment of bindings, [`Pieces::WIDEST`] at least. The number of pieces times this is less
    /// than the bytes of a piece.
    pub overlap: u32,
}

impl Pieces {
    /// Bytes of the widest access: sixteen lanes of 64 bits.
    pub const WIDEST: u32 = 128;

    /// Bytes from where a piece begins to where the next one does.
    pub const fn step(&self) -> u32 {
        (1 << self.shift) - self.overlap
    }

    /// Pieces of a buffer of so many bytes, one at least.
    pub const fn count(&self, size: u64) -> u64 {
        1 + size.saturating_sub(1 << self.shift).div_ceil(self.step() as u64)
    }

    /// The parameters that are added, in their order: which one each is a piece of, and which piece, from 1 on.
    pub fn added(&self) -> impl Iterator<Item = (u32, u32)> {
        self.params.iter().flat_map(|&(param, count)| (1..count).map(move |piece| (param, piece)))
    }
}

/// What is known at launch. Equal keys give equal shaders; keep it small.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchKey {
    /// Work-items a group in each dimension: those of the groups of this dispatch.
    pub local_size: [u32; 3],
    /// Work-items a group in each dimension as the launch asks for them; only groups at the upper edges of an NDRange have fewer.
    pub enqueued_local_size: [u32; 3],
    /// Dimensions in which the last groups reach beyond the NDRange: work-items that are not in it end at once. Only for kernels that cannot tell
    /// ([`crate::passes::group_blind`]).
    pub guard: [bool; 3],
    /// Bytes of each `__local` argument, in order of the kernel's `KernelParam::Local` parameters.
    pub local_args: Vec<u32>,
    /// How each `__constant` argument is bound, in order of the kernel's `Buffer { space: Constant, .. }` parameters.
    pub constant_args: Vec<ConstantBinding>,
    /// Indices of the parameters for which the host passed a null pointer; nearly always empty.
    pub null_args: Vec<u32>,
    /// The format of each image, in order of the kernel's `KernelParam::Image` parameters.
    pub images: Vec<ImageFormat>,
    /// The value of each sampler, in order of the kernel's `KernelParam::Sampler` parameters: the bits of OpenCL C's CLK_ constants.
    pub samplers: Vec<u32>,
    /// Indices of the parameters that share one binding, that of the first of them; nearly always empty.
    pub folded: Vec<u32>,
    /// Indices of the parameters whose pointer does not point to the first byte of what is bound for them (shared virtual memory); nearly always empty.
    pub started_args: Vec<u32>,
    /// Indices of the parameters whose buffer or image nothing else in the launch writes, and which may be bound as texels
    /// ([`Costs::texel_fetches`](crate::target::Costs::texel_fetches)): most of them, or none on other devices.
    pub texel_args: Vec<u32>,
    /// Whether no two of the buffers and images that the launch binds share memory, so that what is written through one is not seen through another.
    pub distinct: bool,
    /// Buffers that the launch binds besides the arguments, because pointers in memory may lead there: parameters behind the kernel's own.
    pub extra_buffers: u32,
    /// The parameters that are bound in several pieces; nearly always none.
    pub pieces: Pieces,
    /// Whether the global offset is zero in all dimensions.
    pub zero_offset: bool,
    /// Whether the dispatch begins with the NDRange's first group: the group base is zero.
    pub single_dispatch: bool,
    /// Work-items of dimension 0 that an invocation may stand for (`passes::coarsen`): a power of two that divides the global size. More than one only for
    /// kernels that cannot tell how they are grouped, with an offset of zero.
    pub coarsen: u32,
    /// Whether a dispatch's second dimension continues the first: so one dispatch holds more groups of a one-dimensional NDRange than a dimension may have.
    pub rows: bool,
}

impl LaunchKey {
    /// A key for `wgclc` and tests: the required work-group size or `local_size`, 4 KiB for each local argument, 64 KiB uniforms.
    pub fn example(function: &ir::Function, local_size: [u32; 3]) -> Self {
        let mut key = Self {
            local_size,
            enqueued_local_size: local_size,
            guard: [false; 3],
            local_args: Vec::new(),
            constant_args: Vec::new(),
            null_args: Vec::new(),
            started_args: Vec::new(),
            texel_args: Vec::new(),
            distinct: false,
            extra_buffers: 0,
            pieces: Pieces::default(),
            images: Vec::new(),
            samplers: Vec::new(),
            folded: Vec::new(),
            zero_offset: true,
            single_dispatch: true,
            rows: false,
            coarsen: 1,
        };
        if let Some(kernel) = &function.kernel {
            if let Some(size) = kernel.reqd_work_group_size {
                key.local_size = size;
                key.enqueued_local_size = size;
            }
            for param in &kernel.params {
                match param {
                    ir::KernelParam::Local { .. } => key.local_args.push(4096),
                    // CL_RGBA, CL_UNORM_INT8
                    ir::KernelParam::Image => key.images.push(ImageFormat { order: 0x10b5, data_type: 0x10d2 }),
                    // Unnormalised coordinates, clamped to the edge, nearest.
                    ir::KernelParam::Sampler => key.samplers.push(0x12),
                    ir::KernelParam::Buffer { space: ir::Space::Constant, .. } => {
                        key.constant_args.push(ConstantBinding::Uniform(65536));
                    }
                    _ => {}
                }
            }
        }
        key
    }

    /// The same key where nothing else in the launch writes what the kernel's buffers and images hold, on a device that fetches texels.
    #[must_use]
    pub fn with_texels(mut self, function: &ir::Function, target: &Target) -> Self {
        if target.shaders.costs.texel_fetches {
            let is_memory = |param: &ir::KernelParam| matches!(param, ir::KernelParam::Buffer { .. } | ir::KernelParam::Image);
            let params = function.kernel.iter().flat_map(|kernel| &kernel.params);
            self.texel_args = (0..).zip(params).filter(|(_, param)| is_memory(param)).map(|(index, _)| index).collect();
        }
        self
    }
}

/// What a binding is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingSource {
    /// The argument buffer.
    Arguments,
    /// The buffer given for the kernel's parameter of that index; behind those for extra buffers come further [`Pieces`].
    Param(u32),
    /// The program's constant data: [`Shader::constant_data`], the same for all kernels of a module.
    ConstantData,
    /// The program's `__global` variables: one buffer a program and device, initialised once from `ProgramData`.
    GlobalVariables,
    /// The printf buffer (see [`crate::printf`]) of [`crate::printf::BUFFER_SIZE`] bytes, the first word of which is zero before the launch.
    Printf,
    /// Two words of zero. A work-item whose loops the driver stopped ([`Defects::loop_turns`](crate::target::Defects::loop_turns)) makes the first another number.
    Turns,
    /// Scratch memory for private variables that are too large for registers: `bytes_per_item` for each work-item of a dispatch.
    Scratch {
        /// Bytes for one work-item.
        bytes_per_item: u32,
    },
}

/// The type of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    /// A uniform buffer of at least `size` bytes.
    Uniform {
        /// Bytes that the binding must have.
        size: u32,
    },
    /// A storage buffer, always read-write (one buffer may be bound twice).
    Storage,
    /// A uniform texel buffer.
    Texels(TexelFormat),
}

/// What a texel buffer consists of: unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TexelFormat {
    /// A byte.
    R8,
    /// 16 bits.
    R16,
    /// Two of them.
    Rg16,
    /// Four of them.
    Rgba16,
    /// A word.
    R32,
    /// Two of them.
    Rg32,
    /// Four of them.
    Rgba32,
}

/// One entry of bind group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// The binding number.
    pub binding: u32,
    /// Its type.
    pub kind: BindingKind,
    /// Its contents.
    pub source: BindingSource,
}

/// A kernel made for a launch.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The naga module; valid under full validation where `Target::spirv` is false.
    pub naga: naga::Module,
    /// SPIR-V, post-processed, where `Target::spirv` is set.
    pub spirv: Option<Vec<u32>>,
    /// Name of the entry point in both.
    pub entry_point: String,
    /// The entries of bind group 0 that the shader uses, in order of their numbers, which have no gaps.
    pub bindings: Vec<Binding>,
    /// Where the by-value arguments are.
    pub args: ArgLayout,
    /// Workgroup memory in bytes.
    pub local_memory: u32,
    /// Private memory of a work-item in bytes, as far as it is known here.
    pub private_memory: u32,
    /// Work-items of dimension 0 for which an invocation stands: a dispatch needs so many times fewer invocations.
    pub coarse: u32,
    /// How to read what the kernel leaves in the printf buffer; empty where it has none.
    pub printf: crate::printf::Table,
    /// Whether it is the same for work-groups of any size but for the size that it declares ([`Shader::set_local_size`]).
    pub any_local_size: bool,
}

impl Shader {
    /// Declares another size of work-groups.
    pub fn set_local_size(&mut self, local_size: [u32; 3]) {
        let local_size = local_size.map(|n| n.max(1));
        for entry_point in &mut self.naga.entry_points {
            entry_point.workgroup_size = local_size;
        }
        if let Some(words) = &mut self.spirv {
            crate::emit::set_local_size(words, local_size);
        }
    }
}

/// Initial contents of the memory that belongs to a program rather than to a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramData {
    /// Contents of `BindingSource::ConstantData`; empty if there is none.
    pub constant: Vec<u8>,
    /// Contents of `BindingSource::GlobalVariables`; empty if there is none.
    pub global: Vec<u8>,
}

/// Why a kernel could not be specialised. A defect of ours or a limit of the device, never of the source's form.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LaunchError {
    /// No kernel of that name.
    #[error("no kernel named `{0}`")]
    NoKernel(String),
    /// The kernel needs more of something than the device has.
    #[error("kernel `{kernel}` needs {needed} {what}, the device has {limit}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// What there is not enough of.
        what: &'static str,
        /// How much it takes.
        needed: u64,
        /// How much there is.
        limit: u64,
    },
    /// A construct that this device or this version cannot express.
    #[error("kernel `{kernel}`: {what} is not supported")]
    Unsupported {
        /// The kernel.
        kernel: String,
        /// The construct.
        what: String,
    },
    /// A pass or naga rejected what we made: a defect of the compiler.
    #[error("kernel `{kernel}`: internal compiler error in {stage}: {message}")]
    Internal {
        /// The kernel.
        kernel: String,
        /// Where.
        stage: &'static str,
        /// What was said.
        message: String,
    },
}

/// Convenience for passes and emission.
pub type LaunchResult<T> = Result<T, LaunchError>;

/// Makes the shader of a kernel for one launch key and device.
///
/// # Errors
/// See [`LaunchError`].
pub fn specialise(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<Shader> {
    crate::emit::specialise(module, kernel, key, target)
}

#[cfg(test)]
mod tests {
    use super::{LaunchKey, specialise};
    use crate::build::build;
    use crate::options::parse_options;
    use crate::program::Source;
    use crate::target::Target;

    #[test]
    fn a_shader_for_one_size_of_groups_becomes_one_for_another() {
        let source = "
            constant int table[5] = {3, 1, 4, 1, 5};
            kernel void blind(global const float *a, global float *out, constant float *c, uint n) {
                size_t i = get_global_id(0), j = get_global_id(1);
                float sum = table[i % 5] + a[i * n] * c[n & 7];
                if (i + j < get_global_size(0)) out[j * get_global_size(0) + i] = sin(sum);
            }";
        let options = parse_options("").expect("no options");
        for target in [Target::full(), Target::lavapipe()] {
            let result = build(&Source { text: source.to_owned(), ..Source::default() }, &options, &target);
            let program = result.program.expect("it builds");
            assert!(program.kernels[0].group_blind);
            for guard in [false, true] {
                let make = |local_size| {
                    let key = LaunchKey::example(&program.module.functions[0], local_size);
                    let key = LaunchKey { guard: [guard, false, guard], texel_args: vec![0, 2], distinct: true, ..key };
                    specialise(&program.module, "blind", &key, &target).expect("a shader")
                };
                let (mut one, other) = (make([64, 1, 1]), make([8, 4, 2]));
                assert!(one.any_local_size);
                assert_ne!(one.spirv, other.spirv);
                one.set_local_size([8, 4, 2]);
                assert!(one.spirv.is_some());
                assert_eq!(one.spirv, other.spirv);
                assert_eq!(one.naga.entry_points[0].workgroup_size, [8, 4, 2]);
                assert_eq!((&one.bindings, &one.args), (&other.bindings, &other.args));
            }
        }
    }

    #[test]
    fn shaders_whose_passes_look_at_groups_are_for_one_size() {
        let source = "
            kernel void wide(global const float8 *a, global float8 *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2; }
            kernel void turns(global const uchar *a, global uint *b, uint n) {
                uint sum = 0;
                for (uint k = 0; k < n; k++) sum += a[get_global_id(0) * n + k];
                b[get_global_id(0)] = sum;
            }
            kernel void sized(global uint *b) { b[get_global_id(0)] = get_local_size(0); }
            kernel void plain(global const int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2; }";
        let options = parse_options("").expect("no options");
        let target = Target::full().changed(|target| target.shaders.costs.lanes_exchange = true);
        let result = build(&Source { text: source.to_owned(), ..Source::default() }, &options, &target);
        let program = result.program.expect("it builds");
        for (name, expected) in [("wide", false), ("turns", false), ("sized", false), ("plain", true)] {
            let function = program.module.functions.iter().find(|function| function.name == name).expect("the kernel");
            for local_size in [[64, 1, 1], [7, 1, 1]] {
                let key = LaunchKey { distinct: true, ..LaunchKey::example(function, local_size) };
                let shader = specialise(&program.module, name, &key, &target).expect("a shader");
                assert_eq!(shader.any_local_size, expected, "{name}");
                let key = LaunchKey { single_dispatch: false, ..key };
                assert!(!specialise(&program.module, name, &key, &target).expect("a shader").any_local_size);
            }
        }
    }
}
