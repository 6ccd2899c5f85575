//! One shard of the cache: tracks its size, and evicts entries above the limit.
//!
//! # The ledger
//! Listing a folder takes time in proportion to its files, so a write must not list the folder. Every shard has a file,
//! [`LEDGER`], whose *length* is the count: one byte for each [`BLOCK`] bytes of each entry that was written. Writers
//! append to the ledger. Any number of processes may do so at the same time without a lock. The length after the append
//! counts the writes of all processes. A rewrite or a removal of an entry does not shorten the file: the ledger is an
//! upper bound of the size of the entries.
//!
//! # Recount
//! One process lists all files when the ledger exceeds the shard's limit, when the ledger is missing, or [`INTERVAL`]
//! after the last recount. The process counts the blocks of the files. If the blocks exceed the limit, it removes the
//! least recently used files until a quarter of the limit is free. Then it sets the ledger's length to the remaining
//! size. After such a removal, the next recount follows only after a quarter of the limit was written or the interval
//! has passed. The recounting process locks the file [`STAMP`]. The modification time of that file is the time of the
//! last recount, or [`SystemTime::UNIX_EPOCH`] during a recount.
//!
//! An entry is written to a temporary file before the ledger grows, and the recounting process also counts temporary
//! files. A concurrent write therefore appears in the folder or in the ledger, or in both. A writer discards its entry
//! if the ledger exceeds the limit while another process recounts the shard.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// The ledger: its length in bytes is an upper bound of the number of blocks of the entries.
pub(super) const LEDGER: &str = ".ledger";
/// The lock file of a recount. Its modification time is the time of the last recount, or `UNIX_EPOCH` during one.
pub(super) const STAMP: &str = ".settled";
/// The name prefix of temporary files.
pub(super) const TEMPORARY_PREFIX: &str = ".aside-";
/// The number of bytes that one byte of the ledger counts. Most file systems allocate blocks of this size, so the limit
/// applies to disk usage.
pub(super) const BLOCK: u64 = 4096;
/// The age from which the writer of a temporary file is considered dead.
const ABANDONED: Duration = Duration::from_secs(600);
/// A shard is recounted after this time, to find files that the ledger does not count, such as temporary files of
/// killed writers.
pub(super) const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A shard: a folder, which need not exist.
pub(super) struct Shard<'a> {
    pub(super) folder: PathBuf,
    /// The maximum number of blocks.
    pub(super) capacity: u64,
    /// Counts the examined files.
    pub(super) examined: &'a AtomicU64,
}

/// The contents of a shard.
struct Content {
    /// Entries, the least recently used first: modification time, blocks, path.
    entries: Vec<(SystemTime, u64, PathBuf)>,
    /// Blocks of the entries, including files that are being written.
    blocks: u64,
}

/// The number of blocks of a file. An empty file counts as one block, because its name takes space in the folder.
pub(super) const fn blocks(bytes: u64) -> u64 {
    if bytes == 0 { 1 } else { bytes.div_ceil(BLOCK) }
}

impl Shard<'_> {
    /// Writes a file with these bytes into the shard, if the capacity suffices.
    ///
    /// # Errors
    /// If the folder cannot be created or written to.
    pub(super) fn put(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let mut file = self.create_temporary()?;
        for part in parts {
            file.write_all(part)?;
        }
        file.flush()?;
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let total = self.append_to_ledger(blocks(bytes))?;
        let fits = match total {
            Some(total) if total <= self.capacity => {
                if self.is_due() {
                    self.recount()?;
                }
                true
            }
            // The recount includes the temporary file of this entry.
            _ => self.recount()?.is_some_and(|total| total <= self.capacity),
        };
        if fits { file.persist(self.folder.join(name)).map(drop).map_err(|error| error.error) } else { Ok(()) }
    }

    /// Creates a temporary file for an entry, with a name that no entry has.
    fn create_temporary(&self) -> io::Result<NamedTempFile> {
        let create = || tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(&self.folder);
        match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&self.folder)?;
                create()
            }
            result => result,
        }
    }

    /// Appends to the ledger. Returns the length of the ledger, or `None` if the ledger is missing.
    fn append_to_ledger(&self, blocks: u64) -> io::Result<Option<u64>> {
        const BYTES: [u8; 4096] = [0; 4096];
        let mut ledger = match File::options().append(true).open(self.folder.join(LEDGER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result?,
        };
        let mut rest = usize::try_from(blocks).unwrap_or(usize::MAX);
        while rest > 0 {
            let size = rest.min(BYTES.len());
            ledger.write_all(&BYTES[..size])?;
            rest -= size;
        }
        Ok(Some(ledger.metadata()?.len()))
    }

    /// Whether the interval since the last recount has passed.
    fn is_due(&self) -> bool {
        let recounted = fs::metadata(self.folder.join(STAMP)).and_then(|data| data.modified());
        // A time in the future cannot be the time of a recount, so a recount is due.
        !recounted.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < INTERVAL))
    }

    /// Lists all files, evicts entries above the limit, and corrects the ledger. Returns the number of used blocks, or
    /// `None` if another process recounts the shard.
    fn recount(&self) -> io::Result<Option<u64>> {
        let stamp = File::options().write(true).create(true).truncate(false).open(self.folder.join(STAMP))?;
        match stamp.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks reports this error. Recounts may then run concurrently and remove more files
            // than necessary.
            Err(TryLockError::Error(error)) => tracing::debug!("cannot lock {}: {error}", self.folder.display()),
        }
        stamp.set_modified(SystemTime::UNIX_EPOCH)?;
        let ledger = File::options().write(true).create(true).truncate(false).open(self.folder.join(LEDGER))?;
        let before = ledger.metadata()?.len();
        let mut content = self.list_files()?;
        if content.blocks > self.capacity {
            content.shrink(self.capacity / 4 * 3);
        }
        // The listing may lack entries that were written since `before` was read. The blocks of all these entries are
        // added, so some may count twice.
        let meanwhile = ledger.metadata()?.len().saturating_sub(before);
        ledger.set_len(content.blocks + meanwhile)?;
        stamp.set_modified(SystemTime::now())?;
        tracing::debug!("{}: recounted, {} blocks of 4 KiB in use", self.folder.display(), content.blocks);
        Ok(Some(content.blocks))
    }

    /// Lists all files, and removes temporary files of killed writers.
    fn list_files(&self) -> io::Result<Content> {
        let (mut entries, mut sum) = (Vec::new(), 0);
        for entry in fs::read_dir(&self.folder)? {
            // Another process may have removed the file.
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            if name == LEDGER || name == STAMP {
                continue;
            }
            self.examined.fetch_add(1, Ordering::Relaxed);
            let Ok(data) = entry.metadata() else { continue };
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_temporary = name.to_string_lossy().starts_with(TEMPORARY_PREFIX);
            if is_temporary && modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
                continue;
            }
            sum += blocks(data.len());
            if !is_temporary {
                entries.push((modified, blocks(data.len()), entry.path()));
            }
        }
        entries.sort_unstable();
        Ok(Content { entries, blocks: sum })
    }
}

impl Content {
    /// Removes the least recently used entries until at most `wanted` blocks are in use.
    fn shrink(&mut self, wanted: u64) {
        for (_, blocks, path) in self.entries.drain(..) {
            if self.blocks <= wanted {
                break;
            }
            // Another process may have removed the file.
            if fs::remove_file(&path).is_ok() || !path.exists() {
                self.blocks -= blocks;
            }
        }
    }
}

/// Creates a folder that only the user can access, because the user's device executes the contents of its files.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Returns the reason not to execute machine code from a folder: another user owns it or may write to it. Returns
/// `None` for a folder that does not exist.
#[cfg(unix)]
pub(super) fn distrust(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).ok()?;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != user && owner != 0 {
        return Some(format!("its owner is the user {owner}, and the process has the rights of the user {user}"));
    }
    let mode = metadata.mode() & 0o777;
    (mode & 0o022 != 0).then(|| format!("other users may write to it (mode {mode:o}); run chmod go-w {}", path.display()))
}

/// Windows protects the folders of a user by access control lists that new folders inherit.
#[cfg(not(unix))]
pub(super) const fn distrust(_path: &Path) -> Option<String> {
    None
}
