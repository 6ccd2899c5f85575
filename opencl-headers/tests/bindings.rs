//! Checks that `src/bindings.rs` is the output of bindgen for the Khronos headers.
//!
//! `UPDATE_EXPECT=1 cargo test -p wgcl-opencl-headers` writes the file. The test needs libclang and the headers, which
//! `scripts/setup` installs.

use std::path::Path;

use bindgen::callbacks::{DeriveInfo, IntKind, ParseCallbacks};

/// Returns the libclang directory: `LIBCLANG_PATH`, or the directory of Debian, Ubuntu and other distributions.
fn libclang() -> Option<std::path::PathBuf> {
    if let Some(path) = std::env::var_os("LIBCLANG_PATH") {
        return Some(path.into());
    }
    let fixed = ["/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map(std::path::PathBuf::from);
    let versions = (11..30).rev().map(|version| format!("/usr/lib/llvm-{version}/lib").into());
    versions.chain(fixed).find(|directory| directory.join("libclang.so").exists() || directory.join("libclang.so.1").exists())
}

/// Gives constants the type of the parameters that take them. The headers define them as macros, without a type.
#[derive(Debug)]
struct Types;

/// Codes of type `cl_int` that are not negative. Negative constants get a signed type in any case.
const CODES: [&str; 6] = ["CL_SUCCESS", "CL_COMPLETE", "CL_RUNNING", "CL_SUBMITTED", "CL_QUEUED", "CL_BUILD_SUCCESS"];

/// Prefixes of flags of type `cl_bitfield`.
const FLAG_PREFIXES: [&str; 5] = ["CL_DEVICE_TYPE_", "CL_MEM_HOST_", "CL_MEM_SVM_", "CL_MIGRATE_MEM_OBJECT_", "CL_QUEUE_ON_DEVICE"];

/// Other flags of type `cl_bitfield`.
const FLAGS: [&str; 12] = [
    "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE",
    "CL_QUEUE_PROFILING_ENABLE",
    "CL_MEM_READ_WRITE",
    "CL_MEM_WRITE_ONLY",
    "CL_MEM_READ_ONLY",
    "CL_MEM_USE_HOST_PTR",
    "CL_MEM_ALLOC_HOST_PTR",
    "CL_MEM_COPY_HOST_PTR",
    "CL_MEM_KERNEL_READ_AND_WRITE",
    "CL_MAP_READ",
    "CL_MAP_WRITE",
    "CL_MAP_WRITE_INVALIDATE_REGION",
];

/// Constants of type `cl_context_properties`.
const CONTEXT_PROPERTIES: [&str; 5] = [
    "CL_CONTEXT_PLATFORM",
    "CL_CONTEXT_INTEROP_USER_SYNC",
    "CL_CONTEXT_MEMORY_INITIALIZE_KHR",
    "CL_PRINTF_CALLBACK_ARM",
    "CL_PRINTF_BUFFERSIZE_ARM",
];

impl ParseCallbacks for Types {
    fn int_macro(&self, name: &str, _: i64) -> Option<IntKind> {
        // CL_MEM_HOST_PTR is a query of cl_mem_info, although it has the prefix of a flag.
        if name == "CL_MEM_HOST_PTR" {
            return None;
        }
        if CODES.contains(&name) {
            return Some(IntKind::I32);
        }
        if CONTEXT_PROPERTIES.contains(&name) {
            return Some(IntKind::Custom { name: "isize", is_signed: true });
        }
        let is_flag = FLAGS.contains(&name) || FLAG_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        is_flag.then_some(IntKind::U64)
    }

    fn add_derives(&self, info: &DeriveInfo<'_>) -> Vec<String> {
        let derives: &[&str] = if info.name == "_cl_image_format" { &["Default", "PartialEq", "Eq"] } else { &[] };
        derives.iter().map(|&name| name.to_owned()).collect()
    }
}

/// Replaces the union of `buffer` and `mem_object` in `cl_image_desc` by `mem_object`. The two members have the same
/// type.
fn without_union(generated: &str) -> String {
    let is_union = |line: &&str| line.contains("pub union _cl_image_desc__bindgen_ty_1");
    let lines: Vec<&str> = generated.lines().filter(|line| !is_union(line)).collect();
    let text = lines.join("\n").replace("pub __bindgen_anon_1 : _cl_image_desc__bindgen_ty_1", "pub mem_object : cl_mem");
    text.replace("# [derive (Copy , Clone)] pub struct _cl_image_desc", "# [derive (Debug , Copy , Clone)] pub struct _cl_image_desc")
}

#[test]
fn bindings_are_those_of_the_headers() {
    let header = "/usr/include/CL/cl_icd.h";
    assert!(Path::new(header).exists(), "{header} is missing: `scripts/setup` installs it (Debian: opencl-c-headers)");
    let directory = libclang().expect("libclang: `scripts/setup` installs it (Debian: libclang-dev)");
    // SAFETY: this test is the only one of its process, and has started no thread.
    unsafe { std::env::set_var("LIBCLANG_PATH", directory) };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let generated = bindgen::Builder::default()
        .header(source.join("wrapper.h").to_string_lossy())
        .allowlist_type("cl_.*|_cl_.*")
        .allowlist_var("CL_.*")
        .blocklist_type("cl_(char|uchar|short|ushort|int|uint|long|ulong|half|float|double)[0-9]+.*|__cl_.*")
        .parse_callbacks(Box::new(Types))
        .use_core()
        // libclang finds its own headers. The headers of another installed version of clang crash it.
        .detect_include_paths(false)
        .layout_tests(false)
        .generate_comments(false)
        .formatter(bindgen::Formatter::None)
        .generate()
        .expect("bindgen reads the headers")
        .to_string();
    // Write one item per line, so that the file does not depend on a version of rustfmt.
    let generated =
        generated.replace(" ; pub ", " ;\npub ").replace(" } pub ", " }\npub ").replace(" ; # [", " ;\n# [").replace(" } # [", " }\n# [");
    let generated = without_union(&generated);
    let path = source.join("bindings.rs");
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        std::fs::write(&path, generated).expect("bindings.rs can be written");
        return;
    }
    let present = std::fs::read_to_string(&path).expect("bindings.rs can be read");
    let version = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(version(&present), version(&generated), "bindings.rs comes from another version of bindgen");
    assert!(present == generated, "src/bindings.rs is stale: run UPDATE_EXPECT=1 cargo test -p wgcl-opencl-headers");
}
