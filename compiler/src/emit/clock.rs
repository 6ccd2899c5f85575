//! Clocks (SPV_KHR_shader_clock).
//!
//! naga does not support clocks. A kernel that reads a clock calls a function that returns a vector with a unique
//! number in both components. In naga's SPIR-V this function is changed to read the clock:
//!
//! ```text
//! %c = OpCompositeConstruct %uint2 %mark %mark     =>    %c = OpReadClockKHR %uint2 %scope
//! OpReturnValue %c                                       OpReturnValue %c
//! ```

use naga::{Function, FunctionResult, Handle, Scalar, Span, Statement};
use rustc_hash::FxHashMap;

use super::builder::{Builder, Expr, Shared};
use super::words::{HEADER, instructions, op};

/// The number that identifies the device's clock. The next number identifies the subgroup's clock.
const MARK: u32 = 0x9d3c_5a71;

/// Names of the functions for the device's and the subgroup's clock.
const NAMES: [&str; 2] = ["clock_of_device", "clock_of_subgroup"];
/// The scopes `Device` and `Subgroup` of SPIR-V.
const SCOPES: [u32; 2] = [1, 3];
/// The capability `ShaderClockKHR`.
const SHADER_CLOCK: u32 = 5055;

const CONSTANT: u32 = 43;
const CONSTANT_COMPOSITE: u32 = 44;
const COMPOSITE_CONSTRUCT: u32 = 80;
const RETURN_VALUE: u32 = 254;
const READ_CLOCK: u32 = 5056;

/// Returns the function that reads a clock. The first call creates it.
pub(super) fn function(shared: &mut Shared, sub: bool) -> Handle<Function> {
    let name = NAMES[usize::from(sub)];
    let known = shared.module.functions.iter().find(|(_, function)| function.name.as_deref() == Some(name));
    if let Some((handle, _)) = known {
        return handle;
    }
    let ty = shared.ty(Scalar::U32, 2);
    let mut b = Builder::new(shared, name);
    b.function.result = Some(FunctionResult { ty, binding: None });
    let value: Expr = b.same(Scalar::U32, u64::from(MARK + u32::from(sub)), 2);
    b.stmt(Statement::Return { value: Some(value) });
    let function = b.finish();
    shared.module.functions.append(function, Span::UNDEFINED)
}

/// Whether a module reads a clock.
pub(super) fn is_read(module: &naga::Module) -> bool {
    module.functions.iter().any(|(_, function)| function.name.as_deref().is_some_and(|name| NAMES.contains(&name)))
}

/// Changes the functions to read clocks. Returns `None` if the SPIR-V does not have the form that naga writes.
pub(super) fn insert_reads(words: Vec<u32>) -> Option<Vec<u32>> {
    let mut next = *words.get(3)?;
    let mut out = words.get(..HEADER)?.to_vec();
    // `marks`: the scope of each constant with a unique number. `pairs`: the type and the scope of each vector of two
    // equal constants of this kind.
    let (mut marks, mut pairs) = (FxHashMap::default(), FxHashMap::default());
    let (mut capability, mut extension) = (false, false);
    for (code, inst) in instructions(&words) {
        if code != op::CAPABILITY && !capability {
            capability = true;
            out.extend([2 << 16 | op::CAPABILITY, SHADER_CLOCK]);
        }
        if matches!(code, op::EXTENSION | op::EXT_INST_IMPORT | op::MEMORY_MODEL) && !extension {
            extension = true;
            out.extend(super::spirv::string_instruction(op::EXTENSION, "SPV_KHR_shader_clock"));
        }
        let pair = |at: usize| match (inst.get(at..), marks.get(inst.get(at).unwrap_or(&0))) {
            (Some([a, b]), Some(scope)) if a == b => Some(*scope),
            _ => None,
        };
        match code {
            CONSTANT => {
                out.extend_from_slice(inst);
                let scope = inst.get(3).and_then(|bits| bits.checked_sub(MARK)).and_then(|which| SCOPES.get(which as usize));
                if let (Some(scope), 4) = (scope, inst.len()) {
                    marks.insert(inst[2], next);
                    out.extend([4 << 16 | CONSTANT, inst[1], next, *scope]);
                    next += 1;
                }
            }
            CONSTANT_COMPOSITE => {
                out.extend_from_slice(inst);
                if let Some(scope) = pair(3) {
                    pairs.insert(inst[2], (inst[1], scope));
                }
            }
            COMPOSITE_CONSTRUCT => match pair(3) {
                Some(scope) => out.extend([4 << 16 | READ_CLOCK, inst[1], inst[2], scope]),
                None => out.extend_from_slice(inst),
            },
            RETURN_VALUE => match pairs.get(inst.get(1)?) {
                Some(&(ty, scope)) => {
                    out.extend([4 << 16 | READ_CLOCK, ty, next, scope, 2 << 16 | RETURN_VALUE, next]);
                    next += 1;
                }
                None => out.extend_from_slice(inst),
            },
            _ => out.extend_from_slice(inst),
        }
    }
    out[3] = next;
    Some(out)
}
