//! Device-side enqueue (OpenCL C 6.15.18): what kernels and the host agree on.
//!
//! A program whose kernels enqueue has a variable of the library for it ([`VARIABLE`], `compiler/library/enqueue.cl`), an array of 32-bit words. Before a launch the host
//! writes its [`head`]; kernels append records of what they ask for, and take events from a list of free ones; afterwards the host reads both, and launches what is asked
//! for. What a block has captured lies in its record, and is copied to a second variable ([`PARAMETERS`]) for the kernel that is made of the block, whose first argument says
//! where there. Memory holds no images and samplers: they are parameters of that kernel, of which the record has a word each, as it has of pointers to local memory.
//!
//! | words | what |
//! |---|---|
//! | [`head`] | counters, limits and the default queue |
//! | from [`EVENTS`] on | the events, [`EVENT_WORDS`] each: references, status, whether it is a user event, nothing, the two times of CLK_PROFILING_COMMAND_EXEC_TIME |
//! | from [`FREE`] on | the numbers of events that are free, counted from 1 |
//! | from [`RECORDS`] on | records, each an even number of words |
//!
//! A record is [`HEAD_WORDS`] of a head (see [`Record::read`]), the events that it waits for, the parameters' words, and from the next even word on what the block
//! captures. A record of 0 words ends them: there was no room for it.

use crate::ir::{Module, Op};
use crate::layout::ProgramLayout;

/// The name of the variable.
pub const VARIABLE: &str = "__wgcl_device_queue";
/// The name of the variable that has what the blocks that are being run have captured.
pub const PARAMETERS: &str = "__wgcl_device_parameters";
/// What the names of kernels made of blocks begin with; their number follows, in 16 hexadecimal digits.
pub const KERNEL_PREFIX: &str = "__wgcl_enqueued_";

/// Words of the head, by what they say.
pub mod head {
    /// Words that records take, those included for which there was no room.
    pub const USED: usize = 0;
    /// Words that records may take.
    pub const CAPACITY: usize = 1;
    /// Events that kernels asked for.
    pub const EVENTS_TAKEN: usize = 2;
    /// Events that are free.
    pub const EVENTS_FREE: usize = 3;
    /// Work-items that a group may have.
    pub const GROUP_ITEMS: usize = 4;
    /// Work-items of a subgroup.
    pub const SUBGROUP: usize = 5;
    /// Words of the default queue.
    pub const QUEUE_WORDS: usize = 6;
    /// Number of the default queue; 0 where there is none.
    pub const QUEUE_NUMBER: usize = 7;
    /// Work-items that a group may have in each dimension.
    pub const GROUP_SIZES: usize = 8;
    /// Whether all groups must have one size.
    pub const UNIFORM: usize = 11;
    /// How many there are.
    pub const WORDS: usize = 16;
}

/// Where events begin.
pub const EVENTS: usize = head::WORDS;
/// Words of an event.
pub const EVENT_WORDS: usize = 8;
/// Events that there may be at a time: CL_DEVICE_MAX_ON_DEVICE_EVENTS.
pub const MAX_EVENTS: usize = 4096;
/// Where the list of free events begins.
pub const FREE: usize = EVENTS + EVENT_WORDS * MAX_EVENTS;
/// Words of [`PARAMETERS`].
pub const PARAMETER_WORDS: usize = 65_536;
/// Where records begin.
pub const RECORDS: usize = FREE + MAX_EVENTS;
/// Words that they may take: CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE.
pub const RECORD_WORDS: usize = 2_097_152;
/// Words of a record's head.
pub const HEAD_WORDS: usize = 20;
/// Bytes of what a block that is enqueued may capture.
pub const MAX_CAPTURED: u32 = 16_384;

/// What a kernel asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kernel is to run.
    Kernel,
    /// Nothing but to wait for events.
    Marker,
    /// Nothing: there was no room in the queue.
    Nothing,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it asks for.
    pub kind: Kind,
    /// The number of the kernel, see [`KERNEL_PREFIX`].
    pub kernel: u64,
    /// The number of the event that it ends, counted from 1; 0 for none.
    pub event: u32,
    /// Dimensions of the range.
    pub dimensions: u32,
    /// What the global ids begin with.
    pub offset: [u32; 3],
    /// Work-items in each dimension.
    pub global_size: [u32; 3],
    /// Work-items of a group in each dimension; the first is 0 where the host chooses.
    pub local_size: [u32; 3],
    /// The number of the queue, counted from 1.
    pub queue: u32,
    /// The numbers of the events that it waits for.
    pub waits: Vec<u32>,
    /// A word for each parameter of the kernel behind its first: the bytes of local memory, a sampler's value, or of an image which parameter of the enqueuing kernel it is.
    pub parameters: Vec<u32>,
    /// What the block has captured.
    pub captures: Vec<u32>,
}

impl Record {
    /// The record that words begin with, and how many it takes; `None` where there is no further one.
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

/// The bytes of both variables within the memory of a program's variables, where it has them: a program whose kernels enqueue nothing has neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Where [`VARIABLE`] begins.
    pub queue: u64,
    /// Where [`PARAMETERS`] begins; `None` where no block captures anything.
    pub parameters: Option<u64>,
}

impl Places {
    /// Of a module.
    pub fn of(module: &Module) -> Option<Self> {
        let layout = ProgramLayout::of(&module.globals);
        let find = |name: &str| {
            let index = module.globals.iter().position(|global| global.name == name)?;
            layout.offsets.get(index).map(|&offset| u64::from(offset))
        };
        Some(Self { queue: find(VARIABLE)?, parameters: find(PARAMETERS) })
    }
}

/// The functions of a module that may enqueue something: those that refer to the queue, and those that call them.
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

/// Whether a variable of program scope is one of the library's for what kernels enqueue: the application knows nothing of it.
pub(crate) fn is_hidden(variable: &str) -> bool {
    matches!(variable, VARIABLE | PARAMETERS)
}

/// The name of the kernel of that number.
pub fn kernel_name(number: u64) -> String {
    format!("{KERNEL_PREFIX}{number:016x}")
}

/// Whether a kernel was made of a block: the application knows nothing of it.
pub fn is_block(kernel: &str) -> bool {
    kernel.starts_with(KERNEL_PREFIX)
}
