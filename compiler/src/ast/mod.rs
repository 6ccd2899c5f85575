//! The syntax tree of OpenCL C. Names are not resolved, types are not computed, and nothing beyond the grammar is
//! checked.
//!
//! A declaration keeps C's form: several declarators share specifiers. A [`Declarator`] lists its parts from the name
//! outward, so `int *(*f)[3]` is `f`: pointer, array of 3, pointer, to `int`.

pub(crate) mod dump;

use std::sync::Arc;

use crate::diag::Span;

/// An identifier's text.
pub(crate) type Name = Arc<str>;

/// An identifier with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ident {
    pub name: Name,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TranslationUnit {
    pub items: Vec<Item>,
}

/// A top-level construct.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Function(Box<FunctionDef>),
    Declaration(Declaration),
    Pragma(Pragma),
    StaticAssert(StaticAssert),
}

/// A `_Static_assert(cond, "message");` declaration.
#[derive(Clone, Debug)]
pub(crate) struct StaticAssert {
    pub cond: Expr,
    pub message: Option<Arc<[u8]>>,
    pub span: Span,
}

/// A `#pragma` that the parser or sema handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pragma {
    pub kind: PragmaKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PragmaKind {
    /// `OPENCL EXTENSION name : enable|disable` (or `require`, `warn`).
    Extension { name: Name, enable: bool },
    /// `OPENCL FP_CONTRACT ON|OFF|DEFAULT` (also `STDC FP_CONTRACT`); default is on.
    FpContract(bool),
    /// `unroll [N]` and `nounroll` (as `Some(1)`); full unrolling is `Some(0)`.
    Unroll(Option<u32>),
    /// `pack(...)`, handled by the parser.
    Pack(Pack),
}

/// A `#pragma pack`. The value 0 is the default layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pack {
    /// `pack(n)` sets the alignment, `pack()` resets it.
    Set(u32),
    /// `pack(push)`, `pack(push, n)`, with an optional label.
    Push { label: Option<Name>, value: Option<u32> },
    /// `pack(pop)`, with an optional label to pop to and an optional new value.
    Pop { label: Option<Name>, value: Option<u32> },
}

#[derive(Clone, Debug)]
pub(crate) struct FunctionDef {
    pub specs: DeclSpecs,
    /// Its first part is [`DeclaratorPart::Function`].
    pub declarator: Declarator,
    pub body: Compound,
}

/// `specs declarator = init, ...;`
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub specs: DeclSpecs,
    pub declarators: Vec<InitDeclarator>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct InitDeclarator {
    pub declarator: Declarator,
    pub init: Option<Initializer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageClass {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
}

/// An address space qualifier as written (OpenCL C 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AddrSpace {
    Global,
    Local,
    Constant,
    Private,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// Type qualifiers; the address space is one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Qualifiers {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    pub space: Option<(AddrSpace, Span)>,
}

/// Everything before the declarators.
#[derive(Clone, Debug)]
pub(crate) struct DeclSpecs {
    pub storage: Option<(StorageClass, Span)>,
    pub is_inline: bool,
    pub is_kernel: bool,
    pub quals: Qualifiers,
    pub access: Option<(Access, Span)>,
    /// `pipe`. The type is the packet type.
    pub pipe: Option<Span>,
    pub ty: TypeSpec,
    pub attributes: Vec<Attribute>,
    pub span: Span,
    /// Span of the type specifier.
    pub ty_span: Span,
}

impl DeclSpecs {
    /// A specifier list without specifiers.
    pub(crate) fn missing(span: Span) -> Self {
        Self {
            storage: None,
            is_inline: false,
            is_kernel: false,
            quals: Qualifiers::default(),
            access: None,
            pipe: None,
            ty: TypeSpec::Missing,
            attributes: Vec::new(),
            span,
            ty_span: span,
        }
    }
}

/// `__attribute__((name(args)))`; the leading and trailing underscores of the name are removed.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub name: Ident,
    /// Expressions (a bare identifier is allowed) or types (`vec_type_hint(float4)`).
    pub args: Vec<AttributeArg>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum AttributeArg {
    Expr(Expr),
    Type(TypeName),
}

/// Scalar types of OpenCL C. `size_t` and similar types are typedefs, since their size depends on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarKind {
    Bool,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
}

impl ScalarKind {
    /// The name of the type in OpenCL C.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::UChar => "uchar",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::Half => "half",
            Self::Float => "float",
            Self::Double => "double",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    Image1d,
    Image1dArray,
    Image1dBuffer,
    Image2d,
    Image2dArray,
    Image2dDepth,
    Image2dArrayDepth,
    Image3d,
    Image2dMsaa,
    Image2dArrayMsaa,
    Image2dMsaaDepth,
    Image2dArrayMsaaDepth,
}

/// A type specifier. Multi-word specifiers (`unsigned long int`) are combined.
#[derive(Clone, Debug)]
pub(crate) enum TypeSpec {
    /// No specifier. The parser has reported the error.
    Missing,
    Void,
    Scalar(ScalarKind),
    /// 2, 3, 4, 8 or 16 lanes.
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
    /// A typedef name of the source, or a predeclared one (`atomic_int`, `cl_mem_fence_flags`, `memory_order`, ...).
    Typedef(Name),
    Record(Box<RecordSpec>),
    Enum(Box<EnumSpec>),
    /// `typeof(expr)` or `__typeof__(type)` with an expression.
    TypeofExpr(Box<Expr>),
    TypeofType(Box<TypeName>),
}

/// `struct` or `union`.
#[derive(Clone, Debug)]
pub(crate) struct RecordSpec {
    pub is_union: bool,
    pub tag: Option<Ident>,
    /// `None` if only the tag is mentioned.
    pub fields: Option<Vec<FieldDecl>>,
    pub attributes: Vec<Attribute>,
    /// Maximum alignment of a member, from `#pragma pack`.
    pub pack: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldDecl {
    pub specs: DeclSpecs,
    /// Empty for an anonymous struct or union. The expression is the width of a bit-field, which sema rejects.
    pub declarators: Vec<(Declarator, Option<Expr>)>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct EnumSpec {
    pub tag: Option<Ident>,
    pub enumerators: Option<Vec<(Ident, Option<Expr>)>>,
    pub attributes: Vec<Attribute>,
}

/// A name and its declarator parts, from the name outward.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    /// `None` in an abstract declarator.
    pub name: Option<Ident>,
    pub parts: Vec<DeclaratorPart>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum DeclaratorPart {
    /// The qualifiers belong to the pointer (`int * const p`). Its `space` is the address space that contains the
    /// pointer.
    Pointer {
        quals: Qualifiers,
        span: Span,
    },
    Array {
        size: Option<Expr>,
        quals: Qualifiers,
        span: Span,
    },
    Function {
        params: Vec<ParamDecl>,
        variadic: bool,
        span: Span,
    },
    /// `^`: a block. The next part is its function type.
    Block {
        span: Span,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ParamDecl {
    pub specs: DeclSpecs,
    pub declarator: Declarator,
    pub span: Span,
}

/// A type in a cast, `sizeof` and similar operators.
#[derive(Clone, Debug)]
pub(crate) struct TypeName {
    pub specs: DeclSpecs,
    /// Without a name.
    pub declarator: Declarator,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Initializer {
    Expr(Expr),
    List(InitList),
}

#[derive(Clone, Debug)]
pub(crate) struct InitList {
    pub items: Vec<(Vec<Designator>, Initializer)>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Designator {
    Index(Expr),
    /// GNU's `[first ... last]`.
    Range(Expr, Expr),
    Field(Ident),
}

/// `{ ... }`
#[derive(Clone, Debug)]
pub(crate) struct Compound {
    pub items: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Declaration(Declaration),
    Compound(Compound),
    If {
        cond: Expr,
        then: Box<Stmt>,
        els: Option<Box<Stmt>>,
    },
    While {
        cond: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        cond: Expr,
    },
    /// `init` is a declaration, an expression statement or empty.
    For {
        init: Box<Stmt>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch {
        cond: Expr,
        body: Box<Stmt>,
    },
    /// `case value:` or GNU's `case value ... end:`.
    Case {
        value: Expr,
        end: Option<Expr>,
        body: Box<Stmt>,
    },
    Default {
        body: Box<Stmt>,
    },
    Label {
        name: Ident,
        body: Box<Stmt>,
    },
    Goto(Ident),
    Break,
    Continue,
    Return(Option<Expr>),
    Pragma(Pragma),
    StaticAssert(StaticAssert),
    /// `__attribute__((opencl_unroll_hint(n))) for ...`
    Attributed {
        attributes: Vec<Attribute>,
        body: Box<Stmt>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddrOf,
    PreInc,
    PreDec,
    PostInc,
    PostDec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    LogAnd,
    LogOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The suffix of an integer literal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntSuffix {
    pub unsigned: bool,
    pub long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatSuffix {
    /// Double; float without support for doubles or with `-cl-single-precision-constant`.
    None,
    Float,
    Half,
}

/// The value of an integer literal from its lower and upper 64 bits.
pub(crate) const fn int_value([low, high]: [u64; 2]) -> u128 {
    (high as u128) << 64 | low as u128
}

/// A block literal (OpenCL C 6.14).
#[derive(Clone, Debug)]
pub(crate) struct BlockLiteral {
    /// The result type; `None` if it is inferred from the `return` statements.
    pub specs: Option<DeclSpecs>,
    /// The parameters and declarator of the type. It has no name.
    pub declarator: Declarator,
    pub body: Compound,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A placeholder for an invalid expression. The error was reported.
    Error,
    Ident(Name),
    /// `decimal` selects the candidate types. [`int_value`] reads `value`.
    Int {
        value: [u64; 2],
        decimal: bool,
        suffix: IntSuffix,
    },
    /// Bits of the value rounded to double; `text` is the spelling, for exact rounding to other types.
    Float {
        value: f64,
        suffix: FloatSuffix,
        text: Name,
    },
    Char(i32),
    /// Bytes without the terminating zero; adjacent literals joined.
    Str(Arc<[u8]>),
    Paren(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// The span is the operator's.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `op` is `None` for `=`.
    Assign(Option<BinaryOp>, Span, Box<Expr>, Box<Expr>),
    /// `c ? t : e`; GNU's `c ?: e` has no `then`.
    Cond {
        cond: Box<Expr>,
        then: Option<Box<Expr>>,
        els: Box<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    Cast(Box<TypeName>, Box<Expr>),
    /// `(type)(a, b, ...)` with more than one expression in the parentheses: a vector literal if the type is a vector.
    VectorLit(Box<TypeName>, Vec<Expr>),
    /// `(type){ ... }`
    CompoundLit(Box<TypeName>, InitList),
    SizeofExpr(Box<Expr>),
    SizeofType(Box<TypeName>),
    AlignofType(Box<TypeName>),
    AlignofExpr(Box<Expr>),
    VecStepExpr(Box<Expr>),
    VecStepType(Box<TypeName>),
    /// `__builtin_offsetof(type, member)` with the path of designators.
    Offsetof(Box<TypeName>, Vec<Designator>),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Member {
        base: Box<Expr>,
        arrow: bool,
        field: Ident,
    },
    /// A `__builtin_astype(expr, type)` reinterpretation.
    AsType(Box<Expr>, Box<TypeName>),
    /// `({ ... })`
    StmtExpr(Compound),
    /// `^ type (parameters) { ... }`
    Block(Box<BlockLiteral>),
    /// `_Generic(control, type: value, default: value)`; `None` is `default`.
    Generic {
        control: Box<Expr>,
        choices: Vec<(Option<Box<TypeName>>, Expr)>,
    },
}
