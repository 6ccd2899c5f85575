//! Group and subgroup instructions (SPIR-V 3.52.21, 3.52.24) and async copies, implemented with OpenCL C functions.

use rspirv::spirv::{GroupOperation, Op as Opcode, Scope};

use super::bridge::{Signedness, c_type};
use super::errors::{Checked, OperandIndex, invalid, unsupported};
use super::function::{Lowering, Val};
use crate::ir::{CmpOp, Fence, Op, Scalar, Type, Value};

/// Returns the name of the operation of a reduction, and the signedness of its integers, or `None` for other
/// instructions.
const fn reduction_operation(op: Opcode) -> Option<(&'static str, Signedness)> {
    Some(match op {
        Opcode::GroupIAdd | Opcode::GroupFAdd | Opcode::GroupNonUniformIAdd | Opcode::GroupNonUniformFAdd => ("add", Signedness::Signed),
        Opcode::GroupSMin | Opcode::GroupFMin | Opcode::GroupNonUniformSMin | Opcode::GroupNonUniformFMin => ("min", Signedness::Signed),
        Opcode::GroupSMax | Opcode::GroupFMax | Opcode::GroupNonUniformSMax | Opcode::GroupNonUniformFMax => ("max", Signedness::Signed),
        Opcode::GroupUMin | Opcode::GroupNonUniformUMin => ("min", Signedness::Unsigned),
        Opcode::GroupUMax | Opcode::GroupNonUniformUMax => ("max", Signedness::Unsigned),
        Opcode::GroupNonUniformIMul | Opcode::GroupNonUniformFMul | Opcode::GroupIMulKHR | Opcode::GroupFMulKHR => {
            ("mul", Signedness::Signed)
        }
        Opcode::GroupNonUniformBitwiseAnd | Opcode::GroupBitwiseAndKHR => ("and", Signedness::Signed),
        Opcode::GroupNonUniformBitwiseOr | Opcode::GroupBitwiseOrKHR => ("or", Signedness::Signed),
        Opcode::GroupNonUniformBitwiseXor | Opcode::GroupBitwiseXorKHR => ("xor", Signedness::Signed),
        Opcode::GroupNonUniformLogicalAnd | Opcode::GroupLogicalAndKHR => ("logical_and", Signedness::Signed),
        Opcode::GroupNonUniformLogicalOr | Opcode::GroupLogicalOrKHR => ("logical_or", Signedness::Signed),
        Opcode::GroupNonUniformLogicalXor | Opcode::GroupLogicalXorKHR => ("logical_xor", Signedness::Signed),
        _ => return None,
    })
}

/// Whether an instruction belongs to SPV_KHR_uniform_group_instructions.
const fn is_uniform_khr(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::GroupIMulKHR
            | Opcode::GroupFMulKHR
            | Opcode::GroupBitwiseAndKHR
            | Opcode::GroupBitwiseOrKHR
            | Opcode::GroupBitwiseXorKHR
            | Opcode::GroupLogicalAndKHR
            | Opcode::GroupLogicalOrKHR
            | Opcode::GroupLogicalXorKHR
    )
}

/// Returns the OpenCL C function of a subgroup instruction whose operands, except the scope, are all numeric values.
/// Returns `None` for other instructions.
const fn subgroup_function(op: Opcode) -> Option<&'static str> {
    Some(match op {
        Opcode::GroupNonUniformElect => "sub_group_elect",
        Opcode::GroupNonUniformAll => "sub_group_non_uniform_all",
        Opcode::GroupNonUniformAny => "sub_group_non_uniform_any",
        Opcode::GroupNonUniformAllEqual => "sub_group_non_uniform_all_equal",
        Opcode::GroupNonUniformBroadcast => "sub_group_non_uniform_broadcast",
        Opcode::GroupNonUniformBroadcastFirst => "sub_group_broadcast_first",
        Opcode::GroupNonUniformBallot => "sub_group_ballot",
        Opcode::GroupNonUniformInverseBallot => "sub_group_inverse_ballot",
        Opcode::GroupNonUniformBallotBitExtract => "sub_group_ballot_bit_extract",
        Opcode::GroupNonUniformBallotFindLSB => "sub_group_ballot_find_lsb",
        Opcode::GroupNonUniformBallotFindMSB => "sub_group_ballot_find_msb",
        Opcode::GroupNonUniformShuffle => "sub_group_shuffle",
        Opcode::GroupNonUniformShuffleXor => "sub_group_shuffle_xor",
        Opcode::GroupNonUniformShuffleUp => "sub_group_shuffle_up",
        Opcode::GroupNonUniformShuffleDown => "sub_group_shuffle_down",
        _ => return None,
    })
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn group(&mut self) -> Checked<bool> {
        let op = self.current.op;
        if let Some(name) = subgroup_function(op) {
            self.subgroup_scope()?;
            return self.collective(name, 1, Signedness::Signed).map(|()| true);
        }
        if let Some((name, sign)) = reduction_operation(op) {
            return self.reduction(name, sign).map(|()| true);
        }
        match op {
            Opcode::GroupAll | Opcode::GroupAny => {
                let name = if op == Opcode::GroupAll { "all" } else { "any" };
                let name = format!("{}_{name}", self.group_prefix()?);
                self.collective(&name, 1, Signedness::Signed)?;
            }
            Opcode::GroupBroadcast => self.broadcast()?,
            Opcode::GroupNonUniformBallotBitCount => {
                self.subgroup_scope()?;
                let operation = self.current.word(1)?;
                let name = match GroupOperation::from_u32(operation) {
                    Some(GroupOperation::Reduce) => "sub_group_ballot_bit_count",
                    Some(GroupOperation::InclusiveScan) => "sub_group_ballot_inclusive_scan",
                    Some(GroupOperation::ExclusiveScan) => "sub_group_ballot_exclusive_scan",
                    _ => return Err(invalid!("group operation {operation} is not valid")),
                };
                self.collective(name, 2, Signedness::Unsigned)?;
            }
            Opcode::GroupNonUniformRotateKHR => {
                self.subgroup_scope()?;
                let clustered = self.current.operands.len() > 3;
                self.rotate(clustered)?;
            }
            Opcode::GroupAsyncCopy => self.async_copy()?,
            // All work-items of the group take part in a copy, so the wait is a barrier.
            Opcode::GroupWaitEvents => self.b.effect(Op::Barrier(Fence { local: true, global: true, image: false })),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn group_prefix(&self) -> Checked<&'static str> {
        match Scope::from_u32(self.constant_operand(0)?) {
            Some(Scope::Workgroup) => Ok("work_group"),
            Some(Scope::Subgroup) => Ok("sub_group"),
            _ => Err(unsupported!("a group scope other than work-group and subgroup")),
        }
    }

    fn subgroup_scope(&self) -> Checked<()> {
        match Scope::from_u32(self.constant_operand(0)?) {
            Some(Scope::Subgroup) => Ok(()),
            _ => Err(unsupported!("a group scope other than subgroup")),
        }
    }

    /// Returns an operand and its OpenCL C type. A `bool` is converted to `int`. If `is_index`, an integer is unsigned.
    fn group_operand(&mut self, index: usize, sign: Signedness, is_index: bool) -> Checked<(Value, String)> {
        let value = self.number(index)?;
        let ty = self.b.ty(value);
        if ty.scalar() == Some(Scalar::Bool) {
            let value = self.b.resize(value, false, ty.with_scalar(Scalar::I32));
            let text = c_type(self.b.ty(value), Signedness::Signed)?;
            return Ok((value, text));
        }
        Ok((value, c_type(ty, if is_index { Signedness::Unsigned } else { sign })?))
    }

    /// Lowers the current instruction to a call of `name`. The arguments are the operands from index `from` on.
    fn collective(&mut self, name: &str, from: usize, sign: Signedness) -> Checked<()> {
        let (mut args, mut params) = (Vec::new(), Vec::new());
        for index in from..self.current.operands.len() {
            // Ballots and indices are unsigned.
            let is_index = index > from || name.contains("ballot") && name != "sub_group_ballot";
            let (value, text) = self.group_operand(index, sign, is_index)?;
            args.push(value);
            params.push(text);
        }
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        self.set_collective_result(&format!("{name}({names})"), &params, &args, sign)
    }

    /// Sets the result of the current instruction, which may be `bool`, to the value of an OpenCL C expression.
    fn set_collective_result(&mut self, expression: &str, params: &[String], args: &[Value], sign: Signedness) -> Checked<()> {
        let want = self.result_type()?;
        let is_bool = want.scalar() == Some(Scalar::Bool);
        let ty = if is_bool { want.with_scalar(Scalar::I32) } else { want };
        let result = c_type(ty, sign)?;
        let body = if ty.scalar().is_some_and(Scalar::is_int) {
            format!("return as_{result}({expression});")
        } else {
            format!("return {expression};")
        };
        let value = self.library_text(ty, &result, params, args, &body)?;
        let value = if is_bool { self.b.cmp_int(CmpOp::Ne, value, 0) } else { value };
        self.set_result(value)
    }

    fn reduction(&mut self, name: &str, sign: Signedness) -> Checked<()> {
        let is_core_group_op = matches!(
            self.current.op,
            Opcode::GroupIAdd
                | Opcode::GroupFAdd
                | Opcode::GroupSMin
                | Opcode::GroupFMin
                | Opcode::GroupUMin
                | Opcode::GroupSMax
                | Opcode::GroupFMax
                | Opcode::GroupUMax
        );
        let operation = GroupOperation::from_u32(self.current.word(1)?);
        let kind = match operation {
            Some(GroupOperation::Reduce) => "reduce",
            Some(GroupOperation::InclusiveScan) => "scan_inclusive",
            Some(GroupOperation::ExclusiveScan) => "scan_exclusive",
            Some(GroupOperation::ClusteredReduce) => "clustered_reduce",
            _ => return Err(unsupported!("group operation {}", self.current.word(1)?)),
        };
        let (value, text) = self.group_operand(2, sign, false)?;
        let prefix = self.group_prefix()?;
        if operation == Some(GroupOperation::ClusteredReduce) {
            // The OpenCL C function requires a constant size.
            let size = self.constant_operand(3)?;
            return self.set_collective_result(&format!("{prefix}_{kind}_{name}(a0, {size}u)"), &[text], &[value], sign);
        }
        // Instructions of SPV_KHR_uniform_group_instructions: for subgroups, the non-uniform functions give the same
        // result.
        let of_group = is_uniform_khr(self.current.op) && prefix == "work_group";
        if !is_core_group_op && !of_group {
            self.subgroup_scope()?;
        }
        let function =
            if is_core_group_op || of_group { format!("{prefix}_{kind}_{name}") } else { format!("{prefix}_non_uniform_{kind}_{name}") };
        self.set_collective_result(&format!("{function}(a0)"), &[text], &[value], sign)
    }

    fn broadcast(&mut self) -> Checked<()> {
        let prefix = self.group_prefix()?;
        let (value, text) = self.group_operand(1, Signedness::Signed, false)?;
        let index = self.integer(2)?;
        let lanes = self.b.ty(index).lanes();
        let (mut args, mut params) = (vec![value], vec![text]);
        for lane in 0..lanes {
            let one = self.b.extract(index, lane);
            let (ty, name) = if prefix == "work_group" { (self.module.types.pointer_int(), "size_t") } else { (Type::I32, "uint") };
            args.push(self.b.resize(one, false, ty));
            params.push(name.to_owned());
        }
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        self.set_collective_result(&format!("{prefix}_broadcast({names})"), &params, &args, Signedness::Signed)
    }

    fn rotate(&mut self, clustered: bool) -> Checked<()> {
        let (value, text) = self.group_operand(1, Signedness::Signed, false)?;
        let delta = self.integer(2)?;
        let delta = self.b.resize(delta, true, Type::I32);
        let call = if clustered {
            format!("sub_group_clustered_rotate(a0, a1, {}u)", self.constant_operand(3)?)
        } else {
            "sub_group_rotate(a0, a1)".to_owned()
        };
        self.set_collective_result(&call, &[text, "int".to_owned()], &[value, delta], Signedness::Signed)
    }

    fn async_copy(&mut self) -> Checked<()> {
        let (dst, src) = (self.pointer(1)?, self.pointer(2)?);
        let pointee = self.module.types.pointee(self.type_id(self.current.operand(1)?)?)?.0;
        let element = self.module.types.numbers(pointee)?;
        let int = self.module.types.pointer_int();
        let (count, stride) = (self.integer(3)?, self.integer(4)?);
        let (count, stride) = (self.b.resize(count, false, int), self.b.resize(stride, false, int));
        let event = self.arg(5)?;
        if self.b.ty(event) != Type::I32 {
            return Err(invalid!("{} is not an event", OperandIndex(5)));
        }
        let params = [
            self.pointer_text(dst, element, Signedness::Signed)?,
            format!("const {}", self.pointer_text(src, element, Signedness::Signed)?),
            "size_t".to_owned(),
            "size_t".to_owned(),
            "event_t".to_owned(),
        ];
        let (args, body) = if self.b.known(stride) == Some(1) {
            (vec![dst, src, count, event], "return async_work_group_copy(a0, a1, a2, a3);")
        } else {
            (vec![dst, src, count, stride, event], "return async_work_group_strided_copy(a0, a1, a2, a3, a4);")
        };
        let params = if args.len() == 4 { [&params[..3], &params[4..]].concat() } else { params.to_vec() };
        let value = self.library_text(Type::I32, "event_t", &params, &args, body)?;
        self.define(Val::One(value))
    }
}
