//! Objects of OpenGL and EGL from which memory objects are created.

use std::any::Any;
use std::sync::Arc;

use wgcl_api::backend::BackendResult;
use wgcl_api::types::graphics::{GraphicsApi, GraphicsObject, ImportedMemory};

use super::connection::Connection;
use super::constants::{GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GL_TEXTURE_CUBE_MAP_POSITIVE_X};
use super::format::{PixelTransfer, SampleFormat};
use super::imported::ImportedBuffer;
use super::transfer;

/// A level of a texture, or one face of a cube map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextureLevel {
    /// The target that the application specified. For a cube map, it names the face.
    pub(super) target: u32,
    pub(super) name: u32,
    pub(super) level: i32,
    /// The size of the level. The layers of an array are in the last dimension of the target.
    pub(super) size: [i32; 3],
    pub(super) transfer: PixelTransfer,
}

/// A multisample texture, which has one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultisampleTexture {
    pub(super) target: u32,
    pub(super) name: u32,
    /// Width, height and number of layers.
    pub(super) size: [i32; 3],
    pub(super) samples: i32,
    pub(super) format: SampleFormat,
}

impl TextureLevel {
    /// The target to which the texture is bound.
    pub(super) fn binding(&self) -> u32 {
        binding_of(self.target)
    }
}

/// Returns the target to which a texture is bound: the faces of a cube map have a common one.
pub(super) fn binding_of(target: u32) -> u32 {
    if (GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z).contains(&target) { GL_TEXTURE_CUBE_MAP } else { target }
}

/// The storage whose contents a memory object copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Bytes of a buffer.
    Buffer {
        name: u32,
        offset: isize,
    },
    Texture(TextureLevel),
    /// A texture that is only read: kernels cannot write multisample images.
    Multisample(MultisampleTexture),
    Renderbuffer {
        name: u32,
        internal: u32,
        size: [i32; 2],
        transfer: PixelTransfer,
    },
}

/// The names of an object for queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// cl_gl_object_type; 0 for an EGL image.
    pub(crate) kind: u32,
    /// The name of the OpenGL object.
    pub(crate) name: u32,
    pub(crate) texture: Option<TextureIdentity>,
}

/// The properties of a texture for queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextureIdentity {
    /// CL_GL_TEXTURE_TARGET
    pub(crate) target: u32,
    /// CL_GL_MIPMAP_LEVEL
    pub(crate) level: i32,
    /// CL_GL_NUM_SAMPLES
    pub(crate) samples: i32,
}

/// An object that a memory object was created from.
#[derive(Debug)]
pub(crate) struct SharedObject {
    pub(super) connection: Arc<Connection>,
    pub(super) storage: Storage,
    pub(crate) identity: Identity,
    /// For an EGL image, the texture of wgcl that the image is bound to.
    pub(super) own_texture: Option<u32>,
}

impl GraphicsObject for SharedObject {
    fn api(&self) -> GraphicsApi {
        if self.own_texture.is_some() { GraphicsApi::Egl } else { GraphicsApi::OpenGl }
    }

    fn read(&self, bytes: &mut Vec<u8>) -> BackendResult<()> {
        let (storage, mut owned) = (self.storage, std::mem::take(bytes));
        *bytes = self.connection.call(move |gl| transfer::read(gl, &storage, &mut owned).map(|()| owned))??;
        Ok(())
    }

    fn write(&self, bytes: Vec<u8>) -> BackendResult<()> {
        let storage = self.storage;
        self.connection.call(move |gl| {
            transfer::write(gl, &storage, &bytes)?;
            gl.functions.glFinish();
            Ok(())
        })?
    }

    fn importing_device(&self) -> Option<([u8; 16], [u8; 16])> {
        self.connection.importing_device()
    }

    fn import(&self, fd: i32, allocated: u64, size: u64) -> BackendResult<Arc<dyn ImportedMemory>> {
        Ok(Arc::new(ImportedBuffer::new(self.connection.clone(), self.storage, fd, allocated, size)?))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for SharedObject {
    fn drop(&mut self) {
        if let Some(texture) = self.own_texture {
            self.connection.post(move |gl| gl.functions.glDeleteTextures(1, &raw const texture));
        }
    }
}
