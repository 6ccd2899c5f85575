//! What emission makes: a shader, and what the host has to bind for it.

use serde::{Deserialize, Serialize};

use crate::layout::ArgLayout;

/// What a binding is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingSource {
    /// The argument buffer.
    Arguments,
    /// The buffer given for the kernel's parameter of that index; behind those for extra buffers come further [`SplitBindings`](crate::launch::SplitBindings).
    Param(u32),
    /// The program's constant data: the same for all kernels of a module.
    ConstantData,
    /// The program's `__global` variables: one buffer a program and device, initialised once from `ProgramData`.
    GlobalVariables,
    /// The printf buffer (see [`crate::printf`]) of [`crate::printf::BUFFER_SIZE`] bytes, the first word of which is zero before the launch.
    Printf,
    /// [`crate::passes::locks::TABLE_BYTES`] zero bytes that all launches share. A work-item whose loops the driver stopped ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)), or that waited for a lock
    /// too long, makes the first word another number.
    Failures,
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
    /// Work-items that its subgroups must have, where the kernel requires that: one of the sizes that the device has.
    pub subgroup_size: Option<u32>,
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
            super::spirv::set_local_size(words, local_size);
        }
    }
}
