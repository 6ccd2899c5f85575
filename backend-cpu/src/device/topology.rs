//! Which processors share caches and memory, as Linux tells it.

use std::fs;
use std::path::Path;

use wgcl_api::objects::device::partition::{AffinityDomain, Division};

use crate::threads::affinity::Cores;

/// Where Linux describes the system.
const SYSTEM: &str = "/sys/devices/system";

/// Domains from the widest to the narrowest, and the levels of caches.
const CACHES: [(AffinityDomain, u32); 4] =
    [(AffinityDomain::L4_CACHE, 4), (AffinityDomain::L3_CACHE, 3), (AffinityDomain::L2_CACHE, 2), (AffinityDomain::L1_CACHE, 1)];

/// What divides units of processors, widest first.
pub(crate) fn divisions(cores: &Cores) -> Vec<Division> {
    divisions_in(Path::new(SYSTEM), cores)
}

fn divisions_in(system: &Path, cores: &Cores) -> Vec<Division> {
    let nodes = nodes(system);
    let by_node = |processor: usize| nodes.iter().find(|(_, list)| list.contains(&processor)).map(|(name, _)| name.clone());
    let numa = groups(cores, by_node).map(|parts| Division { domain: AffinityDomain::NUMA, parts });
    let by_cache = |(domain, level)| {
        let parts = groups(cores, |processor| shared_by(&system.join(format!("cpu/cpu{processor}/cache")), level))?;
        Some(Division { domain, parts })
    };
    numa.into_iter().chain(CACHES.into_iter().filter_map(by_cache)).collect()
}

/// Units by what `of` says of their first processors; `None` if it says nothing of one of them, or the same of all.
fn groups(cores: &Cores, of: impl Fn(usize) -> Option<String>) -> Option<Vec<Vec<u32>>> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for (unit, processor) in (0..).zip(cores.first_processors()) {
        let name = of(processor)?;
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, units)) => units.push(unit),
            None => groups.push((name, vec![unit])),
        }
    }
    (groups.len() > 1).then(|| groups.into_iter().map(|(_, units)| units).collect())
}

/// NUMA nodes, with their processors.
fn nodes(system: &Path) -> Vec<(String, Vec<usize>)> {
    let node = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse::<u32>().ok()?;
        Some((name, numbers(&read(&entry.path().join("cpulist"))?)?))
    };
    fs::read_dir(system.join("node")).into_iter().flatten().flatten().filter_map(node).collect()
}

/// Which processors have a processor's cache of a level for data, as a list.
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

/// The numbers of a list like `0-3,8`.
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
    use std::fs;
    use std::path::Path;

    use wgcl_api::objects::device::partition::AffinityDomain;

    use super::{divisions, divisions_in, numbers};
    use crate::threads::affinity::Cores;

    fn write(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    /// Two nodes of two cores of two threads: a third cache for each node, a second and a first for each core.
    fn two_nodes(system: &Path) {
        for (node, list) in [("node0", "0-1,4-5\n"), ("node1", "2-3,6-7\n")] {
            write(&system.join("node").join(node).join("cpulist"), list);
        }
        write(&system.join("node/possible"), "0-1\n");
        for processor in 0..8 {
            let (core, node) = (processor % 4, processor / 2 % 2);
            let caches = system.join(format!("cpu/cpu{processor}/cache"));
            let of_core = format!("{core},{}\n", core + 4);
            let of_node = if node == 0 { "0-1,4-5\n".to_owned() } else { "2-3,6-7\n".to_owned() };
            // The cache of instructions is nobody's business.
            let all = [("1", "Instruction", "0-7\n"), ("1", "Data", &of_core), ("2", "Unified", &of_core), ("3", "Unified", &of_node)];
            for (index, (level, kind, list)) in all.into_iter().enumerate() {
                let folder = caches.join(format!("index{index}"));
                for (name, text) in [("level", level), ("type", kind), ("shared_cpu_list", list)] {
                    write(&folder.join(name), text);
                }
            }
        }
    }

    #[test]
    fn units_are_divided_by_what_they_share() {
        let folder = tempfile::tempdir().expect("a folder");
        two_nodes(folder.path());
        let all = Cores::deal(&(0..8).collect::<Vec<_>>(), 8).expect("all");
        let found: Vec<_> = divisions_in(folder.path(), &all).into_iter().map(|division| (division.domain, division.parts)).collect();
        let nodes = vec![vec![0, 1, 4, 5], vec![2, 3, 6, 7]];
        let cores = vec![vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]];
        let wanted = [
            (AffinityDomain::NUMA, nodes.clone()),
            (AffinityDomain::L3_CACHE, nodes),
            (AffinityDomain::L2_CACHE, cores.clone()),
            (AffinityDomain::L1_CACHE, cores),
        ];
        assert_eq!(found, wanted);
        // In a node there is one node, and one third cache.
        let node = all.part(&[2, 3, 6, 7]).expect("a node");
        let found = divisions_in(folder.path(), &node);
        assert_eq!(found.iter().map(|division| division.domain).collect::<Vec<_>>(), [AffinityDomain::L2_CACHE, AffinityDomain::L1_CACHE]);
        assert_eq!(found[0].parts, [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn where_nothing_is_told_nothing_divides() {
        let folder = tempfile::tempdir().expect("a folder");
        let cores = Cores::deal(&[0, 1], 2).expect("two");
        assert!(divisions_in(folder.path(), &cores).is_empty());
        // And this machine tells something that can be read.
        assert!(divisions(&cores).iter().all(|division| division.parts.len() == 2));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(numbers("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(numbers(""), Some(vec![]), "a node of memory alone");
        assert_eq!(numbers("x"), None);
    }
}
