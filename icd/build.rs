//! How the library is linked on ELF systems.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "unix")
        && std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor != "apple")
    {
        // The loader exports functions with the same names, and the dynamic linker finds the loader's functions first.
        // -Bsymbolic binds references in this library, such as the dispatch table, to this library's functions.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // The library stays loaded when a loader closes it, because its threads and those of its drivers still run.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
