//! `OpExtInst` of OpenCL.std. Each instruction becomes a call of the OpenCL C function, except for `printf` (an IR
//! operation) and `prefetch` (no code).

use rspirv::spirv::OpenclStd100Op as Ext;

use super::bridge::{Signedness, c_type};
use super::constants::Constant;
use super::decorations::rounding_suffix;
use super::errors::{Checked, invalid, unsupported};
use super::function::{Lowering, Val};
use super::types::Kind;
use super::words::Id;
use crate::ir::{CastOp, Global, GlobalVar, Op, Scalar, Space, Type, Value};

/// Index of the operand that is the first argument. The operands before it are the instruction set and the number of
/// the instruction.
const FIRST_ARGUMENT: usize = 2;

/// Returns the OpenCL C function of an instruction whose operands are numbers, and the signedness of its integers.
fn numeric_function(op: Ext) -> Option<(String, Signedness)> {
    let renamed = match op {
        Ext::fclamp => Some("clamp"),
        Ext::fmax_common => Some("max"),
        Ext::fmin_common => Some("min"),
        _ => None,
    };
    if let Some(name) = renamed {
        return Some((name.to_owned(), Signedness::Signed));
    }
    let name = format!("{op:?}");
    let number = op as u32;
    let (first_float, last_float) = (Ext::acos as u32, Ext::fast_normalize as u32);
    let others = matches!(op, Ext::clz | Ext::ctz | Ext::rotate | Ext::popcount | Ext::bitselect | Ext::select);
    if let Some(rest) = name.strip_prefix("u_") {
        return Some((rest.to_owned(), Signedness::Unsigned));
    }
    if let Some(rest) = name.strip_prefix("s_") {
        return Some((rest.to_owned(), Signedness::Signed));
    }
    ((first_float..=last_float).contains(&number) || others).then_some((name, Signedness::Signed))
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction, an `OpExtInst`.
    pub(super) fn extended(&mut self) -> Checked<()> {
        let (set, number) = (self.current.operand(0)?, self.current.word(1)?);
        if !self.module.opencl.contains(&set) {
            // All other instruction sets contain debug information, which needs no code.
            return Ok(());
        }
        let op = Ext::from_u32(number).ok_or_else(|| invalid!("OpenCL.std has no instruction {number}"))?;
        match op {
            Ext::fract | Ext::modf | Ext::sincos => self.with_pointer(op, None),
            Ext::frexp | Ext::lgamma_r | Ext::remquo => self.with_pointer(op, Some(Scalar::I32)),
            Ext::nan => {
                let bits = self.number(FIRST_ARGUMENT)?;
                let value = self.library("nan", &[bits], Signedness::Unsigned)?;
                self.set_result(value)
            }
            Ext::s_upsample | Ext::u_upsample => self.upsample(op),
            Ext::shuffle | Ext::shuffle2 => self.shuffle_by_mask(op),
            Ext::vloadn | Ext::vload_half | Ext::vload_halfn | Ext::vloada_halfn => self.vector_load(op),
            Ext::vstoren
            | Ext::vstore_half
            | Ext::vstore_half_r
            | Ext::vstore_halfn
            | Ext::vstore_halfn_r
            | Ext::vstorea_halfn
            | Ext::vstorea_halfn_r => self.vector_store(op),
            Ext::printf => self.printf(),
            Ext::prefetch => Ok(()),
            Ext::mad | Ext::fma | Ext::ldexp | Ext::pown | Ext::rootn => self.numbers(op),
            _ => self.numbers(op),
        }
    }

    fn numbers(&mut self, op: Ext) -> Checked<()> {
        let (name, sign) = numeric_function(op).ok_or_else(|| unsupported!("OpenCL.std's {op:?}"))?;
        let mut args = Vec::new();
        for index in FIRST_ARGUMENT..self.current.operands.len() {
            args.push(self.number(index)?);
        }
        let value = self.library(&name, &args, sign)?;
        self.set_result(value)
    }

    /// Lowers a function whose last argument points to memory for a second result. This result has the lane count of
    /// the first result. `scalar` is its scalar type, or `None` for that of the first result.
    fn with_pointer(&mut self, op: Ext, scalar: Option<Scalar>) -> Checked<()> {
        let want = self.result_type()?;
        let last = self.current.operands.len() - 1;
        let (mut args, mut params) = (Vec::new(), Vec::new());
        for index in FIRST_ARGUMENT..last {
            let value = self.number(index)?;
            params.push(c_type(self.b.ty(value), Signedness::Signed)?);
            args.push(value);
        }
        let pointer = self.pointer(last)?;
        let pointee = scalar.map_or(want, |scalar| want.with_scalar(scalar));
        params.push(self.pointer_text(pointer, pointee, Signedness::Signed)?);
        args.push(pointer);
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        let value = self.library_text(want, &c_type(want, Signedness::Signed)?, &params, &args, &format!("return {op:?}({names});"))?;
        self.b.nan_check(value, &args, None);
        self.set_result(value)
    }

    fn upsample(&mut self, op: Ext) -> Checked<()> {
        let (high, low, want) = (self.number(2)?, self.number(3)?, self.result_type()?);
        let sign = if op == Ext::s_upsample { Signedness::Signed } else { Signedness::Unsigned };
        let params = [c_type(self.b.ty(high), sign)?, c_type(self.b.ty(low), Signedness::Unsigned)?];
        let value = self.library_text(want, &c_type(want, sign)?, &params, &[high, low], "return upsample(a0, a1);")?;
        self.set_result(value)
    }

    fn shuffle_by_mask(&mut self, op: Ext) -> Checked<()> {
        let want = self.result_type()?;
        let (mut args, mut params) = (Vec::new(), Vec::new());
        let count = self.current.operands.len();
        for index in FIRST_ARGUMENT..count {
            let value = self.number(index)?;
            let sign = if index + 1 == count { Signedness::Unsigned } else { Signedness::Signed };
            params.push(c_type(self.b.ty(value), sign)?);
            args.push(value);
        }
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        let value = self.library_text(want, &c_type(want, Signedness::Signed)?, &params, &args, &format!("return {op:?}({names});"))?;
        self.set_result(value)
    }

    /// Returns operand `index`, which must be an offset in elements.
    fn offset(&mut self, index: usize) -> Checked<Value> {
        let offset = self.integer(index)?;
        Ok(self.b.resize(offset, false, self.module.types.pointer_int()))
    }

    fn vector_load(&mut self, op: Ext) -> Checked<()> {
        let want = self.result_type()?;
        let (offset, pointer) = (self.offset(2)?, self.pointer(3)?);
        let lanes = want.lanes();
        let (name, element) = match op {
            Ext::vloadn => (format!("vload{lanes}"), want.with_scalar(want.scalar().unwrap_or(Scalar::I32))),
            Ext::vload_half => ("vload_half".to_owned(), Type::Scalar(Scalar::F16)),
            _ if lanes == 1 => ("vload_half".to_owned(), Type::Scalar(Scalar::F16)),
            Ext::vload_halfn => (format!("vload_half{lanes}"), Type::Scalar(Scalar::F16)),
            _ => (format!("vloada_half{lanes}"), Type::Scalar(Scalar::F16)),
        };
        let element = Type::Scalar(element.scalar().unwrap_or(Scalar::I32));
        let params = ["size_t".to_owned(), format!("const {}", self.pointer_text(pointer, element, Signedness::Signed)?)];
        let value =
            self.library_text(want, &c_type(want, Signedness::Signed)?, &params, &[offset, pointer], &format!("return {name}(a0, a1);"))?;
        self.set_result(value)
    }

    fn vector_store(&mut self, op: Ext) -> Checked<()> {
        let (data, offset, pointer) = (self.number(2)?, self.offset(3)?, self.pointer(4)?);
        let ty = self.b.ty(data);
        let lanes = if ty.lanes() == 1 { String::new() } else { ty.lanes().to_string() };
        let rounding = match op {
            Ext::vstore_half_r | Ext::vstore_halfn_r | Ext::vstorea_halfn_r => rounding_suffix(self.current.word(5)?),
            _ => "",
        };
        let half = Type::Scalar(Scalar::F16);
        let (name, element) = match op {
            Ext::vstoren => (format!("vstore{lanes}"), Type::Scalar(ty.scalar().unwrap_or(Scalar::I32))),
            Ext::vstorea_halfn | Ext::vstorea_halfn_r if ty.lanes() > 1 => (format!("vstorea_half{lanes}{rounding}"), half),
            _ => (format!("vstore_half{lanes}{rounding}"), half),
        };
        let params = [c_type(ty, Signedness::Signed)?, "size_t".to_owned(), self.pointer_text(pointer, element, Signedness::Signed)?];
        self.library_effect(&params, &[data, offset, pointer], &format!("{name}(a0, a1, a2);"));
        Ok(())
    }

    // ---- printf ----

    fn printf(&mut self) -> Checked<()> {
        let id = self.current.operand(2)?;
        let mut args = Vec::new();
        let format = match self.known_address(id)? {
            Some((global, offset)) => Some(self.string_at(global, offset)?),
            None => {
                let pointer = self.pointer(2)?;
                if self.b.ty(pointer) != Type::Ptr(Space::Constant) {
                    return Err(unsupported!("a printf format outside of constant memory"));
                }
                args.push(pointer);
                None
            }
        };
        for index in 3..self.current.operands.len() {
            let value = self.arg(index)?;
            args.push(match self.b.ty(value) {
                Type::Scalar(Scalar::F16) => self.b.cast(CastOp::FToF, value, Type::Scalar(Scalar::F32)),
                Type::BOOL | Type::Scalar(Scalar::I8 | Scalar::I16) => self.b.resize(value, true, Type::I32),
                _ => value,
            });
        }
        let value = self.b.emit(Op::Printf { format, args }, Type::I32);
        self.define(Val::One(value))
    }

    /// Returns the variable and the byte offset of an address. `None` if they are not constant.
    fn known_address(&self, mut id: Id) -> Checked<Option<(Global, i64)>> {
        let module = self.module;
        let mut offset = 0_i64;
        for _ in 0..64 {
            if let Some((_, constant)) = module.constants.get(id) {
                return Ok(match constant {
                    Constant::Address { target, offset: at } => Some((*target, at.wrapping_add(offset))),
                    _ => None,
                });
            }
            let Some(inst) = module.definitions.get(&id) else { return Ok(None) };
            use rspirv::spirv::Op as Opcode;
            let element = match inst.op {
                Opcode::Bitcast | Opcode::CopyObject | Opcode::PtrCastToGeneric | Opcode::GenericCastToPtr => None,
                Opcode::AccessChain | Opcode::InBoundsAccessChain => Some(false),
                Opcode::PtrAccessChain | Opcode::InBoundsPtrAccessChain => Some(true),
                _ => return Ok(None),
            };
            let base = inst.operand(0)?;
            if let Some(element) = element {
                let mut ty = module.types.pointee(self.type_id(base)?)?.0;
                for (index, operand) in inst.operands_from(1).enumerate() {
                    let Some((_, Constant::Bits(bits))) = module.constants.get(operand) else { return Ok(None) };
                    let info = module.types.get(ty)?;
                    let size = match &info.kind {
                        _ if element && index == 0 => info.size,
                        Kind::Array { element, .. } => {
                            ty = *element;
                            module.types.get(ty)?.size
                        }
                        _ => return Ok(None),
                    };
                    let step = bits.cast_signed().wrapping_mul(i64::try_from(size).unwrap_or(i64::MAX));
                    offset = offset.wrapping_add(step);
                }
            }
            id = base;
        }
        Ok(None)
    }

    /// Returns a constant that contains the string at `offset` in the constant `global`. Returns `global` itself if the
    /// offset is 0 and `global` has an initialiser.
    fn string_at(&mut self, global: Global, offset: i64) -> Checked<Global> {
        let data = self.shared.globals.get(global).ok_or_else(|| invalid!("the address of the format is out of range"))?;
        if data.space != Space::Constant {
            return Err(unsupported!("a printf format outside of constant memory"));
        }
        if offset == 0 && data.init.is_some() {
            return Ok(global);
        }
        let bytes = data.init.clone().unwrap_or_else(|| vec![0; data.size as usize]);
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| bytes.get(offset..))
            .ok_or_else(|| invalid!("the address of the format is out of range"))?;
        let init = if rest.is_empty() { vec![0] } else { rest.to_vec() };
        let size = u32::try_from(init.len()).unwrap_or(u32::MAX);
        let name = "format".to_owned();
        let data = GlobalVar { name, space: Space::Constant, size, align: 1, init: Some(init), relocs: Vec::new() };
        Ok(self.shared.globals.unnamed_constant(data))
    }
}
