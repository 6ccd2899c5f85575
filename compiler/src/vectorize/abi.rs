//! The interface between generated code and the CPU device.
//!
//! A kernel is a function `kernel(launch: *const LaunchContext, worker: *mut WorkerContext, first: u64, end: u64)`. It
//! runs the work-groups `first..end` of the dispatch in order. The linear number of a group counts dimension 0 fastest.
//! Several threads may run disjoint ranges of one dispatch concurrently, each with its own [`WorkerContext`].
//!
//! Kernels, and the host functions that they call, have the C calling convention. On x86-64, it is that of the System V
//! ABI on every operating system.
//!
//! All groups of a dispatch have the size in the kernel's key (`KernelKey::local_size`). An NDRange with smaller groups
//! at its end consists of several dispatches.

use serde::{Deserialize, Serialize};
use wgcl_codegen::FunctionFrame;

use super::sanitize::AccessSite;
use crate::ir::{self, KernelParam, Scalar, Type, image};
use crate::printf::Table;

/// Launch data that all groups of a dispatch share.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchContext {
    /// Address of the argument block with the layout [`ArgPlaces`], aligned to [`ARGS_ALIGN`] bytes.
    pub args: u64,
    /// Address of the program's constants ([`crate::layout`]).
    pub constants: u64,
    /// Address of the program's variables.
    pub variables: u64,
    /// Address of the `printf` buffer (`crate::printf`).
    pub printf: u64,
    /// Address of a function `fn(u64, u64, u64) -> u64`, a fused multiply-add of doubles. Its parameters and result are
    /// the bits of doubles. Code for instruction sets without FMA calls it.
    pub fused: u64,
    /// Address of a function `fn(u64, u64, u64, u64, u64, u64) -> u64`, the check function. Kernels
    /// with [`NativeKernel::sites`] call it before each access and at each event ([`super::sanitize::Access`]).
    ///
    /// The parameters are:
    /// - [`Self::checker`]
    /// - the accessed address
    /// - the address of the object that the pointer points into ([`super::sanitize::Object`]), or of the arena if the
    ///   object is unknown
    /// - the index of the site in [`NativeKernel::sites`], and the work-item's linear local id in bits 32 and above
    /// - the group's ids in dimensions 0 and 1, as low and high 32 bits
    /// - the group's id in dimension 2
    ///
    /// The result is the address to access. For events, [`super::sanitize::Access`] defines address and object.
    pub check: u64,
    /// The first argument of the check function.
    pub checker: u64,
    /// Address of a function `fn(u64, u64, u64) -> u64`, the scheduler of subgroups. Kernels with
    /// [`NativeKernel::subgroups`] call it. The parameters are the address of the worker context, a
    /// [`SubgroupRequest`], and for a claim the number of the group.
    pub scheduler: u64,
    /// Groups of this dispatch in each dimension.
    pub group_count: [u32; 3],
    /// The id of this dispatch's first group in each dimension.
    pub group_base: [u32; 3],
    /// Groups of the whole NDRange (`get_num_groups`).
    pub num_groups: [u32; 3],
    /// Work-items of the whole NDRange (`get_global_size`).
    pub global_size: [u32; 3],
    /// The offset of the NDRange (`get_global_offset`).
    pub global_offset: [u32; 3],
    /// Dimensions of the NDRange (`get_work_dim`).
    pub work_dim: u32,
}

/// A request of a kernel to the scheduler of subgroups ([`LaunchContext::scheduler`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum SubgroupRequest {
    /// Assigns the next gang of a group to the calling stack. The result is the number of the gang, or the number of
    /// gangs if none is left. On the first stack, the other gangs have then ended.
    Claim,
    /// Another gang may run.
    Pause,
    /// Returns when all gangs of the group have made this request or have ended.
    Barrier,
}

/// The context of a stack that runs groups.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerContext {
    /// Address of [`NativeKernel::arena`] bytes, aligned to [`ARENA_ALIGN`]. They hold work-group memory, private
    /// variables, and values that are live across barriers. The initial contents do not matter. No other thread may
    /// access them while groups run.
    pub arena: u64,
    /// Address of the arena whose work-group memory is used. Only kernels with [`NativeKernel::subgroups`] read it.
    pub local: u64,
}

/// Alignment of the argument block, in bytes.
pub const ARGS_ALIGN: u32 = 128;
/// Alignment of a worker's arena, in bytes.
pub const ARENA_ALIGN: u32 = 128;

/// A kernel as machine code that is not yet in executable memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeKernel {
    /// Position-independent code with its constants. It has no external references.
    pub code: Vec<u8>,
    /// The byte offset of the kernel's entry point.
    pub entry: u32,
    /// Maximum bytes of the thread's stack that the kernel needs.
    pub stack: u32,
    /// The functions of the code that can be unwound.
    pub frames: Vec<FunctionFrame>,
    /// Bytes of a worker's arena.
    pub arena: u64,
    /// The number of gangs of a group, if the gangs wait for each other. Each gang may then need its own stack and
    /// arena, and the kernel calls [`LaunchContext::scheduler`]. Otherwise 0.
    pub subgroups: u32,
    /// The layout of arguments.
    pub args: ArgPlaces,
    /// Bytes of work-group memory of the kernel's own variables.
    pub local_memory: u32,
    /// Bytes of private memory per work-item, excluding values in registers.
    pub private_memory: u32,
    /// Work-items per vector.
    pub lanes: u32,
    /// The instrumented accesses and events. The binary cache does not contain them.
    #[serde(skip)]
    pub sites: Vec<AccessSite>,
    /// Whether the kernel can call `printf`.
    pub prints: bool,
    /// The format strings of `printf`. The binary cache does not contain them: each process compiles kernels that
    /// print.
    #[serde(skip)]
    pub printed: Table,
}

/// The layout of the argument block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgPlaces {
    /// One per parameter of the kernel.
    pub places: Vec<ArgPlace>,
    /// Size of the block in bytes.
    pub size: u32,
}

/// The location of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgPlace {
    /// The value of a number, vector or struct.
    Bytes {
        /// The offset in bytes.
        offset: u32,
        /// The number of bytes. Vectors with three components take the memory of four.
        size: u32,
    },
    /// The 64-bit address of the first byte of a buffer, 0 for null.
    Address {
        /// The offset in bytes.
        offset: u32,
    },
    /// The address of an image's first element, followed by the 32-bit words of its descriptor
    /// (`image::ImageDescriptor::words`).
    Image {
        /// The offset of the address in bytes.
        offset: u32,
    },
    /// Not in the block. The kernel's key has the value: the size of work-group memory, or a sampler.
    InKey,
}

impl ArgPlaces {
    /// Creates the layout of the argument block for a kernel.
    pub fn of(function: &ir::Function) -> Self {
        let kinds = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
        let mut end = 0;
        let mut place = |size: u32, align: u32| {
            let offset = u32::next_multiple_of(end, align);
            end = offset + size;
            offset
        };
        let mut places = Vec::with_capacity(kinds.len());
        for (kind, &param) in kinds.iter().zip(&function.params) {
            places.push(match kind {
                KernelParam::Value => {
                    let size = value_size(function.ty(param));
                    ArgPlace::Bytes { offset: place(size, size), size }
                }
                KernelParam::Bytes { size, align } => ArgPlace::Bytes { offset: place(*size, (*align).max(1)), size: *size },
                KernelParam::Buffer { .. } => ArgPlace::Address { offset: place(8, 8) },
                KernelParam::Image => ArgPlace::Image { offset: place(8 + 4 * image::WORDS, 8) },
                KernelParam::Local { .. } | KernelParam::Sampler => ArgPlace::InKey,
            });
        }
        Self { places, size: end.next_multiple_of(ARGS_ALIGN) }
    }
}

/// Returns the size of an argument passed by value, a power of two.
fn value_size(ty: Type) -> u32 {
    let scalar = ty.scalar().map_or(8, Scalar::size).max(1);
    scalar * u32::from(ty.lanes()).next_power_of_two()
}
