//! The interpreter's bytecode: flat instructions on numbered registers.
//!
//! A register holds one lane. A value with n lanes has n consecutive registers. Every call has separate registers:
//! first the parameters, then the function's constants, then all other values. Control flow consists of jumps, and
//! moves copy the values that regions yield. Example: `if` becomes `JumpUnless`, the code of both regions, and a jump.

use super::number::{Binary, Ternary, Unary};
use crate::diag::Span;
use crate::ir::{UndefinedUse, WorkItem};

/// The number of a register. For a value, its first register.
pub(super) type Register = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) at: Register,
    pub(super) lanes: u8,
}

/// The layout of lanes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Size of a lane in bytes.
    pub(super) size: u8,
    pub(super) lanes: u8,
}

impl Lanes {
    pub(super) const fn bytes(self) -> usize {
        self.size as usize * self.lanes as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    Move {
        from: Register,
        to: Slot,
    },
    Unary {
        f: Unary,
        a: Register,
        to: Slot,
    },
    /// A binary operation with one lane, which is the most frequent instruction.
    Binary1 {
        f: Binary,
        a: Register,
        b: Register,
        to: Register,
    },
    Binary {
        f: Binary,
        a: Register,
        b: Register,
        to: Slot,
    },
    Ternary {
        f: Ternary,
        a: Register,
        b: Register,
        c: Register,
        to: Slot,
    },
    /// `step` is 1 if each lane has a separate condition, otherwise 0.
    Select {
        cond: Register,
        yes: Register,
        no: Register,
        to: Slot,
        step: u8,
    },
    All {
        a: Slot,
        to: Register,
    },
    Any {
        a: Slot,
        to: Register,
    },
    Splat {
        from: Register,
        to: Slot,
    },
    ExtractDyn {
        vector: Slot,
        index: Register,
        to: Register,
    },
    InsertDyn {
        vector: Register,
        index: Register,
        value: Register,
        to: Slot,
    },
    /// Reinterprets the bytes of a value as lanes of another size.
    Regroup {
        from: Register,
        from_lanes: Lanes,
        to: Register,
        to_lanes: Lanes,
    },
    WorkItem {
        query: WorkItem,
        to: Register,
    },
    VarAddr {
        number: u32,
        to: Register,
    },
    GlobalAddr {
        global: u32,
        to: Register,
    },
    /// The pointer that is passed for a parameter of the kernel.
    ParamAddr {
        param: u32,
        to: Register,
    },
    /// Adds a signed number of bytes to a pointer. Without `wide`, the number has 32 bits.
    Offset {
        pointer: Register,
        by: Register,
        to: Register,
        wide: bool,
    },
    Load {
        pointer: Register,
        to: Register,
        shape: Lanes,
        align: u32,
    },
    Store {
        pointer: Register,
        from: Register,
        shape: Lanes,
        align: u32,
    },
    Copy {
        to: Register,
        from: Register,
        size: u32,
        align: u32,
    },
    Zero {
        to: Register,
        size: u32,
        align: u32,
    },
    /// Fails if a component of the first entry of `list` is a NaN, and the corresponding components of the others are
    /// not. `differs` compares a component with itself.
    NanCheck {
        list: u32,
        differs: Binary,
    },
    /// Fails if a component of a float, converted to a double by `widen`, is a NaN or not between the limits.
    ConversionCheck {
        value: Slot,
        widen: Unary,
        limits: (f64, f64),
    },
    /// Fails with the entry of `undefined_uses`.
    UndefinedUse {
        number: u32,
    },
    /// Writes two words of a clock, which advances with every time slice.
    Clock {
        to: Register,
    },
    /// Stores the result of `f` for the old value and `value`. `to` receives the old value.
    Atomic {
        f: Binary,
        pointer: Register,
        value: Register,
        to: Register,
        size: u8,
    },
    CompareExchange {
        pointer: Register,
        expected: Register,
        desired: Register,
        to: Register,
        size: u8,
    },
    Barrier,
    /// A work-group operation. [`Code::collectives`] describes it.
    Group,
    /// An operation of the active work-items of a subgroup. [`Code::collectives`] describes it.
    Subgroup,
    /// Increments the iteration counter of a loop.
    Count {
        iterations: Register,
    },
    /// Appends a record to the output. The arguments are in `list`.
    Printf {
        site: u32,
        list: u32,
        to: Register,
    },
    /// The arguments are in `list`. The results are written to registers of the caller, from `to` on.
    Call {
        func: u32,
        list: u32,
        to: Register,
    },
    /// The returned values are in `list`.
    Return {
        list: u32,
    },
    Jump {
        to: u32,
    },
    /// Jumps to the start of a loop, and consumes fuel.
    NextIteration {
        to: u32,
    },
    /// Jumps if the condition is false, otherwise continues.
    JumpUnless {
        cond: Register,
        to: u32,
    },
    Switch {
        selector: Register,
        table: u32,
    },
    Unreachable,
    /// Fails: the interpreter does not support the operation. The text for the message is in [`Code::texts`].
    Unsupported {
        text: u32,
    },
}

/// The kind of a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fold {
    Barrier,
    /// The result is the value of the work-item with this index.
    Broadcast {
        index: Register,
    },
    /// The result is the value of the first work-item.
    First,
    /// Combines all values.
    Reduce(Binary),
    /// Combines the values up to and including this work-item.
    Inclusive(Binary),
    /// Combines the values before this work-item, starting with an initial value.
    Exclusive(Binary, u64),
    /// A mask of the work-items with a true value, as four words.
    Ballot,
    /// The result is the value of another work-item. `from` computes its index from the index of this work-item and the
    /// register `by`. If the other work-item is not active, the result is `otherwise`.
    Shuffle {
        by: Register,
        from: fn(u32, u32) -> u32,
        otherwise: u64,
    },
}

/// An operation of all work-items of a group, or of the active ones of a subgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub(super) fold: Fold,
    pub(super) value: Register,
    pub(super) to: Slot,
    /// The register with the cluster size, if the operation is clustered.
    pub(super) cluster: Option<Register>,
    /// Whether all work-items of a subgroup must be active.
    pub(super) whole: bool,
}

/// The targets of a `switch`.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Values and targets, sorted by value.
    pub(super) cases: Vec<(u64, u32)>,
    pub(super) default: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) insts: Vec<Inst>,
    /// The source location of each instruction.
    pub(super) spans: Vec<Span>,
    pub(super) params: Vec<Slot>,
    /// Number of registers of the parameters. The constants follow.
    pub(super) param_registers: u32,
    pub(super) constants: Vec<u64>,
    /// Number of all registers.
    pub(super) registers: u32,
    /// Size of each variable in bytes.
    pub(super) variables: Vec<u32>,
    /// Indices of the module objects that the function uses.
    pub(super) globals: Vec<u32>,
    /// Lists of values: arguments, results, and operands of checks.
    pub(super) lists: Vec<Vec<Slot>>,
    /// The uses of undefined values, and the names of the variables.
    pub(super) undefined_uses: Vec<(UndefinedUse, String)>,
    /// Arguments of each `printf`: first register, layout in memory, and whether it is a pointer.
    pub(super) printed: Vec<Vec<(Register, Lanes, bool)>>,
    pub(super) tables: Vec<Table>,
    /// Collective operations, by the index of their instruction.
    pub(super) collectives: Vec<(u32, Collective)>,
    /// For each subgroup operation and call, the loops that contain it, outermost first: the start of each loop and its
    /// iteration counter.
    pub(super) enclosing_loops: Vec<(u32, Vec<(u32, Register)>)>,
    pub(super) texts: Vec<String>,
}
