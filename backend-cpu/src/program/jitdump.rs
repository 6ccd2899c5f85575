//! The code of kernels in the jitdump format of Linux `perf` (`WGCL_JITDUMP=1`), with source lines.
//!
//! ```text
//! header | for each kernel: debug information (address, line and file of each piece of code) | the code
//! ```
//! `perf inject --jit` creates an ELF file for each kernel, so that `perf annotate` and gdb show its instructions and
//! source lines. The process maps the file as executable memory, because `perf record` records such maps and thereby
//! the name of the file. The source of a program that has no file is written to a file in the same directory.

use std::cell::LazyCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::options::Options;
use wgcl_compiler::diag::{SourceMap, Span};

/// The first word of the file: `JiTD` in ASCII.
const MAGIC: u32 = 0x4A69_5444;
const VERSION: u32 = 1;
const HEADER_SIZE: u32 = 40;
/// The kinds of records.
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
/// The ELF number of this architecture.
const MACHINE: u32 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
/// The name of a source that the application passed as a string.
const UNNAMED: &str = "<source>";

/// The source line of the code from an offset on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeLine {
    pub(crate) offset: u32,
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
}

/// The file of this process.
struct Dump {
    file: File,
    pid: u32,
    /// The number of the next kernel.
    next: u64,
}

static DUMP: Mutex<Option<Dump>> = Mutex::new(None);

/// The files with sources that the application passed as strings, by the hash of the text.
static SOURCES: Mutex<Option<FxHashMap<u64, Arc<str>>>> = Mutex::new(None);

/// Whether `WGCL_JITDUMP` is set.
pub(crate) fn enabled() -> bool {
    Options::get().writes_jitdump()
}

/// The directory of the file: `JITDUMPDIR`, which LLVM and others use, or `/tmp`.
fn directory() -> PathBuf {
    std::env::var_os("JITDUMPDIR").filter(|directory| !directory.is_empty()).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// Returns the lines of code from its source positions: an offset in the code, and a position in the source map.
pub(crate) fn lines_of(sources: Option<&SourceMap>, positions: impl Iterator<Item = (u32, u32)>) -> Vec<CodeLine> {
    let Some(sources) = sources else { return Vec::new() };
    // A `#line` directive can give the source a name, so the file is written only if a line needs it.
    let written = LazyCell::new(|| sources.files().first().and_then(|file| source_file(file.text().as_str())));
    let mut lines: Vec<CodeLine> = Vec::new();
    for (offset, position) in positions {
        let Some(location) = sources.locate(Span { lo: position, hi: position }) else { continue };
        let file = if &*location.file == UNNAMED { (*written).clone().unwrap_or(location.file) } else { location.file };
        if lines.last().is_none_or(|last| (&last.file, last.line) != (&file, location.line)) {
            lines.push(CodeLine { offset, file, line: location.line });
        }
    }
    lines
}

/// Writes a source to a file. Returns the path of the file. A failure is only logged.
fn source_file(text: &str) -> Option<Arc<str>> {
    use std::hash::{BuildHasher, BuildHasherDefault};

    let hash = BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(text);
    let mut sources = SOURCES.lock();
    let sources = sources.get_or_insert_default();
    if let Some(path) = sources.get(&hash) {
        return Some(Arc::clone(path));
    }
    let path = directory().join(format!("jit-{}-{}.cl", std::process::id(), sources.len() + 1));
    let written = create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        tracing::warn!("WGCL_JITDUMP: {}: {error}", path.display());
        return None;
    }
    let path: Arc<str> = path.display().to_string().into();
    sources.insert(hash, Arc::clone(&path));
    Some(path)
}

/// Creates a file. Every user may write to /tmp, so the file must not be a symbolic link of another user.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Adds a kernel to the file of this process. A failure is only logged.
pub(crate) fn add_kernel(address: usize, code: &[u8], name: &str, lines: &[CodeLine]) {
    let mut dump = DUMP.lock();
    let pid = std::process::id();
    // A forked process has its own file.
    if dump.as_ref().is_none_or(|dump| dump.pid != pid) {
        let path = directory().join(format!("jit-{pid}.dump"));
        match open(&path, pid) {
            Ok(opened) => *dump = Some(opened),
            Err(error) => return tracing::warn!("WGCL_JITDUMP: {}: {error}", path.display()),
        }
    }
    let Some(dump) = dump.as_mut() else { return };
    let number = dump.next;
    dump.next += 1;
    let kernel = JitKernel { pid, thread: thread_id(), address: address as u64, number, code, name, lines };
    let bytes = kernel.records(monotonic_time());
    if let Err(error) = dump.file.write_all(&bytes) {
        tracing::warn!("WGCL_JITDUMP: {error}");
    }
}

fn open(path: &Path, pid: u32) -> io::Result<Dump> {
    let mut file = create(path)?;
    file.write_all(&header(pid, monotonic_time()))?;
    map(&file)?;
    Ok(Dump { file, pid, next: 0 })
}

/// Maps the first page of the file as executable memory, up to the end of the process.
fn map(file: &File) -> io::Result<()> {
    // SAFETY: the kernel chooses the address, so the map replaces no memory. Nothing uses the map.
    let address = unsafe {
        libc::mmap(std::ptr::null_mut(), HEADER_SIZE as usize, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The time of the clock that `perf record -k mono` uses, in nanoseconds.
fn monotonic_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

fn thread_id() -> u32 {
    // SAFETY: the function has no requirements.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// The header of the file.
fn header(pid: u32, time: u64) -> Vec<u8> {
    let words = [MAGIC, VERSION, HEADER_SIZE, MACHINE, 0, pid];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.extend(time.to_ne_bytes());
    // The flags.
    bytes.extend(0_u64.to_ne_bytes());
    bytes
}

/// A kernel in executable memory.
struct JitKernel<'a> {
    pid: u32,
    thread: u32,
    address: u64,
    number: u64,
    code: &'a [u8],
    name: &'a str,
    lines: &'a [CodeLine],
}

impl JitKernel<'_> {
    /// The records of the kernel. The record with lines must precede that of the code.
    fn records(&self, time: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        if !self.lines.is_empty() {
            record(&mut bytes, DEBUG_INFO, time, &self.debug_info());
        }
        record(&mut bytes, CODE_LOAD, time, &self.code_load());
        bytes
    }

    fn debug_info(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.address.to_ne_bytes());
        bytes.extend((self.lines.len() as u64).to_ne_bytes());
        for line in self.lines {
            bytes.extend((self.address + u64::from(line.offset)).to_ne_bytes());
            bytes.extend(line.line.to_ne_bytes());
            // The discriminator.
            bytes.extend(0_u32.to_ne_bytes());
            bytes.extend(line.file.bytes().chain([0]));
        }
        bytes
    }

    fn code_load(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.pid.to_ne_bytes());
        bytes.extend(self.thread.to_ne_bytes());
        // The address twice: where the code runs, and where it was written.
        for word in [self.address, self.address, self.code.len() as u64, self.number] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.name.bytes().chain([0]));
        bytes.extend(self.code);
        bytes
    }
}

fn record(out: &mut Vec<u8>, kind: u32, time: u64, body: &[u8]) {
    let size = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    out.extend(kind.to_ne_bytes());
    out.extend(size.to_ne_bytes());
    out.extend(time.to_ne_bytes());
    out.extend(body);
}

#[cfg(test)]
mod tests {
    use super::{CodeLine, HEADER_SIZE, JitKernel, MACHINE, header};

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    fn long(bytes: &[u8], at: usize) -> u64 {
        u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    #[test]
    fn the_header_has_the_layout_of_the_format() {
        let bytes = header(77, 123_456);
        assert_eq!(bytes.len(), HEADER_SIZE as usize);
        assert_eq!([0, 4, 8, 12, 16, 20].map(|at| word(&bytes, at)), [0x4A69_5444, 1, 40, MACHINE, 0, 77]);
        assert_eq!((long(&bytes, 24), long(&bytes, 32)), (123_456, 0));
    }

    #[test]
    fn a_kernel_has_its_lines_before_its_code() {
        let lines = [CodeLine { offset: 0, file: "k.cl".into(), line: 3 }, CodeLine { offset: 2, file: "k.cl".into(), line: 5 }];
        let code = [0x90, 0x90, 0xc3];
        let kernel = JitKernel { pid: 7, thread: 8, address: 0x1000, number: 4, code: &code, name: "k.avx2", lines: &lines };
        let bytes = kernel.records(99);
        let debug_size = word(&bytes, 4) as usize;
        assert_eq!((word(&bytes, 0), debug_size, long(&bytes, 8)), (2, 16 + 16 + 2 * (16 + 5), 99));
        assert_eq!((long(&bytes, 16), long(&bytes, 24)), (0x1000, 2));
        assert_eq!((long(&bytes, 32), word(&bytes, 40), word(&bytes, 44)), (0x1000, 3, 0));
        assert_eq!(&bytes[48..53], b"k.cl\0");
        assert_eq!((long(&bytes, 53), word(&bytes, 61)), (0x1002, 5));
        let load = &bytes[debug_size..];
        assert_eq!((word(load, 0), word(load, 4) as usize, load.len()), (0, load.len(), 16 + 40 + 7 + 3));
        assert_eq!([16, 20].map(|at| word(load, at)), [7, 8]);
        assert_eq!([24, 32, 40, 48].map(|at| long(load, at)), [0x1000, 0x1000, 3, 4]);
        assert_eq!(&load[56..], b"k.avx2\0\x90\x90\xc3");
    }
}
