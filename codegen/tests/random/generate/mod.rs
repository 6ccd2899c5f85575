//! Generates random modules of the vector IR that are valid for an instruction set. They may compute and store
//! unspecified values, but no address, branch or return value depends on these values.

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

/// Size of the memory of programs. Its address is the first argument of each function.
pub const SIZE: u32 = 8192;
/// The bytes that programs only read.
const INPUTS: Region = Region { start: 0, end: 2048 };
/// The bytes that programs read and write often. Their contents are always specified.
const SHARED: Region = Region { start: 2048, end: 2176 };
/// Bytes for results.
const RESULTS: Region = Region { start: 2176, end: SIZE };

/// A range of the memory.
#[derive(Clone, Copy, Debug)]
struct Region {
    start: u32,
    end: u32,
}

/// The extent to which the bits of a value are specified, or must be specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Quality {
    /// All bits are unspecified.
    Unspecified,
    /// If the value is a NaN, its bits are unspecified.
    AnyNan,
    /// All bits are specified.
    Exact,
}

/// A value that is available at this point.
#[derive(Clone, Copy, Debug)]
struct Available {
    value: Value,
    ty: Type,
    quality: Quality,
}

/// The signature of a callable function.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Type>,
    returns: Option<Type>,
}

/// A host function that programs can call.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    pub address: u64,
    pub params: &'static [Type],
    pub returns: Option<Type>,
}

/// The parameters of random programs.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The instruction set, which determines the allowed operations.
    pub isa: Isa,
    /// The callable host functions.
    pub helpers: &'a [Helper],
    /// Approximate number of instructions per function.
    pub size: usize,
    /// Maximum nesting of branches and loops.
    pub depth: u32,
}

/// A function under construction.
struct Generator<'a> {
    random: Random,
    config: Config<'a>,
    build: Builder,
    /// The address of the memory.
    base: Value,
    /// The available values. Values of a branch are not available after it.
    available: Vec<Available>,
    /// The types that this function uses.
    types: Vec<Type>,
    /// The index of the first callable function of the module, and the signatures of the callable functions. They
    /// follow this function, so there is no recursion.
    callees: (u32, &'a [Signature]),
    returns: Option<Type>,
    /// The offset of the next result in the memory.
    slot: u32,
    /// The remaining number of instructions.
    budget: usize,
    /// The current loop depth.
    loops: u32,
}

/// Generates a random module.
pub fn module(seed: u64, config: Config<'_>) -> Module {
    let mut random = Random::new(seed);
    let count = random.of(&[1, 1, 1, 1, 2, 3]);
    let signatures: Vec<Signature> = (0..count).map(|_| signature(&mut random)).collect();
    let functions = (0..count).map(|index| {
        let callees = (index as u32 + 1, &signatures[index + 1..]);
        function(random.next(), config, &signatures[index], callees, index)
    });
    Module { functions: functions.collect() }
}

fn signature(random: &mut Random) -> Signature {
    let mut params = vec![Type::I64];
    params.extend((0..random.below(6)).map(|_| random.of(&[Type::I32, Type::I64])));
    Signature { params, returns: random.of(&[None, Some(Type::I32), Some(Type::I64)]) }
}

fn function(seed: u64, config: Config<'_>, signature: &Signature, callees: (u32, &[Signature]), index: usize) -> Function {
    let mut random = Random::new(seed);
    let mut build = Builder::new(format!("f{index}"), signature.params.clone(), signature.returns);
    let base = build.value_of(Type::I64, Op::Param(0));
    let types = choose_types(&mut random, config.isa);
    let slot = RESULTS.start + random.below(2048) as u32;
    let budget = if index == 0 { config.size } else { config.size / 4 };
    let budget = budget / 2 + random.below(budget.max(1));
    let mut generator = Generator {
        random,
        config,
        build,
        base,
        available: Vec::new(),
        types,
        callees,
        returns: signature.returns,
        slot,
        budget,
        loops: 0,
    };
    for (index, &ty) in (0..).zip(&signature.params).skip(1) {
        generator.emit(ty, Op::Param(index), Quality::Exact);
    }
    generator.body(config.depth);
    generator.store_and_return();
    generator.build.finish()
}

/// All value types of an instruction set.
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

/// The lanes of a shuffle of two vectors: random lanes, or a common pattern.
pub fn order(random: &mut Random, lanes: u8) -> Box<[u8]> {
    let (kind, by) = (random.below(14), random.below(2 * usize::from(lanes)) as u8);
    // The number of lanes in 16 bytes: two 64-bit lanes, or four 32-bit lanes.
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
        // The same pattern within each 16 bytes, from one vector or both.
        7 | 8 => {
            let lane = inner[usize::from(at % each)];
            at / each * each + lane % each + if lane < each || kind == 7 { 0 } else { lanes }
        }
        // In each 16 bytes, the lower half of the lanes is from one vector, and the upper half from the other.
        9 => {
            at / each * each
                + inner[usize::from(at % each)] % each
                + if at % each < each / 2 { by % 2 * lanes } else { (by + 1) % 2 * lanes }
        }
        // Two or four adjacent lanes at a time, in any order.
        10 | 11 => (parts[usize::from(at / each)] / each * each + at % each) % (2 * lanes),
        _ => parts[usize::from(at)],
    };
    (0..lanes).map(lane).collect()
}

/// Chooses the types of one function. Usually chooses few types, so that operations can combine values.
fn choose_types(random: &mut Random, isa: Isa) -> Vec<Type> {
    let all = all_types(isa);
    if random.once_in(6) {
        return all;
    }
    (0..random.of(&[1, 2, 3, 4, 6])).map(|_| random.of(&all)).collect()
}

impl Generator<'_> {
    /// Adds an instruction and records its value.
    fn emit(&mut self, ty: Type, op: Op, quality: Quality) -> Value {
        self.budget = self.budget.saturating_sub(1);
        let value = self.build.value_of(ty, op);
        self.available.push(Available { value, ty, quality });
        value
    }

    /// Adds an instruction without a result.
    fn effect(&mut self, op: Op) {
        self.budget = self.budget.saturating_sub(1);
        self.build.effect(op);
    }

    fn has(&self, ty: Type) -> bool {
        let elem_bytes = match ty {
            Type::Scalar(_) => return true,
            Type::Vector(elem, _) => elem.bytes(),
            Type::Mask(mask) => u32::from(mask.bits) / 8,
        };
        let bytes = elem_bytes * u32::from(ty.lanes());
        (16..=self.config.isa.caps().vector_bytes).contains(&bytes)
    }

    /// Generates a value of the given type with a random operation.
    fn make(&mut self, ty: Type) -> Value {
        match ty.elem() {
            None => self.mask(ty),
            Some(elem) if elem.is_float() => self.float(ty, elem),
            Some(elem) => self.integer(ty, elem),
        }
    }
}
