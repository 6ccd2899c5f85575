//! How the library is linked on ELF systems.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "unix")
        && std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor != "apple")
    {
        // Our functions have the same names as the loader's, which are found first by the dynamic linker: our own
        // references to them, as in the dispatch table, must not go there.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // Once loaded it stays: its threads, and those of the drivers below, must not lose their code when a loader
        // unloads it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
