//! Types of OpenCL C (6.3). They are interned: equal types have equal ids.

#![allow(missing_docs, reason = "the names are the terms of the language")]

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::ast::{Access, ImageKind, Name, ScalarKind};
use crate::ir::Space;

/// A type without qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ty(u32);

/// A struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u32);

/// A type with the qualifiers of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QualTy {
    pub ty: Ty,
    pub is_const: bool,
    pub is_volatile: bool,
    /// The alignment of the object in bytes, if a typedef reduces it below the natural alignment.
    pub align: Option<u32>,
}

impl QualTy {
    /// Creates an unqualified type.
    pub const fn plain(ty: Ty) -> Self {
        Self { ty, is_const: false, is_volatile: false, align: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TyKind {
    /// The type of an expression with a reported error. It is compatible with every type.
    Error,
    Void,
    Scalar(ScalarKind),
    /// A signed 128-bit integer, for constants of more than 64 bits. It does not occur in a checked program.
    Wide,
    /// 2, 3, 4, 8 or 16 lanes.
    Vector(ScalarKind, u8),
    Pointer {
        pointee: QualTy,
        space: Space,
        is_restrict: bool,
    },
    /// `len` is the number of elements, or `None` for an incomplete type.
    Array {
        element: QualTy,
        len: Option<u64>,
    },
    Record(RecordId),
    /// An enumeration that is declared but not defined.
    Forward {
        name: Name,
        id: u32,
    },
    /// An enumeration. It behaves as its integer type `repr`. The name is for diagnostics.
    Enum {
        name: Option<Name>,
        id: u32,
        repr: ScalarKind,
    },
    Function {
        ret: Ty,
        params: Vec<Ty>,
        variadic: bool,
    },
    /// The type of block variables. It does not occur in a checked program.
    Block {
        ret: Ty,
        params: Vec<Ty>,
    },
    Image(ImageKind, Access),
    /// A pipe with packets of this type.
    Pipe(Ty, Access),
    Sampler,
    Event,
    Queue,
    ClkEvent,
    ReserveId,
    /// `atomic_int` and similar types: an object that only atomic functions access.
    Atomic(ScalarKind),
    /// The type `atomic_flag`.
    AtomicFlag,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `None` for an anonymous struct or union, whose members belong to the enclosing record.
    pub name: Option<Name>,
    pub ty: QualTy,
    /// Offset in bytes.
    pub offset: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub name: Option<Name>,
    pub is_union: bool,
    pub fields: Vec<Field>,
    pub size: u32,
    pub align: u32,
    /// The first typedef of the record. Diagnostics use it if the record has no tag.
    pub alias: Option<Name>,
    pub complete: bool,
}

#[derive(Debug)]
pub struct Types {
    kinds: Vec<TyKind>,
    ids: FxHashMap<TyKind, Ty>,
    records: Vec<Record>,
    pointer_size: u32,
}

impl Default for Types {
    fn default() -> Self {
        Self::new(8)
    }
}

impl Types {
    /// Creates a table without types. `pointer_size` is 4 or 8 bytes.
    pub fn new(pointer_size: u32) -> Self {
        Self { kinds: Vec::new(), ids: FxHashMap::default(), records: Vec::new(), pointer_size }
    }

    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.ids.get(&kind) {
            return ty;
        }
        let ty = Ty(crate::ir::number(self.kinds.len()));
        self.kinds.push(kind.clone());
        self.ids.insert(kind, ty);
        ty
    }

    /// Returns the type with this id.
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty.0 as usize]
    }

    /// Replaces an incomplete type by its definition. This also completes the types that contain it.
    pub fn complete(&mut self, ty: Ty, kind: TyKind) {
        if let Some(slot) = self.kinds.get_mut(ty.0 as usize) {
            self.ids.remove(slot);
            self.ids.insert(kind.clone(), ty);
            *slot = kind;
        }
    }

    /// Adds a record.
    pub fn add_record(&mut self, record: Record) -> RecordId {
        let id = RecordId(crate::ir::number(self.records.len()));
        self.records.push(record);
        id
    }

    /// Returns the record with this id.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// Returns the record with this id, to complete it.
    pub fn record_mut(&mut self, id: RecordId) -> &mut Record {
        &mut self.records[id.0 as usize]
    }

    /// Returns the size of a pointer in bytes.
    pub const fn pointer_size(&self) -> u32 {
        self.pointer_size
    }

    /// Returns size and alignment in bytes. Vectors are aligned to their size, and three lanes count as four (OpenCL C
    /// 6.3.5). Returns `None` for `void`, functions, blocks and incomplete types.
    pub fn layout(&self, ty: Ty) -> Option<(u64, u32)> {
        Some(match self.kind(ty) {
            TyKind::Error => (4, 4),
            TyKind::Void | TyKind::Function { .. } | TyKind::Block { .. } | TyKind::Forward { .. } => return None,
            TyKind::Scalar(s) | TyKind::Enum { repr: s, .. } | TyKind::Atomic(s) => (u64::from(scalar_size(*s)), scalar_size(*s)),
            TyKind::Vector(s, n) => {
                let size = scalar_size(*s) * u32::from(if *n == 3 { 4 } else { *n });
                (u64::from(size), size)
            }
            TyKind::AtomicFlag | TyKind::ReserveId => (4, 4),
            TyKind::Wide => (16, 16),
            TyKind::Array { element, len } => {
                let (size, align) = self.layout(element.ty)?;
                (size.checked_mul((*len)?)?, align)
            }
            TyKind::Record(id) => {
                let record = self.record(*id);
                if !record.complete {
                    return None;
                }
                (u64::from(record.size), record.align)
            }
            TyKind::Pointer { .. }
            | TyKind::Image(..)
            | TyKind::Pipe(..)
            | TyKind::Sampler
            | TyKind::Event
            | TyKind::Queue
            | TyKind::ClkEvent => (u64::from(self.pointer_size), self.pointer_size),
        })
    }

    /// Returns the spelling of a type for messages and reflection: `float4`, `__global int *`, `struct S`.
    pub fn display(&self, ty: Ty) -> String {
        match self.kind(ty) {
            TyKind::Error => "<error>".to_owned(),
            TyKind::Void => "void".to_owned(),
            TyKind::Scalar(s) => scalar_name(*s).to_owned(),
            TyKind::Vector(s, n) => format!("{}{n}", scalar_name(*s)),
            TyKind::Pointer { pointee, space, .. } => {
                let space = match space {
                    Space::Private => "__private ",
                    Space::Local => "__local ",
                    Space::Global => "__global ",
                    Space::Constant => "__constant ",
                    Space::Generic => "__generic ",
                };
                // The address space of the inner pointer itself follows the inner pointer: `__global int *__private *`.
                if let TyKind::Pointer { .. } = self.kind(pointee.ty) {
                    let quals = match (pointee.is_const, pointee.is_volatile) {
                        (false, false) => "",
                        (true, false) => " const",
                        (false, true) => " volatile",
                        (true, true) => " const volatile",
                    };
                    let (inner, space) = (self.display(pointee.ty), space.trim_end());
                    return format!("{inner}{space}{quals} *");
                }
                format!("{space}{} *", self.display_qual(*pointee))
            }
            TyKind::Array { element, len } => {
                let mut text = self.display_qual(*element);
                match len {
                    Some(len) => {
                        let _ = write!(text, "[{len}]");
                    }
                    None => text.push_str("[]"),
                }
                text
            }
            TyKind::Record(id) => {
                let record = self.record(*id);
                if let (None, Some(alias)) = (&record.name, &record.alias) {
                    return alias.to_string();
                }
                let kind = if record.is_union { "union" } else { "struct" };
                format!("{kind} {}", record.name.as_deref().unwrap_or("(anonymous)"))
            }
            TyKind::Forward { name, .. } => format!("enum {name}"),
            TyKind::Enum { name, .. } => format!("enum {}", name.as_deref().unwrap_or("(anonymous)")),
            TyKind::Function { ret, params, .. } => {
                let params: Vec<_> = params.iter().map(|p| self.display(*p)).collect();
                format!("{} ({})", self.display(*ret), params.join(", "))
            }
            TyKind::Block { ret, params } => {
                let params: Vec<_> = params.iter().map(|p| self.display(*p)).collect();
                let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
                format!("{} (^)({params})", self.display(*ret))
            }
            TyKind::Image(kind, access) => format!("{} {}", access_name(*access), image_name(*kind)),
            TyKind::Pipe(packet, access) => format!("{} pipe {}", access_name(*access), self.display(*packet)),
            TyKind::Sampler => "sampler_t".to_owned(),
            TyKind::Event => "event_t".to_owned(),
            TyKind::Queue => "queue_t".to_owned(),
            TyKind::ClkEvent => "clk_event_t".to_owned(),
            TyKind::ReserveId => "reserve_id_t".to_owned(),
            TyKind::Atomic(s) => format!("atomic_{}", scalar_name(*s)),
            TyKind::AtomicFlag => "atomic_flag".to_owned(),
            TyKind::Wide => "long long".to_owned(),
        }
    }

    /// Returns the spelling with `const` and `volatile`.
    pub fn display_qual(&self, ty: QualTy) -> String {
        let text = self.display(ty.ty);
        match (ty.is_const, ty.is_volatile) {
            (false, false) => text,
            (true, false) => format!("const {text}"),
            (false, true) => format!("volatile {text}"),
            (true, true) => format!("const volatile {text}"),
        }
    }
}

/// Returns the size of a scalar in bytes.
pub(crate) const fn scalar_size(scalar: ScalarKind) -> u32 {
    match scalar {
        ScalarKind::Bool | ScalarKind::Char | ScalarKind::UChar => 1,
        ScalarKind::Short | ScalarKind::UShort | ScalarKind::Half => 2,
        ScalarKind::Int | ScalarKind::UInt | ScalarKind::Float => 4,
        ScalarKind::Long | ScalarKind::ULong | ScalarKind::Double => 8,
    }
}

/// Returns the short name of a scalar in OpenCL C, such as `uint`.
pub(crate) const fn scalar_name(scalar: ScalarKind) -> &'static str {
    scalar.name()
}

/// Returns the spelling of an access qualifier.
const fn access_name(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "__read_only",
        Access::WriteOnly => "__write_only",
        Access::ReadWrite => "__read_write",
    }
}

/// Returns the name of an image type.
pub(crate) const fn image_name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Image1d => "image1d_t",
        ImageKind::Image1dArray => "image1d_array_t",
        ImageKind::Image1dBuffer => "image1d_buffer_t",
        ImageKind::Image2d => "image2d_t",
        ImageKind::Image2dArray => "image2d_array_t",
        ImageKind::Image2dDepth => "image2d_depth_t",
        ImageKind::Image2dArrayDepth => "image2d_array_depth_t",
        ImageKind::Image3d => "image3d_t",
        ImageKind::Image2dMsaa => "image2d_msaa_t",
        ImageKind::Image2dArrayMsaa => "image2d_array_msaa_t",
        ImageKind::Image2dMsaaDepth => "image2d_msaa_depth_t",
        ImageKind::Image2dArrayMsaaDepth => "image2d_array_msaa_depth_t",
    }
}
