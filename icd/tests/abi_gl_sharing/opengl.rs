//! A context of OpenGL or OpenGL ES for the tests, through EGL without a surface, through GLX on Xvfb, or through WGL.

use std::ffi::{CStr, c_char, c_void};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;

use libloading::Library;

pub const TEXTURE_1D: u32 = 0x0DE0;
pub const TEXTURE_2D: u32 = 0x0DE1;
pub const TEXTURE_3D: u32 = 0x806F;
pub const TEXTURE_RECTANGLE: u32 = 0x84F5;
pub const TEXTURE_CUBE_MAP: u32 = 0x8513;
pub const CUBE_POSITIVE_X: u32 = 0x8515;
pub const TEXTURE_1D_ARRAY: u32 = 0x8C18;
pub const TEXTURE_2D_ARRAY: u32 = 0x8C1A;
pub const TEXTURE_BUFFER: u32 = 0x8C2A;
pub const TEXTURE_2D_MULTISAMPLE: u32 = 0x9100;
pub const TEXTURE_2D_MULTISAMPLE_ARRAY: u32 = 0x9102;
pub const ARRAY_BUFFER: u32 = 0x8892;
pub const RENDERBUFFER: u32 = 0x8D41;
pub const FRAMEBUFFER: u32 = 0x8D40;
pub const COLOR_ATTACHMENT: u32 = 0x8CE0;
pub const DEPTH_ATTACHMENT: u32 = 0x8D00;
pub const UNSIGNED_BYTE: u32 = 0x1401;
pub const RGBA8: u32 = 0x8058;

macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of OpenGL that the tests call.
        #[allow(non_snake_case, reason = "names of the OpenGL API")]
        pub struct Functions { $($name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)* }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the shape of the OpenGL API")]
        impl Functions {
            fn load(find: &dyn Fn(&str) -> *mut c_void) -> Self {
                Self { $($name: {
                    let found = find(concat!(stringify!($name), "\0"));
                    assert!(!found.is_null(), "{} is missing", stringify!($name));
                    // SAFETY: the type is that of the function of this name.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(found) }
                },)* }
            }

            $(pub fn $name(&self, $($arg: $ty),*) $(-> $ret)? {
                // SAFETY: the function was loaded under this name. The tests pass valid pointers.
                unsafe { (self.$name)($($arg),*) }
            })*
        }
    };
}

functions! {
    glGetError() -> u32;
    glGetString(name: u32) -> *const c_char;
    glFinish();
    glPixelStorei(name: u32, value: i32);
    glGenBuffers(count: i32, names: *mut u32);
    glBindBuffer(target: u32, name: u32);
    glBufferData(target: u32, size: isize, data: *const c_void, usage: u32);
    glBufferSubData(target: u32, offset: isize, size: isize, data: *const c_void);
    glMapBufferRange(target: u32, offset: isize, size: isize, access: u32) -> *mut c_void;
    glUnmapBuffer(target: u32) -> u8;
    glGenTextures(count: i32, names: *mut u32);
    glBindTexture(target: u32, name: u32);
    glTexParameteri(target: u32, name: u32, value: i32);
    glTexImage1D(target: u32, level: i32, internal: i32, width: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    glTexImage2D(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    glTexImage3D(target: u32, level: i32, internal: i32, width: i32, height: i32, depth: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    glTexImage2DMultisample(target: u32, samples: i32, internal: u32, width: i32, height: i32, fixed: u8);
    glTexImage3DMultisample(target: u32, samples: i32, internal: u32, width: i32, height: i32, depth: i32, fixed: u8);
    glTexStorage2DMultisample(target: u32, samples: i32, internal: u32, width: i32, height: i32, fixed: u8);
    glGetTexParameteriv(target: u32, name: u32, value: *mut i32);
    glDeleteTextures(count: i32, names: *const u32);
    glTexBuffer(target: u32, internal: u32, buffer: u32);
    glGetTexImage(target: u32, level: i32, format: u32, kind: u32, data: *mut c_void);
    glGenRenderbuffers(count: i32, names: *mut u32);
    glBindRenderbuffer(target: u32, name: u32);
    glRenderbufferStorage(target: u32, internal: u32, width: i32, height: i32);
    glRenderbufferStorageMultisample(target: u32, samples: i32, internal: u32, width: i32, height: i32);
    glGenFramebuffers(count: i32, names: *mut u32);
    glBindFramebuffer(target: u32, name: u32);
    glFramebufferRenderbuffer(target: u32, attachment: u32, kind: u32, renderbuffer: u32);
    glFramebufferTexture2D(target: u32, attachment: u32, kind: u32, texture: u32, level: i32);
    glReadBuffer(source: u32);
    glDrawBuffers(count: i32, buffers: *const u32);
    glReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, data: *mut c_void);
    glClearBufferfv(buffer: u32, index: i32, value: *const f32);
    glClearBufferiv(buffer: u32, index: i32, value: *const i32);
    glClearBufferuiv(buffer: u32, index: i32, value: *const u32);
    glFramebufferTextureLayer(target: u32, attachment: u32, texture: u32, level: i32, layer: i32);
    glEnable(capability: u32);
    glDisable(capability: u32);
    glDepthFunc(function: u32);
    glClampColor(target: u32, clamp: u32);
    glSampleMaski(index: u32, mask: u32);
    glScissor(x: i32, y: i32, width: i32, height: i32);
    glViewport(x: i32, y: i32, width: i32, height: i32);
    glCreateShader(kind: u32) -> u32;
    glShaderSource(shader: u32, count: i32, texts: *const *const u8, lengths: *const i32);
    glCompileShader(shader: u32);
    glCreateProgram() -> u32;
    glAttachShader(program: u32, shader: u32);
    glLinkProgram(program: u32);
    glGetProgramiv(program: u32, name: u32, value: *mut i32);
    glUseProgram(program: u32);
    glGenVertexArrays(count: i32, names: *mut u32);
    glBindVertexArray(name: u32);
    glDrawArrays(mode: u32, first: i32, count: i32);
    glFenceSync(condition: u32, flags: u32) -> usize;
    glDeleteSync(sync: usize);
}

/// The window system of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    EglDesktop,
    EglEs,
    Glx,
    Wgl,
}

/// A context of OpenGL that is current on the thread that created it.
pub struct OpenGl {
    pub functions: Functions,
    pub kind: Kind,
    pub display: usize,
    pub context: usize,
    library: &'static Library,
    server: Option<Child>,
}

/// Calls a function of a library by name, with arguments of integer type.
macro_rules! call {
    ($library:expr, $name:literal, ($($ty:ty),*) -> $ret:ty, $($arg:expr),*) => {{
        // SAFETY: the type is that of the function of this name, and the arguments are valid.
        unsafe {
            let function = $library.get::<unsafe extern "C" fn($($ty),*) -> $ret>(concat!($name, "\0").as_bytes()).expect($name);
            function($($arg),*)
        }
    }};
}

fn open(name: &str) -> Option<&'static Library> {
    // SAFETY: a library of the system, whose initialisation has no requirements.
    unsafe { Library::new(name) }.ok().map(|library| &*Box::leak(Box::new(library)))
}

impl OpenGl {
    /// Creates a context and makes it current. Returns the reason if the system lacks a library or Xvfb.
    pub fn new(kind: Kind) -> Result<Self, String> {
        let gl = match kind {
            Kind::EglDesktop => Self::egl(kind, 0x30A2, 8, &[0x3038])?,
            Kind::EglEs => Self::egl(kind, 0x30A0, 0x40, &[0x3098, 3, 0x3038])?,
            Kind::Glx => Self::glx()?,
            Kind::Wgl => Self::wgl()?,
        };
        gl.functions.glPixelStorei(0x0CF5, 1);
        gl.functions.glPixelStorei(0x0D05, 1);
        Ok(gl)
    }

    fn egl(kind: Kind, api: u32, renderable: i32, attributes: &[i32]) -> Result<Self, String> {
        let library = open("libEGL.so.1").ok_or("libEGL.so.1 is missing")?;
        // EGL_PLATFORM_SURFACELESS_MESA
        let display = call!(library, "eglGetPlatformDisplay", (u32, usize, *const isize) -> usize, 0x31DD, 0, std::ptr::null());
        let ready = display != 0 && call!(library, "eglInitialize", (usize, usize, usize) -> u32, display, 0, 0) != 0;
        if !ready {
            return Err("EGL has no surfaceless display".to_owned());
        }
        call!(library, "eglBindAPI", (u32) -> u32, api);
        let choice = [0x3033, 0, 0x3040, renderable, 0x3038];
        let (mut config, mut count) = (0usize, 0i32);
        call!(library, "eglChooseConfig", (usize, *const i32, *mut usize, i32, *mut i32) -> u32, display, choice.as_ptr(), &raw mut config, 1, &raw mut count);
        let context =
            call!(library, "eglCreateContext", (usize, usize, usize, *const i32) -> usize, display, config, 0, attributes.as_ptr());
        let current = context != 0 && call!(library, "eglMakeCurrent", (usize, usize, usize, usize) -> u32, display, 0, 0, context) != 0;
        if !current {
            return Err(format!("EGL cannot create a context of the API {api:#x}"));
        }
        let find = |name: &str| call!(library, "eglGetProcAddress", (*const c_char) -> *mut c_void, name.as_ptr().cast());
        Ok(Self { functions: Functions::load(&find), kind, display, context, library, server: None })
    }

    fn glx() -> Result<Self, String> {
        let library = open("libGL.so.1").ok_or("libGL.so.1 is missing")?;
        let x = open("libX11.so.6").ok_or("libX11.so.6 is missing")?;
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "64x64x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("Xvfb cannot be started: {error}"))?;
        let mut line = String::new();
        let _ = server.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let name = format!(":{}\0", line.trim());
        let display = call!(x, "XOpenDisplay", (*const c_char) -> usize, name.as_ptr().cast());
        let choice = [0x8010, 4, 0x8011, 1, 8, 8, 9, 8, 10, 8, 0];
        let mut count = 0i32;
        let configs = if display == 0 {
            null_mut()
        } else {
            call!(library, "glXChooseFBConfig", (usize, i32, *const i32, *mut i32) -> *mut usize, display, 0, choice.as_ptr(), &raw mut count)
        };
        if configs.is_null() {
            let _ = server.kill();
            let _ = server.wait();
            return Err(format!("Xvfb on display {name:?} has no configuration of GLX"));
        }
        // SAFETY: the list has at least one element.
        let config = unsafe { *configs };
        let context = call!(library, "glXCreateNewContext", (usize, usize, i32, usize, i32) -> usize, display, config, 0x8014, 0, 1);
        let surface =
            call!(library, "glXCreatePbuffer", (usize, usize, *const i32) -> usize, display, config, [0x8041, 4, 0x8040, 4, 0].as_ptr());
        let current = call!(library, "glXMakeContextCurrent", (usize, usize, usize, usize) -> i32, display, surface, surface, context);
        assert_ne!(current, 0, "glXMakeContextCurrent");
        let find = |name: &str| call!(library, "glXGetProcAddressARB", (*const c_char) -> *mut c_void, name.as_ptr().cast());
        Ok(Self { functions: Functions::load(&find), kind: Kind::Glx, display, context, library, server: Some(server) })
    }

    /// Creates a window that is not visible, and a context for it. `display` is the device context of the window.
    fn wgl() -> Result<Self, String> {
        let (library, user) = (open("opengl32.dll").ok_or("opengl32.dll is missing")?, open("user32.dll").ok_or("user32.dll is missing")?);
        let gdi = open("gdi32.dll").ok_or("gdi32.dll is missing")?;
        let window = call!(
            user, "CreateWindowExA", (u32, *const u8, *const u8, u32, i32, i32, i32, i32, usize, usize, usize, usize) -> usize,
            0, c"STATIC".as_ptr().cast(), std::ptr::null(), 0, 0, 0, 64, 64, 0, 0, 0, 0
        );
        let device = call!(user, "GetDC", (usize) -> usize, window);
        // PIXELFORMATDESCRIPTOR: its size, version 1, PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL, RGBA, 24 bits per pixel.
        let mut format = [0u8; 40];
        format[..10].copy_from_slice(&[40, 0, 1, 0, 0x24, 0, 0, 0, 0, 24]);
        let chosen = call!(gdi, "ChoosePixelFormat", (usize, *const u8) -> i32, device, format.as_ptr());
        let is_set = call!(gdi, "SetPixelFormat", (usize, i32, *const u8) -> i32, device, chosen, format.as_ptr());
        let context = call!(library, "wglCreateContext", (usize) -> usize, device);
        if is_set == 0 || context == 0 || call!(library, "wglMakeCurrent", (usize, usize) -> i32, device, context) == 0 {
            return Err(format!("no context of WGL for the window {window:#x}: {}", std::io::Error::last_os_error()));
        }
        let find = |name: &str| {
            let found = call!(library, "wglGetProcAddress", (*const c_char) -> *mut c_void, name.as_ptr().cast());
            // wglGetProcAddress returns only functions that opengl32.dll does not export.
            // SAFETY: the symbol is only used as an address.
            if found.is_null() { unsafe { library.get(name.as_bytes()) }.map_or(null_mut(), |symbol| *symbol) } else { found }
        };
        Ok(Self { functions: Functions::load(&find), kind: Kind::Wgl, display: device, context, library, server: None })
    }

    /// Makes the context not current on this thread.
    pub fn unbind(&self) {
        match self.kind {
            Kind::Glx => {
                call!(self.library, "glXMakeContextCurrent", (usize, usize, usize, usize) -> i32, self.display, 0, 0, 0);
            }
            Kind::Wgl => {
                call!(self.library, "wglMakeCurrent", (usize, usize) -> i32, 0, 0);
            }
            Kind::EglDesktop | Kind::EglEs => {
                call!(self.library, "eglMakeCurrent", (usize, usize, usize, usize) -> u32, self.display, 0, 0, 0);
            }
        }
    }

    /// The UUIDs of the device and of the driver of a context of EGL, if it can import memory.
    pub fn egl_uuids(&self) -> Option<[[u8; 16]; 2]> {
        let find = |name: &str| call!(self.library, "eglGetProcAddress", (*const c_char) -> *mut c_void, name.as_ptr().cast());
        let [indexed, plain] = ["glGetUnsignedBytei_vEXT\0", "glGetUnsignedBytevEXT\0"].map(find);
        if indexed.is_null() || plain.is_null() || find("glImportMemoryFdEXT\0").is_null() {
            return None;
        }
        let mut uuids = [[0; 16]; 2];
        // SAFETY: the types are those of the functions of GL_EXT_memory_object, and a UUID has 16 bytes.
        unsafe {
            let indexed = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u32, u32, *mut u8)>(indexed);
            let plain = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u32, *mut u8)>(plain);
            indexed(0x9597, 0, uuids[0].as_mut_ptr());
            plain(0x9598, uuids[1].as_mut_ptr());
        }
        Some(uuids)
    }

    /// Creates an EGL image of a texture.
    pub fn egl_image(&self, texture: u32) -> usize {
        // EGL_GL_TEXTURE_2D
        let image = call!(self.library, "eglCreateImage", (usize, usize, u32, usize, *const isize) -> usize, self.display, self.context, 0x30B1, texture as usize, std::ptr::null());
        assert_ne!(image, 0, "eglCreateImage");
        image
    }

    /// Whether the driver is NVIDIA's.
    pub fn is_of_nvidia(&self) -> bool {
        // GL_VENDOR
        let name = self.functions.glGetString(0x1F00);
        // SAFETY: the result is null or a string that ends with a zero.
        !name.is_null() && unsafe { CStr::from_ptr(name) }.to_string_lossy().contains("NVIDIA")
    }

    /// Creates a fence of EGL in the current context.
    pub fn egl_sync(&self) -> usize {
        // EGL_SYNC_FENCE
        let sync = call!(self.library, "eglCreateSync", (usize, u32, *const isize) -> usize, self.display, 0x30F9, std::ptr::null());
        assert_ne!(sync, 0, "eglCreateSync");
        sync
    }

    /// The context properties that name this context.
    pub fn properties(&self) -> [isize; 5] {
        let name = match self.kind {
            Kind::EglDesktop | Kind::EglEs => 0x2009,
            Kind::Glx => 0x200A,
            Kind::Wgl => 0x200B,
        };
        [0x2008, self.context.cast_signed(), name, self.display.cast_signed(), 0]
    }

    pub fn check(&self, operation: &str) {
        assert_eq!(self.functions.glGetError(), 0, "{operation}: {:?}", self.kind);
    }

    /// Creates a buffer with these bytes.
    pub fn buffer(&self, bytes: &[u8]) -> u32 {
        let mut name = 0;
        self.functions.glGenBuffers(1, &raw mut name);
        self.functions.glBindBuffer(ARRAY_BUFFER, name);
        self.functions.glBufferData(ARRAY_BUFFER, bytes.len().cast_signed(), bytes.as_ptr().cast(), 0x88E4);
        self.check("glBufferData");
        name
    }

    /// Returns the bytes of a buffer.
    pub fn buffer_bytes(&self, name: u32, size: usize) -> Vec<u8> {
        self.functions.glBindBuffer(ARRAY_BUFFER, name);
        let mapped = self.functions.glMapBufferRange(ARRAY_BUFFER, 0, size.cast_signed(), 1);
        assert!(!mapped.is_null(), "glMapBufferRange");
        // SAFETY: the buffer is mapped with this size.
        let bytes = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), size) }.to_vec();
        self.functions.glUnmapBuffer(ARRAY_BUFFER);
        self.check("glUnmapBuffer");
        bytes
    }

    /// Creates a texture without contents, and binds it. Its filters need no mip levels.
    pub fn texture(&self, target: u32) -> u32 {
        let mut name = 0;
        self.functions.glGenTextures(1, &raw mut name);
        self.functions.glBindTexture(target, name);
        if target != TEXTURE_BUFFER {
            self.functions.glTexParameteri(target, 0x2801, 0x2600);
            self.functions.glTexParameteri(target, 0x2800, 0x2600);
        }
        self.check("glBindTexture");
        name
    }

    /// Defines a level of the bound texture.
    pub fn define(&self, target: u32, level: i32, size: [usize; 3], format: [u32; 3], bytes: &[u8]) {
        let ([internal, format, kind], [width, height, depth]) = (format, size.map(|extent| extent as i32));
        let data = bytes.as_ptr().cast();
        let internal = internal.cast_signed();
        match target {
            TEXTURE_1D => self.functions.glTexImage1D(target, level, internal, width, 0, format, kind, data),
            TEXTURE_3D | TEXTURE_2D_ARRAY => {
                self.functions.glTexImage3D(target, level, internal, width, height, depth, 0, format, kind, data)
            }
            _ => self.functions.glTexImage2D(target, level, internal, width, height, 0, format, kind, data),
        }
        self.check(&format!("glTexImage({target:#x}, {internal:#x})"));
    }

    /// Returns the bytes of a level. OpenGL ES reads textures of two dimensions only.
    pub fn texture_bytes(
        &self,
        (target, binding, name): (u32, u32, u32),
        level: i32,
        size: [usize; 3],
        format: [u32; 3],
        bytes: usize,
    ) -> Vec<u8> {
        let mut result = vec![0; bytes];
        if self.kind == Kind::EglEs {
            let mut framebuffer = 0;
            self.functions.glGenFramebuffers(1, &raw mut framebuffer);
            self.functions.glBindFramebuffer(FRAMEBUFFER, framebuffer);
            self.functions.glFramebufferTexture2D(FRAMEBUFFER, COLOR_ATTACHMENT, target, name, level);
            self.functions.glReadPixels(0, 0, size[0] as i32, size[1] as i32, format[1], format[2], result.as_mut_ptr().cast());
            self.functions.glBindFramebuffer(FRAMEBUFFER, 0);
        } else {
            self.functions.glBindTexture(binding, name);
            self.functions.glGetTexImage(target, level, format[1], format[2], result.as_mut_ptr().cast());
        }
        self.check("reading a texture");
        result
    }

    /// Creates a renderbuffer, and a framebuffer with it, which is bound.
    pub fn renderbuffer(&self, internal: u32, size: [usize; 2], is_depth: bool) -> u32 {
        let (mut name, mut framebuffer) = (0, 0);
        self.functions.glGenRenderbuffers(1, &raw mut name);
        self.functions.glBindRenderbuffer(RENDERBUFFER, name);
        self.functions.glRenderbufferStorage(RENDERBUFFER, internal, size[0] as i32, size[1] as i32);
        self.functions.glGenFramebuffers(1, &raw mut framebuffer);
        self.functions.glBindFramebuffer(FRAMEBUFFER, framebuffer);
        let attachment = if is_depth { DEPTH_ATTACHMENT } else { COLOR_ATTACHMENT };
        self.functions.glFramebufferRenderbuffer(FRAMEBUFFER, attachment, RENDERBUFFER, name);
        let buffer = if is_depth { 0 } else { COLOR_ATTACHMENT };
        self.functions.glReadBuffer(buffer);
        self.functions.glDrawBuffers(1, &raw const buffer);
        self.check("glRenderbufferStorage");
        name
    }

    /// Returns the pixels of the bound framebuffer.
    pub fn pixels(&self, size: [usize; 2], format: [u32; 3], bytes: usize) -> Vec<u8> {
        let mut result = vec![0; bytes];
        self.functions.glReadPixels(0, 0, size[0] as i32, size[1] as i32, format[1], format[2], result.as_mut_ptr().cast());
        self.check("glReadPixels");
        result
    }
}

impl Drop for OpenGl {
    fn drop(&mut self) {
        self.unbind();
        if let Some(server) = &mut self.server {
            call!(self.library, "glXDestroyContext", (usize, usize) -> (), self.display, self.context);
            let _ = server.kill();
            let _ = server.wait();
        } else if self.kind == Kind::Wgl {
            call!(self.library, "wglDeleteContext", (usize) -> i32, self.context);
        } else {
            call!(self.library, "eglDestroyContext", (usize, usize) -> u32, self.display, self.context);
        }
    }
}
