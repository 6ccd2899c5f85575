//! The result of emission: a shader, and the bindings that it needs.

use serde::{Deserialize, Serialize};

use crate::binding::ArgLayout;

/// The contents of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingSource {
    /// The argument buffer.
    Arguments,
    /// The buffer for the kernel's parameter with this index. Extra buffers follow the parameters, and the additional
    /// [`SplitBindings`](crate::launch::SplitBindings) follow those.
    Param(u32),
    /// The program's constant data, which all kernels of a module share.
    ConstantData,
    /// The program's `__global` variables: one buffer per program and device, initialised once from `ProgramData`.
    GlobalVariables,
    /// The printf buffer (see [`crate::printf`]) of [`crate::printf::BUFFER_SIZE`] bytes; the first word is zero
    /// before the launch.
    Printf,
    /// [`crate::passes::locks::TABLE_BYTES`] zero bytes that all launches share. A work-item changes the first word
    /// if the driver has stopped one of its loops
    /// ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)). It also changes it after
    /// waiting too long for a lock.
    Failures,
    /// Scratch memory for private variables that are too large for registers: `bytes_per_item` for each work-item of
    /// a dispatch.
    Scratch {
        /// Size in bytes for one work-item.
        bytes_per_item: u32,
    },
}

/// The type of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    /// A uniform buffer of at least `size` bytes.
    Uniform { size: u32 },
    /// A storage buffer, always read-write (one buffer may be bound twice).
    Storage,
}

/// One entry of bind group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    pub binding: u32,
    pub kind: BindingKind,
    pub source: BindingSource,
}

/// A kernel compiled for a launch.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The naga module; passes full validation if `Target::spirv` is false.
    pub naga: naga::Module,
    /// Post-processed SPIR-V, if `Target::spirv` is set.
    pub spirv: Option<Vec<u32>>,
    /// Name of the entry point in both.
    pub entry_point: String,
    /// The entries of bind group 0 that the shader uses, in order of their numbers, without gaps.
    pub bindings: Vec<Binding>,
    /// Offsets of the by-value arguments.
    pub args: ArgLayout,
    /// Size of work-group memory in bytes.
    pub local_memory: u32,
    /// Size of a work-item's private memory in bytes, as known at this point.
    pub private_memory: u32,
    /// Work-items of dimension 0 per invocation: a dispatch has fewer invocations by this factor.
    pub coarse: u32,
    /// The subgroup size that the kernel requires, one of the device's sizes.
    pub subgroup_size: Option<u32>,
    /// The format of the records in the printf buffer; empty without printf.
    pub printf: crate::printf::Table,
    /// Whether the shader is the same for every work-group size except for the declared size
    /// ([`Shader::set_local_size`]).
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
