//! SPV_INTEL_subgroups: shuffles and block accesses, implemented with `cl_intel_subgroups` functions.

use rspirv::spirv::Op as Opcode;

use super::bridge::{Signedness, c_type};
use super::errors::{Checked, OperandIndex, Shown, invalid, unsupported};
use super::function::Lowering;
use crate::ir::{Scalar, Space, Type, Value};

/// Returns the OpenCL C function of a shuffle, and the number of values that it shuffles, or `None` for other
/// instructions.
const fn shuffle(op: Opcode) -> Option<(&'static str, usize)> {
    Some(match op {
        Opcode::SubgroupShuffleINTEL => ("shuffle", 1),
        Opcode::SubgroupShuffleXorINTEL => ("shuffle_xor", 1),
        Opcode::SubgroupShuffleDownINTEL => ("shuffle_down", 2),
        Opcode::SubgroupShuffleUpINTEL => ("shuffle_up", 2),
        _ => return None,
    })
}

/// Returns the suffix of the names of `block_read` and `block_write` for a block type, and the element type.
fn block(ty: Type) -> Checked<(String, &'static str)> {
    let (letters, element) = match ty.scalar().map(Scalar::size) {
        Some(1) => ("uc", "uchar"),
        Some(2) => ("us", "ushort"),
        Some(4) => ("ui", "uint"),
        Some(8) => ("ul", "ulong"),
        _ => return Err(invalid!("block type {} is not valid", Shown(ty))),
    };
    let lanes = if ty.lanes() == 1 { String::new() } else { ty.lanes().to_string() };
    Ok((format!("{letters}{lanes}"), element))
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn intel_group(&mut self) -> Checked<bool> {
        if let Some((name, values)) = shuffle(self.current.op) {
            self.intel_shuffle(name, values)?;
            return Ok(true);
        }
        match self.current.op {
            Opcode::SubgroupBlockReadINTEL => self.read_block(false)?,
            Opcode::SubgroupImageBlockReadINTEL => self.read_block(true)?,
            Opcode::SubgroupBlockWriteINTEL => self.write_block(false)?,
            Opcode::SubgroupImageBlockWriteINTEL => self.write_block(true)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn intel_shuffle(&mut self, name: &str, values: usize) -> Checked<()> {
        let want = self.result_type()?;
        let text = c_type(want, Signedness::Signed)?;
        let (mut args, mut params) = (Vec::new(), Vec::new());
        for index in 0..values {
            let value = self.number(index)?;
            if self.b.ty(value) != want {
                return Err(invalid!("{} does not have the result type", OperandIndex(index)));
            }
            args.push(value);
            params.push(text.clone());
        }
        let by = self.integer(values)?;
        args.push(self.b.resize(by, false, Type::I32));
        params.push("uint".to_owned());
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        let value = self.library_text(want, &text, &params, &args, &format!("return intel_sub_group_{name}({names});"))?;
        self.set_result(value)
    }

    /// Returns the address of a block: the arguments, the types of their parameters, and the argument expressions of
    /// the call.
    fn block_place(&mut self, image: bool, write: bool, element: &str) -> Checked<(Vec<Value>, Vec<String>, String)> {
        if image {
            let (image, name) = self.image_argument(write)?;
            let at = self.number(1)?;
            let params = vec![name, c_type(self.b.ty(at), Signedness::Signed)?];
            return Ok((vec![image, at], params, "a0, a1".to_owned()));
        }
        let pointer = self.pointer(0)?;
        if self.b.ty(pointer) != Type::Ptr(Space::Global) {
            return Err(unsupported!("a block read or write outside of global memory"));
        }
        let constant = if write { "" } else { "const " };
        Ok((vec![pointer], vec!["__global void *".to_owned()], format!("({constant}__global {element} *)a0")))
    }

    fn read_block(&mut self, image: bool) -> Checked<()> {
        let want = self.result_type()?;
        let (suffix, element) = block(want)?;
        let (args, params, place) = self.block_place(image, false, element)?;
        let result = c_type(want, Signedness::Unsigned)?;
        let body = format!("return as_{result}(intel_sub_group_block_read_{suffix}({place}));");
        let value = self.library_text(want, &result, &params, &args, &body)?;
        self.set_result(value)
    }

    fn write_block(&mut self, image: bool) -> Checked<()> {
        let data = self.number(if image { 2 } else { 1 })?;
        let (suffix, element) = block(self.b.ty(data))?;
        let (mut args, mut params, place) = self.block_place(image, true, element)?;
        let lanes = &suffix[2..];
        let body = format!("intel_sub_group_block_write_{suffix}({place}, as_{element}{lanes}(a{}));", args.len());
        args.push(data);
        params.push(c_type(self.b.ty(data), Signedness::Unsigned)?);
        self.library_effect(&params, &args, &body);
        Ok(())
    }
}
