//! Makes branches uniform for the uniformity analysis of WGSL: one work-item broadcasts its condition to the
//! work-group.
//!
//! ```text
//! while (m[0] > 0)                %c = m[0] > 0
//!     barrier                     if (local_invocation_index == 0) { answer = %c }
//!                                 if (workgroupUniformLoad(&answer)) ...
//! ```
//! `workgroupUniformLoad` has a barrier before and after it. All work-items execute it, because the control flow at the
//! branch is uniform, or becomes uniform when the enclosing branches are broadcast.

use naga::{
    AddressSpace, BinaryOperator, Binding, Block, BuiltIn, Expression, Function, FunctionArgument, GlobalVariable, Handle, Literal, Module,
    Scalar, Span, Statement, SwitchValue, Type, TypeInner,
};

use super::EmitError;
use super::uniform::{self, Failure, Level, StatementAddress, address_of};
use crate::diag::Span as SourceSpan;

/// Size in bytes of a broadcast variable in work-group memory.
const BYTES: u32 = 4;

/// Makes the control flow of all barriers uniform for WGSL. Uses at most `budget` bytes of additional work-group
/// memory, and returns the number of bytes that it uses.
///
/// # Errors
///
/// Fails if the control flow of a barrier may depend on the work-item, or if `budget` is too small.
pub(super) fn make_uniform(module: &mut Module, budget: u32) -> Result<u32, EmitError> {
    let mut variables = BroadcastVariables::default();
    // A branch is uniform after its selector has been broadcast. So each branch is broadcast only once.
    while let Some(failure) = uniform::failure(module) {
        let Some((branch, _)) = failure.taint.branch.filter(|_| failure.taint.level == Level::Read) else {
            return Err(not_uniform(&failure));
        };
        let Module { types, global_variables, entry_points, .. } = module;
        let Some(entry) = entry_points.first_mut() else { return Ok(0) };
        let Some(kind) = find(&mut entry.function.body, branch, &mut |block, index| kind(&block[index])).flatten() else {
            return Err(not_uniform(&failure));
        };
        let scalar = match kind {
            Kind::Flag => Scalar::BOOL,
            Kind::Signed => Scalar::I32,
            Kind::Unsigned => Scalar::U32,
        };
        let ty = types.insert(Type { name: None, inner: TypeInner::Scalar(scalar) }, Span::UNDEFINED);
        let word = types.insert(Type { name: None, inner: TypeInner::Scalar(Scalar::U32) }, Span::UNDEFINED);
        let variable = *variables.0[kind as usize].get_or_insert_with(|| {
            let variable = GlobalVariable {
                name: Some("answer".to_owned()),
                space: AddressSpace::WorkGroup,
                binding: None,
                ty,
                init: None,
                memory_decorations: Default::default(),
            };
            global_variables.append(variable, Span::UNDEFINED)
        });
        if variables.bytes() > budget {
            return Err(not_uniform(&failure));
        }
        let broadcast = Broadcast { variable, ty, index: local_index(&mut entry.function, word) };
        let Function { expressions, body, .. } = &mut entry.function;
        find(body, branch, &mut |block, index| broadcast.insert(expressions, block, index));
    }
    Ok(variables.bytes())
}

/// The broadcast variables, by type.
#[derive(Default)]
struct BroadcastVariables([Option<Handle<GlobalVariable>>; 3]);

impl BroadcastVariables {
    fn bytes(&self) -> u32 {
        self.0.iter().flatten().count() as u32 * BYTES
    }
}

/// The type of a branch selector.
#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Signed,
    Unsigned,
}

fn kind(statement: &Statement) -> Option<Kind> {
    match statement {
        Statement::If { .. } => Some(Kind::Flag),
        Statement::Switch { cases, .. } => {
            let is_signed = cases.iter().any(|case| matches!(case.value, SwitchValue::I32(_)));
            Some(if is_signed { Kind::Signed } else { Kind::Unsigned })
        }
        _ => None,
    }
}

/// The operands of a broadcast.
struct Broadcast {
    variable: Handle<GlobalVariable>,
    ty: Handle<Type>,
    /// The index of the work-item in its work-group.
    index: Handle<Expression>,
}

impl Broadcast {
    /// Replaces the selector of the branch at index `at` of a block with the value of the first work-item.
    fn insert(&self, expressions: &mut naga::Arena<Expression>, block: &mut Block, at: usize) {
        let span = block.span_iter().nth(at).map_or(Span::UNDEFINED, |(_, span)| *span);
        let mut add = |expression| expressions.append(expression, span);
        let (pointer, zero) = (add(Expression::GlobalVariable(self.variable)), add(Expression::Literal(Literal::U32(0))));
        let is_first = add(Expression::Binary { op: BinaryOperator::Equal, left: self.index, right: zero });
        let result = add(Expression::WorkGroupUniformLoadResult { ty: self.ty });
        let found = match &mut block[at] {
            Statement::If { condition: selector, .. } | Statement::Switch { selector, .. } => std::mem::replace(selector, result),
            _ => return,
        };
        let store = Statement::Store { pointer, value: found };
        let mut before = Block::new();
        before.push(Statement::Emit(naga::Range::new_from_bounds(is_first, is_first)), span);
        before.push(Statement::If { condition: is_first, accept: Block::from_vec(vec![store]), reject: Block::new() }, span);
        before.push(Statement::WorkGroupUniformLoad { pointer, result }, span);
        block.splice(at..at, before);
    }
}

/// Returns the input of the entry point that contains the index of the work-item in its work-group. Adds this input if
/// it is missing.
fn local_index(function: &mut Function, ty: Handle<Type>) -> Handle<Expression> {
    let binding = Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
    let known = function.arguments.iter().position(|argument| argument.binding == binding);
    let index = known.unwrap_or_else(|| {
        function.arguments.push(FunctionArgument { name: None, ty, binding });
        function.arguments.len() - 1
    });
    function.expressions.append(Expression::FunctionArgument(index as u32), Span::UNDEFINED)
}

/// Calls `with` for the statement with address `wanted`, with its block and its index in the block. Returns `None` if
/// there is no such statement.
fn find<T>(block: &mut Block, wanted: StatementAddress, with: &mut impl FnMut(&mut Block, usize) -> T) -> Option<T> {
    if let Some(index) = block.iter().position(|statement| address_of(statement) == wanted) {
        return Some(with(block, index));
    }
    block.iter_mut().find_map(|statement| match statement {
        Statement::Block(block) => find(block, wanted, with),
        Statement::If { accept, reject, .. } => find(accept, wanted, with).or_else(|| find(reject, wanted, with)),
        Statement::Switch { cases, .. } => cases.iter_mut().find_map(|case| find(&mut case.body, wanted, with)),
        Statement::Loop { body, continuing, .. } => find(body, wanted, with).or_else(|| find(continuing, wanted, with)),
        _ => None,
    })
}

/// The error for a barrier in non-uniform control flow.
fn not_uniform(failure: &Failure) -> EmitError {
    let source = |span: Span| span.to_range().map_or(SourceSpan::NONE, |range| SourceSpan { lo: range.start as u32, hi: range.end as u32 });
    EmitError::NotUniform { at: source(failure.span), branch: failure.taint.branch.map_or(SourceSpan::NONE, |(_, span)| source(span)) }
}
