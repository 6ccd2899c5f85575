//! Executes the machine code of one thread and records its events.
//!
//! Reads of shared memory return chosen values: the model decides later which choices are possible. Values carry the
//! reads on which they depend. The stack, the argument block and the arena are private memory, without events.

use std::collections::{BTreeMap, BTreeSet};

use fARM64::enums::{Condition, ExtendType};
use fARM64::operand::MemIndexMode;
use fARM64::{Decoder, DecoderOptions, Instruction, Operand, Register};

use super::event::{Barrier, Event, EventSet, Kind, Order, Trace};

/// The address of the code.
pub(crate) const CODE: u64 = 0x100_0000;
/// The address of the first shared buffer.
pub(crate) const SHARED: u64 = 0x4000_0000;
/// The distance in bytes between the first bytes of consecutive shared buffers.
pub(crate) const STRIDE: u64 = 0x10_0000;
const STACK: u64 = 0x3000_0000;
/// The address at which the code returns.
const RETURN: u64 = 0xFFFF_0000;
/// The number of executed instructions at which a thread counts as endless.
const STEPS: usize = 20_000;

/// A number, and the reads on which it depends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Value {
    pub(crate) bits: u128,
    pub(crate) reads: EventSet,
}

impl Value {
    pub(crate) const fn new(bits: u128, reads: EventSet) -> Self {
        Self { bits, reads }
    }
}

/// The choice of the value that each read of a run returns.
#[derive(Default)]
pub(crate) struct Choices {
    chosen: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    /// Returns the choice among `count` values. It is 0 when a run reaches the choice for the first time.
    fn choose(&mut self, count: usize) -> usize {
        if self.next == self.chosen.len() {
            self.chosen.push((0, count));
        }
        self.next += 1;
        self.chosen[self.next - 1].0
    }

    /// Advances to the next run. Returns false after the last run.
    pub(crate) fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((chosen, count)) = self.chosen.pop() {
            if chosen + 1 < count {
                self.chosen.push((chosen + 1, count));
                return true;
            }
        }
        false
    }
}

/// The values that a read of a cell can return. Cells without an entry contain 0.
pub(crate) type Domains = BTreeMap<u64, BTreeSet<u64>>;

/// The bits of the condition flags.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) negative: bool,
    pub(crate) zero: bool,
    pub(crate) carry: bool,
    pub(crate) overflow: bool,
    pub(crate) reads: EventSet,
}

impl Flags {
    pub(crate) const fn holds(self, condition: Condition) -> bool {
        let holds = match condition as u8 >> 1 {
            0 => self.zero,
            1 => self.carry,
            2 => self.negative,
            3 => self.overflow,
            4 => self.carry && !self.zero,
            5 => self.negative == self.overflow,
            6 => self.negative == self.overflow && !self.zero,
            _ => return true,
        };
        holds != (condition as u8 & 1 == 1)
    }
}

/// A thread during a run.
pub(crate) struct Machine<'a> {
    code: &'a [u8],
    /// Bytes of a cell.
    pub(crate) cell: u64,
    pub(crate) general: [Value; 32],
    pub(crate) vectors: [Value; 32],
    stack: Value,
    pub(crate) flags: Flags,
    memory: BTreeMap<u64, (u8, EventSet)>,
    control: EventSet,
    earlier_addresses: EventSet,
    /// The address and the event of the last exclusive read.
    exclusive: Option<(u64, usize)>,
    pub(crate) trace: Trace,
    choices: &'a mut Choices,
    domains: &'a Domains,
}

/// The end of a run: the trace, or `None` if it has too many events.
pub(crate) type Run = Result<Option<Trace>, String>;

impl<'a> Machine<'a> {
    pub(crate) fn new(code: &'a [u8], cell: u64, choices: &'a mut Choices, domains: &'a Domains) -> Self {
        let mut machine = Self {
            code,
            cell,
            general: [Value::default(); 32],
            vectors: [Value::default(); 32],
            stack: Value::new(STACK.into(), 0),
            flags: Flags::default(),
            memory: BTreeMap::new(),
            control: 0,
            earlier_addresses: 0,
            exclusive: None,
            trace: Trace::new(),
            choices,
            domains,
        };
        machine.general[30].bits = RETURN.into();
        machine
    }

    /// Writes private memory before the run.
    pub(crate) fn place(&mut self, address: u64, bytes: &[u8]) {
        (address..).zip(bytes).for_each(|(at, &byte)| _ = self.memory.insert(at, (byte, 0)));
    }

    /// Runs the code from an address, until it returns or has more than `limit` events.
    pub(crate) fn run(mut self, entry: u64, limit: usize) -> Run {
        let mut at = entry;
        for _ in 0..STEPS {
            if at == RETURN {
                return Ok(Some(self.trace));
            }
            if self.trace.len() > limit {
                return Ok(None);
            }
            let bytes =
                at.checked_sub(CODE).and_then(|at| self.code.get(at as usize..)?.get(..4)).ok_or("the code ends without a return")?;
            let inst = Decoder::new(bytes, at, DecoderOptions::default()).decode();
            at = self.step(&inst)?.unwrap_or(at + 4);
        }
        Err("the code does not end".into())
    }

    /// Executes an instruction. Returns the target of a taken branch.
    fn step(&mut self, inst: &Instruction) -> Result<Option<u64>, String> {
        let name = inst.mnemonic().name();
        let wrong = || format!("{name} ({:?}, {:08x}) is not supported", inst.code(), inst.word());
        match name {
            "nop" | "prfm" | "prfum" => {}
            "dmb" => {
                let Operand::SysOp(option) = inst.op(0) else { return Err(wrong()) };
                let barrier = match option.name() {
                    "ish" | "sy" => Barrier::Full,
                    "ishld" | "ld" => Barrier::Load,
                    "ishst" | "st" => Barrier::Store,
                    _ => return Err(wrong()),
                };
                self.trace.push(Event::new(Kind::Barrier(barrier), 0, 0));
            }
            "b" | "cbz" | "cbnz" | "tbz" | "tbnz" | "ret" => return self.branch(inst).ok_or_else(wrong),
            _ => {
                self.memory_instruction(inst, name).or_else(|| self.data_instruction(inst, name)).ok_or_else(wrong)?;
            }
        }
        Ok(None)
    }

    /// Executes a branch. Later writes depend on its condition. The outer `None` means an unknown form.
    fn branch(&mut self, inst: &Instruction) -> Option<Option<u64>> {
        let label = |at: usize| if let Operand::Label(target) = inst.op(at) { Some(target) } else { None };
        let name = inst.mnemonic().name();
        if name == "ret" {
            return Some(Some(self.general[30].bits as u64));
        }
        if name == "b" {
            let Some(condition) = inst.condition() else { return Some(Some(label(0)?)) };
            self.control |= self.flags.reads;
            return Some(if self.flags.holds(condition) { Some(label(1)?) } else { None });
        }
        let value = self.read(inst.op_register(0))?;
        self.control |= value.reads;
        let (bit, at) = if name.starts_with('t') { (Some(inst.op_immediate(1)), 2) } else { (None, 1) };
        let zero = bit.map_or(value.bits == 0, |bit| value.bits >> bit & 1 == 0);
        Some(if zero != name.contains("nz") { Some(label(at)?) } else { None })
    }

    /// Returns the class and number of a register. Number 31 is the zero register, and 32 is the stack pointer.
    pub(crate) fn number(register: Register) -> Option<(char, usize)> {
        let name = register.name();
        match name {
            "wzr" => Some(('w', 31)),
            "xzr" => Some(('x', 31)),
            "sp" => Some(('s', 32)),
            _ => Some((name.chars().next()?, name.get(1..)?.parse().ok()?)),
        }
    }

    /// Returns the size of a register in bytes.
    pub(crate) fn width(register: Register) -> Option<u64> {
        if register == Register::Sp {
            return Some(8);
        }
        Some(match Self::number(register)?.0 {
            'b' => 1,
            'h' => 2,
            'w' | 's' => 4,
            'x' | 'd' => 8,
            'q' | 'v' => 16,
            _ => return None,
        })
    }

    pub(crate) fn read(&self, register: Register) -> Option<Value> {
        if register == Register::Sp {
            return Some(self.stack);
        }
        let (class, number) = Self::number(register)?;
        let value = match class {
            'w' | 'x' if number == 31 => Value::default(),
            'w' | 'x' => self.general[number],
            _ => self.vectors[number],
        };
        Some(Value::new(value.bits & mask(Self::width(register)?), value.reads))
    }

    /// Writes a register. The upper bits become zero.
    pub(crate) fn write(&mut self, register: Register, value: Value) -> Option<()> {
        if register == Register::Sp {
            self.stack = value;
            return Some(());
        }
        let (class, number) = Self::number(register)?;
        let value = Value::new(value.bits & mask(Self::width(register)?), value.reads);
        match class {
            'w' | 'x' if number == 31 => {}
            'w' | 'x' => self.general[number] = value,
            _ => self.vectors[number] = value,
        }
        Some(())
    }

    /// Computes the address of a memory operand. Updates the base register.
    fn address(&mut self, operand: Operand) -> Option<Value> {
        match operand {
            Operand::MemImm { base, imm, mode } => {
                let value = self.read(base)?;
                let moved = Value::new(value.bits.wrapping_add_signed(imm.into()) & mask(8), value.reads);
                if mode != MemIndexMode::Offset {
                    self.write(base, moved)?;
                }
                Some(if mode == MemIndexMode::PostImm { value } else { moved })
            }
            Operand::MemExt { base, index, extend, shift } => {
                let (base, index) = (self.read(base)?, self.read(index)?);
                let offset = extended(index.bits, extend) << (shift & 7);
                Some(Value::new(base.bits.wrapping_add(offset) & mask(8), base.reads | index.reads))
            }
            Operand::Label(target) => Some(Value::new(target.into(), 0)),
            _ => None,
        }
    }

    fn memory_instruction(&mut self, inst: &Instruction, name: &str) -> Option<()> {
        let last = inst.op(inst.op_count().checked_sub(1)?);
        let plain = Order::default();
        let size = |name: &str, register: Register| match name.chars().next_back() {
            Some('b') => Some(1),
            Some('h') => Some(2),
            _ => Self::width(register),
        };
        let (first, second) = (inst.op_register(0), inst.op_register(1));
        match name {
            "ldr" | "ldur" | "ldrb" | "ldurb" | "ldrh" | "ldurh" | "ldar" | "ldapr" => {
                let at = self.address(last)?;
                let order = Order { acquire: name.starts_with("lda"), processor_consistent: name == "ldapr", release: false };
                let value = self.load(at, size(name, first)?, order)?;
                self.write(first, value)
            }
            "str" | "stur" | "strb" | "sturb" | "strh" | "sturh" | "stlr" => {
                let (at, value) = (self.address(last)?, self.read(first)?);
                self.store(at, size(name, first)?, value, Order { release: name == "stlr", ..plain }, None)
            }
            "ldp" | "stp" => {
                let (at, size) = (self.address(last)?, Self::width(first)?);
                for (register, at) in [(first, at), (second, Value::new(at.bits + u128::from(size), at.reads))] {
                    if name == "ldp" {
                        let value = self.load(at, size, plain)?;
                        self.write(register, value)?;
                    } else {
                        let value = self.read(register)?;
                        self.store(at, size, value, plain, None)?;
                    }
                }
                Some(())
            }
            "ld1r" | "ld1" | "st1" => self.lane_access(inst, name, last),
            "ldaxr" | "ldxr" | "ldaxrh" | "ldxrh" => {
                let at = self.address(last)?;
                let value = self.load(at, size(name, first)?, Order { acquire: name.starts_with("lda"), ..plain })?;
                self.exclusive = Some((at.bits as u64, self.trace.len() - 1));
                self.write(first, value)
            }
            "stlxr" | "stxr" | "stlxrh" | "stxrh" => {
                let (at, value) = (self.address(last)?, self.read(second)?);
                let (address, read) = self.exclusive.take()?;
                assert_eq!(address, at.bits as u64, "the exclusive store has another address than the load");
                // Runs in which the store fails have the same events after the repetition.
                self.store(at, size(name, second)?, value, Order { release: name.starts_with("stl"), ..plain }, Some(read))?;
                self.write(first, Value::default())
            }
            _ => self.atomic_instruction(inst, name, last),
        }
    }

    /// Executes an atomic instruction of LSE.
    fn atomic_instruction(&mut self, inst: &Instruction, name: &str, last: Operand) -> Option<()> {
        let stem = ["ldadd", "swp", "cas"].into_iter().find(|stem| name.starts_with(stem))?;
        let suffix = &name[stem.len()..];
        let (suffix, half) = suffix.strip_suffix('h').map_or((suffix, false), |suffix| (suffix, true));
        let (first, second) = (inst.op_register(0), inst.op_register(1));
        let size = if half { 2 } else { Self::width(first)? };
        let at = self.address(last)?;
        let (operand, other) = (self.read(first)?, self.read(second)?);
        let is_discarded = stem != "cas" && Self::number(second)?.1 == 31;
        let acquire = match suffix {
            "a" | "al" => !is_discarded,
            "" | "l" => false,
            _ => return None,
        };
        let order = Order { acquire, release: suffix.contains('l'), processor_consistent: false };
        let old = self.load(at, size, order)?;
        let read = self.trace.len() - 1;
        let new = match stem {
            "ldadd" => Value::new(old.bits.wrapping_add(operand.bits) & mask(size), old.reads | operand.reads),
            "swp" => operand,
            _ if old.bits == operand.bits & mask(size) => other,
            _ => return self.write(first, old),
        };
        self.store(at, size, new, order, Some(read))?;
        if let Some(write) = self.trace.last_mut() {
            write.fences = order.acquire && order.release;
        }
        self.write(if stem == "cas" { first } else { second }, old)
    }

    /// Loads one element into one lane or all lanes, or stores one lane.
    fn lane_access(&mut self, inst: &Instruction, name: &str, last: Operand) -> Option<()> {
        let Operand::MultiReg { regs, count: 1, arr, lane } = inst.op(0) else { return None };
        let (at, bits) = (self.address(last)?, u64::from(arr?.element_bits()));
        let old = self.read(regs[0])?;
        let shift = u32::from(lane.unwrap_or(0)) * bits as u32;
        if name == "st1" {
            return self.store(at, bits / 8, Value::new(old.bits >> shift & mask(bits / 8), old.reads), Order::default(), None);
        }
        let value = self.load(at, bits / 8, Order::default())?;
        let lanes = if name == "ld1r" { 0..u32::from(arr?.element_count()) } else { u32::from(lane?)..u32::from(lane?) + 1 };
        let mut made = if name == "ld1r" { Value::default() } else { old };
        for lane in lanes {
            let shift = lane * bits as u32;
            made.bits = made.bits & !(mask(bits / 8) << shift) | value.bits << shift;
        }
        made.reads |= value.reads;
        self.write(regs[0], made)
    }

    /// Whether an access is to shared memory.
    fn is_shared(at: u64) -> bool {
        (SHARED..SHARED + 0x1000_0000).contains(&at)
    }

    /// Reads memory. A vector reads several cells.
    fn load(&mut self, at: Value, size: u64, order: Order) -> Option<Value> {
        let address = at.bits as u64;
        let mut value = Value::new(0, at.reads);
        if Self::is_shared(address) {
            assert!(address.is_multiple_of(self.cell) && size.is_multiple_of(self.cell), "a read of {size} bytes at {address:#x}");
            value.reads = 0;
            for place in (0..size).step_by(self.cell as usize) {
                let cell = address + place;
                let domain: Vec<u64> = self.domains.get(&cell).map_or(vec![0], |domain| domain.iter().copied().collect());
                let read = domain[self.choices.choose(domain.len())];
                value.reads |= 1 << self.trace.len();
                value.bits |= u128::from(read) << (8 * place);
                self.access(Event { order: Order { release: false, ..order }, ..Event::new(Kind::Read, cell, read) }, at.reads);
            }
        } else {
            for place in 0..size {
                let code = (address + place).checked_sub(CODE).and_then(|at| self.code.get(at as usize));
                let private = self.memory.get(&(address + place)).copied();
                let (byte, reads) = code.map_or(private.unwrap_or_default(), |&byte| (byte, 0));
                value.bits |= u128::from(byte) << (8 * place);
                value.reads |= reads;
            }
        }
        self.earlier_addresses |= at.reads;
        Some(value)
    }

    /// Writes memory. `updates` is the read of the same atomic operation.
    fn store(&mut self, at: Value, size: u64, value: Value, order: Order, updates: Option<usize>) -> Option<()> {
        let address = at.bits as u64;
        if Self::is_shared(address) {
            assert!(address.is_multiple_of(self.cell) && size.is_multiple_of(self.cell), "a write of {size} bytes at {address:#x}");
            for place in (0..size).step_by(self.cell as usize) {
                let bits = value.bits >> (8 * place) & mask(self.cell);
                let order = Order { release: order.release, ..Order::default() };
                let event = Event { order, updates, data: value.reads, ..Event::new(Kind::Write, address + place, bits as u64) };
                self.access(event, at.reads);
            }
        } else {
            for place in 0..size {
                self.memory.insert(address + place, ((value.bits >> (8 * place)) as u8, value.reads | at.reads));
            }
        }
        self.earlier_addresses |= at.reads;
        Some(())
    }

    /// Records an access.
    fn access(&mut self, event: Event, address: EventSet) {
        assert!(self.trace.len() < 63, "a thread has too many events");
        let (control, earlier_addresses) = (self.control, self.earlier_addresses);
        self.trace.push(Event { address, control, earlier_addresses, ..event });
    }
}

/// Returns a mask for the bits of a number of `bytes` bytes.
pub(crate) const fn mask(bytes: u64) -> u128 {
    if bytes >= 16 { u128::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// Returns the 64-bit value of an extended register operand.
pub(crate) const fn extended(bits: u128, extend: ExtendType) -> u128 {
    let bits = bits as u64;
    let made = match extend {
        ExtendType::Uxtb => bits as u8 as u64,
        ExtendType::Uxth => bits as u16 as u64,
        ExtendType::Uxtw => bits as u32 as u64,
        ExtendType::Uxtx | ExtendType::Sxtx => bits,
        ExtendType::Sxtb => bits as i8 as u64,
        ExtendType::Sxth => bits as i16 as u64,
        ExtendType::Sxtw => bits as i32 as u64,
    };
    made as u128
}
