//! The typed tree: the output of `sema` and the input of `lower`.
//!
//! All implicit semantics of OpenCL C are explicit:
//! - conversions are [`ExprKind::Cast`]
//! - reads of variables are [`ExprKind::Load`] of an [`Lvalue`]
//! - arrays decay by [`ExprKind::Decay`]
//! - sizes are constants
//! - initialisers are flat lists of offsets, and constant initialisers are bytes
//! - overloads are resolved, and names are ids
//!
//! Only programs without errors become typed trees.
//!
//! * A scalar comparison, `!`, `&&`, `||` has type `int` and is 0 or 1. A vector comparison is a vector of signed
//!   integers with the lane size of the operand, with 0 or -1 per lane (OpenCL C 6.4.d).
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
    /// A function of the program (user's or library's).
    FuncId
);
id!(
    /// A variable with static storage: program scope, `static` in a function, `__local` and `__constant` variables of
    /// kernels, string literals.
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
    /// Indexed by [`FuncId`]. Only kernels and called functions need bodies. Library functions are added on first use.
    pub functions: Vec<Function>,
    /// Indexed by [`GlobalId`].
    pub globals: Vec<GlobalVar>,
    /// Reflection of the kernels, in order of definition.
    pub kernels: Vec<(FuncId, KernelInfo)>,
}

/// The linkage of a function or variable (C99 6.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Visible in its translation unit only: `static`, or without a name to link by.
    #[default]
    Internal,
    /// Every translation unit.
    External,
    /// An `inline` function: used in its own unit, and in others if no definition is external.
    Inline,
}

#[derive(Debug)]
pub struct GlobalVar {
    pub name: Name,
    pub ty: QualTy,
    pub space: Space,
    /// Initial contents, `sizeof(ty)` bytes; `None` for zero and for `Local`. Relocations' targets are [`GlobalId`]
    /// numbers: `lower` gives globals of the IR the same numbers.
    pub init: Option<Vec<u8>>,
    pub relocs: Vec<Reloc>,
    /// Alignment in bytes, of the type or by attribute.
    pub align: u32,
    pub linkage: Linkage,
    /// Whether it is defined here. Otherwise it is `extern` and another translation unit defines it.
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
    /// Whether a `break`, `continue` or `goto` leaves a statement expression.
    pub expression_jumps: bool,
    /// `None` if only declared. sema rejects a call, unless another translation unit may define the function.
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
    /// Conditions are scalars of arithmetic or pointer type. Non-zero is true.
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
    /// `init` is a preceding statement in a block around both.
    For {
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        unroll: Option<u32>,
    },
    /// `cond` has an integer type after promotion; the labels in `body` are `Case` and `Default` statements at any
    /// depth (not in nested switches).
    Switch {
        cond: Expr,
        body: Box<Stmt>,
    },
    /// A label, not a container. Values are converted to the promoted type of the switch's condition, zero-extended
    /// from its width; inclusive range.
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
    /// Scalars, vectors, pointers and whole records at byte offsets, in order of evaluation; the rest is zero if
    /// `zero_rest`.
    Parts {
        zero_rest: bool,
        parts: Vec<(u32, Expr)>,
    },
}

/// An expression with a value (or `void`).
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// Without qualifiers. Never an array or function type, since these decay.
    pub ty: Ty,
    pub span: Span,
}

/// An object in memory, or lanes of a vector in memory. [`crate::lower`] finds its address.
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
    /// Lanes of a vector lvalue. With one lane, the type is the scalar; with more, a vector. Lanes may repeat only in
    /// reads. The fourth lane of a three-lane vector (`v.hi`) exists too: reading it gives any value, and writing it
    /// has no effect.
    Lanes {
        base: Box<Lvalue>,
        lanes: Vec<u8>,
    },
    /// `v[i]` of a vector lvalue.
    LaneDyn {
        base: Box<Lvalue>,
        index: Box<Expr>,
    },
    /// A value stored in memory so that a part of it can be accessed: `f().x`.
    Temporary(Box<Expr>),
    /// A compound literal: the local and its initialiser, which runs on evaluation.
    Compound {
        local: LocalId,
        init: Box<Init>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Bits of an integer or bool, zero-extended from the type's width.
    Int(u64),
    /// A constant of type [`TyKind::Wide`]. Never in a checked program.
    Wide(i128),
    /// A half, float or double: exactly representable in its type.
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
    /// Scalars give `int` 0 or 1, vectors 0 or -1 per lane.
    LogNot,
}

/// Both operands have the same type, except for shifts, whose operands have the same lane count.
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
    /// Vectors only, without short circuit. Gives 0 or -1 per lane.
    VecAnd,
    VecOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// Conversion by C's rules between arithmetic scalars, or vectors with equal lane counts. Floats convert to
    /// integers toward zero, and to floats to nearest even. To `bool`: `!= 0`.
    Arith,
    /// `convert_T[_sat][_rounding]`; `None` is the default rounding (toward zero to integers, nearest even to floats).
    Convert {
        saturate: bool,
        rounding: Option<Rounding>,
    },
    /// A scalar to all lanes. The operand already has the lane type.
    Splat,
    /// Reinterpretation of the bits (`as_T`): equal size, or between 3 and 4 lanes.
    AsType,
    /// Between pointer types, also to and from generic space.
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
    /// An array lvalue to a pointer to its first element.
    Decay(Box<Lvalue>),
    Unary(UnaryOp, Box<Expr>),
    /// `contract`: FP_CONTRACT is on here, so `a * b + c` may be fused.
    Binary {
        op: BinaryOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
        contract: bool,
    },
    /// Short circuit, scalars.
    LogAnd(Box<Expr>, Box<Expr>),
    LogOr(Box<Expr>, Box<Expr>),
    /// A scalar condition. Only one operand is evaluated. Both have the result type.
    Cond {
        cond: Box<Expr>,
        then: Box<Expr>,
        els: Box<Expr>,
    },
    /// A vector condition: the most significant bit of each lane selects. All operands are evaluated.
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
    /// `lvalue op= value`: loads, casts to `compute`, combines with `value` (already converted), casts back, stores.
    CompoundAssign {
        op: BinaryOp,
        lvalue: Box<Lvalue>,
        value: Box<Expr>,
        compute: Ty,
        contract: bool,
    },
    /// `lvalue += value` for pointers, in elements of `stride` bytes. `negate` for `-=`.
    PointerAssign {
        lvalue: Box<Lvalue>,
        index: Box<Expr>,
        stride: u32,
        negate: bool,
    },
    /// ++ and --, of arithmetic types, vectors (all lanes) and pointers (`stride` bytes; 0 otherwise).
    IncDec {
        lvalue: Box<Lvalue>,
        increment: bool,
        prefix: bool,
        stride: u32,
    },
    Cast(CastKind, Box<Expr>),
    /// pointer + index * stride bytes (or minus).
    PointerAdd {
        pointer: Box<Expr>,
        index: Box<Expr>,
        stride: u32,
        negate: bool,
    },
    /// Difference of pointers in elements of `stride` bytes, as ptrdiff_t.
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
        /// For a library function that is called per component of a vector in the source: the component.
        part: Option<u8>,
    },
    /// A scalar library function, called for each lane of its vector arguments. Scalar arguments are used for every
    /// lane.
    CallLanes {
        func: FuncId,
        args: Vec<Expr>,
    },
    /// An intrinsic, which `lower` implements. The types of the arguments and the result select the variant.
    Intrinsic {
        op: Intrinsic,
        args: Vec<Expr>,
    },
    /// `printf`. The format is a constant global with a string, or the first argument, a pointer to constant memory.
    Printf {
        format: Option<GlobalId>,
        args: Vec<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    /// Scalars and vectors of the lane type, with as many lanes in total as the result.
    VectorLit(Vec<Expr>),
    /// Lanes of a vector value that is not in memory.
    Swizzle(Box<Expr>, Vec<u8>),
    /// `({ ... })`: the value of its last expression statement, or void.
    StmtExpr {
        stmts: Vec<Stmt>,
        value: Option<Box<Expr>>,
    },
}
