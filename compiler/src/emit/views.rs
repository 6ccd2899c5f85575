//! Objects and their views. A view is a naga array for the memory of an object. The views are derived from the accesses
//! to the object, which [`super::plan`] collects.
//!
//! * On Vulkan, a storage buffer has several views: aliased arrays at one binding. An access with sufficient alignment
//!   uses an array whose elements have the width and lanes of the access. Accesses to 8-bit integers use single bytes
//!   if the device supports them. Exceptions are loads that are aligned to words, and stores of whole words. All other
//!   accesses use words.
//! * If aliasing is not allowed (OpenGL ES, Metal, DX12, WebGPU), and in work-group and private memory, an object has
//!   one view. If all accesses consist of the same element, the view is an array of this element, otherwise an array of
//!   words. In work-group and private memory, an 8- or 16-bit integer occupies one word if all accesses have the same
//!   size. Then stores need not preserve other elements, and programs cannot observe the layout. In private memory,
//!   such an integer occupies only 16 bits if the device has 16-bit integers. Work-group memory is not widened if the
//!   widened memory would exceed the limit.
//! * Uniform buffers are arrays of `vec4<u32>`, as their layout rules require.

use super::EmitError;
use crate::ir::{AtomicOp, Type};
use crate::target::Target;
use naga::{Scalar, ScalarKind};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Load,
    Store,
    /// Integer atomics that do not depend on signedness.
    Atomic,
    /// Signed minimum and maximum.
    SignedAtomic,
    /// Unsigned minimum and maximum.
    UnsignedAtomic,
    /// Atomic operations on floats.
    FloatAtomic,
}

impl Kind {
    pub(super) const fn of(op: AtomicOp) -> Self {
        match op {
            AtomicOp::SMin | AtomicOp::SMax => Self::SignedAtomic,
            AtomicOp::UMin | AtomicOp::UMax => Self::UnsignedAtomic,
            AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => Self::FloatAtomic,
            _ => Self::Atomic,
        }
    }

    const fn is_atomic(self) -> bool {
        !matches!(self, Self::Load | Self::Store)
    }
}

/// The properties of an access, except for its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AccessShape {
    /// Size of one lane in bytes.
    pub(super) size: u8,
    pub(super) lanes: u8,
    /// Alignment in bytes, at most 32.
    pub(super) align: u8,
    pub(super) kind: Kind,
    pub(super) volatile: bool,
}

impl AccessShape {
    pub(super) fn new(ty: Type, align: u32, kind: Kind, volatile: bool, pointer_size: u32) -> Self {
        let size = ty.scalar().map_or(pointer_size, crate::ir::Scalar::size);
        Self { size: size as u8, lanes: ty.lanes(), align: align.clamp(1, 32) as u8, kind, volatile }
    }

    /// Size of the whole access in bytes.
    pub(super) fn bytes(self) -> u32 {
        u32::from(self.size) * u32::from(self.lanes)
    }

    /// Lanes of the widest elements of which the access consists. `None` if a lane is not aligned to its size.
    fn natural_lanes(self) -> Option<u8> {
        let (size, align) = (self.size, self.align);
        if align < size {
            return None;
        }
        // An element has at most four lanes. Three lanes occupy the memory of four.
        let full = |lanes: u8| u32::from(align) >= u32::from(size) * u32::from(lanes);
        Some(match self.lanes {
            1 => 1,
            2 if full(2) => 2,
            2 => 1,
            3 if full(4) => 4,
            3 => 1,
            _ if full(4) => 4,
            _ if full(2) => 2,
            _ => 1,
        })
    }

    /// Size in bytes of the pieces, at most a word, of an access through words.
    pub(super) fn piece(self) -> u8 {
        self.align.min(4)
    }

    /// Whether a store through words leaves bytes of a word unchanged.
    pub(super) fn is_partial(self) -> bool {
        self.piece() < 4 || !self.bytes().is_multiple_of(4)
    }
}

/// The element type of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewKey {
    /// The scalar of the array's elements.
    pub(super) slot: Scalar,
    /// Number of bytes in memory per scalar of the array. It is smaller than the scalar if the scalar is widened.
    pub(super) width: u8,
    /// Number of lanes of an element: 1, 2 or 4.
    pub(super) lanes: u8,
    pub(super) atomic: bool,
}

impl ViewKey {
    pub(super) const WORDS: Self = Self { slot: Scalar::U32, width: 4, lanes: 1, atomic: false };
    pub(super) const ATOMIC_WORDS: Self = Self { atomic: true, ..Self::WORDS };

    /// The bytes of a storage buffer. They are words before post-processing (see [`super::bytes`]).
    pub(super) const BYTES: Self = Self { width: 1, ..Self::WORDS };

    /// Distance between elements in memory in bytes.
    pub(super) const fn stride(self) -> u32 {
        self.width as u32 * self.lanes as u32
    }

    /// Size of an element of the shader's array in bytes.
    pub(super) const fn stored(self) -> u32 {
        self.slot.width as u32 * self.lanes as u32
    }
}

/// How the views of an object are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// One view per shape.
    Many,
    /// A single view.
    One(ViewKey),
    /// One read-only view with `vec4<u32>` elements.
    Uniform,
}

/// The storage of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    Uniform {
        binding: u32,
        vectors: u32,
    },
    Storage {
        binding: u32,
    },
    /// Memory whose address is at this byte offset of the argument buffer. If `place` is `None`, the root of each
    /// access is an address.
    Address {
        place: Option<u32>,
    },
    Workgroup,
    /// A variable of the function with this index.
    Function(u32),
    /// A private variable that several functions access.
    Private,
    /// Part of the scratch buffer.
    Scratch {
        binding: u32,
    },
}

impl Backing {
    /// Whether each work-item has its own memory.
    pub(super) const fn is_private(self) -> bool {
        matches!(self, Self::Function(_) | Self::Private | Self::Scratch { .. })
    }
}

/// The variable of a view.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variable {
    Global(naga::Handle<naga::GlobalVariable>),
    /// A variable of a function. It is created with the function.
    Function(naga::Handle<naga::Type>),
}

/// A naga array over the memory of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) key: ViewKey,
    pub(super) variable: Variable,
}

/// Memory that contains one or more roots.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) backing: Backing,
    /// Size in bytes. 0 if only the host knows it.
    pub(super) size: u32,
    /// The memory may be larger than the application requested.
    pub(super) has_slack: bool,
    pub(super) shapes: Vec<AccessShape>,
    pub(super) rule: Rule,
    pub(super) views: Vec<View>,
    /// No other object shares the memory, because of `restrict` or the launch key.
    pub(super) unaliased: bool,
}

impl Object {
    /// Returns the view for an access that consists of whole elements. Returns `None` if the access must use words.
    pub(super) fn natural(&self, shape: AccessShape, target: &Target) -> Option<ViewKey> {
        match self.rule {
            Rule::Uniform => None,
            Rule::One(key) => {
                let lanes = natural_lanes_in(shape, key)?;
                (shape.size == key.width && (key.lanes == 1 || key.lanes == lanes)).then_some(key)
            }
            Rule::Many => {
                let lanes = shape.natural_lanes()?;
                let slot = match shape.size {
                    8 => Scalar::U64,
                    4 => Scalar::U32,
                    2 if target.shaders.int16 => naga_u16(),
                    // Accesses to whole words do not use bytes, because accesses to words are faster.
                    1 if target.shaders.int8_storage && (shape.align < 4 || (shape.kind == Kind::Store && shape.is_partial())) => {
                        return Some(ViewKey::BYTES);
                    }
                    _ => return None,
                };
                if shape.volatile && shape.lanes == 1 && shape.size == 4 && self.has_word_atomics() {
                    return Some(ViewKey::ATOMIC_WORDS);
                }
                Some(ViewKey { slot, lanes, width: shape.size, ..ViewKey::WORDS })
            }
        }
    }

    /// Whether the object may be declared read-only. Drivers read such buffers through other caches. On an H100, loads
    /// of more than 16 bytes are slower through these caches, so an object with such loads is not declared read-only.
    pub(super) fn is_only_read(&self) -> bool {
        let is_read = |shape: &AccessShape| shape.kind == Kind::Load && shape.size * shape.lanes <= 16;
        self.unaliased && self.shapes.iter().all(is_read)
    }

    fn has_word_atomics(&self) -> bool {
        self.shapes.iter().any(|shape| shape.kind.is_atomic() && shape.size <= 4)
    }

    /// Returns the view for an atomic operation. `None` if the object has none.
    pub(super) fn atomic(&self, shape: AccessShape) -> Option<ViewKey> {
        match self.rule {
            Rule::Uniform => None,
            // An atomic operation on a half accesses the word that contains the half.
            Rule::One(key) => (key.atomic && key.width == shape.size.max(4)).then_some(key),
            Rule::Many if shape.size < 4 => Some(ViewKey::ATOMIC_WORDS),
            Rule::Many => {
                let kind = match shape.kind {
                    Kind::SignedAtomic => ScalarKind::Sint,
                    Kind::FloatAtomic => ScalarKind::Float,
                    _ => ScalarKind::Uint,
                };
                Some(ViewKey { slot: Scalar { kind, width: shape.size }, width: shape.size, atomic: true, ..ViewKey::WORDS })
            }
        }
    }

    /// The view for accesses to words.
    pub(super) fn words(&self) -> ViewKey {
        match self.rule {
            Rule::One(key) => key,
            _ => ViewKey::WORDS,
        }
    }

    /// The view for stores to parts of words that other work-items may write concurrently. `None` if no other work-item
    /// can access the memory.
    pub(super) fn partial_words(&self) -> Option<ViewKey> {
        match (self.backing, self.rule) {
            (Backing::Storage { .. } | Backing::Workgroup, Rule::One(key)) => Some(key),
            (Backing::Storage { .. } | Backing::Address { .. }, Rule::Many) => Some(ViewKey::ATOMIC_WORDS),
            _ => None,
        }
    }

    /// Returns the view with this key. `None` if the object has none.
    pub(super) fn view(&self, key: ViewKey) -> Option<View> {
        self.views.iter().copied().find(|view| view.key == key)
    }

    /// The views that the accesses need.
    pub(super) fn keys(&self, target: &Target) -> Vec<ViewKey> {
        let mut keys = Vec::new();
        let mut want = |key: Option<ViewKey>| {
            if let Some(key) = key
                && !keys.contains(&key)
            {
                keys.push(key);
            }
        };
        for &shape in &self.shapes {
            if shape.kind.is_atomic() {
                want(self.atomic(shape));
            } else if let Some(key) = self.natural(shape, target) {
                want(Some(key));
            } else if shape.kind != Kind::Store {
                want(Some(self.words()));
            } else {
                if shape.bytes() >= 4 && shape.piece() == 4 {
                    want(Some(self.words()));
                }
                if shape.is_partial() {
                    want(Some(self.partial_words().unwrap_or_else(|| self.words())));
                }
            }
        }
        keys
    }

    /// Number of elements of an array of this view that contains the whole object.
    pub(super) fn elements(&self, key: ViewKey) -> u32 {
        self.size.div_ceil(key.stride()).max(1)
    }
}

pub(super) const fn naga_u16() -> Scalar {
    Scalar { kind: ScalarKind::Uint, width: 2 }
}

/// Like [`AccessShape::natural_lanes`], but 1 for a view whose elements are scalars.
fn natural_lanes_in(shape: AccessShape, key: ViewKey) -> Option<u8> {
    let lanes = shape.natural_lanes()?;
    Some(if key.lanes == 1 { 1 } else { lanes })
}

/// Selects the view of an object that has only one. `widen`: whether 8- and 16-bit integers may occupy a word.
pub(super) fn single_view(object: &Object, target: &Target, widen: bool) -> Result<ViewKey, EmitError> {
    let shapes = &object.shapes;
    let private = object.backing.is_private();
    let size = shapes.first().map_or(4, |shape| shape.size);
    let uniform = shapes.iter().all(|shape| shape.size == size && shape.natural_lanes().is_some());
    let atomic = !private && shapes.iter().any(|shape| shape.kind.is_atomic());
    let uniform = uniform && !(atomic && size < 4);
    let signed = shapes.iter().any(|shape| shape.kind == Kind::SignedAtomic);
    // If there are minima and maxima of both signs, the signed ones use compare-and-exchange.
    let unsigned = shapes.iter().any(|shape| shape.kind == Kind::UnsignedAtomic);
    let kind = if atomic && signed && !unsigned { ScalarKind::Sint } else { ScalarKind::Uint };
    if atomic && shapes.iter().any(|shape| shape.kind.is_atomic() && shape.size == 8) {
        if !uniform {
            return Err(EmitError::unsupported("a 64-bit atomic operation on memory that is also accessed with other element sizes"));
        }
        return Ok(ViewKey { slot: Scalar { kind, width: 8 }, width: 8, lanes: 1, atomic });
    }
    let slot = match size {
        8 => Some(Scalar { kind, width: 8 }),
        4 => Some(Scalar { kind, width: 4 }),
        // Caches hold little private memory. A private array of half words needs half the memory of an array of words.
        1 | 2 if matches!(object.backing, Backing::Function(_) | Backing::Private) && target.shaders.int16 => Some(naga_u16()),
        1 | 2 if widen => Some(Scalar::U32),
        2 if matches!(object.backing, Backing::Storage { .. }) && target.shaders.int16 => Some(naga_u16()),
        _ => None,
    };
    if let (true, Some(slot)) = (uniform, slot) {
        let lanes = shapes.first().and_then(|shape| shape.natural_lanes()).unwrap_or(1);
        let agree = !atomic && shapes.iter().all(|shape| shape.natural_lanes() == Some(lanes));
        let lanes = if agree { lanes } else { 1 };
        return Ok(ViewKey { slot, width: size, lanes, atomic });
    }
    let partial = !private && shapes.iter().any(|shape| shape.kind == Kind::Store && shape.is_partial());
    Ok(ViewKey { slot: Scalar { kind, width: 4 }, width: 4, lanes: 1, atomic: atomic || partial })
}
