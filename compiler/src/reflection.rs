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
    /// The address space that a pointer points to. `Private` for values.
    pub address: ir::Space,
    pub access: AccessQualifier,
    /// The type name in the form of the specification: no qualifiers, `uint` for `unsigned int`, `float4*`.
    pub type_name: String,
    pub name: String,
    /// Whether the pointee is `const`. Always true for pointers to constant memory.
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// How the argument is passed.
    pub passing: ir::KernelParam,
    /// Whether the argument is a `queue_t`, for which the application passes a queue.
    pub is_queue: bool,
    /// Size in bytes that clSetKernelArg requires for an argument by value (16 for `float3`), or 0 for other arguments.
    pub size: u32,
    /// Packet size of a pipe in bytes, or 0 if the kernel does not specify it. `None` for other arguments.
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
    /// Whether clGetKernelArgInfo is available: `-cl-kernel-arg-info`, or a SPIR-V module with the names of the
    /// parameter types.
    pub has_arg_info: bool,
    /// Whether the last work-groups may be smaller than the others. True if every unit of the program has OpenCL C 2.0
    /// or newer and does not use `-cl-uniform-work-group-size`.
    pub non_uniform_groups: bool,
    /// Whether the kernel may enqueue kernels or uses device-side events.
    pub enqueues: bool,
    /// Whether the kernel's results do not depend on its division into groups, see
    /// [`crate::passes::group_independent()`].
    pub group_independent: bool,
}
