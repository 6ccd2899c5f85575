//! Lvalues: addresses of objects, loads and stores.
//!
//! A vector in private memory is loaded and stored whole, so that it can become an SSA value. In other memory, a store
//! writes only the named lanes, because other work-items may write the other lanes concurrently. A load of contiguous
//! lanes accesses only these lanes.

use super::builder::Builder;
use super::function::{Lowering, Slot};
use super::types::ArithType;
use crate::ast::ScalarKind;
use crate::ir::{CastOp, CmpOp, Global, Op, Space, Type, Value};
use crate::thir::{Expr, ExprKind, Init, LocalId, Lvalue, LvalueKind, Ty};

/// The address of an object, with its alignment in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectAddress {
    pub(super) address: Value,
    pub(super) align: u32,
    pub(super) volatile: bool,
}

/// An lvalue whose address has been evaluated.
#[derive(Clone, Debug)]
pub(super) enum Located {
    Memory(ObjectAddress),
    /// A value without an address: a temporary value, or a parameter that is never written.
    Value(Value),
    /// Lanes of a vector of the type `arith`.
    Lanes {
        base: Box<Located>,
        arith: ArithType,
        lanes: Vec<u8>,
    },
    LaneDyn {
        base: Box<Located>,
        arith: ArithType,
        index: Value,
    },
}

/// Returns the alignment of the address at `offset` bytes from an address with alignment `align`.
pub(super) const fn align_at(align: u32, offset: u32) -> u32 {
    if offset == 0 {
        return align;
    }
    let low = 1 << offset.trailing_zeros();
    if low < align { low } else { align }
}

impl<'p> Lowering<'p, '_> {
    /// Evaluates the operands of an lvalue.
    pub(super) fn locate(&mut self, lvalue: &'p Lvalue) -> Located {
        let volatile = lvalue.ty.is_volatile;
        let memory = |address: Value| Located::Memory(ObjectAddress { address, align: lvalue.align.max(1), volatile });
        match &lvalue.kind {
            LvalueKind::Local(id) => match self.slot(*id) {
                Slot::Value(value) => Located::Value(value),
                Slot::Memory(address) => memory(address),
                Slot::Var(_) | Slot::New => {
                    let address = self.local_address(*id);
                    memory(address)
                }
            },
            LvalueKind::Global(id) => {
                let address = self.b.global_addr(Global(id.0), lvalue.space);
                memory(address)
            }
            LvalueKind::Deref(pointer) => {
                let address = self.expr(pointer);
                memory(address)
            }
            LvalueKind::Field { base, offset } => {
                let address = self.address(base);
                memory(self.b.offset(address, i64::from(*offset)))
            }
            LvalueKind::Element { base, index } => {
                let address = self.address(base);
                let (stride, _) = self.layout(lvalue.ty.ty);
                let address = self.index_address(address, index, stride, false);
                memory(address)
            }
            LvalueKind::Lanes { base, lanes } => {
                let arith = self.arithmetic(base.ty.ty);
                match self.locate(base) {
                    Located::Lanes { base, arith, lanes: outer } => {
                        let lanes = lanes.iter().map(|&lane| outer.get(usize::from(lane)).copied().unwrap_or(u8::MAX)).collect();
                        Located::Lanes { base, arith, lanes }
                    }
                    base => Located::Lanes { base: Box::new(base), arith, lanes: lanes.clone() },
                }
            }
            LvalueKind::LaneDyn { base, index } => {
                let arith = self.arithmetic(base.ty.ty);
                let base = self.locate(base);
                let signed = self.arithmetic(index.ty).is_signed();
                let index = self.expr(index);
                let index = self.b.resize(index, signed, Type::I32);
                match (self.b.known(index).and_then(|lane| u8::try_from(lane).ok()), base) {
                    (Some(lane), Located::Lanes { base, arith, lanes }) => {
                        let lane = lanes.get(usize::from(lane)).copied().unwrap_or(0);
                        Located::Lanes { base, arith, lanes: vec![lane] }
                    }
                    (Some(lane), base) if lane < arith.lanes => Located::Lanes { base: Box::new(base), arith, lanes: vec![lane] },
                    (_, base) => Located::LaneDyn { base: Box::new(base), arith, index },
                }
            }
            LvalueKind::Temporary(expr) => {
                let value = self.expr(expr);
                if self.is_record(lvalue.ty.ty) { memory(value) } else { Located::Value(value) }
            }
            LvalueKind::Compound { local, init } => {
                self.initialise(*local, init);
                let address = self.local_address(*local);
                memory(address)
            }
        }
    }

    /// Returns the address of an lvalue. First stores a value without an address in a temporary variable.
    pub(super) fn address(&mut self, lvalue: &'p Lvalue) -> Value {
        match self.locate(lvalue) {
            Located::Memory(memory) => memory.address,
            Located::Lanes { base, arith, lanes } => {
                let first = u32::from(lanes.first().copied().unwrap_or(0));
                let address = self.materialise(*base, arith);
                self.b.offset(address, i64::from(first * lane_size(arith)))
            }
            Located::LaneDyn { base, arith, index } => {
                let address = self.materialise(*base, arith);
                let bytes = self.b.bin_int(crate::ir::BinOp::Mul, index, i64::from(lane_size(arith)));
                self.b.ptr_add(address, bytes)
            }
            Located::Value(value) => {
                let ty = lvalue.ty.ty;
                self.spill(ty, value)
            }
        }
    }

    fn materialise(&mut self, base: Located, arith: ArithType) -> Value {
        match base {
            Located::Memory(memory) => memory.address,
            Located::Value(value) => {
                let size = lane_size(arith) * u32::from(arith.lanes);
                let var = self.b.temporary(size, size.next_power_of_two());
                let address = self.b.var_addr(var);
                self.b.store(address, value, lane_size(arith), false);
                address
            }
            Located::Lanes { .. } | Located::LaneDyn { .. } => {
                self.b.fail("internal error: the address of a component of a selection of components");
                self.b.undef(Type::Ptr(Space::Private))
            }
        }
    }

    /// Stores a value in a temporary variable and returns its address.
    pub(super) fn spill(&mut self, ty: Ty, value: Value) -> Value {
        let (size, align) = self.layout(ty);
        let var = self.b.temporary(size, align);
        let address = self.b.var_addr(var);
        self.store_value(address, ty, value, align, false);
        address
    }

    /// Returns the address of a variable or of a record parameter.
    pub(super) fn local_address(&mut self, id: LocalId) -> Value {
        match self.slot(id) {
            Slot::Var(var) => self.b.var_addr(var),
            Slot::Memory(address) => address,
            Slot::Value(_) | Slot::New => {
                self.b.fail("internal error: the address of a parameter that has none");
                self.b.undef(Type::Ptr(Space::Private))
            }
        }
    }

    // ---- reading ----

    pub(super) fn read(&mut self, located: &Located, ty: Ty) -> Value {
        match located {
            Located::Value(value) => *value,
            Located::Memory(memory) => self.load_value(*memory, ty),
            Located::Lanes { base, arith, lanes } if lanes.iter().any(|lane| *lane >= arith.lanes) => {
                // The fourth lane of a vector of three lanes is undefined. The third lane is read instead.
                let lanes = lanes.iter().map(|lane| (*lane).min(arith.lanes - 1)).collect();
                self.read(&Located::Lanes { base: base.clone(), arith: *arith, lanes }, ty)
            }
            Located::Lanes { base, arith, lanes } => match (&**base, contiguous(lanes)) {
                (Located::Memory(memory), Some(first)) if !self.is_private(memory) => {
                    let offset = u32::from(first) * lane_size(*arith);
                    let address = self.b.offset(memory.address, i64::from(offset));
                    let part = ArithType::new(arith.kind, lanes.len() as u8);
                    self.b.load(address, part.ir(), align_at(memory.align, offset), memory.volatile)
                }
                (base, _) => {
                    let vector = self.read_vector(base, *arith);
                    self.b.lanes(vector, lanes)
                }
            },
            Located::LaneDyn { base, arith, index } => match &**base {
                Located::Memory(memory) if !self.is_private(memory) => {
                    let address = self.lane_address(*memory, *arith, *index);
                    self.b.load(address, ArithType::new(arith.kind, 1).ir(), lane_size(*arith).min(memory.align), memory.volatile)
                }
                base => {
                    let vector = self.read_vector(base, *arith);
                    self.b.emit(Op::ExtractDyn(vector, *index), ArithType::new(arith.kind, 1).ir())
                }
            },
        }
    }

    fn read_vector(&mut self, base: &Located, arith: ArithType) -> Value {
        match base {
            Located::Value(value) => *value,
            Located::Memory(memory) => self.b.load(memory.address, arith.ir(), memory.align, memory.volatile),
            Located::Lanes { base, arith: inner, lanes } => {
                let vector = self.read_vector(base, *inner);
                self.b.lanes(vector, lanes)
            }
            Located::LaneDyn { .. } => {
                self.b.fail("internal error: components of one vector component");
                self.b.undef(arith.ir())
            }
        }
    }

    fn is_private(&self, memory: &ObjectAddress) -> bool {
        self.b.ty(memory.address) == Type::Ptr(Space::Private)
    }

    fn lane_address(&mut self, memory: ObjectAddress, arith: ArithType, index: Value) -> Value {
        let bytes = self.b.bin_int(crate::ir::BinOp::Mul, index, i64::from(lane_size(arith)));
        self.b.ptr_add(memory.address, bytes)
    }

    /// Loads an object. The value of a record is its address.
    pub(super) fn load_value(&mut self, memory: ObjectAddress, ty: Ty) -> Value {
        if self.is_record(ty) {
            return memory.address;
        }
        if self.arith_type(ty).is_some_and(|arith| arith.kind == ScalarKind::Bool) {
            let byte = self.b.load(memory.address, Type::Scalar(crate::ir::Scalar::I8), memory.align, memory.volatile);
            return self.b.cmp_int(CmpOp::Ne, byte, 0);
        }
        let ty = self.value_type(ty);
        self.b.load(memory.address, ty, memory.align, memory.volatile)
    }

    // ---- writing ----

    pub(super) fn write(&mut self, located: &Located, ty: Ty, value: Value) {
        match located {
            Located::Memory(memory) => self.store_value(memory.address, ty, value, memory.align, memory.volatile),
            Located::Value(_) => self.b.fail("internal error: a write to a read-only parameter"),
            Located::Lanes { base, arith, lanes } => self.write_lanes(base, *arith, lanes, value),
            Located::LaneDyn { base, arith, index } => match &**base {
                Located::Memory(memory) if !self.is_private(memory) => {
                    let address = self.lane_address(*memory, *arith, *index);
                    self.b.store(address, value, lane_size(*arith).min(memory.align), memory.volatile);
                }
                base => {
                    let vector = self.read_vector(base, *arith);
                    let vector = self.b.emit(Op::InsertDyn(vector, *index, value), arith.ir());
                    self.write_vector(base, *arith, vector);
                }
            },
        }
    }

    fn write_vector(&mut self, base: &Located, arith: ArithType, vector: Value) {
        match base {
            Located::Memory(memory) => self.b.store(memory.address, vector, memory.align, memory.volatile),
            Located::Lanes { base, arith: inner, lanes } => self.write_lanes(base, *inner, lanes, vector),
            Located::Value(_) | Located::LaneDyn { .. } => {
                self.b.fail(format!("internal error: a write to {} lanes that have no address", arith.lanes));
            }
        }
    }

    fn write_lanes(&mut self, base: &Located, arith: ArithType, lanes: &[u8], value: Value) {
        if lanes.iter().any(|lane| *lane >= arith.lanes) {
            // A store to the fourth lane of a vector of three is dropped.
            for (i, &lane) in lanes.iter().enumerate().filter(|(_, lane)| **lane < arith.lanes) {
                let scalar = self.b.extract(value, i as u8);
                self.write_lanes(base, arith, &[lane], scalar);
            }
            return;
        }
        match base {
            Located::Memory(memory) if !self.is_private(memory) => {
                let size = lane_size(arith);
                if let Some(first) = contiguous(lanes) {
                    let offset = u32::from(first) * size;
                    let address = self.b.offset(memory.address, i64::from(offset));
                    self.b.store(address, value, align_at(memory.align, offset), memory.volatile);
                    return;
                }
                for (i, &lane) in lanes.iter().enumerate() {
                    let scalar = self.b.extract(value, i as u8);
                    let offset = u32::from(lane) * size;
                    let address = self.b.offset(memory.address, i64::from(offset));
                    self.b.store(address, scalar, align_at(memory.align, offset), memory.volatile);
                }
            }
            base => {
                let mut vector = self.read_vector(base, arith);
                for (i, &lane) in lanes.iter().enumerate() {
                    let scalar = self.b.extract(value, i as u8);
                    vector = self.b.insert(vector, lane, scalar);
                }
                self.write_vector(base, arith, vector);
            }
        }
    }

    /// Stores an object. The value of a record is the address to copy from.
    pub(super) fn store_value(&mut self, address: Value, ty: Ty, value: Value, align: u32, volatile: bool) {
        if self.is_record(ty) {
            let (size, natural) = self.layout(ty);
            if size > 0 && address != value {
                self.b.effect(Op::Copy { dst: address, src: value, size, align: align.min(natural).max(1) });
            }
            return;
        }
        let value = self.b.storable(value);
        self.b.store(address, value, align.max(1), volatile);
    }

    // ---- initialisers ----

    pub(super) fn initialise(&mut self, local: LocalId, init: &'p Init) {
        let Some(data) = self.function.locals.get(local.index()) else { return };
        let ty = data.ty.ty;
        match init {
            Init::Expr(expr) => {
                let value = self.expr(expr);
                let address = self.local_address(local);
                self.store_value(address, ty, value, data.align.max(1), data.ty.is_volatile);
            }
            Init::Parts { zero_rest, parts } => {
                let (size, natural) = self.layout(ty);
                let align = data.align.max(natural).max(1);
                let address = self.local_address(local);
                if parts.len() >= LONG_INITIALISER && !data.ty.is_volatile {
                    self.initialise_by_copy(address, (size, align), *zero_rest, parts);
                    return;
                }
                if *zero_rest && size > 0 {
                    self.b.effect(Op::Zero { dst: address, size, align });
                }
                // If the rest of the object has been zeroed, zeros need no store, unless they override an earlier part.
                let mut end = 0;
                for (offset, expr) in parts {
                    if *zero_rest && *offset >= end && is_zero(expr) {
                        continue;
                    }
                    end = end.max(offset.saturating_add(self.layout(expr.ty).0));
                    let value = self.expr(expr);
                    let part = self.b.offset(address, i64::from(*offset));
                    self.store_value(part, expr.ty, value, align_at(align, *offset), data.ty.is_volatile);
                }
            }
        }
    }
}

impl<'p> Lowering<'p, '_> {
    /// Copies the constant parts of an initialiser from a constant table, and stores the other parts. If there are few
    /// constant parts, all parts are stored.
    ///
    /// A table is used because drivers take seconds to compile thousands of stores. `passes::constant_arrays` replaces
    /// a variable that never changes by the table. `passes::lower_memory` expands short copies to loads and stores, and
    /// `passes::constant_loads` folds these loads.
    fn initialise_by_copy(&mut self, address: Value, (size, align): (u32, u32), zero_rest: bool, parts: &'p [(u32, Expr)]) {
        let mut bytes = vec![0; size as usize];
        let mut others = Vec::new();
        // If all constants have the same element size, the copy has this alignment, like accesses to the elements.
        let (mut smallest, mut largest) = (u32::MAX, 1);
        // The end offset, in bytes, of the parts that are stored after the copy. A later constant at a smaller offset
        // may override one of them, so it is also stored after the copy.
        let mut stored = 0;
        let values: Vec<Value> = parts
            .iter()
            .map(|(_, expr)| {
                let value = self.expr(expr);
                self.b.storable(value)
            })
            .collect();
        let known = values.iter().filter(|&&value| self.b.known(value).is_some() || self.b.known_lanes(value).is_some()).count();
        // An object that is mostly zero is zeroed instead of copied.
        let sparse = zero_rest && known < 16 * LONG_INITIALISER && size / 64 > known as u32;
        let few = known < LONG_INITIALISER || sparse;
        for ((offset, expr), value) in parts.iter().zip(values) {
            let ty = self.b.ty(value);
            let lanes = match (self.b.known(value), ty.lanes()) {
                (Some(bits), 1) => Some(vec![bits]),
                _ => self.b.known_lanes(value),
            };
            let end = offset.saturating_add(self.layout(expr.ty).0);
            match (lanes, ty.scalar()) {
                (Some(lanes), Some(scalar)) if !few && *offset >= stored => {
                    (smallest, largest) = (smallest.min(scalar.size()), largest.max(scalar.size()));
                    let width = scalar.size() as usize;
                    let target = bytes.get_mut(*offset as usize..).unwrap_or_default();
                    for (chunk, bits) in target.chunks_exact_mut(width).zip(&lanes) {
                        chunk.copy_from_slice(&bits.to_le_bytes()[..width]);
                    }
                }
                _ => {
                    stored = stored.max(end);
                    others.push((*offset, value, expr.ty));
                }
            }
        }
        if few && zero_rest {
            self.b.effect(Op::Zero { dst: address, size, align });
        }
        let unit = if smallest == largest { smallest } else { align.min(4) };
        if !few {
            let table = self.shared.table(bytes, align);
            let src = self.b.global_addr(table, Space::Constant);
            self.b.effect(Op::Copy { dst: address, src, size, align: unit.min(align) });
        }
        for (offset, value, ty) in others {
            let part = self.b.offset(address, i64::from(offset));
            self.store_value(part, ty, value, align_at(align, offset), false);
        }
    }
}

/// Minimum number of constant parts of an initialiser that are copied from a table.
const LONG_INITIALISER: usize = 8;

/// Whether an expression is a constant zero, which needs no store after the object has been zeroed.
fn is_zero(expr: &Expr) -> bool {
    use crate::thir::Constant;
    match &expr.kind {
        ExprKind::Constant(Constant::Int(0) | Constant::Null) => true,
        ExprKind::Constant(Constant::Float(x)) => x.to_bits() == 0,
        _ => false,
    }
}

/// Returns the size in bytes of one lane in memory.
pub(super) const fn lane_size(arith: ArithType) -> u32 {
    crate::thir::types::scalar_size(arith.kind)
}

/// Returns the first of several contiguous lanes, which one access can load or store. Returns `None` if the lanes are
/// not contiguous, or if no vector type has this number of lanes.
fn contiguous(lanes: &[u8]) -> Option<u8> {
    let &first = lanes.first()?;
    let runs = lanes.iter().zip(first..).all(|(&lane, expected)| lane == expected);
    (runs && matches!(lanes.len(), 1 | 2 | 3 | 4 | 8 | 16)).then_some(first)
}

impl Builder {
    /// Converts a value to its type in memory: a `bool` is a byte, 0 or 1.
    pub(super) fn storable(&mut self, value: Value) -> Value {
        if self.ty(value) == Type::BOOL { self.cast(CastOp::ZExt, value, Type::Scalar(crate::ir::Scalar::I8)) } else { value }
    }
}
