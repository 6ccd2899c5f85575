//! The divisions of the device into sub-devices by affinity domain: the processors that share caches or memory.
//!
//! Example: eight processors with two level 3 caches of four processors each have the division `L3_CACHE: [[0, 1, 2,
//! 3], [4, 5, 6, 7]]`.

#[cfg(any(unix, test))]
mod sysfs;
#[cfg(any(windows, test))]
mod windows;

use wgcl_api::types::affinity::{AffinityDomain, Division};

use crate::threads::affinity::ComputeUnits;

/// Cache domains from the widest to the narrowest, with the level of the cache.
const CACHES: [(AffinityDomain, u32); 4] =
    [(AffinityDomain::L4_CACHE, 4), (AffinityDomain::L3_CACHE, 3), (AffinityDomain::L2_CACHE, 2), (AffinityDomain::L1_CACHE, 1)];

/// Returns the divisions of compute units by affinity domain, the widest domain first.
pub(crate) fn divisions(units: &ComputeUnits) -> Vec<Division> {
    #[cfg(windows)]
    let found = windows::Topology::of_system();
    #[cfg(unix)]
    let found = sysfs::Topology::of_system();
    divisions_by(units, |processor| found.node(processor), |processor, level| found.cache(processor, level))
}

/// Returns the divisions. `node` and `cache` return names for a processor's NUMA node and for its cache of a level.
fn divisions_by(
    units: &ComputeUnits,
    node: impl Fn(usize) -> Option<String>,
    cache: impl Fn(usize, u32) -> Option<String>,
) -> Vec<Division> {
    let numa = groups(units, node).map(|parts| Division { domain: AffinityDomain::NUMA, parts });
    let by_cache = |(domain, level)| groups(units, |processor| cache(processor, level)).map(|parts| Division { domain, parts });
    numa.into_iter().chain(CACHES.into_iter().filter_map(by_cache)).collect()
}

/// Groups units by the string that `of` returns for their first processors. `None` if `of` returns `None` for a
/// processor, or if there is only one group.
fn groups(units: &ComputeUnits, of: impl Fn(usize) -> Option<String>) -> Option<Vec<Vec<u32>>> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for (unit, processor) in (0..).zip(units.first_processors()) {
        let name = of(processor)?;
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, units)) => units.push(unit),
            None => groups.push((name, vec![unit])),
        }
    }
    (groups.len() > 1).then(|| groups.into_iter().map(|(_, units)| units).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use wgcl_api::types::affinity::{AffinityDomain, Division};

    use super::{divisions, divisions_by, sysfs};
    use crate::threads::affinity::ComputeUnits;

    fn divisions_in(system: &Path, units: &ComputeUnits) -> Vec<Division> {
        let found = sysfs::Topology::in_folder(system);
        divisions_by(units, |processor| found.node(processor), |processor, level| found.cache(processor, level))
    }

    fn write(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    /// Writes the files of two nodes with two cores each, and two threads per core. Each node has a level 3 cache, and
    /// each core has caches of levels 1 and 2.
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
            // The instruction cache is ignored.
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
    fn units_are_divided_by_shared_memory_and_caches() {
        let folder = tempfile::tempdir().expect("a folder");
        two_nodes(folder.path());
        let all = ComputeUnits::distribute(&(0..8).collect::<Vec<_>>(), 8).expect("all");
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
        // A sub-device of one node is not divided by nodes or level 3 caches.
        let node = all.subset(&[2, 3, 6, 7]).expect("a node");
        let found = divisions_in(folder.path(), &node);
        assert_eq!(found.iter().map(|division| division.domain).collect::<Vec<_>>(), [AffinityDomain::L2_CACHE, AffinityDomain::L1_CACHE]);
        assert_eq!(found[0].parts, [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn a_system_without_topology_has_no_divisions() {
        let folder = tempfile::tempdir().expect("a folder");
        let units = ComputeUnits::distribute(&[0, 1], 2).expect("two");
        assert!(divisions_in(folder.path(), &units).is_empty());
        // The topology of this machine is readable.
        assert!(divisions(&units).iter().all(|division| division.parts.len() == 2));
    }
}
