//! Memory: loads, stores, copies, addresses (SPIR-V 3.52.8).

use rspirv::spirv::{MemoryAccess, Op as Opcode};

use super::bridge::{Signedness, c_space, c_type};
use super::constants::Constant;
use super::errors::{Checked, invalid, unsupported};
use super::function::{Lowering, Val};
use super::types::Kind;
use super::words::Id;
use crate::ir::{BinOp, CastOp, CmpOp, Op, Scalar, Space, Type, Value};

/// The memory access operands of an instruction.
#[derive(Clone, Copy)]
struct Access {
    align: u32,
    volatile: bool,
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn memory(&mut self) -> Checked<bool> {
        match self.current.op {
            Opcode::Load => self.load()?,
            Opcode::Store => self.store()?,
            Opcode::CopyMemory => self.copy_memory()?,
            Opcode::CopyMemorySized => self.copy_sized()?,
            Opcode::AccessChain | Opcode::InBoundsAccessChain => self.chain(false)?,
            Opcode::PtrAccessChain | Opcode::InBoundsPtrAccessChain => self.chain(true)?,
            Opcode::PtrEqual | Opcode::PtrNotEqual => {
                let (a, b) = self.two_pointers()?;
                let equal = self.current.op == Opcode::PtrEqual;
                let value = self.b.cmp(if equal { CmpOp::Eq } else { CmpOp::Ne }, a, b);
                self.set_result(value)?;
            }
            Opcode::PtrDiff => self.difference()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the memory access operands from operand `index` on. `natural` is the default alignment.
    fn access(&self, index: usize, natural: u32) -> Checked<Access> {
        let Some(&mask) = self.current.operands.get(index) else { return Ok(Access { align: natural, volatile: false }) };
        let mut access = Access { align: natural, volatile: mask & MemoryAccess::VOLATILE.bits() != 0 };
        if mask & MemoryAccess::ALIGNED.bits() != 0 {
            access.align = self.current.word(index + 1)?;
            if !access.align.is_power_of_two() {
                return Err(invalid!("alignment {} is not a power of two", access.align));
            }
        }
        Ok(access)
    }

    /// Returns the type of a pointer operand.
    fn pointer_type(&self, index: usize) -> Checked<Id> {
        self.type_id(self.current.operand(index)?)
    }

    /// Returns the type that a pointer operand points to.
    fn pointee(&self, index: usize) -> Checked<Id> {
        Ok(self.module.types.pointee(self.pointer_type(index)?)?.0)
    }

    fn load(&mut self) -> Checked<()> {
        let ty = self.current.ty()?;
        if let Some((_, Constant::BuiltIn(number))) = self.module.constants.get(self.current.operand(0)?) {
            let value = self.builtin(*number, ty)?;
            return self.set_result(value);
        }
        if self.pointee(0)? != ty {
            return Err(invalid!("the pointer does not point to the result type"));
        }
        let address = self.pointer(0)?;
        self.reject_captured(address, ty)?;
        let access = self.access(1, self.module.types.align(ty)?)?;
        let val = self.load_val(address, ty, access.align, access.volatile)?;
        self.define(val)
    }

    /// Rejects loads of images and other objects without bytes from generic or global memory. Such an object is valid
    /// only in the kernel that has it as a parameter. Blocks can capture images and samplers (`captures`).
    fn reject_captured(&self, address: Value, ty: Id) -> Checked<()> {
        let is_shared = matches!(self.b.ty(address), Type::Ptr(Space::Generic | Space::Global));
        if self.shared.captured.contains_load(self.current.result()?) {
            return Ok(());
        }
        let what = match self.module.types.get(ty)?.kind {
            Kind::Image(_) | Kind::SampledImage => "an image",
            Kind::Sampler => "a sampler",
            Kind::Event => "an event",
            _ => return Ok(()),
        };
        if is_shared { Err(unsupported!("{what} outside of private memory")) } else { Ok(()) }
    }

    fn store(&mut self) -> Checked<()> {
        let (address, ty) = (self.pointer(0)?, self.pointee(0)?);
        if self.b.ty(address) == Type::Ptr(Space::Constant) {
            return Err(invalid!("the destination is in constant memory"));
        }
        let access = self.access(2, self.module.types.align(ty)?)?;
        let mut val = self.get(self.current.operand(1)?)?;
        if let (Val::One(value), want @ Type::Ptr(_)) = (val, self.module.types.ir(ty)?)
            && let Type::Ptr(_) = self.b.ty(value)
            && !self.module.types.get(ty)?.is_aggregate()
        {
            val = Val::One(self.b.cast(CastOp::SpaceCast, value, want));
        }
        self.store_val(address, ty, val, access.align, access.volatile)
    }

    fn copy_memory(&mut self) -> Checked<()> {
        let ty = self.pointee(0)?;
        let align = self.module.types.align(ty)?;
        let (dst, src) = (self.pointer(0)?, self.pointer(1)?);
        let access = self.access(2, align)?;
        let size = self.module.types.size(ty)?;
        self.copy_bytes(dst, src, size, access)
    }

    fn copy_bytes(&mut self, dst: Value, src: Value, size: u32, access: Access) -> Checked<()> {
        if self.b.ty(dst) == Type::Ptr(Space::Constant) {
            return Err(invalid!("the destination is in constant memory"));
        }
        if size > 0 {
            self.b.effect(Op::Copy { dst, src, size, align: access.align });
        }
        Ok(())
    }

    fn copy_sized(&mut self) -> Checked<()> {
        let (dst, src) = (self.pointer(0)?, self.pointer(1)?);
        let access = self.access(3, 1)?;
        let count = self.current.operand(2)?;
        if self.module.constants.get(count).is_some() {
            let size = self.module.constants.word(count)?;
            return self.copy_bytes(dst, src, size, access);
        }
        let size = self.integer(2)?;
        let size = self.b.resize(size, false, self.module.types.pointer_int());
        let params = [format!("{}uchar *", self.space_text(dst)), format!("const {}uchar *", self.space_text(src)), "size_t".to_owned()];
        self.library_effect(&params, &[dst, src, size], "for (size_t i = 0; i < a2; i++) a0[i] = a1[i];");
        Ok(())
    }

    /// Returns the OpenCL C qualifier of a pointer's address space.
    pub(super) fn space_text(&self, pointer: Value) -> &'static str {
        match self.b.ty(pointer) {
            Type::Ptr(space) => c_space(space),
            _ => "",
        }
    }

    fn chain(&mut self, element: bool) -> Checked<()> {
        let mut ty = self.pointee(0)?;
        let mut address = self.pointer(0)?;
        let mut first = 1;
        if element {
            let stride = self.module.types.get(ty)?.size;
            address = self.element_address(address, 1, stride)?;
            first = 2;
        }
        let mut in_vector = false;
        for index in first..self.current.operands.len() {
            if in_vector {
                return Err(invalid!("a component of a vector cannot be indexed"));
            }
            let types = &self.module.types;
            match &types.get(ty)?.kind {
                Kind::Array { element, .. } => {
                    ty = *element;
                    address = self.element_address(address, index, types.get(ty)?.size)?;
                }
                Kind::Struct { members } => {
                    let number = self.module.constants.integer(self.current.operand(index)?)?;
                    let member = usize::try_from(number).ok().and_then(|number| members.get(number));
                    let (inner, offset) = *member.ok_or_else(|| invalid!("member index {number} is out of range"))?;
                    address = self.b.offset(address, i64::try_from(offset).unwrap_or(i64::MAX));
                    ty = inner;
                }
                Kind::Numbers(Type::Vector(scalar, _)) => {
                    address = self.element_address(address, index, scalar.size().max(1).into())?;
                    in_vector = true;
                }
                _ => return Err(invalid!("the object cannot be indexed")),
            }
        }
        self.set_result(address)
    }

    /// Returns the address of an element.
    fn element_address(&mut self, address: Value, index: usize, stride: u64) -> Checked<Value> {
        let bytes = i64::try_from(stride).map_err(|_| unsupported!("an element of {stride} bytes"))?;
        let mut index = self.integer(index)?;
        if self.b.ty(index).lanes() != 1 {
            return Err(invalid!("the index is a vector, expected a scalar"));
        }
        let mut signed = true;
        if let Some(&(narrow, by_sign)) = self.extended.get(&index) {
            (index, signed) = (narrow, by_sign);
        }
        let wide = (self.module.types.pointer_int(), self.shared.large_objects);
        let ty = self.b.index_type(address, index, signed, stride, wide);
        let index = self.b.resize(index, signed, ty);
        let bytes = self.b.bin_int(BinOp::Mul, index, bytes);
        Ok(self.b.ptr_add(address, bytes))
    }

    /// Returns operands 0 and 1, which must be pointers. If their address spaces differ, both are converted to generic.
    fn two_pointers(&mut self) -> Checked<(Value, Value)> {
        let (a, b) = (self.pointer(0)?, self.pointer(1)?);
        if self.b.ty(a) == self.b.ty(b) {
            return Ok((a, b));
        }
        let generic = Type::Ptr(Space::Generic);
        Ok((self.b.cast(CastOp::SpaceCast, a, generic), self.b.cast(CastOp::SpaceCast, b, generic)))
    }

    fn difference(&mut self) -> Checked<()> {
        let (a, b) = self.two_pointers()?;
        let size = self.module.types.get(self.pointee(0)?)?.size.max(1);
        let int = self.module.types.pointer_int();
        let (a, b) = (self.b.cast(CastOp::PtrToInt, a, int), self.b.cast(CastOp::PtrToInt, b, int));
        let bytes = self.b.sub(a, b);
        let elements = self.b.bin_int(BinOp::SDiv, bytes, i64::try_from(size).unwrap_or(i64::MAX));
        let want = self.result_type()?;
        if !want.scalar().is_some_and(Scalar::is_int) {
            return Err(invalid!("result type {want} is not valid"));
        }
        let value = self.b.resize(elements, true, want);
        self.set_result(value)
    }

    /// Returns the OpenCL C parameter type of a pointer to numbers.
    pub(super) fn pointer_text(&self, pointer: Value, to: Type, sign: Signedness) -> Checked<String> {
        Ok(format!("{}{} *", self.space_text(pointer), c_type(to, sign)?))
    }
}
