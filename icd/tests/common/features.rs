//! Compares the features that tests need with the list of the device in `tests/expected`.
//!
//! A test that returns early passes. Without the lists, a feature could get lost unnoticed. So a list contains the
//! features that a wgcl device lacks, for example `lacks cl_khr_kernel_clock: wgpu has no clocks`.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use super::{device_name, driver_version, is_cpu, target, try_target};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expected")
}

/// Whether `WGCL_EMULATE` enables the emulation of a type.
pub fn emulates(name: &str) -> bool {
    std::env::var("WGCL_EMULATE").is_ok_and(|list| list.split(',').any(|part| part.trim() == name))
}

/// Returns the name of the list for the device under test. Returns `None` if the device has no list, for example a GPU
/// or a device of another platform.
pub fn list_of_device() -> Result<Option<&'static str>, String> {
    let target = try_target()?;
    if !target.is_wgcl() {
        return Ok(None);
    }
    let portable = std::env::var("WGCL_PORTABLE").is_ok_and(|value| value == "1");
    let nans = std::env::var("WGCL_CHECK").is_ok_and(|value| value.split(',').any(|word| word == "nan"));
    Ok(match device_name(target).as_str() {
        name if name.contains("interpreter") => Some("interpreter"),
        _ if is_cpu() => Some(if nans { "nan" } else { "cpu" }),
        name if name.contains("llvmpipe") && name.contains("OpenGL ES") => Some("gles"),
        // A device of shader model 6 has no list. `scripts/test-windows sm6` sets the variable.
        _ if driver_version(target).contains("(DX12: ") => std::env::var_os("WGCL_TEST_SHADER_MODEL_6").is_none().then_some("dx12"),
        name if name.contains("llvmpipe") && emulates("int64") => Some("words"),
        name if name.contains("llvmpipe") => Some(if portable { "portable" } else { "lavapipe" }),
        _ => None,
    })
}

/// Whether a list has an entry `lacks FEATURE: REASON`.
fn lacks(list: &Path, feature: &str) -> bool {
    let text = std::fs::read_to_string(list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    text.lines().any(|line| line.strip_prefix("lacks ").and_then(|rest| rest.split_once(':')).is_some_and(|(name, _)| name == feature))
}

/// Returns whether a test that needs a feature can run. Reports a skipped test as `skips: FEATURE`.
///
/// # Panics
/// If the feature is present, although the list of the device has the entry `lacks FEATURE`. Also if the feature is
/// absent, although the list has no such entry. A device without a list may lack only features for which some list has
/// such an entry.
pub fn require(feature: &str, present: bool) -> bool {
    if !present {
        println!("skips: {feature}");
    }
    if !target().is_wgcl() {
        return present;
    }
    let list = list_of_device().unwrap_or_else(|error| panic!("{error}"));
    if let Some(list) = list {
        let lacks = lacks(&folder().join(format!("{list}.txt")), feature);
        assert_eq!(
            present, !lacks,
            "feature {feature}: left: the device has it; right: tests/expected/{list}.txt has no `lacks {feature}`"
        );
    } else if !present {
        let lists = std::fs::read_dir(folder()).unwrap_or_else(|error| panic!("tests/expected: {error}"));
        let optional = lists.flatten().any(|entry| lacks(&entry.path(), feature));
        assert!(optional, "feature {feature}: the device does not have it, and no list in tests/expected has `lacks {feature}`");
    }
    present
}
