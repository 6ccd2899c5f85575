//! Queries of buffers, textures and renderbuffers: their sizes and formats, and whether they can be shared.

use wgcl_api::image::ImageDesc;
use wgcl_api::image::image_type::ImageType;
use wgcl_api::objects::graphics::GraphicsFormat;
use wgcl_api::types::error::{Error, Result};

use super::connection::Gl;
use super::constants::{
    GL_BUFFER_SIZE, GL_COPY_READ_BUFFER, GL_RENDERBUFFER, GL_RENDERBUFFER_DEPTH_SIZE, GL_RENDERBUFFER_HEIGHT,
    GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_RED_SIZE, GL_RENDERBUFFER_SAMPLES, GL_RENDERBUFFER_WIDTH, GL_TEXTURE_1D,
    GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_BORDER, GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, GL_TEXTURE_BUFFER_OFFSET,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_DEPTH, GL_TEXTURE_DEPTH_SIZE,
    GL_TEXTURE_HEIGHT, GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_RECTANGLE, GL_TEXTURE_RED_SIZE, GL_TEXTURE_RED_TYPE,
    GL_TEXTURE_SAMPLES, GL_TEXTURE_WIDTH,
};
use super::format::{self, Components, SharedFormat};
use super::object::{MultisampleTexture, Storage, TextureLevel, binding_of};
use crate::check;

/// An image that can be created from an object of OpenGL.
pub(super) struct Described {
    pub(super) storage: Storage,
    pub(super) format: GraphicsFormat,
    pub(super) desc: ImageDesc,
    /// The size in bytes of the contents of a buffer texture.
    pub(super) buffer_size: Option<u64>,
}

/// Returns the size of a buffer in bytes.
///
/// # Errors
/// "CL_INVALID_GL_OBJECT if bufobj is not a GL buffer object or is a GL buffer object but does not have an existing
/// data store or the size of the buffer is 0."
pub(super) fn buffer_size(gl: &Gl, name: u32) -> Result<u64> {
    let is_buffer = name != 0 && gl.functions.glIsBuffer(name) != 0;
    check!(is_buffer, InvalidGlObject, "{name} is not the name of an OpenGL buffer");
    let mut size = 0;
    gl.functions.glBindBuffer(GL_COPY_READ_BUFFER, name);
    gl.functions.glGetBufferParameteri64v(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &raw mut size);
    gl.functions.glBindBuffer(GL_COPY_READ_BUFFER, 0);
    gl.check("glGetBufferParameteri64v").map_err(|error| Error::InvalidGlObject(error.to_string().into()))?;
    u64::try_from(size)
        .ok()
        .filter(|&size| size != 0)
        .ok_or_else(|| Error::InvalidGlObject(format!("the OpenGL buffer {name} is empty").into()))
}

/// The OpenCL image type of a texture target, or `None` for other targets.
pub(super) fn image_type(target: u32) -> Option<ImageType> {
    Some(match target {
        GL_TEXTURE_1D => ImageType::Image1d,
        GL_TEXTURE_1D_ARRAY => ImageType::Image1dArray,
        GL_TEXTURE_BUFFER => ImageType::Image1dBuffer,
        GL_TEXTURE_2D
        | GL_TEXTURE_RECTANGLE
        | GL_TEXTURE_2D_MULTISAMPLE
        | GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => ImageType::Image2d,
        GL_TEXTURE_2D_ARRAY | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => ImageType::Image2dArray,
        GL_TEXTURE_3D => ImageType::Image3d,
        _ => return None,
    })
}

/// Whether the textures of a target have several samples per element.
pub(super) const fn is_multisample(target: u32) -> bool {
    matches!(target, GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY)
}

/// The last level that a texture of this type may have.
const MAX_LEVEL: i32 = 31;

/// A bound texture.
struct Bound<'a> {
    gl: &'a Gl,
    target: u32,
    levels: &'a super::functions::LevelFunctions,
}

impl Bound<'_> {
    fn level(&self, target: u32, level: i32, name: u32) -> i32 {
        let mut value = 0;
        self.levels.glGetTexLevelParameteriv(target, level, name, &raw mut value);
        value
    }

    fn parameter(&self, name: u32) -> i32 {
        let mut value = 0;
        self.gl.functions.glGetTexParameteriv(binding_of(self.target), name, &raw mut value);
        value
    }

    fn size(&self, target: u32, level: i32) -> [i32; 3] {
        [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH].map(|name| self.level(target, level, name))
    }

    fn is_defined(&self, target: u32, level: i32) -> bool {
        let [width, height, depth] = self.size(target, level);
        width > 0 && height > 0 && depth > 0
    }

    /// Checks the level, and that the texture is complete as far as the level requires.
    fn check_level(&self, level: i32) -> Result<()> {
        let target = self.target;
        if matches!(target, GL_TEXTURE_BUFFER | GL_TEXTURE_RECTANGLE) || is_multisample(target) {
            check!(level == 0, InvalidMipLevel, "mip level {level}: a texture of the target {target:#x} has only level 0");
            check!(self.is_defined(target, 0), InvalidGlObject, "the texture has no contents");
            return Ok(());
        }
        let base = self.parameter(GL_TEXTURE_BASE_LEVEL);
        check!(level >= base.max(0), InvalidMipLevel, "mip level {level}: the base level of the texture is {base}");
        check!(self.is_defined(target, base), InvalidGlObject, "the texture is incomplete: its base level {base} is not defined");
        if binding_of(target) == GL_TEXTURE_CUBE_MAP {
            let size = self.size(target, base);
            let is_complete = (GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z).all(|face| self.size(face, base) == size);
            check!(is_complete, InvalidGlObject, "the cube map is incomplete: its faces have different sizes");
        }
        let [width, height, depth] = self.size(target, base);
        let largest = match target {
            GL_TEXTURE_3D => width.max(height).max(depth),
            GL_TEXTURE_1D | GL_TEXTURE_1D_ARRAY => width,
            _ => width.max(height),
        };
        let last = (base + largest.max(1).ilog2().cast_signed()).min(self.parameter(GL_TEXTURE_MAX_LEVEL)).min(MAX_LEVEL);
        check!(level <= last, InvalidMipLevel, "mip level {level}: the last level of the texture is {last}");
        check!(self.is_defined(target, level), InvalidGlObject, "mip level {level} of the texture is not defined");
        let is_complete = level == base || (base..=last).all(|level| self.is_defined(target, level));
        check!(is_complete, InvalidGlObject, "the texture is incomplete: a level of {base} to {last} is not defined");
        Ok(())
    }

    fn format(&self, level: i32) -> Result<SharedFormat> {
        let query = |name| self.level(self.target, level, name);
        let internal = query(GL_TEXTURE_INTERNAL_FORMAT).cast_unsigned();
        let components = Components {
            red_bits: query(GL_TEXTURE_RED_SIZE),
            red_type: query(GL_TEXTURE_RED_TYPE).cast_unsigned(),
            depth_bits: query(GL_TEXTURE_DEPTH_SIZE),
        };
        format::of_internal(internal, components).ok_or_else(|| unmapped(internal))
    }
}

fn unmapped(internal: u32) -> Error {
    Error::InvalidImageFormatDescriptor(format!("the internal format {internal:#x} corresponds to no OpenCL image format").into())
}

fn unsigned(value: i32) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Describes the image of a level of a texture.
///
/// # Errors
/// The errors of clCreateFromGLTexture.
pub(super) fn texture(gl: &Gl, target: u32, level: i32, name: u32) -> Result<Described> {
    let kind = image_type(target).ok_or_else(|| Error::InvalidValue(format!("texture target {target:#x} is unknown").into()))?;
    let is_texture = name != 0 && gl.functions.glIsTexture(name) != 0;
    check!(is_texture, InvalidGlObject, "{name} is not the name of an OpenGL texture");
    let levels = gl.levels.as_ref().ok_or_else(|| Error::InvalidOperation("textures of OpenGL ES 3.0 cannot be queried".into()))?;
    gl.functions.glBindTexture(binding_of(target), name);
    let result = match gl.check("glBindTexture") {
        Ok(()) => describe_bound(&Bound { gl, target, levels }, kind, level, name),
        Err(error) => Err(Error::InvalidGlObject(format!("texture {name} does not have the target {target:#x}: {error}").into())),
    };
    gl.functions.glBindTexture(binding_of(target), 0);
    gl.discard_errors();
    let described = result?;
    check_readable(gl, &described)?;
    Ok(described)
}

fn describe_bound(bound: &Bound<'_>, kind: ImageType, level: i32, name: u32) -> Result<Described> {
    let target = bound.target;
    check!(level >= 0, InvalidMipLevel, "mip level {level} is negative");
    bound.check_level(level)?;
    // "CL_INVALID_OPERATION if texture is a GL texture object created with a border width value greater than zero."
    let has_border = bound.gl.desktop.is_some() && bound.level(target, level, GL_TEXTURE_BORDER) > 0;
    check!(!has_border, InvalidOperation, "the texture has a border");
    let format = bound.format(level)?;
    let size = bound.size(target, level);
    let [width, height, depth] = size.map(unsigned);
    let desc = ImageDesc { image_type: kind as u32, width, height, depth, ..ImageDesc::default() };
    if kind == ImageType::Image1dBuffer {
        let buffer = bound.level(target, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING).cast_unsigned();
        let offset = bound.level(target, 0, GL_TEXTURE_BUFFER_OFFSET);
        // Before OpenGL 4.3 a buffer texture has no offset, and the query is an error.
        bound.gl.discard_errors();
        let element = wgcl_api::image::format::element_size(format.image.stored).map_or(0, u64::from);
        let storage = Storage::Buffer { name: buffer, offset: offset as isize };
        return Ok(Described { storage, format: format.image, desc, buffer_size: Some(width * element) });
    }
    let desc = match kind {
        ImageType::Image1dArray => ImageDesc { array_size: height, ..desc },
        ImageType::Image2dArray => ImageDesc { array_size: depth, ..desc },
        _ => desc,
    };
    if is_multisample(target) {
        let samples = bound.level(target, 0, GL_TEXTURE_SAMPLES);
        check!(samples > 0, InvalidGlObject, "the multisample texture has no samples");
        let desc = ImageDesc { graphics_samples: samples.unsigned_abs(), ..desc };
        let storage = Storage::Multisample(MultisampleTexture { target, name, size, samples, format: format.of_samples() });
        return Ok(Described { storage, format: format.image, desc, buffer_size: None });
    }
    let storage = Storage::Texture(TextureLevel { target, name, level, size, transfer: format.transfer });
    Ok(Described { storage, format: format.image, desc, buffer_size: None })
}

/// Describes the image of a renderbuffer.
///
/// # Errors
/// The errors of clCreateFromGLRenderbuffer.
pub(super) fn renderbuffer(gl: &Gl, name: u32) -> Result<Described> {
    let is_renderbuffer = name != 0 && gl.functions.glIsRenderbuffer(name) != 0;
    check!(is_renderbuffer, InvalidGlObject, "{name} is not the name of an OpenGL renderbuffer");
    gl.functions.glBindRenderbuffer(GL_RENDERBUFFER, name);
    let query = |parameter| {
        let mut value = 0;
        gl.functions.glGetRenderbufferParameteriv(GL_RENDERBUFFER, parameter, &raw mut value);
        value
    };
    let size = [query(GL_RENDERBUFFER_WIDTH), query(GL_RENDERBUFFER_HEIGHT)];
    let internal = query(GL_RENDERBUFFER_INTERNAL_FORMAT).cast_unsigned();
    let samples = query(GL_RENDERBUFFER_SAMPLES);
    let components = Components { red_bits: query(GL_RENDERBUFFER_RED_SIZE), red_type: 0, depth_bits: query(GL_RENDERBUFFER_DEPTH_SIZE) };
    gl.functions.glBindRenderbuffer(GL_RENDERBUFFER, 0);
    gl.discard_errors();
    // "CL_INVALID_GL_OBJECT if ... the width or height of renderbuffer is zero."
    check!(size[0] > 0 && size[1] > 0, InvalidGlObject, "the renderbuffer {name} is empty");
    // "CL_INVALID_OPERATION if renderbuffer is a multi-sample GL renderbuffer object."
    check!(samples == 0, InvalidOperation, "the renderbuffer {name} has {samples} samples");
    let format = format::of_internal(internal, components).ok_or_else(|| unmapped(internal))?;
    let [width, height] = size.map(unsigned);
    let described = Described {
        storage: Storage::Renderbuffer { name, internal, size, transfer: format.transfer },
        format: format.image,
        desc: ImageDesc { image_type: ImageType::Image2d as u32, width, height, ..ImageDesc::default() },
        buffer_size: None,
    };
    check_readable(gl, &described)?;
    Ok(described)
}

/// Binds an EGL image to a new texture. Returns the texture, which the caller must delete, and its image.
///
/// # Errors
/// The errors of clCreateFromEGLImageKHR.
pub(super) fn egl_image(gl: &Gl, image: usize) -> Result<(Described, u32)> {
    let functions = gl.egl_images.as_ref();
    let functions = functions.ok_or_else(|| Error::InvalidOperation("the driver does not support GL_OES_EGL_image".into()))?;
    let mut name = 0;
    gl.functions.glGenTextures(1, &raw mut name);
    gl.functions.glBindTexture(GL_TEXTURE_2D, name);
    functions.glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image);
    let bound = gl.check("glEGLImageTargetTexture2DOES");
    gl.functions.glBindTexture(GL_TEXTURE_2D, 0);
    // "CL_INVALID_EGL_OBJECT_KHR if image is not a valid EGLImage object."
    let bound = bound.map_err(|error| Error::InvalidEglObject(format!("the EGL image cannot be bound: {error}").into()));
    let described = bound.and_then(|()| {
        texture(gl, GL_TEXTURE_2D, 0, name).map_err(|error| match error {
            Error::InvalidImageFormatDescriptor(why) | Error::InvalidGlObject(why) => Error::ImageFormatNotSupported(why),
            other => other,
        })
    });
    match described {
        Ok(described) => Ok((described, name)),
        Err(error) => {
            gl.functions.glDeleteTextures(1, &raw const name);
            Err(error)
        }
    }
}

/// Checks that the driver can read the pixels of the object in its format. Drivers of OpenGL ES may read only some
/// formats, and drivers may render only to some formats.
fn check_readable(gl: &Gl, described: &Described) -> Result<()> {
    let part = match described.storage {
        Storage::Multisample(texture) => Storage::Multisample(MultisampleTexture { size: [1; 3], samples: 1, ..texture }),
        _ if gl.desktop.is_some() || described.buffer_size.is_some() => return Ok(()),
        Storage::Texture(texture) => Storage::Texture(TextureLevel { size: [1; 3], ..texture }),
        Storage::Renderbuffer { name, internal, transfer, .. } => Storage::Renderbuffer { name, internal, size: [1; 2], transfer },
        Storage::Buffer { .. } => return Ok(()),
    };
    // No element has more than 16 bytes.
    super::transfer::read(gl, &part, &mut [0; 16])
        .map_err(|error| Error::InvalidImageFormatDescriptor(format!("the driver of OpenGL cannot read the object: {error}").into()))
}
