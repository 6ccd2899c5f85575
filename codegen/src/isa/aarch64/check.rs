//! Decodes emitted instructions and compares them with the intended ones. Runs in builds with debug assertions.
//! Branches within a function and direct calls are not checked.

use std::fmt::Write as _;

use fARM64::format::{FmtFormatter, format_to_string};
use fARM64::{Decoder, DecoderOptions};

use super::encode::Registers;
use super::inst::{A64Inst, Cc, Opcode};
use super::regs::{SP, ZERO};
use super::table as t;
use crate::mach::code::CodegenError;

/// Disassembles the instruction word at an address.
pub(super) fn assembly(word: u32, address: u64) -> String {
    let bytes = word.to_le_bytes();
    let instruction = Decoder::new(&bytes, address, DecoderOptions::default()).decode();
    format_to_string(&FmtFormatter::new(), &instruction)
}

/// Fails unless `word` decodes to the intended instruction with its registers and immediates.
pub(super) fn check(word: u32, inst: &A64Inst, regs: &Registers) -> Result<(), CodegenError> {
    let (intended, found) = (intended(&A64Inst { opcode: alias(inst.opcode, regs), ..*inst }, regs), assembly(word, 0));
    // The decoder prints `dupm` as `mov` unless another `mov` has the same effect.
    let found = found.strip_prefix("dupm").map_or(found.clone(), |operands| format!("mov{operands}"));
    if normalized(&intended, inst.wide) == normalized(&found, inst.wide) {
        return Ok(());
    }
    Err(CodegenError::Decoded(format!("`{intended}` was encoded as {word:08x}, which decodes to `{found}`")))
}

/// Returns the opcode of the alias that the decoder prints for an instruction with these registers.
fn alias(opcode: Opcode, [d, n, m, a]: &Registers) -> Opcode {
    match opcode {
        t::ORR_V if n == m => t::MOV_VECTOR,
        t::ORR_Z if n == m => t::MOV_Z,
        t::AND_P if n == m => t::MOV_P_ZEROING,
        t::EOR_P if a == m => t::NOT_P,
        t::EORS_P if a == m => t::NOTS_P,
        t::SEL_P if d == m => t::MOV_P_MERGING,
        t::SEL_Z if d == m => t::MOV_Z_MERGING,
        opcode => opcode,
    }
}

/// Returns the assembly name of a register. `kind` is a capital letter of the opcode texts (see
/// [`table`](super::table)).
fn register(kind: char, number: u8, wide: bool) -> String {
    let general = if wide { 'x' } else { 'w' };
    let (prefix, stack) = match kind {
        'R' => (general, false),
        'P' => (general, true),
        'A' => ('x', true),
        'F' => (if wide { 'd' } else { 's' }, false),
        'G' => ('p', false),
        other => (other.to_ascii_lowercase(), false),
    };
    match (prefix, number) {
        ('x', SP) if stack => "sp".into(),
        ('w', SP) if stack => "wsp".into(),
        ('x' | 'w', ZERO) => format!("{prefix}zr"),
        _ => format!("{prefix}{number}"),
    }
}

/// Returns the assembly of an instruction, from the text of its opcode.
pub(super) fn intended(inst: &A64Inst, regs: &Registers) -> String {
    let mut out = format!("{} ", inst.opcode.name);
    let mut chars = inst.opcode.text.chars();
    // Inside an optional part (`<...>`): the text before the part, and whether the part has a nonzero immediate.
    let mut part: Option<(String, bool)> = None;
    while let Some(next) = chars.next() {
        let mut number = |out: &mut String, imm: i64, prefix: &str| {
            if let Some((_, kept)) = &mut part {
                *kept |= imm != 0;
            }
            // Writing to a `String` never fails.
            let _ = match prefix {
                "" => write!(out, "{imm}"),
                prefix if imm < 0 => write!(out, "{prefix}-{:#x}", imm.unsigned_abs()),
                prefix => write!(out, "{prefix}{imm:#x}"),
            };
        };
        match next {
            '#' if chars.as_str().starts_with('0') => out.push('#'),
            '#' => number(&mut out, inst.imms[0], "#"),
            '$' => number(&mut out, inst.imms[1], "#"),
            '@' => number(&mut out, inst.imms[0], ""),
            '&' => number(&mut out, inst.imms[1], ""),
            '%' => out.push_str(&format!("#{:?}", f64::from_bits(inst.imms[0].cast_unsigned()))),
            '?' => out.push_str(condition(inst.imms[0])),
            '<' => part = Some((out.clone(), false)),
            '>' => {
                if let Some((before, false)) = part.take() {
                    out = before;
                }
            }
            '.' if chars.as_str().starts_with(['T', 'E']) => {
                let arrangement = chars.next() == Some('T');
                out.push_str(match (arrangement, inst.wide) {
                    (true, false) => ".4s",
                    (true, true) => ".2d",
                    (false, false) => ".s",
                    (false, true) => ".d",
                });
            }
            kind @ 'A'..='Z' => match chars.as_str().chars().next().and_then(field) {
                Some(field) => {
                    chars.next();
                    out.push_str(&register(kind, regs[field].unwrap_or(0), inst.wide));
                }
                None => out.push(kind),
            },
            other => out.push(other),
        }
    }
    out
}

/// Returns the index of the register field that a letter denotes, or `None` if the letter is not a field.
const fn field(letter: char) -> Option<usize> {
    match letter {
        'd' => Some(0),
        'n' => Some(1),
        'm' => Some(2),
        'a' => Some(3),
        _ => None,
    }
}

/// Returns the mnemonic suffix of the condition with this encoding.
fn condition(number: i64) -> &'static str {
    use Cc::{Above, AboveEqual, Below, BelowEqual, Equal, Greater, GreaterEqual, Less, LessEqual, Minus, NotEqual, Plus};
    let all = [Equal, NotEqual, AboveEqual, Below, Minus, Plus, Above, BelowEqual, GreaterEqual, Less, Greater, LessEqual];
    all.into_iter().find(|cc| *cc as i64 == number).map_or("?", Cc::name)
}

/// Returns the text with single spaces, and with integer immediates as unsigned numbers of 32 bits, or of 64 bits
/// if `wide`.
fn normalized(text: &str, wide: bool) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| {
            let number = word.strip_prefix("#").and_then(|rest| {
                let (sign, digits) = rest.strip_prefix('-').map_or((1, rest), |rest| (-1, rest));
                let (digits, end) = digits.strip_suffix(',').map_or((digits, ""), |digits| (digits, ","));
                // The decoder prints some negative immediates of SVE as decimal numbers.
                let number = digits.strip_prefix("0x").map_or_else(|| digits.parse(), |digits| i128::from_str_radix(digits, 16)).ok()?;
                Some((sign * number, end))
            });
            match number {
                Some((number, end)) => format!("#{:#x}{end}", number & i128::from(if wide { u64::MAX } else { u32::MAX.into() })),
                None => word.to_owned(),
            }
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::encode::encode;
    use super::super::inst::{A64Inst, Opcode, Slot};
    use super::{check, t};

    /// Whether the text of an opcode has immediates outside its optional parts.
    fn has_immediates(opcode: &Opcode) -> bool {
        let mut optional = false;
        opcode.text.chars().any(|next| {
            optional = next == '<' || optional && next != '>';
            !optional && "#$@&%?".contains(next)
        })
    }

    #[test]
    fn the_table_has_the_text_of_the_decoder() {
        let regs = [Some(1), Some(2), Some(3), Some(4)];
        let mut wrong = Vec::new();
        for &opcode in t::all() {
            // The decoder prints the text of these opcodes only with the stack pointer, with two equal registers, or
            // with the bits of a lane.
            let special = [t::MOV_STACK, t::ADD_EXTENDED, t::SUB_EXTENDED, t::MOV_VECTOR, t::DUP_GPR, t::DUP_Z_FIRST];
            let aliases = [t::NOT_P, t::NOTS_P, t::MOV_P, t::MOV_P_ZEROING, t::MOV_P_MERGING, t::MOV_Z, t::MOV_Z_MERGING];
            if special.contains(&opcode) || aliases.contains(&opcode) || has_immediates(&opcode) {
                continue;
            }
            let has = |field: u8| opcode.text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_uppercase() && pair[1] == field);
            let fields = [b'd', b'n', b'm', b'a'].map(has);
            let regs = std::array::from_fn(|at| regs[at].filter(|_| fields[at]));
            for wide in [false, true] {
                let inst = A64Inst { opcode, wide: wide && opcode.wide != 0, regs: [Slot::None; 4], bits: 0, imms: [0; 2], pool: None };
                wrong.extend(check(encode(&inst, &regs), &inst, &regs).err().map(|error| error.to_string()));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
