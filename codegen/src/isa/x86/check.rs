//! Decodes emitted instructions and compares them with the intended ones. Runs in builds with debug assertions.
//! Branches, calls, traps, the prologue and the epilogue are not checked.

use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind, Register};

use super::encode::{Resolved, ResolvedRm};
use super::inst::{BARE, Slot, X86Inst};
use crate::mach::code::CodegenError;

/// Returns the encoding number of a register.
fn number(register: Register) -> u8 {
    let register = register as u32;
    let from = |first: Register| register.checked_sub(first as u32);
    // The order of the decoder's byte registers: AL to BL, AH to BH (never used here), SPL to R15B.
    let bytes = from(Register::SPL).filter(|place| *place < 12).map(|place| place + 4);
    let groups = [Register::AL, Register::AX, Register::EAX, Register::RAX, Register::XMM0, Register::YMM0, Register::ZMM0, Register::K0];
    let sizes = [4, 16, 16, 16, 32, 32, 32, 8];
    let group = || groups.iter().zip(sizes).find_map(|(first, size)| from(*first).filter(|place| *place < size));
    bytes.or_else(group).unwrap_or(u32::MAX) as u8
}

/// Fails unless the bytes are exactly one instruction: the intended one, with its registers and displacement. Neither
/// the order of registers nor immediates are compared.
pub(super) fn check(bytes: &[u8], inst: &X86Inst, regs: &Resolved) -> Result<(), CodegenError> {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let wrong = || {
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Err(CodegenError::Decoded(format!("{inst:?} with {regs:?} was encoded as {text}, which decodes to {instruction:?}")))
    };
    if instruction.mnemonic() == Mnemonic::INVALID || decoder.position() != bytes.len() {
        return wrong();
    }
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let bare = name.strip_prefix('v').unwrap_or(&name);
    if !name.starts_with(inst.opcode.name) && !bare.starts_with(inst.opcode.name) {
        return wrong();
    }
    if inst.opcode.has(BARE) {
        return Ok(());
    }
    let numbers: Vec<u8> = (0..instruction.op_count())
        .filter(|op| instruction.op_kind(*op) == OpKind::Register)
        .map(|op| number(instruction.op_register(op)))
        .collect();
    let has = |slot: Slot, number: u8| slot == Slot::None || numbers.contains(&number);
    let mut right = has(inst.reg, regs.reg) && has(inst.vvvv, regs.vvvv) && regs.last.is_none_or(|last| numbers.contains(&last));
    match regs.rm {
        ResolvedRm::Reg(number) => right &= inst.rm == super::inst::Rm::None || numbers.contains(&number),
        ResolvedRm::Mem { base, index, disp } => {
            let known = |register: Register| (register != Register::None).then(|| number(register));
            right &= known(instruction.memory_base()) == base && known(instruction.memory_index()) == index.map(|(index, _)| index);
            right &= instruction.memory_displacement64() as i32 == disp;
            right &= index.is_none_or(|(_, scale)| instruction.memory_index_scale() == u32::from(scale));
        }
        ResolvedRm::Pool(_) => right &= instruction.is_ip_rel_memory_operand(),
    }
    right &= match instruction.op_mask() {
        Register::None => inst.mask == Slot::None,
        mask => regs.mask == number(mask),
    };
    right &= instruction.is_broadcast() == inst.broadcast && instruction.zeroing_masking() == inst.zeroing;
    if right { Ok(()) } else { wrong() }
}
