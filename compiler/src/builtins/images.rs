//! Sets of image types with the same built-in functions (OpenCL C 6.15.15).

use crate::ast::{Access, ImageKind};

/// The images that a function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageSet {
    /// `image`: images with colours of four components and with one sample.
    Colour,
    /// `texture`: like `image`, except `image1d_buffer_t`.
    Texture,
    /// `depth`: depth images with one sample.
    Depth,
    /// `any`: every image.
    Any,
    /// `tall`: images with a height.
    Tall,
    /// `flat`: images with a height and without a depth.
    Flat,
    /// `image3d`: images with a depth.
    Volume,
    /// `array`: arrays of images.
    Array,
    /// `mipmap`: images with levels: every image except `image1d_buffer_t` and multisample images.
    Mipmap,
    /// `msaa`: multisample images with colours of four components.
    Msaa,
    /// `msaa_depth`: multisample depth images.
    MsaaDepth,
    /// `samples`: every multisample image.
    Samples,
    /// `image2d`: this type only.
    Image2d,
}

impl ImageSet {
    /// Parses a set and the required access, as in `sampled texture`, `read image` or `any`. Returns `None` for other
    /// texts.
    pub(crate) fn parse(text: &str) -> Option<(Self, Option<Access>)> {
        let (access, set) = match text.split_once(' ') {
            Some(("sampled", set)) => (Some(Access::ReadOnly), set),
            Some(("read", set)) => (Some(Access::ReadWrite), set),
            Some(("written", set)) => (Some(Access::WriteOnly), set),
            _ => (None, text),
        };
        let set = match set {
            "image" => Self::Colour,
            "texture" => Self::Texture,
            "depth" => Self::Depth,
            "any" => Self::Any,
            "tall" => Self::Tall,
            "flat" => Self::Flat,
            "image3d" => Self::Volume,
            "array" => Self::Array,
            "mipmap" => Self::Mipmap,
            "msaa" => Self::Msaa,
            "msaa_depth" => Self::MsaaDepth,
            "samples" => Self::Samples,
            "image2d" => Self::Image2d,
            _ => return None,
        };
        Some((set, access))
    }

    pub(crate) const fn contains(self, kind: ImageKind) -> bool {
        let is_depth = matches!(kind, ImageKind::Image2dDepth | ImageKind::Image2dArrayDepth);
        let has_samples = kind.is_multisample();
        let is_line = matches!(kind, ImageKind::Image1d | ImageKind::Image1dArray | ImageKind::Image1dBuffer);
        match self {
            Self::Colour => !is_depth && !has_samples,
            Self::Texture => !is_depth && !has_samples && !matches!(kind, ImageKind::Image1dBuffer),
            Self::Depth => is_depth,
            Self::Any => true,
            Self::Tall => !is_line,
            Self::Flat => !is_line && !matches!(kind, ImageKind::Image3d),
            Self::Volume => matches!(kind, ImageKind::Image3d),
            Self::Array => matches!(
                kind,
                ImageKind::Image1dArray
                    | ImageKind::Image2dArray
                    | ImageKind::Image2dArrayDepth
                    | ImageKind::Image2dArrayMsaa
                    | ImageKind::Image2dArrayMsaaDepth
            ),
            Self::Mipmap => !has_samples && !matches!(kind, ImageKind::Image1dBuffer),
            Self::Msaa => matches!(kind, ImageKind::Image2dMsaa | ImageKind::Image2dArrayMsaa),
            Self::MsaaDepth => matches!(kind, ImageKind::Image2dMsaaDepth | ImageKind::Image2dArrayMsaaDepth),
            Self::Samples => has_samples,
            Self::Image2d => matches!(kind, ImageKind::Image2d),
        }
    }

    /// Returns a name for the set in signatures for the user.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Colour => "image",
            Self::Texture => "image (not image1d_buffer_t)",
            Self::Depth => "depth image",
            Self::Any => "image or depth image",
            Self::Tall => "image with a height",
            Self::Flat => "image2d",
            Self::Volume => "image3d_t",
            Self::Array => "image array",
            Self::Mipmap => "image with mip levels",
            Self::Msaa | Self::Samples => "multisample image",
            Self::MsaaDepth => "multisample depth image",
            Self::Image2d => "image2d_t",
        }
    }

    /// Returns an image type of the set, for diagnostics.
    pub(crate) const fn example(self) -> ImageKind {
        match self {
            Self::Depth => ImageKind::Image2dDepth,
            Self::Volume => ImageKind::Image3d,
            Self::Array => ImageKind::Image2dArray,
            Self::Msaa | Self::Samples => ImageKind::Image2dMsaa,
            Self::MsaaDepth => ImageKind::Image2dMsaaDepth,
            _ => ImageKind::Image2d,
        }
    }
}

/// Whether a function that requires `needed` accepts an image with the qualifier `access`. A function with a sampler
/// requires `read_only` (6.15.15.3).
pub(crate) const fn permits(needed: Option<Access>, access: Access) -> bool {
    match needed {
        None => true,
        Some(Access::ReadOnly) => matches!(access, Access::ReadOnly),
        Some(Access::ReadWrite) => !matches!(access, Access::WriteOnly),
        Some(Access::WriteOnly) => !matches!(access, Access::ReadOnly),
    }
}

/// Returns the lane count of the coordinates of an image type (6.15.15.2 to 6.15.15.5).
pub(crate) const fn coordinates(kind: ImageKind) -> u8 {
    match kind {
        ImageKind::Image1d | ImageKind::Image1dBuffer => 1,
        ImageKind::Image1dArray | ImageKind::Image2d | ImageKind::Image2dDepth | ImageKind::Image2dMsaa | ImageKind::Image2dMsaaDepth => 2,
        _ => 4,
    }
}

/// Returns the lane count of the gradients that select a mip level of an image type.
pub(crate) const fn gradients(kind: ImageKind) -> u8 {
    match kind {
        ImageKind::Image1d | ImageKind::Image1dArray => 1,
        ImageKind::Image3d => 4,
        _ => 2,
    }
}
