//! Runs lowered IR on the interpreter. Accesses out of bounds are errors. Undefined values have fixed bits.

use crate::interpret::{Argument, Fault, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use crate::ir::{Module, Scalar};
use crate::target::Target;

/// Maximum number of loop iterations and calls in a test.
const FUEL: u64 = 10_000_000;

fn program(module: &Module) -> Program {
    Program::new(module, Settings { fused: true, fuel: FUEL, ..Settings::new(Stage::Lowered, &Target::full()) })
}

fn names() -> impl FnMut() -> Option<ObjectId> {
    let mut last = 0;
    move || {
        last += 1;
        ObjectId::new(last)
    }
}

/// Calls function 0 with scalars. Returns its scalar result.
pub(super) fn call(module: &Module, args: &[u64]) -> Result<u64, Fault> {
    let (program, mut memory) = (program(module), Memory::default());
    let instance = program.instantiate(&mut memory, names()).unwrap_or_default();
    program.call(&instance, 0, args, 1, &mut memory).map(|lanes| lanes.first().copied().unwrap_or(0))
}

/// Runs work-item (5, 6, 7) of kernel `k` with buffer arguments. Returns the contents of the buffers.
pub(super) fn run(module: &Module, buffers: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Fault> {
    let (program, mut memory, mut names) = (program(module), Memory::default(), names());
    let instance = program.instantiate(&mut memory, &mut names).unwrap_or_default();
    let mut places = Vec::new();
    for bytes in buffers {
        let object = names().expect("a name");
        memory.insert(object, bytes, false);
        places.push(MemoryLocation { object, offset: 0 });
    }
    let arguments: Vec<_> = places.iter().map(|&place| Argument::Buffer(Some(place))).collect();
    let range = NdRange { work_dim: 2, global_offset: [5, 6, 7], global_size: [1; 3], local_size: [1; 3] };
    program.launch(&instance, "k", &arguments, &range, &mut memory, &mut Vec::new())?;
    Ok(places.iter().filter_map(|place| memory.remove(place.object)).collect())
}

/// Converts the bits of a float to its value.
pub(super) fn float(bits: u64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Returns the bits of the float nearest to `value`.
pub(super) fn bits(value: f64, scalar: Scalar) -> u64 {
    super::super::builder::float_bits(scalar, value)
}
