//! The requirements of an image before its creation (cl_ext_image_requirements_info).
//!
//! Elements are in buffers, at any address. Pitches are multiples of the element size. The limits do not depend on the
//! format, because kernels convert elements.

use crate::image::format::element_size;
use crate::image::image_type::ImageType;
use crate::image::{ImageDesc, check_support, kind_of, max_size, shape};
use crate::objects::context::Context;
use crate::objects::device::LARGEST_ELEMENT;
use crate::types::error::{Error, Result, ensure};
use wgcl_compiler::image::ImageFormat;

/// A query about a future image; unspecified properties may have any value.
#[derive(Clone, Copy, Debug)]
pub struct ImageRequirements<'a> {
    context: &'a Context,
    /// Bytes of an element.
    element: Option<u64>,
    desc: Option<&'a ImageDesc>,
}

/// A requested dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT
    Width = 0,
    /// CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT
    Height = 1,
    /// CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT
    Depth = 2,
    /// CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT
    ArraySize = 3,
}

impl<'a> ImageRequirements<'a> {
    /// Creates a query from a format and a description, `None` for null pointers.
    ///
    /// # Errors
    /// If the format is unknown, or if no device supports images.
    pub fn new(context: &'a Context, format: Option<ImageFormat>, desc: Option<&'a ImageDesc>) -> Result<Self> {
        check_support(context)?;
        let element = match format {
            Some(format) => {
                let size = element_size(format).ok_or_else(|| {
                    Error::InvalidImageFormatDescriptor(
                        format!("channel order {:#x} with channel type {:#x} is not a valid image format", format.order, format.data_type)
                            .into(),
                    )
                })?;
                Some(u64::from(size))
            }
            None => None,
        };
        Ok(Self { context, element, desc })
    }

    /// Returns the size of an image in bytes. An invalid size in the description is reported as
    /// CL_INVALID_IMAGE_DESCRIPTOR.
    fn bytes(&self, element: u64) -> Result<u64> {
        let Some(desc) = self.desc else {
            return Err(Error::InvalidValue("the query requires an image description".into()));
        };
        let shape = shape(self.context, (desc, kind_of(desc)?), element, true).map_err(|error| match error {
            Error::InvalidImageSize(why) => Error::InvalidImageDescriptor(why),
            other => other,
        })?;
        shape.size().ok_or_else(|| Error::InvalidImageDescriptor("the image is too large".into()))
    }

    /// CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT and CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT, in bytes.
    ///
    /// # Errors
    /// Fails if the description is invalid.
    pub fn pitch_alignment(&self) -> Result<u64> {
        let element = self.element.unwrap_or(LARGEST_ELEMENT);
        if self.desc.is_some() {
            self.bytes(element)?;
        }
        Ok(element)
    }

    /// CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT, in bytes.
    ///
    /// # Errors
    /// Fails if the description is invalid.
    pub fn base_alignment(&self) -> Result<u64> {
        self.pitch_alignment().map(|_| 1)
    }

    /// CL_IMAGE_REQUIREMENTS_SIZE_EXT
    ///
    /// # Errors
    /// If the format or the description is missing, or if the description is invalid.
    pub fn size(&self) -> Result<u64> {
        let element = self.element.ok_or_else(|| Error::InvalidValue("the query requires an image format".into()))?;
        self.bytes(element)
    }

    /// CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT and so on: the smallest limit of the devices that support images.
    ///
    /// # Errors
    /// If the image does not have the dimension.
    pub fn max(&self, dimension: Dimension) -> Result<u32> {
        let has = |kind: ImageType| match dimension {
            Dimension::Width => true,
            Dimension::Height => matches!(kind, ImageType::Image2d | ImageType::Image2dArray | ImageType::Image3d),
            Dimension::Depth => kind == ImageType::Image3d,
            Dimension::ArraySize => matches!(kind, ImageType::Image1dArray | ImageType::Image2dArray),
        };
        // The type of the image must be 0, or one that has the dimension. Otherwise the specification requires
        // CL_INVALID_IMAGE_DESCRIPTOR.
        let kinds: Vec<ImageType> = match self.desc {
            Some(desc) if desc.image_type != 0 => vec![kind_of(desc)?],
            _ => ImageType::ALL.into_iter().filter(|&kind| has(kind)).collect(),
        };
        ensure!(kinds.iter().all(|&kind| has(kind)), InvalidImageDescriptor, "an image of this type does not have this dimension");
        let devices = self.context.devices().iter().filter(|device| device.target().language.images);
        let limits = devices.flat_map(|device| kinds.iter().map(|&kind| max_size(&device.image_limits(), kind)[dimension as usize]));
        Ok(u32::try_from(limits.min().unwrap_or(0)).unwrap_or(u32::MAX))
    }
}
