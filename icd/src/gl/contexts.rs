//! The contexts of OpenGL in the properties of OpenCL contexts, and the connections of an OpenCL context.

use std::sync::Arc;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::platform::Platform;
use wgcl_api::types::error::{Error, Result};

use super::binding::{Share, WindowSystem, not_shareable};
use super::connection::Connection;
use crate::device::devices_of;
use crate::ffi::List;
use crate::{check, handles};
use wgcl_opencl_headers::{
    CL_CGL_SHAREGROUP_KHR, CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_PLATFORM, CL_DEVICE_TYPE_ALL, CL_EGL_DISPLAY_KHR, CL_GL_CONTEXT_KHR,
    CL_GLX_DISPLAY_KHR, CL_WGL_HDC_KHR, cl_context_properties,
};

const GL_CONTEXT: isize = CL_GL_CONTEXT_KHR as isize;
const EGL_DISPLAY: isize = CL_EGL_DISPLAY_KHR as isize;
const GLX_DISPLAY: isize = CL_GLX_DISPLAY_KHR as isize;
const WGL_HDC: isize = CL_WGL_HDC_KHR as isize;
const CGL_SHAREGROUP: isize = CL_CGL_SHAREGROUP_KHR as isize;

/// Whether a name of a context property belongs to cl_khr_gl_sharing.
pub(crate) const fn is_property(name: isize) -> bool {
    matches!(name, GL_CONTEXT | EGL_DISPLAY | GLX_DISPLAY | WGL_HDC | CGL_SHAREGROUP)
}

/// Returns the context of OpenGL that properties of an OpenCL context name, or `None` if they name none.
///
/// # Errors
/// The errors of clCreateContext for the properties of cl_khr_gl_sharing.
pub(crate) fn share_of(pairs: &[(isize, isize)]) -> Result<Option<Share>> {
    let value = |wanted: isize| pairs.iter().find(|(name, _)| *name == wanted).map_or(0, |&(_, value)| value.cast_unsigned());
    let displays = [EGL_DISPLAY, GLX_DISPLAY, WGL_HDC, CGL_SHAREGROUP].map(value);
    // "CL_INVALID_OPERATION ... if more than one of the attributes CL_CGL_SHAREGROUP_KHR, CL_EGL_DISPLAY_KHR,
    // CL_GLX_DISPLAY_KHR, and CL_WGL_HDC_KHR is set to a non-default value."
    let is_one = displays.iter().filter(|&&display| display != 0).count() <= 1;
    check!(is_one, InvalidOperation, "the properties name several window systems for OpenGL");
    let [egl, glx, wgl, cgl] = displays;
    check!(cgl == 0, InvalidOperation, "sharing with OpenGL contexts of CGL is not supported");
    let context = value(GL_CONTEXT);
    if context == 0 {
        return Ok(None);
    }
    // "CL_INVALID_PROPERTY ... if CL_CONTEXT_INTEROP_USER_SYNC is specified in properties."
    let user_sync = pairs.iter().any(|(name, _)| *name == CL_CONTEXT_INTEROP_USER_SYNC);
    check!(!user_sync, InvalidProperty, "CL_CONTEXT_INTEROP_USER_SYNC is not permitted for a context that shares OpenGL objects");
    let systems = [(WindowSystem::Egl, egl), (WindowSystem::Glx, glx), (WindowSystem::Wgl, wgl)];
    match systems.into_iter().find(|&(_, display)| display != 0) {
        Some((system, display)) => Ok(Some(Share { system, display, context })),
        None => Err(not_shareable("CL_GL_CONTEXT_KHR requires CL_EGL_DISPLAY_KHR, CL_GLX_DISPLAY_KHR or CL_WGL_HDC_KHR")),
    }
}

/// The connections of an OpenCL context to OpenGL and EGL.
#[derive(Debug, Default)]
pub(crate) struct Graphics {
    /// The connection to the context in the properties. `None` if the properties name no context.
    opengl: OnceCell<Arc<Connection>>,
    /// Connections for EGL images, by EGL display.
    egl: Mutex<Vec<(usize, Arc<Connection>)>>,
}

impl Graphics {
    /// The connections of an OpenCL context.
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let graphics = context.graphics(|| Arc::new(Self::default()));
        // Only this function creates the value, so its type is known.
        graphics.downcast::<Self>().unwrap_or_default()
    }

    /// Connects an OpenCL context to OpenGL.
    pub(crate) fn connect(context: &Context, connection: Arc<Connection>) {
        // The cell is empty, because the context is new.
        let _ = Self::of(context).opengl.set(connection);
    }

    /// The connection to the context of OpenGL, if there is one.
    pub(super) fn opengl(&self) -> Option<&Arc<Connection>> {
        self.opengl.get()
    }

    /// The connection that binds EGL images of a display to textures. The first call opens it.
    ///
    /// # Errors
    /// "CL_INVALID_VALUE ... if display is not a valid display object."
    pub(super) fn egl(&self, display: usize) -> Result<Arc<Connection>> {
        if let Some(connection) = self.opengl.get().filter(|connection| connection.is_of_egl(display)) {
            return Ok(connection.clone());
        }
        let known = self.egl.lock().iter().find(|(other, _)| *other == display).map(|(_, connection)| connection.clone());
        if let Some(connection) = known {
            return Ok(connection);
        }
        let connection = Connection::open(Share { system: WindowSystem::Egl, display, context: 0 })
            .map_err(|error| Error::InvalidValue(format!("the EGL display cannot be used: {error}").into()))?;
        self.egl.lock().push((display, connection.clone()));
        Ok(connection)
    }
}

/// Opens the connection that properties of an OpenCL context request.
///
/// # Errors
/// The errors of [`share_of`], and those of an invalid context.
pub(crate) fn connection_of(pairs: &[(isize, isize)]) -> Result<Option<Arc<Connection>>> {
    share_of(pairs)?.map(Connection::open).transpose()
}

/// Returns the devices that can share objects with the context in the properties. The first device is the one that runs
/// the context, if it is known.
///
/// # Errors
/// The errors of clGetGLContextInfoKHR.
pub(super) fn devices_of_properties(list: &List<cl_context_properties>) -> Result<Vec<Arc<Device>>> {
    let (pairs, _) = list.properties().unwrap_or_default();
    for &(name, value) in &pairs {
        // "CL_INVALID_VALUE if an attribute name other than those specified in table 4.5 is specified in properties."
        match name {
            CL_CONTEXT_PLATFORM => drop(handles::get::<Platform>(std::ptr::with_exposed_provenance_mut(value.cast_unsigned()))?),
            name if is_property(name) => {}
            _ => return Err(Error::InvalidValue(format!("context property {name:#x} is unknown").into())),
        }
    }
    // "properties must identify a single valid GL context or GL share group object."
    let connection = connection_of(&pairs)?.ok_or_else(|| not_shareable("the properties name no context of OpenGL"))?;
    let mut devices = devices_of(CL_DEVICE_TYPE_ALL)?;
    devices.retain(|device| device.shares_graphics());
    let uuid = connection.device_uuid();
    let is_of_context = |device: &Arc<Device>| uuid.is_some() && device.properties().uuid.map(|uuid| uuid.0) == uuid;
    if let Some(index) = devices.iter().position(is_of_context) {
        let device = devices.remove(index);
        devices.insert(0, device);
    }
    Ok(devices)
}
