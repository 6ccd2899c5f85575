//! The results of clGetKernelInfo and clGetKernelArgInfo.

#![allow(missing_docs, reason = "the names need no documentation")]

use serde::{Deserialize, Serialize};

use crate::ir;

/// CL_KERNEL_ARG_ACCESS_QUALIFIER of an image or pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessQualifier {
    None,
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// A kernel argument: the results of clGetKernelArgInfo, and the requirements of clSetKernelArg.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgInfo {
    /// The address space that a pointer points to; `Private` for values.
    pub address: ir::Space,
    /// Access qualifier of an image or pipe.
    pub access: AccessQualifier,
    /// Type name as the specification requires: no qualifiers, `uint` for `unsigned int`, `float4*`.
    pub type_name: String,
    pub name: String,
    /// `const` (of the pointee), `restrict`, `volatile`. Pointers to constant memory are const.
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// How the argument is passed, and the size that clSetKernelArg expects.
    pub passing: ir::KernelParam,
    /// Whether the argument is a `queue_t`, to which the application passes a queue.
    pub is_queue: bool,
    /// Size in bytes that clSetKernelArg expects of a by-value argument (16 for `float3`); 0 otherwise.
    pub size: u32,
    /// Packet size of a pipe in bytes; 0 if the kernel does not specify it.
    pub packet: Option<u32>,
}

/// Reflection of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    pub args: Vec<ArgInfo>,
    /// The attribute `reqd_work_group_size`, in work-items.
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// The attribute `intel_reqd_sub_group_size` or SPIR-V's `SubgroupSize`, in work-items. The device supports this
    /// size.
    pub reqd_subgroup_size: Option<u32>,
    /// SPIR-V's `SubgroupsPerWorkgroup`: the number of subgroups of every work-group.
    pub reqd_subgroups: Option<u32>,
    /// The attribute `work_group_size_hint`, in work-items.
    pub work_group_size_hint: Option<[u32; 3]>,
    /// CL_KERNEL_ATTRIBUTES: the attributes separated by single blanks, for example `reqd_work_group_size(8,1,1)`.
    pub attributes: String,
    /// Size in bytes of the kernel's `__local` variables.
    pub local_memory: u32,
    /// Whether clGetKernelArgInfo is available: `-cl-kernel-arg-info`.
    pub has_arg_info: bool,
    /// Whether the last work-groups may be smaller than the others. True from OpenCL C 2.0 on if no unit of the program
    /// uses `-cl-uniform-work-group-size`.
    pub non_uniform_groups: bool,
    /// Whether the kernel may enqueue kernels or uses device-side events.
    pub enqueues: bool,
    /// Whether the kernel's results do not depend on the grouping of work-items, see [`crate::passes::group_blind()`].
    pub group_blind: bool,
}
