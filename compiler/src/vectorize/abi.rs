//! What generated code and the device that runs it agree upon.
//!
//! A kernel is a function with the C calling convention of the System V ABI: `kernel(launch: *const LaunchContext,
//! worker: *mut WorkerContext, first: u64, end: u64)`. It runs the work-groups `first..end` of the dispatch, counted
//! with dimension 0 fastest, one after the other. Any number of threads may run disjoint ranges of one dispatch at
//! once, each with a [`WorkerContext`] of its own.
//!
//! All groups of a dispatch have the size that the kernel's key names (`KernelKey::local_size`). An NDRange whose last
//! groups are smaller is several dispatches.

use serde::{Deserialize, Serialize};

use super::sanitize::AccessSite;
use crate::ir::{self, KernelParam, Scalar, Type, image};
use crate::printf::Table;

/// What all groups of a dispatch share.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchContext {
    /// Address of the arguments, as [`ArgPlaces`] has them; aligned to [`ARGS_ALIGN`] bytes.
    pub args: u64,
    /// Address of the program's constants ([`crate::layout`]).
    pub constants: u64,
    /// Address of the program's variables.
    pub variables: u64,
    /// Address of the buffer for what `printf` writes (`crate::printf`).
    pub printf: u64,
    /// Address of a function `extern "sysv64" fn(u64, u64, u64) -> u64` that multiplies and adds doubles with one
    /// rounding, given and giving their bits: for instruction sets that cannot.
    pub fused: u64,
    /// Address of a function `extern "sysv64" fn(u64, u64, u64, u64, u64, u64) -> u64` that kernels with
    /// [`NativeKernel::sites`] ask before each access, and tell of what else [`super::sanitize::Access`] names, which
    /// says what address and object are then. It is given [`Self::checker`], the address, that of the object the
    /// pointer leads into ([`super::sanitize::Object`]; of the arena where it may be any), the number of the site and
    /// above it (from bit 32 on) the linear local id of the work-item, its group's ids in dimensions 0 and 1, likewise,
    /// and in dimension 2. It gives the address that is accessed, of as many bytes.
    pub check: u64,
    /// What that function is given first.
    pub checker: u64,
    /// Groups of this dispatch in each dimension.
    pub group_count: [u32; 3],
    /// The id of this dispatch's first group in each dimension.
    pub group_base: [u32; 3],
    /// Groups of the whole NDRange (`get_num_groups`).
    pub num_groups: [u32; 3],
    /// Work-items of the whole NDRange (`get_global_size`).
    pub global_size: [u32; 3],
    /// `get_global_offset`.
    pub global_offset: [u32; 3],
    /// Dimensions of the NDRange (`get_work_dim`).
    pub work_dim: u32,
}

/// What a thread that runs groups brings along.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerContext {
    /// Address of [`NativeKernel::arena`] bytes, aligned to [`ARENA_ALIGN`]: work-group memory, private variables, what
    /// lives across barriers. Its contents do not matter, and nobody else touches it while groups run.
    pub arena: u64,
}

/// Alignment of the argument block, in bytes.
pub const ARGS_ALIGN: u32 = 128;
/// Alignment of a worker's arena, in bytes.
pub const ARENA_ALIGN: u32 = 128;

/// A kernel as machine code, before it is in executable memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeKernel {
    /// Position-independent code, constants included. It calls nothing outside.
    pub code: Vec<u8>,
    /// The byte of the code at which the kernel is entered.
    pub entry: u32,
    /// Bytes of the thread's stack that it takes at most.
    pub stack: u32,
    /// Bytes of a worker's arena.
    pub arena: u64,
    /// Where arguments lie.
    pub args: ArgPlaces,
    /// Bytes of work-group memory of the kernel's own variables.
    pub local_memory: u32,
    /// Bytes of private memory a work-item, as far as it is memory.
    pub private_memory: u32,
    /// Work-items that run in one vector.
    pub lanes: u32,
    /// The accesses that ask before they are made. They are not kept with the code.
    #[serde(skip)]
    pub sites: Vec<AccessSite>,
    /// Whether it may print.
    pub prints: bool,
    /// What makes text of what it prints. It is not kept with the code: a kernel that prints is made anew by each
    /// process.
    #[serde(skip)]
    pub printed: Table,
}

/// Where the arguments lie in the argument block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgPlaces {
    /// One a parameter of the kernel.
    pub places: Vec<ArgPlace>,
    /// Bytes of the block.
    pub size: u32,
}

/// Where an argument lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgPlace {
    /// The bytes of a number, vector or struct.
    Bytes {
        /// Where they begin.
        offset: u32,
        /// How many there are; three lanes take the memory of four.
        size: u32,
    },
    /// The 64-bit address of the first byte of a buffer, 0 for null.
    Address {
        /// Where it lies.
        offset: u32,
    },
    /// The address of an image's first element, and behind it the words of its descriptor
    /// (`image::ImageDescriptor::words`), 32 bits each.
    Image {
        /// Where the address lies.
        offset: u32,
    },
    /// Nothing: the kernel's key says all (work-group memory, samplers).
    InKey,
}

impl ArgPlaces {
    /// Of a kernel.
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

/// Bytes of an argument by value, a power of two.
fn value_size(ty: Type) -> u32 {
    let scalar = ty.scalar().map_or(8, Scalar::size).max(1);
    scalar * u32::from(ty.lanes()).next_power_of_two()
}
