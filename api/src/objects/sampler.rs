//! Samplers (OpenCL API 5.7).

use std::sync::Arc;

use wgcl_compiler::image::SamplerWord;

use crate::image::check_support;
use crate::objects::context::Context;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::object::{HandleSlot, Object};

/// cl_addressing_mode; the values are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub enum AddressingMode {
    None = 0x1130,
    ClampToEdge = 0x1131,
    Clamp = 0x1132,
    Repeat = 0x1133,
    MirroredRepeat = 0x1134,
}

/// cl_filter_mode; the values are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub enum FilterMode {
    Nearest = 0x1140,
    Linear = 0x1141,
}

/// CL_SAMPLER_NORMALIZED_COORDS
pub const NORMALIZED_COORDS: u64 = 0x1152;
/// CL_SAMPLER_ADDRESSING_MODE
pub const ADDRESSING_MODE: u64 = 0x1153;
/// CL_SAMPLER_FILTER_MODE
pub const FILTER_MODE: u64 = 0x1154;

/// CL_SAMPLER_MIP_FILTER_MODE_KHR
pub const MIP_FILTER_MODE: u64 = 0x1155;
/// CL_SAMPLER_LOD_MIN_KHR
pub const LOD_MIN: u64 = 0x1156;
/// CL_SAMPLER_LOD_MAX_KHR
pub const LOD_MAX: u64 = 0x1157;

#[derive(Debug)]
pub struct Sampler {
    slot: HandleSlot,
    context: Arc<Context>,
    normalized: bool,
    addressing: AddressingMode,
    filter: FilterMode,
    mip_filter: FilterMode,
    lods: (f32, f32),
    property_list: Option<Vec<u64>>,
}

impl Object for Sampler {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

fn addressing_of(raw: u64) -> Result<AddressingMode> {
    use AddressingMode as Mode;
    let all = [Mode::None, Mode::ClampToEdge, Mode::Clamp, Mode::Repeat, Mode::MirroredRepeat];
    let found = all.into_iter().find(|&mode| u64::from(mode as u32) == raw);
    found.ok_or_else(|| Error::InvalidValue(format!("addressing mode {raw:#x} is unknown").into()))
}

fn filter_of(raw: u64) -> Result<FilterMode> {
    let found = [FilterMode::Nearest, FilterMode::Linear].into_iter().find(|&mode| u64::from(mode as u32) == raw);
    found.ok_or_else(|| Error::InvalidValue(format!("filter mode {raw:#x} is unknown").into()))
}

/// Converts the value of a property to a level of detail: its bits are the lower half of the value.
fn lod_of(raw: u64) -> Result<f32> {
    let lod = f32::from_bits(raw as u32);
    ensure!(!lod.is_nan(), InvalidValue, "a level of detail is NaN");
    Ok(lod)
}

fn normalized_of(raw: u64) -> Result<bool> {
    match raw {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::InvalidValue(format!("normalized_coords is {raw}: it must be 0 or 1").into())),
    }
}

impl Sampler {
    /// clCreateSamplerWithProperties. `pairs` are the names and values of `property_list`.
    ///
    /// # Errors
    /// For names and values that are unknown or given twice, and if no device supports images.
    pub fn with_properties(context: &Arc<Context>, pairs: &[(u64, u64)], property_list: Option<Vec<u64>>) -> Result<Arc<Self>> {
        // "CL_INVALID_VALUE if the property name in sampler_properties is not a supported property name, if the value
        // specified for a supported property name is not valid, or if the same property name is specified more than
        // once."
        let (mut normalized, mut addressing, mut filter) = (None, None, None);
        let (mut mip_filter, mut min_lod, mut max_lod) = (None, None, None);
        for &(name, value) in pairs {
            let twice = match name {
                NORMALIZED_COORDS => normalized.replace(normalized_of(value)?).is_some(),
                ADDRESSING_MODE => addressing.replace(addressing_of(value)?).is_some(),
                FILTER_MODE => filter.replace(filter_of(value)?).is_some(),
                MIP_FILTER_MODE => mip_filter.replace(filter_of(value)?).is_some(),
                LOD_MIN => min_lod.replace(lod_of(value)?).is_some(),
                LOD_MAX => max_lod.replace(lod_of(value)?).is_some(),
                _ => return Err(Error::InvalidValue(format!("sampler property {name:#x} is unknown").into())),
            };
            ensure!(!twice, InvalidValue, "sampler property {name:#x} is given twice");
        }
        // "CL_INVALID_OPERATION if images are not supported by any device associated with context."
        check_support(context)?;
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            normalized: normalized.unwrap_or(true),
            addressing: addressing.unwrap_or(AddressingMode::Clamp),
            filter: filter.unwrap_or(FilterMode::Nearest),
            mip_filter: mip_filter.unwrap_or(FilterMode::Nearest),
            lods: (min_lod.unwrap_or(0.0), max_lod.unwrap_or(f32::MAX)),
            property_list,
        }))
    }

    /// clCreateSampler
    ///
    /// # Errors
    /// The errors of [`Self::with_properties`].
    pub fn new(context: &Arc<Context>, normalized: u32, addressing: u32, filter: u32) -> Result<Arc<Self>> {
        let pairs =
            [(NORMALIZED_COORDS, u64::from(normalized)), (ADDRESSING_MODE, u64::from(addressing)), (FILTER_MODE, u64::from(filter))];
        Self::with_properties(context, &pairs, None)
    }

    /// CL_SAMPLER_CONTEXT
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// CL_SAMPLER_NORMALIZED_COORDS
    pub fn normalized(&self) -> bool {
        self.normalized
    }

    /// CL_SAMPLER_ADDRESSING_MODE
    pub fn addressing(&self) -> AddressingMode {
        self.addressing
    }

    /// CL_SAMPLER_FILTER_MODE
    pub fn filter(&self) -> FilterMode {
        self.filter
    }

    /// CL_SAMPLER_MIP_FILTER_MODE_KHR
    pub fn mip_filter(&self) -> FilterMode {
        self.mip_filter
    }

    /// CL_SAMPLER_LOD_MIN_KHR and CL_SAMPLER_LOD_MAX_KHR
    pub fn lods(&self) -> (f32, f32) {
        self.lods
    }

    /// CL_SAMPLER_PROPERTIES
    pub fn property_list(&self) -> Option<&[u64]> {
        self.property_list.as_deref()
    }

    /// The value of the sampler in kernels.
    pub fn kernel_value(&self) -> u32 {
        let word = SamplerWord {
            normalized: self.normalized,
            addressing: self.addressing as u32 - AddressingMode::None as u32,
            linear: self.filter == FilterMode::Linear,
            mip_linear: self.mip_filter == FilterMode::Linear,
            lods: self.lods,
        };
        word.bits()
    }
}
