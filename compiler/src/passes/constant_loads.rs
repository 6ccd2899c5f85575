//! Reads constants of the program when it is compiled.
//!
//! ```text
//! %0 = ptr_add @g0, 8           =>      %1 = const 3
//! %1 = load.i32 %0
//! ```

use super::constant_arrays::is_table;
use super::pass::Pass;
use crate::ir::{Const, Function, Global, GlobalVar, Op, Region, Scalar, Type, Value};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::function("constant_loads", |function, cx| {
    run(function, &cx.module.globals);
    Ok(true)
});

/// Replaces the loads of a function from known places in constants of known contents.
pub fn run(function: &mut Function, globals: &[GlobalVar]) {
    if !globals.iter().any(is_table) {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Folding { function, globals, places: FxHashMap::default(), numbers: FxHashMap::default() };
    pass.region(&mut body);
    function.body = body;
}

struct Folding<'a> {
    function: &'a Function,
    globals: &'a [GlobalVar],
    /// Pointers to known places.
    places: FxHashMap<Value, (Global, i64)>,
    /// Integer constants, with their sign.
    numbers: FxHashMap<Value, i64>,
}

impl Folding<'_> {
    fn region(&mut self, region: &mut Region) {
        for inst in &mut region.insts {
            if let &[result] = inst.results.as_slice() {
                match inst.op {
                    Op::Const(Const::Bits(bits)) => {
                        let number = match self.function.ty(result) {
                            Type::Scalar(Scalar::I32) => i64::from((bits as u32).cast_signed()),
                            _ => bits.cast_signed(),
                        };
                        self.numbers.insert(result, number);
                    }
                    Op::GlobalAddr(global) if self.globals.get(global.index()).is_some_and(is_table) => {
                        self.places.insert(result, (global, 0));
                    }
                    Op::PtrAdd(base, offset) => {
                        if let (Some(&(global, at)), Some(offset)) = (self.places.get(&base), self.numbers.get(&offset)) {
                            self.places.insert(result, (global, at.wrapping_add(*offset)));
                        }
                    }
                    Op::Load { ptr, volatile: false, .. } => {
                        if let Some(constant) = self.read(ptr, self.function.ty(result)) {
                            inst.op = Op::Const(constant);
                        }
                    }
                    _ => {}
                }
            }
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
        }
    }

    fn read(&self, ptr: Value, ty: Type) -> Option<Const> {
        let &(global, at) = self.places.get(&ptr)?;
        let bytes = self.globals.get(global.index())?.init.as_ref()?;
        let scalar = ty.scalar()?;
        if scalar == Scalar::Bool {
            return None;
        }
        let (start, size) = (usize::try_from(at).ok()?, scalar.size() as usize);
        let lane = |number: usize| {
            let from = start.checked_add(number.checked_mul(size)?)?;
            let bytes = bytes.get(from..from.checked_add(size)?)?;
            Some(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
        };
        match ty {
            Type::Scalar(_) => lane(0).map(Const::Bits),
            Type::Vector(_, lanes) => (0..usize::from(lanes)).map(lane).collect::<Option<_>>().map(Const::Lanes),
            _ => None,
        }
    }
}
