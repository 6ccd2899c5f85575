//! The instructions that compute values, as far as the programs contain them.

use fARM64::enums::ShiftType;
use fARM64::{Instruction, Operand};

use super::event::EventSet;
use super::machine::{Flags, Machine, Value, extended, mask};

impl Machine<'_> {
    /// Executes an instruction. `None` means that it is not supported.
    pub(crate) fn data_instruction(&mut self, inst: &Instruction, name: &str) -> Option<()> {
        let is_vector = (0..inst.op_count()).any(|at| match inst.op(at) {
            Operand::Reg { reg, .. } => Self::number(reg).is_some_and(|(class, number)| "bhsdqv".contains(class) && number < 32),
            _ => false,
        });
        if is_vector {
            return self.vector_instruction(inst, name);
        }
        let to = inst.op_register(0);
        let bytes = Self::width(to)?;
        let bits = 8 * bytes as u32;
        let made = match name {
            "cmp" | "cmn" | "tst" => return self.compare(inst, name, bytes),
            "cset" | "csetm" | "csel" | "csinc" | "csinv" | "cinc" => self.conditional(inst, name)?,
            "movk" => {
                let (old, Operand::ImmShiftedMove { imm, lsl }) = (self.read(to)?, inst.op(1)) else { return None };
                Value::new(old.bits & !(0xFFFF << lsl) | u128::from(imm) << lsl, old.reads)
            }
            "mov" | "movz" | "movn" | "mvn" | "neg" | "rbit" | "clz" | "sxtw" | "sxtb" | "sxth" | "uxtb" | "uxth" | "adr" => {
                let value = self.operand(inst, 1, bytes)?;
                let made = match name {
                    "movn" | "mvn" => !value.bits,
                    "neg" => value.bits.wrapping_neg(),
                    "rbit" => value.bits.reverse_bits() >> (128 - bits),
                    "clz" => u128::from(value.bits.leading_zeros() + bits - 128),
                    "sxtw" => u128::from(i64::from(value.bits as u32 as i32).cast_unsigned()),
                    "sxth" => u128::from(i64::from(value.bits as u16 as i16).cast_unsigned()),
                    "sxtb" => u128::from(i64::from(value.bits as u8 as i8).cast_unsigned()),
                    "uxth" => value.bits & 0xFFFF,
                    "uxtb" => value.bits & 0xFF,
                    _ => value.bits,
                };
                Value::new(made, value.reads)
            }
            "madd" | "msub" | "ubfx" | "sbfiz" => {
                let (a, b, c) = (self.operand(inst, 1, bytes)?, self.operand(inst, 2, bytes)?, self.operand(inst, 3, bytes)?);
                let product = a.bits.wrapping_mul(b.bits);
                let made = match name {
                    "madd" => c.bits.wrapping_add(product),
                    "msub" => c.bits.wrapping_sub(product),
                    "sbfiz" => {
                        let unused = 128 - c.bits as u32;
                        ((a.bits << unused).cast_signed() >> unused).cast_unsigned() << b.bits
                    }
                    _ => a.bits >> b.bits & ((1 << c.bits) - 1),
                };
                Value::new(made, a.reads | b.reads | c.reads)
            }
            _ => self.binary(inst, name, bytes)?,
        };
        self.write(to, made)
    }

    fn binary(&self, inst: &Instruction, name: &str, bytes: u64) -> Option<Value> {
        let (a, b) = (self.operand(inst, 1, bytes)?, self.operand(inst, 2, bytes)?);
        let bits = 8 * bytes as u32;
        let signed = |value: u128| (value << (128 - bits)).cast_signed() >> (128 - bits);
        let amount = b.bits as u32 % bits;
        let made = match name {
            "add" => a.bits.wrapping_add(b.bits),
            "sub" => a.bits.wrapping_sub(b.bits),
            "and" => a.bits & b.bits,
            "bic" => a.bits & !b.bits,
            "orr" => a.bits | b.bits,
            "orn" => a.bits | !b.bits,
            "eor" => a.bits ^ b.bits,
            "mul" => a.bits.wrapping_mul(b.bits),
            "udiv" => a.bits.checked_div(b.bits).unwrap_or(0),
            "lsl" => a.bits << amount,
            "lsr" => a.bits >> amount,
            "asr" => (signed(a.bits) >> amount).cast_unsigned(),
            _ => return None,
        };
        Some(Value::new(made, a.reads | b.reads))
    }

    /// Returns the value of an operand of `bytes` bytes: a register with its shift, or an immediate.
    fn operand(&self, inst: &Instruction, at: usize, bytes: u64) -> Option<Value> {
        let value = match inst.op(at) {
            Operand::Reg { reg, shift, extend, .. } => {
                let value = self.read(reg)?;
                let bits = extend.map_or(value.bits, |extend| extended(value.bits, extend));
                let shifted = match shift {
                    None | Some((ShiftType::None, _)) => bits,
                    Some((ShiftType::Lsl, by)) => bits << by,
                    Some((ShiftType::Lsr, by)) => bits >> by,
                    Some(_) => return None,
                };
                Value::new(shifted, value.reads)
            }
            Operand::ImmUnsigned(number) | Operand::ImmLogical(number) | Operand::Label(number) => Value::new(number.into(), 0),
            Operand::ImmSigned(number) => Value::new(u128::from(number.cast_unsigned()), 0),
            Operand::ImmShiftedMove { imm, lsl } => Value::new(u128::from(imm) << lsl, 0),
            Operand::ShiftAmount(by) => Value::new(by.into(), 0),
            _ => return None,
        };
        Some(Value::new(value.bits & mask(bytes), value.reads))
    }

    /// Sets the flags to the result of a comparison or test.
    fn compare(&mut self, inst: &Instruction, name: &str, bytes: u64) -> Option<()> {
        let (a, b) = (self.operand(inst, 0, bytes)?, self.operand(inst, 1, bytes)?);
        let sign = 8 * bytes as u32 - 1;
        let (made, carry) = match name {
            "cmp" => (a.bits.wrapping_sub(b.bits), a.bits >= b.bits),
            "cmn" => (a.bits.wrapping_add(b.bits), (a.bits + b.bits) >> (sign + 1) != 0),
            _ => (a.bits & b.bits, false),
        };
        let negative = |value: u128| value >> sign & 1 == 1;
        let overflow = match name {
            "cmp" => negative(a.bits) != negative(b.bits) && negative(made) != negative(a.bits),
            "cmn" => negative(a.bits) == negative(b.bits) && negative(made) != negative(a.bits),
            _ => false,
        };
        self.flags = Flags { negative: negative(made), zero: made & mask(bytes) == 0, carry, overflow, reads: a.reads | b.reads };
        Some(())
    }

    /// Executes a conditional select. Since 2022, the architecture orders fewer accesses by its result than by other
    /// dependencies. The model therefore counts no dependency.
    fn conditional(&self, inst: &Instruction, name: &str) -> Option<Value> {
        let holds = self.flags.holds(inst.condition()?);
        let value = |at: usize| self.read(inst.op_register(at)).map(|value| value.bits);
        let bits = match name {
            "cset" => u128::from(holds),
            "csetm" => u128::from(holds).wrapping_neg(),
            "cinc" => value(1)? + u128::from(holds),
            _ if holds => value(1)?,
            "csel" => value(2)?,
            "csinc" => value(2)? + 1,
            _ => !value(2)?,
        };
        Some(Value::new(bits, 0))
    }

    fn vector_instruction(&mut self, inst: &Instruction, name: &str) -> Option<()> {
        let Operand::Reg { reg: to, arr, lane, .. } = inst.op(0) else { return None };
        let element = |at: usize| match inst.op(at) {
            Operand::Reg { reg, arr: Some(arr), lane: Some(lane), .. } => Some((reg, u64::from(arr.element_bits() / 8), u32::from(lane))),
            _ => None,
        };
        let made = match name {
            "movi" | "mvni" => {
                let (bytes, value) = (u64::from(arr?.element_bits() / 8), self.operand(inst, 1, 16)?);
                splat(bytes, arr?.element_count(), if name == "mvni" { !value.bits } else { value.bits }, 0)
            }
            "dup" => {
                let bytes = u64::from(arr?.element_bits() / 8);
                let value = match element(1) {
                    Some((reg, bytes, lane)) => self.lane(reg, bytes, lane)?,
                    None => self.read(inst.op_register(1))?,
                };
                splat(bytes, arr?.element_count(), value.bits, value.reads)
            }
            // Moves into a lane, from a lane, and between registers.
            "mov" | "ins" | "umov" | "fmov" => {
                let value = match element(1) {
                    Some((reg, bytes, lane)) => self.lane(reg, bytes, lane)?,
                    None => self.read(inst.op_register(1))?,
                };
                if let Some(lane) = lane {
                    let (old, bytes) = (self.read(to)?, u64::from(arr?.element_bits() / 8));
                    let shift = 8 * bytes as u32 * u32::from(lane);
                    let bits = old.bits & !(mask(bytes) << shift) | (value.bits & mask(bytes)) << shift;
                    Value::new(bits, old.reads | value.reads)
                } else {
                    value
                }
            }
            "umaxv" | "uminv" | "addv" => {
                let Operand::Reg { reg, arr: Some(arr), .. } = inst.op(1) else { return None };
                let value = self.read(reg)?;
                let lanes = lanes(value.bits, u64::from(arr.element_bits() / 8), arr.element_count());
                let made = match name {
                    "umaxv" => lanes.max(),
                    "uminv" => lanes.min(),
                    _ => Some(lanes.fold(0, u128::wrapping_add)),
                };
                Value::new(made?, value.reads)
            }
            _ => {
                let arr = arr?;
                let (a, b) = (self.read(inst.op_register(1))?, self.vector_operand(inst, 2)?);
                let old = self.read(to)?;
                let reads = a.reads | b.reads | if matches!(name, "bsl" | "bit" | "bif") { old.reads } else { 0 };
                vector_binary(name, old.bits, (a.bits, b.bits), u64::from(arr.element_bits() / 8), arr.element_count(), reads)?
            }
        };
        self.write(to, made)
    }

    /// Returns a lane of a vector.
    fn lane(&self, reg: fARM64::Register, bytes: u64, lane: u32) -> Option<Value> {
        let value = self.read(reg)?;
        Some(Value::new(value.bits >> (8 * bytes as u32 * lane) & mask(bytes), value.reads))
    }

    /// Returns the second operand of a vector instruction: a register, a number, or nothing.
    fn vector_operand(&self, inst: &Instruction, at: usize) -> Option<Value> {
        match inst.op(at) {
            Operand::Reg { reg, .. } => self.read(reg),
            Operand::None => Some(Value::default()),
            _ => self.operand(inst, at, 16),
        }
    }
}

fn lanes(bits: u128, bytes: u64, count: u8) -> impl Iterator<Item = u128> {
    (0..u32::from(count)).map(move |lane| bits >> (8 * bytes as u32 * lane) & mask(bytes))
}

fn splat(bytes: u64, count: u8, bits: u128, reads: EventSet) -> Value {
    let made = (0..u32::from(count)).fold(0, |made, lane| made | (bits & mask(bytes)) << (8 * bytes as u32 * lane));
    Value::new(made, reads)
}

/// Executes an operation on two vectors, lane by lane.
fn vector_binary(name: &str, old: u128, (a, b): (u128, u128), bytes: u64, count: u8, reads: EventSet) -> Option<Value> {
    let bitwise = match name {
        "and" => Some(a & b),
        "orr" => Some(a | b),
        "eor" => Some(a ^ b),
        "bic" => Some(a & !b),
        "mvn" | "not" => Some(!a),
        "bsl" => Some(a & old | b & !old),
        "bit" => Some(old & !b | a & b),
        "bif" => Some(old & b | a & !b),
        _ => None,
    };
    if let Some(bits) = bitwise {
        return Some(Value::new(bits, reads));
    }
    let sign = 8 * bytes as u32 - 1;
    let signed = |value: u128| (value << (127 - sign)).cast_signed() >> (127 - sign);
    let mut made = 0;
    // The immediate operand of a comparison with zero is 0 in every lane.
    for (lane, (a, b)) in lanes(a, bytes, count).zip(lanes(b, bytes, count)).enumerate() {
        let all = |holds: bool| if holds { mask(bytes) } else { 0 };
        let value = match name {
            "add" => a.wrapping_add(b),
            "sub" => a.wrapping_sub(b),
            "cmeq" => all(a == b),
            "cmhi" => all(a > b),
            "cmhs" => all(a >= b),
            "cmgt" => all(signed(a) > signed(b)),
            "cmge" => all(signed(a) >= signed(b)),
            "cmlt" => all(signed(a) < signed(b)),
            "cmtst" => all(a & b != 0),
            _ => return None,
        };
        made |= (value & mask(bytes)) << (8 * bytes as u32 * lane as u32);
    }
    Some(Value::new(made, reads))
}
