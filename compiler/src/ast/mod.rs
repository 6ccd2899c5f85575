//! The syntax tree of OpenCL C. Only the grammar is checked. Names are not resolved, and types are not computed.
//!
//! As in C, several declarators share the specifiers of a declaration. A [`Declarator`] lists its parts from the name
//! outward. The parts of `int *(*f)[3]` are: pointer, array of 3, pointer.

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
    /// `OPENCL EXTENSION name : behaviour`. `enable` is false for `disable` and `end`.
    Extension { name: Name, enable: bool },
    /// `OPENCL FP_CONTRACT ON|OFF|DEFAULT`, or `STDC FP_CONTRACT`. False for `OFF`.
    FpContract(bool),
    /// A pragma about loop unrolling. `None` is `unroll`, `Some(0)` is full unrolling, `Some(1)` is `nounroll`, and
    /// other numbers are the factor.
    Unroll(Option<u32>),
    /// `pack(...)`, handled by the parser.
    Pack(Pack),
}

/// A `#pragma pack`. Values are maximum alignments in bytes; 0 is the default layout.
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
    /// The first part of the declarator is [`DeclaratorPart::Function`].
    pub declarator: Declarator,
    pub body: Compound,
}

/// A declaration, `specs declarator = init, ...;`.
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

/// Type qualifiers, including the address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Qualifiers {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    pub space: Option<(AddrSpace, Span)>,
}

/// The specifiers before the declarators.
#[derive(Clone, Debug)]
pub(crate) struct DeclSpecs {
    pub storage: Option<(StorageClass, Span)>,
    pub is_inline: bool,
    pub is_kernel: bool,
    pub quals: Qualifiers,
    pub access: Option<(Access, Span)>,
    /// The span of the keyword `pipe`. The type is then the packet type.
    pub pipe: Option<Span>,
    pub ty: TypeSpec,
    pub attributes: Vec<Attribute>,
    pub span: Span,
    /// Span of the type specifier.
    pub ty_span: Span,
}

impl DeclSpecs {
    /// Creates a specifier list without specifiers.
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

/// An attribute, `__attribute__((name(args)))`. The name has no leading and trailing double underscores.
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

/// Scalar types of OpenCL C. `size_t` and similar types have their own `TypeSpec`s, because their size depends on the
/// target.
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
    /// Returns the name of the type in OpenCL C.
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

impl ImageKind {
    /// Whether each element of an image has several samples (cl_khr_gl_msaa_sharing).
    pub(crate) const fn is_multisample(self) -> bool {
        matches!(self, Self::Image2dMsaa | Self::Image2dArrayMsaa | Self::Image2dMsaaDepth | Self::Image2dArrayMsaaDepth)
    }
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
    /// `typeof` or `__typeof__` of an expression.
    TypeofExpr(Box<Expr>),
    TypeofType(Box<TypeName>),
}

/// `struct` or `union`.
#[derive(Clone, Debug)]
pub(crate) struct RecordSpec {
    pub is_union: bool,
    pub tag: Option<Ident>,
    /// The members, or `None` if the specifier only has a tag.
    pub fields: Option<Vec<FieldDecl>>,
    /// The `_Static_assert` declarations between the members.
    pub asserts: Vec<StaticAssert>,
    pub attributes: Vec<Attribute>,
    /// Maximum alignment of a member in bytes, from `#pragma pack`.
    pub pack: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldDecl {
    pub specs: DeclSpecs,
    /// The declarators, each with the width of a bit-field, which sema rejects. Empty for an anonymous struct or union.
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
    /// A pointer. The qualifiers are those of the pointer itself (`int * const p`). Their `space` is the address space
    /// that contains the pointer.
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
    /// A block, `^`. The next part is its function type.
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
    /// The declarator has no name.
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
    /// `[first ... last]`, an extension of GNU C.
    Range(Expr, Expr),
    Field(Ident),
}

/// A compound statement, `{ ... }`.
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
    /// `case value:`, or `case value ... end:`, an extension of GNU C.
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

impl Expr {
    /// Returns the expression inside of all enclosing parentheses.
    pub(crate) fn without_parentheses(&self) -> &Self {
        let mut inner = self;
        while let ExprKind::Paren(next) = &inner.kind {
            inner = next;
        }
        inner
    }
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

impl BinaryOp {
    /// Returns the spelling of the operator.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::LogAnd => "&&",
            Self::LogOr => "||",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

/// The suffix of an integer literal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntSuffix {
    pub unsigned: bool,
    pub long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatSuffix {
    /// The type is `double`. It is `float` if the device does not support doubles, or with
    /// `-cl-single-precision-constant`.
    None,
    Float,
    Half,
}

/// Returns the value of an integer literal from its lower and upper 64 bits.
pub(crate) const fn int_value([low, high]: [u64; 2]) -> u128 {
    (high as u128) << 64 | low as u128
}

/// A block literal (OpenCL C 6.14).
#[derive(Clone, Debug)]
pub(crate) struct BlockLiteral {
    /// The specifiers of the result type, or `None` if the `return` statements determine the type.
    pub specs: Option<DeclSpecs>,
    /// The declarator of the block, with its parameters. It has no name.
    pub declarator: Declarator,
    pub body: Compound,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A placeholder for an invalid expression. The error was reported.
    Error,
    Ident(Name),
    /// An integer literal. `value` is the lower and upper 64 bits, see [`int_value`]. The candidate types depend on
    /// `decimal`.
    Int {
        value: [u64; 2],
        decimal: bool,
        suffix: IntSuffix,
    },
    /// A floating literal. `value` is rounded to double. `text` is the spelling, for correct rounding to other types.
    Float {
        value: f64,
        suffix: FloatSuffix,
        text: Name,
    },
    Char(i32),
    /// The bytes of adjacent string literals, without the terminating zero.
    Str(Arc<[u8]>),
    Paren(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// The span is that of the operator.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// An assignment. The operator is `None` for `=`, and the span is that of the operator.
    Assign(Option<BinaryOp>, Span, Box<Expr>, Box<Expr>),
    /// `c ? t : e`. `then` is `None` for `c ?: e`, an extension of GNU C.
    Cond {
        cond: Box<Expr>,
        then: Option<Box<Expr>>,
        els: Box<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    Cast(Box<TypeName>, Box<Expr>),
    /// `(type)(a, b, ...)` with a vector type and more than one expression in the second parentheses.
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
    /// `_Generic(control, type: value, default: value)`. The type is `None` for `default`.
    Generic {
        control: Box<Expr>,
        choices: Vec<(Option<Box<TypeName>>, Expr)>,
    },
}
