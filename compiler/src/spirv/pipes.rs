//! Pipes and pipe storage (SPIR-V 3.52.23), implemented with OpenCL C functions.
//!
//! Each instruction specifies the size and alignment of packets. In OpenCL C a packet is a structure of that size.

use rspirv::spirv::{Op as Opcode, Scope};

use super::errors::{Checked, OperandIndex, Shown, invalid, unsupported};
use super::function::{Lowering, Val};
use super::types::Kind;
use crate::ir::{CmpOp, Type, Value};

/// Maximum size of a packet in bytes.
const MAX_PACKET: u32 = 1 << 16;

/// The OpenCL C function for an instruction that becomes one call, and the positions of its operands.
struct PipeCall {
    name: &'static str,
    /// The index of the pipe operand.
    pipe: usize,
    /// Number of operands between the pipe and the size of a packet.
    others: usize,
}

const fn function(op: Opcode) -> Option<PipeCall> {
    let (name, pipe, others) = match op {
        Opcode::ReadPipe => ("read_pipe", 0, 1),
        Opcode::WritePipe => ("write_pipe", 0, 1),
        Opcode::ReservedReadPipe => ("read_pipe", 0, 3),
        Opcode::ReservedWritePipe => ("write_pipe", 0, 3),
        Opcode::ReserveReadPipePackets => ("reserve_read_pipe", 0, 1),
        Opcode::ReserveWritePipePackets => ("reserve_write_pipe", 0, 1),
        Opcode::CommitReadPipe => ("commit_read_pipe", 0, 1),
        Opcode::CommitWritePipe => ("commit_write_pipe", 0, 1),
        Opcode::GetNumPipePackets => ("get_pipe_num_packets", 0, 0),
        Opcode::GetMaxPipePackets => ("get_pipe_max_packets", 0, 0),
        Opcode::GroupReserveReadPipePackets => ("reserve_read_pipe", 1, 1),
        Opcode::GroupReserveWritePipePackets => ("reserve_write_pipe", 1, 1),
        Opcode::GroupCommitReadPipe => ("commit_read_pipe", 1, 1),
        Opcode::GroupCommitWritePipe => ("commit_write_pipe", 1, 1),
        _ => return None,
    };
    Some(PipeCall { name, pipe, others })
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn pipe(&mut self) -> Checked<bool> {
        if self.current.op == Opcode::IsValidReserveId {
            let id = self.reservation(0)?;
            let valid = self.b.cmp_int(CmpOp::Ne, id, 0);
            return self.set_result(valid).map(|()| true);
        }
        if matches!(self.current.op, Opcode::ConvertUToPtr | Opcode::GenericCastToPtr)
            && self.module.types.get(self.current.ty()?)?.kind == Kind::ReserveId
        {
            // clang translates CLK_NULL_RESERVE_ID to such a cast. At -O0, the operand is a generic pointer. The result
            // 0 is not a valid reservation.
            let none = self.b.bits(Type::I32, 0);
            return self.set_result(none).map(|()| true);
        }
        if self.current.op == Opcode::CreatePipeFromPipeStorage {
            return self.pipe_of_storage().map(|()| true);
        }
        let Some(PipeCall { name, pipe: first, others }) = function(self.current.op) else { return Ok(false) };
        let prefix = match first {
            0 => "",
            _ => match Scope::from_u32(self.constant_operand(0)?) {
                Some(Scope::Workgroup) => "work_group_",
                Some(Scope::Subgroup) => "sub_group_",
                _ => return Err(unsupported!("a group scope other than work-group and subgroup")),
            },
        };
        let (pipe, access) = self.pipe_operand(first)?;
        let packet = self.packet(first + others + 1)?;
        let (mut params, mut args) = (vec![format!("{access} pipe {packet}")], vec![pipe]);
        let mut names = vec!["a0".to_owned()];
        for index in first + 1..=first + others {
            let number = args.len();
            let moves = name == "read_pipe" || name == "write_pipe";
            let (value, param, text) = if moves && index == first + others {
                let pointer = self.pointer(index)?;
                let space = self.space_text(pointer);
                (pointer, format!("{space}void *"), format!("({space}{packet} *)a{number}"))
            } else if name.starts_with("commit") || (moves && index == first + 1) {
                (self.reservation(index)?, "reserve_id_t".to_owned(), format!("a{number}"))
            } else {
                let count = self.integer(index)?;
                (self.b.resize(count, false, Type::I32), "uint".to_owned(), format!("a{number}"))
            };
            args.push(value);
            params.push(param);
            names.push(text);
        }
        let call = format!("{prefix}{name}({});", names.join(", "));
        if name.starts_with("commit") {
            self.library_effect(&params, &args, &call);
            return Ok(true);
        }
        let result = match name {
            _ if name.starts_with("reserve") => "reserve_id_t",
            _ if name.starts_with("get") => "uint",
            _ => "int",
        };
        let want = self.result_type()?;
        if want != Type::I32 {
            return Err(invalid!("the result type {} is not a {}", Shown(want), Shown(Type::I32)));
        }
        let value = self.library_text(Type::I32, result, &params, &args, &format!("return {call}"))?;
        self.define(Val::One(value))?;
        Ok(true)
    }

    /// Lowers `OpCreatePipeFromPipeStorage`. Both the operand and the result are the address of the pipe.
    fn pipe_of_storage(&mut self) -> Checked<()> {
        if !matches!(self.module.types.get(self.current.ty()?)?.kind, Kind::Pipe { .. }) {
            return Err(invalid!("the result type is not OpTypePipe"));
        }
        let ty = self.type_id(self.current.operand(0)?)?;
        if self.module.types.get(ty)?.kind != Kind::PipeStorage {
            return Err(invalid!("{} is not pipe storage", OperandIndex(0)));
        }
        let address = self.arg(0)?;
        self.define(Val::One(address))
    }

    /// Returns a pipe operand, and the access qualifier of its type.
    fn pipe_operand(&mut self, index: usize) -> Checked<(Value, &'static str)> {
        let ty = self.type_id(self.current.operand(index)?)?;
        match self.module.types.get(ty)?.kind {
            Kind::Pipe { writes } => Ok((self.arg(index)?, if writes { "write_only" } else { "read_only" })),
            _ => Err(invalid!("{} is not a pipe", OperandIndex(index))),
        }
    }

    fn reservation(&mut self, index: usize) -> Checked<Value> {
        let ty = self.type_id(self.current.operand(index)?)?;
        match self.module.types.get(ty)?.kind {
            Kind::ReserveId => self.arg(index),
            _ => Err(invalid!("{} is not a reservation id", OperandIndex(index))),
        }
    }

    /// Returns the OpenCL C type of packets. Their size and alignment are in the operands from `index` on.
    fn packet(&mut self, index: usize) -> Checked<String> {
        let (size, align) = (self.constant_operand(index)?, self.constant_operand(index + 1)?);
        if !(1..=MAX_PACKET).contains(&size) || !align.is_power_of_two() || align > 128 {
            return Err(unsupported!(
                "a packet of {size} bytes with alignment {align} (expected 1 to {MAX_PACKET} bytes and a power of two up to 128)"
            ));
        }
        // The size of a structure is a multiple of its alignment, so the alignment is reduced if necessary.
        let align = align.min(1 << size.trailing_zeros());
        let name = format!("packet_{size}_{align}");
        let declared = format!("typedef struct {{ uchar bytes[{size}]; }} __attribute__((aligned({align}))) {name};\n");
        self.shared.bridge.declare(&declared);
        Ok(name)
    }
}
