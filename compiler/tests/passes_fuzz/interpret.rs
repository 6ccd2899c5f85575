//! Runs a program as it is at one of its stages, on the interpreter.

use wgcl_compiler::interpret::{Argument, Fault, Memory, NdRange, ObjectId, Place, Program, Settings, Stage};
use wgcl_compiler::ir::Module;
use wgcl_compiler::launch::Pieces;
use wgcl_compiler::target::Target;

/// Work-items, one group of them.
pub const ITEMS: u32 = 4;

/// Turns of loops, and calls, after which a program is given up.
const FUEL: u64 = 40_000;

/// Both buffers, of 512 bytes, as three pieces each.
pub fn pieces() -> Pieces {
    Pieces { params: vec![(0, 3), (1, 3)], shift: 8, overlap: Pieces::WIDEST }
}

/// What comes of running kernel `k` with buffers and `i32`s: the buffers' contents, where undefined bytes read as `undefined`.
pub fn run(module: &Module, stage: Stage, buffers: &[Vec<u8>], values: &[u32], undefined: u8) -> Result<Vec<Vec<u8>>, Fault> {
    let settings = Settings { fuel: FUEL, undefined, fused: false, ..Settings::new(stage, &Target::full()) };
    let program = Program::new(module, settings);
    let mut memory = Memory::default();
    let mut last = 0;
    let mut name = || {
        last += 1;
        ObjectId::new(last)
    };
    let objects: Vec<ObjectId> = buffers.iter().filter_map(|_| name()).collect();
    for (&object, bytes) in objects.iter().zip(buffers) {
        memory.insert(object, bytes.clone(), false);
    }
    let instance = program.instantiate(&mut memory, &mut name).unwrap_or_default();
    let places = objects.iter().map(|&object| Argument::Buffer(Some(Place { object, offset: 0 })));
    let values = values.iter().map(|value| Argument::Value(value.to_le_bytes().to_vec()));
    let mut arguments: Vec<Argument> = places.chain(values).collect();
    // Where there are more parameters, they are for pieces of the buffers.
    let params = module.functions.first().map_or(0, |kernel| kernel.params.len());
    let pieces = pieces();
    for (param, piece) in pieces.added().take(params.saturating_sub(arguments.len())) {
        let offset = u64::from(piece) * u64::from(pieces.step());
        arguments.push(Argument::Buffer(objects.get(param as usize).map(|&object| Place { object, offset })));
    }
    program.launch(&instance, "k", &arguments, &NdRange::linear(ITEMS, ITEMS), &mut memory, &mut Vec::new())?;
    Ok(objects.into_iter().filter_map(|object| memory.remove(object)).collect())
}
