//! The context of OpenGL that wgcl creates next to the application's context, through EGL, GLX or WGL.
//!
//! The new context shares its objects with the application's context. It belongs to one thread of wgcl
//! ([`super::connection`]). So wgcl never changes the state of the application's context.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use libloading::Library;
use wgcl_api::types::error::{Error, Result};

use super::constants::{
    EGL_CONFIG_ID, EGL_CONTEXT_CLIENT_TYPE, EGL_CONTEXT_CLIENT_VERSION, EGL_EXTENSIONS, EGL_HEIGHT, EGL_NONE, EGL_OPENGL_API,
    EGL_OPENGL_ES_API, EGL_OPENGL_ES3_BIT, EGL_RENDERABLE_TYPE, EGL_WIDTH, GLX_FBCONFIG_ID, GLX_PBUFFER_HEIGHT, GLX_PBUFFER_WIDTH,
    GLX_RGBA_TYPE, GLX_SCREEN,
};
use super::functions::{EglFunctions, GlxFunctions, MissingFunction, WglAttributeFunctions, WglFunctions, XFunctions};
use crate::check;

/// The names of libEGL, the first that exists is loaded.
const EGL_LIBRARIES: [&str; 2] = ["libEGL.so.1", "libEGL.so"];
const GLX_LIBRARIES: [&str; 2] = ["libGL.so.1", "libGLX.so.0"];
const X_LIBRARIES: [&str; 2] = ["libX11.so.6", "libX11.so"];
const WGL_LIBRARIES: [&str; 1] = ["opengl32.dll"];

/// The interface that binds a context to a window system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowSystem {
    Egl,
    Glx,
    Wgl,
}

/// The application's context, as in the properties of an OpenCL context. The handles are those of EGL, GLX or WGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(super) system: WindowSystem,
    /// A display, or a device context of WGL.
    pub(super) display: usize,
    /// 0 for a context that shares its objects with no other context. EGL images need none.
    pub(super) context: usize,
}

/// A loaded library of the window system. It is never closed, because drivers register exit handlers.
pub(super) enum Api {
    Egl(EglFunctions),
    Glx(GlxFunctions, XFunctions),
    Wgl(WglFunctions, &'static Library),
}

fn open(names: &[&str]) -> Result<&'static Library> {
    let mut last = String::new();
    for name in names {
        // SAFETY: the library is the system's EGL, GLX, Xlib or WGL, which the application has already loaded.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => last = error.to_string(),
        }
    }
    Err(Error::InvalidOperation(format!("the library {} cannot be loaded: {last}", names[0]).into()))
}

fn symbol(library: &Library, name: &str) -> *mut c_void {
    // SAFETY: the symbol is only used as an address. `functions` gives it its type.
    unsafe { library.get::<*mut c_void>(name.as_bytes()) }.map_or(std::ptr::null_mut(), |symbol| *symbol)
}

fn missing(error: MissingFunction) -> Error {
    Error::InvalidOperation(error.to_string().into())
}

/// The error for a context that cannot be shared.
pub(super) fn not_shareable(why: impl Into<String>) -> Error {
    Error::InvalidGlShareGroupReference(why.into().into())
}

impl Api {
    /// Loads the library of a window system.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if ... the OpenGL implementation does not support that window-system binding API."
    pub(super) fn load(system: WindowSystem) -> Result<Self> {
        Ok(match system {
            WindowSystem::Egl => {
                let library = open(&EGL_LIBRARIES)?;
                Self::Egl(EglFunctions::load(&|name| symbol(library, name)).map_err(missing)?)
            }
            WindowSystem::Glx => {
                let (library, x) = (open(&GLX_LIBRARIES)?, open(&X_LIBRARIES)?);
                let glx = GlxFunctions::load(&|name| symbol(library, name)).map_err(missing)?;
                Self::Glx(glx, XFunctions::load(&|name| symbol(x, name)).map_err(missing)?)
            }
            WindowSystem::Wgl => {
                let library = open(&WGL_LIBRARIES)?;
                Self::Wgl(WglFunctions::load(&|name| symbol(library, name)).map_err(missing)?, library)
            }
        })
    }

    /// The address of a function of OpenGL. Its name ends with a zero. WGL requires a current context.
    pub(super) fn address(&self, name: &str) -> *mut c_void {
        let pointer = name.as_ptr().cast::<c_char>();
        match self {
            Self::Egl(egl) => egl.eglGetProcAddress(pointer),
            Self::Glx(glx, _) => glx.glXGetProcAddressARB(pointer),
            Self::Wgl(wgl, library) => match wgl.wglGetProcAddress(pointer) {
                // Some drivers return these numbers instead of null.
                found if (-1..=3).contains(&found.addr().cast_signed()) => symbol(library, name),
                found => found,
            },
        }
    }

    /// The current context of the calling thread, or 0.
    pub(super) fn current_context(&self) -> usize {
        match self {
            Self::Egl(egl) => egl.eglGetCurrentContext(),
            Self::Glx(glx, _) => glx.glXGetCurrentContext(),
            Self::Wgl(wgl, _) => wgl.wglGetCurrentContext(),
        }
    }
}

/// A context that is current on the thread that created it.
pub(super) struct OwnContext {
    api: Arc<Api>,
    display: usize,
    context: usize,
    /// A pbuffer, or 0 if the context needs none.
    surface: usize,
    pub(super) is_es: bool,
}

impl OwnContext {
    /// Creates a context that shares its objects with `share`, and makes it current on this thread.
    ///
    /// # Errors
    /// "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR if ... the specified display and context attributes do not identify a
    /// valid OpenGL or OpenGL ES context."
    pub(super) fn create(api: &Arc<Api>, share: Share) -> Result<Self> {
        match &**api {
            Api::Egl(egl) => Self::create_egl(api, egl, share),
            Api::Glx(glx, x) => Self::create_glx(api, glx, x, share),
            Api::Wgl(wgl, _) => Self::create_wgl(api, wgl, share),
        }
    }

    fn create_egl(api: &Arc<Api>, egl: &EglFunctions, Share { display, context: shared, .. }: Share) -> Result<Self> {
        let query = |name| {
            let mut value = 0;
            (shared != 0 && egl.eglQueryContext(display, shared, name, &raw mut value) != 0).then_some(value)
        };
        let client = match query(EGL_CONTEXT_CLIENT_TYPE) {
            Some(client) => client,
            None if shared == 0 => EGL_OPENGL_ES_API,
            None => return Err(not_shareable(format!("EGL error {:#x}: the EGL context or display is invalid", egl.eglGetError()))),
        };
        let is_es = client == EGL_OPENGL_ES_API;
        check!(is_es || client == EGL_OPENGL_API, InvalidGlShareGroupReference, "the client API {client:#x} of the context is unknown");
        let choice = match query(EGL_CONFIG_ID) {
            Some(id) => [EGL_CONFIG_ID, id, EGL_NONE],
            None => [EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE],
        };
        let (mut config, mut count) = (0, 0);
        // Without a result, `config` stays EGL_NO_CONFIG_KHR: contexts without a configuration have the ID 0.
        egl.eglChooseConfig(display, choice.as_ptr(), &raw mut config, 1, &raw mut count);
        let create = |client: i32, attributes: [i32; 3]| {
            egl.eglBindAPI(client.cast_unsigned());
            egl.eglCreateContext(display, config, shared, attributes.as_ptr())
        };
        let create_es = || create(EGL_OPENGL_ES_API, [EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE]);
        // Only OpenGL reads textures of all formats. Many drivers share objects between OpenGL and OpenGL ES.
        let desktop = create(EGL_OPENGL_API, [EGL_NONE; 3]);
        let is_es = is_es && desktop == 0;
        let context = if is_es { create_es() } else { desktop };
        check!(context != 0, InvalidGlShareGroupReference, "eglCreateContext failed with error {:#x}", egl.eglGetError());
        // SAFETY: the result is null or a string that ends with a zero.
        let extensions = unsafe { text(egl.eglQueryString(display, EGL_EXTENSIONS)) };
        let needs_surface = !extensions.split(' ').any(|name| name == "EGL_KHR_surfaceless_context");
        let size = [EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE];
        let surface = if needs_surface { egl.eglCreatePbufferSurface(display, config, size.as_ptr()) } else { 0 };
        let own = Self { api: api.clone(), display, context, surface, is_es };
        let is_current = egl.eglMakeCurrent(display, surface, surface, context) != 0;
        check!(is_current, InvalidGlShareGroupReference, "eglMakeCurrent failed with error {:#x}", egl.eglGetError());
        Ok(own)
    }

    fn create_glx(api: &Arc<Api>, glx: &GlxFunctions, x: &XFunctions, Share { display, context: shared, .. }: Share) -> Result<Self> {
        let query = |name| {
            let mut value = 0;
            (glx.glXQueryContext(display, shared, name, &raw mut value) == 0).then_some(value)
        };
        let (Some(screen), Some(id)) = (query(GLX_SCREEN), query(GLX_FBCONFIG_ID)) else {
            return Err(not_shareable("the GLX context or display is invalid"));
        };
        let mut count = 0;
        let list = glx.glXGetFBConfigs(display, screen, &raw mut count);
        let configs = if list.is_null() {
            Vec::new()
        } else {
            // SAFETY: the list has `count` elements.
            unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) }.to_vec()
        };
        x.XFree(list.cast());
        let id_of = |config: usize| {
            let mut value = 0;
            (glx.glXGetFBConfigAttrib(display, config, GLX_FBCONFIG_ID, &raw mut value) == 0).then_some(value)
        };
        let config = configs.into_iter().find(|&config| id_of(config) == Some(id));
        let config = config.ok_or_else(|| not_shareable(format!("GLX has no configuration with the ID {id} of the context")))?;
        let context = glx.glXCreateNewContext(display, config, GLX_RGBA_TYPE, shared, glx.glXIsDirect(display, shared));
        check!(context != 0, InvalidGlShareGroupReference, "glXCreateNewContext failed: the objects of the context cannot be shared");
        let size = [GLX_PBUFFER_WIDTH, 1, GLX_PBUFFER_HEIGHT, 1, GLX_END];
        let surface = glx.glXCreatePbuffer(display, config, size.as_ptr());
        let own = Self { api: api.clone(), display, context, surface, is_es: false };
        let is_current = glx.glXMakeContextCurrent(display, surface, surface, context) != 0;
        check!(is_current, InvalidGlShareGroupReference, "glXMakeContextCurrent failed");
        Ok(own)
    }

    /// The context draws to the device context of the application, because only windows have pixel formats. wgcl never
    /// draws to the window. Several threads can use a device context, each with its own context of OpenGL.
    fn create_wgl(api: &Arc<Api>, wgl: &WglFunctions, Share { display: device, context: shared, .. }: Share) -> Result<Self> {
        let bind = |context: usize| {
            let own = Self { api: api.clone(), display: device, context, surface: 0, is_es: false };
            let is_current = wgl.wglMakeCurrent(device, context) != 0;
            check!(is_current, InvalidGlShareGroupReference, "wglMakeCurrent failed: the device context of WGL is invalid");
            Ok(own)
        };
        let context = wgl.wglCreateContext(device);
        check!(context != 0, InvalidGlShareGroupReference, "wglCreateContext failed: the device context of WGL has no pixel format");
        // Drivers that have wglCreateContextAttribsARB return its address only while a context is current.
        let plain = bind(context)?;
        if let Ok(functions) = WglAttributeFunctions::load(&|name| api.address(name)) {
            let context = functions.wglCreateContextAttribsARB(device, shared, [WGL_END].as_ptr());
            check!(
                context != 0,
                InvalidGlShareGroupReference,
                "wglCreateContextAttribsARB failed: the context of WGL is invalid, or its objects cannot be shared"
            );
            drop(plain);
            return bind(context);
        }
        check!(
            wgl.wglShareLists(shared, context) != 0,
            InvalidGlShareGroupReference,
            "wglShareLists failed: the context of WGL is invalid, or its objects cannot be shared"
        );
        Ok(plain)
    }
}

/// The end of a list of attributes of GLX.
const GLX_END: i32 = 0;

/// The end of a list of attributes of WGL.
const WGL_END: i32 = 0;

impl Drop for OwnContext {
    fn drop(&mut self) {
        match &*self.api {
            Api::Egl(egl) => {
                egl.eglMakeCurrent(self.display, 0, 0, 0);
                if self.surface != 0 {
                    egl.eglDestroySurface(self.display, self.surface);
                }
                egl.eglDestroyContext(self.display, self.context);
                egl.eglReleaseThread();
            }
            Api::Glx(glx, _) => {
                glx.glXMakeContextCurrent(self.display, 0, 0, 0);
                if self.surface != 0 {
                    glx.glXDestroyPbuffer(self.display, self.surface);
                }
                glx.glXDestroyContext(self.display, self.context);
            }
            Api::Wgl(wgl, _) => {
                wgl.wglMakeCurrent(0, 0);
                wgl.wglDeleteContext(self.context);
            }
        }
    }
}

/// Returns the text at a pointer, or an empty text for null.
///
/// # Safety
/// The pointer must be null, or valid for a string that ends with a zero.
pub(super) unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller ensures it.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
