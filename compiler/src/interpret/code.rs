//! The interpreter's bytecode: flat instructions on numbered registers.
//!
//! A register holds one lane; a value with n lanes has n consecutive registers. Every call has its own registers: the
//! parameters, then the function's constants, then all other values. Control flow consists of jumps; values that
//! regions pass are moves. Example: `if` becomes `Unless`, the code of both regions, and a jump.

use super::number::{Binary, Ternary, Unary};
use crate::diag::Span;
use crate::ir::WorkItem;

/// The first register of a value.
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
    /// With one lane: the most frequent instruction.
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
    /// `step` is 1 if each lane has its own condition, otherwise 0.
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
    /// Reinterprets the bytes as other lanes.
    Regroup {
        from: Register,
        had: Lanes,
        to: Register,
        has: Lanes,
    },
    WorkItem {
        question: WorkItem,
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
    /// Adds a signed number of bytes; only 32 bits of it unless `wide`.
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
    /// Fails if a component of the first entry of `list` is a NaN according to `differs`, and those of the others are
    /// not.
    NanCheck {
        list: u32,
        differs: Binary,
    },
    /// Two words of a clock, which advances with every time slice.
    Clock {
        to: Register,
    },
    /// Stores the result of `f` on the old value and `value`; `to` gets the old value.
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
    /// A work-group operation, in [`Code::collectives`].
    Group,
    /// An operation of the active work-items of a subgroup.
    Subgroup,
    /// Counts an iteration of a loop.
    Count {
        iterations: Register,
    },
    /// Appends a record to the output; its arguments are in `list`.
    Printf {
        site: u32,
        list: u32,
        to: Register,
    },
    /// The arguments are in `list`; the results go to `to` of the caller.
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
    /// Jumps to the start of a loop.
    Again {
        to: u32,
    },
    /// Jumps if the condition is false.
    Unless {
        cond: Register,
        to: u32,
    },
    Switch {
        selector: Register,
        table: u32,
    },
    Unreachable,
    /// An operation that cannot be executed; the text is in [`Code::texts`].
    Unsupported {
        text: u32,
    },
}

/// The collective operation of a group, or of the active work-items of a subgroup.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fold {
    Barrier,
    /// The value of the work-item with this index.
    Broadcast {
        index: Register,
    },
    /// The value of the first work-item.
    First,
    /// Combines all values; uniform.
    Reduce(Binary),
    /// Combines the values up to this one.
    Inclusive(Binary),
    /// Combines the values before this one, starting from an initial value.
    Exclusive(Binary, u64),
    /// The work-items with a true value, as four words.
    Ballot,
    /// The value of the work-item whose index `from` computes from this one's and the register; `otherwise` if that
    /// is not active.
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
    /// The cluster size, if the operation is clustered.
    pub(super) cluster: Option<Register>,
    /// Whether all work-items of a subgroup must be active.
    pub(super) whole: bool,
}

/// The targets of a `switch`.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Values and targets, in order of the values.
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
    /// Number of registers of the parameters; the constants follow.
    pub(super) param_registers: u32,
    pub(super) constants: Vec<u64>,
    /// Number of registers.
    pub(super) registers: u32,
    /// Size of each variable in bytes.
    pub(super) variables: Vec<u32>,
    /// Module objects that the function uses.
    pub(super) globals: Vec<u32>,
    /// Arguments of calls.
    pub(super) lists: Vec<Vec<Slot>>,
    /// Arguments of `printf`: their registers, their layout in memory, whether they are pointers.
    pub(super) printed: Vec<Vec<(Register, Lanes, bool)>>,
    pub(super) tables: Vec<Table>,
    /// By the instruction of the operation.
    pub(super) collectives: Vec<(u32, Collective)>,
    /// The loops around subgroup operations and calls, outermost first: per instruction, the start of each loop and
    /// its iteration counter.
    pub(super) around: Vec<(u32, Vec<(u32, Register)>)>,
    pub(super) texts: Vec<String>,
}
