//! The typed tree: the output of `sema` and the input of `lower`.
//!
//! The tree makes the implicit semantics of OpenCL C explicit:
//! - conversions are [`ExprKind::Cast`]
//! - reads of variables are [`ExprKind::Load`] of an [`Lvalue`]
//! - arrays decay by [`ExprKind::Decay`]
//! - sizes are constants
//! - initialisers are flat lists of offsets, and constant initialisers are bytes
//! - overloads are resolved, and names are ids
//!
//! Only programs without errors become typed trees. Rules for expressions:
//!
//! * A scalar comparison, `!`, `&&` or `||` has type `int` and is 0 or 1. A vector comparison is a vector of signed
//!   integers with the lane size of the operand, with 0 or -1 per lane (OpenCL C 6.5.4).
//! * Struct values ([`TyKind::Record`]) are `Load`s of an lvalue, calls, conditionals, assignments and compound
//!   literals. `lower` keeps them in memory.

#![allow(missing_docs, reason = "the names are the terms of the language")]

pub(crate) mod types;
pub(crate) mod visit;

pub(crate) use types::{Field, QualTy, Record, RecordId, Ty, TyKind, Types};

use crate::ast::Name;
use crate::builtins::Intrinsic;
pub(crate) use crate::builtins::Rounding;
use crate::diag::Span;
use crate::ir::{Reloc, Space};
use crate::reflection::KernelInfo;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// A function of the program: the user's or the library's.
    FuncId
);
id!(
    /// A variable with static storage: a variable or compound literal at program scope, a `static` variable in a
    /// function, or a string literal. Also a `__local` or `__constant` variable of a kernel.
    GlobalId
);
id!(
    /// A parameter or private variable of a function.
    LocalId
);
id!(
    /// A label of a function.
    LabelId
);

/// A checked program.
#[derive(Debug, Default)]
pub struct Program {
    pub types: Types,
    /// Indexed by [`FuncId`]. Contains the library functions that the program uses.
    pub functions: Vec<Function>,
    /// Indexed by [`GlobalId`].
    pub globals: Vec<GlobalVar>,
    /// The kernels and their reflection, in order of definition.
    pub kernels: Vec<(FuncId, KernelInfo)>,
}

/// The linkage of a function or variable (C99 6.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Visible only in its translation unit: `static`, or without a name that other units can refer to.
    #[default]
    Internal,
    /// Visible in every translation unit.
    External,
    /// An `inline` function, or a hidden variable of device-side enqueue. The unit that contains the definition uses
    /// it. Other units use it only if there is no definition with external linkage.
    Inline,
}

#[derive(Debug)]
pub struct GlobalVar {
    pub name: Name,
    pub ty: QualTy,
    pub space: Space,
    /// The initial contents, `sizeof(ty)` bytes. `None` for zeros, `__local` variables and declarations without a
    /// definition.
    pub init: Option<Vec<u8>>,
    /// The addresses in `init`. Targets are [`GlobalId`] numbers, because `lower` uses the same numbers for globals of
    /// the IR.
    pub relocs: Vec<Reloc>,
    /// Alignment in bytes, from the type or an attribute.
    pub align: u32,
    pub linkage: Linkage,
    /// Whether this translation unit defines the variable. Otherwise it is `extern`.
    pub defined: bool,
    pub span: Span,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub linkage: Linkage,
    pub overloadable: bool,
    pub ret: Ty,
    /// The parameters. They are the first locals.
    pub params: Vec<LocalId>,
    /// Indexed by [`LocalId`].
    pub locals: Vec<Local>,
    /// Names of labels, indexed by [`LabelId`]. Usually empty.
    pub labels: Vec<Name>,
    /// Whether a `break`, `continue` or `goto` may leave a statement expression.
    pub expression_jumps: bool,
    /// `None` if the function is only declared. sema rejects its calls unless another translation unit may define it.
    pub body: Option<Vec<Stmt>>,
    pub is_kernel: bool,
    pub reqd_work_group_size: Option<[u32; 3]>,
    pub reqd_subgroup_size: Option<u32>,
    pub no_inline: bool,
    /// Whether the function is part of the built-in library.
    pub is_library: bool,
    pub span: Span,
}

#[derive(Debug)]
pub struct Local {
    pub name: Name,
    pub ty: QualTy,
    /// Alignment in bytes.
    pub align: u32,
    pub span: Span,
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind {
    Expr(Expr),
    /// The declaration of a private variable. Without an initialiser its value is undefined.
    Local {
        local: LocalId,
        init: Option<Init>,
    },
    Block(Vec<Stmt>),
    /// The conditions of statements are arithmetic scalars or pointers. Non-zero is true.
    If {
        cond: Expr,
        then: Box<Stmt>,
        els: Option<Box<Stmt>>,
    },
    While {
        cond: Expr,
        body: Box<Stmt>,
        unroll: Option<u32>,
    },
    DoWhile {
        body: Box<Stmt>,
        cond: Expr,
        unroll: Option<u32>,
    },
    /// The init clause is a separate statement before the `for`, in a block that contains both.
    For {
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        unroll: Option<u32>,
    },
    /// `cond` has a promoted integer type. The labels are the `Case` and `Default` statements in `body` at any depth,
    /// except in nested switches.
    Switch {
        cond: Expr,
        body: Box<Stmt>,
    },
    /// A label for an inclusive range of values. The values are converted to the promoted type of the switch's
    /// condition, and zero-extended from its width.
    Case {
        lo: u64,
        hi: u64,
    },
    Default,
    Label(LabelId),
    /// Jumps to a label anywhere in the function, except from outside of a statement expression into it.
    Goto(LabelId),
    Break,
    Continue,
    Return(Option<Expr>),
    Empty,
}

/// An initialiser of a variable or compound literal.
#[derive(Debug)]
pub enum Init {
    Expr(Expr),
    /// Scalars, vectors, pointers and whole records at byte offsets, in order of evaluation. If `zero_rest`, all other
    /// bytes are zero. Otherwise the parts cover all bytes.
    Parts {
        zero_rest: bool,
        parts: Vec<(u32, Expr)>,
    },
}

/// An expression with a value (or `void`).
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// The type, without qualifiers. It is not an array or function type.
    pub ty: Ty,
    pub span: Span,
}

/// An object in memory, or lanes of a vector in memory. [`crate::lower`] computes its address.
#[derive(Debug)]
pub struct Lvalue {
    pub kind: LvalueKind,
    pub ty: QualTy,
    /// The address space of the object.
    pub space: Space,
    /// Known alignment in bytes.
    pub align: u32,
    pub span: Span,
}

#[derive(Debug)]
pub enum LvalueKind {
    Local(LocalId),
    Global(GlobalId),
    /// The object that a pointer points to.
    Deref(Box<Expr>),
    /// A member of a record, `offset` bytes into it.
    Field {
        base: Box<Lvalue>,
        offset: u32,
    },
    /// An element of an array lvalue. The index has an integer type.
    Element {
        base: Box<Lvalue>,
        index: Box<Expr>,
    },
    /// Lanes of a vector lvalue. The type is a scalar for one lane, otherwise a vector. Lanes may repeat only in reads.
    /// The list may contain the fourth lane of a three-lane vector (`v.hi`): a read of it returns an undefined value,
    /// and a write has no effect.
    Lanes {
        base: Box<Lvalue>,
        lanes: Vec<u8>,
    },
    /// `v[i]` of a vector lvalue.
    LaneDyn {
        base: Box<Lvalue>,
        index: Box<Expr>,
    },
    /// A value that is stored in memory, so that its members or lanes can be accessed: `f().x`.
    Temporary(Box<Expr>),
    /// A compound literal: its variable, and the initialiser, which is evaluated together with the lvalue.
    Compound {
        local: LocalId,
        init: Box<Init>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Bits of an integer or bool, zero-extended from the type's width.
    Int(u64),
    /// A constant of type [`TyKind::Wide`]. It does not occur in a checked program.
    Wide(i128),
    /// A `half`, `float` or `double`. Its type represents the value exactly.
    Float(f64),
    /// The null pointer.
    Null,
    /// One constant per lane.
    Vector(Vec<Constant>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    BitNot,
    /// The result is an `int` 0 or 1 for a scalar, and 0 or -1 per lane for a vector.
    LogNot,
}

/// Both operands have the same type. The operands of a shift must only have equal lane counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
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
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `&&` of vectors, without short-circuit evaluation. The result is 0 or -1 per lane.
    VecAnd,
    VecOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// Conversion by C's rules between arithmetic scalars, or between vectors with equal lane counts. Floats are
    /// rounded toward zero in conversions to integers, and to nearest even in conversions to floats. `bool` is `value
    /// != 0`.
    Arith,
    /// `convert_T[_sat][_rounding]`. The rounding `None` is the default: toward zero for integers, to nearest even for
    /// floats.
    Convert {
        saturate: bool,
        rounding: Option<Rounding>,
    },
    /// Copies a scalar of the lane type to all lanes.
    Splat,
    /// Reinterpretation of the bits (`as_T`). The sizes are equal, where three lanes count as four.
    AsType,
    /// Conversion between pointer types, also to and from the generic address space.
    Pointer,
    PointerToInt,
    IntToPointer,
    ToVoid,
}

#[derive(Debug)]
pub enum ExprKind {
    Constant(Constant),
    Load(Box<Lvalue>),
    AddrOf(Box<Lvalue>),
    /// Converts an array lvalue to a pointer to its first element.
    Decay(Box<Lvalue>),
    Unary(UnaryOp, Box<Expr>),
    /// If `contract`, FP_CONTRACT is on, and `a * b + c` may be fused.
    Binary {
        op: BinaryOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
        contract: bool,
    },
    /// `&&` of scalars, with short-circuit evaluation.
    LogAnd(Box<Expr>, Box<Expr>),
    LogOr(Box<Expr>, Box<Expr>),
    /// `?:` with a scalar condition. Only one of `then` and `els` is evaluated. Both have the result type.
    Cond {
        cond: Box<Expr>,
        then: Box<Expr>,
        els: Box<Expr>,
    },
    /// `?:` with a vector condition. The most significant bit of each lane selects. All operands are evaluated.
    VecSelect {
        cond: Box<Expr>,
        then: Box<Expr>,
        els: Box<Expr>,
    },
    /// The value is that of the lvalue after the assignment.
    Assign {
        lvalue: Box<Lvalue>,
        value: Box<Expr>,
    },
    /// `lvalue op= value`: loads the lvalue, casts it to `compute`, applies `op` with `value`, casts the result back
    /// and stores it. `value` already has the required type.
    CompoundAssign {
        op: BinaryOp,
        lvalue: Box<Lvalue>,
        value: Box<Expr>,
        compute: Ty,
        contract: bool,
    },
    /// `lvalue += index` for pointers to elements of `stride` bytes, or `-=` if `negate`.
    PointerAssign {
        lvalue: Box<Lvalue>,
        index: Box<Expr>,
        stride: u32,
        negate: bool,
    },
    /// `++` and `--` of arithmetic types, of all lanes of vectors, and of pointers. `stride` is the size of the pointee
    /// in bytes, or 0 for other types.
    IncDec {
        lvalue: Box<Lvalue>,
        increment: bool,
        prefix: bool,
        stride: u32,
    },
    Cast(CastKind, Box<Expr>),
    /// `pointer + index` for pointers to elements of `stride` bytes, or `pointer - index` if `negate`.
    PointerAdd {
        pointer: Box<Expr>,
        index: Box<Expr>,
        stride: u32,
        negate: bool,
    },
    /// The difference of two pointers to elements of `stride` bytes, in elements, as `ptrdiff_t`.
    PointerDiff {
        lhs: Box<Expr>,
        rhs: Box<Expr>,
        stride: u32,
    },
    /// Comparison of pointers.
    PointerCompare {
        op: BinaryOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    Call {
        func: FuncId,
        args: Vec<Expr>,
        /// The lane, if the function is a library function that is called once per lane of a vector. Otherwise `None`.
        part: Option<u8>,
    },
    /// Calls of a scalar library function for each lane of its vector arguments. Every call has the same scalar
    /// arguments.
    CallLanes {
        func: FuncId,
        args: Vec<Expr>,
    },
    /// An intrinsic, which `lower` implements. The types of the arguments and the result select the variant.
    Intrinsic {
        op: Intrinsic,
        args: Vec<Expr>,
    },
    /// `printf`. The format is a constant variable with a string. If `format` is `None`, the format is the first
    /// argument, a pointer to constant memory.
    Printf {
        format: Option<GlobalId>,
        args: Vec<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    /// Scalars and vectors of the lane type, with as many lanes in total as the result.
    VectorLit(Vec<Expr>),
    /// Lanes of a vector value that is not in memory.
    Swizzle(Box<Expr>, Vec<u8>),
    /// `({ ... })`. `value` is the last expression. It is `None` if the last statement is not an expression. The type
    /// is then `void`.
    StmtExpr {
        stmts: Vec<Stmt>,
        value: Option<Box<Expr>>,
    },
}
