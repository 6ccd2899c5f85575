//! Objects and their views: derives the naga arrays for an object from its accesses, which [`super::plan`] collects.
//!
//! * Storage buffers on Vulkan have one view per kind of access: aliased arrays at one binding. An access with
//!   sufficient alignment uses an array with its own width and lanes; all others use words. If aliasing is not
//!   allowed
//! * (Metal, DX12, WebGPU), and in work-group and private memory, an object has one view: an array of the element
//!   that
//! * all accesses have in common, otherwise words. Bytes and 16-bit integers in work-group and private memory take
//!   one word each if all accesses have the same size. Stores then need not preserve neighbours; the layout is not
//!   visible.
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
    /// Integer atomics without signedness.
    Atomic,
    /// Signed minimum and maximum.
    SignedAtomic,
    /// Unsigned minimum and maximum.
    UnsignedAtomic,
    /// Native addition of `f32`.
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

/// The form of an access, without its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AccessShape {
    /// Size of one lane in bytes.
    pub(super) size: u8,
    pub(super) lanes: u8,
    /// In bytes, at most 32.
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

    /// Lanes of the widest elements that this access consists of; `None` if a lane is not aligned to its size.
    fn natural_lanes(self) -> Option<u8> {
        let (size, align) = (self.size, self.align);
        if align < size {
            return None;
        }
        // An element has at most four lanes; three lanes take the memory of four.
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

    /// Size in bytes of the largest pieces, at most a word, of an access with words.
    pub(super) fn piece(self) -> u8 {
        self.align.min(4)
    }

    /// Whether a store with words leaves a part of a word unchanged.
    pub(super) fn is_partial(self) -> bool {
        self.piece() < 4 || !self.bytes().is_multiple_of(4)
    }
}

/// The element type of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewKey {
    /// The scalar of the array's elements.
    pub(super) slot: Scalar,
    /// Bytes of memory per scalar of the array: fewer than the scalar's size if bytes are widened.
    pub(super) width: u8,
    /// 1, 2 or 4.
    pub(super) lanes: u8,
    pub(super) atomic: bool,
}

impl ViewKey {
    pub(super) const WORDS: Self = Self { slot: Scalar::U32, width: 4, lanes: 1, atomic: false };
    pub(super) const ATOMIC_WORDS: Self = Self { atomic: true, ..Self::WORDS };

    /// Bytes of a storage buffer: words until post-processing (see [`super::bytes`]).
    pub(super) const BYTES: Self = Self { width: 1, ..Self::WORDS };

    /// Distance between elements in memory, in bytes.
    pub(super) const fn stride(self) -> u32 {
        self.width as u32 * self.lanes as u32
    }

    /// Size of an element in the shader, in bytes.
    pub(super) const fn stored(self) -> u32 {
        self.slot.width as u32 * self.lanes as u32
    }
}

/// How the views of an object are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// One per shape.
    Many,
    /// A single view.
    One(ViewKey),
    /// `vec4<u32>` elements, read-only.
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
    /// Memory whose address is at this byte of the argument buffer, or for which each access has an address.
    Address {
        place: Option<u32>,
    },
    Workgroup,
    /// An array of the function with this index.
    Function(u32),
    /// A share of the scratch buffer.
    Scratch {
        binding: u32,
    },
}

/// The variable of a view.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variable {
    Global(naga::Handle<naga::GlobalVariable>),
    /// A variable of the function, created with the function.
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
    /// Size in bytes; 0 if only the host knows it.
    pub(super) size: u32,
    /// The memory may be larger, because the application chose the size.
    pub(super) has_slack: bool,
    pub(super) shapes: Vec<AccessShape>,
    pub(super) rule: Rule,
    pub(super) views: Vec<View>,
    /// No other object shares the memory: `restrict`, or the launch key says so.
    pub(super) unaliased: bool,
}

impl Object {
    /// The view for a shape that consists of its whole elements; otherwise `None`, and words are used.
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
                    // Whole words are better.
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

    /// Whether it may be declared read-only: drivers read such buffers through other caches. On an H100 this is
    /// slower for loads of more than 16 bytes.
    pub(super) fn is_only_read(&self) -> bool {
        let is_read = |shape: &AccessShape| shape.kind == Kind::Load && shape.size * shape.lanes <= 16;
        self.unaliased && self.shapes.iter().all(is_read)
    }

    fn has_word_atomics(&self) -> bool {
        self.shapes.iter().any(|shape| shape.kind.is_atomic() && shape.size <= 4)
    }

    /// The view for an atomic operation.
    pub(super) fn atomic(&self, shape: AccessShape) -> Option<ViewKey> {
        match self.rule {
            Rule::Uniform => None,
            // Halves are in words.
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

    /// The view for accesses to whole words.
    pub(super) fn words(&self) -> ViewKey {
        match self.rule {
            Rule::One(key) => key,
            _ => ViewKey::WORDS,
        }
    }

    /// The view for parts of words that other work-items may write at the same time; `None` if this is not possible.
    pub(super) fn partial_words(&self) -> Option<ViewKey> {
        match (self.backing, self.rule) {
            (Backing::Storage { .. } | Backing::Workgroup, Rule::One(key)) => Some(key),
            (Backing::Storage { .. } | Backing::Address { .. }, Rule::Many) => Some(ViewKey::ATOMIC_WORDS),
            _ => None,
        }
    }

    /// The view with this key.
    pub(super) fn view(&self, key: ViewKey) -> Option<View> {
        self.views.iter().copied().find(|view| view.key == key)
    }

    /// Every view that the shapes need.
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

    /// Number of elements of an array of this view that contains the object.
    pub(super) fn elements(&self, key: ViewKey) -> u32 {
        self.size.div_ceil(key.stride()).max(1)
    }
}

pub(super) const fn naga_u16() -> Scalar {
    Scalar { kind: ScalarKind::Uint, width: 2 }
}

/// Like [`AccessShape::natural_lanes`], for views where a byte or half word may be widened and is then always
/// aligned.
fn natural_lanes_in(shape: AccessShape, key: ViewKey) -> Option<u8> {
    let lanes = shape.natural_lanes()?;
    Some(if key.lanes == 1 { 1 } else { lanes })
}

/// The single view of an object that cannot have several.
pub(super) fn single_view(object: &Object, target: &Target, widen: bool) -> Result<ViewKey, EmitError> {
    let shapes = &object.shapes;
    let private = matches!(object.backing, Backing::Function(_) | Backing::Scratch { .. });
    let size = shapes.first().map_or(4, |shape| shape.size);
    let uniform = shapes.iter().all(|shape| shape.size == size && shape.natural_lanes().is_some());
    let atomic = !private && shapes.iter().any(|shape| shape.kind.is_atomic());
    let uniform = uniform && !(atomic && size < 4);
    let signed = shapes.iter().any(|shape| shape.kind == Kind::SignedAtomic);
    // With minima and maxima of both signs, those of the other sign use compare-and-exchange.
    let unsigned = shapes.iter().any(|shape| shape.kind == Kind::UnsignedAtomic);
    let kind = if atomic && signed && !unsigned { ScalarKind::Sint } else { ScalarKind::Uint };
    if atomic && shapes.iter().any(|shape| shape.kind.is_atomic() && shape.size == 8) {
        if !uniform {
            return Err(EmitError::unsupported("64-bit atomics on memory that is also accessed in other sizes"));
        }
        return Ok(ViewKey { slot: Scalar { kind, width: 8 }, width: 8, lanes: 1, atomic });
    }
    let slot = match size {
        8 => Some(Scalar { kind, width: 8 }),
        4 => Some(Scalar { kind, width: 4 }),
        // Caches hold little private memory; half words need half of it.
        1 | 2 if matches!(object.backing, Backing::Function(_)) && target.shaders.int16 => Some(naga_u16()),
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
