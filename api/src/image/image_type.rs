//! The image types among cl_mem_object_type.

use std::fmt;

/// cl_mem_object_type of images; the values are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub enum ImageType {
    Image2d = 0x10F1,
    Image3d = 0x10F2,
    Image2dArray = 0x10F3,
    Image1d = 0x10F4,
    Image1dArray = 0x10F5,
    Image1dBuffer = 0x10F6,
}

/// Displays the name of the constant in the specification.
impl fmt::Display for ImageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image2d => "CL_MEM_OBJECT_IMAGE2D",
            Self::Image3d => "CL_MEM_OBJECT_IMAGE3D",
            Self::Image2dArray => "CL_MEM_OBJECT_IMAGE2D_ARRAY",
            Self::Image1d => "CL_MEM_OBJECT_IMAGE1D",
            Self::Image1dArray => "CL_MEM_OBJECT_IMAGE1D_ARRAY",
            Self::Image1dBuffer => "CL_MEM_OBJECT_IMAGE1D_BUFFER",
        })
    }
}

impl ImageType {
    pub const ALL: [Self; 6] = [Self::Image1d, Self::Image1dBuffer, Self::Image1dArray, Self::Image2d, Self::Image2dArray, Self::Image3d];

    /// Converts the value of the C enumeration. Returns `None` for other objects.
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as u32 == raw)
    }

    pub(crate) const fn has_height(self) -> bool {
        matches!(self, Self::Image2d | Self::Image2dArray | Self::Image3d)
    }

    pub(crate) const fn is_array(self) -> bool {
        matches!(self, Self::Image1dArray | Self::Image2dArray)
    }

    /// Whether an image of this type has slices or is an array, so that the slice pitch is used.
    pub const fn has_slices(self) -> bool {
        matches!(self, Self::Image3d | Self::Image1dArray | Self::Image2dArray)
    }
}
