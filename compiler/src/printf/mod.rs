//! `printf` (OpenCL C 6.15.14): the contents of the printf buffer, and their conversion to text.
//!
//! # The buffer
//! The buffer is an array of 32-bit words. Word 0 is the number of words that records requested. It is zero before a
//! launch. A record consists of the number of its [`Site`], counted from 1, and the arguments. The elements of an
//! argument are contiguous and little-endian. Each argument starts at a new word. A record that does not fit is
//! dropped, and so are all later records. The site number 0 then marks the end of the records.
//!
//! The formatter implements C99 exactly and does not depend on the host. [`number`] describes the conversion of floats.

pub(crate) mod check;
pub(crate) mod format;
mod number;
#[cfg(test)]
mod tests;

use crate::ir::{self, Global, Op, Scalar, Space, Type};
use crate::layout::ProgramLayout;
use crate::pointer::{program_identity, split_pointer};
use format::{Length, Piece, Spec};

/// Size in bytes of the printf buffer: CL_DEVICE_PRINTF_BUFFER_SIZE.
pub const BUFFER_SIZE: u32 = 16 << 20;
/// Number of words for records.
pub const CAPACITY: u32 = BUFFER_SIZE / 4 - 1;

/// The output of a call whose format is not in the program's constant memory, which is undefined behaviour.
const UNKNOWN_FORMAT: &[u8] = b"printf: the format is not a string literal\n";

/// Returns the number of bytes in use of a printf buffer that begins with `bytes`.
pub fn used_bytes(bytes: &[u8]) -> u64 {
    let count = bytes.first_chunk().map_or(0, |&count| u32::from_le_bytes(count));
    4 * (1 + u64::from(count.min(CAPACITY)))
}

/// A format and the types of its arguments. Several calls of `printf` can share a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The format, or `None` if the first argument is a pointer to it.
    format: Option<Global>,
    /// The types of the arguments. Pointers have become integers.
    args: Vec<Type>,
    /// The parsed format. Empty if the format is an argument.
    pieces: Vec<Piece>,
}

impl Site {
    /// Returns the size of a record in words, with the site number.
    pub fn words(&self) -> u32 {
        1 + self.args.iter().map(|&ty| words(ty)).sum::<u32>()
    }
}

/// Returns the type of an argument in a record. A pointer becomes an integer.
pub fn resolved(ty: Type, pointer_size: u32) -> Type {
    match ty {
        Type::Ptr(_) if pointer_size == 8 => Type::I64,
        Type::Ptr(_) => Type::I32,
        other => other,
    }
}

/// Returns the size of an argument in a record, in words.
pub fn words(ty: Type) -> u32 {
    (ty.scalar().map_or(4, Scalar::size) * u32::from(ty.lanes())).div_ceil(4)
}

/// The information that the host needs to convert a kernel's records to text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    sites: Vec<Site>,
    /// The offsets in bytes and the contents of the constants. Empty unless a format contains `%s` or is an argument.
    strings: Vec<(u32, Vec<u8>)>,
    pointer_size: u32,
    /// The address of the program's constants, if pointers are addresses and not the tags of [`crate::pointer`].
    constants: Option<u64>,
}

impl Table {
    /// Collects the sites of a module. The types of pointer arguments are those of the integers that replace them.
    pub fn new(module: &ir::Module, pointer_size: u32) -> Self {
        let mut table = Self { sites: Vec::new(), strings: Vec::new(), pointer_size, constants: None };
        for function in &module.functions {
            function.body.walk(&mut |inst| {
                let Op::Printf { format, args } = &inst.op else { return };
                let types: Vec<Type> = args.iter().map(|&arg| resolved(function.ty(arg), pointer_size)).collect();
                if table.find(*format, &types).is_none() {
                    let global = format.and_then(|format| module.globals.get(format.index()));
                    let text = global.and_then(|global| global.init.as_deref()).unwrap_or_default();
                    let pieces = format::parse(until_zero(text));
                    table.sites.push(Site { format: *format, args: types, pieces });
                }
            });
        }
        let strings = |site: &Site| {
            site.format.is_none() || site.pieces.iter().any(|piece| matches!(piece, Piece::Spec(Spec { conversion: b's', .. })))
        };
        if table.sites.iter().any(strings) {
            let layout = ProgramLayout::of(&module.globals);
            for (global, &start) in module.globals.iter().zip(&layout.offsets).filter(|(global, _)| global.space == Space::Constant) {
                table.strings.push((start, global.init.clone().unwrap_or_default()));
            }
        }
        table
    }

    /// Sets the address of the program's constants, for kernels whose pointers are addresses.
    #[must_use]
    pub fn with_constants_at(mut self, address: u64) -> Self {
        self.constants = Some(address);
        self
    }

    /// Whether the module does not call `printf`.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Looks up the site with this format and these argument types. Returns its number, from 1, and the site.
    pub fn find(&self, format: Option<Global>, args: &[Type]) -> Option<(u32, &Site)> {
        (1..).zip(&self.sites).find(|(_, site)| site.format == format && site.args == args)
    }

    /// Converts the contents of a printf buffer to text.
    pub fn text(&self, buffer: &[u8]) -> Vec<u8> {
        let mut words = buffer.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let count = words.next().unwrap_or(0).min(CAPACITY) as usize;
        let words: Vec<u32> = words.take(count).collect();
        let mut out = Vec::new();
        let mut rest = words.as_slice();
        while let Some((&number, arguments)) = rest.split_first() {
            let site = number.checked_sub(1).and_then(|index| self.sites.get(index as usize));
            let Some(site) = site else { break };
            let length = site.words() as usize - 1;
            let Some(values) = arguments.get(..length) else { break };
            self.record(&mut out, site, values);
            rest = &arguments[length..];
        }
        out
    }

    /// Appends the text of one record.
    fn record(&self, out: &mut Vec<u8>, site: &Site, words: &[u32]) {
        let mut rest = words;
        let mut args = site.args.iter().map(|&ty| {
            let (values, others) = rest.split_at((self::words(ty) as usize).min(rest.len()));
            rest = others;
            Argument::new(ty, values)
        });
        let parsed;
        let pieces = if site.format.is_some() {
            &site.pieces
        } else {
            let Some(text) = args.next().and_then(|pointer| self.string(pointer.address())) else {
                out.extend_from_slice(UNKNOWN_FORMAT);
                return;
            };
            parsed = format::parse(text);
            &parsed
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                // This is undefined behaviour. Print nothing.
                Piece::Bad(..) => {}
                Piece::Spec(spec) => {
                    let Some(argument) = args.next() else { continue };
                    self.convert(out, spec, &argument.converted_for(spec));
                }
            }
        }
    }

    fn convert(&self, out: &mut Vec<u8>, spec: &Spec, argument: &Argument) {
        if spec.vector.is_some() {
            for (index, &lane) in argument.lanes.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                scalar(out, spec, argument.scalar, lane, self.pointer_size);
            }
            return;
        }
        let Some(&lane) = argument.lanes.first() else { return };
        match spec.conversion {
            b's' => {
                let mut text = self.string(lane).unwrap_or_default();
                if let Some(precision) = spec.precision {
                    text = text.get(..precision as usize).unwrap_or(text);
                }
                number::field(out, spec, text);
            }
            _ => scalar(out, spec, argument.scalar, lane, self.pointer_size),
        }
    }

    /// Returns the string at a pointer to a constant of the program, or `(null)` for a null pointer. Returns `None` for
    /// other pointers.
    fn string(&self, pointer: u64) -> Option<&[u8]> {
        let offset = match self.constants {
            Some(_) if pointer == 0 => return Some(b"(null)"),
            Some(start) => pointer.wrapping_sub(start),
            None => {
                let (tag, offset) = split_pointer(pointer, self.pointer_size);
                if tag == 0 {
                    return Some(b"(null)");
                }
                if tag != u64::from(program_identity(Space::Constant, self.pointer_size)) {
                    return None;
                }
                offset
            }
        };
        let found = self.strings.iter().rev().find(|(start, _)| u64::from(*start) <= offset);
        let from = found.and_then(|(start, text)| text.get(usize::try_from(offset - u64::from(*start)).ok()?..));
        from.map(until_zero)
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

/// An argument of a record: the bits of each element, zero-extended.
struct Argument {
    scalar: Scalar,
    lanes: Vec<u64>,
}

impl Argument {
    /// Returns the bits of a pointer, which is two words on a device without 64-bit integers.
    fn address(&self) -> u64 {
        match *self.lanes {
            [low, high, ..] if self.scalar == Scalar::I32 => low | high << 32,
            [first, ..] => first,
            [] => 0,
        }
    }

    /// Converts the argument to the type that the conversion specification expects. On a device without 64-bit
    /// integers, a `long` or a pointer is two words. On a device without doubles, a `double` is two words, and a vector
    /// of doubles is a vector of integers.
    fn converted_for(self, spec: &Spec) -> Self {
        let lanes = usize::from(spec.vector.unwrap_or(1));
        let wide = match spec.conversion {
            b's' | b'p' => Scalar::I64,
            _ if spec.is_float() => Scalar::F64,
            _ if spec.is_integer() && matches!(spec.length, Length::Long | Length::Size) => Scalar::I64,
            _ => return self,
        };
        if wide == Scalar::F64 && self.scalar == Scalar::I64 && spec.vector.is_some() {
            return Self { scalar: wide, ..self };
        }
        if self.scalar != Scalar::I32 || self.lanes.len() < 2 * lanes {
            return self;
        }
        let lanes = self.lanes.chunks_exact(2).take(lanes).map(|pair| pair[0] | pair[1] << 32).collect();
        Self { scalar: wide, lanes }
    }

    fn new(ty: Type, words: &[u32]) -> Self {
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let lanes = bytes
            .chunks_exact(scalar.size().max(1) as usize)
            .take(usize::from(ty.lanes()))
            .map(|lane| lane.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
            .collect();
        Self { scalar, lanes }
    }
}

/// Writes one element. An argument of the wrong type, which is undefined behaviour, is converted by value.
fn scalar(out: &mut Vec<u8>, spec: &Spec, scalar: Scalar, bits: u64, pointer_size: u32) {
    let float = match scalar {
        Scalar::F16 => Some(half::f16::from_bits(bits as u16).to_f64()),
        Scalar::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        Scalar::F64 => Some(f64::from_bits(bits)),
        _ => None,
    };
    let have = scalar.bits();
    let signed = (bits << (64 - have.clamp(1, 64))).cast_signed() >> (64 - have.clamp(1, 64));
    if spec.is_float() {
        number::float(out, spec, float.unwrap_or(signed as f64));
        return;
    }
    let bits = match float {
        Some(value) => (value as i64).cast_unsigned(),
        None => bits,
    };
    match spec.conversion {
        b'c' => number::field(out, spec, &[bits as u8]),
        b'p' => number::field(out, spec, format!("{bits:#x}").as_bytes()),
        _ => {
            let width = match spec.length {
                Length::Char => 8,
                Length::Short => 16,
                Length::None | Length::Word => 32,
                Length::Long => 64,
                Length::Size => pointer_size * 8,
            };
            let wide = if matches!(spec.conversion, b'd' | b'i') && float.is_none() { signed.cast_unsigned() } else { bits };
            let wide = if width == 64 { wide } else { wide & ((1 << width) - 1) };
            number::integer(out, spec, wide, width);
        }
    }
}
