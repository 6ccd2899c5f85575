//! Compares types of different translation units by structure (C99 6.2.7), because every unit has a separate type
//! table.
//!
//! Example: `struct a { int x; }` and `struct b { int y; }` are equal.

use crate::ast::{Access, ScalarKind};
use crate::ir::{self, Space};
use crate::lower::scalar;
use crate::thir::{Function, QualTy, RecordId, Ty, TyKind, Types};

/// The type of a function or variable with external linkage.
///
/// It contains neither qualifiers nor the names of tags and members, because they have no effect on how values are
/// passed or stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    ty: CanonicalType,
    /// The spelling in messages.
    pub(super) text: String,
}

/// A type without properties that units may spell differently: qualifiers, and the names of tags and members.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CanonicalType {
    Scalar(ScalarKind),
    Vector(ScalarKind, u8),
    Pointer(Space, Box<Self>),
    Array(Option<u64>, Box<Self>),
    /// A pipe with packets of this type.
    Pipe(Access, Box<Self>),
    Record {
        is_union: bool,
        size: u32,
        fields: Vec<(u32, Self)>,
    },
    /// An incomplete record, or a reference to an enclosing record. It matches every record.
    AnyRecord,
    Function {
        ret: Box<Self>,
        params: Vec<Self>,
    },
    /// Types without components: `void`, `event_t`, images.
    Other(TyKind),
    /// A function of another language. Only its IR type is known.
    LoweredFunction {
        ret: Vec<ir::Type>,
        params: Vec<ir::Type>,
    },
    /// A variable of another language.
    LoweredVariable(Space),
}

impl Signature {
    /// Creates the signature of a function.
    pub(super) fn of_function(types: &Types, function: &Function) -> Self {
        let params: Vec<Ty> = function.params.iter().filter_map(|id| function.locals.get(id.index())).map(|local| local.ty.ty).collect();
        let canonical = CanonicalType::Function {
            ret: Box::new(CanonicalType::of(types, function.ret, &mut Vec::new())),
            params: params.iter().map(|ty| CanonicalType::of(types, *ty, &mut Vec::new())).collect(),
        };
        let names: Vec<String> = params.iter().map(|ty| types.display(*ty)).collect();
        Self { ty: canonical, text: format!("{} ({})", types.display(function.ret), names.join(", ")) }
    }

    /// Creates the signature of a variable.
    pub(super) fn of_variable(types: &Types, ty: QualTy, space: Space) -> Self {
        let canonical = CanonicalType::Pointer(space, Box::new(CanonicalType::of(types, ty.ty, &mut Vec::new())));
        Self { ty: canonical, text: format!("__{space} {}", types.display_qual(ty)) }
    }

    /// Creates the signature of a function of another language.
    pub(super) fn of_lowered(function: Option<&ir::Function>) -> Self {
        let ret: Vec<ir::Type> = function.map(|function| function.returns.clone()).unwrap_or_default();
        let params: Vec<ir::Type> = function.iter().flat_map(|function| function.params.iter().map(|&param| function.ty(param))).collect();
        let listed = |types: &[ir::Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let text = format!("{} ({})", listed(&ret), listed(&params));
        Self { ty: CanonicalType::LoweredFunction { ret, params }, text }
    }

    /// Creates the signature of a variable of another language.
    pub(super) fn of_lowered_variable(data: &ir::GlobalVar) -> Self {
        Self { ty: CanonicalType::LoweredVariable(data.space), text: format!("__{} variable of {} bytes", data.space, data.size) }
    }

    /// Whether the types are compatible, so that two declarations can refer to the same entity.
    pub(super) fn is_compatible(&self, other: &Self) -> bool {
        self.ty.is_compatible(&other.ty)
    }

    /// Whether two functions have compatible parameters. Parameters distinguish overloads.
    pub(super) fn same_parameters(&self, other: &Self) -> bool {
        match (&self.ty, &other.ty) {
            (CanonicalType::Function { params: a, .. }, CanonicalType::Function { params: b, .. }) => are_all_compatible(a, b),
            _ => false,
        }
    }
}

impl CanonicalType {
    /// Converts a type. `path` is the list of the enclosing records.
    fn of(types: &Types, ty: Ty, path: &mut Vec<RecordId>) -> Self {
        match types.kind(ty) {
            TyKind::Scalar(kind) | TyKind::Enum { repr: kind, .. } => Self::Scalar(*kind),
            TyKind::Vector(kind, lanes) => Self::Vector(*kind, *lanes),
            TyKind::Pointer { pointee, space, .. } => Self::Pointer(*space, Box::new(Self::of(types, pointee.ty, path))),
            TyKind::Pipe(packet, access) => Self::Pipe(*access, Box::new(Self::of(types, *packet, path))),
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

    /// Returns the IR type, or `None` for `void` and for records, which are passed by address.
    fn lowered(&self) -> Option<ir::Type> {
        match self {
            Self::Scalar(kind) => Some(ir::Type::Scalar(scalar(*kind))),
            Self::Vector(kind, lanes) => Some(ir::Type::of(scalar(*kind), *lanes)),
            Self::Pointer(space, _) => Some(ir::Type::Ptr(*space)),
            Self::Pipe(..) | Self::Other(TyKind::Image(..)) => Some(ir::Type::Ptr(Space::Global)),
            Self::Other(TyKind::Event | TyKind::ReserveId | TyKind::Sampler) => Some(ir::Type::I32),
            _ => None,
        }
    }

    fn is_compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::AnyRecord, Self::AnyRecord | Self::Record { .. }) | (Self::Record { .. }, Self::AnyRecord) => true,
            (Self::Pointer(s, a), Self::Pointer(t, b)) => s == t && a.is_compatible(b),
            (Self::Pipe(s, a), Self::Pipe(t, b)) => s == t && a.is_compatible(b),
            (Self::Array(m, a), Self::Array(n, b)) => (m.is_none() || n.is_none() || m == n) && a.is_compatible(b),
            (Self::Record { is_union: u, size: m, fields: a }, Self::Record { is_union: v, size: n, fields: b }) => {
                u == v && m == n && a.len() == b.len() && a.iter().zip(b).all(|((i, a), (j, b))| i == j && a.is_compatible(b))
            }
            (Self::Function { ret: r, params: a }, Self::Function { ret: s, params: b }) => r.is_compatible(s) && are_all_compatible(a, b),
            (Self::LoweredFunction { ret, params }, Self::Function { ret: r, params: p })
            | (Self::Function { ret: r, params: p }, Self::LoweredFunction { ret, params }) => is_lowered_from((ret, params), (r, p)),
            (Self::LoweredVariable(space), Self::Pointer(other, _)) | (Self::Pointer(other, _), Self::LoweredVariable(space)) => {
                space == other
            }
            (a, b) => a == b,
        }
    }
}

/// Whether an IR function has the type that a function of OpenCL C is lowered to.
fn is_lowered_from((ret, params): (&[ir::Type], &[ir::Type]), (c_ret, c_params): (&CanonicalType, &[CanonicalType])) -> bool {
    // A returned record becomes a pointer parameter before the other parameters.
    let through = c_ret.lowered().is_none() && !matches!(c_ret, CanonicalType::Other(TyKind::Void));
    let first = through.then_some(ir::Type::Ptr(Space::Private));
    let wanted =
        first.into_iter().map(Some).chain(c_params.iter().map(|param| Some(param.lowered().unwrap_or(ir::Type::Ptr(Space::Private)))));
    wanted.eq(params.iter().copied().map(Some)) && ret.iter().copied().eq(c_ret.lowered().filter(|_| !through))
}

fn are_all_compatible(a: &[CanonicalType], b: &[CanonicalType]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_compatible(b))
}
