//! The compiler's profiles are what the devices give that they are named after, so that what is compiled, tested and fuzzed for a profile is what a device runs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{ALL, device};
use wgcl_api::backend::Device;
use wgcl_compiler::target::Target;

const NVIDIA: u32 = 0x10de;

/// The profile of a device; `None` for one that was never measured.
fn profile(device: &dyn Device) -> Option<Target> {
    let properties = device.properties();
    match properties.vendor_id {
        _ if properties.name.starts_with("llvmpipe") => Some(Target::lavapipe()),
        NVIDIA => Some(Target::nvidia()),
        _ => None,
    }
}

#[test]
fn the_profile_is_what_the_device_gives() {
    for settings in ALL {
        let device = device(settings);
        let Some(profile) = profile(&*device) else {
            println!("{} has no profile", device.properties().name);
            return;
        };
        let expected = profile.changed(|target| {
            // Vectors are as wide as the CPU's, and buffers as large as the machine has memory for.
            target.language.subgroup_size = device.target().language.subgroup_size;
            target.language.large_objects = device.target().language.large_objects;
        });
        let is_llvmpipe = device.properties().name.starts_with("llvmpipe");
        // Fences that naga writes wait there for the other work-items of the group.
        let expected =
            if settings.portable { expected.without_spirv().changed(|target| target.shaders.fences = !is_llvmpipe) } else { expected };
        assert_eq!(*device.target(), expected, "{settings:?}");
    }
}
