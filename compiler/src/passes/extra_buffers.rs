//! Gives a kernel parameters for the buffers that only pointers in memory lead to: the launch binds them behind the kernel's own.

use super::pass::Pass;
use crate::ir::{Function, KernelParam, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("extra_buffers", |function, cx| {
    run(function, cx.key.binding.extra_buffers);
    Ok(cx.key.binding.extra_buffers > 0)
});

/// Gives a kernel so many more parameters.
fn run(function: &mut Function, count: u32) {
    for _ in 0..count {
        add(function);
    }
}

/// Gives a kernel one more parameter, for a buffer.
pub(super) fn add(function: &mut Function) -> Value {
    let param = function.new_value(Type::Ptr(Space::Global));
    function.params.push(param);
    if let Some(kernel) = &mut function.kernel {
        kernel.params.push(KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false });
    }
    param
}
