//! Types as translation units compare them: by structure, because every unit has type tables of its own (C99 6.2.7).

use crate::ast::ScalarKind;
use crate::ir::Space;
use crate::thir::{Function, QualTy, RecordId, Ty, TyKind, Types};

/// The type of a function or variable with external linkage.
///
/// Qualifiers and the names of tags and members are left out: they do not change how anything is passed or stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    ty: CanonicalType,
    /// As a message spells it.
    pub(super) text: String,
}

/// A type without what two units may say differently of the same thing: qualifiers, and the names of tags and members.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CanonicalType {
    Scalar(ScalarKind),
    Vector(ScalarKind, u8),
    Pointer(Space, Box<Self>),
    Array(Option<u64>, Box<Self>),
    Record {
        is_union: bool,
        size: u32,
        fields: Vec<(u32, Self)>,
    },
    /// A record without members, or one that encloses this place: fits every record.
    AnyRecord,
    Function {
        ret: Box<Self>,
        params: Vec<Self>,
    },
    /// What has nothing inside: `void`, `event_t`, images.
    Other(TyKind),
}

impl Signature {
    /// The type of a function.
    pub(super) fn of_function(types: &Types, function: &Function) -> Self {
        let params: Vec<Ty> = function.params.iter().filter_map(|id| function.locals.get(id.index())).map(|local| local.ty.ty).collect();
        let canonical = CanonicalType::Function {
            ret: Box::new(CanonicalType::of(types, function.ret, &mut Vec::new())),
            params: params.iter().map(|ty| CanonicalType::of(types, *ty, &mut Vec::new())).collect(),
        };
        let names: Vec<String> = params.iter().map(|ty| types.display(*ty)).collect();
        Self { ty: canonical, text: format!("{} ({})", types.display(function.ret), names.join(", ")) }
    }

    /// The type of a variable.
    pub(super) fn of_variable(types: &Types, ty: QualTy, space: Space) -> Self {
        let canonical = CanonicalType::Pointer(space, Box::new(CanonicalType::of(types, ty.ty, &mut Vec::new())));
        Self { ty: canonical, text: format!("__{space} {}", types.display_qual(ty)) }
    }

    /// Whether two declarations are of the same thing.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.ty.fits(&other.ty)
    }

    /// Whether two functions have the same parameters: what tells overloads apart.
    pub(super) fn same_parameters(&self, other: &Self) -> bool {
        match (&self.ty, &other.ty) {
            (CanonicalType::Function { params: a, .. }, CanonicalType::Function { params: b, .. }) => all_fit(a, b),
            _ => false,
        }
    }
}

impl CanonicalType {
    /// `path` holds the records around the type.
    fn of(types: &Types, ty: Ty, path: &mut Vec<RecordId>) -> Self {
        match types.kind(ty) {
            TyKind::Scalar(kind) | TyKind::Enum { repr: kind, .. } => Self::Scalar(*kind),
            TyKind::Vector(kind, lanes) => Self::Vector(*kind, *lanes),
            TyKind::Pointer { pointee, space, .. } => Self::Pointer(*space, Box::new(Self::of(types, pointee.ty, path))),
            TyKind::Array { element, len } => Self::Array(*len, Box::new(Self::of(types, element.ty, path))),
            TyKind::Record(id) => {
                let record = types.record(*id);
                if !record.complete || path.contains(id) {
                    return Self::AnyRecord;
                }
                path.push(*id);
                let fields = record.fields.iter().map(|field| (field.offset, Self::of(types, field.ty.ty, path))).collect();
                path.pop();
                Self::Record { is_union: record.is_union, size: record.size, fields }
            }
            other => Self::Other(other.clone()),
        }
    }

    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::AnyRecord, Self::AnyRecord | Self::Record { .. }) | (Self::Record { .. }, Self::AnyRecord) => true,
            (Self::Pointer(s, a), Self::Pointer(t, b)) => s == t && a.fits(b),
            (Self::Array(m, a), Self::Array(n, b)) => (m.is_none() || n.is_none() || m == n) && a.fits(b),
            (Self::Record { is_union: u, size: m, fields: a }, Self::Record { is_union: v, size: n, fields: b }) => {
                u == v && m == n && a.len() == b.len() && a.iter().zip(b).all(|((i, a), (j, b))| i == j && a.fits(b))
            }
            (Self::Function { ret: r, params: a }, Self::Function { ret: s, params: b }) => r.fits(s) && all_fit(a, b),
            (a, b) => a == b,
        }
    }
}

fn all_fit(a: &[CanonicalType], b: &[CanonicalType]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.fits(b))
}
