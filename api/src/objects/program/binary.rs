//! Program binaries (CL_PROGRAM_BINARIES): a container that holds the inputs of a program.
//!
//! A wgcl binary contains every translation unit of the program with its options and headers. The device that loads
//! it builds the program again: compilation is fast, and such a binary works on every device. Layout, little-endian:
//! ```text
//! magic "WGCLPROG" | u32 format | u32 kind | u64 checksum of the rest | payload
//! payload: u32 units, each: text options | text source | u32 headers, each: header | u32 modules (0 or 1): module
//! header: text name | text contents
//! text: u64 bytes | UTF-8
//! module: u64 words | words | u32 specialisation constants, each: u32 number | u64 value
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use wgcl_compiler::spirv::Specialisation;

use crate::types::error::{Error, Result};

const MAGIC: &[u8; 8] = b"WGCLPROG";
pub(crate) const FORMAT: u32 = 2;
const HEADER: usize = 24;

/// CL_PROGRAM_BINARY_TYPE; the values are the specification's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum BinaryKind {
    /// CL_PROGRAM_BINARY_TYPE_NONE
    #[default]
    None = 0,
    /// CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
    CompiledObject = 1,
    /// CL_PROGRAM_BINARY_TYPE_LIBRARY
    Library = 2,
    /// CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    Executable = 4,
}

/// A translation unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The compiler options of the unit.
    pub options: String,
    pub source: String,
    /// Headers that were passed to clCompileProgram, by name.
    pub headers: BTreeMap<String, String>,
    /// The SPIR-V module that replaces the source, if there is one.
    pub module: Option<SpirvModule>,
}

/// A SPIR-V module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvModule {
    pub words: Arc<[u32]>,
    /// The values that were set for specialisation constants of the module.
    pub specialisation: Specialisation,
}

impl SpirvModule {
    /// The input of the compiler.
    pub fn source(&self) -> wgcl_compiler::spirv::Source<'_> {
        wgcl_compiler::spirv::Source { words: &self.words, specialisation: &self.specialisation }
    }

    /// The bytes of the module, little-endian.
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl Unit {
    /// The size of the source or of the module, in bytes.
    pub fn size(&self) -> usize {
        self.module.as_ref().map_or(self.source.len(), |module| module.words.len() * 4)
    }
}

/// The contents of a compiled or linked program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// The units; there is at least one.
    pub units: Vec<Unit>,
}

/// Returns the FNV-1a hash of 64 bits. It detects damage, but not deliberate changes.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Writes a binary.
pub fn encode(object: &Object, kind: BinaryKind) -> Vec<u8> {
    let mut payload = Vec::new();
    put_count(&mut payload, object.units.len());
    for unit in &object.units {
        put_text(&mut payload, &unit.options);
        put_text(&mut payload, &unit.source);
        put_count(&mut payload, unit.headers.len());
        for (name, contents) in &unit.headers {
            put_text(&mut payload, name);
            put_text(&mut payload, contents);
        }
        put_count(&mut payload, unit.module.iter().len());
        if let Some(SpirvModule { words, specialisation }) = &unit.module {
            payload.extend((words.len() as u64).to_le_bytes());
            payload.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            put_count(&mut payload, specialisation.len());
            for (number, value) in specialisation {
                payload.extend(number.to_le_bytes());
                payload.extend(value.to_le_bytes());
            }
        }
    }
    let mut out = Vec::with_capacity(HEADER + payload.len());
    out.extend(MAGIC);
    out.extend(FORMAT.to_le_bytes());
    out.extend((kind as u32).to_le_bytes());
    out.extend(checksum(&payload).to_le_bytes());
    out.extend(payload);
    out
}

/// Reads values from the start of a binary.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let size = self.u64()?;
        String::from_utf8(self.bytes(size)?.to_vec()).ok()
    }

    fn unit(&mut self) -> Option<Unit> {
        let (options, source) = (self.text()?, self.text()?);
        let mut headers = BTreeMap::new();
        for _ in 0..self.u32()? {
            let name = self.text()?;
            headers.insert(name, self.text()?);
        }
        let module = match self.u32()? {
            0 => None,
            1 => Some(self.module()?),
            _ => return None,
        };
        Some(Unit { options, source, headers, module })
    }

    fn module(&mut self) -> Option<SpirvModule> {
        let bytes = self.u64()?.checked_mul(4)?;
        let (words, _) = self.bytes(bytes)?.as_chunks();
        let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mut specialisation = Specialisation::new();
        for _ in 0..self.u32()? {
            let number = self.u32()?;
            specialisation.insert(number, self.u64()?);
        }
        Some(SpirvModule { words, specialisation })
    }
}

/// Reads a binary.
///
/// # Errors
/// CL_INVALID_BINARY if it is not a binary of wgcl, has another format, or is damaged.
pub fn decode(bytes: &[u8]) -> Result<(Object, BinaryKind)> {
    let refuse = |why: &'static str| Error::InvalidBinary(why.into());
    let mut reader = Reader(bytes);
    if reader.bytes(8) != Some(MAGIC.as_slice()) {
        return Err(refuse("the data is not a program binary of wgcl"));
    }
    let truncated = || refuse("the binary is truncated");
    if reader.u32().ok_or_else(truncated)? != FORMAT {
        return Err(refuse("the binary has the format of another version of wgcl"));
    }
    let kind = match reader.u32().ok_or_else(truncated)? {
        1 => BinaryKind::CompiledObject,
        2 => BinaryKind::Library,
        4 => BinaryKind::Executable,
        _ => return Err(refuse("the kind of the binary is unknown")),
    };
    if reader.u64().ok_or_else(truncated)? != checksum(reader.0) {
        return Err(refuse("the binary is damaged"));
    }
    Ok((decode_units(reader.0)?, kind))
}

/// Reads the part of a binary after its header.
///
/// # Errors
/// CL_INVALID_BINARY if it is damaged.
pub fn decode_units(bytes: &[u8]) -> Result<Object> {
    let refuse = |why: &'static str| Error::InvalidBinary(why.into());
    let truncated = || refuse("the binary is truncated");
    let (mut reader, mut object) = (Reader(bytes), Object::default());
    for _ in 0..reader.u32().ok_or_else(truncated)? {
        object.units.push(reader.unit().ok_or_else(truncated)?);
    }
    if object.units.is_empty() || !reader.0.is_empty() {
        return Err(refuse("the binary is damaged"));
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::{BinaryKind, Object, SpirvModule, Unit, decode, encode};

    fn example() -> Object {
        let headers = [("a.h".to_owned(), "#define A 1".to_owned())].into();
        let unit = Unit { options: "-DX=1".into(), source: "kernel void k() {}".into(), headers, module: None };
        let module = SpirvModule { words: [1, 2, 3].into(), specialisation: [(7, 1 << 40)].into() };
        Object { units: vec![unit, Unit::default(), Unit { module: Some(module), ..Unit::default() }] }
    }

    #[test]
    fn round_trip() {
        let bytes = encode(&example(), BinaryKind::Library);
        assert_eq!(decode(&bytes), Ok((example(), BinaryKind::Library)));
    }

    #[test]
    fn damaged_binaries_are_rejected() {
        let bytes = encode(&example(), BinaryKind::Executable);
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "cut off at {length}");
        }
        for index in (0..12).chain(16..bytes.len()) {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert!(decode(&damaged).is_err(), "damaged at {index}");
        }
    }
}
