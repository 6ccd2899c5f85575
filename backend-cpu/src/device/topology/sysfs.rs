//! The topology in Linux's sysfs.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory that describes the system.
#[cfg(unix)]
const SYSTEM: &str = "/sys/devices/system";

/// Reads the files below a directory like `/sys/devices/system`.
pub(super) struct Topology {
    system: PathBuf,
    /// The names of the NUMA nodes, with their processors.
    nodes: Vec<(String, Vec<usize>)>,
}

impl Topology {
    #[cfg(unix)]
    pub(super) fn of_system() -> Self {
        Self::in_folder(Path::new(SYSTEM))
    }

    pub(super) fn in_folder(system: &Path) -> Self {
        Self { system: system.to_owned(), nodes: nodes(system) }
    }

    /// The name of the processor's NUMA node.
    pub(super) fn node(&self, processor: usize) -> Option<String> {
        self.nodes.iter().find(|(_, list)| list.contains(&processor)).map(|(name, _)| name.clone())
    }

    /// A name for the processor's data cache of this level: the list of processors that share it.
    pub(super) fn cache(&self, processor: usize, level: u32) -> Option<String> {
        shared_by(&self.system.join(format!("cpu/cpu{processor}/cache")), level)
    }
}

/// The names of the NUMA nodes, with their processors.
fn nodes(system: &Path) -> Vec<(String, Vec<usize>)> {
    let node = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse::<u32>().ok()?;
        Some((name, numbers(&read(&entry.path().join("cpulist"))?)?))
    };
    fs::read_dir(system.join("node")).into_iter().flatten().flatten().filter_map(node).collect()
}

/// The text of the list of processors that share a data cache of this level, or `None` if there is no such cache.
/// `caches` is the directory of a processor's caches.
fn shared_by(caches: &Path, level: u32) -> Option<String> {
    let of_cache = |entry: fs::DirEntry| {
        let path = entry.path();
        let is_wanted = read(&path.join("level"))?.parse() == Ok(level) && read(&path.join("type"))? != "Instruction";
        read(&path.join("shared_cpu_list")).filter(|_| is_wanted)
    };
    fs::read_dir(caches).ok()?.flatten().find_map(of_cache)
}

fn read(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// The numbers of a list like `0-3,8`. `None` if the text is not such a list.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn processor_lists_are_parsed() {
        assert_eq!(numbers("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(numbers(""), Some(vec![]), "a node without processors");
        assert_eq!(numbers("x"), None);
    }
}
