//! Device-side enqueue (OpenCL C 6.15.18): the memory layout that kernels and the host share.
//!
//! A program with kernels that enqueue has a library variable ([`VARIABLE`], `compiler/library/enqueue.cl`), an array
//! of 32-bit words. Before a launch, the host writes its [`head`]. Kernels append records of their requests, and remove
//! events from a list of free events. After the launch, the host reads the records and events, and launches the
//! requested kernels.
//!
//! A record contains the captures of its block. The host copies them to a second variable ([`PARAMETERS`]). The first
//! argument of the block's kernel is the offset of the captures in this variable, in words. Images and samplers cannot
//! be in memory, so they are parameters of the kernel. The record has one word for each image, sampler and pointer to
//! local memory.
//!
//! | words | contents |
//! |---|---|
//! | [`head`] | counters, limits and the default queue |
//! | from [`EVENTS`] on | the events, [`EVENT_WORDS`] words each (see below) |
//! | from [`FREE`] on | the numbers of the free events, counted from 1 |
//! | from [`RECORDS`] on | records, each an even number of words |
//!
//! The words of an event are: the number of references, the status, whether it is a user event, an unused word, and the
//! two 64-bit times of CLK_PROFILING_COMMAND_EXEC_TIME.
//!
//! A record consists of a header of [`HEAD_WORDS`] words (see [`Record::read`]), the events that the requested command
//! waits for, and the words of the parameters. The captures of the block start at the next even word. A record of 0
//! words marks the end of the records if the next record did not fit.

use crate::ir::{Module, Op};
use crate::layout::ProgramLayout;

/// The name of the variable with the records and events.
pub const VARIABLE: &str = "__wgcl_device_queue";
/// The name of the variable with the captures of the blocks that are being executed.
pub const PARAMETERS: &str = "__wgcl_device_parameters";
/// Prefix of the names of kernels that blocks are compiled to. The number of the kernel follows, as 16 hexadecimal
/// digits.
pub const KERNEL_PREFIX: &str = "__wgcl_enqueued_";

/// Indices of the words in the head.
pub mod head {
    /// Number of words that kernels requested for records, including records that did not fit.
    pub const USED: usize = 0;
    /// Number of words for records.
    pub const CAPACITY: usize = 1;
    /// Number of events that kernels requested.
    pub const EVENTS_TAKEN: usize = 2;
    /// Number of free events.
    pub const EVENTS_FREE: usize = 3;
    /// Maximum number of work-items of a work-group.
    pub const GROUP_ITEMS: usize = 4;
    pub const SUBGROUP: usize = 5;
    /// Size of the default queue in words.
    pub const QUEUE_WORDS: usize = 6;
    /// Number of the default queue, or 0 if there is none.
    pub const QUEUE_NUMBER: usize = 7;
    /// Maximum number of work-items of a work-group in each dimension (3 words).
    pub const GROUP_SIZES: usize = 8;
    /// Not 0 if all work-groups must have the same size.
    pub const UNIFORM: usize = 11;
    /// Number of words of the head.
    pub const WORDS: usize = 16;
}

/// Index of the first word of the events.
pub const EVENTS: usize = head::WORDS;
pub const EVENT_WORDS: usize = 8;
/// Number of events: CL_DEVICE_MAX_ON_DEVICE_EVENTS.
pub const MAX_EVENTS: usize = 4096;
/// Index of the first word of the list of free events.
pub const FREE: usize = EVENTS + EVENT_WORDS * MAX_EVENTS;
pub const PARAMETER_WORDS: usize = 65_536;
/// Index of the first word of the records.
pub const RECORDS: usize = FREE + MAX_EVENTS;
/// Maximum number of words for records. It determines CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE.
pub const RECORD_WORDS: usize = 2_097_152;
pub const HEAD_WORDS: usize = 20;
/// Maximum size in bytes of the captures of an enqueued block.
pub const MAX_CAPTURED: u32 = 16_384;

/// The command that a record requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Run a kernel.
    Kernel,
    /// A marker: only wait for events.
    Marker,
    /// No request, because the queue was full.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: Kind,
    /// The number of the kernel, see [`KERNEL_PREFIX`].
    pub kernel: u64,
    /// The number of the event of the command, counted from 1, or 0 for none.
    pub event: u32,
    /// Number of dimensions of the NDRange.
    pub dimensions: u32,
    /// The global offset.
    pub offset: [u32; 3],
    /// Work-items in each dimension.
    pub global_size: [u32; 3],
    /// Work-items of a work-group in each dimension. The first is 0 if the host chooses the size.
    pub local_size: [u32; 3],
    /// The number of the queue, counted from 1.
    pub queue: u32,
    /// The numbers of the events that the command waits for.
    pub waits: Vec<u32>,
    /// One word for each parameter of the kernel after the first. The word is the size of local memory in bytes, or the
    /// value of a sampler. For an image, the word is its index among the parameters of the enqueuing kernel.
    pub parameters: Vec<u32>,
    /// The captures of the block.
    pub captures: Vec<u32>,
}

impl Record {
    /// Reads the record at the start of `words`. Returns it and its number of words, or `None` if there is no complete
    /// record.
    pub fn read(words: &[u32]) -> Option<(Self, usize)> {
        let size = *words.first()? as usize;
        let own = words.get(..size).filter(|own| own.len() >= HEAD_WORDS)?;
        let three = |from: usize| [own[from], own[from + 1], own[from + 2]];
        let kind = match own[1] & 0xff {
            0 => Kind::Kernel,
            1 => Kind::Marker,
            _ => Kind::Nothing,
        };
        let mut rest = &own[HEAD_WORDS..];
        let mut take = |count: u32| {
            let (taken, others) = rest.split_at_checked(count as usize)?;
            rest = others;
            Some(taken.to_vec())
        };
        let waits = if kind == Kind::Nothing { Vec::new() } else { take(own[5])? };
        if kind != Kind::Kernel {
            let none = Self {
                kind,
                kernel: 0,
                event: if kind == Kind::Marker { own[4] } else { 0 },
                dimensions: 1,
                offset: [0; 3],
                global_size: [1; 3],
                local_size: [0; 3],
                queue: 0,
                waits,
                parameters: Vec::new(),
                captures: Vec::new(),
            };
            return Some((none, size));
        }
        let parameters = take(own[7])?;
        take((own[5] + own[7]) & 1)?;
        let captures = take(own[8])?;
        let record = Self {
            kind,
            kernel: u64::from(own[3]) << 32 | u64::from(own[2]),
            event: own[4],
            dimensions: own[6].clamp(1, 3),
            offset: three(10),
            global_size: three(13),
            local_size: three(16),
            queue: own[9],
            waits,
            parameters,
            captures,
        };
        Some((record, size))
    }
}

/// Offsets in bytes of [`VARIABLE`] and [`PARAMETERS`] in the memory of a program's `__global` variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableOffsets {
    /// Offset of [`VARIABLE`].
    pub queue: u64,
    /// Offset of [`PARAMETERS`], or `None` if no block has captures.
    pub parameters: Option<u64>,
}

impl VariableOffsets {
    /// Returns the offsets in a module, or `None` if no kernel enqueues.
    pub fn of(module: &Module) -> Option<Self> {
        let layout = ProgramLayout::of(&module.globals);
        let find = |name: &str| {
            let index = module.globals.iter().position(|global| global.name == name)?;
            layout.offsets.get(index).map(|&offset| u64::from(offset))
        };
        Some(Self { queue: find(VARIABLE)?, parameters: find(PARAMETERS) })
    }
}

/// Returns for each function of a module whether it may enqueue, because it or a function that it calls refers to
/// [`VARIABLE`].
pub(crate) fn enqueuing(module: &Module) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    let Some(queue) = module.globals.iter().position(|global| global.name == VARIABLE) else { return found };
    loop {
        let mut more = false;
        for (index, function) in module.functions.iter().enumerate() {
            let mut enqueues = found[index];
            function.body.walk(&mut |inst| match inst.op {
                Op::GlobalAddr(global) => enqueues |= global.index() == queue,
                Op::Call(callee, _) => enqueues |= found.get(callee.index()).copied().unwrap_or(false),
                _ => {}
            });
            more |= enqueues != found[index];
            found[index] = enqueues;
        }
        if !more {
            return found;
        }
    }
}

/// Whether a program-scope variable is part of the library's implementation of enqueue, and hidden from the
/// application.
pub(crate) fn is_hidden(variable: &str) -> bool {
    matches!(variable, VARIABLE | PARAMETERS)
}

pub fn kernel_name(number: u64) -> String {
    format!("{KERNEL_PREFIX}{number:016x}")
}

/// Whether a kernel was compiled from a block and is hidden from the application.
pub fn is_block(kernel: &str) -> bool {
    kernel.starts_with(KERNEL_PREFIX)
}
