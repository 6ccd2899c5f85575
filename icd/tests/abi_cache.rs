//! The disk cache across processes: each run of the application is a child process that uses the cache folder of the
//! test.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::objects::Context;
use common::{device_name, target};

/// Environment variable of the child process that acts as the application. Its value is the folder of the application's
/// headers.
const APPLICATION: &str = "WGCL_TEST_CACHE_APPLICATION";

const SOURCE: &str = "
    #include \"factor.h\"
    constant int table[4] = {1, 2, 3, 4};
    kernel void scale(global int *a, local int *l, int by) {
        int i = get_local_id(0);
        l[i] = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(0)] = l[get_local_size(0) - 1 - i] * by * FACTOR + table[i & 3];
    }
    kernel void print(int a) { printf(\"printed %d\\n\", a); }";

/// Does the work of the application. Ends the process with a status that depends on the results of the kernels.
#[test]
#[ignore = "the tests start it in child processes"]
fn application() {
    let headers = std::env::var(APPLICATION).expect("a test starts it");
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.program(SOURCE);
    assert_eq!(program.build(&format!("-I {headers}")), 0, "{}", program.log());
    let mem = context.buffer(64 * 4);
    queue.write(&mem, &(0..64).collect::<Vec<i32>>());
    let scale = program.kernel("scale");
    scale.set_mem(0, &mem);
    assert_eq!(target().cl.clSetKernelArg(scale.0, 1, 64, std::ptr::null()), 0);
    assert_eq!(scale.set(2, &3i32), 0);
    assert_eq!(queue.launch(&scale, &[64], Some(&[16])), 0);
    let print = program.kernel("print");
    assert_eq!(print.set(0, &5i32), 0);
    assert_eq!(queue.launch(&print, &[1], None), 0);
    let factor: i32 = fs::read_to_string(Path::new(&headers).join("factor.h"))
        .expect("the header")
        .split_whitespace()
        .last()
        .map_or(0, |n| n.parse().expect("a number"));
    let expected: Vec<i32> = (0..64).map(|i| (i / 16 * 16 + 15 - i % 16) * 3 * factor + [1, 2, 3, 4][i as usize % 4]).collect();
    assert_eq!(queue.read::<i32>(&mem, 64), expected);
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        folder.set_factor(2);
        folder
    }

    fn set_factor(&self, factor: i32) {
        fs::write(self.0.path().join("factor.h"), format!("#define FACTOR {factor}\n")).expect("the header");
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    fn start(&self) -> Child {
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "application", "--ignored", "--nocapture"])
            .env(APPLICATION, self.0.path())
            .env("WGCL_CACHE", "1")
            .env("WGCL_CACHE_DIR", self.cache())
            .env("WGCL_LOG", "wgcl_api::cache=debug,wgcl_runtime=debug")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the application")
    }

    /// Runs the application to its end, and counts its cache hits.
    fn run(&self) -> usize {
        hits(self.start())
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        entries(&self.cache()).iter().flat_map(|version| entries(version)).flat_map(|shard| entries(&shard)).collect()
    }
}

fn hits(child: Child) -> usize {
    log(child).matches("cache hit: ").count()
}

/// Waits for the end of the application, checks its results, and returns the log of the driver.
fn log(child: Child) -> String {
    let output = child.wait_with_output().expect("its end");
    let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{log}");
    assert!(out.contains("printed 5"), "{out}");
    log.into_owned()
}

/// Whether the platform under test is wgcl. Other platforms need not cache programs.
///
/// # Panics
/// If the device is the interpreter, which compiles nothing for a device. `scripts/test` excludes these tests on the
/// interpreter.
fn applies() -> bool {
    let target = target();
    assert!(!device_name(target).contains("interpreter"), "the interpreter caches no kernels: exclude the tests of abi_cache");
    target.is_wgcl()
}

#[test]
fn the_second_run_loads_what_the_first_stored() {
    if !applies() {
        return;
    }
    let folder = Folder::new();
    assert_eq!(folder.run(), 0);
    let kept = folder.files().len();
    assert!(kept >= 2, "the program and a kernel: {kept}");
    assert!(folder.run() >= 2);
    assert_eq!(folder.files().len(), kept, "nothing was compiled again");
    folder.set_factor(7);
    folder.run();
    folder.set_factor(2);
    folder.run();
}

#[test]
fn the_second_run_loads_the_kernels_that_the_first_launched() {
    if !applies() {
        return;
    }
    let folder = Folder::new();
    let recalls = |log: String| log.matches("the history lists 2 launch keys of earlier processes").count();
    assert_eq!(recalls(log(folder.start())), 0);
    assert_eq!(recalls(log(folder.start())), 1);
    folder.set_factor(3);
    assert_eq!(recalls(log(folder.start())), 0, "another program");
    folder.set_factor(2);
    assert_eq!(recalls(log(folder.start())), 1, "the cache lost the result of the first program");
}

#[test]
fn missing_cache_files_are_written_again() {
    if !applies() {
        return;
    }
    let folder = Folder::new();
    folder.run();
    let files = folder.files();
    assert!(files.len() >= 3, "the program, a kernel, the launches: {}", files.len());
    for path in &files {
        fs::remove_file(path).expect("removed");
        folder.run();
    }
    assert!(folder.run() >= 3);
}

#[test]
fn damaged_cache_files_are_ignored() {
    if !applies() {
        return;
    }
    let folder = Folder::new();
    folder.run();
    for (index, path) in folder.files().iter().enumerate() {
        let mut bytes = fs::read(path).expect("a file");
        match index % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes.clear(),
            _ => bytes.iter_mut().skip(100).for_each(|byte| *byte = !*byte),
        }
        fs::write(path, bytes).expect("a damaged file");
    }
    assert_eq!(folder.run(), 0);
    assert!(folder.run() >= 2, "the damaged files should have been replaced");
    for path in folder.files() {
        fs::remove_file(&path).and_then(|()| fs::create_dir(&path)).expect("a folder where a file should be");
    }
    assert_eq!(folder.run(), 0);
    fs::remove_dir_all(folder.cache()).and_then(|()| fs::write(folder.cache(), "")).expect("a file where the folder should be");
    assert_eq!(folder.run(), 0);
}

#[test]
fn processes_share_the_cache_and_may_be_killed() {
    if !applies() {
        return;
    }
    let folder = Folder::new();
    for round in 0..3 {
        let children: Vec<_> = (0..3).map(|_| folder.start()).collect();
        for (index, mut child) in children.into_iter().enumerate() {
            if index == 1 {
                std::thread::sleep(std::time::Duration::from_millis(40 * round));
                child.kill().and_then(|()| child.wait()).expect("killed");
            } else {
                hits(child);
            }
        }
    }
    assert!(folder.run() >= 2);
}
