//! The answers of clGetKernelInfo and clGetKernelArgInfo for a kernel.

#![allow(missing_docs, reason = "variants and fields whose name is the whole of their meaning")]

use serde::{Deserialize, Serialize};

use crate::ir;

/// How a kernel accesses an image or pipe: CL_KERNEL_ARG_ACCESS_QUALIFIER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessQualifier {
    None,
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// An argument of a kernel, for clGetKernelArgInfo and clSetKernelArg.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgInfo {
    /// `ir::Space` of a pointer's pointee; `Private` for values.
    pub address: ir::Space,
    /// Access qualifier of images and pipes.
    pub access: AccessQualifier,
    /// Type name in the form of the specification: without qualifiers, `uint` for `unsigned int`, `float4*`.
    pub type_name: String,
    pub name: String,
    /// `const` (of the pointee), `restrict`, `volatile`; constant pointers count as const.
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// How the argument is passed, and the size that clSetKernelArg expects.
    pub passing: ir::KernelParam,
    /// Whether it is a `queue_t`, for which the application passes a queue.
    pub is_queue: bool,
    /// Size in bytes that clSetKernelArg expects for a by-value argument (16 for `float3`); otherwise 0.
    pub size: u32,
    /// Size in bytes of a packet, if it is a pipe; 0 if the kernel does not specify it.
    pub packet: Option<u32>,
}

/// Reflection of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    /// Arguments in order.
    pub args: Vec<ArgInfo>,
    /// The attribute `reqd_work_group_size`, in work-items.
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// The attribute `intel_reqd_sub_group_size` or SPIR-V's `SubgroupSize`, in work-items; the device supports this
    /// size.
    pub reqd_subgroup_size: Option<u32>,
    /// SPIR-V's `SubgroupsPerWorkgroup`: subgroups that every work-group must have.
    pub reqd_subgroups: Option<u32>,
    /// The attribute `work_group_size_hint`, in work-items.
    pub work_group_size_hint: Option<[u32; 3]>,
    /// CL_KERNEL_ATTRIBUTES: the attributes, separated by single spaces, e.g. `reqd_work_group_size(8,1,1)`.
    pub attributes: String,
    /// Size in bytes of the kernel's `__local` variables.
    pub local_memory: u32,
    /// Whether clGetKernelArgInfo is available: `-cl-kernel-arg-info`.
    pub has_arg_info: bool,
    /// Whether the last work-groups may be smaller than the others: if all units of the program are OpenCL C 2.0 or
    /// later, without `-cl-uniform-work-group-size`.
    pub non_uniform_groups: bool,
    /// Whether the kernel may enqueue kernels or uses device-side events.
    pub enqueues: bool,
    /// Whether the result does not depend on how work-items are grouped; see [`crate::passes::group_blind()`].
    pub group_blind: bool,
}
