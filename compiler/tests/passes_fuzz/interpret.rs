//! Runs one work-item of a kernel on IR, for comparing a program with itself after a pass.
//!
//! Undefined values are a byte that the caller names: a program whose outcome depends on it is not fit for a comparison. Pointers are an object's number
//! in the high half and an offset in the low half; objects are numbered as they are made, buffers first.

use wgcl_compiler::ir::{AtomicOp, BinOp, CastOp, Const, Func, Function, Global, Inst, Module, Op, Region, Type, Value, WorkItem};
use wgcl_compiler::passes::simplify::eval;

/// Bits of a value, one word a lane; pointers are one word.
type Bits = Vec<u64>;

/// How control leaves a region.
enum Exit {
    Yield(Vec<Bits>),
    Break(Vec<Bits>),
    Continue(Vec<Bits>),
    Return(Option<Bits>),
}

/// The state of a run.
pub struct Machine<'m> {
    module: &'m Module,
    /// Memory objects; number 0 is null.
    pub objects: Vec<Vec<u8>>,
    globals: Vec<Option<u64>>,
    /// Instructions that may still be executed.
    fuel: usize,
    /// What undefined bytes read as.
    undefined: u8,
}

type Outcome<T> = Result<T, String>;

struct Frame<'f> {
    function: &'f Function,
    values: Vec<Option<Bits>>,
    vars: Vec<u64>,
}

/// Runs a kernel whose parameters are buffers of the given contents or values. Returns the buffers' contents afterwards.
pub fn run(module: &Module, kernel: usize, buffers: &[Vec<u8>], values: &[u64], undefined: u8) -> Outcome<Vec<Vec<u8>>> {
    let function = module.functions.get(kernel).ok_or("no kernel")?;
    let mut objects = vec![Vec::new()];
    objects.extend(buffers.iter().cloned());
    let mut machine = Machine { module, objects, globals: vec![None; module.globals.len()], fuel: 200_000, undefined };
    let (mut next_buffer, mut next_value) = (1_u64, values.iter());
    let mut args = Vec::new();
    for &param in &function.params {
        args.push(match function.ty(param) {
            Type::Ptr(_) => {
                next_buffer += 1;
                vec![(next_buffer - 1) << 32]
            }
            ty => {
                let bits = next_value.next().copied().ok_or("too few values")?;
                vec![bits & ty.scalar().map_or(u64::MAX, wgcl_compiler::ir::Scalar::mask); usize::from(ty.lanes())]
            }
        });
    }
    machine.call(Func(u32::try_from(kernel).unwrap_or(0)), args)?;
    Ok(machine.objects[1..=buffers.len()].to_vec())
}

impl<'m> Machine<'m> {
    fn call(&mut self, func: Func, args: Vec<Bits>) -> Outcome<Option<Bits>> {
        let module = self.module;
        let function = module.functions.get(func.index()).ok_or("no function")?;
        let mut frame = Frame { function, values: vec![None; function.values.len()], vars: Vec::new() };
        for var in &function.vars {
            self.objects.push(vec![self.undefined; var.size as usize]);
            frame.vars.push((self.objects.len() as u64 - 1) << 32);
        }
        for (&param, arg) in function.params.iter().zip(args) {
            frame.values[param.index()] = Some(arg);
        }
        match self.region(&mut frame, &function.body)? {
            Exit::Return(value) => Ok(value),
            _ => Err("a body that does not return".to_owned()),
        }
    }

    fn region(&mut self, frame: &mut Frame, region: &Region) -> Outcome<Exit> {
        for inst in &region.insts {
            self.fuel = self.fuel.checked_sub(1).ok_or("it runs too long")?;
            if let Some(exit) = self.inst(frame, inst)? {
                return Ok(exit);
            }
        }
        Err("a region without end".to_owned())
    }

    fn inst(&mut self, frame: &mut Frame, inst: &Inst) -> Outcome<Option<Exit>> {
        let all = |frame: &Frame, list: &[Value]| list.iter().map(|&value| get(frame, value)).collect::<Outcome<Vec<Bits>>>();
        match &inst.op {
            Op::If { cond, then, els } => {
                let taken = if get(frame, *cond)?[0] & 1 == 1 { then } else { els };
                return self.branch(frame, inst, taken);
            }
            Op::Switch { selector, cases, default } => {
                let bits = get(frame, *selector)?[0];
                let taken = cases.iter().find(|(values, _)| values.contains(&bits)).map_or(default, |(_, region)| region);
                return self.branch(frame, inst, taken);
            }
            Op::Loop { init, params, body, .. } => {
                let mut carried = all(frame, init)?;
                loop {
                    for (&param, value) in params.iter().zip(carried) {
                        frame.values[param.index()] = Some(value);
                    }
                    match self.region(frame, body)? {
                        Exit::Continue(values) => carried = values,
                        Exit::Break(values) => {
                            for (&result, value) in inst.results.iter().zip(values) {
                                frame.values[result.index()] = Some(value);
                            }
                            return Ok(None);
                        }
                        exit => return Ok(Some(exit)),
                    }
                }
            }
            Op::Yield(values) => return Ok(Some(Exit::Yield(all(frame, values)?))),
            Op::Break(values) => return Ok(Some(Exit::Break(all(frame, values)?))),
            Op::Continue(values) => return Ok(Some(Exit::Continue(all(frame, values)?))),
            Op::Return(value) => return Ok(Some(Exit::Return(value.map(|value| get(frame, value)).transpose()?))),
            Op::Unreachable => return Err("it reached `unreachable`".to_owned()),
            Op::Call(func, args) => {
                let args = all(frame, args)?;
                let value = self.call(*func, args)?;
                if let (Some(&result), Some(value)) = (inst.results.first(), value) {
                    frame.values[result.index()] = Some(value);
                }
            }
            op => {
                let ty = inst.results.first().map_or(Type::Void, |&result| frame.function.ty(result));
                let value = self.operation(frame, op, ty)?;
                if let (Some(&result), Some(value)) = (inst.results.first(), value) {
                    frame.values[result.index()] = Some(value);
                }
            }
        }
        Ok(None)
    }

    fn branch(&mut self, frame: &mut Frame, inst: &Inst, taken: &Region) -> Outcome<Option<Exit>> {
        match self.region(frame, taken)? {
            Exit::Yield(values) => {
                for (&result, value) in inst.results.iter().zip(values) {
                    frame.values[result.index()] = Some(value);
                }
                Ok(None)
            }
            exit => Ok(Some(exit)),
        }
    }

    fn bytes(&mut self, address: u64, size: usize) -> Outcome<&mut [u8]> {
        let (object, offset) = ((address >> 32) as usize, (address & 0xffff_ffff) as usize);
        let object = self.objects.get_mut(object).ok_or_else(|| format!("no object at {address:#x}"))?;
        object.get_mut(offset..offset + size).ok_or_else(|| format!("{address:#x} is out of bounds"))
    }

    fn load(&mut self, address: u64, ty: Type) -> Outcome<Bits> {
        let size = ty.scalar().map_or(8, wgcl_compiler::ir::Scalar::size) as usize;
        let lanes = usize::from(ty.lanes());
        let bytes = self.bytes(address, size * lanes)?;
        Ok(bytes.chunks_exact(size).map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))).collect())
    }

    fn store(&mut self, address: u64, ty: Type, value: &Bits) -> Outcome<()> {
        let size = ty.scalar().map_or(8, wgcl_compiler::ir::Scalar::size) as usize;
        let bytes = self.bytes(address, size * value.len())?;
        for (chunk, lane) in bytes.chunks_exact_mut(size).zip(value) {
            chunk.copy_from_slice(&lane.to_le_bytes()[..size]);
        }
        Ok(())
    }

    #[allow(clippy::too_many_lines, reason = "one arm an operation")]
    fn operation(&mut self, frame: &Frame, op: &Op, ty: Type) -> Outcome<Option<Bits>> {
        let scalar = ty.scalar();
        let lanes = usize::from(ty.lanes());
        let undefined = u64::from_le_bytes([self.undefined; 8]);
        let unspecified = |bits: Option<u64>| bits.unwrap_or(undefined & scalar.map_or(u64::MAX, wgcl_compiler::ir::Scalar::mask));
        Ok(Some(match op {
            Op::Const(Const::Bits(bits)) => vec![*bits],
            Op::Const(Const::Lanes(list)) => list.clone(),
            Op::Const(Const::Null) => vec![0],
            Op::Const(Const::Undef) => vec![unspecified(None); lanes],
            Op::Un(kind, a) => {
                get(frame, *a)?.iter().map(|&a| unspecified(scalar.and_then(|scalar| eval::unary(*kind, scalar, a)))).collect()
            }
            Op::Bin(kind, a, b) => {
                let (a, b) = (get(frame, *a)?, get(frame, *b)?);
                let each = |(&a, &b): (&u64, &u64)| unspecified(scalar.and_then(|scalar| binary(*kind, scalar, a, b)));
                a.iter().zip(&b).map(each).collect()
            }
            Op::Cmp(kind, a, b) => {
                let operand = frame.function.ty(*a).scalar().unwrap_or(wgcl_compiler::ir::Scalar::I64);
                let (a, b) = (get(frame, *a)?, get(frame, *b)?);
                a.iter().zip(&b).map(|(&a, &b)| u64::from(eval::compare(*kind, operand, a, b).unwrap_or(false))).collect()
            }
            Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast, a) => get(frame, *a)?,
            Op::Cast(kind, a) => {
                let (from, value) = (frame.function.ty(*a), get(frame, *a)?);
                let (Some(from_scalar), Some(to)) = (from.scalar(), scalar) else { return Err("a cast of nothing".to_owned()) };
                if from.lanes() == ty.lanes() {
                    value.iter().map(|&a| unspecified(eval::cast(*kind, from_scalar, to, a))).collect()
                } else {
                    let bytes: Vec<u8> = value.iter().flat_map(|lane| lane.to_le_bytes()[..from_scalar.size() as usize].to_vec()).collect();
                    bytes
                        .chunks_exact(to.size() as usize)
                        .map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
                        .collect()
                }
            }
            Op::Select(cond, a, b) => {
                let (cond, a, b) = (get(frame, *cond)?, get(frame, *a)?, get(frame, *b)?);
                (0..a.len()).map(|lane| if cond[if cond.len() == 1 { 0 } else { lane }] & 1 == 1 { a[lane] } else { b[lane] }).collect()
            }
            Op::Math(kind, args) => {
                let args = args.iter().map(|&arg| get(frame, arg)).collect::<Outcome<Vec<Bits>>>()?;
                (0..lanes)
                    .map(|lane| {
                        unspecified(
                            scalar.and_then(|scalar| eval::math(*kind, scalar, &args.iter().map(|arg| arg[lane]).collect::<Vec<_>>())),
                        )
                    })
                    .collect()
            }
            Op::All(a) => vec![u64::from(get(frame, *a)?.iter().all(|&lane| lane & 1 == 1))],
            Op::Any(a) => vec![u64::from(get(frame, *a)?.iter().any(|&lane| lane & 1 == 1))],
            Op::Construct(parts) => parts.iter().map(|&part| get(frame, part).map(|part| part[0])).collect::<Outcome<Bits>>()?,
            Op::Splat(a) => vec![get(frame, *a)?[0]; lanes],
            Op::Extract(a, lane) => vec![get(frame, *a)?[usize::from(*lane)]],
            Op::ExtractDyn(a, index) => {
                let (a, index) = (get(frame, *a)?, get(frame, *index)?[0] as usize);
                vec![unspecified(a.get(index).copied())]
            }
            Op::Insert(a, lane, part) => {
                let (mut a, part) = (get(frame, *a)?, get(frame, *part)?[0]);
                a[usize::from(*lane)] = part;
                a
            }
            Op::InsertDyn(a, index, part) => {
                let (mut a, index, part) = (get(frame, *a)?, get(frame, *index)?[0] as usize, get(frame, *part)?[0]);
                if let Some(lane) = a.get_mut(index) {
                    *lane = part;
                }
                a
            }
            Op::Shuffle(a, b, order) => {
                let both: Bits = get(frame, *a)?.into_iter().chain(get(frame, *b)?).collect();
                order.iter().map(|lane| unspecified(lane.map(|lane| both[usize::from(lane)]))).collect()
            }
            Op::WorkItem(WorkItem::GlobalId(0) | WorkItem::LocalId(0)) => vec![3],
            Op::WorkItem(WorkItem::LocalSize(0) | WorkItem::EnqueuedLocalSize(0)) => vec![64],
            Op::WorkItem(WorkItem::GlobalId(_) | WorkItem::LocalId(_) | WorkItem::GlobalOffset(_) | WorkItem::GroupId(_)) => vec![0],
            Op::WorkItem(_) => vec![1],
            Op::VarAddr(var) => vec![frame.vars[var.index()]],
            Op::GlobalAddr(global) => vec![self.global(*global)],
            Op::PtrAdd(ptr, offset) => {
                let added = get(frame, *offset)?[0] & 0xffff_ffff;
                let ptr = get(frame, *ptr)?[0];
                vec![ptr & !0xffff_ffff | (ptr.wrapping_add(added) & 0xffff_ffff)]
            }
            Op::Load { ptr, .. } => {
                let address = get(frame, *ptr)?[0];
                self.load(address, ty)?
            }
            Op::Store { ptr, value, .. } => {
                let (address, bits) = (get(frame, *ptr)?[0], get(frame, *value)?);
                self.store(address, frame.function.ty(*value), &bits)?;
                return Ok(None);
            }
            Op::Copy { dst, src, size, .. } => {
                let (dst, src) = (get(frame, *dst)?[0], get(frame, *src)?[0]);
                let bytes = self.bytes(src, *size as usize)?.to_vec();
                self.bytes(dst, *size as usize)?.copy_from_slice(&bytes);
                return Ok(None);
            }
            Op::Zero { dst, size, .. } => {
                let dst = get(frame, *dst)?[0];
                self.bytes(dst, *size as usize)?.fill(0);
                return Ok(None);
            }
            Op::Atomic { op: AtomicOp::Add, ptr, value: Some(value), ty } => {
                let (address, added) = (get(frame, *ptr)?[0], get(frame, *value)?[0]);
                let old = self.load(address, Type::Scalar(*ty))?;
                self.store(address, Type::Scalar(*ty), &vec![old[0].wrapping_add(added) & ty.mask()])?;
                old
            }
            Op::Barrier(_) | Op::MemFence(_) => return Ok(None),
            other => return Err(format!("{other:?} is not interpreted")),
        }))
    }

    fn global(&mut self, global: Global) -> u64 {
        if let Some(address) = self.globals[global.index()] {
            return address;
        }
        let data = &self.module.globals[global.index()];
        self.objects.push(data.init.clone().unwrap_or_else(|| vec![0; data.size as usize]));
        let address = (self.objects.len() as u64 - 1) << 32;
        self.globals[global.index()] = Some(address);
        address
    }
}

/// Float results that are not folded are a number that any rule must keep: the bits combined.
fn binary(kind: BinOp, scalar: wgcl_compiler::ir::Scalar, a: u64, b: u64) -> Option<u64> {
    eval::binary(kind, scalar, a, b)
}

fn get(frame: &Frame, value: Value) -> Outcome<Bits> {
    frame.values.get(value.index()).cloned().flatten().ok_or_else(|| format!("{value} has no value"))
}
