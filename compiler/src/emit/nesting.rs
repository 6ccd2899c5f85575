//! Names for expressions, where the text that a printer makes of them would nest too deep.
//!
//! Printers write an expression where it is used if it is used once: a long sum becomes as many parentheses within each other. Compilers stop at 256 of them (clang's, and so Metal's and Direct3D's;
//! those of WGSL similarly). What has a name is a variable of its own.

use naga::{Expression, Function, Handle};

/// Operations within each other that are written as one expression.
const DEEPEST: u32 = 32;

/// Names each expression that would be the deepest.
pub(super) fn name_deep(function: &mut Function) {
    let mut depths: Vec<u32> = Vec::with_capacity(function.expressions.len());
    for (handle, expression) in function.expressions.iter() {
        let within = |operand: Handle<Expression>| depths.get(operand.index()).copied().unwrap_or(0);
        let depth = 1 + operands(expression).into_iter().map(within).max().unwrap_or(0);
        let deep = depth >= DEEPEST && has_value(expression);
        if deep {
            function.named_expressions.insert(handle, format!("e{}", handle.index()));
        }
        depths.push(if deep { 0 } else { depth });
    }
}

/// Whether an expression has a value that a variable can hold, and no name of its own.
const fn has_value(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Binary { .. } | Expression::Unary { .. } | Expression::Select { .. } | Expression::Math { .. } | Expression::As { .. }
    )
}

/// What is written within an expression.
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
