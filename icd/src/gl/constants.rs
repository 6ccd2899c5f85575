//! Constants of OpenGL, EGL and GLX, with the names and values of the Khronos headers.

pub(super) const GL_NO_ERROR: u32 = 0;
pub(super) const GL_NONE: u32 = 0;
pub(super) const GL_TEXTURE_1D: u32 = 0x0DE0;
pub(super) const GL_TEXTURE_2D: u32 = 0x0DE1;
pub(super) const GL_TEXTURE_3D: u32 = 0x806F;
pub(super) const GL_TEXTURE_RECTANGLE: u32 = 0x84F5;
pub(super) const GL_TEXTURE_CUBE_MAP: u32 = 0x8513;
pub(super) const GL_TEXTURE_CUBE_MAP_POSITIVE_X: u32 = 0x8515;
pub(super) const GL_TEXTURE_CUBE_MAP_NEGATIVE_Z: u32 = 0x851A;
pub(super) const GL_TEXTURE_1D_ARRAY: u32 = 0x8C18;
pub(super) const GL_TEXTURE_2D_ARRAY: u32 = 0x8C1A;
pub(super) const GL_TEXTURE_BUFFER: u32 = 0x8C2A;
pub(super) const GL_TEXTURE_2D_MULTISAMPLE: u32 = 0x9100;
pub(super) const GL_TEXTURE_2D_MULTISAMPLE_ARRAY: u32 = 0x9102;

pub(super) const GL_TEXTURE_WIDTH: u32 = 0x1000;
pub(super) const GL_TEXTURE_HEIGHT: u32 = 0x1001;
pub(super) const GL_TEXTURE_DEPTH: u32 = 0x8071;
pub(super) const GL_TEXTURE_INTERNAL_FORMAT: u32 = 0x1003;
pub(super) const GL_TEXTURE_BORDER: u32 = 0x1005;
pub(super) const GL_TEXTURE_RED_SIZE: u32 = 0x805C;
pub(super) const GL_TEXTURE_RED_TYPE: u32 = 0x8C10;
pub(super) const GL_TEXTURE_DEPTH_SIZE: u32 = 0x884A;
pub(super) const GL_TEXTURE_SAMPLES: u32 = 0x9106;
pub(super) const GL_TEXTURE_SWIZZLE_R: u32 = 0x8E42;
pub(super) const GL_TEXTURE_SWIZZLE_G: u32 = 0x8E43;
pub(super) const GL_TEXTURE_SWIZZLE_B: u32 = 0x8E44;
pub(super) const GL_TEXTURE_SWIZZLE_A: u32 = 0x8E45;
pub(super) const GL_RED: u32 = 0x1903;
pub(super) const GL_GREEN: u32 = 0x1904;
pub(super) const GL_BLUE: u32 = 0x1905;
pub(super) const GL_ALPHA: u32 = 0x1906;
pub(super) const GL_TEXTURE_BASE_LEVEL: u32 = 0x813C;
pub(super) const GL_TEXTURE_MAX_LEVEL: u32 = 0x813D;
pub(super) const GL_TEXTURE_MIN_FILTER: u32 = 0x2801;
pub(super) const GL_NEAREST: u32 = 0x2600;
pub(super) const GL_TEXTURE_BUFFER_DATA_STORE_BINDING: u32 = 0x8C2D;
pub(super) const GL_TEXTURE_BUFFER_OFFSET: u32 = 0x919D;

pub(super) const GL_FLOAT: u32 = 0x1406;
pub(super) const GL_UNSIGNED_NORMALIZED: u32 = 0x8C17;

pub(super) const GL_PACK_ALIGNMENT: u32 = 0x0D05;
pub(super) const GL_UNPACK_ALIGNMENT: u32 = 0x0CF5;

pub(super) const GL_COPY_READ_BUFFER: u32 = 0x8F36;
pub(super) const GL_COPY_WRITE_BUFFER: u32 = 0x8F37;
pub(super) const GL_PIXEL_PACK_BUFFER: u32 = 0x88EB;
pub(super) const GL_PIXEL_UNPACK_BUFFER: u32 = 0x88EC;
pub(super) const GL_BUFFER_SIZE: u32 = 0x8764;
pub(super) const GL_STREAM_DRAW: u32 = 0x88E0;
pub(super) const GL_STREAM_READ: u32 = 0x88E1;
pub(super) const GL_MAP_READ_BIT: u32 = 1;

pub(super) const GL_RENDERBUFFER: u32 = 0x8D41;
pub(super) const GL_RENDERBUFFER_WIDTH: u32 = 0x8D42;
pub(super) const GL_RENDERBUFFER_HEIGHT: u32 = 0x8D43;
pub(super) const GL_RENDERBUFFER_INTERNAL_FORMAT: u32 = 0x8D44;
pub(super) const GL_RENDERBUFFER_RED_SIZE: u32 = 0x8D50;
pub(super) const GL_RENDERBUFFER_DEPTH_SIZE: u32 = 0x8D54;
pub(super) const GL_RENDERBUFFER_SAMPLES: u32 = 0x8CAB;

pub(super) const GL_READ_FRAMEBUFFER: u32 = 0x8CA8;
pub(super) const GL_DRAW_FRAMEBUFFER: u32 = 0x8CA9;
pub(super) const GL_FRAMEBUFFER_COMPLETE: u32 = 0x8CD5;
pub(super) const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
pub(super) const GL_DEPTH_ATTACHMENT: u32 = 0x8D00;
pub(super) const GL_COLOR_BUFFER_BIT: u32 = 0x4000;
pub(super) const GL_DEPTH_BUFFER_BIT: u32 = 0x100;

pub(super) const GL_DITHER: u32 = 0x0BD0;
pub(super) const GL_CLAMP_FRAGMENT_COLOR: u32 = 0x891B;
pub(super) const GL_TRIANGLES: u32 = 4;
pub(super) const GL_FRAGMENT_SHADER: u32 = 0x8B30;
pub(super) const GL_VERTEX_SHADER: u32 = 0x8B31;
pub(super) const GL_COMPILE_STATUS: u32 = 0x8B81;
pub(super) const GL_LINK_STATUS: u32 = 0x8B82;

pub(super) const GL_SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
pub(super) const GL_SYNC_FLUSH_COMMANDS_BIT: u32 = 1;
pub(super) const GL_TIMEOUT_EXPIRED: u32 = 0x911B;
pub(super) const GL_WAIT_FAILED: u32 = 0x911D;

pub(super) const GL_VERSION: u32 = 0x1F02;
pub(super) const GL_EXTENSIONS: u32 = 0x1F03;
pub(super) const GL_NUM_EXTENSIONS: u32 = 0x821D;
pub(super) const GL_DEVICE_UUID_EXT: u32 = 0x9597;
pub(super) const GL_DRIVER_UUID_EXT: u32 = 0x9598;
pub(super) const GL_HANDLE_TYPE_OPAQUE_FD_EXT: u32 = 0x9586;

pub(super) const EGL_NONE: i32 = 0x3038;
pub(super) const EGL_CONFIG_ID: i32 = 0x3028;
pub(super) const EGL_EXTENSIONS: i32 = 0x3055;
pub(super) const EGL_HEIGHT: i32 = 0x3056;
pub(super) const EGL_WIDTH: i32 = 0x3057;
pub(super) const EGL_RENDERABLE_TYPE: i32 = 0x3040;
pub(super) const EGL_OPENGL_ES3_BIT: i32 = 0x40;
pub(super) const EGL_CONTEXT_CLIENT_TYPE: i32 = 0x3097;
pub(super) const EGL_CONTEXT_CLIENT_VERSION: i32 = 0x3098;
pub(super) const EGL_OPENGL_ES_API: i32 = 0x30A0;
pub(super) const EGL_OPENGL_API: i32 = 0x30A2;

pub(super) const EGL_SYNC_STATUS: i32 = 0x30F1;
pub(super) const EGL_SIGNALED: isize = 0x30F2;

pub(super) const GLX_SCREEN: i32 = 0x800C;
pub(super) const GLX_FBCONFIG_ID: i32 = 0x8013;
pub(super) const GLX_RGBA_TYPE: i32 = 0x8014;
pub(super) const GLX_PBUFFER_HEIGHT: i32 = 0x8040;
pub(super) const GLX_PBUFFER_WIDTH: i32 = 0x8041;
