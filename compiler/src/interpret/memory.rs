//! Memory: objects with bounds, and pointers that contain the number of the object to which they point.
//!
//! A pointer has 64 bits, in registers and in memory. The upper 32 bits contain the kind of memory and the object, the
//! lower 32 bits a byte offset. Null is zero. The difference of two pointers to one object is the distance in bytes.
//! Conversions to integers and stores to memory preserve pointers. Pointer arithmetic is modulo 2^64, so a pointer may
//! leave its object on either side and return.

use std::num::NonZeroU32;

use super::FaultKind;

/// The id of a live object of global memory. `Memory` is a list indexed by id, so callers should assign small ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(NonZeroU32);

impl ObjectId {
    /// Creates an id. Returns `None` for 0, which is null, and for numbers that are too large for a pointer.
    pub fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).filter(|number| number.get() < 1 << 30).map(Self)
    }

    pub const fn number(self) -> u32 {
        self.0.get()
    }

    const fn index(self) -> usize {
        self.0.get() as usize
    }
}

/// The kind of memory, in the two bits above the number of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    /// Buffers, program-scope variables and constants.
    Global = 0,
    Local = 1,
    /// Variables of a work-item. The variables of the innermost function are the last.
    Private = 2,
    /// Aggregates that are passed by value to a kernel.
    Argument = 3,
}

/// The pointer to a byte of an object.
pub(super) const fn pointer(kind: MemoryKind, number: u32, offset: u64) -> u64 {
    ((kind as u64) << 62 | (number as u64) << 32).wrapping_add(offset)
}

/// The kind of memory, the number of the object and the byte offset of a pointer.
pub(super) const fn split(pointer: u64) -> (MemoryKind, usize, usize) {
    let kind = match pointer >> 62 {
        0 => MemoryKind::Global,
        1 => MemoryKind::Local,
        2 => MemoryKind::Private,
        _ => MemoryKind::Argument,
    };
    (kind, (pointer >> 32 & 0x3fff_ffff) as usize, (pointer & 0xffff_ffff) as usize)
}

/// Returns `pointer`, or null if it does not point to memory of this kind.
pub(super) fn within(kind: MemoryKind, pointer: u64) -> u64 {
    if split(pointer).0 == kind { pointer } else { 0 }
}

#[derive(Debug)]
struct Object {
    bytes: Vec<u8>,
    read_only: bool,
}

/// The objects of global memory that a launch may access.
#[derive(Debug, Default)]
pub struct Memory {
    objects: Vec<Option<Object>>,
}

impl Memory {
    pub fn insert(&mut self, id: ObjectId, bytes: Vec<u8>, read_only: bool) {
        if self.objects.len() <= id.index() {
            self.objects.resize_with(id.index() + 1, || None);
        }
        self.objects[id.index()] = Some(Object { bytes, read_only });
    }

    /// Removes an object and returns its bytes. Returns `None` if it does not exist.
    pub fn remove(&mut self, id: ObjectId) -> Option<Vec<u8>> {
        self.objects.get_mut(id.index())?.take().map(|object| object.bytes)
    }

    /// The bytes of an object. `None` if it does not exist.
    pub fn get(&self, id: ObjectId) -> Option<&[u8]> {
        self.objects.get(id.index())?.as_ref().map(|object| object.bytes.as_slice())
    }
}

/// A private variable of a work-item.
#[derive(Clone, Copy, Debug)]
struct Variable {
    start: u32,
    size: u32,
}

/// The private memory of a work-item, which is a stack.
#[derive(Debug, Default)]
pub(super) struct Private {
    bytes: Vec<u8>,
    variables: Vec<Variable>,
}

impl Private {
    /// The current numbers of variables and bytes, for [`Self::pop`].
    pub(super) fn mark(&self) -> (u32, u32) {
        (self.variables.len() as u32, self.bytes.len() as u32)
    }

    /// Creates variables of the given sizes. Their bytes are `fill`.
    pub(super) fn push(&mut self, sizes: &[u32], fill: u8) {
        for &size in sizes {
            let start = self.bytes.len();
            self.variables.push(Variable { start: start as u32, size });
            self.bytes.resize(start + size as usize, fill);
        }
    }

    /// Removes the variables that were created after a mark.
    pub(super) fn pop(&mut self, mark: (u32, u32)) {
        self.variables.truncate(mark.0 as usize);
        self.bytes.truncate(mark.1 as usize);
    }
}

/// The memory of a work-group, except private memory.
#[derive(Debug)]
pub(super) struct Spaces<'a> {
    pub(super) global: &'a mut Memory,
    pub(super) local: Vec<Vec<u8>>,
    pub(super) arguments: Vec<Vec<u8>>,
}

/// The byte range of an access in an object. Fails if it is out of bounds.
fn range(offset: usize, size: usize, length: usize) -> Result<std::ops::Range<usize>, FaultKind> {
    match offset.checked_add(size) {
        Some(end) if end <= length => Ok(offset..end),
        _ => Err(FaultKind::OutOfBounds { offset, size, length }),
    }
}

const WILD: FaultKind = FaultKind::WildPointer;

impl Spaces<'_> {
    pub(super) fn read<'s>(&'s self, private: &'s Private, pointer: u64, size: usize) -> Result<&'s [u8], FaultKind> {
        let (kind, number, offset) = split(pointer);
        let bytes = match kind {
            MemoryKind::Global => &self.global.objects.get(number).and_then(Option::as_ref).ok_or(WILD)?.bytes,
            MemoryKind::Local => self.local.get(number).ok_or(WILD)?,
            MemoryKind::Argument => self.arguments.get(number).ok_or(WILD)?,
            MemoryKind::Private => {
                let variable = private.variables.get(number).ok_or(WILD)?;
                let range = range(offset, size, variable.size as usize)?;
                return Ok(&private.bytes[variable.start as usize..][range]);
            }
        };
        Ok(&bytes[range(offset, size, bytes.len())?])
    }

    pub(super) fn write<'s>(&'s mut self, private: &'s mut Private, pointer: u64, size: usize) -> Result<&'s mut [u8], FaultKind> {
        let (kind, number, offset) = split(pointer);
        let bytes = match kind {
            MemoryKind::Global => {
                let object = self.global.objects.get_mut(number).and_then(Option::as_mut).ok_or(WILD)?;
                if object.read_only {
                    return Err(FaultKind::ReadOnly);
                }
                &mut object.bytes
            }
            MemoryKind::Local => self.local.get_mut(number).ok_or(WILD)?,
            MemoryKind::Argument => return Err(FaultKind::ReadOnly),
            MemoryKind::Private => {
                let variable = private.variables.get(number).ok_or(WILD)?;
                let range = range(offset, size, variable.size as usize)?;
                return Ok(&mut private.bytes[variable.start as usize..][range]);
            }
        };
        let range = range(offset, size, bytes.len())?;
        Ok(&mut bytes[range])
    }
}

/// Loads lanes of `lane` bytes.
pub(super) fn load(bytes: &[u8], lane: u8, to: &mut [u64]) {
    match lane {
        1 => to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = u64::from(*byte)),
        2 => to.iter_mut().zip(bytes.as_chunks::<2>().0).for_each(|(to, bytes)| *to = u64::from(u16::from_le_bytes(*bytes))),
        4 => to.iter_mut().zip(bytes.as_chunks::<4>().0).for_each(|(to, bytes)| *to = u64::from(u32::from_le_bytes(*bytes))),
        _ => to.iter_mut().zip(bytes.as_chunks::<8>().0).for_each(|(to, bytes)| *to = u64::from_le_bytes(*bytes)),
    }
}

/// Stores lanes of `lane` bytes.
pub(super) fn store(from: &[u64], lane: u8, bytes: &mut [u8]) {
    match lane {
        1 => from.iter().zip(bytes).for_each(|(from, byte)| *byte = *from as u8),
        2 => from.iter().zip(bytes.as_chunks_mut::<2>().0).for_each(|(from, bytes)| *bytes = (*from as u16).to_le_bytes()),
        4 => from.iter().zip(bytes.as_chunks_mut::<4>().0).for_each(|(from, bytes)| *bytes = (*from as u32).to_le_bytes()),
        _ => from.iter().zip(bytes.as_chunks_mut::<8>().0).for_each(|(from, bytes)| *bytes = from.to_le_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, MemoryKind, ObjectId, Private, Spaces, pointer, split};
    use crate::interpret::FaultKind;

    #[test]
    fn accesses_stay_in_their_objects() {
        let mut memory = Memory::default();
        let (first, second) = ObjectId::new(1).zip(ObjectId::new(2)).expect("two names");
        memory.insert(first, vec![7; 8], false);
        memory.insert(second, vec![9; 8], true);
        let mut private = Private::default();
        private.push(&[4, 4], 0xcd);
        let mut spaces = Spaces { global: &mut memory, local: vec![vec![0; 4]], arguments: vec![vec![1; 4]] };
        assert_eq!(spaces.read(&private, pointer(MemoryKind::Global, 1, 4), 4), Ok(&[7; 4][..]));
        assert_eq!(
            spaces.read(&private, pointer(MemoryKind::Global, 1, 5), 4),
            Err(FaultKind::OutOfBounds { offset: 5, size: 4, length: 8 })
        );
        assert_eq!(spaces.read(&private, 0, 1), Err(FaultKind::WildPointer));
        assert_eq!(spaces.read(&private, pointer(MemoryKind::Local, 1, 0), 1), Err(FaultKind::WildPointer));
        assert_eq!(spaces.write(&mut private, pointer(MemoryKind::Global, 2, 0), 1), Err(FaultKind::ReadOnly));
        assert_eq!(spaces.write(&mut private, pointer(MemoryKind::Argument, 0, 0), 1), Err(FaultKind::ReadOnly));
        // An access must not extend to the next variable.
        assert!(spaces.write(&mut private, pointer(MemoryKind::Private, 0, 2), 4).is_err());
        assert!(spaces.write(&mut private, pointer(MemoryKind::Private, 1, 0), 4).is_ok());
        private.pop((1, 4));
        assert_eq!(spaces.read(&private, pointer(MemoryKind::Private, 1, 0), 1), Err(FaultKind::WildPointer));
    }

    #[test]
    fn pointers_may_leave_their_object() {
        let start = pointer(MemoryKind::Global, 5, 0);
        assert_eq!(split(start.wrapping_sub(4).wrapping_add(8)), (MemoryKind::Global, 5, 4));
        assert!(start.wrapping_sub(4) < start);
    }
}
