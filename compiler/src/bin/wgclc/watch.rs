//! Waiting for files to change.
//!
//! Files are asked for their time and size, a few times a second. That is as quick as someone who writes, works wherever files do (over networks, in
//! containers, where an editor replaces a file by another one), and asks nothing of the system but what reading them does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(150);

/// What tells a file from what it was before; `None` where there is none.
type State = Option<(SystemTime, u64)>;

/// Files, as they were when they were seen last.
#[derive(Default)]
pub struct Watched(BTreeMap<PathBuf, State>);

fn state(path: &PathBuf) -> State {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl Watched {
    /// These files, as they are now. It is called before they are read, so that no change is missed.
    pub fn see(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), state(&path))).collect())
    }

    /// Adds files that the first ones turned out to need.
    pub fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            let state = state(&path);
            self.0.entry(path).or_insert(state);
        }
    }

    /// Returns when one of the files has changed, come or gone.
    pub fn wait(&self) {
        while self.0.iter().all(|(path, seen)| state(path) == *seen) {
            std::thread::sleep(INTERVAL);
        }
    }
}
