//! Copies between host memory, or a buffer of OpenGL, and buffers, textures and renderbuffers of OpenGL.

use std::ptr::{null, null_mut};

use wgcl_api::backend::{BackendError, BackendResult};

use super::connection::{Gl, GlError};
use super::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT,
    GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER_COMPLETE, GL_MAP_READ_BIT, GL_NEAREST, GL_NONE, GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER,
    GL_READ_FRAMEBUFFER, GL_RENDERBUFFER, GL_STREAM_DRAW, GL_STREAM_READ, GL_TEXTURE_1D, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_MIN_FILTER,
};
use super::format::PixelTransfer;
use super::multisample;
use super::object::{Storage, TextureLevel};

/// Copies the contents of an object to `bytes`, which has their size.
pub(super) fn read(gl: &Gl, storage: &Storage, bytes: &mut [u8]) -> BackendResult<()> {
    match *storage {
        Storage::Buffer { name, offset } => read_buffer(gl, name, offset, bytes),
        _ => read_image(gl, storage, bytes.as_mut_ptr(), bytes.len()),
    }
}

/// Replaces the contents of an object by `bytes`, which has their size.
pub(super) fn write(gl: &Gl, storage: &Storage, bytes: &[u8]) -> BackendResult<()> {
    match *storage {
        Storage::Buffer { name, offset } => write_buffer(gl, name, offset, bytes),
        _ => write_image(gl, storage, bytes.as_ptr()),
    }
}

/// Copies the contents of an object to a buffer on imported memory, which has their size.
///
/// Pixels pass through another buffer. Drivers may convert pixels on the host, with a copy of the buffer that does not
/// see the writes of other APIs: on an H200 (driver 580.159.04), GL_DEPTH_COMPONENT24 had stale values.
pub(super) fn copy_to_imported(gl: &Gl, storage: &Storage, buffer: u32, size: isize) -> BackendResult<()> {
    if let Storage::Buffer { name, offset } = *storage {
        return copy_buffer(gl, (name, offset), (buffer, 0), size);
    }
    let pixels = TemporaryBuffer::new(gl, GL_COPY_WRITE_BUFFER, size, None)?;
    // With a pixel buffer, addresses are offsets in it.
    with_pixel_buffer(gl, GL_PIXEL_PACK_BUFFER, pixels.name, || read_image(gl, storage, null_mut(), size.unsigned_abs()))?;
    copy_buffer(gl, (pixels.name, 0), (buffer, 0), size)
}

/// Replaces the contents of an object by those of a buffer on imported memory, which has their size.
pub(super) fn copy_from_imported(gl: &Gl, storage: &Storage, buffer: u32, size: isize) -> BackendResult<()> {
    if let Storage::Buffer { name, offset } = *storage {
        return copy_buffer(gl, (buffer, 0), (name, offset), size);
    }
    let pixels = TemporaryBuffer::new(gl, GL_COPY_WRITE_BUFFER, size, None)?;
    copy_buffer(gl, (buffer, 0), (pixels.name, 0), size)?;
    with_pixel_buffer(gl, GL_PIXEL_UNPACK_BUFFER, pixels.name, || write_image(gl, storage, null()))
}

/// Copies bytes between two buffers of OpenGL: the name of each buffer, and the offset in it.
fn copy_buffer(gl: &Gl, from: (u32, isize), to: (u32, isize), size: isize) -> BackendResult<()> {
    let functions = &gl.functions;
    functions.glBindBuffer(GL_COPY_READ_BUFFER, from.0);
    functions.glBindBuffer(GL_COPY_WRITE_BUFFER, to.0);
    functions.glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, from.1, to.1, size);
    let copied = gl.check("glCopyBufferSubData");
    functions.glBindBuffer(GL_COPY_READ_BUFFER, 0);
    functions.glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    Ok(copied?)
}

/// Calls `body` while a buffer is bound for transfers of pixels.
fn with_pixel_buffer(gl: &Gl, target: u32, buffer: u32, body: impl FnOnce() -> BackendResult<()>) -> BackendResult<()> {
    gl.functions.glBindBuffer(target, buffer);
    let result = body();
    gl.functions.glBindBuffer(target, 0);
    result
}

/// Copies the pixels of an object to `data`, which has `size` bytes.
fn read_image(gl: &Gl, storage: &Storage, data: *mut u8, size: usize) -> BackendResult<()> {
    match *storage {
        Storage::Buffer { .. } => Ok(()),
        Storage::Texture(texture) => read_texture(gl, &texture, data, size),
        Storage::Multisample(texture) => multisample::read(gl, &texture, data, size),
        Storage::Renderbuffer { name, size, transfer, .. } => with_framebuffer(gl, GL_READ_FRAMEBUFFER, transfer, |attachment| {
            gl.functions.glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, attachment, GL_RENDERBUFFER, name);
            read_pixels(gl, size, transfer, data)
        }),
    }
}

/// Replaces the pixels of an object by those at `data`.
fn write_image(gl: &Gl, storage: &Storage, data: *const u8) -> BackendResult<()> {
    match *storage {
        Storage::Buffer { .. } | Storage::Multisample(_) => Ok(()),
        Storage::Texture(texture) => Ok(write_texture(gl, &texture, data)?),
        Storage::Renderbuffer { name, internal, size, transfer } => write_renderbuffer(gl, name, internal, size, transfer, data),
    }
}

fn signed(size: usize) -> BackendResult<isize> {
    isize::try_from(size).map_err(|_| BackendError::Other(format!("an OpenGL object of {size} bytes is too large")))
}

/// A buffer of OpenGL that exists until the end of a copy. The application's buffers may be neither mappable nor
/// writable by the host, but all buffers can be copied.
struct TemporaryBuffer<'a> {
    gl: &'a Gl,
    name: u32,
}

impl<'a> TemporaryBuffer<'a> {
    fn new(gl: &'a Gl, target: u32, size: isize, data: Option<&[u8]>) -> std::result::Result<Self, GlError> {
        let mut name = 0;
        gl.functions.glGenBuffers(1, &raw mut name);
        gl.functions.glBindBuffer(target, name);
        let usage = if data.is_some() { GL_STREAM_DRAW } else { GL_STREAM_READ };
        gl.functions.glBufferData(target, size, data.map_or(std::ptr::null(), |data| data.as_ptr().cast()), usage);
        let buffer = Self { gl, name };
        gl.check("glBufferData")?;
        Ok(buffer)
    }
}

impl Drop for TemporaryBuffer<'_> {
    fn drop(&mut self) {
        self.gl.functions.glBindBuffer(GL_COPY_READ_BUFFER, 0);
        self.gl.functions.glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
        self.gl.functions.glDeleteBuffers(1, &raw const self.name);
    }
}

fn read_buffer(gl: &Gl, name: u32, offset: isize, bytes: &mut [u8]) -> BackendResult<()> {
    let size = signed(bytes.len())?;
    let copy = TemporaryBuffer::new(gl, GL_COPY_WRITE_BUFFER, size, None)?;
    copy_buffer(gl, (name, offset), (copy.name, 0), size)?;
    gl.functions.glBindBuffer(GL_COPY_WRITE_BUFFER, copy.name);
    let mapped = gl.functions.glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, size, GL_MAP_READ_BIT);
    if mapped.is_null() {
        gl.check("glMapBufferRange")?;
        return Err(BackendError::OutOfHostMemory);
    }
    // SAFETY: the buffer is mapped for reading, with the size of `bytes`.
    bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), bytes.len()) });
    gl.functions.glUnmapBuffer(GL_COPY_WRITE_BUFFER);
    Ok(gl.check("glUnmapBuffer")?)
}

fn write_buffer(gl: &Gl, name: u32, offset: isize, bytes: &[u8]) -> BackendResult<()> {
    let size = signed(bytes.len())?;
    let copy = TemporaryBuffer::new(gl, GL_COPY_READ_BUFFER, size, Some(bytes))?;
    copy_buffer(gl, (copy.name, 0), (name, offset), size)
}

pub(super) fn read_texture(gl: &Gl, texture: &TextureLevel, data: *mut u8, size: usize) -> BackendResult<()> {
    let TextureLevel { target, name, level, size: [width, height, depth], transfer } = *texture;
    if let Some(desktop) = &gl.desktop {
        gl.functions.glBindTexture(texture.binding(), name);
        desktop.glGetTexImage(target, level, transfer.format, transfer.kind, data.cast());
        gl.functions.glBindTexture(texture.binding(), 0);
        return Ok(gl.check("glGetTexImage")?);
    }
    // OpenGL ES has no glGetTexImage.
    let layers = usize::try_from(depth).unwrap_or(0).max(1);
    for layer in 0..layers {
        let part = data.wrapping_add(size / layers * layer);
        with_framebuffer(gl, GL_READ_FRAMEBUFFER, transfer, |attachment| {
            if matches!(target, GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY) {
                gl.functions.glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, attachment, name, level, layer as i32);
            } else {
                gl.functions.glFramebufferTexture2D(GL_READ_FRAMEBUFFER, attachment, target, name, level);
            }
            read_pixels(gl, [width, height], transfer, part)
        })?;
    }
    Ok(())
}

fn write_texture(gl: &Gl, texture: &TextureLevel, data: *const u8) -> std::result::Result<(), GlError> {
    let TextureLevel { target, level, size: [width, height, depth], transfer: PixelTransfer { format, kind, .. }, .. } = *texture;
    let data = data.cast();
    gl.functions.glBindTexture(texture.binding(), texture.name);
    match (target, &gl.desktop) {
        (GL_TEXTURE_1D, Some(desktop)) => desktop.glTexSubImage1D(target, level, 0, width, format, kind, data),
        (GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY, _) => {
            gl.functions.glTexSubImage3D(target, level, 0, 0, 0, width, height, depth, format, kind, data);
        }
        _ => gl.functions.glTexSubImage2D(target, level, 0, 0, width, height, format, kind, data),
    }
    gl.functions.glBindTexture(texture.binding(), 0);
    gl.check("glTexSubImage")
}

/// Calls `body` with the attachment point for the elements, while a new framebuffer object is bound to `target`.
pub(super) fn with_framebuffer(
    gl: &Gl,
    target: u32,
    transfer: PixelTransfer,
    body: impl FnOnce(u32) -> BackendResult<()>,
) -> BackendResult<()> {
    let mut name = 0;
    gl.functions.glGenFramebuffers(1, &raw mut name);
    gl.functions.glBindFramebuffer(target, name);
    let attachment = if transfer.is_depth { GL_DEPTH_ATTACHMENT } else { GL_COLOR_ATTACHMENT0 };
    let buffer = if transfer.is_depth { GL_NONE } else { GL_COLOR_ATTACHMENT0 };
    if target == GL_READ_FRAMEBUFFER {
        gl.functions.glReadBuffer(buffer);
    } else {
        gl.functions.glDrawBuffers(1, &raw const buffer);
    }
    let result = body(attachment);
    gl.functions.glBindFramebuffer(target, 0);
    gl.functions.glDeleteFramebuffers(1, &raw const name);
    gl.discard_errors();
    result
}

pub(super) fn check_complete(gl: &Gl, target: u32) -> BackendResult<()> {
    match gl.functions.glCheckFramebufferStatus(target) {
        GL_FRAMEBUFFER_COMPLETE => Ok(()),
        status => Err(BackendError::Other(format!("the OpenGL object cannot be attached to a framebuffer: status {status:#x}"))),
    }
}

/// Reads the pixels of the framebuffer that is bound for reading.
fn read_pixels(gl: &Gl, [width, height]: [i32; 2], transfer: PixelTransfer, data: *mut u8) -> BackendResult<()> {
    check_complete(gl, GL_READ_FRAMEBUFFER)?;
    gl.functions.glReadPixels(0, 0, width, height, transfer.format, transfer.kind, data.cast());
    Ok(gl.check("glReadPixels")?)
}

/// Writes a renderbuffer through a texture of the same format. A blit copies the texture, because pixels cannot be
/// transferred to a renderbuffer.
fn write_renderbuffer(
    gl: &Gl,
    name: u32,
    internal: u32,
    [width, height]: [i32; 2],
    transfer: PixelTransfer,
    data: *const u8,
) -> BackendResult<()> {
    let functions = &gl.functions;
    let mut texture = 0;
    functions.glGenTextures(1, &raw mut texture);
    functions.glBindTexture(GL_TEXTURE_2D, texture);
    functions.glTexImage2D(GL_TEXTURE_2D, 0, internal.cast_signed(), width, height, 0, transfer.format, transfer.kind, data.cast());
    functions.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    functions.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST.cast_signed());
    functions.glBindTexture(GL_TEXTURE_2D, 0);
    let uploaded = gl.check("glTexImage2D").map_err(BackendError::from);
    let copied = uploaded.and_then(|()| {
        with_framebuffer(gl, GL_READ_FRAMEBUFFER, transfer, |attachment| {
            functions.glFramebufferTexture2D(GL_READ_FRAMEBUFFER, attachment, GL_TEXTURE_2D, texture, 0);
            check_complete(gl, GL_READ_FRAMEBUFFER)?;
            with_framebuffer(gl, GL_DRAW_FRAMEBUFFER, transfer, |attachment| {
                functions.glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, attachment, GL_RENDERBUFFER, name);
                check_complete(gl, GL_DRAW_FRAMEBUFFER)?;
                let mask = if transfer.is_depth { GL_DEPTH_BUFFER_BIT } else { GL_COLOR_BUFFER_BIT };
                functions.glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, mask, GL_NEAREST);
                Ok(gl.check("glBlitFramebuffer")?)
            })
        })
    });
    functions.glDeleteTextures(1, &raw const texture);
    copied
}
