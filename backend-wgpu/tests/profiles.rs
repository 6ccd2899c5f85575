//! The compiler's profiles equal the targets of the devices that they are named after. Tests and fuzzers that compile
//! for a profile thus cover the code that the device runs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{ALL, device};
use wgcl_api::backend::Device;
use wgcl_compiler::target::Target;

const NVIDIA: u32 = 0x10de;

/// Returns the profile of a device, or `None` if it has none.
fn profile(device: &dyn Device) -> Option<Target> {
    let properties = device.properties();
    match properties.vendor_id {
        _ if properties.name.starts_with("llvmpipe") => Some(Target::lavapipe()),
        NVIDIA => Some(Target::nvidia()),
        _ => None,
    }
}

#[test]
fn profiles_equal_the_targets_of_devices() {
    for settings in ALL {
        let device = device(settings);
        let Some(profile) = profile(&*device) else {
            println!("{} has no profile", device.properties().name);
            return;
        };
        let expected = profile.changed(|target| {
            // Vector widths depend on the CPU, and buffer sizes on the machine's memory.
            target.language.subgroup_size = device.target().language.subgroup_size;
            target.language.large_objects = device.target().language.large_objects;
            // Only newer versions of Mesa have this defect, and only for shaders that naga generates.
            target.shaders.defects.half_rounding |= settings.portable && device.target().shaders.defects.half_rounding;
            // Only processors with AVX-512 have this defect.
            target.shaders.defects.masked_logic = device.target().shaders.defects.masked_logic;
        });
        let is_llvmpipe = device.properties().name.starts_with("llvmpipe");
        // On lavapipe, naga's fence is also a barrier of the work-group.
        let expected =
            if settings.portable { expected.without_spirv().changed(|target| target.shaders.fences = !is_llvmpipe) } else { expected };
        assert_eq!(*device.target(), expected, "{settings:?}");
    }
}
