//! The typed tree: what `sema` makes of the syntax and `lower` turns into IR.
//!
//! Everything implicit in OpenCL C is explicit here: conversions are [`ExprKind::Cast`], reading a variable is [`ExprKind::Load`] of a
//! [`Lvalue`], arrays decay by [`ExprKind::Decay`], sizes are constants, initialisers are flat lists of offsets, constant initialisers are
//! bytes, overloads are resolved, names are ids. Nothing in it is wrong: a program with errors never gets here.
//!
//! * A scalar comparison, `!`, `&&`, `||` has type `int` and is 0 or 1; a vector comparison has the signed integer vector of the operand's
//!   lane size and is 0 or -1 a lane (OpenCL C 6.4.d).
//! * Struct values ([`TyKind::Record`]) appear as `Load` of a place, calls, conditionals, assignments and compound literals; `lower` keeps them in memory.

#![allow(missing_docs, reason = "fields and variants that are the language's own terms")]

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
    /// A variable with static storage: program scope, `static` in a function, `__local` and `__constant` variables of kernels, string literals.
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
    /// Indexed by [`FuncId`]. Only functions that are called or are kernels need bodies; library functions are added as they are used.
    pub functions: Vec<Function>,
    /// Indexed by [`GlobalId`].
    pub globals: Vec<GlobalVar>,
    /// Reflection of the kernels, in order of definition.
    pub kernels: Vec<(FuncId, KernelInfo)>,
}

/// Who may refer to a function or variable by its name (C99 6.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Its own translation unit: `static`, and what has no name to link by.
    #[default]
    Internal,
    /// Every translation unit.
    External,
    /// A function that is `inline`: its own unit, and others where no definition is external.
    Inline,
}

#[derive(Debug)]
pub struct GlobalVar {
    pub name: Name,
    pub ty: QualTy,
    pub space: Space,
    /// Initial contents, `sizeof(ty)` bytes; `None` for zero and for `Local`. Relocations' targets are [`GlobalId`] numbers: `lower` gives globals of
    /// the IR the same numbers.
    pub init: Option<Vec<u8>>,
    pub relocs: Vec<Reloc>,
    /// Alignment in bytes (of the type, or more by attribute).
    pub align: u32,
    pub linkage: Linkage,
    /// `false`: only declared (`extern`), and defined by another translation unit.
    pub defined: bool,
    pub span: Span,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub linkage: Linkage,
    pub overloadable: bool,
    pub ret: Ty,
    /// The first locals, in order.
    pub params: Vec<LocalId>,
    /// Indexed by [`LocalId`].
    pub locals: Vec<Local>,
    /// Names of labels, indexed by [`LabelId`]; empty in nearly all functions.
    pub labels: Vec<Name>,
    /// Whether some `break`, `continue` or `goto` leaves a statement expression.
    pub expression_jumps: bool,
    /// `None`: declared, never defined (an error if it is called, reported by sema, unless another translation unit may define it).
    pub body: Option<Vec<Stmt>>,
    pub is_kernel: bool,
    pub reqd_work_group_size: Option<[u32; 3]>,
    pub reqd_subgroup_size: Option<u32>,
    pub no_inline: bool,
    /// Whether it is of the compiler's library of built-in functions.
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
    /// A private variable comes into being; `None` leaves it uninitialised.
    Local {
        local: LocalId,
        init: Option<Init>,
    },
    Block(Vec<Stmt>),
    /// Conditions are scalars of any arithmetic or pointer type: non-zero is true.
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
    /// `init` was made a statement before it, in a block around both.
    For {
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        unroll: Option<u32>,
    },
    /// `cond` has an integer type after promotion; the labels in `body` are `Case` and `Default` statements at any depth (not in nested switches).
    Switch {
        cond: Expr,
        body: Box<Stmt>,
    },
    /// A label, not a container. Values are converted to the promoted type of the switch's condition, zero-extended from its width; inclusive range.
    Case {
        lo: u64,
        hi: u64,
    },
    Default,
    Label(LabelId),
    /// To the end of an enclosing `Forward`, to the beginning of an enclosing `Backward`, or else anywhere in the function.
    Goto(LabelId),
    /// Statements of which a `goto` to the label goes to the end: the label stands behind them.
    Forward {
        label: LabelId,
        body: Vec<Stmt>,
    },
    /// Statements that a `goto` to the label starts again: the label stands before them. They run once otherwise.
    Backward {
        label: LabelId,
        body: Vec<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Empty,
}

/// An initialiser of a variable or compound literal.
#[derive(Debug)]
pub enum Init {
    Expr(Expr),
    /// Scalars, vectors, pointers and whole records at byte offsets, in order of evaluation; the rest is zero if `zero_rest`.
    Parts {
        zero_rest: bool,
        parts: Vec<(u32, Expr)>,
    },
}

/// An expression with a value (or `void`).
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// Without qualifiers. Never an array or function type (those decayed).
    pub ty: Ty,
    pub span: Span,
}

/// An lvalue: an object in memory, or lanes of a vector there. The same word names one in [`crate::lower`], which finds its address.
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
    /// `*pointer`
    Deref(Box<Expr>),
    /// A member of a record, `offset` bytes into it.
    Field {
        base: Box<Lvalue>,
        offset: u32,
    },
    /// An element of an array place; the index has an integer type.
    Element {
        base: Box<Lvalue>,
        index: Box<Expr>,
    },
    /// Lanes of a vector place. One lane: the type is the scalar; more: a vector of as many lanes. Lanes may repeat only when read. A lane that
    /// the vector does not have is the fourth of three (`v.hi`): it has any value when read, and what is written to it is lost.
    Lanes {
        base: Box<Lvalue>,
        lanes: Vec<u8>,
    },
    /// `v[i]` of a vector place.
    LaneDyn {
        base: Box<Lvalue>,
        index: Box<Expr>,
    },
    /// A value put into memory so that a part of it can be named: `f().x`.
    Temporary(Box<Expr>),
    /// A compound literal: the local and its initialiser, run when evaluated.
    Compound {
        local: LocalId,
        init: Box<Init>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Bits of an integer or bool, zero-extended from the type's width.
    Int(u64),
    /// Of type [`TyKind::Wide`]: in no checked program.
    Wide(i128),
    /// Of type half, float or double: exactly representable in it.
    Float(f64),
    /// The null pointer.
    Null,
    /// One a lane, integers as `Int`, floats as `Float`.
    Vector(Vec<Constant>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    BitNot,
    /// Of a scalar: `int` 0 or 1; of a vector: 0 or -1.
    LogNot,
}

/// Both operands have the same type but for shifts (whose right operand has a type of the same lane count).
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
    /// Of vectors only: no short circuit there. 0 or -1 a lane.
    VecAnd,
    VecOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// Between arithmetic scalars, or vectors of as many lanes, C's rules (floats to integers toward zero, to floats to nearest even).
    /// To `bool`: `!= 0`.
    Arith,
    /// `convert_T[_sat][_rounding]`; `None` is the default rounding (toward zero to integers, nearest even to floats).
    Convert {
        saturate: bool,
        rounding: Option<Rounding>,
    },
    /// A scalar to all lanes; the operand already has the lane's type.
    Splat,
    /// Reinterpretation of the bits (`as_T`), same size, or 4 lanes to 3 and back.
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
    /// An array place to a pointer to its first element.
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
    /// Scalar condition; only one of the two is evaluated. Both have the result's type.
    Cond {
        cond: Box<Expr>,
        then: Box<Expr>,
        els: Box<Expr>,
    },
    /// Vector condition: by the most significant bit of each lane; all three are evaluated.
    VecSelect {
        cond: Box<Expr>,
        then: Box<Expr>,
        els: Box<Expr>,
    },
    /// The value is that of the place afterwards.
    Assign {
        lvalue: Box<Lvalue>,
        value: Box<Expr>,
    },
    /// `place op= value`: the place is loaded, cast to `compute`, combined with `value` (already converted), cast back, stored.
    CompoundAssign {
        op: BinaryOp,
        lvalue: Box<Lvalue>,
        value: Box<Expr>,
        compute: Ty,
        contract: bool,
    },
    /// `place += value` (bytes = elements * `stride`) of pointers; `negate` for `-=`.
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
        /// Of a function of the library that is called for one component of the source's vectors: of which.
        part: Option<u8>,
    },
    /// A library function of scalars called for each lane of its vector arguments; scalar arguments go to every lane.
    CallLanes {
        func: FuncId,
        args: Vec<Expr>,
    },
    /// A built-in that `lower` knows. The types of the arguments and the result select the variant.
    Intrinsic {
        op: Intrinsic,
        args: Vec<Expr>,
    },
    /// `printf`: the format is a constant global that holds a string.
    Printf {
        format: GlobalId,
        args: Vec<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    /// Parts that together have as many lanes as the type; scalars and vectors of the lane's type.
    VectorLit(Vec<Expr>),
    /// Lanes of a vector value (not in memory).
    Swizzle(Box<Expr>, Vec<u8>),
    /// `({ ... })`: the value of its last expression statement, or void.
    StmtExpr {
        stmts: Vec<Stmt>,
        value: Option<Box<Expr>>,
    },
}
