//! Names expressions whose text would otherwise nest too deeply.
//!
//! Printers inline an expression that is used once. So a long sum becomes nested parentheses. clang, and therefore the
//! compilers for Metal and Direct3D, limit the depth of parentheses to 256. WGSL compilers have similar limits. A named
//! expression becomes a variable.
//!
//! Example: `a + b + ... + z` becomes `let e32 = ((a + b) + ...); e32 + z`.

use naga::{Expression, Function, Handle};

/// Maximum nesting of operations in one expression.
const MAX_NESTING: u32 = 32;

/// Names each expression whose nesting reaches the limit.
pub(super) fn name_deep(function: &mut Function) {
    let mut depths: Vec<u32> = Vec::with_capacity(function.expressions.len());
    for (handle, expression) in function.expressions.iter() {
        let within = |operand: Handle<Expression>| depths.get(operand.index()).copied().unwrap_or(0);
        let depth = 1 + operands(expression).into_iter().map(within).max().unwrap_or(0);
        let deep = depth >= MAX_NESTING && has_value(expression);
        if deep {
            function.named_expressions.insert(handle, format!("e{}", handle.index()));
        }
        depths.push(if deep { 0 } else { depth });
    }
}

/// Whether an expression is an operation, whose value a variable can hold.
const fn has_value(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Binary { .. } | Expression::Unary { .. } | Expression::Select { .. } | Expression::Math { .. } | Expression::As { .. }
    )
}

/// The operands of an expression.
pub(super) fn operands(expression: &Expression) -> Vec<Handle<Expression>> {
    match *expression {
        Expression::Access { base, index } => vec![base, index],
        Expression::AccessIndex { base, .. } => vec![base],
        Expression::Splat { value, .. } => vec![value],
        Expression::Swizzle { vector, .. } => vec![vector],
        Expression::Compose { ref components, .. } => components.clone(),
        Expression::Load { pointer } => vec![pointer],
        Expression::Unary { expr, .. } | Expression::As { expr, .. } => vec![expr],
        Expression::Binary { left, right, .. } => vec![left, right],
        Expression::Select { condition, accept, reject } => vec![condition, accept, reject],
        Expression::Relational { argument, .. } => vec![argument],
        Expression::Math { arg, arg1, arg2, arg3, .. } => [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}
