//! The memory limits of Linux control groups, which containers and services use.
//!
//! The limits of the process's group and of all its ancestors apply. Version 2 of control groups has one tree
//! (`memory.max`). Version 1 has a separate tree for memory (`memory.limit_in_bytes`). A system can mount the trees of
//! both versions. In a container, the tree often begins at the container's group, although /proc/self/cgroup has the
//! path on the host. Groups that do not exist are therefore ignored.

use std::fs::read_to_string;
use std::path::Path;

/// The memory limit and the memory use of a group, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) limit: u64,
    /// The memory that the processes of the group use, without inactive file caches.
    pub(super) used: u64,
}

/// The mount points and file names of a version of control groups.
struct Version {
    mounts: &'static [&'static str],
    limit: &'static str,
    used: &'static str,
    /// The prefix of the line in `memory.stat` that contains the size of inactive file caches.
    droppable: &'static str,
}

const VERSION_1: Version =
    Version { mounts: &["memory"], limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", droppable: "total_inactive_file " };
const VERSION_2: Version = Version { mounts: &["", "unified"], limit: "memory.max", used: "memory.current", droppable: "inactive_file " };

/// Returns the limits of the groups of this process.
pub(super) fn limits() -> impl Iterator<Item = Limit> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    limits_under(Path::new("/sys/fs/cgroup"), &groups).into_iter()
}

/// Returns the limits of the groups in `groups`, which is the text of /proc/self/cgroup. `root` is the folder that
/// contains the trees.
fn limits_under(root: &Path, groups: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        // The format is "hierarchy-ID:controller-list:cgroup-path" (cgroups(7)). In version 2, the list of controllers
        // is empty.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let version = match controllers {
            "" => &VERSION_2,
            list if list.split(',').any(|controller| controller == "memory") => &VERSION_1,
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        for mount in version.mounts {
            let tree = root.join(mount);
            limits.extend(path.ancestors().filter_map(|group| limit_of(&tree.join(group), version)));
        }
    }
    limits
}

fn limit_of(group: &Path, version: &Version) -> Option<Limit> {
    let number = |name| read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    // For no limit, version 2 has "max", which is not a number. Version 1 has a number that is larger than any memory.
    let limit = number(version.limit)?;
    let stat = read_to_string(group.join("memory.stat")).unwrap_or_default();
    let droppable = stat.lines().find_map(|line| line.strip_prefix(version.droppable)?.trim().parse::<u64>().ok());
    let used = number(version.used).unwrap_or(0).saturating_sub(droppable.unwrap_or(0));
    Some(Limit { limit, used })
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::path::Path;

    use super::{Limit, limits_under};

    fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
        create_dir_all(root.join(path)).expect("a folder");
        files.iter().for_each(|(name, text)| write(root.join(path).join(name), text).expect("a file"));
    }

    fn smallest(root: &Path, groups: &str) -> Option<u64> {
        limits_under(root, groups).into_iter().map(|group| group.limit).min()
    }

    #[test]
    fn a_nested_group_of_version_2_has_the_limits_of_its_parents() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        group(root, "a", &[("memory.max", "1000\n"), ("memory.current", "300\n"), ("memory.stat", "anon 5\ninactive_file 100\n")]);
        group(root, "a/b", &[("memory.max", "max\n"), ("memory.current", "200\n")]);
        group(root, "a/b/c", &[("memory.max", "4000\n")]);
        assert_eq!(limits_under(root, "0::/a/b\n"), [Limit { limit: 1000, used: 200 }]);
        assert_eq!(smallest(root, "0::/a/b/c\n"), Some(1000));
        assert_eq!(smallest(root, "0::/other\n"), None);
    }

    #[test]
    fn version_1_has_a_tree_for_memory() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        group(root, "memory", &[("memory.limit_in_bytes", "9223372036854771712\n")]);
        group(root, "memory/a/b", &[("memory.limit_in_bytes", "5000\n"), ("memory.usage_in_bytes", "900\n")]);
        group(root, "memory/a", &[("memory.limit_in_bytes", "7000\n")]);
        group(root, "cpu/a/b", &[("memory.limit_in_bytes", "1\n")]);
        let groups = "3:cpu,cpuacct:/a/b\n2:name=systemd:/x\n1:memory:/a/b\n0::/\n";
        assert_eq!(smallest(root, groups), Some(5000));
        assert!(limits_under(root, groups).contains(&Limit { limit: 5000, used: 900 }));
    }

    #[test]
    fn a_container_sees_its_group_as_the_root() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        group(root, "", &[("memory.max", "2000\n")]);
        assert_eq!(smallest(root, "0::/docker/0123\n"), Some(2000));
        group(root, "unified", &[("memory.max", "1500\n")]);
        assert_eq!(smallest(root, "0::/docker/0123\n"), Some(1500));
        assert_eq!(smallest(root, "no group\n"), None);
    }
}
