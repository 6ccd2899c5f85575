//! Folds loads from constants of the program.
//!
//! ```text
//! @g0 = constant [1, 2, 3]
//! %0 = ptr_add @g0, 8           =>      %0 = ptr_add @g0, 8
//! %1 = load.i32 %0                      %1 = const 3
//! ```

use super::constant_arrays::is_constant_data;
use super::pass::Pass;
use crate::analysis::addresses::{Address, Addresses};
use crate::analysis::definitions::Root;
use crate::ir::{Const, Function, GlobalVar, Op, Scalar, Type, Value};

pub(crate) const PASS: Pass = Pass::function("constant_loads", |function, cx| Ok(run(function, &cx.module.globals)));

/// Replaces loads from constant offsets in constant data. Returns whether any load was replaced.
pub(crate) fn run(function: &mut Function, globals: &[GlobalVar]) -> bool {
    if !globals.iter().any(is_constant_data) {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let addresses = Addresses::of(function, &body);
    let data = ConstantData { globals, addresses };
    let mut changed = false;
    body.walk_mut(&mut |inst| {
        if let (&Op::Load { ptr, volatile: false, .. }, &[result]) = (&inst.op, inst.results.as_slice())
            && let Some(constant) = data.read(ptr, function.ty(result))
        {
            inst.op = Op::Const(constant);
            changed = true;
        }
    });
    function.body = body;
    changed
}

struct ConstantData<'a> {
    globals: &'a [GlobalVar],
    addresses: Addresses,
}

impl ConstantData<'_> {
    /// Returns the result of a load of type `ty`, or `None` if the address or the contents are not known.
    fn read(&self, ptr: Value, ty: Type) -> Option<Const> {
        let Address { root: Root::Global(global), offset: Some(at) } = self.addresses.get(ptr)? else { return None };
        let bytes = self.globals.get(global.index()).filter(|global| is_constant_data(global))?.init.as_ref()?;
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
