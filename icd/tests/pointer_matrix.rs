//! Accesses memory of one element type through pointers to another element type: 16 by 16 types, in global, local,
//! private and constant memory.
//!
//! There is a kernel for each declared type and address space. Its memory has the declared type, and a section for each
//! of the 16 types. The kernel casts the address of a section to a pointer to the other type, and loads and stores
//! through this pointer. Then it copies an element of the declared type over the result. In constant memory, the kernel
//! only loads. The host does the same with bytes. On GPUs and lavapipe, only every fourth declared type is tested,
//! unless `WGCL_TEST_FULL=1` is set.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::ffi::{CL_DEVICE_PROFILE, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, CL_SUCCESS};
use common::objects::Context;
use common::{info_string, is_cpu, target};
use std::fmt::Write as _;

/// An element type: its name in OpenCL C, its size, and the byte ranges that contain a value. The other bytes are
/// padding.
struct Element {
    name: &'static str,
    size: usize,
    used: &'static [(usize, usize)],
}

const fn element(name: &'static str, size: usize, used: &'static [(usize, usize)]) -> Element {
    Element { name, size, used }
}

const ELEMENTS: [Element; 16] = [
    element("char", 1, &[(0, 1)]),
    element("ushort", 2, &[(0, 2)]),
    element("int", 4, &[(0, 4)]),
    element("float", 4, &[(0, 4)]),
    element("long", 8, &[(0, 8)]),
    element("double", 8, &[(0, 8)]),
    element("uchar3", 4, &[(0, 3)]),
    element("char4", 4, &[(0, 4)]),
    element("short2", 4, &[(0, 4)]),
    element("int3", 16, &[(0, 12)]),
    element("float4", 16, &[(0, 16)]),
    element("ulong2", 16, &[(0, 16)]),
    element("short8", 16, &[(0, 16)]),
    element("double16", 128, &[(0, 128)]),
    element("struct packed", 7, &[(0, 7)]),
    element("struct mixed", 16, &[(0, 1), (4, 14)]),
];

const STRUCTS: &str = "
struct __attribute__((packed)) packed { char a; int b; ushort c; };
struct mixed { char a; union { int i; float f; } b[2]; short c; };
";

/// The strictest alignment of a type in bytes. Sections start at multiples of it.
const ALIGN: usize = 128;
/// The minimum number of elements of a section.
const ELEMENTS_PER_SECTION: usize = 4;

/// Returns the size in bytes of a section in memory of the declared type. A section contains whole elements of this
/// type, and enough bytes for elements of any other type.
fn section(declared: &Element) -> usize {
    let least = ELEMENTS_PER_SECTION * ALIGN;
    (least..).step_by(ALIGN).find(|bytes| bytes % declared.size == 0).unwrap_or(least)
}

/// Returns bytes that form neither a NaN nor a denormal, because a device could change these.
fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|i| 0x20 + u8::try_from((i * 37 + i / 64 * 11) % 0x50).unwrap_or(0)).collect()
}

/// The expected bytes. A byte is `None` if the language leaves it undefined.
type Memory = Vec<Option<u8>>;

fn copy(memory: &mut Memory, to: usize, from: usize, element: &Element) {
    let old: Memory = memory[from..from + element.size].to_vec();
    memory[to..to + element.size].fill(None);
    for &(start, end) in element.used {
        memory[to + start..to + end].copy_from_slice(&old[start..end]);
    }
}

/// Returns the expected contents of the memory of the declared type, and of the results, after a kernel has run.
fn expected(declared: &Element, writable: bool) -> (Memory, Memory) {
    let bytes = section(declared);
    let mut memory: Memory = pattern(bytes * ELEMENTS.len()).into_iter().map(Some).collect();
    let mut results: Memory = vec![Some(0); ALIGN * ELEMENTS.len()];
    for (index, other) in ELEMENTS.iter().enumerate() {
        let base = index * bytes;
        let out = index * ALIGN;
        results[out..out + other.size].fill(None);
        for &(start, end) in other.used {
            results[out + start..out + end].copy_from_slice(&memory[base + other.size + start..base + other.size + end]);
        }
        if writable {
            copy(&mut memory, base + 2 * other.size, base, other);
            copy(&mut memory, base + declared.size, base + 2 * declared.size, declared);
        }
    }
    (memory, results)
}

fn source(space: &str, declared: &Element) -> String {
    let bytes = section(declared);
    let (total, count) = (bytes * ELEMENTS.len(), bytes * ELEMENTS.len() / declared.size);
    let name = declared.name;
    let own = matches!(space, "local" | "private");
    let mut text = String::new();
    let write = |text: &mut String, line: std::fmt::Arguments<'_>| {
        // Ignore the result, because writing to a string cannot fail.
        let _ = text.write_fmt(line);
    };
    let argument = if own { "global uint *in" } else { "" };
    let parameter = if own { String::new() } else { format!("{space} {name} *m") };
    write(&mut text, format_args!("kernel void k({argument}{parameter}, global uchar *out)\n{{\n"));
    if own {
        write(&mut text, format_args!("    {space} {name} m[{count}] __attribute__((aligned({ALIGN})));\n"));
        write(&mut text, format_args!("    for (int i = 0; i < {total} / 4; i++) (({space} uint *)m)[i] = in[i];\n"));
    }
    for (index, other) in ELEMENTS.iter().enumerate() {
        let (first, other_name) = (index * bytes / declared.size, other.name);
        write(&mut text, format_args!("    {{\n        {space} {other_name} *p = ({space} {other_name} *)(m + {first});\n"));
        write(&mut text, format_args!("        *(global {other_name} *)(out + {}) = p[1];\n", index * ALIGN));
        if space != "constant" {
            write(
                &mut text,
                format_args!("        p[2] = p[0];\n        {space} {name} *q = ({space} {name} *)p;\n        q[1] = q[2];\n"),
            );
        }
        text.push_str("    }\n");
    }
    if own {
        write(&mut text, format_args!("    for (int i = 0; i < {total} / 4; i++) in[i] = (({space} uint *)m)[i];\n"));
    }
    text.push_str("}\n");
    text
}

fn compare(what: &str, got: &[u8], wanted: &Memory, step: usize) {
    let wrong: Vec<usize> = (0..wanted.len()).filter(|&at| wanted[at].is_some_and(|byte| byte != got[at])).collect();
    if let Some(&at) = wrong.first() {
        let other = ELEMENTS.get(at / step).map_or("?", |element| element.name);
        panic!(
            "{what}: {} bytes are wrong, the first is byte {} of the section of `{other}`: {:#x} instead of {:x?}",
            wrong.len(),
            at % step,
            got[at],
            wanted[at]
        );
    }
}

fn run(space: &str) {
    let profile = info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_PROFILE, size, value, ret));
    if profile.as_deref() != Ok("FULL_PROFILE") {
        eprintln!("the device has no 64-bit integers");
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mut text = STRUCTS.to_owned();
    let all = is_cpu() || std::env::var("WGCL_TEST_FULL").is_ok_and(|value| value == "1");
    let selected = || ELEMENTS.iter().enumerate().step_by(if all { 1 } else { 4 });
    for (index, declared) in selected() {
        text.push_str(&source(space, declared).replace("kernel void k(", &format!("kernel void k{index}(")));
    }
    let program = context.build(&text);
    for (index, declared) in selected() {
        let mut before = pattern(section(declared) * ELEMENTS.len());
        let memory = context.buffer_with(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, before.len(), before.as_mut_ptr().cast());
        let out = context.buffer(ALIGN * ELEMENTS.len());
        queue.write(&out, &vec![0u8; ALIGN * ELEMENTS.len()]);
        let kernel = program.kernel(&format!("k{index}"));
        kernel.set_mem(0, &memory);
        kernel.set_mem(1, &out);
        assert_eq!(queue.launch(&kernel, &[1], Some(&[1])), CL_SUCCESS, "{space} {}", declared.name);
        let (wanted, results) = expected(declared, space != "constant");
        let name = format!("{space} {}", declared.name);
        compare(&format!("{name}, loads"), &queue.read::<u8>(&out, results.len()), &results, ALIGN);
        compare(&format!("{name}, stores"), &queue.read::<u8>(&memory, wanted.len()), &wanted, section(declared));
    }
}

#[test]
fn global_memory() {
    run("global");
}

#[test]
fn local_memory() {
    run("local");
}

#[test]
fn private_memory() {
    run("private");
}

#[test]
fn constant_memory() {
    run("constant");
}
