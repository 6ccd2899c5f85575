//! What the IR is turned into before it runs: flat instructions over numbered registers.
//!
//! A register holds one lane; a value of n lanes takes n of them in a row. Every call has registers of its own: first those of the parameters,
//! then the function's constants, then everything else. Control flow is jumps; the values that regions give to each other are moves.

use super::number::{Binary, Ternary, Unary};
use crate::diag::Span;
use crate::ir::WorkItem;

/// The first register of a value.
pub(super) type Register = u32;

/// Registers in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) at: Register,
    pub(super) lanes: u8,
}

/// How lanes are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Bytes of a lane.
    pub(super) size: u8,
    pub(super) lanes: u8,
}

impl Lanes {
    pub(super) const fn bytes(self) -> usize {
        self.size as usize * self.lanes as usize
    }
}

/// An instruction.
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
    /// Of one lane: the most frequent of all.
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
    /// `step` is 1 where each lane has a condition of its own, else 0.
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
    /// The same bytes as other lanes.
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
    /// Adds a signed number of bytes; 32 bits of it unless `wide`.
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
    /// A fault where a component of the first of `list` is not itself by `differs`, and those of the others are.
    NanCheck {
        list: u32,
        differs: Binary,
    },
    /// Two words of a clock, which ticks when work-items take turns.
    Clock {
        to: Register,
    },
    /// Writes what `f` makes of the old value and `value`; `to` gets the old value.
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
    /// An operation of the whole group, of [`Code::collectives`].
    Group,
    /// The same of those of a subgroup that are here.
    Subgroup,
    /// Counts a turn of a loop.
    Count {
        iterations: Register,
    },
    /// Appends a record whose arguments are in `list`, to what is printed.
    Printf {
        site: u32,
        list: u32,
        to: Register,
    },
    /// The arguments are in `list`, their results go to `to` of the caller.
    Call {
        func: u32,
        list: u32,
        to: Register,
    },
    /// What is returned is in `list`.
    Return {
        list: u32,
    },
    Jump {
        to: u32,
    },
    /// To the beginning of a loop.
    Again {
        to: u32,
    },
    /// Jumps where the condition is false.
    Unless {
        cond: Register,
        to: u32,
    },
    Switch {
        selector: Register,
        table: u32,
    },
    Unreachable,
    /// What cannot be executed; the text is in [`Code::texts`].
    Unsupported {
        text: u32,
    },
}

/// What a group, or the active work-items of a subgroup, do with their values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fold {
    /// They wait for each other.
    Barrier,
    /// The value of the work-item of that index.
    Broadcast { index: Register },
    /// The value of the first.
    First,
    /// All values; the same for all.
    Reduce(Binary),
    /// The values up to this one.
    Inclusive(Binary),
    /// The values before this one, from a first one on.
    Exclusive(Binary, u64),
    /// Whose value is true: four words.
    Ballot,
    /// The value of the work-item whose index `from` makes of this one's and the register's; `otherwise` where that is not active.
    Shuffle { by: Register, from: fn(u32, u32) -> u32, otherwise: u64 },
}

/// An operation of all work-items of a group, or of the active ones of a subgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub(super) fold: Fold,
    pub(super) value: Register,
    pub(super) to: Slot,
    /// Work-items among which each so many do it for themselves.
    pub(super) cluster: Option<Register>,
    /// Whether all work-items of a subgroup must do it.
    pub(super) whole: bool,
}

/// The targets of a `switch`.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Values and targets, in order of the values.
    pub(super) cases: Vec<(u64, u32)>,
    pub(super) default: u32,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) insts: Vec<Inst>,
    /// Where each instruction comes from.
    pub(super) spans: Vec<Span>,
    pub(super) params: Vec<Slot>,
    /// Registers of the parameters: what comes behind them is the constants.
    pub(super) param_registers: u32,
    pub(super) constants: Vec<u64>,
    /// Registers in all.
    pub(super) registers: u32,
    /// Bytes of each variable.
    pub(super) variables: Vec<u32>,
    /// Objects of the module that the function names.
    pub(super) globals: Vec<u32>,
    /// Arguments of calls.
    pub(super) lists: Vec<Vec<Slot>>,
    /// Arguments of `printf`: their registers, how they are in memory, whether they are pointers.
    pub(super) printed: Vec<Vec<(Register, Lanes, bool)>>,
    pub(super) tables: Vec<Table>,
    /// By the instruction at which the group does it.
    pub(super) collectives: Vec<(u32, Collective)>,
    /// The loops around operations of subgroups, and around calls: by the instruction, where each begins and where its turns are counted, the outermost first.
    pub(super) around: Vec<(u32, Vec<(u32, Register)>)>,
    pub(super) texts: Vec<String>,
}
