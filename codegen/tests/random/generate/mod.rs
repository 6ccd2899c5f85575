//! Random modules of the vector IR that are legal for an instruction set, and that mean something: what is not
//! specified may be computed, but decides nothing.

mod access;
mod constants;
mod control;
mod floats;
mod integers;
mod masks;
mod values;

use wgcl_codegen::Isa;
use wgcl_codegen::vir::{Builder, Elem, Function, Module, Op, Type, Value};

use crate::support::Random;
pub use constants::{memory, number};
pub use floats::has_fma;
pub use integers::PACKED;

/// Bytes of the memory that programs run on; its address is the first argument of each function.
pub const SIZE: u32 = 8192;
/// What is only read.
const INPUTS: Region = Region { start: 0, end: 2048 };
/// What is written and read often: all of it is always known.
const SHARED: Region = Region { start: 2048, end: 2176 };
/// The rest.
const RESULTS: Region = Region { start: 2176, end: SIZE };

/// A part of the memory.
#[derive(Clone, Copy, Debug)]
struct Region {
    start: u32,
    end: u32,
}

/// What the generator knows of a value, or wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Quality {
    /// It may be anything.
    Open,
    /// If it is a NaN, it may be any.
    AnyNan,
    /// The IR says all bits.
    Exact,
}

/// A value that may be used here.
#[derive(Clone, Copy, Debug)]
struct Known {
    value: Value,
    ty: Type,
    quality: Quality,
}

/// A function that another one may call.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Type>,
    returns: Option<Type>,
}

/// A function of the host that programs may call.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    /// Where it is.
    pub address: u64,
    /// Its parameters.
    pub params: &'static [Type],
    /// Its result.
    pub returns: Option<Type>,
}

/// What random programs are made of.
#[derive(Clone, Copy, Debug)]
pub struct Wants<'a> {
    /// What they may use.
    pub isa: Isa,
    /// What they may call.
    pub helpers: &'a [Helper],
    /// About how many instructions a function has.
    pub size: usize,
    /// How deep branches and loops stand in each other.
    pub depth: u32,
}

/// A function that is being made.
struct Generator<'a> {
    random: Random,
    wants: Wants<'a>,
    build: Builder,
    /// The address of the memory.
    base: Value,
    /// What may be used here; what is defined in a branch is gone behind it.
    known: Vec<Known>,
    /// The types that this function is about.
    types: Vec<Type>,
    /// The functions behind this one, and the index of the first.
    callees: (u32, &'a [Signature]),
    returns: Option<Type>,
    /// Where the next result is stored.
    slot: u32,
    /// How many more instructions there should be.
    left: usize,
    /// How many loops are around.
    loops: u32,
}

/// A random module.
pub fn module(seed: u64, wants: Wants<'_>) -> Module {
    let mut random = Random::new(seed);
    let count = random.of(&[1, 1, 1, 1, 2, 3]);
    let signatures: Vec<Signature> = (0..count).map(|_| signature(&mut random)).collect();
    let functions = (0..count).map(|index| {
        let callees = (index as u32 + 1, &signatures[index + 1..]);
        function(random.next(), wants, &signatures[index], callees, index)
    });
    Module { functions: functions.collect() }
}

fn signature(random: &mut Random) -> Signature {
    let mut params = vec![Type::I64];
    params.extend((0..random.below(6)).map(|_| random.of(&[Type::I32, Type::I64])));
    Signature { params, returns: random.of(&[None, Some(Type::I32), Some(Type::I64)]) }
}

fn function(seed: u64, wants: Wants<'_>, signature: &Signature, callees: (u32, &[Signature]), index: usize) -> Function {
    let mut random = Random::new(seed);
    let mut build = Builder::new(format!("f{index}"), signature.params.clone(), signature.returns);
    let base = build.value_of(Type::I64, Op::Param(0));
    let types = palette(&mut random, wants.isa);
    let slot = RESULTS.start + random.below(2048) as u32;
    let left = if index == 0 { wants.size } else { wants.size / 4 };
    let left = left / 2 + random.below(left.max(1));
    let mut generator =
        Generator { random, wants, build, base, known: Vec::new(), types, callees, returns: signature.returns, slot, left, loops: 0 };
    for (index, &ty) in (0..).zip(&signature.params).skip(1) {
        generator.emit(ty, Op::Param(index), Quality::Exact);
    }
    generator.body(wants.depth);
    generator.leave();
    generator.build.finish()
}

/// All types of values that an instruction set has.
pub fn all_types(isa: Isa) -> Vec<Type> {
    let mut types = vec![Type::I32, Type::I64, Type::F32, Type::F64];
    for bytes in [16, 32, 64].into_iter().filter(|bytes| *bytes <= isa.caps().vector_bytes) {
        for elem in [Elem::I32, Elem::I64, Elem::F32, Elem::F64] {
            types.push(Type::Vector(elem, (bytes / elem.bytes()) as u8));
        }
        types.extend([Type::mask((bytes / 4) as u8, 32), Type::mask((bytes / 8) as u8, 64)]);
    }
    types
}

/// Which of twice so many lanes a shuffle takes: any, or those of a usual pattern.
pub fn order(random: &mut Random, lanes: u8) -> Box<[u8]> {
    let (kind, by) = (random.below(14), random.below(2 * usize::from(lanes)) as u8);
    // Of sixteen bytes of words of 32 or 64 bits.
    let each = random.of(&[2, 4]).min(lanes);
    let inner: [u8; 4] = std::array::from_fn(|_| random.below(2 * usize::from(each)) as u8);
    let parts: [u8; 16] = std::array::from_fn(|_| random.below(2 * usize::from(lanes)) as u8);
    let lane = |at: u8| match kind {
        0 => at + by % lanes,
        1 => 2 * at,
        2 => at / 2 + if at.is_multiple_of(2) { 0 } else { lanes },
        3 => lanes - 1 - at,
        4 => (at ^ 1) % lanes,
        5 => by,
        6 => at + if parts[usize::from(at)].is_multiple_of(2) { 0 } else { lanes },
        // The same within each part, of one or of both vectors.
        7 | 8 => {
            let lane = inner[usize::from(at % each)];
            at / each * each + lane % each + if lane < each || kind == 7 { 0 } else { lanes }
        }
        // Two of one, two of the other.
        9 => {
            at / each * each
                + inner[usize::from(at % each)] % each
                + if at % each < each / 2 { by % 2 * lanes } else { (by + 1) % 2 * lanes }
        }
        // Parts of two or four, wherever they stand.
        10 | 11 => (parts[usize::from(at / each)] / each * each + at % each) % (2 * lanes),
        _ => parts[usize::from(at)],
    };
    (0..lanes).map(lane).collect()
}

/// The types that one function is about: few, so that values meet.
fn palette(random: &mut Random, isa: Isa) -> Vec<Type> {
    let all = all_types(isa);
    if random.once_in(6) {
        return all;
    }
    (0..random.of(&[1, 2, 3, 4, 6])).map(|_| random.of(&all)).collect()
}

impl Generator<'_> {
    /// Adds an instruction and remembers its value.
    fn emit(&mut self, ty: Type, op: Op, quality: Quality) -> Value {
        self.left = self.left.saturating_sub(1);
        let value = self.build.value_of(ty, op);
        self.known.push(Known { value, ty, quality });
        value
    }

    /// Adds an instruction without a value.
    fn effect(&mut self, op: Op) {
        self.left = self.left.saturating_sub(1);
        self.build.effect(op);
    }

    fn has(&self, ty: Type) -> bool {
        let elem_bytes = match ty {
            Type::Scalar(_) => return true,
            Type::Vector(elem, _) => elem.bytes(),
            Type::Mask(mask) => u32::from(mask.bits) / 8,
        };
        let bytes = elem_bytes * u32::from(ty.lanes());
        (16..=self.wants.isa.caps().vector_bytes).contains(&bytes)
    }

    /// A value of a type by a random operation; its quality.
    fn make(&mut self, ty: Type) -> Value {
        match ty.elem() {
            None => self.mask(ty),
            Some(elem) if elem.is_float() => self.float(ty, elem),
            Some(elem) => self.integer(ty, elem),
        }
    }
}
