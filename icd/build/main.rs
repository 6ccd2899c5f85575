//! Sets how the library is linked: linker options on ELF systems, and the version resource on Windows.

mod version_resource;

fn main() {
    println!("cargo::rerun-if-changed=build");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("FAMILY") == "unix" && target("VENDOR") != "apple" {
        // The loader exports functions with the same names as this library, and the dynamic linker finds the loader's
        // functions first. -Bsymbolic binds references in this library, such as those of the dispatch table, to this
        // library's functions.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // If a loader closes the library, its code must stay mapped, because threads of wgcl and of the drivers still
        // run.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if target("OS") == "windows" {
        add_version(&target("ARCH"));
    }
}

/// Links the version resource. The library works without the resource, so errors are only warnings.
fn add_version(processor: &str) {
    let package = |name: &str| std::env::var(format!("CARGO_PKG_{name}")).unwrap_or_default();
    let version = package("VERSION");
    let texts = [
        ("CompanyName", package("AUTHORS")),
        ("FileDescription", "OpenCL driver".to_owned()),
        ("FileVersion", version.clone()),
        ("InternalName", "wgcl".to_owned()),
        ("LegalCopyright", format!("{}, {}", package("AUTHORS"), package("LICENSE"))),
        ("OriginalFilename", "wgcl.dll".to_owned()),
        ("ProductName", "wgcl".to_owned()),
        ("ProductVersion", version.clone()),
    ];
    let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let Some(object) = version_resource::object(processor, &version, &texts) else { return };
    let path = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("version.o");
    match std::fs::write(&path, object) {
        Ok(()) => println!("cargo::rustc-cdylib-link-arg={}", path.display()),
        Err(error) => println!("cargo::warning={}: {error}; the library has no version resource", path.display()),
    }
}
