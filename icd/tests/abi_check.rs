//! `WGCL_CHECK=1` reports each out-of-bounds access exactly, prevents it, and fails the launch. Correct kernels have
//! the same results as without the option.
//!
//! Reports go to standard error. The kernels therefore run in a child process, whose output the test compares.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};

use common::ffi::{CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_SUCCESS, cl_buffer_region, cl_int};
use common::objects::{Context, Mem, Queue};
use common::target;

const CL_OUT_OF_RESOURCES: cl_int = -5;
/// Environment variable that is set in the process that runs the kernels.
const CHILD: &str = "WGCL_TEST_CHECKED";
/// The number of words of each buffer. [`AROUND`] is the number of words of each guard area next to a buffer.
const WORDS: usize = 16;
const AROUND: usize = 4 * WORDS;

/// A kernel with one invalid access.
struct Wrong {
    name: &'static str,
    /// The statement that only work-item 3 executes, on line 9.
    statement: &'static str,
    /// The part of the expected report that begins with the description of the access.
    message: &'static str,
    /// The part of the statement that the report marks.
    at: &'static str,
}

const WRONG: &[Wrong] = &[
    Wrong {
        name: "beyond",
        statement: "out[at] = 7;",
        message: "store of 4 bytes at byte 64 of argument 'out', which has 64 bytes",
        at: "out[at]",
    },
    Wrong {
        name: "before",
        statement: "out[-at] = 7;",
        message: "store of 4 bytes at byte -64 of argument 'out', which has 64 bytes",
        at: "out[-at]",
    },
    Wrong {
        name: "reads",
        statement: "out[i] = in[at];",
        message: "load of 4 bytes at byte 64 of argument 'in', which has 64 bytes",
        at: "in[at]",
    },
    Wrong {
        name: "one_more",
        statement: "for (int k = 0; k <= at; k++) out[i] += in[k];",
        message: "load of 4 bytes at byte 64 of argument 'in', which has 64 bytes",
        at: "in[k]",
    },
    Wrong {
        name: "far_away",
        statement: "out[at + 0x100000000L] = 1;",
        message: "store of 4 bytes at byte 17179869248 of argument 'out', which has 64 bytes",
        at: "out[at",
    },
    Wrong {
        name: "local_array",
        statement: "out[i] = block[at];",
        message: "load of 4 bytes at byte 64 of the local variable 'block', which has 32 bytes",
        at: "block[at]",
    },
    Wrong {
        name: "local_argument",
        statement: "l[at] = 1;",
        message: "store of 4 bytes at byte 64 of argument 'l', which has 32 bytes",
        at: "l[at]",
    },
    Wrong {
        name: "private_array",
        statement: "int p[4] = {i, 1, 2, 3}; p[at] = in[0]; out[i] = p[in[0] & 3];",
        message: "store of 4 bytes at byte 64 of the private variable 'p', which has 16 bytes",
        at: "p[at]",
    },
    Wrong {
        name: "constant_table",
        statement: "out[i] = table[at];",
        message: "load of 4 bytes at byte 64 of the constant variable 'table', which has 20 bytes",
        at: "table[at]",
    },
    Wrong {
        name: "program_variable",
        statement: "counts[at - 20] += 1;",
        message: "load of 4 bytes at byte -16 of the global variable 'counts', which has 12 bytes",
        at: "counts[",
    },
    Wrong {
        name: "atomic",
        statement: "atomic_add(out + at, 1);",
        message: "atomic operation of 4 bytes at byte 64 of argument 'out', which has 64 bytes",
        at: "atomic_add",
    },
    Wrong {
        name: "exchange",
        statement: "atomic_cmpxchg(out - at, 9, 1);",
        message: "atomic operation of 4 bytes at byte -64 of argument 'out', which has 64 bytes",
        at: "atomic_cmpxchg",
    },
    Wrong {
        name: "wide_load",
        statement: "out[i] = vload4(0, in + at - 2).w;",
        message: "load of 16 bytes at byte 56 of argument 'in', which has 64 bytes",
        at: "vload4",
    },
    Wrong {
        name: "wide_store",
        statement: "vstore4((int4)(1), 0, out + at - 2);",
        message: "store of 16 bytes at byte 56 of argument 'out', which has 64 bytes",
        at: "vstore4",
    },
    Wrong {
        name: "bytes",
        statement: "((global char *)out)[4 * at + 1] = 1;",
        message: "store of 1 byte at byte 65 of argument 'out', which has 64 bytes",
        at: "((global",
    },
    Wrong {
        name: "structure",
        statement: "((global Five *)out)[at / 4] = *(global const Five *)in;",
        message: "at byte 80 of argument 'out', which has 64 bytes",
        at: "((global",
    },
    Wrong {
        name: "from_memory",
        statement: "*(global int *)(ulong)pointers[0] = 1;",
        message: "store of 4 bytes at address 0x10000, which is not in a memory object",
        at: "*(global",
    },
    Wrong {
        name: "null_pointer",
        statement: "out[i] = nothing[at];",
        message: "load of 4 bytes through a null pointer",
        at: "nothing[at]",
    },
];

fn source(wrong: &Wrong) -> String {
    format!(
        "typedef struct {{ int a[5]; }} Five;
        constant int table[5] = {{3, 1, 4, 1, 5}};
        global int counts[3];
        kernel void {}(global int *out, global const int *in, int at, local int *l, global const ulong *pointers, global const int *nothing) {{
            local int block[8];
            int i = get_global_id(0); block[get_local_id(0)] = i; l[get_local_id(0)] = in[i]; out[i] = i;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i == 3) {{\n{}\n}}
            out[i + 8] = block[get_local_id(0) ^ 1] + l[7 - get_local_id(0)];
        }}",
        wrong.name, wrong.statement
    )
}

/// Words of host memory: a guard area, the buffer, and another guard area.
#[repr(C, align(128))]
struct Words([u32; WORDS + 2 * AROUND]);

const _: () = assert!((4 * AROUND).is_multiple_of(128));

impl Words {
    fn new() -> Box<Self> {
        Box::new(Self(std::array::from_fn(|index| 0x5EED_0000 + index as u32)))
    }

    fn buffer(&mut self, context: &Context) -> Mem {
        let middle: *mut u32 = &raw mut self.0[AROUND];
        context.buffer_with(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 4 * WORDS, middle.cast())
    }

    /// Whether the words of both guard areas are unchanged.
    fn has_intact_guards(&self) -> bool {
        let fresh = Self::new();
        self.0[..AROUND] == fresh.0[..AROUND] && self.0[AROUND + WORDS..] == fresh.0[AROUND + WORDS..]
    }
}

/// Runs a kernel with an invalid access. Checks that the launch fails, and that memory around the buffers is unchanged.
fn run_wrong(context: &Context, queue: &Queue, wrong: &Wrong) {
    eprintln!("== {}", wrong.name);
    let program = context.program(&source(wrong));
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel(wrong.name);
    let (mut out, mut given) = (Words::new(), Words::new());
    let (out_buffer, in_buffer, pointers) = (out.buffer(context), given.buffer(context), context.buffer(8));
    queue.write(&pointers, &[0x10000_u64]);
    kernel.set_mem(0, &out_buffer);
    kernel.set_mem(1, &in_buffer);
    assert_eq!(kernel.set(2, &(WORDS as i32)), CL_SUCCESS);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 3, 32, null()), CL_SUCCESS);
    kernel.set_mem(4, &pointers);
    assert_eq!(kernel.set(5, &null_mut::<c_void>()), CL_SUCCESS);
    // Launch twice: both launches must fail, but the error must be reported only once.
    for _ in 0..2 {
        assert_eq!(queue.launch(&kernel, &[8], Some(&[8])), CL_SUCCESS);
        assert_eq!(target().cl.clFinish(queue.0), CL_OUT_OF_RESOURCES, "{}", wrong.name);
    }
    let words = queue.read::<u32>(&out_buffer, WORDS);
    let expected: Vec<u32> = (0..8).filter(|&i| i != 3).collect();
    assert_eq!([&words[..3], &words[4..8]].concat(), expected, "{}: the other work-items", wrong.name);
    assert!(out.has_intact_guards() && given.has_intact_guards(), "{}", wrong.name);
}

/// A SPIR-V module with source locations in `later.cl`. Its kernel `k` writes a word for each work-item.
const MODULE: &[u8] = include_bytes!("../../tests/spirv/later.spv");

/// Runs a kernel of the SPIR-V module that writes past the end of its buffer.
fn run_module(context: &Context, queue: &Queue) {
    eprintln!("== module");
    let program = context.program_with_il(MODULE);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    let (kernel, out) = (program.kernel("k"), context.buffer(8));
    kernel.set_mem(0, &out);
    assert_eq!(queue.launch(&kernel, &[4], Some(&[4])), CL_SUCCESS);
    assert_eq!(target().cl.clFinish(queue.0), CL_OUT_OF_RESOURCES);
}

/// Runs kernels that access exactly the bytes of their arguments.
fn run_right(context: &Context, queue: &Queue) {
    eprintln!("== right");
    let source = "
        kernel void edges(global int *out, global const char *in, local int *l, int n) {
            int i = get_global_id(0), last = get_global_size(0) - 1 - i, p[3] = {i, n, 7};
            l[i] = in[n - 1 - i];
            barrier(CLK_LOCAL_MEM_FENCE);
            int sum = 0;
            for (int k = 0; k < n; k++) sum += in[k] + p[(k + i) % 3] - p[(k + i) % 3];
            out[last] = sum + l[last] - l[last];
        }
        kernel void keep(global ulong *pointers, global int *a, global int *b) { pointers[0] = (ulong)a; pointers[1] = (ulong)b; }
        kernel void follow(global ulong *pointers) {
            global int *p = (global int *)pointers[get_global_id(0)];
            p[get_global_id(0) * 3] += 5;
            __private int own[2] = {1, 2}; int *q = p[0] > 100000 ? own : own + 1;
            p[1] += *q;
        }";
    let program = context.program(source);
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let (out, bytes, whole, pointers) = (context.buffer(16), context.buffer(5), context.buffer(512), context.buffer(16));
    queue.write(&bytes, &[1_u8, 2, 3, 4, 5]);
    queue.write(&whole, &[0_u32; 128]);
    let edges = program.kernel("edges");
    edges.set_mem(0, &out);
    edges.set_mem(1, &bytes);
    assert_eq!(target().cl.clSetKernelArg(edges.0, 2, 16, null()), CL_SUCCESS);
    assert_eq!(edges.set(3, &5), CL_SUCCESS);
    assert_eq!(queue.launch(&edges, &[4], Some(&[4])), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 4), [15; 4]);
    // A sub-buffer that ends before its parent ends.
    let region = cl_buffer_region { origin: 256, size: 8 };
    let mut status = 1;
    let at = (&raw const region).cast();
    let part = Mem(target().cl.clCreateSubBuffer(whole.0, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, at, &mut status));
    assert_eq!(status, CL_SUCCESS);
    let (keep, follow) = (program.kernel("keep"), program.kernel("follow"));
    keep.set_mem(0, &pointers);
    keep.set_mem(1, &part);
    keep.set_mem(2, &out);
    follow.set_mem(0, &pointers);
    assert_eq!(queue.launch(&keep, &[1], None), CL_SUCCESS);
    assert_eq!(queue.launch(&follow, &[2], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&whole, 128)[64..66], [5, 2]);
    assert_eq!(queue.read::<u32>(&out, 4), [15, 17, 15, 20]);
    edges.set_mem(0, &part);
    assert_eq!(queue.launch(&edges, &[4], Some(&[4])), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&whole, 128)[64..68], [15; 4]);
}

#[test]
#[ignore = "run by invalid_accesses_are_reported, in a process that checks"]
fn kernels() {
    if std::env::var_os(CHILD).is_none() || !common::is_cpu() {
        eprintln!("== none");
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    for wrong in WRONG {
        run_wrong(&context, &queue, wrong);
    }
    run_module(&context, &queue);
    run_right(&context, &queue);
    eprintln!("== end");
}

#[test]
fn invalid_accesses_are_reported() {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let command = command.args(["--exact", "kernels", "--ignored", "--nocapture"]).env(CHILD, "1").env("WGCL_CHECK", "1");
    let output = command.output().expect("a process");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    if text.contains("== none") {
        return;
    }
    let report_of = |name: &str| {
        let rest = text.split_once(&format!("== {name}\n")).map(|(_, rest)| rest);
        assert!(rest.is_some(), "{name} was not run:\n{text}");
        rest.and_then(|rest| rest.split("== ").next()).unwrap_or_default()
    };
    for wrong in WRONG {
        let report = report_of(wrong.name);
        let column = wrong.statement.find(wrong.at).expect("a part of the line") + 1;
        let place = format!("<source>:9:{column}: error: kernel '{}': ", wrong.name);
        let cause = format!("{}, by work-item (3, 0, 0) of group (0, 0, 0)\n{}\n", wrong.message, wrong.statement);
        assert!(report.starts_with(&place) && report.contains(&cause), "{place}...{cause}but\n{report}");
        // The load and the store of `+=` are reported separately.
        let count = if wrong.statement.contains("] += 1") { 2 } else { 1 };
        assert_eq!(report.matches("error:").count(), count, "{report}");
    }
    let report = report_of("module");
    assert!(report.starts_with("later.cl:12:5: error: kernel 'k': store of 4 bytes at byte 8 of "), "{report}");
    assert_eq!(report_of("right"), "");
}
