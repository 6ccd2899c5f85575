//! Conversions of numbers and pointers (SPIR-V 3.52.11).

use rspirv::spirv::{Decoration, Op as Opcode, StorageClass};

use super::bridge::{Signedness, c_type};
use super::decorations::rounding_suffix;
use super::errors::{Checked, Shown, invalid, storage_class_name, unsupported};
use super::function::Lowering;
use crate::ir::{CastOp, Const, MathOp, Scalar, Space, Type, Value};

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn conversion(&mut self) -> Checked<bool> {
        let value = match self.current.op {
            Opcode::ConvertFToU => self.number_conversion(CastOp::FToU)?,
            Opcode::ConvertFToS => self.number_conversion(CastOp::FToS)?,
            Opcode::ConvertSToF => self.number_conversion(CastOp::SToF)?,
            Opcode::ConvertUToF => self.number_conversion(CastOp::UToF)?,
            Opcode::FConvert => self.number_conversion(CastOp::FToF)?,
            Opcode::UConvert => self.number_conversion(CastOp::ZExt)?,
            Opcode::SConvert => self.number_conversion(CastOp::SExt)?,
            Opcode::SatConvertSToU => self.converted("_sat", (Signedness::Signed, Signedness::Unsigned))?,
            Opcode::SatConvertUToS => self.converted("_sat", (Signedness::Unsigned, Signedness::Signed))?,
            Opcode::Bitcast => self.bitcast()?,
            Opcode::ConvertPtrToU => {
                let pointer = self.pointer(0)?;
                let int = self.module.types.pointer_int();
                let number = self.b.cast(CastOp::PtrToInt, pointer, int);
                let want = self.integer_result(int.lanes())?;
                self.b.resize(number, false, want)
            }
            Opcode::ConvertUToPtr => {
                let number = self.integer(0)?;
                if self.b.ty(number).lanes() != 1 {
                    return Err(invalid!("the address is a vector, expected a scalar"));
                }
                let number = self.b.resize(number, false, self.module.types.pointer_int());
                let want = self.pointer_result()?;
                self.b.cast(CastOp::IntToPtr, number, want)
            }
            Opcode::PtrCastToGeneric | Opcode::GenericCastToPtr => {
                let pointer = self.pointer(0)?;
                let want = self.pointer_result()?;
                self.b.cast(CastOp::SpaceCast, pointer, want)
            }
            Opcode::GenericCastToPtrExplicit => self.explicit_cast()?,
            Opcode::GenericPtrMemSemantics => {
                let pointer = self.pointer(0)?;
                let ty = c_type(self.b.ty(pointer), Signedness::Signed)?;
                let body = "uint f = get_fence(a0); return (f & 1 ? 0x100 : 0) | (f & 2 ? 0x200 : 0);";
                self.library_text(Type::I32, "uint", &[ty], &[pointer], body)?
            }
            Opcode::CopyObject | Opcode::CopyLogical => {
                let val = self.get(self.current.operand(0)?)?;
                return self.define(val).map(|()| true);
            }
            _ => return Ok(false),
        };
        self.set_result(value)?;
        Ok(true)
    }

    fn integer_result(&self, lanes: u8) -> Checked<Type> {
        let want = self.result_type()?;
        match want.scalar() {
            Some(scalar) if scalar.is_int() && want.lanes() == lanes => Ok(want),
            _ => Err(invalid!("result type {want} is not valid")),
        }
    }

    fn pointer_result(&self) -> Checked<Type> {
        match self.result_type()? {
            want @ Type::Ptr(_) => Ok(want),
            want => Err(invalid!("result type {want} is not valid")),
        }
    }

    /// Lowers a conversion, with the rounding and saturation of its decorations.
    fn number_conversion(&mut self, op: CastOp) -> Checked<Value> {
        let id = self.current.result()?;
        let rounding = self.module.decorations.value(id, Decoration::FPRoundingMode).map_or("", rounding_suffix);
        let saturates = self.module.decorations.has(id, Decoration::SaturatedConversion);
        let (value, want) = (self.number(0)?, self.result_type()?);
        let from = self.b.ty(value);
        let (Some(source), Some(target)) = (from.scalar(), want.scalar()) else {
            return Err(invalid!("the operand or result type is not numeric"));
        };
        let (float_in, float_out) = match op {
            CastOp::FToU | CastOp::FToS => (true, false),
            CastOp::SToF | CastOp::UToF => (false, true),
            CastOp::FToF => (true, true),
            _ => (false, false),
        };
        let fits = from.lanes() == want.lanes()
            && source.is_float() == float_in
            && target.is_float() == float_out
            && source != Scalar::Bool
            && target != Scalar::Bool;
        if !fits {
            return Err(invalid!("conversion from {from} to {want} is not valid"));
        }
        let plain = match op {
            CastOp::FToU | CastOp::FToS => rounding == "_rtz" || rounding.is_empty(),
            _ => rounding == "_rte" || rounding.is_empty(),
        };
        if float_in && !float_out && !saturates {
            let rounded = match rounding {
                "_rte" => self.b.math(MathOp::Rint, &[value]),
                "_rtp" => self.b.math(MathOp::Ceil, &[value]),
                "_rtn" => self.b.math(MathOp::Floor, &[value]),
                _ => value,
            };
            self.b.conversion_check(rounded, target, op == CastOp::FToS);
        }
        if plain && !saturates {
            return Ok(match op {
                CastOp::ZExt | CastOp::SExt => self.resized(value, op == CastOp::SExt, want),
                _ => self.b.cast(op, value, want),
            });
        }
        let sign = |signed: bool| if signed { Signedness::Signed } else { Signedness::Unsigned };
        let signs = (sign(matches!(op, CastOp::SToF | CastOp::SExt)), sign(matches!(op, CastOp::FToS | CastOp::SExt)));
        let saturates = saturates && !float_out;
        self.converted(&format!("{}{rounding}", if saturates { "_sat" } else { "" }), signs)
    }

    /// Converts an integer to another width. Records the operand of a widening, for address computations.
    fn resized(&mut self, value: Value, signed: bool, want: Type) -> Value {
        let result = self.b.resize(value, signed, want);
        if result != value && self.b.ty(value).scalar().map_or(0, Scalar::bits) < want.scalar().map_or(0, Scalar::bits) {
            self.extended.insert(result, (value, signed));
        }
        result
    }

    /// Calls a `convert_T` function of OpenCL C. `suffix` is the end of its name.
    fn converted(&mut self, suffix: &str, (from, to): (Signedness, Signedness)) -> Checked<Value> {
        let (value, want) = (self.number(0)?, self.result_type()?);
        let (source, target) = (c_type(self.b.ty(value), from)?, c_type(want, to)?);
        self.library_text(want, &target, &[source], &[value], &format!("return convert_{target}{suffix}(a0);"))
    }

    fn bitcast(&mut self) -> Checked<Value> {
        let (value, want) = (self.arg(0)?, self.result_type()?);
        let have = self.b.ty(value);
        let size = self.module.types.pointer_size;
        match (have, want) {
            (Type::Ptr(_), Type::Ptr(_)) => Ok(value),
            _ if have == want && have != Type::Void => Ok(value),
            (Type::Void, _) | (_, Type::Void) => Err(unsupported!("a cast from type {} to type {}", Shown(have), Shown(want))),
            // A pointer converts to an integer of its width, or (since SPIR-V 1.5) to any number or vector of that
            // size.
            (Type::Ptr(_), _) if want.access_size(size) == size => {
                let address = self.b.cast(CastOp::PtrToInt, value, self.module.types.pointer_int());
                Ok(self.b.bitcast(address, want))
            }
            (_, Type::Ptr(_)) if have.access_size(size) == size => {
                let address = self.b.bitcast(value, self.module.types.pointer_int());
                Ok(self.b.cast(CastOp::IntToPtr, address, want))
            }
            _ if have.access_size(size) == want.access_size(size) && have.access_size(size) > 0 => Ok(self.b.bitcast(value, want)),
            _ => Err(invalid!("{have} and {want} have different sizes")),
        }
    }

    /// Lowers `OpGenericCastToPtrExplicit`. The result is null if the address space of the pointer differs. For a
    /// generic pointer, the code checks this at run time.
    fn explicit_cast(&mut self) -> Checked<Value> {
        let pointer = self.pointer(0)?;
        let class = self.current.word(1)?;
        let space = match StorageClass::from_u32(class) {
            Some(StorageClass::Function) => Space::Private,
            Some(StorageClass::Workgroup) => Space::Local,
            Some(StorageClass::CrossWorkgroup) => Space::Global,
            _ => return Err(invalid!("a pointer cannot be cast to storage class {}", storage_class_name(class))),
        };
        let want = Type::Ptr(space);
        Ok(match self.b.ty(pointer) {
            have if have == want => pointer,
            Type::Ptr(Space::Generic) => self.b.cast(CastOp::SpaceCast, pointer, want),
            _ => self.b.constant(want, Const::Null),
        })
    }
}
