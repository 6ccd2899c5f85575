//! `src/bindings.rs` is what bindgen makes of the Khronos headers.
//!
//! `WGCL_BLESS=1 cargo test -p wgcl --test bindings` writes the file anew. It needs libclang and the headers, which `scripts/setup`
//! installs.

use std::path::Path;

/// Where Debian, Ubuntu and others keep libclang.
fn libclang() -> Option<std::path::PathBuf> {
    if let Some(path) = std::env::var_os("LIBCLANG_PATH") {
        return Some(path.into());
    }
    let fixed = ["/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map(std::path::PathBuf::from);
    let versions = (11..30).rev().map(|version| format!("/usr/lib/llvm-{version}/lib").into());
    versions.chain(fixed).find(|directory| directory.join("libclang.so").exists() || directory.join("libclang.so.1").exists())
}

#[test]
fn bindings_are_those_of_the_headers() {
    let header = "/usr/include/CL/cl_icd.h";
    assert!(Path::new(header).exists(), "{header} is missing: `scripts/setup` installs it (Debian: opencl-c-headers)");
    let directory = libclang().expect("libclang: `scripts/setup` installs it (Debian: libclang-dev)");
    // SAFETY: this test is alone in its process and has started no thread.
    unsafe { std::env::set_var("LIBCLANG_PATH", directory) };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let generated = bindgen::Builder::default()
        .header(source.join("wrapper.h").to_string_lossy())
        .allowlist_type("cl_.*|_cl_.*")
        .allowlist_var("CL_.*")
        .blocklist_type("cl_(char|uchar|short|ushort|int|uint|long|ulong|half|float|double)[0-9]+.*|__cl_.*")
        .layout_tests(false)
        .generate_comments(false)
        .formatter(bindgen::Formatter::None)
        .generate()
        .expect("bindgen reads the headers")
        .to_string();
    // One item a line is enough for diffs, and does not depend on a rustfmt.
    let generated =
        generated.replace(" ; pub ", " ;\npub ").replace(" } pub ", " }\npub ").replace(" ; # [", " ;\n# [").replace(" } # [", " }\n# [");
    let path = source.join("bindings.rs");
    if std::env::var_os("WGCL_BLESS").is_some() {
        std::fs::write(&path, generated).expect("bindings.rs can be written");
        return;
    }
    let present = std::fs::read_to_string(&path).expect("bindings.rs can be read");
    let version = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(version(&present), version(&generated), "made by another bindgen");
    assert!(present == generated, "src/bindings.rs is stale: WGCL_BLESS=1 cargo test -p wgcl --test bindings");
}
