//! The type names that OpenCL C declares (6.3 "Supported Data Types", 6.15.12 for atomic types), and C's combinations
//! of type keywords.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::ast::{ImageKind, ScalarKind, TypeSpec};

/// A predeclared type name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predeclared {
    Scalar(ScalarKind),
    Vector(ScalarKind, u8),
    SizeT,
    PtrdiffT,
    IntptrT,
    UintptrT,
    Image(ImageKind),
    Sampler,
    Event,
    Queue,
    ClkEvent,
    NdRange,
    ReserveId,
    /// A type that the AST represents by its name ([`TypeSpec::Typedef`]).
    Typedef(&'static str),
}

impl Predeclared {
    /// Returns the type specifier for the type.
    pub(crate) fn spec(self) -> TypeSpec {
        match self {
            Self::Scalar(scalar) => TypeSpec::Scalar(scalar),
            Self::Vector(scalar, lanes) => TypeSpec::Vector(scalar, lanes),
            Self::SizeT => TypeSpec::SizeT,
            Self::PtrdiffT => TypeSpec::PtrdiffT,
            Self::IntptrT => TypeSpec::IntptrT,
            Self::UintptrT => TypeSpec::UintptrT,
            Self::Image(kind) => TypeSpec::Image(kind),
            Self::Sampler => TypeSpec::Sampler,
            Self::Event => TypeSpec::Event,
            Self::Queue => TypeSpec::Queue,
            Self::ClkEvent => TypeSpec::ClkEvent,
            Self::NdRange => TypeSpec::NdRange,
            Self::ReserveId => TypeSpec::ReserveId,
            Self::Typedef(name) => TypeSpec::Typedef(name.into()),
        }
    }
}

const SCALARS: &[(&str, ScalarKind)] = &[
    ("char", ScalarKind::Char),
    ("uchar", ScalarKind::UChar),
    ("short", ScalarKind::Short),
    ("ushort", ScalarKind::UShort),
    ("int", ScalarKind::Int),
    ("uint", ScalarKind::UInt),
    ("long", ScalarKind::Long),
    ("ulong", ScalarKind::ULong),
    ("half", ScalarKind::Half),
    ("float", ScalarKind::Float),
    ("double", ScalarKind::Double),
];

const OTHERS: &[(&str, Predeclared)] = &[
    ("size_t", Predeclared::SizeT),
    ("ptrdiff_t", Predeclared::PtrdiffT),
    ("intptr_t", Predeclared::IntptrT),
    ("uintptr_t", Predeclared::UintptrT),
    ("image1d_t", Predeclared::Image(ImageKind::Image1d)),
    ("image1d_array_t", Predeclared::Image(ImageKind::Image1dArray)),
    ("image1d_buffer_t", Predeclared::Image(ImageKind::Image1dBuffer)),
    ("image2d_t", Predeclared::Image(ImageKind::Image2d)),
    ("image2d_array_t", Predeclared::Image(ImageKind::Image2dArray)),
    ("image2d_depth_t", Predeclared::Image(ImageKind::Image2dDepth)),
    ("image2d_array_depth_t", Predeclared::Image(ImageKind::Image2dArrayDepth)),
    ("image3d_t", Predeclared::Image(ImageKind::Image3d)),
    ("image2d_msaa_t", Predeclared::Image(ImageKind::Image2dMsaa)),
    ("image2d_array_msaa_t", Predeclared::Image(ImageKind::Image2dArrayMsaa)),
    ("image2d_msaa_depth_t", Predeclared::Image(ImageKind::Image2dMsaaDepth)),
    ("image2d_array_msaa_depth_t", Predeclared::Image(ImageKind::Image2dArrayMsaaDepth)),
    ("sampler_t", Predeclared::Sampler),
    ("event_t", Predeclared::Event),
    ("queue_t", Predeclared::Queue),
    ("clk_event_t", Predeclared::ClkEvent),
    ("ndrange_t", Predeclared::NdRange),
    ("reserve_id_t", Predeclared::ReserveId),
];

/// Types that the AST represents by their names.
const TYPEDEFS: &[&str] = &[
    "atomic_int",
    "atomic_uint",
    "atomic_long",
    "atomic_ulong",
    "atomic_float",
    "atomic_double",
    "atomic_half",
    "atomic_flag",
    "atomic_intptr_t",
    "atomic_uintptr_t",
    "atomic_size_t",
    "atomic_ptrdiff_t",
    "memory_order",
    "memory_scope",
    "cl_mem_fence_flags",
    "kernel_enqueue_flags_t",
    "clk_profiling_info",
];

static TABLE: LazyLock<FxHashMap<String, Predeclared>> = LazyLock::new(|| {
    let mut table = FxHashMap::default();
    for (name, scalar) in SCALARS {
        // The names of C's types are keywords, so only the unsigned abbreviations, such as `uint`, are added as
        // identifiers.
        if name.starts_with('u') {
            table.insert((*name).to_owned(), Predeclared::Scalar(*scalar));
        }
        for lanes in [2, 3, 4, 8, 16] {
            table.insert(format!("{name}{lanes}"), Predeclared::Vector(*scalar, lanes));
        }
    }
    table.extend(OTHERS.iter().map(|(name, ty)| ((*name).to_owned(), *ty)));
    table.extend(TYPEDEFS.iter().map(|name| ((*name).to_owned(), Predeclared::Typedef(name))));
    table
});

/// Returns the names of all predeclared types.
pub(crate) fn predeclared_names() -> impl Iterator<Item = &'static str> {
    TABLE.keys().map(String::as_str)
}

/// Returns the predeclared type with this name, or `None` for other names.
pub(crate) fn predeclared(name: &str) -> Option<Predeclared> {
    TABLE.get(name).copied()
}

/// The keywords of C's built-in types that a specifier list contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeKeywords {
    pub void: bool,
    pub bool: bool,
    pub char: bool,
    pub short: bool,
    pub int: bool,
    pub long: u8,
    pub half: bool,
    pub float: bool,
    pub double: bool,
    pub signed: bool,
    pub unsigned: bool,
}

impl TypeKeywords {
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }

    /// Returns the type that the keywords denote together, in any order. Returns `None` if the combination is invalid
    /// (C99 6.7.2p2).
    pub(super) fn combine(self) -> Option<TypeSpec> {
        let bases = [self.void, self.bool, self.char, self.half, self.float, self.double];
        let base_count = bases.iter().filter(|set| **set).count();
        let sized = self.short || self.long > 0;
        if base_count > 1 || self.short && self.long > 0 || self.signed && self.unsigned {
            return None;
        }
        if base_count == 1 {
            let sign_fits = self.char || !(self.signed || self.unsigned);
            if self.int || sized || !sign_fits {
                return None;
            }
        }
        let pick = |signed: ScalarKind, unsigned: ScalarKind| if self.unsigned { unsigned } else { signed };
        Some(TypeSpec::Scalar(match () {
            () if self.void => return Some(TypeSpec::Void),
            () if self.bool => ScalarKind::Bool,
            () if self.half => ScalarKind::Half,
            () if self.float => ScalarKind::Float,
            () if self.double => ScalarKind::Double,
            () if self.char => pick(ScalarKind::Char, ScalarKind::UChar),
            () if self.short => pick(ScalarKind::Short, ScalarKind::UShort),
            () if self.long > 0 => pick(ScalarKind::Long, ScalarKind::ULong),
            () => pick(ScalarKind::Int, ScalarKind::UInt),
        }))
    }
}
