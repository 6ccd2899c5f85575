//! Memory of Vulkan that OpenGL imports as a buffer (GL_EXT_memory_object_fd). OpenGL copies the contents of an object
//! to this buffer and back, so they do not pass through host memory. Textures are copied as pixel buffer objects.
//!
//! Each copy ends with glFinish. Then the other API sees its writes.

use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_api::types::graphics::ImportedMemory;

use super::connection::{Connection, Gl};
use super::constants::{GL_COPY_WRITE_BUFFER, GL_HANDLE_TYPE_OPAQUE_FD_EXT};
use super::object::Storage;
use super::transfer;

/// A buffer of OpenGL on memory of Vulkan, with the size of the object.
#[derive(Debug)]
pub(super) struct ImportedBuffer {
    connection: Arc<Connection>,
    storage: Storage,
    names: Names,
    size: isize,
}

/// The names of the memory object and of the buffer on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Names {
    memory: u32,
    buffer: u32,
}

impl Names {
    /// Deletes both objects. The name 0 is ignored.
    fn delete(self, gl: &Gl) {
        gl.functions.glDeleteBuffers(1, &raw const self.buffer);
        if let Some(memory) = &gl.memory {
            memory.glDeleteMemoryObjectsEXT(1, &raw const self.memory);
        }
    }
}

/// Deletes all imported memory. At the end of a process, this must precede the exit handler of the driver: NVIDIA's
/// (580.159.04) crashes if memory of Vulkan is still imported.
pub(super) fn delete_all(gl: &Gl) {
    gl.imported.take().into_iter().for_each(|names| names.delete(gl));
    gl.functions.glFinish();
}

impl ImportedBuffer {
    /// Imports `allocated` bytes by a file descriptor, which this function owns.
    ///
    /// # Errors
    /// The errors of OpenGL.
    pub(super) fn new(connection: Arc<Connection>, storage: Storage, fd: i32, allocated: u64, size: u64) -> BackendResult<Self> {
        let fd = Descriptor::new(fd);
        let size = isize::try_from(size).map_err(|_| BackendError::OutOfHostMemory)?;
        let names = connection.call(move |gl| import(gl, fd, allocated, size))??;
        Ok(Self { connection, storage, names, size })
    }
}

fn import(gl: &Gl, fd: Descriptor, allocated: u64, size: isize) -> BackendResult<Names> {
    let memory = gl.memory.as_ref().ok_or_else(|| BackendError::Other("OpenGL cannot import memory".to_owned()))?;
    let mut names = Names { memory: 0, buffer: 0 };
    memory.glCreateMemoryObjectsEXT(1, &raw mut names.memory);
    memory.glImportMemoryFdEXT(names.memory, allocated, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd.get());
    let create = || {
        gl.check("glImportMemoryFdEXT")?;
        // "A successful import operation transfers ownership of <fd> to the GL implementation."
        fd.release();
        gl.functions.glGenBuffers(1, &raw mut names.buffer);
        gl.functions.glBindBuffer(GL_COPY_WRITE_BUFFER, names.buffer);
        memory.glBufferStorageMemEXT(GL_COPY_WRITE_BUFFER, size, names.memory, 0);
        gl.functions.glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
        gl.check("glBufferStorageMemEXT")
    };
    let created = create();
    match created {
        Ok(()) => gl.imported.borrow_mut().push(names),
        Err(_) => names.delete(gl),
    }
    Ok(created.map(|()| names)?)
}

impl ImportedBuffer {
    /// Copies with a function that takes the object, the name of the buffer, and its size.
    fn copy(&self, copy: fn(&Gl, &Storage, u32, isize) -> BackendResult<()>) -> BackendResult<()> {
        let (storage, buffer, size) = (self.storage, self.names.buffer, self.size);
        self.connection.call(move |gl| {
            copy(gl, &storage, buffer, size)?;
            gl.functions.glFinish();
            Ok(())
        })?
    }
}

impl ImportedMemory for ImportedBuffer {
    fn read_object(&self) -> BackendResult<()> {
        self.copy(transfer::copy_to_imported)
    }

    fn write_object(&self) -> BackendResult<()> {
        self.copy(transfer::copy_from_imported)
    }
}

impl Drop for ImportedBuffer {
    fn drop(&mut self) {
        let names = self.names;
        self.connection.post(move |gl| {
            // After `delete_all`, the objects do not exist.
            let index = gl.imported.borrow().iter().position(|other| *other == names);
            if let Some(index) = index {
                gl.imported.borrow_mut().swap_remove(index);
                names.delete(gl);
            }
        });
    }
}

/// A file descriptor that is closed unless another owner takes it.
#[cfg(unix)]
struct Descriptor(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Descriptor {
    fn new(fd: i32) -> Self {
        use std::os::fd::FromRawFd;
        // SAFETY: the caller passes a descriptor that it owns.
        Self(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) })
    }

    fn get(&self) -> i32 {
        use std::os::fd::AsRawFd;
        self.0.as_raw_fd()
    }

    fn release(self) {
        use std::os::fd::IntoRawFd;
        let _ = self.0.into_raw_fd();
    }
}

/// Other systems have no file descriptors, so no device exports one.
#[cfg(not(unix))]
struct Descriptor(i32);

#[cfg(not(unix))]
impl Descriptor {
    fn new(fd: i32) -> Self {
        Self(fd)
    }

    fn get(&self) -> i32 {
        self.0
    }

    fn release(self) {}
}
