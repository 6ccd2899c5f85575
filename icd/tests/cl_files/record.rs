//! Writes the final contents of the buffers of a `.cl` file to a record file. The results of two devices can then be
//! compared bit by bit.

use std::collections::HashMap;
use std::path::Path;

/// The contents of a buffer after a run.
#[derive(Debug, PartialEq)]
pub struct Record {
    /// The names of the variant, the run and the buffer.
    pub title: String,
    /// Size of an element in bytes.
    pub size: usize,
    pub is_float: bool,
    /// For each element, whether only one value is correct.
    pub exact: Vec<bool>,
    pub bytes: Vec<u8>,
}

#[derive(Default)]
pub struct Recorder(Vec<Record>);

impl Recorder {
    pub fn add(&mut self, record: Record) {
        self.0.push(record);
    }

    /// Writes all records into a file.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut out = Vec::new();
        let put = |out: &mut Vec<u8>, part: &[u8]| {
            out.extend((part.len() as u64).to_le_bytes());
            out.extend(part);
        };
        for record in &self.0 {
            put(&mut out, record.title.as_bytes());
            put(&mut out, &[record.size as u8, u8::from(record.is_float)]);
            put(&mut out, &record.exact.iter().map(|exact| u8::from(*exact)).collect::<Vec<_>>());
            put(&mut out, &record.bytes);
        }
        std::fs::write(path, out).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

/// Reads the records of a file. Ignores an incomplete record at the end.
fn read(path: &Path) -> Vec<Record> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let mut rest = bytes.as_slice();
    let mut part = || -> Option<Vec<u8>> {
        let (length, after) = rest.split_first_chunk::<8>()?;
        let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        rest = after;
        Some(part.to_vec())
    };
    let mut records = Vec::new();
    while let (Some(title), Some(kind), Some(exact), Some(bytes)) = (part(), part(), part(), part()) {
        let [size, is_float] = kind.as_slice() else { break };
        records.push(Record {
            title: String::from_utf8_lossy(&title).into_owned(),
            size: usize::from(*size).max(1),
            is_float: *is_float != 0,
            exact: exact.iter().map(|exact| *exact != 0).collect(),
            bytes,
        });
    }
    records
}

/// Returns the bits of an element.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn is_nan(bits: u64, size: usize) -> bool {
    let (magnitude, infinity) = match size {
        2 => (bits & 0x7fff, 0x7c00),
        4 => (bits & 0x7fff_ffff, 0x7f80_0000),
        _ => (bits & (u64::MAX >> 1), 0x7ff0_0000_0000_0000),
    };
    magnitude > infinity
}

/// Compares the records of a device and the interpreter, and returns the first difference of each buffer. Skips runs
/// that only one file contains, and elements with more than one correct value. All NaNs are equal.
pub fn differences(device: &Path, other: &Path) -> Vec<String> {
    let others: HashMap<String, Record> = read(other).into_iter().map(|record| (record.title.clone(), record)).collect();
    let mut found = Vec::new();
    for record in read(device) {
        let Some(other) = others.get(&record.title) else { continue };
        let size = record.size;
        let pairs = record.bytes.chunks_exact(size).zip(other.bytes.chunks_exact(size)).map(|(a, b)| (bits(a), bits(b)));
        let exact = record.exact.iter().zip(&other.exact).map(|(a, b)| *a && *b);
        let differs = |&(_, ((a, b), exact)): &(usize, ((u64, u64), bool))| {
            exact && a != b && !(record.is_float && is_nan(a, size) && is_nan(b, size))
        };
        if let Some((index, ((a, b), _))) = pairs.zip(exact).enumerate().find(differs) {
            found.push(format!("{}[{index}] is {a:#x} on the device, {b:#x} on the interpreter", record.title));
        }
    }
    found
}
