//! `WGCL_JITDUMP=1` writes a file that `perf inject --jit` reads: the code of each kernel, and the source line of each
//! piece of code.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;

use std::process::Command;

const SOURCE: &str = "kernel void busy(global float *a, int n) {
    float x = a[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = native_sin(x) * 1.5f + k;
    a[get_global_id(0)] = x;
}
";

/// A record of the file.
struct Record {
    kind: u32,
    body: Vec<u8>,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The text up to the zero byte.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().expect("a part")).into_owned()
}

fn records(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (record, rest) = bytes.split_at(word(bytes, 4) as usize);
        assert!(long(record, 8) > 0, "the time");
        records.push(Record { kind: word(record, 0), body: record[16..].to_vec() });
        bytes = rest;
    }
    records
}

#[test]
fn the_file_has_the_code_and_the_lines_of_each_kernel() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.cl"), SOURCE).expect("the source");
    let library = common::library_under_test().expect("the library");
    let mut command = Command::new(library.with_file_name("wgclc"));
    command.args(["run", "k.cl", "busy", "global=64", "a: float[64] = i", "n: int = 3"]).current_dir(folder.path());
    command.env("WGCL_LIBRARY", &library).env("WGCL_CPU", "1").env("WGCL_JITDUMP", "1").env("JITDUMPDIR", folder.path());
    for variable in ["WGCL_CHECK", "WGCL_INTERPRETER", "WGCL_DEVICE"] {
        command.env_remove(variable);
    }
    let output = command.output().expect("wgclc, built with the same profile");
    assert!(output.status.success(), "{}", text(&output.stderr));
    if !text(&output.stdout).contains("first launch") || !common::is_cpu() {
        return;
    }
    let files = std::fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry").path());
    let dumps: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "dump")).collect();
    let [dump] = &dumps[..] else { unreachable!("one file: {dumps:?}") };
    let pid: u32 = text(dump.file_stem().expect("a name").as_encoded_bytes()).trim_start_matches("jit-").parse().expect("a process id");
    let bytes = std::fs::read(dump).expect("the file");
    let machine = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    assert_eq!([0, 4, 8, 12, 16, 20].map(|at| word(&bytes, at)), [0x4A69_5444, 1, 40, machine, 0, pid]);

    let records = records(&bytes[40..]);
    let [lines, code, ..] = &records[..] else { unreachable!("two records") };
    assert_eq!((lines.kind, code.kind), (2, 0));
    let (address, size) = (long(&code.body, 8), long(&code.body, 24));
    assert_eq!((word(&code.body, 0), long(&code.body, 16), long(&code.body, 32)), (pid, address, 0));
    let name = text(&code.body[40..]);
    assert!(name.starts_with("busy."), "{name}");
    assert_eq!(code.body.len() as u64, 40 + name.len() as u64 + 1 + size);
    assert_eq!(long(&lines.body, 0), address);
    let mut found = Vec::new();
    let mut rest = &lines.body[16..];
    for _ in 0..long(&lines.body, 8) {
        let (at, line, file) = (long(rest, 0), word(rest, 8), text(&rest[16..]));
        assert!((address..address + size).contains(&at) && file == "k.cl", "{at:#x} {file}");
        found.push(line);
        rest = &rest[16 + file.len() + 1..];
    }
    assert!(rest.is_empty());
    found.sort_unstable();
    found.dedup();
    assert!([2, 4, 5].iter().all(|line| found.contains(line)), "{found:?}");
}
