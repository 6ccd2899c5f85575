//! Components of vectors, structures and arrays (SPIR-V 3.52.12).

use rspirv::spirv::Op as Opcode;

use super::errors::{Checked, OperandIndex, Shown, invalid};
use super::function::{Lowering, Val};
use super::types::Kind;
use super::words::Id;
use crate::ir::{Op, Scalar, Type, Value};

/// A constituent of an aggregate: its type and its byte offset. For a vector component: the type and byte offset of the
/// vector, and the lane.
struct Part {
    ty: Id,
    offset: u64,
    lane: Option<u8>,
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn composite(&mut self) -> Checked<bool> {
        match self.current.op {
            Opcode::CompositeExtract => self.extract()?,
            Opcode::CompositeInsert => self.insert()?,
            Opcode::CompositeConstruct => self.construct()?,
            Opcode::VectorShuffle => self.shuffle()?,
            Opcode::VectorExtractDynamic => {
                let (vector, index) = (self.vector(0)?, self.lane_index(1)?);
                let Type::Vector(scalar, _) = self.b.ty(vector) else { return Err(invalid!("{} is not a vector", OperandIndex(0))) };
                let value = match self.b.known(index) {
                    None if self.queries.contains_key(&vector) => self.component_of_query(vector, index),
                    Some(lane) if lane < u64::from(self.b.ty(vector).lanes()) => self.b.extract(vector, lane as u8),
                    _ => self.b.emit(Op::ExtractDyn(vector, index), Type::Scalar(scalar)),
                };
                self.set_result(value)?;
            }
            Opcode::VectorInsertDynamic => {
                let (vector, scalar, index) = (self.vector(0)?, self.number(1)?, self.lane_index(2)?);
                let ty = self.b.ty(vector);
                if ty.scalar().map(Type::Scalar) != Some(self.b.ty(scalar)) {
                    return Err(invalid!("{} does not have the type of the vector's components", OperandIndex(1)));
                }
                let value = self.b.emit(Op::InsertDyn(vector, index, scalar), ty);
                self.set_result(value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn vector(&mut self, index: usize) -> Checked<Value> {
        let value = self.number(index)?;
        if self.b.ty(value).lanes() > 1 { Ok(value) } else { Err(invalid!("{} is not a vector", OperandIndex(index))) }
    }

    fn lane_index(&mut self, index: usize) -> Checked<Value> {
        let value = self.integer(index)?;
        if self.b.ty(value).lanes() > 1 {
            return Err(invalid!("the index is a vector, expected a scalar"));
        }
        Ok(self.b.resize(value, false, Type::I32))
    }

    /// Returns an undefined value of a type.
    pub(super) fn undefined(&mut self, ty: Id) -> Checked<Val> {
        let info = self.module.types.get(ty)?;
        if info.is_aggregate() {
            let var = self.b.temporary(self.module.types.size(ty)?, info.align);
            return Ok(Val::Memory(self.b.var_addr(var)));
        }
        match info.ir()? {
            Type::Void => Err(invalid!("type void is not valid for a value")),
            ty => Ok(Val::One(self.b.undef(ty))),
        }
    }

    /// Finds the constituent that the literals of the current instruction select. `from` is the index of the first
    /// literal.
    fn part(&self, ty: Id, from: usize) -> Checked<Part> {
        let types = &self.module.types;
        let mut part = Part { ty, offset: 0, lane: None };
        for &index in self.current.operands.get(from..).unwrap_or_default() {
            match &types.get(part.ty)?.kind {
                Kind::Array { element, count } if u64::from(index) < *count => {
                    part.offset += u64::from(index) * types.get(*element)?.size;
                    part.ty = *element;
                }
                Kind::Struct { members } => {
                    let (inner, offset) = *members.get(index as usize).ok_or_else(|| invalid!("member index {index} is out of range"))?;
                    part.offset += offset;
                    part.ty = inner;
                }
                Kind::Numbers(Type::Vector(_, lanes)) if part.lane.is_none() && index < u32::from(*lanes) => part.lane = Some(index as u8),
                _ => return Err(invalid!("index {index} is out of range")),
            }
        }
        Ok(part)
    }

    fn part_address(&mut self, address: Value, part: &Part) -> Checked<Value> {
        let offset = i64::try_from(part.offset).map_err(|_| invalid!("the byte offset of the constituent is out of range"))?;
        Ok(self.b.offset(address, offset))
    }

    fn extract(&mut self) -> Checked<()> {
        let id = self.current.operand(0)?;
        let part = self.part(self.type_id(id)?, 1)?;
        let val = match self.get(id)? {
            Val::Memory(address) => {
                let at = self.part_address(address, &part)?;
                let align = self.module.types.align(part.ty)?.min(1 << part.offset.trailing_zeros().min(12));
                self.load_val(at, part.ty, align, false)?
            }
            val => val,
        };
        match (val, part.lane) {
            (Val::One(value), Some(lane)) => {
                let value = self.b.extract(value, lane);
                self.set_result(value)
            }
            (Val::One(value), None) => self.set_result(value),
            (val, _) => self.define(val),
        }
    }

    fn insert(&mut self) -> Checked<()> {
        let (object, composite) = (self.current.operand(0)?, self.current.operand(1)?);
        let ty = self.type_id(composite)?;
        let part = self.part(ty, 2)?;
        let new = self.get(object)?;
        match self.get(composite)? {
            Val::Memory(address) => {
                let copy = self.copy_of(address, ty)?;
                let at = self.part_address(copy, &part)?;
                let align = self.module.types.align(part.ty)?.min(1 << part.offset.trailing_zeros().min(12));
                match (part.lane, new) {
                    (Some(lane), Val::One(scalar)) => {
                        let Val::One(vector) = self.load_val(at, part.ty, align, false)? else {
                            return Err(invalid!("the object has no components"));
                        };
                        let vector = self.insert_lane(vector, lane, scalar)?;
                        self.store_val(at, part.ty, Val::One(vector), align, false)?;
                    }
                    _ => self.store_val(at, part.ty, new, align, false)?,
                }
                self.define(Val::Memory(copy))
            }
            Val::One(vector) => {
                let (Some(lane), Val::One(scalar)) = (part.lane, new) else {
                    return Err(invalid!("the object is not a component of a vector"));
                };
                let value = self.insert_lane(vector, lane, scalar)?;
                self.set_result(value)
            }
            Val::Sampled(..) => Err(invalid!("an image has no constituents")),
        }
    }

    fn insert_lane(&mut self, vector: Value, lane: u8, scalar: Value) -> Checked<Value> {
        if self.b.ty(vector).scalar().map(Type::Scalar) != Some(self.b.ty(scalar)) {
            return Err(invalid!(
                "an object of type {} cannot be inserted into a vector of type {}",
                Shown(self.b.ty(scalar)),
                Shown(self.b.ty(vector))
            ));
        }
        Ok(self.b.insert(vector, lane, scalar))
    }

    fn construct(&mut self) -> Checked<()> {
        let ty = self.current.ty()?;
        let parts: Vec<Id> = self.current.operands_from(0).collect();
        let types = &self.module.types;
        let places: Vec<(Id, u64)> = match &types.get(ty)?.kind {
            Kind::Numbers(Type::Vector(scalar, lanes)) => return self.construct_vector(*scalar, *lanes, &parts),
            Kind::Array { element, count } if parts.len() as u64 == *count => {
                let size = types.get(*element)?.size;
                (0..*count).map(|index| (*element, index * size)).collect()
            }
            Kind::Struct { members } if members.len() == parts.len() => members.clone(),
            _ => {
                return Err(invalid!(
                    "there are {} constituents, but the result type is not an array or structure with this number of constituents",
                    parts.len()
                ));
            }
        };
        let var = self.b.temporary(types.size(ty)?, types.align(ty)?);
        let address = self.b.var_addr(var);
        for (part, (ty, offset)) in parts.into_iter().zip(places) {
            let val = self.get(part)?;
            let at = self.part_address(address, &Part { ty, offset, lane: None })?;
            let align = self.module.types.align(ty)?.min(1 << offset.trailing_zeros().min(12));
            self.store_val(at, ty, val, align, false)?;
        }
        self.define(Val::Memory(address))
    }

    fn construct_vector(&mut self, scalar: Scalar, lanes: u8, parts: &[Id]) -> Checked<()> {
        let mut values = Vec::new();
        for &part in parts {
            let value = self.value(part)?;
            let ty = self.b.ty(value);
            if ty.scalar() != Some(scalar) {
                return Err(invalid!("constituent {part} of type {ty} does not match the result type"));
            }
            values.extend((0..ty.lanes()).map(|lane| self.b.extract(value, lane)));
        }
        if values.len() != usize::from(lanes) {
            return Err(invalid!("{} components do not match the result type", values.len()));
        }
        let value = self.b.construct(&values);
        self.set_result(value)
    }

    /// Lowers `OpSelect` of structures or arrays (SPIR-V 1.4). Copies the second object, and replaces the copy by the
    /// first object if the condition is true. Returns `None` for other types.
    pub(super) fn aggregate_choice(&mut self) -> Checked<Option<Val>> {
        let ty = self.current.ty()?;
        if !self.module.types.get(ty)?.is_aggregate() {
            return Ok(None);
        }
        let cond = self.number(0)?;
        let sides = (self.get(self.current.operand(1)?)?, self.get(self.current.operand(2)?)?);
        let (Val::Memory(first), Val::Memory(second)) = sides else { return Err(invalid!("the operands do not have the result type")) };
        for index in [1, 2] {
            if self.type_id(self.current.operand(index)?)? != ty {
                return Err(invalid!("{} does not have the result type", OperandIndex(index)));
            }
        }
        if self.b.ty(cond) != Type::BOOL {
            return Err(invalid!("a condition of type {} is not valid for a structure or an array", Shown(self.b.ty(cond))));
        }
        let chosen = self.copy_of(second, ty)?;
        let align = self.module.types.align(ty)?;
        self.b.open();
        self.store_val(chosen, ty, Val::Memory(first), align, false)?;
        let then = self.b.close_branch();
        self.b.if_then(cond, then);
        Ok(Some(Val::Memory(chosen)))
    }

    /// Sets the result of the current instruction to a structure with these members.
    pub(super) fn set_result_members(&mut self, values: &[Value]) -> Checked<()> {
        let ty = self.current.ty()?;
        let Kind::Struct { members } = &self.module.types.get(ty)?.kind else { return Err(invalid!("the result type is not a structure")) };
        if members.len() != values.len() {
            return Err(invalid!("the result type does not have {} members", values.len()));
        }
        let var = self.b.temporary(self.module.types.size(ty)?, self.module.types.align(ty)?);
        let address = self.b.var_addr(var);
        for ((member, offset), &value) in members.clone().into_iter().zip(values) {
            let at = self.part_address(address, &Part { ty: member, offset, lane: None })?;
            let align = self.module.types.align(member)?;
            self.store_val(at, member, Val::One(value), align, false)?;
        }
        self.define(Val::Memory(address))
    }

    fn shuffle(&mut self) -> Checked<()> {
        let (mut a, mut b) = (self.vector(0)?, self.vector(1)?);
        let (ta, tb) = (self.b.ty(a), self.b.ty(b));
        if ta.scalar() != tb.scalar() {
            return Err(invalid!("operand types {ta} and {tb} are not valid"));
        }
        let most = ta.lanes().max(tb.lanes());
        let shift = most - ta.lanes();
        if ta.lanes() < most {
            a = self.b.widen(a, most);
        }
        if tb.lanes() < most {
            b = self.b.widen(b, most);
        }
        let picks = self.current.operands.get(2..).unwrap_or_default();
        let all = u32::from(ta.lanes()) + u32::from(tb.lanes());
        let mut lanes = Vec::with_capacity(picks.len());
        for &pick in picks {
            lanes.push(match pick {
                u32::MAX => None,
                _ if pick >= all => return Err(invalid!("component index {pick} is out of range")),
                _ if pick < u32::from(ta.lanes()) => Some(pick as u8),
                _ => Some(pick as u8 + shift),
            });
        }
        let want = self.result_type()?;
        if lanes.len() != usize::from(want.lanes()) || want.scalar() != ta.scalar() {
            return Err(invalid!("{} components do not match the result type", lanes.len()));
        }
        let only_last_is_open = want.lanes() == 4 && lanes.iter().position(Option::is_none) == Some(3);
        let value = self.b.emit(Op::Shuffle(a, b, lanes.clone()), want);
        if only_last_is_open && let Some(scalar) = want.scalar().filter(|scalar| *scalar != Scalar::Bool) {
            let three = self.b.emit(Op::Shuffle(a, b, lanes[..3].to_vec()), Type::Vector(scalar, 3));
            self.widened.insert(value, three);
        }
        self.set_result(value)
    }
}
