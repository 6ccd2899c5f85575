//! The result of emission: a shader, and the bindings that it needs.

use serde::{Deserialize, Serialize};

use crate::binding::ArgLayout;

/// The contents of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingSource {
    /// The argument buffer.
    Arguments,
    /// The buffer of the kernel's parameter with this index. The buffers of
    /// [`BindingKey::extra_buffers`](crate::launch::BindingKey::extra_buffers) have the next indices. The parameters
    /// that [`SplitBindings`](crate::launch::SplitBindings) adds follow.
    Param(u32),
    /// The constant data of the program, which all kernels of a module share.
    ConstantData,
    /// The `__global` variables of the program: one buffer per program and device, initialised once from `ProgramData`.
    GlobalVariables,
    /// The printf buffer (see [`crate::printf`]) of [`crate::printf::BUFFER_SIZE`] bytes. The first word must be zero
    /// before the launch.
    Printf,
    /// A buffer of [`crate::passes::locks::TABLE_BYTES`] bytes that all launches share. It is zero initially. A
    /// work-item that waits too long for a lock changes the first word. So does a work-item whose loop the driver
    /// stopped ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)).
    Failures,
    /// Scratch memory for the private variables that are not placed in the storage class Function. Each work-item of a
    /// dispatch has `bytes_per_item` bytes.
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
    /// A read-write storage buffer. A buffer may be bound several times.
    Storage,
}

/// One entry of bind group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    pub binding: u32,
    pub kind: BindingKind,
    pub source: BindingSource,
}

/// A kernel that is compiled for a launch.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The naga module. If [`Shaders::spirv`](crate::target::Shaders::spirv) is false, it passes full validation.
    pub naga: naga::Module,
    /// The post-processed SPIR-V. `None` if [`Shaders::spirv`](crate::target::Shaders::spirv) is false.
    pub spirv: Option<Vec<u32>>,
    /// Name of the entry point in both modules.
    pub entry_point: String,
    /// The bindings of group 0 that the shader uses, in the order of their numbers, which have no gaps.
    pub bindings: Vec<Binding>,
    /// The layout of the argument buffer.
    pub args: ArgLayout,
    /// Size of work-group memory in bytes.
    pub local_memory: u32,
    /// Size of the private arrays of a work-item in bytes. Registers of the driver are not included.
    pub private_memory: u32,
    /// Number of work-items of dimension 0 per invocation. The number of invocations of a dispatch is smaller by this
    /// factor.
    pub coarsening_factor: u32,
    /// The subgroup size that the kernel requires, one of the device's sizes. `None` if the kernel requires none.
    pub subgroup_size: Option<u32>,
    /// The format of the records in the printf buffer. Empty without printf.
    pub printf: crate::printf::Table,
    /// Whether the shader depends on the work-group size only through the declared size, which
    /// [`Shader::set_local_size`] can change.
    pub any_local_size: bool,
}

impl Shader {
    /// Changes the declared work-group size.
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
