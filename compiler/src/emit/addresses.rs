//! Memory that is accessed by address (SPV_KHR_physical_storage_buffer).
//!
//! naga does not support pointers to physical storage buffers. A view is emitted as an array without a length that is
//! indexed with 64-bit addresses. Its binding number has a tag ([`tag`]). In naga's SPIR-V the variable of the view is
//! removed, and an access to an element becomes an access through a pointer:
//!
//! ```text
//! %p = OpAccessChain %ptr_uint %var %0 %address        %p = OpConvertUToPtr %physical_uint %address
//! %x = OpLoad %uint %p                           =>    %x = OpLoad %uint %p Aligned 4
//! ```
//! Elements of a view are aligned to their size. Bytes are emitted as words and then converted, as in [`super::bytes`].
//! Accesses that fences must make visible to other work-groups are volatile, because the decoration `Coherent` cannot
//! apply to a pointer to physical storage buffers.

use super::views::ViewKey;
use super::words::{BINDING, COHERENT, HEADER, INT8, STORAGE_BUFFER, STORAGE_BUFFER_8_BIT_ACCESS, instructions, op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bit in the binding number of a view that is accessed by address. No device has that many bindings.
const TAG: u32 = 1 << 28;
/// Additional bit for a view whose elements are bytes.
const BYTES: u32 = 1 << 27;

/// The tag in the binding number of a view.
pub(super) const fn tag(key: ViewKey) -> u32 {
    if key.width == 1 && key.slot.width == 4 { TAG | BYTES } else { TAG }
}

const ADDRESSES: u32 = 5347;
const PHYSICAL_64: u32 = 5348;
const PHYSICAL_STORAGE_BUFFER: u32 = 5349;
const VOLATILE: u32 = 1;
const ALIGNED: u32 = 2;

/// The variable of a view.
#[derive(Clone, Copy, Default)]
struct View {
    is_bytes: bool,
    is_volatile: bool,
    /// The id of the type of the view's elements. 0 until the variable is processed.
    element: u32,
}

/// Properties of the accesses through a converted pointer.
#[derive(Clone, Copy)]
struct PhysicalPointer {
    is_bytes: bool,
    /// The memory operands: mask and alignment.
    operands: [u32; 2],
}

struct Rewriter {
    out: Vec<u32>,
    next: u32,
    views: FxHashMap<u32, View>,
    /// Size in bytes of the values of each type.
    sizes: FxHashMap<u32, u32>,
    /// Element types of arrays, of structures with one member, and of pointers.
    inner: FxHashMap<u32, u32>,
    /// Pointer types that were added, by the type to which they point.
    pointers: FxHashMap<u32, u32>,
    byte: Option<u32>,
    /// Ids of pointers to whole views.
    arrays: FxHashMap<u32, View>,
    places: FxHashMap<u32, PhysicalPointer>,
}

/// Converts the accesses to tagged variables. Returns `None` if the SPIR-V does not have the form that naga writes.
pub(super) fn convert_views(words: Vec<u32>) -> Option<Vec<u32>> {
    let views = tagged(&words);
    if views.is_empty() {
        return Some(words);
    }
    let mut rewriter = Rewriter {
        out: words.get(..HEADER)?.to_vec(),
        next: *words.get(3)?,
        views,
        sizes: FxHashMap::default(),
        inner: FxHashMap::default(),
        pointers: FxHashMap::default(),
        byte: None,
        arrays: FxHashMap::default(),
        places: FxHashMap::default(),
    };
    let capabilities: FxHashSet<u32> =
        instructions(&words).filter(|(code, _)| *code == op::CAPABILITY).filter_map(|(_, inst)| inst.get(1).copied()).collect();
    rewriter.capabilities(&capabilities);
    let mut extension = false;
    for (code, inst) in instructions(&words) {
        if matches!(code, op::EXTENSION | op::EXT_INST_IMPORT | op::MEMORY_MODEL) && !extension {
            extension = true;
            rewriter.out.extend(super::spirv::string_instruction(op::EXTENSION, "SPV_KHR_physical_storage_buffer"));
            if rewriter.has_bytes() && !capabilities.contains(&STORAGE_BUFFER_8_BIT_ACCESS) {
                rewriter.out.extend(super::spirv::string_instruction(op::EXTENSION, "SPV_KHR_8bit_storage"));
            }
        }
        rewriter.instruction(code, inst)?;
    }
    rewriter.out[3] = rewriter.next;
    Some(rewriter.out)
}

/// The tagged variables.
fn tagged(words: &[u32]) -> FxHashMap<u32, View> {
    let mut views: FxHashMap<u32, View> = FxHashMap::default();
    for (_, inst) in instructions(words).filter(|(code, _)| *code == op::DECORATE) {
        if let &[_, id, BINDING, binding] = inst
            && binding & TAG != 0
        {
            views.insert(id, View { is_bytes: binding & BYTES != 0, ..View::default() });
        }
    }
    for (_, inst) in instructions(words).filter(|(code, _)| *code == op::DECORATE) {
        if let &[_, id, COHERENT] = inst
            && let Some(view) = views.get_mut(&id)
        {
            view.is_volatile = true;
        }
    }
    views
}

impl Rewriter {
    fn push(&mut self, code: u32, operands: &[u32]) {
        self.out.push((operands.len() as u32 + 1) << 16 | code);
        self.out.extend_from_slice(operands);
    }

    fn new_id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn has_bytes(&self) -> bool {
        self.views.values().any(|view| view.is_bytes)
    }

    /// Declares the required capabilities that are not in `declared`. Some drivers reject duplicates.
    fn capabilities(&mut self, declared: &FxHashSet<u32>) {
        let bytes = if self.has_bytes() { &[INT8, STORAGE_BUFFER_8_BIT_ACCESS][..] } else { &[] };
        for capability in [ADDRESSES].iter().chain(bytes).filter(|capability| !declared.contains(capability)) {
            self.push(op::CAPABILITY, &[*capability]);
        }
    }

    fn instruction(&mut self, code: u32, inst: &[u32]) -> Option<()> {
        match (code, inst) {
            (op::MEMORY_MODEL, &[_, _, model]) => {
                self.push(op::MEMORY_MODEL, &[PHYSICAL_64, model]);
                return Some(());
            }
            (op::NAME | op::DECORATE, [_, id, ..]) if self.views.contains_key(id) => return Some(()),
            (op::VARIABLE, &[_, ty, id, ..]) if self.views.contains_key(&id) => return self.variable(ty, id),
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, ty, id, base, indices @ ..]) => {
                // The first index selects the array in the structure of the variable.
                match (self.views.get(base), self.arrays.get(base), indices) {
                    (Some(&view), _, [_]) => {
                        self.arrays.insert(*id, view);
                        return Some(());
                    }
                    (Some(&view), _, [_, indices @ ..]) | (None, Some(&view), indices) => return self.chain(*ty, *id, view, indices),
                    _ => {}
                }
            }
            (op::LOAD, &[_, ty, id, pointer]) => {
                if let Some(&place) = self.places.get(&pointer) {
                    self.load(ty, id, pointer, place);
                    return Some(());
                }
            }
            (op::STORE, &[_, pointer, value]) => {
                if let Some(&place) = self.places.get(&pointer) {
                    self.store(pointer, value, place);
                    return Some(());
                }
            }
            _ => self.record_type(code, inst),
        }
        self.out.extend_from_slice(inst);
        Some(())
    }

    /// Records the size of a type's values, and the type of its elements.
    fn record_type(&mut self, code: u32, inst: &[u32]) {
        match (code, inst) {
            (op::TYPE_INT | op::TYPE_FLOAT, &[_, id, bits, ..]) => {
                self.sizes.insert(id, bits / 8);
                if (code, inst.get(2..)) == (op::TYPE_INT, Some(&[8, 0][..])) {
                    self.byte = Some(id);
                }
            }
            (op::TYPE_VECTOR, &[_, id, scalar, lanes]) => {
                let size = self.sizes.get(&scalar).copied().unwrap_or(4) * lanes;
                self.sizes.insert(id, size);
            }
            (op::TYPE_RUNTIME_ARRAY | op::TYPE_STRUCT, &[_, id, inner]) => {
                self.inner.insert(id, inner);
            }
            (op::TYPE_POINTER, &[_, id, STORAGE_BUFFER, pointee]) => {
                self.inner.insert(id, pointee);
            }
            _ => {}
        }
    }

    /// Removes a variable. For a view of bytes, declares the type of pointers to bytes instead. For other views,
    /// declares pointer types for all known scalars and vectors, among them the elements and their lanes.
    fn variable(&mut self, ty: u32, id: u32) -> Option<()> {
        let mut element = ty;
        while let Some(&inner) = self.inner.get(&element) {
            element = inner;
        }
        let view = self.views.get_mut(&id)?;
        view.element = element;
        if view.is_bytes && self.byte.is_none() {
            let byte = self.new_id();
            self.push(op::TYPE_INT, &[byte, 8, 0]);
            self.byte = Some(byte);
        }
        let pointees: Vec<u32> = if self.views.get(&id)?.is_bytes { vec![self.byte?] } else { self.sizes.keys().copied().collect() };
        for pointee in pointees {
            if !self.pointers.contains_key(&pointee) {
                let pointer = self.new_id();
                self.push(op::TYPE_POINTER, &[pointer, PHYSICAL_STORAGE_BUFFER, pointee]);
                self.pointers.insert(pointee, pointer);
            }
        }
        Some(())
    }

    fn chain(&mut self, ty: u32, id: u32, view: View, indices: &[u32]) -> Option<()> {
        let [address, parts @ ..] = indices else { return None };
        let element = if view.is_bytes { self.byte? } else { view.element };
        let pointer = *self.pointers.get(&element)?;
        let volatile = if view.is_volatile { VOLATILE } else { 0 };
        let place = |size: u32| PhysicalPointer { is_bytes: view.is_bytes, operands: [volatile | ALIGNED, size] };
        if parts.is_empty() {
            self.push(op::CONVERT_U_TO_PTR, &[pointer, id, *address]);
            let size = if view.is_bytes { 1 } else { *self.sizes.get(&element)? };
            self.places.insert(id, place(size));
            return Some(());
        }
        let part = *self.inner.get(&ty)?;
        let whole = self.new_id();
        self.push(op::CONVERT_U_TO_PTR, &[pointer, whole, *address]);
        let mut operands = vec![*self.pointers.get(&part)?, id, whole];
        operands.extend_from_slice(parts);
        self.push(op::ACCESS_CHAIN, &operands);
        self.places.insert(id, place(*self.sizes.get(&part)?));
        Some(())
    }

    fn load(&mut self, ty: u32, id: u32, pointer: u32, PhysicalPointer { is_bytes, operands: [mask, align] }: PhysicalPointer) {
        match self.byte.filter(|_| is_bytes) {
            Some(byte) => {
                let loaded = self.new_id();
                self.push(op::LOAD, &[byte, loaded, pointer, mask, align]);
                self.push(op::U_CONVERT, &[ty, id, loaded]);
            }
            None => self.push(op::LOAD, &[ty, id, pointer, mask, align]),
        }
    }

    fn store(&mut self, pointer: u32, mut value: u32, PhysicalPointer { is_bytes, operands: [mask, align] }: PhysicalPointer) {
        if let Some(byte) = self.byte.filter(|_| is_bytes) {
            let whole = std::mem::replace(&mut value, self.next);
            self.next += 1;
            self.push(op::U_CONVERT, &[byte, value, whole]);
        }
        self.push(op::STORE, &[pointer, value, mask, align]);
    }
}
