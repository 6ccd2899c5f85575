//! Memory layouts that host and kernels share: the argument buffer and the memory of a program.
//!
//! Both layouts depend on signatures and globals only. The host can fill them without emitting code, and they are the
//! same for every kernel of a module.
//!
//! # The argument buffer
//! One uniform binding of group 0 (the first one, if the shader needs it) holds an array of `vec4<u32>`. Its first
//! [`ArgLayout::HEADER`] bytes are the hidden values of [`hidden`]. Every by-value argument follows at its own offset
//! ([`ArgLayout::values`]). The buffer is little-endian, and its size is rounded up to 16 bytes.
//!
//! After the values come identity, first byte and size of those pointer arguments whose identity the kernel uses
//! ([`ArgLayout::identities`]). Only kernels that keep pointers in memory or compare arguments use them. Everything
//! else is a binding of its own in group 0, listed in [`Shader::bindings`](crate::emit::Shader::bindings).

use serde::{Deserialize, Serialize};

use crate::ir::{self, GlobalVar, KernelParam, Module, Op, Scalar, Space, Type, WorkItem};
use crate::launch::{BindingKey, ConstantBinding};
use crate::pointer::global_pointer;
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
    /// Three words: the first group of this dispatch, for an NDRange with several dispatches. An NDRange is split if
    /// it has too many groups, or if the groups at its edges are smaller.
    pub const GROUP_BASE: u32 = 48;
}

/// Offsets of the by-value arguments of a kernel in the argument buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgLayout {
    /// Per kernel parameter: byte offset and size in the argument buffer if it is passed by value, else `None`.
    pub values: Vec<Option<(u32, u32)>>,
    /// Per parameter: byte offset of five `u32` words if the kernel uses its identity, else `None`; empty if no
    /// parameter has them. The words are the identity of the allocation, the argument's first byte in it, the
    /// argument's size, the offset of the pointer in the argument, and the size's upper half. All are 0 for null.
    /// Identity and first byte are the halves of one number: an allocation of more than 4 GiB has several consecutive
    /// identities.
    pub identities: Vec<Option<u32>>,
    /// Per parameter: byte offset of the eight words of `ImageDescriptor::words` if the kernel uses them; empty if no
    /// parameter has them.
    pub images: Vec<Option<u32>>,
    /// Per parameter: byte offset of the word with its position in the common buffer, if it is a merged one; empty if
    /// none is.
    pub merged_offsets: Vec<Option<u32>>,
    /// Per parameter: byte offset of the eight bytes of its address, if its memory is accessed by address; empty if
    /// none is.
    pub addresses: Vec<Option<u32>>,
    /// Size in bytes of the whole buffer, a multiple of 16.
    pub size: u32,
}

impl ArgLayout {
    /// Size in bytes of the hidden values.
    pub const HEADER: u32 = 64;
    /// Size in bytes of the identity of one argument.
    pub const IDENTITY: u32 = 20;
    /// Size in bytes of an address.
    pub const ADDRESS: u32 = 8;
}

/// The argument buffer of a kernel (see the module's documentation): by-value arguments in order, each at the
/// alignment of its type, then the identities of pointer arguments, then the addresses of the parameters in
/// `reached`.
pub fn arg_layout(function: &ir::Function, reached: &[bool], target: &Target) -> ArgLayout {
    let mut end = ArgLayout::HEADER;
    let mut values = Vec::with_capacity(function.params.len());
    let kinds = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
    for (index, &param) in function.params.iter().enumerate() {
        let place = match kinds.get(index) {
            Some(KernelParam::Value) => Some(value_place(function.ty(param), target)),
            Some(kind @ KernelParam::Bytes { size, .. }) => Some((*size, kind.align())),
            _ => None,
        };
        values.push(place.map(|(size, align)| {
            let offset = end.next_multiple_of(align);
            end = offset + size;
            (offset, size)
        }));
    }
    let identities = asked_of(function, &mut end, ArgLayout::IDENTITY, |question| match question {
        WorkItem::ArgIdentity(index)
        | WorkItem::ArgBase(index)
        | WorkItem::ArgSize(index)
        | WorkItem::ArgStart(index)
        | WorkItem::ArgSizeHigh(index) => Some(index),
        _ => None,
    });
    let images = asked_of(function, &mut end, 4 * crate::ir::image::WORDS, |question| match question {
        WorkItem::ArgImage { param, .. } => Some(param),
        _ => None,
    });
    let merged_offsets = asked_of(function, &mut end, 4, |question| match question {
        WorkItem::ArgMergedOffset(index) => Some(index),
        _ => None,
    });
    let addresses = places_of_addresses(reached, &mut end);
    ArgLayout { values, identities, images, merged_offsets, addresses, size: end.next_multiple_of(16) }
}

/// The parameters whose memory a kernel accesses by address: all buffers and images except `__constant` arguments in
/// uniform buffers. Empty if there are none.
pub(crate) fn reached_by_address(params: &[KernelParam], key: &BindingKey) -> Vec<bool> {
    if !key.addresses {
        return Vec::new();
    }
    let mut constants = key.constant_args.iter();
    let is_reached = |param: &KernelParam| match param {
        KernelParam::Buffer { space: Space::Constant, .. } => constants.next() == Some(&ConstantBinding::Storage),
        KernelParam::Buffer { .. } | KernelParam::Image => true,
        _ => false,
    };
    params.iter().map(is_reached).collect()
}

/// Assigns offsets to addresses.
fn places_of_addresses(reached: &[bool], end: &mut u32) -> Vec<Option<u32>> {
    let mut place = || {
        let offset = end.next_multiple_of(ArgLayout::ADDRESS);
        *end = offset + ArgLayout::ADDRESS;
        offset
    };
    reached.iter().map(|reached| reached.then(&mut place)).collect()
}

/// Assigns offsets to the entries of the arguments that the kernel queries, `bytes` each.
fn asked_of(function: &ir::Function, end: &mut u32, bytes: u32, param: fn(WorkItem) -> Option<u32>) -> Vec<Option<u32>> {
    let mut asked = vec![false; function.params.len()];
    function.body.walk(&mut |inst| {
        if let Op::WorkItem(question) = inst.op
            && let Some(slot) = param(question).and_then(|index| asked.get_mut(index as usize))
        {
            *slot = true;
        }
    });
    if !asked.contains(&true) {
        return Vec::new();
    }
    let mut place = || {
        let offset = end.next_multiple_of(4);
        *end = offset + bytes;
        offset
    };
    asked.into_iter().map(|asked| asked.then(&mut place)).collect()
}

/// Size and alignment of a by-value argument: three lanes take the memory of four.
fn value_place(ty: Type, target: &Target) -> (u32, u32) {
    let scalar = match ty {
        Type::Ptr(_) => target.pointer_size(),
        _ => ty.scalar().map_or(0, Scalar::size),
    };
    let lanes = if ty.lanes() == 3 { 4 } else { u32::from(ty.lanes()) };
    let size = (scalar * lanes).max(1);
    (size, size)
}

/// Offsets of a module's globals in the memory of their kind. The first of a kind starts at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramLayout {
    /// Per global; meaningless for `Local` ones.
    pub(crate) offsets: Vec<u32>,
    /// Size in bytes of all constants, a multiple of 16.
    pub(crate) constant_size: u32,
    /// Size in bytes of all `__global` variables, a multiple of 16.
    pub(crate) global_size: u32,
}

impl ProgramLayout {
    pub(crate) fn of(globals: &[GlobalVar]) -> Self {
        let mut layout = Self { offsets: Vec::with_capacity(globals.len()), ..Self::default() };
        for global in globals {
            let end = match global.space {
                Space::Constant => &mut layout.constant_size,
                Space::Global => &mut layout.global_size,
                _ => {
                    layout.offsets.push(0);
                    continue;
                }
            };
            // More than 4 GiB is rejected earlier.
            let offset = end.checked_next_multiple_of(global.align.max(GlobalVar::MIN_ALIGN)).unwrap_or(0);
            *end = offset.saturating_add(global.size);
            layout.offsets.push(offset);
        }
        layout.constant_size = layout.constant_size.checked_next_multiple_of(16).unwrap_or(u32::MAX);
        layout.global_size = layout.global_size.checked_next_multiple_of(16).unwrap_or(u32::MAX);
        layout
    }
}

/// Initial contents of the memory that belongs to a program, not to a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramData {
    /// Contents of `BindingSource::ConstantData`; empty if there is none.
    pub constant: Vec<u8>,
    /// Contents of `BindingSource::GlobalVariables`; empty if there is none.
    pub global: Vec<u8>,
}

/// Initial contents of a module's constants and `__global` variables. Pointers in them have the form of
/// [`crate::pointer`].
pub fn program_data(module: &Module, target: &Target) -> ProgramData {
    let pointer_size = target.pointer_size();
    contents(module, pointer_size, |space, offset| global_pointer(space, offset, pointer_size))
}

/// The addresses of a program's memory, for kernels whose pointers are addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramPlaces {
    /// Address of the constants.
    pub constant: u64,
    /// Address of the `__global` variables.
    pub global: u64,
}

/// Like [`program_data`], with 64-bit addresses as pointers.
pub fn program_data_at(module: &Module, places: ProgramPlaces) -> ProgramData {
    contents(module, 8, |space, offset| {
        let start = if space == Space::Constant { places.constant } else { places.global };
        start.wrapping_add_signed(offset)
    })
}

/// Size in bytes of the constants and of the `__global` variables of a module, in this order; multiples of 16.
pub fn program_sizes(module: &Module) -> [u32; 2] {
    let layout = ProgramLayout::of(&module.globals);
    [layout.constant_size, layout.global_size]
}

/// Initial contents. `pointer` returns the bits of a pointer to an offset in a program's memory.
fn contents(module: &Module, pointer_size: u32, pointer: impl Fn(Space, i64) -> u64) -> ProgramData {
    let layout = ProgramLayout::of(&module.globals);
    let mut data = ProgramData { constant: vec![0; layout.constant_size as usize], global: vec![0; layout.global_size as usize] };
    for (global, &offset) in module.globals.iter().zip(&layout.offsets) {
        let memory = match global.space {
            Space::Constant => &mut data.constant,
            Space::Global => &mut data.global,
            _ => continue,
        };
        if let Some(init) = &global.init {
            put(memory, offset as usize, init);
        }
        for reloc in &global.relocs {
            let Some(target) = module.globals.get(reloc.target.index()) else { continue };
            let start = layout.offsets.get(reloc.target.index()).copied().unwrap_or(0);
            let pointer = pointer(target.space, i64::from(start).wrapping_add(reloc.addend)).to_le_bytes();
            put(memory, (offset + reloc.at) as usize, &pointer[..pointer_size as usize]);
        }
    }
    data
}

/// Copies bytes to an offset in memory, if they fit.
fn put(memory: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(place) = memory.get_mut(offset..offset + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{ProgramPlaces, arg_layout, program_data, program_data_at, program_sizes, reached_by_address};
    use crate::ir::{Function, Global, GlobalVar, Kernel, KernelParam, Module, Reloc, Scalar, Space, Type};
    use crate::launch::BindingKey;
    use crate::target::Target;

    #[test]
    fn arguments_lie_at_their_alignment() {
        let mut function = Function::new("k", Type::Void);
        let types = [Type::Scalar(Scalar::I8), Type::Vector(Scalar::F32, 3), Type::Ptr(Space::Global), Type::Ptr(Space::Constant)];
        function.params = types.into_iter().map(|ty| function.new_value(ty)).collect();
        function.kernel = Some(Kernel {
            params: vec![
                KernelParam::Value,
                KernelParam::Value,
                KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false },
                KernelParam::Bytes { size: 10, align: 2 },
            ],
            ..Kernel::default()
        });
        let layout = arg_layout(&function, &[], &Target::full());
        assert_eq!(layout.values, [Some((64, 1)), Some((80, 16)), None, Some((96, 10))]);
        assert_eq!((layout.size, &layout.addresses[..]), (112, &[][..]));
        let by_address = BindingKey { addresses: true, ..BindingKey::default() };
        let params = function.kernel.as_ref().map(|kernel| reached_by_address(&kernel.params, &by_address));
        let layout = arg_layout(&function, &params.unwrap_or_default(), &Target::full());
        assert_eq!((layout.size, &layout.addresses[..]), (128, &[None, None, Some(112), None][..]));
    }

    #[test]
    fn program_memory_holds_the_initial_values() {
        let global = |space, size, init| GlobalVar { name: "g".into(), space, size, align: 4, init, relocs: Vec::new() };
        let mut module = Module {
            functions: Vec::new(),
            globals: vec![
                global(Space::Constant, 3, Some(vec![1, 2, 3])),
                global(Space::Local, 64, None),
                global(Space::Global, 4, None),
                global(Space::Constant, 2, Some(vec![4, 5])),
            ],
        };
        module.globals.push(global(Space::Constant, 16, Some(vec![9; 16])));
        module.globals[4].relocs.push(Reloc { at: 8, target: Global(3), addend: 1 });
        let data = program_data(&module, &Target::full());
        assert_eq!(data.constant.len(), 48);
        assert_eq!(&data.constant[32..], [9, 9, 9, 9, 9, 9, 9, 9, 17, 0, 0, 0, 1, 0, 0, 0x70]);
        assert_eq!(program_sizes(&module), [48, 16]);
        let data_at = program_data_at(&module, ProgramPlaces { constant: 0x7f12_3456_7000, global: 0x1000 });
        assert_eq!(&data_at.constant[40..], 0x7f12_3456_7011_u64.to_le_bytes());
        assert_eq!((&data_at.constant[..40], &data_at.global), (&data.constant[..40], &data.global));
        module.globals[4].relocs[0].target = Global(2);
        module.globals[4].relocs[0].addend = -1;
        let data_at = program_data_at(&module, ProgramPlaces { constant: 0x2000, global: 0x1000 });
        assert_eq!(&data_at.constant[40..], 0xfff_u64.to_le_bytes());
        assert_eq!(&data.constant[..3], [1, 2, 3]);
        assert_eq!(&data.constant[16..18], [4, 5]);
        assert_eq!(data.global, [0; 16]);
    }
}
