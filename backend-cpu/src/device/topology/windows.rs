//! The topology in the structures of Windows (`SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX`).

/// Values of `LOGICAL_PROCESSOR_RELATIONSHIP`.
const NUMA_NODE: u32 = 1;
const CACHE: u32 = 2;
/// The cache type `CacheInstruction`.
const INSTRUCTIONS: u64 = 1;

/// Bytes of the fields `Relationship` and `Size` of a structure.
const HEADER: usize = 8;
/// The offset in bytes of the group masks in `NUMA_NODE_RELATIONSHIP`. Their 16-bit count precedes them. The count is 0
/// in old versions of Windows, where the structure has one mask.
const NODE_MASKS: usize = 24;
/// The offset in bytes of the group masks in `CACHE_RELATIONSHIP`.
const CACHE_MASKS: usize = 32;
/// Bytes of a `GROUP_AFFINITY`.
const MASK: usize = 16;
/// Maximum number of processors in a group.
const GROUP: usize = 64;

/// Processors that share a cache or a NUMA node.
#[derive(Debug, PartialEq, Eq)]
struct Shared {
    /// The level of a cache; 0 for a node.
    level: u32,
    /// Groups and their masks.
    masks: Vec<(usize, u64)>,
}

/// The NUMA nodes and the caches.
pub(super) struct Topology(Vec<Shared>);

impl Topology {
    #[cfg(windows)]
    pub(super) fn of_system() -> Self {
        use crate::threads::affinity::windows::processor_information;

        let all = [NUMA_NODE, CACHE].map(|relation| processor_information(relation.cast_signed()).unwrap_or_default());
        Self(all.iter().flat_map(|bytes| parse(bytes)).collect())
    }

    /// A name for the processor's NUMA node.
    pub(super) fn node(&self, processor: usize) -> Option<String> {
        self.cache(processor, 0)
    }

    /// A name for the processor's data cache of this level.
    pub(super) fn cache(&self, processor: usize, level: u32) -> Option<String> {
        let has = |&(group, mask): &(usize, u64)| group == processor / GROUP && mask >> (processor % GROUP) & 1 != 0;
        let found = self.0.iter().position(|shared| shared.level == level && shared.masks.iter().any(has))?;
        Some(found.to_string())
    }
}

/// The nodes and data caches in a list of structures.
fn parse(mut bytes: &[u8]) -> Vec<Shared> {
    let mut found = Vec::new();
    while let (Some(relation), Some(size)) = (number(bytes, 0, 4), number(bytes, 4, 4)) {
        let Some((structure, rest)) = bytes.split_at_checked((size as usize).max(HEADER)) else { break };
        found.extend(shared(relation as u32, &structure[HEADER..]));
        bytes = rest;
    }
    found
}

/// The node or the data cache that a union describes.
fn shared(relation: u32, union: &[u8]) -> Option<Shared> {
    let (level, masks) = match relation {
        NUMA_NODE => (0, NODE_MASKS),
        CACHE if number(union, 8, 4)? != INSTRUCTIONS => (number(union, 0, 1)? as u32, CACHE_MASKS),
        _ => return None,
    };
    let count = (number(union, masks - 2, 2)? as usize).max(1);
    let mask = |index: usize| {
        let at = masks + index * MASK;
        Some((number(union, at + 8, 2)? as usize, number(union, at, 8)?))
    };
    Some(Shared { level, masks: (0..count).map_while(mask).collect() })
}

/// The little-endian number of `size` bytes at an offset.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::{CACHE, CACHE_MASKS, HEADER, MASK, NODE_MASKS, NUMA_NODE, Shared, Topology, parse};

    /// Creates a structure with these first bytes of its union, and these groups and masks.
    fn structure(relation: u32, first: &[u8], masks: &[(u16, u64)]) -> Vec<u8> {
        let place = HEADER + if relation == CACHE { CACHE_MASKS } else { NODE_MASKS };
        let size = place + masks.len() * MASK;
        let mut bytes = [relation.to_le_bytes(), (size as u32).to_le_bytes()].concat();
        bytes.extend(first);
        bytes.resize(place - 2, 0);
        bytes.extend((masks.len() as u16).to_le_bytes());
        for (group, mask) in masks {
            bytes.extend(mask.to_le_bytes());
            bytes.extend(group.to_le_bytes());
            bytes.extend([0; 6]);
        }
        bytes
    }

    /// Creates the structure of a cache of this level. `kind` is 0 for a unified cache, 1 for instructions, and 2 for
    /// data.
    fn cache(level: u8, kind: u8, mask: u64) -> Vec<u8> {
        structure(CACHE, &[level, 8, 64, 0, 0, 0, 0, 0, kind], &[(0, mask)])
    }

    #[test]
    fn nodes_and_data_caches_are_found() {
        let bytes = [
            structure(NUMA_NODE, &[0], &[(0, 0xF)]),
            structure(NUMA_NODE, &[1], &[(0, 0xF0), (1, 0x3)]),
            cache(1, 1, 0xFF),
            cache(1, 2, 0x3),
            cache(2, 0, 0x3),
            cache(3, 0, 0xF),
            vec![1, 0, 0],
        ]
        .concat();
        let found = parse(&bytes);
        assert_eq!(found.iter().map(|shared| shared.level).collect::<Vec<_>>(), [0, 0, 1, 2, 3]);
        assert_eq!(found[1], Shared { level: 0, masks: vec![(0, 0xF0), (1, 0x3)] });
        let topology = Topology(found);
        assert_eq!(topology.node(1), topology.node(3));
        assert!(topology.node(3) != topology.node(4) && topology.node(4) == topology.node(65));
        assert_eq!(topology.cache(0, 1), topology.cache(1, 1));
        assert_eq!((topology.cache(4, 1), topology.cache(0, 4), topology.node(66)), (None, None, None));
    }

    #[cfg(windows)]
    #[test]
    fn this_system_has_a_first_level_data_cache() {
        assert!(Topology::of_system().cache(0, 1).is_some());
    }
}
