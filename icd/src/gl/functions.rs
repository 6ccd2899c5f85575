//! The functions of OpenGL, OpenGL ES, EGL, GLX and WGL that wgcl calls, as tables of function pointers.

use std::ffi::{c_char, c_void};

/// A function that the driver of OpenGL does not have.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the driver does not have the function {0}")]
pub(super) struct MissingFunction(pub(super) &'static str);

/// Declares a table of functions, its lookup by name, and a method for each function.
macro_rules! table {
    ($(#[$meta:meta])* $table:ident { $(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)* }) => {
        $(#[$meta])*
        pub(super) struct $table { $($name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)* }

        impl $table {
            /// Looks up all functions with `find`, which returns null for an unknown name.
            ///
            /// # Errors
            /// If a function is missing.
            pub(super) fn load(find: &dyn Fn(&str) -> *mut c_void) -> Result<Self, MissingFunction> {
                Ok(Self {
                    $($name: {
                        let found = find(concat!(stringify!($name), "\0"));
                        if found.is_null() {
                            return Err(MissingFunction(stringify!($name)));
                        }
                        // SAFETY: the type is that of the function of this name in the headers of Khronos.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(found) }
                    },)*
                })
            }

            $(
                pub(super) fn $name(&self, $($arg: $ty),*) $(-> $ret)? {
                    // SAFETY: the function was loaded under this name. The modules of `gl` pass handles of the
                    // application, and pointers that are valid for the call.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

table! {
    /// Functions of libEGL.
    EglFunctions {
        fn eglGetProcAddress(name: *const c_char) -> *mut c_void;
        fn eglQueryString(display: usize, name: i32) -> *const c_char;
        fn eglQueryContext(display: usize, context: usize, attribute: i32, value: *mut i32) -> u32;
        fn eglChooseConfig(display: usize, attributes: *const i32, configs: *mut usize, size: i32, count: *mut i32) -> u32;
        fn eglBindAPI(api: u32) -> u32;
        fn eglCreateContext(display: usize, config: usize, share: usize, attributes: *const i32) -> usize;
        fn eglDestroyContext(display: usize, context: usize) -> u32;
        fn eglCreatePbufferSurface(display: usize, config: usize, attributes: *const i32) -> usize;
        fn eglDestroySurface(display: usize, surface: usize) -> u32;
        fn eglMakeCurrent(display: usize, draw: usize, read: usize, context: usize) -> u32;
        fn eglGetCurrentContext() -> usize;
        fn eglReleaseThread() -> u32;
        fn eglGetError() -> i32;
    }
}

table! {
    /// The function of EGL 1.5 that queries sync objects.
    EglSyncFunctions {
        fn eglGetSyncAttrib(display: usize, sync: usize, attribute: i32, value: *mut isize) -> u32;
    }
}

table! {
    /// Functions of libGL or libGLX that bind contexts to the X Window System.
    GlxFunctions {
        fn glXGetProcAddressARB(name: *const c_char) -> *mut c_void;
        fn glXQueryContext(display: usize, context: usize, attribute: i32, value: *mut i32) -> i32;
        fn glXGetFBConfigs(display: usize, screen: i32, count: *mut i32) -> *mut usize;
        fn glXGetFBConfigAttrib(display: usize, config: usize, attribute: i32, value: *mut i32) -> i32;
        fn glXCreateNewContext(display: usize, config: usize, kind: i32, share: usize, direct: i32) -> usize;
        fn glXIsDirect(display: usize, context: usize) -> i32;
        fn glXDestroyContext(display: usize, context: usize);
        fn glXCreatePbuffer(display: usize, config: usize, attributes: *const i32) -> usize;
        fn glXDestroyPbuffer(display: usize, pbuffer: usize);
        fn glXMakeContextCurrent(display: usize, draw: usize, read: usize, context: usize) -> i32;
        fn glXGetCurrentContext() -> usize;
    }
}

table! {
    /// The function of libX11 that frees a list.
    XFunctions {
        fn XFree(data: *mut c_void) -> i32;
    }
}

table! {
    /// Functions of opengl32.dll that bind contexts to windows.
    WglFunctions {
        fn wglGetProcAddress(name: *const c_char) -> *mut c_void;
        fn wglCreateContext(device: usize) -> usize;
        fn wglDeleteContext(context: usize) -> i32;
        fn wglShareLists(context: usize, new: usize) -> i32;
        fn wglMakeCurrent(device: usize, context: usize) -> i32;
        fn wglGetCurrentContext() -> usize;
    }
}

table! {
    /// The function of WGL_ARB_create_context.
    WglAttributeFunctions {
        fn wglCreateContextAttribsARB(device: usize, share: usize, attributes: *const i32) -> usize;
    }
}

table! {
    /// Functions that both OpenGL 3.2 and OpenGL ES 3.0 have.
    GlFunctions {
        fn glGetError() -> u32;
        fn glGetString(name: u32) -> *const c_char;
        fn glGetStringi(name: u32, index: u32) -> *const c_char;
        fn glGetIntegerv(name: u32, value: *mut i32);
        fn glFinish();
        fn glFlush();
        fn glPixelStorei(name: u32, value: i32);
        fn glIsBuffer(name: u32) -> u8;
        fn glGenBuffers(count: i32, names: *mut u32);
        fn glDeleteBuffers(count: i32, names: *const u32);
        fn glBindBuffer(target: u32, name: u32);
        fn glBufferData(target: u32, size: isize, data: *const c_void, usage: u32);
        fn glGetBufferParameteri64v(target: u32, name: u32, value: *mut i64);
        fn glCopyBufferSubData(from: u32, to: u32, from_offset: isize, to_offset: isize, size: isize);
        fn glMapBufferRange(target: u32, offset: isize, size: isize, access: u32) -> *mut c_void;
        fn glUnmapBuffer(target: u32) -> u8;
        fn glIsTexture(name: u32) -> u8;
        fn glGenTextures(count: i32, names: *mut u32);
        fn glDeleteTextures(count: i32, names: *const u32);
        fn glBindTexture(target: u32, name: u32);
        fn glGetTexParameteriv(target: u32, name: u32, value: *mut i32);
        fn glTexParameteri(target: u32, name: u32, value: i32);
        fn glTexImage2D(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, data: *const c_void);
        fn glTexSubImage2D(target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, data: *const c_void);
        fn glTexSubImage3D(target: u32, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32, format: u32, kind: u32, data: *const c_void);
        fn glIsRenderbuffer(name: u32) -> u8;
        fn glBindRenderbuffer(target: u32, name: u32);
        fn glGetRenderbufferParameteriv(target: u32, name: u32, value: *mut i32);
        fn glGenFramebuffers(count: i32, names: *mut u32);
        fn glDeleteFramebuffers(count: i32, names: *const u32);
        fn glBindFramebuffer(target: u32, name: u32);
        fn glFramebufferTexture2D(target: u32, attachment: u32, kind: u32, texture: u32, level: i32);
        fn glFramebufferTextureLayer(target: u32, attachment: u32, texture: u32, level: i32, layer: i32);
        fn glFramebufferRenderbuffer(target: u32, attachment: u32, kind: u32, renderbuffer: u32);
        fn glCheckFramebufferStatus(target: u32) -> u32;
        fn glReadBuffer(source: u32);
        fn glDrawBuffers(count: i32, buffers: *const u32);
        fn glReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, data: *mut c_void);
        fn glBlitFramebuffer(x0: i32, y0: i32, x1: i32, y1: i32, to_x0: i32, to_y0: i32, to_x1: i32, to_y1: i32, mask: u32, filter: u32);
        fn glFenceSync(condition: u32, flags: u32) -> usize;
        fn glIsSync(sync: usize) -> u8;
        fn glDeleteSync(sync: usize);
        fn glClientWaitSync(sync: usize, flags: u32, timeout: u64) -> u32;
    }
}

table! {
    /// Functions that OpenGL and OpenGL ES 3.1 have.
    LevelFunctions {
        fn glGetTexLevelParameteriv(target: u32, level: i32, name: u32, value: *mut i32);
    }
}

table! {
    /// Functions for draws, which OpenGL 3.2 and OpenGL ES 3.0 have.
    DrawFunctions {
        fn glDisable(capability: u32);
        fn glViewport(x: i32, y: i32, width: i32, height: i32);
        fn glCreateShader(kind: u32) -> u32;
        fn glDeleteShader(shader: u32);
        fn glShaderSource(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32);
        fn glCompileShader(shader: u32);
        fn glGetShaderiv(shader: u32, name: u32, value: *mut i32);
        fn glGetShaderInfoLog(shader: u32, size: i32, length: *mut i32, text: *mut c_char);
        fn glCreateProgram() -> u32;
        fn glDeleteProgram(program: u32);
        fn glAttachShader(program: u32, shader: u32);
        fn glLinkProgram(program: u32);
        fn glGetProgramiv(program: u32, name: u32, value: *mut i32);
        fn glUseProgram(program: u32);
        fn glGetUniformLocation(program: u32, name: *const c_char) -> i32;
        fn glUniform1i(location: i32, value: i32);
        fn glGenVertexArrays(count: i32, names: *mut u32);
        fn glBindVertexArray(name: u32);
        fn glDrawArrays(mode: u32, first: i32, count: i32);
    }
}

table! {
    /// Functions that OpenGL has, and OpenGL ES does not.
    DesktopFunctions {
        fn glClampColor(target: u32, clamp: u32);
        fn glGetTexImage(target: u32, level: i32, format: u32, kind: u32, data: *mut c_void);
        fn glTexSubImage1D(target: u32, level: i32, x: i32, width: i32, format: u32, kind: u32, data: *const c_void);
    }
}

table! {
    /// The function of GL_OES_EGL_image that makes an EGL image the contents of a texture.
    EglImageFunctions {
        fn glEGLImageTargetTexture2DOES(target: u32, image: usize);
    }
}

table! {
    /// The functions of GL_EXT_memory_object that identify the device and its driver.
    UuidFunctions {
        fn glGetUnsignedBytei_vEXT(target: u32, index: u32, data: *mut u8);
        fn glGetUnsignedBytevEXT(name: u32, data: *mut u8);
    }
}

table! {
    /// Functions of GL_EXT_memory_object and GL_EXT_memory_object_fd that import memory of Vulkan.
    MemoryFunctions {
        fn glCreateMemoryObjectsEXT(count: i32, names: *mut u32);
        fn glDeleteMemoryObjectsEXT(count: i32, names: *const u32);
        fn glImportMemoryFdEXT(memory: u32, size: u64, kind: u32, fd: i32);
        fn glBufferStorageMemEXT(target: u32, size: isize, memory: u32, offset: u64);
    }
}
