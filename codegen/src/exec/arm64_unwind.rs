//! Unwind information for Windows on ARM64 (`.xdata` records).
//!
//! Generated functions have this prologue, and an epilogue with the inverse operations before each `ret`:
//!
//! ```text
//! stp x29, x30, [sp, #-16]!; mov x29, sp; stp REGISTER, REGISTER, [sp, #-16]!...; sub sp, sp, #SIZE
//! ```
//! An unwind code describes one instruction. The unwinder skips the codes of instructions that have not run, so the
//! codes must match the instructions one by one. A function that a record cannot describe has no unwind information.
//!
//! Source of the format: "ARM64 exception handling" in Microsoft's documentation.

use crate::mach::code::FunctionFrame;

/// The instruction `ret`. Only epilogues contain it, as their last instruction.
const RET: u32 = 0xD65F_03C0;
/// Bytes of an instruction.
const INSTRUCTION: usize = 4;

/// Unwind codes of two bytes. The lowest bit is the offset in the stack: a pair of registers has 16 bytes.
const SAVE_REGP_X: u16 = 0xCC01;
const SAVE_REG_X: u16 = 0xD401;
const SAVE_FREGP_X: u16 = 0xDA01;
const SAVE_FREG_X: u16 = 0xDE01;
const ALLOC_M: u16 = 0xC000;
/// Unwind codes of one byte.
const SAVE_FPLR_X: u8 = 0x81;
const ALLOC_L: u8 = 0xE0;
const SET_FP: u8 = 0xE1;
const NOP: u8 = 0xE3;
const END: u8 = 0xE4;

/// The unwind code of a store of a pair, which decrements the stack pointer by 16.
fn saved(pair: (u8, u8)) -> Option<[u8; 2]> {
    let is_vector = pair.0 >= FunctionFrame::FIRST_VECTOR;
    let (first, single) = if is_vector { (FunctionFrame::FIRST_VECTOR + 8, SAVE_FREG_X) } else { (19, SAVE_REG_X) };
    let register = u16::from(pair.0.checked_sub(first)?);
    let code = match pair.1.checked_sub(pair.0)? {
        0 => single | register << 5,
        1 => (if is_vector { SAVE_FREGP_X } else { SAVE_REGP_X }) | register << 6,
        _ => return None,
    };
    Some(code.to_be_bytes())
}

/// The unwind codes of the instructions that change the stack pointer by the size of the spill slots, in the order of
/// the instructions. `None` if no code can describe the size.
fn allocated(size: u32) -> Option<Vec<Vec<u8>>> {
    /// From this size, the size is in a register.
    const LIMIT: u32 = 1 << 24;
    let code = |size: u32| {
        let units = size / 16;
        match units {
            0..32 => vec![units as u8],
            32..2048 => (ALLOC_M | units as u16).to_be_bytes().to_vec(),
            _ => (u32::from(ALLOC_L) << 24 | units).to_be_bytes().to_vec(),
        }
    };
    if !size.is_multiple_of(16) || size / 16 >= 1 << 24 {
        return None;
    }
    if size < LIMIT {
        return Some([size >> 12 << 12, size & 0xFFF].into_iter().filter(|&part| part > 0).map(code).collect());
    }
    let constants = if size >> 16 > 0 { 2 } else { 1 };
    Some(std::iter::repeat_n(vec![NOP], constants).chain([code(size)]).collect())
}

/// The `.xdata` record of a function with this frame and this code. `None` if a record cannot describe it.
pub(super) fn record(frame: &FunctionFrame, code: &[u8]) -> Option<Vec<u8>> {
    let pairs = frame.saved.as_chunks().0.iter().map(|&[first, second]| saved((first, second))).collect::<Option<Vec<_>>>()?;
    let slots = allocated(frame.slots)?;
    let mut codes: Vec<u8> = slots.iter().rev().flatten().copied().collect();
    codes.extend(pairs.iter().rev().flatten());
    codes.extend([SET_FP, SAVE_FPLR_X, END]);
    let epilogue = codes.len();
    codes.extend(slots.iter().flatten());
    codes.extend(pairs.iter().rev().flatten());
    codes.extend([SAVE_FPLR_X, END]);
    codes.resize(codes.len().next_multiple_of(4), NOP);
    // The instructions of an epilogue before `ret`.
    let before_return = slots.len() + pairs.len() + 1;
    let words = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let returns: Vec<usize> = words.enumerate().filter(|(_, word)| *word == RET).map(|(at, _)| at).collect();
    let starts = returns.into_iter().map(|at| at.checked_sub(before_return)).collect::<Option<Vec<usize>>>()?;
    header(code.len() / INSTRUCTION, starts.len(), codes.len() / 4).map(|header| {
        let scopes = starts.iter().map(|&start| (start | epilogue << 22) as u32);
        header.into_iter().chain(scopes).flat_map(u32::to_le_bytes).chain(codes).collect()
    })
}

/// The first words of a record with these numbers of instructions, epilogues and words with codes. The lengths have 18
/// bits, 16 bits and 8 bits. `None` if a number does not fit.
fn header(instructions: usize, epilogues: usize, words: usize) -> Option<Vec<u32>> {
    if instructions >= 1 << 18 || epilogues >= 1 << 16 || words >= 1 << 8 {
        return None;
    }
    let (instructions, epilogues, words) = (instructions as u32, epilogues as u32, words as u32);
    if epilogues < 32 && words < 32 {
        return Some(vec![instructions | epilogues << 22 | words << 27]);
    }
    Some(vec![instructions, epilogues | words << 16])
}

#[cfg(test)]
mod tests {
    use super::{allocated, header, record};
    use crate::mach::code::FunctionFrame;

    /// A function with two epilogues. llvm-mc 15 assembled it with the directives `.seh_save_regp_x x21, 16`,
    /// `.seh_save_reg_x x23, 16`, `.seh_save_fregp_x d8, 16`, `.seh_save_freg_x d12, 16`, `.seh_stackalloc 4096` and
    /// `.seh_stackalloc 48`.
    const CODE: [u32; 27] = [
        0xA9BF_7BFD,
        0x9100_03FD,
        0xA9BF_5BF5,
        0xA9BF_5FF7,
        0x6DBF_27E8,
        0x6DBF_33EC,
        0xD140_07FF,
        0xD100_C3FF,
        0xD503_201F,
        0xB400_0120,
        0x9140_07FF,
        0x9100_C3FF,
        0xFC41_07EC,
        0x6CC1_27E8,
        0xF841_07F7,
        0xA8C1_5BF5,
        0xA8C1_7BFD,
        0xD65F_03C0,
        0xD503_201F,
        0x9140_07FF,
        0x9100_C3FF,
        0xFC41_07EC,
        0x6CC1_27E8,
        0xF841_07F7,
        0xA8C1_5BF5,
        0xA8C1_7BFD,
        0xD65F_03C0,
    ];
    /// The record that llvm-mc wrote for it.
    const RECORD: [u32; 10] =
        [0x3880_001B, 0x0380_000A, 0x0380_0013, 0xDE00_C103, 0xD401_DA81, 0xE181_CC81, 0x00C1_E481, 0xDA81_DE03, 0xCC81_D401, 0xE3E4_8181];

    #[test]
    fn records_are_those_of_llvm() {
        let code: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
        let vector = FunctionFrame::FIRST_VECTOR;
        let saved = vec![21, 22, 23, 23, vector + 8, vector + 9, vector + 12, vector + 12];
        let frame = FunctionFrame { start: 0, end: code.len() as u32, saved, slots: 4096 + 48 };
        let expected: Vec<u8> = RECORD.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(record(&frame, &code), Some(expected));
    }

    #[test]
    fn frames_that_no_code_describes_have_no_record() {
        let frame = |saved: Vec<u8>| FunctionFrame { start: 0, end: 0, saved, slots: 0 };
        assert_eq!(record(&frame(vec![19, 21]), &[]), None, "the registers of a pair are consecutive");
        assert_eq!(record(&frame(vec![8, 9]), &[]), None, "x8 is not callee-saved");
        assert_eq!((allocated(8), allocated(1 << 28)), (None, None));
        assert_eq!((header(1 << 18, 0, 1), header(1, 1 << 16, 1), header(1, 1, 1 << 8)), (None, None, None));
    }

    #[test]
    fn large_sizes_and_many_epilogues_have_longer_codes() {
        assert_eq!(allocated(0), Some(vec![]));
        assert_eq!(allocated(0x12_3450), Some(vec![vec![0xE0, 1, 0x23, 0], vec![0xC0, 0x45]]));
        assert_eq!(allocated(0x100_0010), Some(vec![vec![0xE3], vec![0xE3], vec![0xE0, 0x10, 0, 1]]));
        assert_eq!(header(100, 31, 31), Some(vec![100 | 31 << 22 | 31 << 27]));
        assert_eq!(header(100, 32, 3), Some(vec![100, 32 | 3 << 16]));
    }
}
