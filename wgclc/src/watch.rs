//! Waits for files to change.
//!
//! The module polls the time and size of each file several times per second. This works on every file system and with
//! editors that replace files. The cost is one `stat` per file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The polling interval.
const INTERVAL: Duration = Duration::from_millis(150);

/// The modification time and the size of a file, or `None` if it does not exist.
type State = Option<(SystemTime, u64)>;

/// Files and their last known states.
#[derive(Default)]
pub struct WatchedFiles(BTreeMap<PathBuf, State>);

fn state(path: &PathBuf) -> State {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl WatchedFiles {
    /// Records the current state of files. Call this function before reading the files, so that no change is missed.
    pub fn observe(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), state(&path))).collect())
    }

    /// Adds included files.
    pub fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            let state = state(&path);
            self.0.entry(path).or_insert(state);
        }
    }

    /// Waits until one of the files is changed, created or deleted.
    pub fn wait(&self) {
        while self.0.iter().all(|(path, seen)| state(path) == *seen) {
            std::thread::sleep(INTERVAL);
        }
    }
}
