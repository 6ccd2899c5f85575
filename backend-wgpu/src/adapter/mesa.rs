//! Defects of Mesa's drivers that depend on the version or the processor.
//!
//! ```text
//! Vulkan:     driver info "Mesa 25.0.7-2 (LLVM 19.1.7)"              name "llvmpipe (LLVM 19.1.7, 256 bits)"
//! OpenGL ES:  driver info "4.6 (Core Profile) Mesa 26.2.6-1"         name "llvmpipe (LLVM 22.1.8, 256 bits)"
//! ```

use wgcl_compiler::target::Defects;

/// Major and minor version.
type Version = (u32, u32);

/// The first LLVM that is assumed to select correct masked `vpternlog` instructions (llvm-project, issue 157929). LLVM
/// 15, 19.1.7 and 22.1.8 select incorrect ones.
const MASKED_LOGIC_FIXED: Version = (23, 0);

/// The first Mesa that is assumed to fold conversions of a float to a half and back, unless the shader forbids it. Mesa
/// 25.0.7 and 26.2.6 fold them, 22.3.6 does not. The versions between were not tested.
const HALF_ROUNDING_FOLDED: Version = (23, 0);

/// The first measured Mesa without [`Defects::long_comparisons`] and [`Defects::loop_values`]. Mesa 22.3.6 has these
/// defects, 25.0.7 and 26.2.6 do not. The versions between were not tested.
const COMPARISONS_AND_LOOPS_FIXED: Version = (25, 0);

/// Clears the defects that the driver's version of Mesa has fixed.
pub(super) fn remove_fixed(defects: &mut Defects, driver_info: &str) {
    if version_after(driver_info, "Mesa ").is_some_and(|version| version >= COMPARISONS_AND_LOOPS_FIXED) {
        defects.long_comparisons = false;
        defects.loop_values = false;
    }
}

/// Whether a driver removes the rounding to half from shaders that cannot forbid it
/// ([`Defects::half_rounding`]).
pub(super) fn has_half_rounding_defect(driver_info: &str) -> bool {
    driver_info.contains("Mesa ") && version_after(driver_info, "Mesa ").is_none_or(|version| version >= HALF_ROUNDING_FOLDED)
}

/// Whether llvmpipe uses AVX-512 instructions, and an LLVM that selects some of them incorrectly
/// ([`Defects::masked_logic`]).
pub(super) fn has_masked_logic_defect(name: &str) -> bool {
    has_avx512() && version_after(name, "LLVM ").is_none_or(|version| version < MASKED_LOGIC_FIXED)
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
const fn has_avx512() -> bool {
    false
}

/// Returns the version number that follows `word`.
fn version_after(text: &str, word: &str) -> Option<Version> {
    let (_, rest) = text.split_once(word)?;
    let mut parts = rest.split(|character: char| !character.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use wgcl_compiler::target::Defects;

    use super::{has_half_rounding_defect, remove_fixed, version_after};

    #[test]
    fn newer_versions_have_fewer_defects() {
        for (info, fixed) in [("Mesa 22.3.6 (LLVM 15.0.6)", false), ("4.6 (Core Profile) Mesa 25.0.7-2", true), ("Mesa git", false)] {
            let mut defects = Defects::lavapipe();
            remove_fixed(&mut defects, info);
            assert_eq!((defects.long_comparisons, defects.loop_values), (!fixed, !fixed), "{info}");
            assert!(defects.float_zeros, "{info}");
        }
    }

    #[test]
    fn newer_versions_fold_conversions() {
        assert!(!has_half_rounding_defect("Mesa 22.3.6 (LLVM 15.0.6)"));
        assert!(has_half_rounding_defect("Mesa 25.0.7-2 (LLVM 19.1.7)"));
        assert!(has_half_rounding_defect("4.6 (Core Profile) Mesa 26.2.6-1"));
        assert!(has_half_rounding_defect("Mesa git"));
        assert!(!has_half_rounding_defect("580.159.03"));
    }

    #[test]
    fn versions_are_found_in_names_of_drivers() {
        assert_eq!(version_after("llvmpipe (LLVM 19.1.7, 256 bits)", "LLVM "), Some((19, 1)));
        assert_eq!(version_after("llvmpipe (LLVM 23.0.0git, 512 bits)", "LLVM "), Some((23, 0)));
        assert_eq!(version_after("llvmpipe", "LLVM "), None);
        assert_eq!(version_after("llvmpipe (LLVM devel)", "LLVM "), None);
    }
}
