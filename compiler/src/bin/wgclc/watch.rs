//! Waits for files to change.
//!
//! Watches by polling time and size of each file several times per second. This works on every file system (network
//! mounts, containers, editors that replace files) and costs one `stat` per file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The polling interval.
const INTERVAL: Duration = Duration::from_millis(150);

/// The time and size of a file. `None` if it does not exist.
type State = Option<(SystemTime, u64)>;

/// Files and their last known states.
#[derive(Default)]
pub struct WatchedFiles(BTreeMap<PathBuf, State>);

fn state(path: &PathBuf) -> State {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl WatchedFiles {
    /// The current state of these files. Must be called before the files are read, so that no change is missed.
    pub fn see(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), state(&path))).collect())
    }

    /// Adds files that the first ones include.
    pub fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            let state = state(&path);
            self.0.entry(path).or_insert(state);
        }
    }

    /// Returns when one of the files is changed, created or deleted.
    pub fn wait(&self) {
        while self.0.iter().all(|(path, seen)| state(path) == *seen) {
            std::thread::sleep(INTERVAL);
        }
    }
}
