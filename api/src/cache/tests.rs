//! Valid entries are found, and damaged entries are never returned. [`size`] tests eviction.

mod size;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use wgcl_compiler::program::{Source, parse_options};
use wgcl_compiler::target::Target;

use super::programs::{find_program, store_program};
use super::shard::{LEDGER, STAMP};
use super::{Cache, DEFAULT_LIMIT, HEADER, Key};
use crate::objects::program::binary::Unit;
use crate::options::Options;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn key(number: u32) -> Key {
    Key::of(&[b"test", &number.to_le_bytes()])
}

/// All files below a folder except the ledger and the stamp, including files that are being written.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else if ![LEDGER, STAMP].iter().any(|name| entry.file_name() == *name) {
            found.push(entry.path());
        }
    }
    found
}

/// Sets the age of a file.
fn set_age(path: &Path, age: Duration) {
    let file = fs::File::options().append(true).open(path).expect("a file");
    file.set_modified(SystemTime::now() - age).expect("its time");
}

#[test]
fn stored_entries_are_found() {
    let folder = folder();
    let cache = Cache::new(&folder.path().join("not/yet/there"), DEFAULT_LIMIT);
    assert_eq!(cache.find(&key(1)), None);
    cache.store(&key(1), b"contents");
    cache.store(&key(2), b"");
    // A second cache of the same folder finds the entries.
    let other = Cache::new(&folder.path().join("not/yet/there"), DEFAULT_LIMIT);
    assert_eq!(other.find(&key(1)).as_deref(), Some(b"contents".as_slice()));
    assert_eq!(other.find(&key(2)).as_deref(), Some(b"".as_slice()));
    assert_eq!(other.find(&key(3)), None);
    cache.remove(&key(1));
    assert_eq!(other.find(&key(1)), None);
}

#[test]
fn keys_distinguish_parts() {
    assert_ne!(Key::of(&[b"ab", b"c"]), Key::of(&[b"a", b"bc"]));
    assert_ne!(Key::of(&[b"", b"a"]), Key::of(&[b"a"]));
    assert_eq!(key(1).to_string().len(), 64);
}

#[test]
fn damaged_entries_are_removed() {
    let folder = folder();
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    let corruptions: [fn(&mut Vec<u8>); 6] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(HEADER - 1),
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes.push(0),
        |bytes| bytes[HEADER + 3] ^= 1,
        |bytes| bytes[20] ^= 1,
    ];
    for corrupt in corruptions {
        cache.store(&key(7), b"an entry with 24 letters");
        let path = files(folder.path()).pop().expect("the file");
        let mut bytes = fs::read(&path).expect("its bytes");
        corrupt(&mut bytes);
        fs::write(&path, bytes).expect("a corrupt file");
        assert_eq!(cache.find(&key(7)), None);
        assert!(!path.exists(), "the entry is removed");
    }
    cache.store(&key(7), b"again");
    assert_eq!(cache.find(&key(7)).as_deref(), Some(b"again".as_slice()));
}

#[test]
fn misnamed_entries_are_not_found() {
    let folder = folder();
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    cache.store(&key(1), b"one");
    let path = files(folder.path()).pop().expect("the file");
    let wrong = cache.shard(&key(2)).join(key(2).to_string());
    fs::create_dir_all(wrong.parent().expect("a folder")).expect("a folder");
    fs::rename(path, wrong).expect("renamed");
    assert_eq!(cache.find(&key(2)), None);
}

#[test]
fn unusable_folders_disable_the_cache() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, b"in the way").expect("a file");
    let cache = Cache::new(&file.join("cache"), DEFAULT_LIMIT);
    cache.store(&key(1), b"one");
    assert_eq!(cache.find(&key(1)), None);
    // The cache does not try to write again.
    fs::remove_file(&file).expect("removed");
    cache.store(&key(1), b"one");
    assert_eq!(cache.find(&key(1)), None);
}

/// Simulates a full disk by a limit on file sizes: a write beyond the limit fails in the middle. `/dev/full` cannot be
/// used, because it is not a folder. Mounting a small file system would need privileges.
#[cfg(unix)]
#[test]
fn a_failed_write_leaves_no_file() {
    const VARIABLE: &str = "WGCL_CACHE_TEST_FULL";
    if let Some(path) = std::env::var_os(VARIABLE) {
        let cache = Cache::new(Path::new(&path), DEFAULT_LIMIT);
        cache.store(&key(1), &[7; 100_000]);
        assert_eq!(cache.find(&key(1)), None, "nothing was written");
        return;
    }
    let folder = folder();
    let program = std::env::current_exe().expect("this program");
    // The shell ignores SIGXFSZ, so that a write beyond the limit fails with an error, as on a full disk. The unit of
    // `ulimit -f` is 512 or 1,024 bytes.
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact cache::tests::a_failed_write_leaves_no_file"])
        .arg(program)
        .env(VARIABLE, folder.path())
        .stdout(Stdio::null())
        .status()
        .expect("a shell");
    assert!(status.success(), "{status}");
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    Cache::new(folder.path(), DEFAULT_LIMIT).store(&key(1), b"one");
    let set = |mode| {
        for path in [folder.path().join("v1"), Cache::new(folder.path(), DEFAULT_LIMIT).shard(&key(1))] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
        }
    };
    set(0o500);
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    assert_eq!(cache.find(&key(1)).as_deref(), Some(b"one".as_slice()));
    cache.store(&key(2), b"two");
    // The second entry is found only if the test runs as the superuser, who may write to any folder.
    let found = cache.find(&key(2));
    assert!(found.is_none() || found.as_deref() == Some(b"two"), "{found:?}");
    set(0o700);
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let entries = folder.path().join("v1");
    fs::create_dir(&entries).expect("a folder");
    let options = Options { cache_dir: Some(folder.path().to_owned()), ..Options::default() };
    for (mode, is_used) in [(0o700, true), (0o755, true), (0o777, false), (0o720, false)] {
        fs::set_permissions(&entries, fs::Permissions::from_mode(mode)).expect("permissions");
        assert_eq!(Cache::of_options(&options, || None).is_some(), is_used, "{mode:o}");
    }
}

/// Several writers of one folder are killed at random moments: every entry that is found afterwards is complete.
#[cfg(unix)]
#[test]
fn writers_may_be_killed() {
    const VARIABLE: &str = "WGCL_CACHE_TEST_KILLED";
    let contents = |number: u32| vec![number as u8; 20_000 + number as usize];
    if let Some(path) = std::env::var_os(VARIABLE) {
        let cache = Cache::new(Path::new(&path), DEFAULT_LIMIT);
        // The parent kills this process; otherwise the loop ends at this limit.
        for round in 0..100_000 {
            cache.store(&key(round % 50), &contents(round % 50));
        }
        return;
    }
    let folder = folder();
    let program = std::env::current_exe().expect("this program");
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    let mut found = 0;
    for round in 0..4u64 {
        let mut writers: Vec<_> = (0..2)
            .map(|_| {
                Command::new(&program)
                    .args(["--exact", "cache::tests::writers_may_be_killed"])
                    .env(VARIABLE, folder.path())
                    .stdout(Stdio::null())
                    .spawn()
                    .expect("a writer")
            })
            .collect();
        std::thread::sleep(Duration::from_millis(60 + 7 * round));
        for number in 0..50 {
            if let Some(bytes) = cache.find(&key(number)) {
                assert!(bytes == contents(number), "{number}");
                found += 1;
            }
        }
        for writer in &mut writers {
            writer.kill().expect("killed");
            writer.wait().expect("its end");
        }
    }
    assert!(found > 0, "the writers were too slow for the test");
}

#[test]
fn options_select_the_folder_and_the_limit() {
    let usual: fn() -> Option<PathBuf> = || Some(PathBuf::from("/usual"));
    let folder = |options: Options| Cache::of_options(&options, usual).map(|cache| (cache.folder, cache.limit));
    assert_eq!(folder(Options::default()), Some(("/usual/wgcl/v1".into(), DEFAULT_LIMIT)));
    assert_eq!(folder(Options { cache: Some("0".into()), ..Options::default() }), None);
    let given = Options { cache_dir: Some("/given".into()), cache_size: Some("3".into()), ..Options::default() };
    assert_eq!(folder(given), Some(("/given/v1".into(), 3 << 20)));
    assert!(Cache::of_options(&Options::default(), || None).is_none(), "there is no cache directory");
}

#[test]
fn programs_are_invalid_after_a_header_changes() {
    let folder = folder();
    let cache = Cache::new(&folder.path().join("cache"), DEFAULT_LIMIT);
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    fs::create_dir_all(&first).and_then(|()| fs::create_dir_all(&second)).expect("folders");
    fs::write(second.join("value.h"), "#define VALUE 1\n").expect("a header");
    let unit = Unit {
        options: format!("-I {} -I {}", first.display(), second.display()),
        source: "#include \"value.h\"\nkernel void k(global int *a) { *a = VALUE; }".into(),
        ..Unit::default()
    };
    let target = Target::full();
    let make = |unit: &Unit| {
        let options = parse_options(&unit.options).expect("options");
        let built = wgcl_compiler::build::build(&Source { text: unit.source.clone(), ..Source::default() }, &options, &target);
        let program = built.program.expect("a program");
        let name = store_program(&cache, unit, &target, &program, "a log", &built.files).expect("it is kept");
        let mut reported = None;
        assert_eq!(find_program(&cache, unit, &target, |name| reported = Some(name)).map(|(.., name)| name), Some(name));
        assert_eq!(reported, Some(name));
        program.module.to_string()
    };
    let found =
        |unit: &Unit, target: &Target| find_program(&cache, unit, target, drop).map(|(program, log, _)| (program.module.to_string(), log));
    assert_eq!(found(&unit, &target), None);
    let one = make(&unit);
    assert_eq!(found(&unit, &target), Some((one.clone(), "a log".to_owned())));

    fs::write(second.join("value.h"), "#define VALUE 2\n").expect("a header");
    assert_eq!(found(&unit, &target), None, "the header has changed");
    assert_ne!(make(&unit), one);
    fs::write(first.join("value.h"), "#define VALUE 1\n").expect("a header");
    assert_eq!(found(&unit, &target), None, "another header is found first");
    assert_eq!(make(&unit), one);
    fs::remove_file(first.join("value.h")).expect("removed");
    assert_eq!(found(&unit, &target), None, "the header is deleted");

    make(&unit);
    assert!(found(&unit, &target).is_some());
    assert_eq!(found(&Unit { options: format!("{} -DX", unit.options), ..unit.clone() }, &target), None, "other options");
    assert_eq!(found(&Unit { headers: [("x.h".to_owned(), String::new())].into(), ..unit.clone() }, &target), None, "other headers");
    assert_eq!(found(&unit, &target.clone().changed(|target| target.language.fp64 = false)), None, "another device");
}
