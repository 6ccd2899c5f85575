//! Binds the library's references to its own functions to itself.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The loader exports the same names. Without this the dynamic linker would fill our dispatch table with the loader's own
    // functions, which call through the table: an endless loop.
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if !matches!(target.as_str(), "windows" | "macos" | "ios") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
