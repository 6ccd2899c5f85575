//! An evaluator for functions of the vector IR.

use smallvec::{SmallVec, smallvec};
use thiserror::Error;
use wgcl_codegen::vir::{Addr, BlockData, Cond, Func, Function, Inst, Mem, Module, Op, Target, Terminator, Type, Value};

use super::arith;
use super::cast::cast;
use super::lane::{Lane, Lanes};
use super::memory::Memory;

/// The reason why the evaluator has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// An access outside the memory.
    #[error("an access to {0:#x}, outside the memory")]
    Outside(u64),
    /// An unspecified value on which the behaviour depends, for example an address or a condition.
    #[error("{0} with an unspecified value")]
    Unknown(&'static str),
    /// A division that traps.
    #[error("a division by zero, or of the minimum integer by -1")]
    Trap,
    /// The limit of instructions or of nested calls is exceeded.
    #[error("too many instructions")]
    Endless,
    /// An invalid operation, or an executed `unreachable`.
    #[error("{0}")]
    Wrong(&'static str),
}

type Result<T> = std::result::Result<T, Fault>;

/// Calls the host function at an address. Returns `None` if there is no such function.
pub type Helpers<'a> = &'a dyn Fn(u64, &[u64]) -> Option<u64>;

/// Runs functions on a memory.
pub struct Machine<'a> {
    module: &'a Module,
    memory: &'a mut Memory,
    helpers: Helpers<'a>,
    /// The number of instructions that the evaluator may still execute.
    fuel: u32,
}

struct Frame<'a> {
    function: &'a Function,
    args: SmallVec<[Lane; 6]>,
    values: Vec<Lanes>,
}

impl Frame<'_> {
    fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    fn get(&self, value: Value) -> &Lanes {
        &self.values[value.index()]
    }

    fn scalar(&self, value: Value) -> Lane {
        self.get(value)[0]
    }

    /// The bits of a scalar. Fails if they are unspecified.
    fn bits(&self, value: Value, what: &'static str) -> Result<u64> {
        self.scalar(value).exact().ok_or(Fault::Unknown(what))
    }

    fn address(&self, addr: &Addr) -> Result<u64> {
        let base = self.bits(addr.base, "an address")?;
        let index = addr.index.map_or(Ok(0), |(index, scale)| Ok(self.bits(index, "an index")?.wrapping_mul(u64::from(scale))))?;
        Ok(base.wrapping_add(index).wrapping_add_signed(i64::from(addr.disp)))
    }

    /// Whether each lane is active. Fails if the mask is unspecified.
    fn mask(&self, mask: Option<Value>, lanes: usize) -> Result<SmallVec<[bool; 16]>> {
        let Some(mask) = mask else { return Ok(smallvec![true; lanes]) };
        self.get(mask).iter().map(|lane| Ok(lane.exact().ok_or(Fault::Unknown("a mask of an access"))? != 0)).collect()
    }

    fn holds(&self, cond: &Cond) -> Result<bool> {
        let unknown = Fault::Unknown("a condition");
        let has = |mask: Value, bit| self.get(mask).contains(&Lane::known(bit));
        let all_known = |mask: Value| self.get(mask).iter().all(|lane| lane.exact().is_some());
        match *cond {
            Cond::Cmp(op, a, b) => {
                let elem = self.ty(a).elem().ok_or(Fault::Wrong("a comparison of masks"))?;
                Ok(arith::cmp(op, elem, self.scalar(a), self.scalar(b)).exact().ok_or(unknown)? != 0)
            }
            Cond::NonZero(value) => Ok(self.bits(value, "a condition")? != 0),
            Cond::Any(mask) if has(mask, 1) || all_known(mask) => Ok(has(mask, 1)),
            Cond::All(mask) if has(mask, 0) || all_known(mask) => Ok(!has(mask, 0)),
            Cond::Any(_) | Cond::All(_) => Err(unknown),
        }
    }
}

impl<'a> Machine<'a> {
    /// Creates an evaluator. `fuel` is the maximum number of instructions.
    pub fn new(module: &'a Module, memory: &'a mut Memory, helpers: Helpers<'a>, fuel: u32) -> Self {
        Self { module, memory, helpers, fuel }
    }

    /// Calls a function. Returns its result, or `None` if it has none.
    ///
    /// # Errors
    /// Fails if the behaviour is unspecified, an operation is invalid, or the limit of instructions is exceeded.
    pub fn call(&mut self, func: Func, args: &[u64]) -> Result<Option<Lane>> {
        let function = &self.module.functions[func.index()];
        let args = args.iter().zip(&function.params).map(|(&bits, &ty)| Lane::known(truncate(bits, ty))).collect();
        self.enter(func, args, 0)
    }

    fn enter(&mut self, func: Func, args: SmallVec<[Lane; 6]>, depth: u32) -> Result<Option<Lane>> {
        if depth > 64 {
            return Err(Fault::Endless);
        }
        let function = &self.module.functions[func.index()];
        let mut frame = Frame { function, args, values: vec![Lanes::new(); function.values.len()] };
        let mut block = &function.blocks[0];
        loop {
            for inst in &block.insts {
                self.fuel = self.fuel.checked_sub(1).ok_or(Fault::Endless)?;
                let lanes = self.inst(&frame, inst, depth)?;
                if let Some(result) = inst.result {
                    frame.values[result.index()] = lanes;
                }
            }
            self.fuel = self.fuel.checked_sub(1).ok_or(Fault::Endless)?;
            let target = match block.terminator.as_ref().ok_or(Fault::Wrong("a block without an end"))? {
                Terminator::Jump(target) => target,
                Terminator::Branch(cond, then, els) => {
                    if frame.holds(cond)? {
                        then
                    } else {
                        els
                    }
                }
                Terminator::Return(value) => return Ok(value.map(|value| frame.scalar(value))),
                Terminator::Unreachable => return Err(Fault::Wrong("`unreachable` is executed")),
            };
            block = pass_arguments(&mut frame, target);
        }
    }

    fn inst(&mut self, frame: &Frame<'_>, inst: &Inst, depth: u32) -> Result<Lanes> {
        let ty = inst.ty(frame.function);
        match &inst.op {
            Op::Call(func, args) => {
                let args = args.iter().map(|arg| frame.scalar(*arg)).collect();
                Ok(self.enter(*func, args, depth + 1)?.into_iter().collect())
            }
            Op::CallHelper(address, args) => {
                let args = args.iter().map(|arg| frame.bits(*arg, "an argument")).collect::<Result<Vec<u64>>>()?;
                let result = (self.helpers)(frame.bits(*address, "a function")?, &args).ok_or(Fault::Wrong("no such function"))?;
                Ok(ty.map(|ty| Lane::known(truncate(result, ty))).into_iter().collect())
            }
            op if op.is_pure() => pure(frame, op, ty.ok_or(Fault::Wrong("no result"))?),
            Op::Bin(op, a, b) => Ok(smallvec![arith::bin(*op, frame.ty(*a), frame.scalar(*a), frame.scalar(*b))?]),
            op => self.access(frame, op, ty),
        }
    }

    fn access(&mut self, frame: &Frame<'_>, op: &Op, ty: Option<Type>) -> Result<Lanes> {
        match op {
            Op::Load(mem, addr) => return Ok(smallvec![self.memory.load(frame.address(addr)?, mem.bytes())?]),
            Op::Store(mem, addr, value) => self.memory.store(frame.address(addr)?, mem.bytes(), stored(*mem, frame.scalar(*value)))?,
            Op::LoadVector { mem, addr, mask } => {
                let lanes = usize::from(ty.ok_or(Fault::Wrong("no result"))?.lanes());
                let start = frame.address(addr)?;
                let places = (0..lanes as u64).map(|lane| start.wrapping_add(lane * u64::from(mem.bytes()))).collect();
                return self.load_lanes(places, mem.bytes(), &frame.mask(*mask, lanes)?);
            }
            Op::LoadPieces(elem, addrs) => {
                let ty = ty.ok_or(Fault::Wrong("no result"))?;
                let mut places = Vec::new();
                for addr in addrs {
                    let start = frame.address(addr)?;
                    places.extend((0..16).step_by(elem.bytes() as usize).map(|byte| start.wrapping_add(byte)));
                }
                return self.load_lanes(places, elem.bytes(), &vec![true; usize::from(ty.lanes())]);
            }
            Op::StoreVector { mem, addr, value, mask } => {
                let lanes = frame.get(*value);
                let start = frame.address(addr)?;
                let places = (0..lanes.len() as u64).map(|lane| start.wrapping_add(lane * u64::from(mem.bytes()))).collect();
                self.store_lanes(places, *mem, &frame.mask(*mask, lanes.len())?, lanes)?;
            }
            Op::Gather { elem, base, index, scale, mask } => {
                let on = frame.mask(*mask, usize::from(ty.ok_or(Fault::Wrong("no result"))?.lanes()))?;
                return self.load_lanes(places(frame, *base, index, *scale, &on)?, elem.bytes(), &on);
            }
            Op::Scatter { elem, base, index, scale, value, mask } => {
                let lanes = frame.get(*value);
                let on = frame.mask(*mask, lanes.len())?;
                self.store_lanes(places(frame, *base, index, *scale, &on)?, Mem::Elem(*elem), &on, lanes)?;
            }
            Op::AtomicAdd(mem, addr, value) => {
                let ty = Type::Scalar(mem.elem());
                let add = |old| arith::bin(wgcl_codegen::vir::BinOp::Add, ty, old, frame.scalar(*value));
                return self.exchange(frame, *mem, addr, add);
            }
            Op::AtomicExchange(mem, addr, value) => return self.exchange(frame, *mem, addr, |_| Ok(frame.scalar(*value))),
            Op::AtomicCompareExchange(mem, addr, expected, desired) => {
                return self.exchange(frame, *mem, addr, |old| {
                    let (old_bits, expected) = (old.exact(), frame.scalar(*expected).exact());
                    let (Some(old_bits), Some(expected)) = (old_bits, expected) else { return Ok(Lane::UNKNOWN) };
                    Ok(if old_bits == expected { frame.scalar(*desired) } else { old })
                });
            }
            Op::PrefetchWrite(_) | Op::Fence => {}
            _ => return Err(Fault::Wrong("not an access")),
        }
        Ok(Lanes::new())
    }

    fn load_lanes(&self, places: Vec<u64>, size: u32, on: &[bool]) -> Result<Lanes> {
        places.iter().zip(on).map(|(&place, &on)| if on { self.memory.load(place, size) } else { Ok(Lane::UNKNOWN) }).collect()
    }

    fn store_lanes(&mut self, places: Vec<u64>, mem: Mem, on: &[bool], lanes: &[Lane]) -> Result<()> {
        let all = places.iter().zip(on).zip(lanes);
        all.filter(|((_, on), _)| **on).try_for_each(|((&place, _), &lane)| self.memory.store(place, mem.bytes(), stored(mem, lane)))
    }

    fn exchange(&mut self, frame: &Frame<'_>, mem: Mem, addr: &Addr, new: impl Fn(Lane) -> Result<Lane>) -> Result<Lanes> {
        let place = frame.address(addr)?;
        let old = self.memory.load(place, mem.bytes())?;
        self.memory.store(place, mem.bytes(), new(old)?)?;
        Ok(smallvec![old])
    }
}

/// Passes arguments to the parameters of a block.
fn pass_arguments<'a>(frame: &mut Frame<'a>, target: &Target) -> &'a BlockData {
    let block = &frame.function.blocks[target.block.index()];
    let args: Vec<Lanes> = target.args.iter().map(|arg| frame.get(*arg).clone()).collect();
    for (param, lanes) in block.params.iter().zip(args) {
        frame.values[param.index()] = lanes;
    }
    block
}

/// Truncates a scalar in a general register to its type.
const fn truncate(bits: u64, ty: Type) -> u64 {
    if matches!(ty, Type::I32) { bits as u32 as u64 } else { bits }
}

/// Returns the lane that a store with this format writes. If the format has fewer than 4 bytes and the bits of `lane`
/// are not all specified, the stored bytes are unspecified.
fn stored(mem: Mem, lane: Lane) -> Lane {
    if mem.bytes() < 4 && lane.exact().is_none() { Lane::UNKNOWN } else { lane }
}

/// The address of each lane. The addresses of inactive lanes are meaningless.
fn places(frame: &Frame<'_>, base: Option<Value>, index: &[Value], scale: u8, on: &[bool]) -> Result<Vec<u64>> {
    let base = base.map_or(Ok(0), |base| frame.bits(base, "an address"))?;
    let lanes = index.iter().flat_map(|value| frame.get(*value).iter().map(|lane| (frame.ty(*value), *lane)));
    lanes
        .zip(on)
        .map(|((ty, lane), &on)| {
            let bits = if on { lane.exact().ok_or(Fault::Unknown("an index"))? } else { 0 };
            let index = if ty.elem().is_some_and(|elem| elem.bits() == 32) { bits as u32 as i32 as i64 as u64 } else { bits };
            Ok(base.wrapping_add(index.wrapping_mul(u64::from(scale))))
        })
        .collect()
}

fn pure(frame: &Frame<'_>, op: &Op, ty: Type) -> Result<Lanes> {
    let count = usize::from(ty.lanes());
    let elem_of = |value: Value| frame.ty(value).elem().ok_or(Fault::Wrong("a mask"));
    let part = |value: Value, part: u8| frame.get(value).iter().skip(count * usize::from(part)).take(count).copied();
    Ok(match op {
        Op::Const(bits) if ty.elem().is_none() => smallvec![Lane::known(u64::from(*bits != 0)); count],
        Op::Const(bits) => smallvec![constant(*bits, ty); count],
        Op::Lanes(lanes) => lanes.iter().map(|bits| constant(*bits, ty)).collect(),
        Op::Undef => smallvec![Lane::UNKNOWN; count],
        Op::Param(index) => smallvec![frame.args[usize::from(*index)]],
        Op::Un(op, a) => frame.get(*a).iter().map(|lane| arith::un(*op, frame.ty(*a), *lane)).collect(),
        Op::Bin(op, a, b) => {
            let pairs = frame.get(*a).iter().zip(frame.get(*b));
            pairs.map(|(a, b)| arith::bin(*op, ty, *a, *b)).collect::<Result<Lanes>>()?
        }
        Op::Tern(op, a, b, c) => {
            let (elem, b, c) = (elem_of(*a)?, frame.get(*b), frame.get(*c));
            (0..count).map(|lane| arith::tern(*op, elem, frame.get(*a)[lane], b[lane], c[lane])).collect()
        }
        Op::Cmp(op, a, b) => {
            let elem = elem_of(*a)?;
            frame.get(*a).iter().zip(frame.get(*b)).map(|(a, b)| arith::cmp(*op, elem, *a, *b)).collect()
        }
        Op::Select(cond, a, b) => {
            let lanes = frame.get(*cond).iter().zip(frame.get(*a)).zip(frame.get(*b));
            lanes.map(|((cond, a), b)| select(*cond, *a, *b)).collect()
        }
        Op::Cast(op, a) => convert(*op, elem_of(*a)?, ty, frame.get(*a).iter().copied())?,
        Op::Widen(op, a, index) => convert(*op, elem_of(*a)?, ty, part(*a, *index))?,
        Op::Narrow(op, list) => convert(*op, elem_of(list[0])?, ty, list.iter().flat_map(|value| frame.get(*value)).copied())?,
        Op::Splat(a) => smallvec![frame.scalar(*a); count],
        Op::Extract(a, lane) => smallvec![frame.get(*a)[usize::from(*lane)]],
        Op::Shuffle(a, b, lanes) => {
            let all: Lanes = frame.get(*a).iter().chain(frame.get(*b)).copied().collect();
            lanes.iter().map(|lane| all[usize::from(*lane)]).collect()
        }
        Op::Permute(a, index) => {
            let lanes = frame.get(*a);
            let number = |index: &Lane| index.exact().map(|index| index as usize % count);
            frame.get(*index).iter().map(|index| number(index).map_or(Lane::UNKNOWN, |number| lanes[number])).collect()
        }
        Op::MaskPart(a, index) => part(*a, *index).collect(),
        Op::MaskJoin(list) => list.iter().flat_map(|value| frame.get(*value)).copied().collect(),
        Op::MaskBits(a) => {
            let bits = (0..).zip(frame.get(*a)).try_fold(0, |bits, (index, lane)| Some(bits | lane.exact()? << index));
            smallvec![bits.map_or(Lane::UNKNOWN, Lane::known)]
        }
        Op::MaskOf(a) => {
            let bits = frame.scalar(*a).exact();
            (0..count).map(|lane| bits.map_or(Lane::UNKNOWN, |bits| Lane::known(bits >> lane & 1))).collect()
        }
        _ => return Err(Fault::Wrong("not pure")),
    })
}

fn constant(bits: u64, ty: Type) -> Lane {
    Lane::known(if ty.elem().is_some_and(|elem| elem.bits() == 32) { bits & 0xffff_ffff } else { bits })
}

fn convert(op: wgcl_codegen::vir::CastOp, from: wgcl_codegen::vir::Elem, ty: Type, lanes: impl Iterator<Item = Lane>) -> Result<Lanes> {
    let to = ty.elem().ok_or(Fault::Wrong("a mask"))?;
    Ok(lanes.map(|lane| cast(op, from, to, lane)).collect())
}

fn select(cond: Lane, a: Lane, b: Lane) -> Lane {
    match cond.exact() {
        Some(0) => b,
        Some(_) => a,
        None if a == b => a,
        None => Lane::UNKNOWN,
    }
}
