//! The size limit and the cost of enforcing it. The cost is the number of examined files, not a time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::shard::{BLOCK, INTERVAL, LEDGER, STAMP, TEMPORARY_PREFIX, blocks};
use super::super::{Cache, DEFAULT_LIMIT, Key, SHARDS};
use super::{files, folder, key, set_age};

/// Bytes that all entries take on disk.
fn size(folder: &Path) -> u64 {
    files(folder).iter().map(|path| blocks(path.metadata().map_or(0, |data| data.len())) * BLOCK).sum()
}

/// The number of files that a cache has examined.
fn examined_files(cache: &Cache) -> u64 {
    cache.examined.load(Ordering::Relaxed)
}

/// Creates entries as hard links to a few files, which is faster than [`Cache::store`]. A file has a limited number of
/// links, so every 1,000 entries share one file.
fn plant(cache: &Cache, numbers: std::ops::Range<u32>) {
    for shard in 0..SHARDS {
        fs::create_dir_all(cache.folder.join(format!("{shard:02x}"))).expect("a folder");
    }
    let mut first = None;
    for number in numbers {
        let path = cache.shard(&key(number)).join(key(number).to_string());
        if number % 1000 == 0 {
            fs::write(&path, [0; 8]).expect("an entry");
            first = Some(path);
        } else {
            fs::hard_link(first.as_ref().expect("an entry"), path).expect("an entry");
        }
    }
}

#[test]
fn used_entries_stay_within_the_limit() {
    let folder = folder();
    let limit = u64::from(SHARDS) * BLOCK * 4;
    let cache = Cache::new(folder.path(), limit);
    cache.store(&key(0), &[1; 1000]);
    for number in 1..1000 {
        cache.store(&key(number), &[0; 1000]);
        // Entry 0 was last used before the touch interval, and the other entries even earlier. `find` then uses entry 0
        // again.
        for path in files(folder.path()) {
            let age = if path.ends_with(key(0).to_string()) { 1000 } else { 5000 };
            set_age(&path, Duration::from_secs(age));
        }
        assert!(cache.find(&key(0)).is_some(), "{number}");
    }
    let sum = size(folder.path());
    assert!(sum <= limit && sum > limit / 4, "{sum} of {limit}");
    cache.store(&key(5000), &[0; 4 * BLOCK as usize]);
    assert_eq!(cache.find(&key(5000)), None, "larger than the limit of a shard");
}

#[test]
fn least_recently_used_entries_are_removed_first() {
    let folder = folder();
    let cache = Cache::new(folder.path(), u64::from(SHARDS) * BLOCK * 8);
    // All keys are in one shard.
    let same: Vec<u32> = (0..).filter(|&number| key(number).bytes()[0].is_multiple_of(SHARDS)).take(10).collect();
    let (last, kept) = same.split_last().expect("ten");
    let (first, rest) = kept.split_first().expect("nine");
    for &number in rest {
        cache.store(&key(number), b"an entry");
    }
    // Entries with smaller numbers were used longer ago.
    for (index, &number) in rest.iter().enumerate() {
        set_age(&cache.shard(&key(number)).join(key(number).to_string()), Duration::from_secs(9000 - 100 * index as u64));
    }
    assert_eq!(examined_files(&cache), 1, "the first writer examined its own entry");
    cache.store(&key(*first), b"one more than there is room for");
    assert_eq!(examined_files(&cache), 10);
    let found: Vec<bool> = rest.iter().map(|&number| cache.find(&key(number)).is_some()).collect();
    assert_eq!(found, [false, false, false, true, true, true, true, true], "six of eight blocks remain, including the new one");
    assert!(cache.find(&key(*first)).is_some());
    cache.store(&key(*last), b"another small entry here");
    assert_eq!(examined_files(&cache), 10, "the next writers examine nothing");
}

#[test]
fn many_writes_do_not_exceed_the_limit() {
    let folder = folder();
    let limit = 4 << 20;
    // Four caches act like four processes: they share only files.
    let caches: Vec<Cache> = (0..4).map(|_| Cache::new(folder.path(), limit)).collect();
    let mut largest = 0;
    for number in 0..6000u32 {
        let cache = &caches[number as usize % caches.len()];
        cache.store(&key(number), &vec![0; number as usize * 37 % 10_000]);
        assert!(cache.find(&key(number)).is_some(), "the last entry is found");
        if number % 50 == 0 {
            largest = largest.max(size(folder.path()));
            assert!(largest <= limit, "{largest} bytes after {number} writes");
        }
    }
    assert!(largest > limit / 2, "the cache was never full: {largest}");
    let cost: u64 = caches.iter().map(examined_files).sum();
    assert!(cost < 6000 * 6, "{cost} files examined for 6000 writes");
}

#[test]
fn concurrent_writes_do_not_exceed_the_limit() {
    let folder = folder();
    let limit = 1 << 20;
    let cache = Cache::new(folder.path(), limit);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || (0..1000).for_each(|number| cache.store(&key(thread * 1000 + number), &[0; 3000])));
        }
    });
    let sum = size(folder.path());
    assert!(sum <= limit && sum > limit / 2, "{sum}");
}

/// Entries of another process count, too, even if this process never read them.
#[test]
fn entries_of_another_process_count() {
    const VARIABLE: &str = "WGCL_CACHE_TEST_OTHER";
    let limit = 4 << 20;
    if let Some(path) = std::env::var_os(VARIABLE) {
        let cache = Cache::new(Path::new(&path), limit);
        (10_000..10_700).for_each(|number| cache.store(&key(number), &[0; 900]));
        return;
    }
    let folder = folder();
    let cache = Cache::new(folder.path(), limit);
    (0..600).for_each(|number| cache.store(&key(number), &[0; 900]));
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "cache::tests::size::entries_of_another_process_count"])
        .env(VARIABLE, folder.path())
        .stdout(Stdio::null())
        .status()
        .expect("another process");
    assert!(status.success(), "{status}");
    assert!(cache.find(&key(10_699)).is_some(), "the other process has written");
    (1000..1400).for_each(|number| cache.store(&key(number), &[0; 900]));
    let sum = size(folder.path());
    assert!(sum <= limit && sum > limit / 2, "{sum} of {limit}");
}

/// The folder has many entries and no ledger, as an earlier version has left it. On Windows there are fewer entries,
/// because Wine reads the whole folder for each new file.
#[test]
fn a_write_examines_few_of_many_entries() {
    const ENTRIES: u32 = if cfg!(windows) { 20_000 } else { 100_000 };
    // The folder is in memory if possible: creating all entries on a busy disk takes half a minute.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| folder());
    let roomy = Cache::new(folder.path(), DEFAULT_LIMIT);
    plant(&roomy, 0..ENTRIES);
    (0..1000).for_each(|number| roomy.store(&key(ENTRIES + number), b"one more"));
    let once = examined_files(&roomy);
    assert!(once <= u64::from(ENTRIES) + 1000, "each file was examined at most once: {once}");
    // A second cache uses the existing ledger, and examines nothing.
    let other = Cache::new(folder.path(), DEFAULT_LIMIT);
    (0..1000).for_each(|number| other.store(&key(ENTRIES + 1000 + number), b"one more"));
    assert_eq!(examined_files(&other), 0);

    // The writes of a third cache exceed its lower limit. After the first recount, the cost depends on the number of
    // writes, not on the number of entries.
    let full = Cache::new(folder.path(), u64::from(ENTRIES) * BLOCK);
    let writes = 5000;
    (0..writes).for_each(|number| full.store(&key(ENTRIES + 2000 + number), b"one more"));
    let cost = examined_files(&full);
    assert!(cost > 0 && cost <= u64::from(ENTRIES + 2000 + 4 * writes), "{cost}");
    let remaining = files(folder.path()).len();
    assert!(remaining <= ENTRIES as usize && remaining > ENTRIES as usize / 2, "{remaining}");
}

#[test]
fn removed_files_free_space() {
    let folder = folder();
    let limit = u64::from(SHARDS) * BLOCK * 8;
    let cache = Cache::new(folder.path(), limit);
    for round in 0..20 {
        (0..100).for_each(|number| cache.store(&key(round * 100 + number), b"an entry"));
        match round % 4 {
            // Removes whole folders, single entries or single ledgers, as any process may at any time.
            0 => fs::remove_dir_all(&cache.folder).expect("removed"),
            1 => files(folder.path()).iter().for_each(|path| fs::remove_file(path).expect("removed")),
            2 => (0..SHARDS).for_each(|shard| drop(fs::remove_file(cache.folder.join(format!("{shard:02x}/{LEDGER}"))))),
            _ => (0..SHARDS).for_each(|shard| drop(fs::remove_file(cache.folder.join(format!("{shard:02x}/{STAMP}"))))),
        }
        let next = key(round * 100 + 99);
        cache.store(&next, b"the next");
        assert_eq!(cache.find(&next).as_deref(), Some(b"the next".as_slice()), "round {round}");
        assert!(size(folder.path()) <= limit);
    }
}

/// A recount finds files that the ledger does not count: here, temporary files of a killed writer and of a living one.
#[test]
fn a_shard_is_recounted_after_the_interval() {
    let folder = folder();
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    cache.store(&key(1), b"one");
    let shard = cache.shard(&key(1));
    let (old, new) = (shard.join(format!("{TEMPORARY_PREFIX}old")), shard.join(format!("{TEMPORARY_PREFIX}new")));
    for path in [&old, &new] {
        fs::write(path, b"half of it").expect("a file");
    }
    set_age(&old, Duration::from_secs(10_000));
    let ledger = || fs::metadata(shard.join(LEDGER)).map_or(0, |data| data.len());
    cache.store(&key(1), b"one again");
    assert_eq!((ledger(), examined_files(&cache)), (2, 1), "the shard is not scanned before the interval ends");
    set_age(&shard.join(STAMP), INTERVAL + Duration::from_secs(10));
    cache.store(&key(1), b"and again");
    assert!(!old.exists() && new.exists(), "a living writer keeps its file");
    assert_eq!(ledger(), 3, "the entry, its replacement, and the entry of the other writer");
    assert_eq!(cache.find(&key(1)).as_deref(), Some(b"and again".as_slice()));
}

/// A process that is killed during a recount leaves `UNIX_EPOCH` as the time of the stamp: the next process recounts.
#[test]
fn another_process_recounts_after_one_is_killed() {
    let folder = folder();
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    cache.store(&key(1), b"one");
    let shard = cache.shard(&key(1));
    fs::File::options().append(true).open(shard.join(LEDGER)).and_then(|file| file.set_len(0)).expect("the ledger of the first entry");
    let stamp = fs::File::options().append(true).open(shard.join(STAMP)).expect("the stamp");
    stamp.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("its time");
    let before = examined_files(&cache);
    cache.store(&key(1), b"one again");
    assert_eq!(examined_files(&cache), before + 2);
    // While another process recounts the shard, no process waits: entries within the limit are stored.
    stamp.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("its time");
    stamp.lock().expect("the lock");
    cache.store(&Key::of(&[b"other"]), b"other contents");
    cache.store(&key(1), b"a third time");
    assert_eq!(cache.find(&key(1)).as_deref(), Some(b"a third time".as_slice()));
}
