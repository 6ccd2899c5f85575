//! Adds kernel parameters for buffers that are only accessed through pointers in memory. The new parameters follow the
//! parameters of the source.
//!
//! Example: with `extra_buffers: 1`, `kernel @f0 (%0: ptr.global buffer)` gets `%1: ptr.global buffer`.

use super::pass::Pass;
use crate::ir::{Function, KernelParam, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("extra_buffers", |function, cx| {
    run(function, cx.key.binding.extra_buffers);
    Ok(cx.key.binding.extra_buffers > 0)
});

/// Adds `count` parameters to a kernel.
fn run(function: &mut Function, count: u32) {
    for _ in 0..count {
        add(function);
    }
}

/// Adds one buffer parameter to a kernel.
pub(super) fn add(function: &mut Function) -> Value {
    let param = function.new_value(Type::Ptr(Space::Global));
    function.params.push(param);
    if let Some(kernel) = &mut function.kernel {
        kernel.params.push(KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false });
    }
    param
}
