//! The memory of a program: its constants and `__global` variables. Host and kernels share its layout.
//!
//! The layout depends only on the globals of the module. It is the same for every kernel of a module. Example: two
//! constants of 3 and 2 bytes are at offsets 0 and 16.

use crate::ir::{GlobalVar, Module, Space};
use crate::pointer::global_pointer;
use crate::target::Target;

/// Offsets of a module's globals. Constants are in one block of memory, and `__global` variables in another. Offsets
/// are relative to the block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramLayout {
    /// The offset of each global in bytes. Always 0 for globals in other address spaces.
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
            // Sizes saturate. `Program::check_variables` rejects programs with too large variables.
            let offset = end.checked_next_multiple_of(global.align.max(GlobalVar::MIN_ALIGN)).unwrap_or(0);
            *end = offset.saturating_add(global.size);
            layout.offsets.push(offset);
        }
        layout.constant_size = layout.constant_size.checked_next_multiple_of(16).unwrap_or(u32::MAX);
        layout.global_size = layout.global_size.checked_next_multiple_of(16).unwrap_or(u32::MAX);
        layout
    }
}

/// Initial contents of the memory of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramData {
    /// Contents of `BindingSource::ConstantData`. Empty if there are no constants.
    pub constant: Vec<u8>,
    /// Contents of `BindingSource::GlobalVariables`. Empty if there are no variables.
    pub global: Vec<u8>,
}

/// Returns the initial contents of a module's constants and `__global` variables. Pointers in them are encoded as in
/// [`crate::pointer`].
pub fn program_data(module: &Module, target: &Target) -> ProgramData {
    let pointer_size = target.pointer_size();
    contents(module, pointer_size, |space, offset| global_pointer(space, offset, pointer_size))
}

/// The device addresses of a program's memory, for kernels whose pointers are addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramAddresses {
    /// Address of the constants.
    pub constant: u64,
    /// Address of the `__global` variables.
    pub global: u64,
}

/// Like [`program_data`], but pointers are 64-bit addresses.
pub fn program_data_at(module: &Module, places: ProgramAddresses) -> ProgramData {
    contents(module, 8, |space, offset| {
        let start = if space == Space::Constant { places.constant } else { places.global };
        start.wrapping_add_signed(offset)
    })
}

/// Returns the sizes in bytes of a module's constants and of its `__global` variables, in this order. Both are
/// multiples of 16.
pub fn program_sizes(module: &Module) -> [u32; 2] {
    let layout = ProgramLayout::of(&module.globals);
    [layout.constant_size, layout.global_size]
}

/// Returns the initial contents. `pointer` returns the bits of a pointer to an offset in the memory of an address
/// space.
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

/// Copies bytes to an offset in memory. Does nothing if they do not fit.
fn put(memory: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(place) = memory.get_mut(offset..offset + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{ProgramAddresses, program_data, program_data_at, program_sizes};
    use crate::ir::{Global, GlobalVar, Module, Reloc, Space};
    use crate::target::Target;

    #[test]
    fn program_memory_contains_the_initial_values() {
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
        let data_at = program_data_at(&module, ProgramAddresses { constant: 0x7f12_3456_7000, global: 0x1000 });
        assert_eq!(&data_at.constant[40..], 0x7f12_3456_7011_u64.to_le_bytes());
        assert_eq!((&data_at.constant[..40], &data_at.global), (&data.constant[..40], &data.global));
        module.globals[4].relocs[0].target = Global(2);
        module.globals[4].relocs[0].addend = -1;
        let data_at = program_data_at(&module, ProgramAddresses { constant: 0x2000, global: 0x1000 });
        assert_eq!(&data_at.constant[40..], 0xfff_u64.to_le_bytes());
        assert_eq!(&data.constant[..3], [1, 2, 3]);
        assert_eq!(&data.constant[16..18], [4, 5]);
        assert_eq!(data.global, [0; 16]);
    }
}
