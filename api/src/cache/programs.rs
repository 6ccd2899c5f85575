//! Built programs in the cache.
//!
//! A program depends on its source, options, headers and device, which are all part of the key. A program also depends
//! on the files for which its `#include` directives searched. These files are known only after the build, so the entry
//! lists them with hashes of their contents. The entry is valid as long as all these files are unchanged.

use std::path::PathBuf;

use wgcl_compiler::program::Program;
use wgcl_compiler::stored;
use wgcl_compiler::target::Target;

use super::{Cache, HASH, Key};
use crate::objects::program::binary::{self, BinaryKind, Object, Unit};

/// A file of an `#include` search: its path, and the hash of its contents or `None` if it did not exist.
type IncludeProbe = (String, Option<[u8; HASH]>);

fn key(unit: &Unit, target: &Target) -> Key {
    let object = binary::encode(&Object { units: vec![unit.clone()] }, BinaryKind::Executable);
    Key::of(&[b"program", stored::VERSION.as_bytes(), &object, &stored::identify_target(target)])
}

fn hash(contents: &[u8]) -> [u8; HASH] {
    *Key::of(&[contents]).bytes()
}

/// Finds the cached program and build log of a unit for a target, with a key that identifies the program. `on_found`
/// receives that key before the program is decoded. Returns `None` if no valid entry exists.
pub(crate) fn find_program(cache: &Cache, unit: &Unit, target: &Target, on_found: impl FnOnce(Key)) -> Option<(Program, String, Key)> {
    let key = key(unit, target);
    let (contents, name) = cache.find_named(&key)?;
    let mut rest = contents.as_slice();
    let (probes, log) = decode_head(&mut rest)?;
    let changed = |(path, before): &&IncludeProbe| {
        let path = PathBuf::from(path);
        let now = path.is_file().then(|| std::fs::read(&path).ok()).flatten();
        now.as_deref().map(hash) != *before
    };
    if let Some((path, _)) = probes.iter().find(changed) {
        tracing::debug!("the cached program is stale: `{path}` was changed, created or deleted");
        return None;
    }
    on_found(name);
    Some((stored::decode_program(rest)?, log, name))
}

/// Stores the result of compiling a unit. Returns the key that identifies the program, or `None` if the program cannot
/// be encoded.
pub(crate) fn store_program(
    cache: &Cache,
    unit: &Unit,
    target: &Target,
    program: &Program,
    log: &str,
    files: &[(PathBuf, Option<Vec<u8>>)],
) -> Option<Key> {
    // A path that is not UTF-8 cannot be encoded: the program is then not stored.
    let probes = files
        .iter()
        .map(|(path, contents)| Some((path.to_str()?.to_owned(), contents.as_deref().map(hash))))
        .collect::<Option<Vec<IncludeProbe>>>()?;
    let contents = encode(&probes, log, &stored::encode_program(program)?);
    cache.store(&key(unit, target), &contents);
    Some(Key::of_contents(&contents))
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// Encodes an entry. It consists of the number of files (u64), a path (text) and a hash (bytes) for each file, the log
/// (text), and the program. The hash is empty if the file did not exist. A text and bytes are a u64 length and the
/// contents.
fn encode(probes: &[IncludeProbe], log: &str, program: &[u8]) -> Vec<u8> {
    let mut out = (probes.len() as u64).to_le_bytes().to_vec();
    for (path, hash) in probes {
        write_bytes(&mut out, path.as_bytes());
        write_bytes(&mut out, hash.as_ref().map_or(&[], |hash| hash));
    }
    write_bytes(&mut out, log.as_bytes());
    out.extend(program);
    out
}

fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let size = read_u64(bytes)?;
    let (head, rest) = bytes.split_at_checked(usize::try_from(size).ok()?)?;
    *bytes = rest;
    Some(head)
}

fn read_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*head))
}

/// Decodes the fields that precede the program.
fn decode_head(bytes: &mut &[u8]) -> Option<(Vec<IncludeProbe>, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let mut probes = Vec::new();
    for _ in 0..read_u64(bytes)? {
        let path = text(read_bytes(bytes)?)?;
        let hash = read_bytes(bytes)?;
        probes.push((path, if hash.is_empty() { None } else { Some(hash.try_into().ok()?) }));
    }
    let log = text(read_bytes(bytes)?)?;
    Some((probes, log))
}
