//! Builds naga functions: types, literals, and expressions.
//!
//! naga evaluates most expressions at the `Emit` statement that covers them. [`Builder::expr`] appends an expression
//! and records the range that is not covered yet. [`Builder::stmt`] covers this range before it adds a statement.
//! Literals, constants and references to variables need no `Emit`, and a function has each of them only once. Every
//! expression is emitted once, before its first use.

use crate::ir;
use naga::{
    AddressSpace, ArraySize, BinaryOperator, Block, Constant, Expression, Function, Handle, Literal, LocalVariable, MathFunction, Module,
    Scalar, ScalarKind, Span, Statement, SwizzleComponent, Type, TypeInner, UnaryOperator, VectorSize,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::num::NonZeroU32;

/// An expression of the function that is built.
pub(super) type Expr = Handle<Expression>;

/// The naga expressions of one IR value. A value with 8 or 16 lanes consists of chunks of four lanes, other values of
/// one chunk.
pub(super) type Val = SmallVec<[Expr; 4]>;

/// The naga scalar of an IR scalar. Integers of less than 64 bits are zero-extended to `u32`.
pub(super) const fn register(scalar: ir::Scalar) -> Scalar {
    match scalar {
        ir::Scalar::Bool => Scalar::BOOL,
        ir::Scalar::I8 | ir::Scalar::I16 | ir::Scalar::I32 => Scalar::U32,
        ir::Scalar::I64 => Scalar::U64,
        ir::Scalar::F16 => Scalar::F16,
        ir::Scalar::F32 => Scalar::F32,
        ir::Scalar::F64 => Scalar::F64,
    }
}

/// Number of lanes in each chunk of a value with `lanes` lanes.
pub(super) const fn chunk_lanes(lanes: u8) -> u8 {
    if lanes > 4 { 4 } else { lanes }
}

/// Number of chunks of a value with `lanes` lanes.
pub(super) const fn chunk_count(lanes: u8) -> usize {
    if lanes > 4 { lanes as usize / 4 } else { 1 }
}

/// The vector size of 2 to 4 lanes.
pub(super) const fn vector_size(lanes: u8) -> VectorSize {
    match lanes {
        2 => VectorSize::Bi,
        3 => VectorSize::Tri,
        _ => VectorSize::Quad,
    }
}

/// The module that is built, with its types and constants.
pub(super) struct Shared {
    pub(super) module: Module,
    types: FxHashMap<(Scalar, u8), Handle<Type>>,
    constants: FxHashMap<(Scalar, SmallVec<[u64; 4]>), Handle<Constant>>,
    /// Whether the driver's compiler reads 64-bit integer literals as 32-bit ones.
    narrow_literals: bool,
}

impl Shared {
    pub(super) fn new(narrow_literals: bool) -> Self {
        Self { module: Module::default(), types: FxHashMap::default(), constants: FxHashMap::default(), narrow_literals }
    }

    /// The type of a scalar or of a vector of 2 to 4 lanes.
    pub(super) fn ty(&mut self, scalar: Scalar, lanes: u8) -> Handle<Type> {
        let types = &mut self.module.types;
        *self.types.entry((scalar, lanes)).or_insert_with(|| {
            let inner = if lanes == 1 { TypeInner::Scalar(scalar) } else { TypeInner::Vector { size: vector_size(lanes), scalar } };
            types.insert(Type { name: None, inner }, Span::UNDEFINED)
        })
    }

    /// The array type with these elements. It has a run-time size if `len` is `None`.
    pub(super) fn array(&mut self, scalar: Scalar, lanes: u8, atomic: bool, len: Option<u32>) -> Handle<Type> {
        let (base, stride) = if atomic {
            let inner = TypeInner::Atomic(scalar);
            (self.module.types.insert(Type { name: None, inner }, Span::UNDEFINED), u32::from(scalar.width))
        } else {
            let stored_lanes = if lanes == 3 { 4 } else { lanes };
            (self.ty(scalar, lanes), u32::from(scalar.width) * u32::from(stored_lanes))
        };
        let size = match len {
            Some(n) => ArraySize::Constant(NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)),
            None => ArraySize::Dynamic,
        };
        self.module.types.insert(Type { name: None, inner: TypeInner::Array { base, size, stride } }, Span::UNDEFINED)
    }

    /// A module constant for a vector. Its lanes must be finite.
    fn vector_constant(&mut self, scalar: Scalar, lanes: &[u64]) -> Handle<Constant> {
        let key = (scalar, SmallVec::from_slice(lanes));
        if let Some(&found) = self.constants.get(&key) {
            return found;
        }
        let ty = self.ty(scalar, lanes.len() as u8);
        let components = lanes
            .iter()
            .map(|&bits| self.module.global_expressions.append(Expression::Literal(literal(scalar, bits)), Span::UNDEFINED))
            .collect();
        let init = self.module.global_expressions.append(Expression::Compose { ty, components }, Span::UNDEFINED);
        let made = self.module.constants.append(Constant { name: None, ty, init }, Span::UNDEFINED);
        self.constants.insert(key, made);
        made
    }
}

/// The literal of a scalar with these bits.
fn literal(scalar: Scalar, bits: u64) -> Literal {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Literal::Bool(bits & 1 != 0),
        (ScalarKind::Sint, 8) => Literal::I64(bits as i64),
        (ScalarKind::Sint, 2) => Literal::I16(bits as i16),
        (ScalarKind::Sint, _) => Literal::I32(bits as i32),
        (ScalarKind::Float, 2) => Literal::F16(half::f16::from_bits(bits as u16)),
        (ScalarKind::Float, 8) => Literal::F64(f64::from_bits(bits)),
        (ScalarKind::Float, _) => Literal::F32(f32::from_bits(bits as u32)),
        (_, 8) => Literal::U64(bits),
        (_, 2) => Literal::U16(bits as u16),
        (_, _) => Literal::U32(bits as u32),
    }
}

/// Whether a scalar with these bits is finite. True for all integers.
fn is_finite(scalar: Scalar, bits: u64) -> bool {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => bits & 0x7c00 != 0x7c00,
        (ScalarKind::Float, 4) => bits & 0x7f80_0000 != 0x7f80_0000,
        (ScalarKind::Float, _) => bits & 0x7ff0_0000_0000_0000 != 0x7ff0_0000_0000_0000,
        _ => true,
    }
}

/// A naga function that is being built.
pub(super) struct Builder<'m> {
    pub(super) shared: &'m mut Shared,
    pub(super) function: Function,
    /// The source location of new statements.
    pub(super) span: Span,
    blocks: Vec<Block>,
    pending: Option<usize>,
    literals: FxHashMap<(Scalar, u64), Expr>,
    constants: FxHashMap<Handle<Constant>, Expr>,
    globals: FxHashMap<Handle<naga::GlobalVariable>, Expr>,
    locals: FxHashMap<Handle<LocalVariable>, Expr>,
}

impl<'m> Builder<'m> {
    pub(super) fn new(shared: &'m mut Shared, name: &str) -> Self {
        Self {
            shared,
            function: Function { name: Some(name.to_owned()), ..Function::default() },
            span: Span::UNDEFINED,
            blocks: vec![Block::new()],
            pending: None,
            literals: FxHashMap::default(),
            constants: FxHashMap::default(),
            globals: FxHashMap::default(),
            locals: FxHashMap::default(),
        }
    }

    pub(super) fn finish(mut self) -> Function {
        self.flush();
        self.function.body = self.blocks.pop().unwrap_or_default();
        self.function
    }

    fn flush(&mut self) {
        if let Some(start) = self.pending.take() {
            let range = self.function.expressions.range_from(start);
            self.push_raw(Statement::Emit(range));
        }
    }

    fn push_raw(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement, self.span);
        }
    }

    /// Appends an expression that is evaluated at this position.
    pub(super) fn expr(&mut self, expression: Expression) -> Expr {
        if self.pending.is_none() {
            self.pending = Some(self.function.expressions.len());
        }
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// Appends an expression that needs no `Emit`: a literal, a reference, or the result of a statement.
    pub(super) fn bare(&mut self, expression: Expression) -> Expr {
        self.flush();
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// Adds a statement.
    pub(super) fn stmt(&mut self, statement: Statement) {
        self.flush();
        self.push_raw(statement);
    }

    /// Opens a nested block.
    pub(super) fn open(&mut self) {
        self.flush();
        self.blocks.push(Block::new());
    }

    /// Closes the innermost block and returns it.
    pub(super) fn close(&mut self) -> Block {
        self.flush();
        self.blocks.pop().unwrap_or_default()
    }

    // Constants

    /// Whether constants of this type are computed from 32-bit literals ([`Defects::narrow_literals`]).
    ///
    /// [`Defects::narrow_literals`]: crate::target::Defects::narrow_literals
    fn is_computed(&self, scalar: Scalar) -> bool {
        self.shared.narrow_literals && scalar.width == 8 && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
    }

    /// A 64-bit integer that is computed from 32-bit literals.
    fn computed(&mut self, scalar: Scalar, bits: u64) -> Expr {
        if scalar.kind == ScalarKind::Sint
            && let Ok(small) = i32::try_from(bits.cast_signed())
        {
            let small = self.scalar(Scalar::I32, u64::from(small.cast_unsigned()));
            return self.convert(small, scalar);
        }
        let low = self.u32(bits as u32);
        let mut value = self.convert(low, Scalar::U64);
        if bits >> 32 != 0 {
            let high = self.u32((bits >> 32) as u32);
            let (high, distance) = (self.convert(high, Scalar::U64), self.u32(32));
            let high = self.expr(Expression::Binary { op: naga::BinaryOperator::ShiftLeft, left: high, right: distance });
            value = self.expr(Expression::Binary { op: naga::BinaryOperator::InclusiveOr, left: high, right: value });
        }
        if scalar.kind == ScalarKind::Sint { self.convert(value, scalar) } else { value }
    }

    /// A scalar literal. NaNs and infinities are bitcasts of integers, since naga has no literals for them.
    pub(super) fn scalar(&mut self, scalar: Scalar, bits: u64) -> Expr {
        if !is_finite(scalar, bits) {
            let integer = self.scalar(Scalar { kind: ScalarKind::Uint, width: scalar.width }, bits);
            return self.bitcast(integer, ScalarKind::Float);
        }
        if self.is_computed(scalar) {
            return self.computed(scalar, bits);
        }
        if let Some(&found) = self.literals.get(&(scalar, bits)) {
            return found;
        }
        let made = self.bare(Expression::Literal(literal(scalar, bits)));
        self.literals.insert((scalar, bits), made);
        made
    }

    pub(super) fn u32(&mut self, value: u32) -> Expr {
        self.scalar(Scalar::U32, u64::from(value))
    }

    /// A constant chunk. `bits` has one entry per lane.
    pub(super) fn lanes(&mut self, scalar: Scalar, bits: &[u64]) -> Expr {
        if let [one] = bits {
            return self.scalar(scalar, *one);
        }
        let is_computed = self.is_computed(scalar);
        if is_computed || !bits.iter().all(|&b| is_finite(scalar, b)) {
            if is_computed || scalar.width == 2 {
                let components = bits.iter().map(|&b| self.scalar(scalar, b)).collect();
                let ty = self.shared.ty(scalar, bits.len() as u8);
                return self.expr(Expression::Compose { ty, components });
            }
            let integers = self.lanes(Scalar { kind: ScalarKind::Uint, width: scalar.width }, bits);
            return self.bitcast(integers, ScalarKind::Float);
        }
        let constant = self.shared.vector_constant(scalar, bits);
        if let Some(&found) = self.constants.get(&constant) {
            return found;
        }
        let made = self.bare(Expression::Constant(constant));
        self.constants.insert(constant, made);
        made
    }

    /// A constant chunk with the same bits in every lane.
    pub(super) fn same(&mut self, scalar: Scalar, bits: u64, lanes: u8) -> Expr {
        let all = [bits; 4];
        self.lanes(scalar, &all[..usize::from(lanes.clamp(1, 4))])
    }

    /// A zero chunk. It also represents unspecified values.
    pub(super) fn zero(&mut self, scalar: Scalar, lanes: u8) -> Expr {
        self.same(scalar, 0, lanes)
    }

    // Variables

    pub(super) fn local(&mut self, name: Option<String>, ty: Handle<Type>) -> Handle<LocalVariable> {
        self.function.local_variables.append(LocalVariable { name, ty, init: None }, Span::UNDEFINED)
    }

    pub(super) fn local_ptr(&mut self, variable: Handle<LocalVariable>) -> Expr {
        if let Some(&found) = self.locals.get(&variable) {
            return found;
        }
        let made = self.bare(Expression::LocalVariable(variable));
        self.locals.insert(variable, made);
        made
    }

    pub(super) fn global_ptr(&mut self, variable: Handle<naga::GlobalVariable>) -> Expr {
        if let Some(&found) = self.globals.get(&variable) {
            return found;
        }
        let made = self.bare(Expression::GlobalVariable(variable));
        self.globals.insert(variable, made);
        made
    }

    pub(super) fn load_local(&mut self, variable: Handle<LocalVariable>) -> Expr {
        let pointer = self.local_ptr(variable);
        self.expr(Expression::Load { pointer })
    }

    pub(super) fn store_local(&mut self, variable: Handle<LocalVariable>, value: Expr) {
        let pointer = self.local_ptr(variable);
        self.stmt(Statement::Store { pointer, value });
    }

    pub(super) fn load(&mut self, pointer: Expr) -> Expr {
        self.expr(Expression::Load { pointer })
    }

    pub(super) fn store(&mut self, pointer: Expr, value: Expr) {
        self.stmt(Statement::Store { pointer, value });
    }

    // Shorthands

    pub(super) fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.expr(Expression::Binary { op, left, right })
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, expr: Expr) -> Expr {
        self.expr(Expression::Unary { op, expr })
    }

    pub(super) fn add(&mut self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOperator::Add, left, right)
    }

    pub(super) fn and(&mut self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOperator::And, left, right)
    }

    pub(super) fn or(&mut self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOperator::InclusiveOr, left, right)
    }

    pub(super) fn shl(&mut self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOperator::ShiftLeft, left, right)
    }

    pub(super) fn shr(&mut self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOperator::ShiftRight, left, right)
    }

    pub(super) fn bitcast(&mut self, expr: Expr, kind: ScalarKind) -> Expr {
        self.expr(Expression::As { expr, kind, convert: None })
    }

    /// Changes the signedness of integers, and keeps their bits. naga's HLSL writer omits bitcasts of 64-bit integers,
    /// and a signed operation without one is unsigned. A conversion to the same width has the same meaning.
    pub(super) fn with_sign(&mut self, expr: Expr, kind: ScalarKind, width: u8) -> Expr {
        if width == 8 { self.convert(expr, Scalar { kind, width }) } else { self.bitcast(expr, kind) }
    }

    pub(super) fn convert(&mut self, expr: Expr, to: Scalar) -> Expr {
        self.expr(Expression::As { expr, kind: to.kind, convert: Some(to.width) })
    }

    pub(super) fn select(&mut self, condition: Expr, accept: Expr, reject: Expr) -> Expr {
        self.expr(Expression::Select { condition, accept, reject })
    }

    pub(super) fn math(&mut self, fun: MathFunction, args: &[Expr]) -> Expr {
        let at = |i: usize| args.get(i).copied();
        let arg = at(0).unwrap_or_else(|| self.bare(Expression::Literal(Literal::U32(0))));
        self.expr(Expression::Math { fun, arg, arg1: at(1), arg2: at(2), arg3: at(3) })
    }

    pub(super) fn splat(&mut self, value: Expr, lanes: u8) -> Expr {
        if lanes == 1 { value } else { self.expr(Expression::Splat { size: vector_size(lanes), value }) }
    }

    /// Composes a chunk from scalars. A single scalar is returned unchanged.
    pub(super) fn compose(&mut self, scalar: Scalar, parts: &[Expr]) -> Expr {
        if let [one] = parts {
            return *one;
        }
        let ty = self.shared.ty(scalar, parts.len() as u8);
        self.expr(Expression::Compose { ty, components: parts.to_vec() })
    }

    /// Extracts one lane of a chunk with `lanes` lanes. Returns the chunk if it is a scalar.
    pub(super) fn lane(&mut self, chunk: Expr, lanes: u8, index: u8) -> Expr {
        if lanes == 1 { chunk } else { self.expr(Expression::AccessIndex { base: chunk, index: u32::from(index) }) }
    }

    /// Selects lanes of a chunk.
    pub(super) fn swizzle(&mut self, vector: Expr, pattern: &[u8]) -> Expr {
        let component = |i: usize| match pattern.get(i) {
            Some(0) | None => SwizzleComponent::X,
            Some(1) => SwizzleComponent::Y,
            Some(2) => SwizzleComponent::Z,
            Some(_) => SwizzleComponent::W,
        };
        let pattern_full = [component(0), component(1), component(2), component(3)];
        self.expr(Expression::Swizzle { size: vector_size(pattern.len() as u8), vector, pattern: pattern_full })
    }

    /// Returns a pointer to an element of an array, or the element, depending on `base`.
    pub(super) fn element(&mut self, base: Expr, index: Expr) -> Expr {
        self.expr(Expression::Access { base, index })
    }

    pub(super) fn element_at(&mut self, base: Expr, index: u32) -> Expr {
        self.expr(Expression::AccessIndex { base, index })
    }
}

/// Adds a module-level variable.
pub(super) fn global(
    shared: &mut Shared,
    name: &str,
    space: AddressSpace,
    binding: Option<u32>,
    ty: Handle<Type>,
) -> Handle<naga::GlobalVariable> {
    shared.module.global_variables.append(
        naga::GlobalVariable {
            name: Some(name.to_owned()),
            space,
            binding: binding.map(|binding| naga::ResourceBinding { group: 0, binding }),
            ty,
            init: None,
            memory_decorations: naga::MemoryDecorations::empty(),
        },
        Span::UNDEFINED,
    )
}

/// A value that consists of one expression.
pub(super) fn single(expr: Expr) -> Val {
    smallvec![expr]
}
