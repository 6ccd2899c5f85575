//! The disk cache: programs from builds, and shaders, machine code and launch keys from kernel launches.
//!
//! # Layout
//! `FOLDER/v1/SHARD/NAME`: the name is the key, a hash of all inputs of the contents. The key also selects the shard,
//! one of [`SHARDS`]. A file consists of [`MAGIC`], the key, a hash of the contents, and the contents.
//!
//! # Faults
//! A fault of the cache is never an error: a failed lookup is a miss. A file appears under its name complete or not at
//! all, because it is written to a temporary file that is then renamed. Any number of processes may therefore use a
//! folder, and any of them may be killed. The hash detects damaged files, which are removed. If a folder cannot be
//! created or written to, this process does not write again.
//!
//! # Size
//! Each shard has an equal part of the limit, and removes its least recently used files (see `shard`). A read updates
//! the modification time of the file if that time is older than [`TOUCH_INTERVAL`]. The total size can exceed the limit
//! only by the files that are being written at that moment.

pub(crate) mod programs;
mod shard;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::options::Options;
use shard::Shard;

/// The version of the layout and of the entries' formats.
const FORMAT: &str = "v1";
const MAGIC: &[u8; 8] = b"WGCLKEPT";
const HASH: usize = 32;
const HEADER: usize = MAGIC.len() + 2 * HASH;
/// Folders among which the files are divided.
const SHARDS: u8 = 32;
/// The minimum time between two updates of a file's modification time.
const TOUCH_INTERVAL: Duration = Duration::from_secs(600);
/// The default size limit in bytes (WGCL_CACHE_SIZE).
const DEFAULT_LIMIT: u64 = 512 << 20;

/// The name of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; HASH]);

impl Key {
    /// Returns the key of contents that depend only on these parts, in this order.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Returns the hash of the contents. It is their key if they have no other inputs.
    pub fn of_contents(contents: &[u8]) -> Self {
        Self(Sha256::digest(contents).into())
    }

    pub const fn bytes(&self) -> &[u8; HASH] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A disk cache in `folder`.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// Whether a write has failed. This process then does not write again.
    closed: AtomicBool,
    /// The number of files that were examined to enforce the limit.
    examined: AtomicU64,
}

impl Cache {
    /// Returns the user's cache, or `None` if the cache is disabled or no cache directory is known.
    pub fn get() -> Option<&'static Self> {
        if cfg!(test) {
            return None;
        }
        static CACHE: OnceLock<Option<Cache>> = OnceLock::new();
        CACHE.get_or_init(|| Self::of_options(Options::get(), dirs::cache_dir)).as_ref()
    }

    fn of_options(options: &Options, user_cache_dir: fn() -> Option<PathBuf>) -> Option<Self> {
        // A cached program has neither source locations, which the sanitizer and jitdump files need, nor the text of
        // included files, which a capture contains. A dump contains the output of each stage of the compiler.
        let needs_sources = options.is_checked() || options.capture.is_some() || options.writes_jitdump();
        if needs_sources || options.dump_dir.is_some() || options.cache.as_deref() == Some("0") {
            return None;
        }
        let folder = options.cache_dir.clone().or_else(|| Some(user_cache_dir()?.join("wgcl")))?;
        // Only the cache creates this subdirectory. Another user who can write to `folder` can replace the
        // subdirectory, but the replacement belongs to that user.
        let used = folder.join(FORMAT);
        if let Some(reason) = shard::distrust(&used) {
            tracing::warn!("the cache in {} is not used: {reason}", used.display());
            return None;
        }
        let limit = options
            .cache_size
            .as_deref()
            .and_then(|text| text.parse::<u64>().ok())
            .map_or(DEFAULT_LIMIT, |mib| mib.saturating_mul(1 << 20));
        Some(Self::new(&folder, limit))
    }

    /// Creates a cache in a folder, which need not exist, with a limit of `limit` bytes.
    pub fn new(folder: &Path, limit: u64) -> Self {
        Self { folder: folder.join(FORMAT), limit, closed: AtomicBool::new(false), examined: AtomicU64::new(0) }
    }

    fn shard(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{:02x}", key.0[0] % SHARDS))
    }

    /// Returns the contents that are stored under a key, or `None` if there is no valid entry.
    pub fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.find_named(key).map(|(contents, _)| contents)
    }

    /// Like [`Self::find`], but also returns the key of the contents alone ([`Key::of_contents`]). The check of the
    /// entry computes this key anyway.
    pub fn find_named(&self, key: &Key) -> Option<(Vec<u8>, Key)> {
        let path = self.shard(key).join(key.to_string());
        let mut file = File::open(&path).ok()?;
        let (contents, name) = match read_entry(&mut file, key) {
            Ok(contents) => contents,
            Err(error) => {
                tracing::debug!("cannot read cache entry {}: {error}", path.display());
                // A failed read does not mean that the file is damaged. A file with wrong contents is removed.
                if error.kind() == io::ErrorKind::InvalidData {
                    let _ = fs::remove_file(&path);
                }
                return None;
            }
        };
        tracing::debug!("cache hit: {} bytes", contents.len());
        let modified = file.metadata().and_then(|data| data.modified());
        if modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > TOUCH_INTERVAL)) {
            // This fails in a process without write permission. Such a process never evicts files, so it does not need
            // the modification time.
            let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some((contents, name))
    }

    /// Stores contents under a key, unless they are too large or the cache is disabled. Errors disable the cache.
    pub fn store(&self, key: &Key, contents: &[u8]) {
        let capacity = self.limit / u64::from(SHARDS) / shard::BLOCK;
        if shard::blocks((HEADER + contents.len()) as u64) > capacity || self.closed.load(Ordering::Relaxed) {
            return;
        }
        let shard = Shard { folder: self.shard(key), capacity, examined: &self.examined };
        if let Err(error) = shard.put(&key.to_string(), &[&header(key, &Key::of_contents(contents)), contents]) {
            tracing::debug!("{}: {error}; the disk cache is disabled for this process", self.folder.display());
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    /// Removes an entry that proved to be unusable.
    pub fn remove(&self, key: &Key) {
        let _ = fs::remove_file(self.shard(key).join(key.to_string()));
    }
}

fn header(key: &Key, name: &Key) -> Vec<u8> {
    [MAGIC.as_slice(), &key.0, &name.0].concat()
}

/// Reads an entry. Returns its contents, and the key of the contents alone ([`Key::of_contents`]).
fn read_entry(file: &mut File, key: &Key) -> io::Result<(Vec<u8>, Key)> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the contents do not match the header");
    let contents = bytes.get(HEADER..).ok_or_else(damaged)?.to_vec();
    let name = Key::of_contents(&contents);
    if bytes.starts_with(&header(key, &name)) { Ok((contents, name)) } else { Err(damaged()) }
}
