//! Built programs in the cache.
//!
//! A program depends on its source, options, headers and device, all of which are in the key, and on files that its
//! `#include` directives found or looked for in vain. Those are known only afterwards: the entry lists them with a
//! hash of their contents, and is good as long as each is as it was.

use std::path::PathBuf;

use wgcl_compiler::program::Program;
use wgcl_compiler::stored;
use wgcl_compiler::target::Target;

use super::{Cache, HASH, Key};
use crate::objects::program::binary::{self, BinaryKind, Object, Unit};

/// A file that was looked for: its path and the hash of its contents, if it was there.
type Sought = (String, Option<[u8; HASH]>);

fn key(unit: &Unit, target: &Target) -> Key {
    let object = binary::encode(&Object { units: vec![unit.clone()] }, BinaryKind::Executable);
    Key::of(&[b"program", stored::VERSION.as_bytes(), &object, &stored::identify_target(target)])
}

fn hash(contents: &[u8]) -> [u8; HASH] {
    *Key::of(&[contents]).bytes()
}

/// The program that a unit is for a target, and its build log, if they were kept; and a key that stands for the
/// program, which `found` is told before the program is read.
pub(crate) fn find_program(cache: &Cache, unit: &Unit, target: &Target, found: impl FnOnce(Key)) -> Option<(Program, String, Key)> {
    let key = key(unit, target);
    let (contents, name) = cache.find_named(&key)?;
    let mut rest = contents.as_slice();
    let (sought, log) = decode_head(&mut rest)?;
    let unchanged = |(path, before): &Sought| {
        let path = PathBuf::from(path);
        let now = path.is_file().then(|| std::fs::read(&path).ok()).flatten();
        now.as_deref().map(hash) == *before
    };
    if !sought.iter().all(unchanged) {
        tracing::debug!("a header has changed");
        return None;
    }
    found(name);
    Some((stored::decode_program(rest)?, log, name))
}

/// Keeps what became of a unit. The key that will stand for the program, if it was kept.
pub(crate) fn keep_program(
    cache: &Cache,
    unit: &Unit,
    target: &Target,
    program: &Program,
    log: &str,
    files: &[(PathBuf, Option<Vec<u8>>)],
) -> Option<Key> {
    // Paths that are no text cannot be written down.
    let sought = files
        .iter()
        .map(|(path, contents)| Some((path.to_str()?.to_owned(), contents.as_deref().map(hash))))
        .collect::<Option<Vec<Sought>>>()?;
    let contents = encode(&sought, log, &stored::encode_program(program)?);
    cache.keep(&key(unit, target), &contents);
    Some(Key::of_contents(&contents))
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// u64 files, each: text path, bytes hash (none if it was not there) | text log | the program; a text and bytes are
/// u64 length and contents.
fn encode(sought: &[Sought], log: &str, program: &[u8]) -> Vec<u8> {
    let mut out = (sought.len() as u64).to_le_bytes().to_vec();
    for (path, hash) in sought {
        put(&mut out, path.as_bytes());
        put(&mut out, hash.as_ref().map_or(&[], |hash| hash));
    }
    put(&mut out, log.as_bytes());
    out.extend(program);
    out
}

fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let size = take_number(bytes)?;
    let (head, rest) = bytes.split_at_checked(usize::try_from(size).ok()?)?;
    *bytes = rest;
    Some(head)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*head))
}

/// What stands before the program.
fn decode_head(bytes: &mut &[u8]) -> Option<(Vec<Sought>, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let mut sought = Vec::new();
    for _ in 0..take_number(bytes)? {
        let path = text(take(bytes)?)?;
        let hash = take(bytes)?;
        sought.push((path, if hash.is_empty() { None } else { Some(hash.try_into().ok()?) }));
    }
    let log = text(take(bytes)?)?;
    Some((sought, log))
}
