//! The functions of `compiler/library/image`. They are compiled for a format and a sampler when a launch first needs
//! them.

use std::sync::{Arc, LazyLock, Mutex};

use rustc_hash::FxHashMap;

use super::ImageFormat;
use crate::build;
use crate::diag::WarningLevels;
use crate::ir::image::{Colour, Coordinates, ImageCall, ImageShape};
use crate::ir::{Function, Type};
use crate::options::{BuildOptions, CStd, Source};
use crate::target::{Language, Target, ValueChecks};

static FORMAT: &str = include_str!("../../library/image/format.cl");
static ACCESS: &str = include_str!("../../library/image/access.cl");

/// The properties for which a function is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub(super) call: ImageCall,
    pub(super) format: ImageFormat,
    /// The value of the sampler. `None` if it is a parameter of the function.
    pub(super) sampler: Option<u32>,
    /// Whether byte offsets of elements, and pitches, have 64 bits.
    pub(super) large: bool,
}

/// Compiled functions. The key contains all properties on which the code depends. Devices of one process can differ.
static FUNCTIONS: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

type Cache = FxHashMap<(Variant, Language), Arc<Function>>;

/// Returns the compiled library function for `variant`. All calls in it are inlined. Its parameters, in this order:
/// - elements, width, height, depth, array size, row pitch and slice pitch of the image: 32-bit integers, except the
///   pitches of large images;
/// - the number of levels, if the call has a level or gradients;
/// - the sampler, if the call has one that is not constant;
/// - the coordinates;
/// - the level or the gradients, if the call has them;
/// - the colour, if the call writes.
pub(super) fn function(variant: Variant, target: &Target) -> Result<Arc<Function>, String> {
    let key = (variant, target.language.clone());
    let functions = || FUNCTIONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cached = functions().get(&key).cloned();
    if let Some(function) = cached {
        return Ok(function);
    }
    let compiled = Arc::new(compile(variant, target)?);
    Ok(functions().entry(key).or_insert(compiled).clone())
}

fn compile(variant: Variant, target: &Target) -> Result<Function, String> {
    let options = BuildOptions { std: CStd::Cl30, warnings: WarningLevels::NONE, macros: macros(variant), ..BuildOptions::default() };
    let source = Source { text: format!("{FORMAT}{ACCESS}"), ..Source::default() };
    // Checks of values apply to application code only.
    let target = &Target { value_checks: ValueChecks::NONE, ..target.clone() };
    let name = if variant.call.write { "image_write" } else { "image_read" };
    let function = build::function(&source, &options, target, name).map_err(|log| format!("{variant:?}: {log}"))?;
    let mut globals = false;
    function.body.walk(&mut |inst| globals |= matches!(inst.op, crate::ir::Op::GlobalAddr(_) | crate::ir::Op::Call(..)));
    let result = variant.call.result().unwrap_or(Type::Void);
    if globals {
        return Err(format!("{variant:?}: the library function has calls or globals"));
    }
    if function.returned() != result {
        return Err(format!("{variant:?}: the library function returns {}, expected {result}", function.returned()));
    }
    Ok(function)
}

fn macros(variant: Variant) -> Vec<(String, Option<String>)> {
    let ImageCall { write, shape, colour, coordinates, level } = variant.call;
    let (dims, array) = match shape {
        ImageShape::D1 => (1, 0),
        ImageShape::D1Array => (1, 1),
        ImageShape::D2 => (2, 0),
        ImageShape::D2Array => (2, 1),
        ImageShape::D3 => (3, 0),
    };
    let float = coordinates == Coordinates::Float;
    let vector = |scalar: &str, lanes: u8| if lanes == 1 { scalar.to_owned() } else { format!("{scalar}{lanes}") };
    let scalar = if float { "float" } else { "int" };
    let mut list = vec![
        ("ORDER", variant.format.order.to_string()),
        ("DATA_TYPE", variant.format.data_type.to_string()),
        ("DIMS", dims.to_string()),
        ("ARRAY", array.to_string()),
        ("COORDINATE", vector(scalar, shape.lanes())),
        ("GRADIENT", vector("float", shape.gradient_lanes())),
        ("LOD", scalar.to_owned()),
        ("LEVEL", (level as u8).to_string()),
        ("FLOAT_COORDINATE", u8::from(float).to_string()),
        ("SAMPLED", u8::from(coordinates != Coordinates::Plain).to_string()),
        ("WRITE", u8::from(write).to_string()),
        ("OFFSET", if variant.large { "ulong" } else { "uint" }.to_owned()),
        (
            match colour {
                Colour::Float => "COLOUR_F",
                Colour::Int => "COLOUR_I",
                Colour::UInt | Colour::Raw(_) => "COLOUR_U",
            },
            String::new(),
        ),
    ];
    if let Some(sampler) = variant.sampler {
        list.push(("SAMPLER", format!("{sampler}u")));
    }
    list.into_iter().map(|(name, value)| (name.to_owned(), Some(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Colour, Coordinates, ImageCall, ImageFormat, ImageShape, Variant, compile, function};
    use crate::ir::image::Level;
    use crate::target::Target;

    const RGBA: u16 = 0x10b5;
    const UNORM_INT8: u16 = 0x10d2;

    fn check(call: ImageCall, format: (u16, u16), sampler: Option<u32>) {
        for large in [false, true] {
            let variant = Variant { call, format: ImageFormat { order: format.0, data_type: format.1 }, sampler, large };
            let function = compile(variant, &Target::full());
            assert!(function.as_ref().is_ok_and(|function| function.body.size() > 1), "{:?}", function.err());
        }
    }

    fn check_read_and_write(shape: ImageShape, colour: Colour, format: (u16, u16)) {
        for write in [false, true] {
            for level in [Level::Base, Level::Lod] {
                check(ImageCall { write, shape, colour, coordinates: Coordinates::Plain, level }, format, None);
            }
        }
    }

    /// Functions for devices with different conversions of halves differ.
    #[test]
    fn devices_have_their_own_functions() {
        let call =
            ImageCall { write: true, shape: ImageShape::D2, colour: Colour::Float, coordinates: Coordinates::Plain, level: Level::Base };
        let variant = Variant { call, format: ImageFormat { order: RGBA, data_type: 0x10dd }, sampler: None, large: false };
        let (mut exact, mut other) = (Target::full(), Target::full());
        (exact.language.fp16, exact.language.rounds_to_half) = (true, true);
        (other.language.fp16, other.language.rounds_to_half) = (false, false);
        let made = [&exact, &other, &exact].map(|target| function(variant, target).expect("compiled function").body.size());
        assert_ne!(made[0], made[1]);
        assert_eq!(made[0], made[2]);
    }

    /// Tests every combination of order and type, including ones that no device reports: compilation must not fail at
    /// a launch.
    #[test]
    fn every_format_compiles() {
        for order in 0x10b0..=0x10c3 {
            for data_type in (0x10d0..=0x10df).chain([0x10e0, 0x10e5]) {
                let colour = match data_type {
                    0x10d7..=0x10d9 => Colour::Int,
                    0x10da..=0x10dc => Colour::UInt,
                    _ => Colour::Float,
                };
                // sRGB orders require CL_UNORM_INT8.
                if order < 0x10bf || order == 0x10c3 || data_type == UNORM_INT8 {
                    check_read_and_write(ImageShape::D2, colour, (order, data_type));
                }
            }
        }
    }

    #[test]
    fn every_shape_and_sampler_compiles() {
        for shape in [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3] {
            for colour in [Colour::Float, Colour::Int, Colour::UInt] {
                check_read_and_write(shape, colour, (RGBA, UNORM_INT8));
                for coordinates in [Coordinates::Int, Coordinates::Float] {
                    let call = ImageCall { write: false, shape, colour, coordinates, level: Level::Base };
                    check(call, (RGBA, UNORM_INT8), None);
                    for mode in [0, 2, 4, 6, 8] {
                        for filter in [0x10, 0x20] {
                            check(call, (RGBA, UNORM_INT8), Some(mode | filter | u32::from(mode >= 6)));
                        }
                    }
                }
                for level in [Level::Lod, Level::Gradients] {
                    let call = ImageCall { write: false, shape, colour, coordinates: Coordinates::Float, level };
                    for sampler in [None, Some(0x13), Some(0x67)] {
                        check(call, (RGBA, UNORM_INT8), sampler);
                    }
                }
            }
        }
    }
}
