//! Runs lowered functions, one work-item, so that tests can compare results instead of instructions. Independent of the passes and of
//! emission, slow, and strict: what is out of bounds or unspecified is an error.

use crate::ir::{AtomicOp, BinOp, CastOp, CmpOp, Const, Func, Function, MathOp, Module, Op, Region, Scalar, Type, UnOp, Value, WorkItem};

/// A value: the bits of each lane. Pointers are an object's number in the high half and an offset in the low one.
pub(super) type Lanes = Vec<u64>;

/// Objects are found by pointers' high halves; number 0 is null.
pub(super) struct Machine<'m> {
    module: &'m Module,
    pub(super) objects: Vec<Vec<u8>>,
    globals: Vec<u64>,
    /// Instructions left.
    fuel: u64,
}

enum Flow {
    Yield,
    Break(Vec<Lanes>),
    Continue(Vec<Lanes>),
    Return(Option<Lanes>),
}

type Result<T> = std::result::Result<T, String>;

struct Frame<'m> {
    function: &'m Function,
    values: Vec<Option<Lanes>>,
    vars: Vec<u64>,
    results: Vec<Lanes>,
}

impl<'m> Machine<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut machine = Self { module, objects: vec![Vec::new()], globals: Vec::new(), fuel: 10_000_000 };
        for global in &module.globals {
            let bytes = global.init.clone().unwrap_or_else(|| vec![0; global.size as usize]);
            let pointer = machine.allocate(bytes);
            machine.globals.push(pointer);
        }
        for (global, &pointer) in module.globals.iter().zip(&machine.globals) {
            for reloc in &global.relocs {
                let target = machine.globals[reloc.target.index()].wrapping_add_signed(reloc.addend);
                let at = reloc.at as usize;
                machine.objects[(pointer >> 32) as usize][at..at + 8].copy_from_slice(&target.to_le_bytes());
            }
        }
        machine
    }

    pub(super) fn allocate(&mut self, bytes: Vec<u8>) -> u64 {
        self.objects.push(bytes);
        ((self.objects.len() - 1) as u64) << 32
    }

    pub(super) fn object(&self, pointer: u64) -> &[u8] {
        &self.objects[(pointer >> 32) as usize]
    }

    pub(super) fn call(&mut self, func: Func, args: Vec<Lanes>) -> Result<Option<Lanes>> {
        let function = self.module.functions.get(func.index()).ok_or("no such function")?;
        let mut frame = Frame { function, values: vec![None; function.values.len()], vars: Vec::new(), results: Vec::new() };
        for (param, arg) in function.params.iter().zip(args) {
            frame.values[param.index()] = Some(arg);
        }
        for var in &function.vars {
            // What was never stored is no zero.
            frame.vars.push(self.allocate(vec![0xCD; var.size as usize]));
        }
        match self.region(&mut frame, &function.body)? {
            Flow::Return(value) => Ok(value),
            _ => Err("the body ends without return".to_owned()),
        }
    }

    fn bytes(&mut self, pointer: u64, size: u32, align: u32) -> Result<&mut [u8]> {
        let (object, offset) = ((pointer >> 32) as usize, (pointer & 0xffff_ffff) as usize);
        if !offset.is_multiple_of(align as usize) {
            return Err(format!("an access at {offset} is not aligned to {align}"));
        }
        let bytes = self.objects.get_mut(object).filter(|_| object != 0).ok_or("a wild pointer")?;
        let length = bytes.len();
        bytes.get_mut(offset..offset + size as usize).ok_or_else(|| format!("{size} bytes at {offset} of {length}"))
    }

    fn load(&mut self, pointer: u64, ty: Type, align: u32) -> Result<Lanes> {
        let size = match ty {
            Type::Ptr(_) => 8,
            _ => ty.scalar().map_or(0, Scalar::size),
        };
        let bytes = self.bytes(pointer, ty.access_size(8), align)?;
        Ok(bytes.chunks_exact(size as usize).map(|chunk| chunk.iter().rev().fold(0, |bits, byte| (bits << 8) | u64::from(*byte))).collect())
    }

    fn store(&mut self, pointer: u64, value: &Lanes, ty: Type, align: u32) -> Result<()> {
        let size = match ty {
            Type::Ptr(_) => 8,
            _ => ty.scalar().map_or(0, Scalar::size) as usize,
        };
        let bytes = self.bytes(pointer, ty.access_size(8), align)?;
        for (chunk, lane) in bytes.chunks_exact_mut(size).zip(value) {
            chunk.copy_from_slice(&lane.to_le_bytes()[..size]);
        }
        Ok(())
    }

    fn region(&mut self, frame: &mut Frame<'m>, region: &'m Region) -> Result<Flow> {
        for inst in &region.insts {
            self.fuel = self.fuel.checked_sub(1).ok_or("it runs for too long")?;
            let all = |frame: &Frame<'m>, values: &[Value]| values.iter().map(|&v| frame.get(v)).collect::<Result<Vec<Lanes>>>();
            let flow = match &inst.op {
                Op::If { cond, then, els } => {
                    let taken = frame.get(*cond)?[0] != 0;
                    self.region(frame, if taken { then } else { els })?
                }
                Op::Switch { selector, cases, default } => {
                    let selector = frame.get(*selector)?[0];
                    let case = cases.iter().find(|(values, _)| values.contains(&selector)).map_or(default, |(_, region)| region);
                    self.region(frame, case)?
                }
                Op::Loop { init, params, body, .. } => {
                    let mut carried = all(frame, init)?;
                    loop {
                        for (param, value) in params.iter().zip(carried.clone()) {
                            frame.values[param.index()] = Some(value);
                        }
                        match self.region(frame, body)? {
                            Flow::Continue(values) => carried = values,
                            Flow::Break(values) => {
                                frame.results = values;
                                break Flow::Yield;
                            }
                            Flow::Return(value) => break Flow::Return(value),
                            Flow::Yield => return Err("a loop's body yields".to_owned()),
                        }
                    }
                }
                Op::Yield(values) => {
                    frame.results = all(frame, values)?;
                    return Ok(Flow::Yield);
                }
                Op::Break(values) => return Ok(Flow::Break(all(frame, values)?)),
                Op::Continue(values) => return Ok(Flow::Continue(all(frame, values)?)),
                Op::Return(value) => return Ok(Flow::Return(value.map(|v| frame.get(v)).transpose()?)),
                Op::Unreachable => return Err("the unreachable was reached".to_owned()),
                op => {
                    let ty = inst.results.first().map_or(Type::Void, |&r| frame.function.ty(r));
                    frame.results = self.op(frame, op, ty)?.into_iter().collect();
                    Flow::Yield
                }
            };
            if !matches!(flow, Flow::Yield) {
                return Ok(flow);
            }
            for (result, value) in inst.results.iter().zip(std::mem::take(&mut frame.results)) {
                frame.values[result.index()] = Some(value);
            }
        }
        Err("a region without terminator".to_owned())
    }

    fn op(&mut self, frame: &Frame<'m>, op: &Op, ty: Type) -> Result<Option<Lanes>> {
        let scalar_of = |v: Value| frame.function.ty(v).scalar().unwrap_or(Scalar::I64);
        Ok(Some(match op {
            Op::Const(Const::Bits(bits)) => vec![*bits],
            Op::Const(Const::Lanes(lanes)) => lanes.clone(),
            Op::Const(Const::Null) => vec![0],
            // Something that shows where it is used.
            Op::Const(Const::Undef) => vec![0xDEAD_BEEF & ty.scalar().map_or(u64::MAX, Scalar::mask); usize::from(ty.lanes())],
            Op::Un(op, a) => {
                let s = scalar_of(*a);
                map1(&frame.get(*a)?, |x| match op {
                    UnOp::Not => !x & s.mask(),
                    UnOp::Neg => x.wrapping_neg() & s.mask(),
                    UnOp::FNeg => x ^ (1 << (s.bits() - 1)),
                })
            }
            Op::Bin(op, a, b) => {
                let s = scalar_of(*a);
                map2(&frame.get(*a)?, &frame.get(*b)?, |x, y| binary(*op, x, y, s))?
            }
            Op::Cmp(op, a, b) => {
                let s = scalar_of(*a);
                map2(&frame.get(*a)?, &frame.get(*b)?, |x, y| Ok(u64::from(compare(*op, x, y, s))))?
            }
            Op::Cast(op, a) => {
                let from = scalar_of(*a);
                let to = ty.scalar().unwrap_or(Scalar::I64);
                let value = frame.get(*a)?;
                match op {
                    CastOp::Bitcast => regroup(&value, from.size(), to.size()),
                    CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => value,
                    _ => map1(&value, |x| convert(*op, x, from, to)),
                }
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (frame.get(*c)?, frame.get(*a)?, frame.get(*b)?);
                (0..a.len()).map(|i| if c[if c.len() == 1 { 0 } else { i }] != 0 { a[i] } else { b[i] }).collect()
            }
            Op::Math(op, args) => {
                let s = scalar_of(args[0]);
                let args = args.iter().map(|&v| frame.get(v)).collect::<Result<Vec<_>>>()?;
                (0..args[0].len()).map(|i| math(*op, &args.iter().map(|arg| arg[i]).collect::<Vec<_>>(), s)).collect::<Result<_>>()?
            }
            Op::All(a) => vec![u64::from(frame.get(*a)?.iter().all(|&x| x != 0))],
            Op::Any(a) => vec![u64::from(frame.get(*a)?.iter().any(|&x| x != 0))],
            Op::Construct(lanes) => lanes.iter().map(|&v| frame.get(v).map(|x| x[0])).collect::<Result<_>>()?,
            Op::Splat(a) => vec![frame.get(*a)?[0]; usize::from(ty.lanes())],
            Op::Extract(a, lane) => vec![frame.get(*a)?[usize::from(*lane)]],
            Op::ExtractDyn(a, i) => vec![frame.get(*a)?.get(frame.get(*i)?[0] as usize).copied().unwrap_or(0xBAD)],
            Op::Insert(a, lane, x) => {
                let mut vector = frame.get(*a)?;
                vector[usize::from(*lane)] = frame.get(*x)?[0];
                vector
            }
            Op::InsertDyn(a, i, x) => {
                let mut vector = frame.get(*a)?;
                let lane = frame.get(*i)?[0] as usize;
                *vector.get_mut(lane).ok_or("a lane out of range")? = frame.get(*x)?[0];
                vector
            }
            Op::Shuffle(a, b, lanes) => {
                let both = [frame.get(*a)?, frame.get(*b)?].concat();
                lanes.iter().map(|lane| lane.map_or(0xBAD, |lane| both[usize::from(lane)])).collect()
            }
            Op::WorkItem(query) => vec![match query {
                WorkItem::GlobalId(d) => 5 + u64::from(*d),
                WorkItem::LocalId(_) | WorkItem::GlobalOffset(_) => 0,
                WorkItem::WorkDim => 2,
                _ => 1,
            }],
            Op::VarAddr(var) => vec![frame.vars[var.index()]],
            Op::GlobalAddr(global) => vec![self.globals[global.index()]],
            Op::PtrAdd(p, offset) => {
                let by = sign(frame.get(*offset)?[0], scalar_of(*offset));
                vec![frame.get(*p)?[0].wrapping_add_signed(by)]
            }
            Op::Load { ptr, align, .. } => self.load(frame.get(*ptr)?[0], ty, *align)?,
            Op::Store { ptr, value, align, .. } => {
                self.store(frame.get(*ptr)?[0], &frame.get(*value)?, frame.function.ty(*value), *align)?;
                return Ok(None);
            }
            Op::Copy { dst, src, size, align } => {
                let bytes = self.bytes(frame.get(*src)?[0], *size, *align)?.to_vec();
                self.bytes(frame.get(*dst)?[0], *size, *align)?.copy_from_slice(&bytes);
                return Ok(None);
            }
            Op::Zero { dst, size, align } => {
                self.bytes(frame.get(*dst)?[0], *size, *align)?.fill(0);
                return Ok(None);
            }
            Op::Atomic { op, ptr, value, ty } => {
                let ty = Type::Scalar(*ty);
                let pointer = frame.get(*ptr)?[0];
                let old = self.load(pointer, ty, ty.access_size(8))?;
                let Some(value) = value else { return Ok(Some(old)) };
                let value = frame.get(*value)?[0];
                let s = scalar_of_type(ty);
                let bin = |op| binary(op, old[0], value, s);
                let new = match op {
                    AtomicOp::Add => bin(BinOp::Add)?,
                    AtomicOp::Sub => bin(BinOp::Sub)?,
                    AtomicOp::And => bin(BinOp::And)?,
                    AtomicOp::Or => bin(BinOp::Or)?,
                    AtomicOp::Xor => bin(BinOp::Xor)?,
                    AtomicOp::SMin => bin(BinOp::SMin)?,
                    AtomicOp::SMax => bin(BinOp::SMax)?,
                    AtomicOp::UMin => bin(BinOp::UMin)?,
                    AtomicOp::UMax => bin(BinOp::UMax)?,
                    AtomicOp::FAdd => bin(BinOp::FAdd)?,
                    AtomicOp::FMin => bin(BinOp::FMin)?,
                    AtomicOp::FMax => bin(BinOp::FMax)?,
                    AtomicOp::Xchg | AtomicOp::Store | AtomicOp::Load => value,
                };
                self.store(pointer, &vec![new], ty, ty.access_size(8))?;
                if *op == AtomicOp::Store {
                    return Ok(None);
                }
                old
            }
            Op::CmpXchg { ptr, expected, desired, ty } => {
                let ty = Type::Scalar(*ty);
                let pointer = frame.get(*ptr)?[0];
                let old = self.load(pointer, ty, ty.access_size(8))?;
                if old == frame.get(*expected)? {
                    self.store(pointer, &frame.get(*desired)?, ty, ty.access_size(8))?;
                }
                old
            }
            Op::Barrier(_) | Op::MemFence(_) => return Ok(None),
            Op::Call(func, args) => {
                let args = args.iter().map(|&v| frame.get(v)).collect::<Result<Vec<_>>>()?;
                return self.call(*func, args);
            }
            _ => return Err("not an operation of tests".to_owned()),
        }))
    }
}

impl Frame<'_> {
    fn get(&self, value: Value) -> Result<Lanes> {
        self.values[value.index()].clone().ok_or_else(|| format!("{value} is read before it is defined"))
    }
}

fn scalar_of_type(ty: Type) -> Scalar {
    ty.scalar().unwrap_or(Scalar::I64)
}

fn map1(a: &Lanes, f: impl Fn(u64) -> u64) -> Lanes {
    a.iter().map(|&x| f(x)).collect()
}

fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> Result<u64>) -> Result<Lanes> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

fn regroup(value: &Lanes, from: u32, to: u32) -> Lanes {
    let bytes: Vec<u8> = value.iter().flat_map(|lane| lane.to_le_bytes()[..from as usize].to_vec()).collect();
    bytes.chunks_exact(to as usize).map(|chunk| chunk.iter().rev().fold(0, |bits, byte| (bits << 8) | u64::from(*byte))).collect()
}

fn sign(bits: u64, scalar: Scalar) -> i64 {
    super::super::builder::sign_extend(bits, scalar.bits())
}

pub(super) fn float(bits: u64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

pub(super) fn bits(value: f64, scalar: Scalar) -> u64 {
    super::super::builder::float_bits(scalar, value)
}

fn binary(op: BinOp, x: u64, y: u64, s: Scalar) -> Result<u64> {
    let (a, b) = (sign(x, s), sign(y, s));
    let (wide_a, wide_b) = (i128::from(a), i128::from(b));
    let amount = (y & u64::from(s.bits().max(1) - 1)) as u32;
    let signed_range = (-(1_i128 << (s.bits() - 1)), (1_i128 << (s.bits() - 1)) - 1);
    let saturate = |value: i128| value.clamp(signed_range.0, signed_range.1) as u64;
    let (fx, fy) = if s.is_float() { (float(x, s), float(y, s)) } else { (0.0, 0.0) };
    Ok(s.mask()
        & match op {
            BinOp::Add => x.wrapping_add(y),
            BinOp::Sub => x.wrapping_sub(y),
            BinOp::Mul => x.wrapping_mul(y),
            BinOp::SDiv => a.checked_div(b).ok_or("division by zero")? as u64,
            BinOp::UDiv => x.checked_div(y).ok_or("division by zero")?,
            BinOp::SRem => a.checked_rem(b).ok_or("division by zero")? as u64,
            BinOp::URem => x.checked_rem(y).ok_or("division by zero")?,
            BinOp::Shl => x << amount,
            BinOp::LShr => x >> amount,
            BinOp::AShr => (a >> amount) as u64,
            BinOp::And => x & y,
            BinOp::Or => x | y,
            BinOp::Xor => x ^ y,
            BinOp::FAdd => bits(fx + fy, s),
            BinOp::FSub => bits(fx - fy, s),
            BinOp::FMul => bits(fx * fy, s),
            BinOp::FDiv => bits(fx / fy, s),
            BinOp::SMin => a.min(b) as u64,
            BinOp::UMin => x.min(y),
            BinOp::SMax => a.max(b) as u64,
            BinOp::UMax => x.max(y),
            BinOp::FMin => bits(fx.min(fy), s),
            BinOp::FMax => bits(fx.max(fy), s),
            BinOp::SMulHi => ((wide_a * wide_b) >> s.bits()) as u64,
            BinOp::UMulHi => ((u128::from(x) * u128::from(y)) >> s.bits()) as u64,
            BinOp::SAddSat => saturate(wide_a + wide_b),
            BinOp::SSubSat => saturate(wide_a - wide_b),
            BinOp::UAddSat => (u128::from(x) + u128::from(y)).min(u128::from(s.mask())) as u64,
            BinOp::USubSat => x.saturating_sub(y),
            BinOp::Rotate => (x << amount) | x.checked_shr(s.bits() - amount).unwrap_or(0),
        })
}

fn compare(op: CmpOp, x: u64, y: u64, s: Scalar) -> bool {
    let (a, b) = (sign(x, s), sign(y, s));
    let (fx, fy) = if s.is_float() { (float(x, s), float(y, s)) } else { (0.0, 0.0) };
    match op {
        CmpOp::Eq => x == y,
        CmpOp::Ne => x != y,
        CmpOp::SLt => a < b,
        CmpOp::SLe => a <= b,
        CmpOp::SGt => a > b,
        CmpOp::SGe => a >= b,
        CmpOp::ULt => x < y,
        CmpOp::ULe => x <= y,
        CmpOp::UGt => x > y,
        CmpOp::UGe => x >= y,
        CmpOp::FEq => fx == fy,
        CmpOp::FNe => fx != fy,
        CmpOp::FLt => fx < fy,
        CmpOp::FLe => fx <= fy,
        CmpOp::FGt => fx > fy,
        CmpOp::FGe => fx >= fy,
    }
}

fn convert(op: CastOp, x: u64, from: Scalar, to: Scalar) -> u64 {
    let value = match op {
        CastOp::Trunc | CastOp::ZExt => x,
        CastOp::SExt if from == Scalar::Bool => x.wrapping_neg(),
        CastOp::SExt => sign(x, from) as u64,
        // Out of range is unspecified: something recognisable.
        CastOp::FToS => {
            let value = float(x, from).trunc();
            let limit = f64::from(to.bits() - 1).exp2();
            if value >= -limit && value < limit { value as i64 as u64 } else { 0x0BAD_0BAD_0BAD_0BAD }
        }
        CastOp::FToU => {
            let value = float(x, from).trunc();
            if value >= 0.0 && value < f64::from(to.bits()).exp2() { value as u64 } else { 0x0BAD_0BAD_0BAD_0BAD }
        }
        // Through the target's own width: two roundings would not do.
        CastOp::SToF if to == Scalar::F32 => u64::from((sign(x, from) as f32).to_bits()),
        CastOp::UToF if to == Scalar::F32 => u64::from((x as f32).to_bits()),
        CastOp::SToF => bits(sign(x, from) as f64, to),
        CastOp::UToF => bits(x as f64, to),
        CastOp::FToF => bits(float(x, from), to),
        _ => x,
    };
    value & to.mask()
}

fn math(op: MathOp, args: &[u64], s: Scalar) -> Result<u64> {
    let width = s.bits();
    let x = args[0];
    let f = if s.is_float() { float(x, s) } else { 0.0 };
    let arg = |i: usize| float(args[i], s);
    Ok(match op {
        MathOp::FAbs => bits(f.abs(), s),
        MathOp::Floor => bits(f.floor(), s),
        MathOp::Ceil => bits(f.ceil(), s),
        MathOp::FTrunc => bits(f.trunc(), s),
        MathOp::Rint => bits(f.round_ties_even(), s),
        MathOp::Sqrt => bits(f.sqrt(), s),
        MathOp::RSqrt => bits(f.sqrt().recip(), s),
        MathOp::Fma | MathOp::FMulAdd => bits(f.mul_add(arg(1), arg(2)), s),
        MathOp::SAbs => sign(x, s).unsigned_abs() & s.mask(),
        MathOp::Clz => u64::from(x.leading_zeros() - (64 - width)),
        MathOp::Ctz => u64::from(x.trailing_zeros().min(width)),
        MathOp::Popcount => u64::from(x.count_ones()),
        MathOp::ReverseBits => x.reverse_bits() >> (64 - width),
        other => return Err(format!("{other:?} is no operation of tests")),
    })
}
