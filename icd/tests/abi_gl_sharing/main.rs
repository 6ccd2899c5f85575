//! Memory objects that are created from objects of OpenGL and EGL (cl_khr_gl_sharing, cl_khr_gl_event,
//! cl_khr_gl_depth_images, cl_khr_gl_msaa_sharing, cl_khr_egl_image, cl_khr_egl_event).
//!
//! The tests use the system's driver of OpenGL, through EGL without a surface, through GLX on Xvfb, and on Windows
//! through WGL. Except on Windows, a test is skipped if the driver or Xvfb is missing. Each copy is checked in both
//! directions.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod formats;
mod multisample;
mod opengl;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::features::require;
use common::ffi::*;
use common::images::{self, Area, image_info, supported, try_image};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, info_string, target};
use formats::{DEPTH_STENCIL, Format, contents};
use opengl::*;

common::extension_functions! {
    fn clCreateFromGLBuffer(c: cl_context, flags: u64, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLTexture(c: cl_context, flags: u64, kind: cl_uint, level: cl_int, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLTexture2D(c: cl_context, flags: u64, kind: cl_uint, level: cl_int, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLRenderbuffer(c: cl_context, flags: u64, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clGetGLObjectInfo(m: cl_mem, kind: *mut cl_uint, name: *mut cl_uint) -> cl_int;
    fn clGetGLTextureInfo(m: cl_mem, param: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetGLContextInfoKHR(list: *const isize, param: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clEnqueueAcquireGLObjects(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseGLObjects(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateEventFromGLsyncKHR(c: cl_context, sync: *mut c_void, status: *mut cl_int) -> cl_event;
    fn clCreateFromEGLImageKHR(c: cl_context, display: *mut c_void, image: *mut c_void, flags: u64, properties: *const isize, status: *mut cl_int) -> cl_mem;
    fn clCreateEventFromEGLSyncKHR(c: cl_context, sync: *mut c_void, display: *mut c_void, status: *mut cl_int) -> cl_event;
    fn clEnqueueAcquireEGLObjectsKHR(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseEGLObjectsKHR(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
}

const KINDS: &[Kind] = if cfg!(windows) { &[Kind::Wgl] } else { &[Kind::EglDesktop, Kind::EglEs, Kind::Glx] };
const COMMAND_ACQUIRE: cl_uint = 0x11FF;
const COMMAND_RELEASE: cl_uint = 0x1200;

/// An OpenCL context that shares objects with a context of OpenGL, which is current. The fields are dropped in this
/// order: the OpenCL context must be released first.
struct Shared {
    queue: Queue,
    context: Context,
    functions: Functions,
    gl: OpenGl,
}

fn has(name: &str) -> bool {
    let target = target();
    let names = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    names.expect("CL_DEVICE_EXTENSIONS").split(' ').any(|known| known == name)
}

fn try_context(properties: &[isize]) -> Result<Context, cl_int> {
    let (target, mut status) = (target(), 1);
    let context = target.cl.clCreateContext(properties.as_ptr(), 1, &target.device, None, null_mut(), &mut status);
    assert_eq!(context.is_null(), status != CL_SUCCESS);
    if context.is_null() { Err(status) } else { Ok(Context(context)) }
}

impl Shared {
    /// Creates both contexts, or prints why the test is skipped.
    fn new(kind: Kind) -> Option<Self> {
        // OpenGL contexts of macOS are not supported.
        let has_window_system = cfg!(not(target_vendor = "apple"));
        if !KINDS.contains(&kind) || !target().is_wgcl() || !has_window_system || !require("cl_khr_gl_sharing", has("cl_khr_gl_sharing")) {
            return None;
        }
        let gl = match OpenGl::new(kind) {
            Ok(gl) => gl,
            Err(reason) => {
                // Windows always has OpenGL.
                assert!(kind != Kind::Wgl, "{reason}");
                println!("skips {kind:?}: {reason}");
                return None;
            }
        };
        let context = try_context(&gl.properties()).unwrap_or_else(|status| panic!("clCreateContext({kind:?}): {status}"));
        let queue = context.queue(0);
        Some(Self { queue, context, functions: Functions::exported().expect("the loader exports the functions"), gl })
    }

    /// Creates the OpenCL contexts of all kinds that the system supports.
    fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().copied().filter_map(Self::new)
    }

    fn result(mem: cl_mem, status: cl_int) -> Result<Mem, cl_int> {
        assert_eq!(mem.is_null(), status != CL_SUCCESS);
        if mem.is_null() { Err(status) } else { Ok(Mem(mem)) }
    }

    fn buffer_of(&self, flags: u64, name: u32) -> Result<Mem, cl_int> {
        let mut status = 1;
        Self::result(self.functions.clCreateFromGLBuffer(self.context.0, flags, name, &mut status), status)
    }

    fn texture_of(&self, target: u32, level: i32, name: u32) -> Result<Mem, cl_int> {
        let mut status = 1;
        Self::result(self.functions.clCreateFromGLTexture(self.context.0, CL_MEM_READ_WRITE, target, level, name, &mut status), status)
    }

    fn renderbuffer_of(&self, name: u32) -> Result<Mem, cl_int> {
        let mut status = 1;
        Self::result(self.functions.clCreateFromGLRenderbuffer(self.context.0, CL_MEM_READ_WRITE, name, &mut status), status)
    }

    fn transfer(&self, is_acquire: bool, mems: &[&Mem], waits: &[cl_event]) -> Event {
        let list: Vec<cl_mem> = mems.iter().map(|mem| mem.0).collect();
        let call = if is_acquire { Functions::clEnqueueAcquireGLObjects } else { Functions::clEnqueueReleaseGLObjects };
        let wait = if waits.is_empty() { null() } else { waits.as_ptr() };
        let mut event = null_mut();
        let status = call(&self.functions, self.queue.0, list.len() as cl_uint, list.as_ptr(), waits.len() as cl_uint, wait, &mut event);
        assert_eq!(status, CL_SUCCESS, "acquire or release");
        Event(event)
    }

    fn acquire(&self, mem: &Mem) {
        drop(self.transfer(true, &[mem], &[]));
    }

    fn release(&self, mem: &Mem) {
        drop(self.transfer(false, &[mem], &[]));
    }

    /// Calls the commands that do not accept a multisample image or an image with a stencil, and returns their results.
    fn command_statuses(&self, image: &Mem, size: [usize; 2]) -> [cl_int; 8] {
        let (cl, queue, plain_format) = (&target().cl, self.queue.0, images::format(0x10B5, 0x10D2));
        let desc = images::desc(CL_MEM_OBJECT_IMAGE2D, [size[0], size[1], 1]);
        let plain = try_image(&self.context, CL_MEM_READ_WRITE, &plain_format, &desc, null_mut()).expect("an image");
        let mut bytes = vec![0u8; size[0] * size[1] * 4];
        let buffer = self.context.buffer(bytes.len());
        let (pointer, origin, region) = (bytes.as_mut_ptr().cast::<c_void>(), [0usize; 3], [size[0], size[1], 1]);
        let (o, r) = (origin.as_ptr(), region.as_ptr());
        let (mut row, mut slice, mut status) = (0, 0, 0);
        let mapped =
            cl.clEnqueueMapImage(queue, image.0, CL_TRUE, CL_MAP_READ, o, r, &mut row, &mut slice, 0, null(), null_mut(), &mut status);
        assert!(mapped.is_null());
        [
            status,
            cl.clEnqueueReadImage(queue, image.0, CL_TRUE, o, r, 0, 0, pointer, 0, null(), null_mut()),
            cl.clEnqueueWriteImage(queue, image.0, CL_TRUE, o, r, 0, 0, pointer, 0, null(), null_mut()),
            cl.clEnqueueCopyImage(queue, image.0, plain.0, o, o, r, 0, null(), null_mut()),
            cl.clEnqueueCopyImage(queue, plain.0, image.0, o, o, r, 0, null(), null_mut()),
            cl.clEnqueueCopyImageToBuffer(queue, image.0, buffer.0, o, r, 0, 0, null(), null_mut()),
            cl.clEnqueueCopyBufferToImage(queue, buffer.0, image.0, 0, o, r, 0, null(), null_mut()),
            cl.clEnqueueFillImage(queue, image.0, [0f32; 4].as_ptr().cast(), o, r, 0, null(), null_mut()),
        ]
    }

    /// Acquires an image, compares its contents with `before`, writes `after`, and releases the image.
    fn exchange(&self, image: &Mem, area: Area, before: &[u8], after: &[u8], what: &str) {
        self.acquire(image);
        let element = before.len() / area.region.iter().product::<usize>();
        assert_eq!(images::read(&self.queue, image, area, element), before, "{what}: OpenGL to OpenCL");
        images::write(&self.queue, image, area, after);
        self.release(image);
    }

    /// Checks the copies of a level of a texture in both directions.
    fn check_level(&self, (target, binding, name): (u32, u32, u32), level: i32, size: [usize; 3], format: &Format, before: &[u8]) {
        let what = format!("{:?}, target {target:#x}, level {level}, {}", self.gl.kind, format.name);
        let image = self.texture_of(target, level, name).unwrap_or_else(|status| panic!("{what}: {status}"));
        let raw: cl_image_format = image_info(image.0, CL_IMAGE_FORMAT).expect("CL_IMAGE_FORMAT");
        assert_eq!((raw.image_channel_order, raw.image_channel_data_type), format.image, "{what}");
        let after = contents(format, before.len(), 77);
        self.exchange(&image, Area { origin: [0; 3], region: size }, before, &after, &what);
        let read = self.gl.texture_bytes((target, binding, name), level, size, format.gl, before.len());
        assert_eq!(read, after, "{what}: OpenCL to OpenGL");
    }
}

#[test]
fn buffers_are_copied_both_ways() {
    for shared in Shared::all() {
        let before: Vec<u8> = (0..4096).map(|i| (i * 7 % 251) as u8).collect();
        let name = shared.gl.buffer(&before);
        let mem = shared.buffer_of(CL_MEM_READ_WRITE, name).expect("clCreateFromGLBuffer");
        let size: usize =
            info(|size, value, ret| target().cl.clGetMemObjectInfo(mem.0, CL_MEM_SIZE, size, value, ret)).expect("CL_MEM_SIZE");
        assert_eq!(size, 4096);
        shared.acquire(&mem);
        assert_eq!(shared.queue.read::<u8>(&mem, 4096), before);
        // A kernel changes the contents.
        let program = shared.context.build("kernel void add(global uint *data) { data[get_global_id(0)] += 0x01010101u; }");
        let kernel = program.kernel("add");
        kernel.set_mem(0, &mem);
        assert_eq!(shared.queue.launch(&kernel, &[1024], None), CL_SUCCESS);
        shared.release(&mem);
        // The release waits for the copy, because the context is current on this thread.
        let words = |bytes: &[u8]| bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes"))).collect::<Vec<_>>();
        let expected: Vec<u32> = words(&before).iter().map(|word| word.wrapping_add(0x0101_0101)).collect();
        assert_eq!(words(&shared.gl.buffer_bytes(name, 4096)), expected, "{:?}", shared.gl.kind);

        // OpenGL changes the contents again. The acquire follows these commands without glFinish.
        shared.gl.functions.glBufferSubData(ARRAY_BUFFER, 100, 4, [9u8, 8, 7, 6].as_ptr().cast());
        shared.acquire(&mem);
        assert_eq!(shared.queue.read::<u8>(&mem, 104)[100..], [9, 8, 7, 6]);
        shared.release(&mem);
    }
}

/// If OpenGL and OpenCL use the same device, and OpenGL can import its memory, the contents stay on the device.
#[test]
fn copies_stay_on_the_device_of_opengl() {
    if cfg!(windows) {
        return;
    }
    let Some(shared) = Shared::new(Kind::EglDesktop) else { return };
    let target = target();
    let uuid = |name: cl_uint| info::<[u8; 16]>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).ok();
    let exports = has("cl_khr_external_memory_opaque_fd");
    let is_common = exports && shared.gl.egl_uuids().map(|ids| ids.map(Some)) == Some([CL_DEVICE_UUID_KHR, CL_DRIVER_UUID_KHR].map(uuid));
    drop(shared);
    for (test, text) in [("buffers_are_copied_both_ways", "4096 bytes"), ("textures_of_all_formats_are_copied_both_ways", "bytes")] {
        let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
        let output = command.args(["--exact", test]).env("WGCL_LOG", "wgcl_api=debug").output().expect("a child process");
        assert!(output.status.success(), "{test}: {}", output.status);
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(log.contains(&format!("{text} is copied on the device")), is_common, "{test}");
        assert!(!is_common || !log.contains("is copied through host memory"), "{test}: {log}");
    }
}

/// The exit handlers of the drivers run while the OpenCL context and an acquired object exist.
#[test]
fn a_process_ends_with_an_acquired_object() {
    const CHILD: &str = "WGCL_TEST_ENDS_ACQUIRED";
    if std::env::var_os(CHILD).is_some() {
        if let Some(shared) = Shared::new(KINDS[0]) {
            let name = shared.gl.buffer(&[1; 4096]);
            let mem = shared.buffer_of(CL_MEM_READ_WRITE, name).expect("clCreateFromGLBuffer");
            shared.acquire(&mem);
            shared.queue.finish();
            std::mem::forget((shared, mem));
        }
        std::process::exit(0);
    }
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let child = command.args(["--exact", "a_process_ends_with_an_acquired_object"]).env(CHILD, "1");
    let output = child.output().expect("a child process");
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_object_that_opencl_only_reads_is_not_written() {
    for shared in Shared::all() {
        let name = shared.gl.buffer(&[1; 64]);
        let mem = shared.buffer_of(CL_MEM_READ_ONLY, name).expect("clCreateFromGLBuffer");
        shared.acquire(&mem);
        assert_eq!(shared.queue.read::<u8>(&mem, 64), [1; 64]);
        // Undefined behaviour of the application, but it shows that the release copies nothing.
        shared.gl.functions.glBufferSubData(ARRAY_BUFFER, 0, 4, [2u8; 4].as_ptr().cast());
        shared.gl.functions.glFinish();
        shared.release(&mem);
        assert_eq!(shared.gl.buffer_bytes(name, 8), [2, 2, 2, 2, 1, 1, 1, 1]);
    }
}

#[test]
fn textures_of_all_formats_are_copied_both_ways() {
    for shared in Shared::all() {
        let mut count = 0;
        for format in formats::COLORS {
            // 7 rows of 13 elements: the rows are not aligned.
            let size = [13, 7, 1];
            let name = shared.gl.texture(TEXTURE_2D);
            let before = contents(format, 13 * 7 * format.bytes, 3);
            if shared.gl.kind == Kind::EglEs && !formats::is_readable_in_es(format) {
                continue;
            }
            shared.gl.define(TEXTURE_2D, 0, size, format.gl, &before);
            shared.check_level((TEXTURE_2D, TEXTURE_2D, name), 0, size, format, &before);
            count += 1;
        }
        assert!(count >= if shared.gl.kind == Kind::EglEs { 5 } else { 40 }, "{count} formats");
    }
}

#[test]
fn textures_of_all_targets_are_copied_both_ways() {
    let targets = [
        (TEXTURE_1D, [9, 1, 1]),
        (TEXTURE_RECTANGLE, [5, 3, 1]),
        (TEXTURE_1D_ARRAY, [9, 4, 1]),
        (TEXTURE_2D_ARRAY, [5, 3, 4]),
        (TEXTURE_3D, [5, 3, 4]),
    ];
    let format = formats::named("GL_RGBA8");
    for shared in Shared::all() {
        for (target, size) in targets {
            let is_es = shared.gl.kind == Kind::EglEs;
            if is_es {
                // OpenGL ES has no 1D textures, and this test reads only 2D textures there.
                continue;
            }
            let name = shared.gl.texture(target);
            let before = contents(format, size.iter().product::<usize>() * format.bytes, 5);
            shared.gl.define(target, 0, size, format.gl, &before);
            shared.check_level((target, target, name), 0, size, format, &before);
        }
    }
}

#[test]
fn mip_levels_and_cube_faces_are_separate_images() {
    let format = formats::named("GL_RGBA8");
    for shared in Shared::all() {
        let name = shared.gl.texture(TEXTURE_2D);
        let size = |level: usize| [16 >> level, 16 >> level, 1];
        let bytes = |size: [usize; 3]| size[0] * size[1] * format.bytes;
        for level in 0..5 {
            shared.gl.define(TEXTURE_2D, level as i32, size(level), format.gl, &contents(format, bytes(size(level)), level));
        }
        for level in 0..5 {
            shared.check_level(
                (TEXTURE_2D, TEXTURE_2D, name),
                level as i32,
                size(level),
                format,
                &contents(format, bytes(size(level)), level),
            );
        }
        assert_eq!(shared.texture_of(TEXTURE_2D, 5, name).err(), Some(CL_INVALID_MIP_LEVEL));
        assert_eq!(shared.texture_of(TEXTURE_2D, -1, name).err(), Some(CL_INVALID_MIP_LEVEL));

        let cube = shared.gl.texture(TEXTURE_CUBE_MAP);
        let faces = (0..6).map(|face| CUBE_POSITIVE_X + face);
        for (index, face) in faces.clone().enumerate() {
            shared.gl.define(face, 0, [8, 8, 1], format.gl, &contents(format, 256, index * 10));
        }
        for (index, face) in faces.enumerate() {
            shared.check_level((face, TEXTURE_CUBE_MAP, cube), 0, [8, 8, 1], format, &contents(format, 256, index * 10));
        }
    }
}

#[test]
fn buffer_textures_share_the_buffer() {
    for shared in Shared::all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let before: Vec<u8> = (0..160).map(|i| i as u8).collect();
        let buffer = shared.gl.buffer(&before);
        let name = shared.gl.texture(TEXTURE_BUFFER);
        shared.gl.functions.glTexBuffer(TEXTURE_BUFFER, 0x8D7C, buffer);
        shared.gl.check("glTexBuffer");
        let image = shared.texture_of(TEXTURE_BUFFER, 0, name).expect("an image of a buffer texture");
        let kind: cl_uint =
            info(|size, value, ret| target().cl.clGetMemObjectInfo(image.0, CL_MEM_TYPE, size, value, ret)).expect("CL_MEM_TYPE");
        assert_eq!(kind, CL_MEM_OBJECT_IMAGE1D_BUFFER);
        let after: Vec<u8> = before.iter().map(|byte| byte ^ 0x55).collect();
        shared.exchange(&image, Area { origin: [0; 3], region: [40, 1, 1] }, &before, &after, "a buffer texture");
        assert_eq!(shared.gl.buffer_bytes(buffer, 160), after);
    }
}

#[test]
fn renderbuffers_are_copied_both_ways() {
    for shared in Shared::all() {
        for format in formats::COLORS.iter().filter(|format| formats::is_renderable(format)) {
            if shared.gl.kind == Kind::EglEs && !formats::is_readable_in_es(format) {
                continue;
            }
            let what = format!("{:?}, renderbuffer, {}", shared.gl.kind, format.name);
            let name = shared.gl.renderbuffer(format.gl[0], [6, 5], false);
            match format.name {
                name if name.ends_with("UI") => shared.gl.functions.glClearBufferuiv(0x1800, 0, [11u32, 22, 33, 44].as_ptr()),
                name if name.ends_with('I') => shared.gl.functions.glClearBufferiv(0x1800, 0, [11i32, -22, 33, -44].as_ptr()),
                _ => shared.gl.functions.glClearBufferfv(0x1800, 0, [0.25f32, 0.5, 0.75, 1.0].as_ptr()),
            }
            shared.gl.check(&what);
            let before = shared.gl.pixels([6, 5], format.gl, 30 * format.bytes);
            assert!(before.iter().any(|&byte| byte != 0), "{what}");
            let image = shared.renderbuffer_of(name).unwrap_or_else(|status| panic!("{what}: {status}"));
            let after = contents(format, before.len(), 9);
            shared.exchange(&image, Area { origin: [0; 3], region: [6, 5, 1] }, &before, &after, &what);
            assert_eq!(shared.gl.pixels([6, 5], format.gl, 30 * format.bytes), after, "{what}");
        }
    }
}

#[test]
fn depths_are_copied_both_ways() {
    for shared in Shared::all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        for format in formats::DEPTHS {
            let size = [4, 3, 1];
            let name = shared.gl.texture(TEXTURE_2D);
            let before = contents(format, 12 * format.bytes, 3);
            shared.gl.define(TEXTURE_2D, 0, size, format.gl, &before);
            let before = shared.gl.texture_bytes((TEXTURE_2D, TEXTURE_2D, name), 0, size, format.gl, before.len());
            let what = format!("{:?}, {}", shared.gl.kind, format.name);
            let image = shared.texture_of(TEXTURE_2D, 0, name).unwrap_or_else(|status| panic!("{what}: {status}"));
            let raw: cl_image_format = image_info(image.0, CL_IMAGE_FORMAT).expect("CL_IMAGE_FORMAT");
            assert_eq!((raw.image_channel_order, raw.image_channel_data_type), format.image, "{what}");
            // A kernel reads the depths and writes 1 - depth.
            let source = "constant sampler_t nearest = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n\
                          kernel void read(read_only image2d_depth_t image, global float *out) {\n\
                              int x = get_global_id(0), y = get_global_id(1);\n\
                              out[y * 4 + x] = read_imagef(image, nearest, (int2)(x, y)); }\n\
                          kernel void write(write_only image2d_depth_t image, global float *in) {\n\
                              int x = get_global_id(0), y = get_global_id(1);\n\
                              write_imagef(image, (int2)(x, y), 1.0f - in[y * 4 + x]); }";
            let program = shared.context.build(source);
            let out = shared.context.buffer(48);
            shared.acquire(&image);
            if format.image.0 == DEPTH_STENCIL {
                assert_eq!(shared.command_statuses(&image, [4, 3]), [CL_INVALID_OPERATION; 8], "{what}");
            }
            for name in ["read", "write"] {
                let kernel = program.kernel(name);
                kernel.set_mem(0, &image);
                kernel.set_mem(1, &out);
                assert_eq!(shared.queue.launch(&kernel, &[4, 3], None), CL_SUCCESS);
            }
            shared.release(&image);
            let depth = |bytes: &[u8]| match *bytes {
                [low, high] => f32::from(u16::from_ne_bytes([low, high])) / 65535.0,
                _ => f32::from_ne_bytes(bytes.try_into().expect("4 bytes")),
            };
            let depths: Vec<f32> = before.chunks(format.bytes).map(depth).collect();
            assert_eq!(shared.queue.read::<f32>(&out, 12), depths, "{what}");
            let after = shared.gl.texture_bytes((TEXTURE_2D, TEXTURE_2D, name), 0, size, format.gl, before.len());
            for (after, before) in after.chunks(format.bytes).map(depth).zip(depths) {
                assert!((after - (1.0 - before)).abs() < 1e-4, "{what}: {after} is not 1 - {before}");
            }
        }
    }
}

#[test]
fn a_kernel_writes_a_texture() {
    for shared in Shared::all() {
        let format = formats::named("GL_RGBA8");
        let name = shared.gl.texture(TEXTURE_2D);
        shared.gl.define(TEXTURE_2D, 0, [8, 8, 1], format.gl, &[0; 256]);
        let image = shared.texture_of(TEXTURE_2D, 0, name).expect("an image");
        let source = "kernel void paint(write_only image2d_t image) {\n\
                          int x = get_global_id(0), y = get_global_id(1);\n\
                          write_imagef(image, (int2)(x, y), (float4)(x / 255.0f, y / 255.0f, 1.0f, 0.0f)); }";
        let program = shared.context.build(source);
        let kernel = program.kernel("paint");
        kernel.set_mem(0, &image);
        shared.acquire(&image);
        assert_eq!(shared.queue.launch(&kernel, &[8, 8], None), CL_SUCCESS);
        shared.release(&image);
        let expected: Vec<u8> = (0..64u8).flat_map(|i| [i % 8, i / 8, 255, 0]).collect();
        assert_eq!(shared.gl.texture_bytes((TEXTURE_2D, TEXTURE_2D, name), 0, [8, 8, 1], format.gl, 256), expected);
    }
}

#[test]
fn objects_report_their_origin() {
    for shared in Shared::all() {
        let format = formats::named("GL_RGBA8");
        let buffer = shared.gl.buffer(&[0; 16]);
        let texture = shared.gl.texture(TEXTURE_2D);
        shared.gl.define(TEXTURE_2D, 0, [4, 4, 1], format.gl, &[0; 64]);
        let renderbuffer = shared.gl.renderbuffer(RGBA8, [4, 4], false);
        let mems = [
            (shared.buffer_of(CL_MEM_READ_WRITE, buffer).expect("a buffer"), CL_GL_OBJECT_BUFFER, buffer),
            (shared.texture_of(TEXTURE_2D, 0, texture).expect("a texture"), CL_GL_OBJECT_TEXTURE2D, texture),
            (shared.renderbuffer_of(renderbuffer).expect("a renderbuffer"), CL_GL_OBJECT_RENDERBUFFER, renderbuffer),
        ];
        for (mem, kind, name) in &mems {
            let mut found = (0, 0);
            assert_eq!(shared.functions.clGetGLObjectInfo(mem.0, &mut found.0, &mut found.1), CL_SUCCESS);
            assert_eq!(found, (*kind, *name));
            let query = |param| info::<u32>(|size, value, ret| shared.functions.clGetGLTextureInfo(mem.0, param, size, value, ret));
            let is_texture = *kind == CL_GL_OBJECT_TEXTURE2D;
            assert_eq!(query(CL_GL_TEXTURE_TARGET), if is_texture { Ok(TEXTURE_2D) } else { Err(CL_INVALID_GL_OBJECT) });
            assert_eq!(query(CL_GL_MIPMAP_LEVEL), if is_texture { Ok(0) } else { Err(CL_INVALID_GL_OBJECT) });
        }
        assert_eq!(
            info::<u32>(|size, value, ret| shared.functions.clGetGLTextureInfo(mems[1].0.0, 1, size, value, ret)),
            Err(CL_INVALID_VALUE)
        );
        let own = shared.context.buffer(16);
        assert_eq!(shared.functions.clGetGLObjectInfo(own.0, null_mut(), null_mut()), CL_INVALID_GL_OBJECT);
    }
}

#[test]
fn invalid_objects_are_rejected() {
    for shared in Shared::all() {
        let gl = &shared.gl;
        let status = |result: Result<Mem, cl_int>| result.err().unwrap_or(CL_SUCCESS);
        assert_eq!(status(shared.buffer_of(CL_MEM_READ_WRITE, 0)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.buffer_of(CL_MEM_READ_WRITE, 9999)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.buffer_of(CL_MEM_READ_WRITE, gl.buffer(&[]))), CL_INVALID_GL_OBJECT);
        let buffer = gl.buffer(&[0; 16]);
        assert_eq!(status(shared.buffer_of(CL_MEM_USE_HOST_PTR, buffer)), CL_INVALID_VALUE);
        assert_eq!(status(shared.buffer_of(CL_MEM_HOST_READ_ONLY, buffer)), CL_INVALID_VALUE);
        assert_eq!(status(shared.buffer_of(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, buffer)), CL_INVALID_VALUE);

        assert_eq!(status(shared.texture_of(TEXTURE_2D, 0, 0)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 0, 9999)), CL_INVALID_GL_OBJECT);
        let empty = gl.texture(TEXTURE_2D);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 0, empty)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.texture_of(TEXTURE_3D, 0, empty)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.texture_of(0x1234, 0, empty)), CL_INVALID_VALUE);
        // GL_RGB8 has no OpenCL image format.
        let rgb = gl.texture(TEXTURE_2D);
        gl.define(TEXTURE_2D, 0, [4, 4, 1], [0x8051, 0x1907, UNSIGNED_BYTE], &[0; 48]);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 0, rgb)), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
        // A texture with a missing level is incomplete.
        let gap = gl.texture(TEXTURE_2D);
        gl.define(TEXTURE_2D, 0, [4, 4, 1], formats::named("GL_RGBA8").gl, &[0; 64]);
        gl.define(TEXTURE_2D, 2, [1, 1, 1], formats::named("GL_RGBA8").gl, &[0; 4]);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 2, gap)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 1, gap)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.texture_of(TEXTURE_2D, 0, gap)), CL_SUCCESS);

        assert_eq!(status(shared.renderbuffer_of(0)), CL_INVALID_GL_OBJECT);
        assert_eq!(status(shared.renderbuffer_of(9999)), CL_INVALID_GL_OBJECT);
        let (mut samples, functions) = (0, &gl.functions);
        functions.glGenRenderbuffers(1, &raw mut samples);
        functions.glBindRenderbuffer(RENDERBUFFER, samples);
        functions.glRenderbufferStorageMultisample(RENDERBUFFER, 4, RGBA8, 4, 4);
        gl.check("glRenderbufferStorageMultisample");
        assert_eq!(status(shared.renderbuffer_of(samples)), CL_INVALID_OPERATION);

        // An object of OpenCL, and an object of another context.
        let own = shared.context.buffer(16);
        let acquire = |mem: &Mem| shared.functions.clEnqueueAcquireGLObjects(shared.queue.0, 1, &mem.0, 0, null(), null_mut());
        assert_eq!(acquire(&own), CL_INVALID_GL_OBJECT);
        let other = Context::new();
        let other_queue = other.queue(0);
        assert_eq!(shared.functions.clEnqueueAcquireGLObjects(other_queue.0, 1, &own.0, 0, null(), null_mut()), CL_INVALID_CONTEXT);
    }
}

#[test]
fn context_properties_are_checked() {
    let Some(shared) = Shared::new(Kind::EglDesktop) else { return };
    let [name, context, display_name, display, _] = shared.gl.properties();
    let create = |list: &[isize]| try_context(list).err().unwrap_or(CL_SUCCESS);
    assert_eq!(create(&[name, context, 0]), CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    assert_eq!(create(&[name, 0, display_name, display, 0]), CL_SUCCESS);
    assert_eq!(create(&[name, context, display_name, display, 0x200A, 1, 0]), CL_INVALID_OPERATION);
    assert_eq!(create(&[name, context, 0x200B, 1, 0]), CL_INVALID_OPERATION);
    assert_eq!(create(&[name, context, 0x200C, 1, 0]), CL_INVALID_OPERATION);
    // EGL recognises that this is not one of its contexts.
    assert_eq!(create(&[name, 8, display_name, display, 0]), CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    // CL_CONTEXT_INTEROP_USER_SYNC
    assert_eq!(create(&[name, context, display_name, display, 0x1085, 1, 0]), CL_INVALID_PROPERTY);

    // The ICD loader finds the driver by the platform.
    let platform = [CL_CONTEXT_PLATFORM, target().platform.expose_provenance().cast_signed()];
    let with_platform = |list: &[isize]| [&platform, list].concat();
    let list = with_platform(&shared.gl.properties());
    for param in [CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, CL_DEVICES_FOR_GL_CONTEXT_KHR] {
        let mut devices = [null_mut::<c_void>(); 64];
        let mut size = 0;
        let available = size_of_val(&devices);
        assert_eq!(
            shared.functions.clGetGLContextInfoKHR(list.as_ptr(), param, available, devices.as_mut_ptr().cast(), &mut size),
            CL_SUCCESS
        );
        let found = &devices[..size / size_of::<usize>()];
        assert!(found.contains(&target().device) || param == CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR && found.len() == 1, "{found:?}");
    }
    let query = |list: &[isize], param| shared.functions.clGetGLContextInfoKHR(list.as_ptr(), param, 0, null_mut(), null_mut());
    assert_eq!(query(&list, 1), CL_INVALID_VALUE);
    assert_eq!(query(&with_platform(&[0]), CL_DEVICES_FOR_GL_CONTEXT_KHR), CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    assert_eq!(query(&with_platform(&[0x7777, 1, 0]), CL_DEVICES_FOR_GL_CONTEXT_KHR), CL_INVALID_VALUE);
}

#[test]
fn invalid_contexts_of_wgl_are_refused() {
    let Some(shared) = Shared::new(Kind::Wgl) else { return };
    let [name, context, display_name, display, _] = shared.gl.properties();
    for list in [[name, 8, display_name, display, 0], [name, context, display_name, 8, 0]] {
        assert_eq!(try_context(&list).err(), Some(CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR), "{list:x?}");
    }
}

#[test]
fn events_of_acquires_releases_and_syncs() {
    for shared in Shared::all() {
        let gl = &shared.gl.functions;
        let info_of = |event: &Event, name| info::<cl_uint>(|size, value, ret| target().cl.clGetEventInfo(event.0, name, size, value, ret));
        let name = shared.gl.buffer(&[5; 64]);
        let mem = shared.buffer_of(CL_MEM_READ_WRITE, name).expect("a buffer");
        let sync = gl.glFenceSync(0x9117, 0);
        let mut status = 1;
        let fence = shared.functions.clCreateEventFromGLsyncKHR(shared.context.0, std::ptr::with_exposed_provenance_mut(sync), &mut status);
        assert_eq!(status, CL_SUCCESS);
        let fence = Event(fence);
        assert_eq!(info_of(&fence, CL_EVENT_COMMAND_TYPE), Ok(CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR));
        let queue: usize =
            info(|size, value, ret| target().cl.clGetEventInfo(fence.0, CL_EVENT_COMMAND_QUEUE, size, value, ret)).expect("a queue");
        assert_eq!(queue, 0);
        // "Passing such events to any other CL API that enqueues commands will generate a CL_INVALID_EVENT error."
        let marker = target().cl.clEnqueueMarkerWithWaitList(shared.queue.0, 1, &fence.0, null_mut());
        assert_eq!(marker, CL_INVALID_EVENT);
        let acquired = shared.transfer(true, &[&mem], &[fence.0]);
        assert_eq!(info_of(&acquired, CL_EVENT_COMMAND_TYPE), Ok(COMMAND_ACQUIRE));
        assert_eq!(target().cl.clWaitForEvents(1, &fence.0), CL_SUCCESS);
        assert_eq!(info_of(&fence, CL_EVENT_COMMAND_EXECUTION_STATUS), Ok(CL_COMPLETE as cl_uint));
        shared.queue.write(&mem, &[6u8; 64]);
        let released = shared.transfer(false, &[&mem], &[]);
        assert_eq!(info_of(&released, CL_EVENT_COMMAND_TYPE), Ok(COMMAND_RELEASE));
        assert_eq!(info_of(&released, CL_EVENT_COMMAND_EXECUTION_STATUS), Ok(CL_COMPLETE as cl_uint), "the release waits for the copy");
        assert_eq!(shared.gl.buffer_bytes(name, 64), [6; 64]);
        gl.glDeleteSync(sync);
        // Names of sync objects are small numbers with NVIDIA's driver, so 8 may exist.
        let unknown = std::ptr::with_exposed_provenance_mut(0x7FFF_FFF8);
        let none = shared.functions.clCreateEventFromGLsyncKHR(shared.context.0, unknown, &mut status);
        assert_eq!((none.is_null(), status), (true, CL_INVALID_GL_OBJECT));
    }
}

#[test]
fn events_of_egl_syncs() {
    for shared in [Kind::EglDesktop, Kind::EglEs].into_iter().filter_map(Shared::new) {
        let pointer = std::ptr::with_exposed_provenance_mut::<c_void>;
        let create = |context: &Context, sync, display| {
            let mut status = 1;
            let event = shared.functions.clCreateEventFromEGLSyncKHR(context.0, sync, display, &mut status);
            assert_eq!(event.is_null(), status != CL_SUCCESS);
            if event.is_null() { Err(status) } else { Ok(Event(event)) }
        };
        let (sync, display) = (shared.gl.egl_sync(), shared.gl.display);
        for context in [&shared.context, &Context::new()] {
            let event = create(context, pointer(sync), pointer(display)).expect("clCreateEventFromEGLSyncKHR");
            let kind = info::<cl_uint>(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret));
            assert_eq!(kind, Ok(CL_COMMAND_EGL_FENCE_SYNC_OBJECT_KHR));
            shared.gl.functions.glFinish();
            assert_eq!(target().cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
            assert_eq!(create(context, pointer(8), pointer(display)).err(), Some(CL_INVALID_EGL_OBJECT_KHR));
            assert_eq!(create(context, pointer(sync), null_mut()).err(), Some(CL_INVALID_EGL_OBJECT_KHR));
        }
    }
}

#[test]
fn a_release_that_waits_for_the_application_does_not_block() {
    for shared in Shared::all() {
        let name = shared.gl.buffer(&[1; 16]);
        let mem = shared.buffer_of(CL_MEM_READ_WRITE, name).expect("a buffer");
        let mut status = 1;
        let user = Event(target().cl.clCreateUserEvent(shared.context.0, &mut status));
        assert_eq!(status, CL_SUCCESS);
        let acquired = shared.transfer(true, &[&mem], &[user.0]);
        let data = [2u8; 16];
        let write =
            target().cl.clEnqueueWriteBuffer(shared.queue.0, mem.0, CL_FALSE, 0, 16, data.as_ptr().cast(), 1, &acquired.0, null_mut());
        assert_eq!(write, CL_SUCCESS);
        let released = shared.transfer(false, &[&mem], &[]);
        assert_eq!(target().cl.clSetUserEventStatus(user.0, CL_COMPLETE), CL_SUCCESS);
        assert_eq!(target().cl.clWaitForEvents(1, &released.0), CL_SUCCESS);
        assert_eq!(shared.gl.buffer_bytes(name, 16), [2; 16]);
    }
}

#[test]
fn out_of_order_queues_keep_the_order_of_a_command() {
    for shared in Shared::all() {
        let queue = shared.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let names = [shared.gl.buffer(&[1; 32]), shared.gl.buffer(&[2; 32])];
        let mems = names.map(|name| shared.buffer_of(CL_MEM_READ_WRITE, name).expect("a buffer"));
        let list = [mems[0].0, mems[1].0, mems[0].0];
        let mut acquired = null_mut();
        assert_eq!(shared.functions.clEnqueueAcquireGLObjects(queue.0, 3, list.as_ptr(), 0, null(), &mut acquired), CL_SUCCESS);
        let acquired = Event(acquired);
        let mut copied = null_mut();
        let copy = target().cl.clEnqueueCopyBuffer(queue.0, mems[0].0, mems[1].0, 0, 0, 16, 1, &acquired.0, &mut copied);
        assert_eq!(copy, CL_SUCCESS);
        let copied = Event(copied);
        assert_eq!(shared.functions.clEnqueueReleaseGLObjects(queue.0, 2, list.as_ptr(), 1, &copied.0, null_mut()), CL_SUCCESS);
        let mut expected = [1; 32];
        expected[16..].fill(2);
        assert_eq!(shared.gl.buffer_bytes(names[1], 32), expected);
    }
}

#[test]
fn other_threads_use_the_context() {
    for shared in Shared::all() {
        let names: Vec<u32> = (0..4).map(|i| shared.gl.buffer(&[i; 256])).collect();
        shared.gl.functions.glFinish();
        std::thread::scope(|scope| {
            for (&name, value) in names.iter().zip(0u8..) {
                let (context, functions) = (&shared.context, &shared.functions);
                scope.spawn(move || {
                    let queue = context.queue(0);
                    for round in 0..20 {
                        let mut status = 1;
                        let mem = Mem(functions.clCreateFromGLBuffer(context.0, CL_MEM_READ_WRITE, name, &mut status));
                        assert_eq!(functions.clEnqueueAcquireGLObjects(queue.0, 1, &mem.0, 0, null(), null_mut()), CL_SUCCESS);
                        assert_eq!(queue.read::<u8>(&mem, 256), [value + 4 * round; 256]);
                        queue.write(&mem, &[value + 4 * (round + 1); 256]);
                        assert_eq!(functions.clEnqueueReleaseGLObjects(queue.0, 1, &mem.0, 0, null(), null_mut()), CL_SUCCESS);
                        queue.finish();
                    }
                });
            }
        });
        for (&name, value) in names.iter().zip(0u8..) {
            assert_eq!(shared.gl.buffer_bytes(name, 256), [value + 80; 256]);
        }
    }
}

#[test]
fn egl_images_are_copied_both_ways() {
    if !target().is_wgcl() || !supported() {
        return;
    }
    for shared in [Kind::EglDesktop, Kind::EglEs].into_iter().filter_map(Shared::new) {
        let format = formats::named("GL_RGBA8");
        // A context without OpenGL can share EGL images, too. Each context has a separate image.
        for context in [try_context(&shared.gl.properties()).expect("a context"), Context::new()] {
            let name = shared.gl.texture(TEXTURE_2D);
            shared.gl.functions.glTexParameteri(TEXTURE_2D, 0x813D, 0);
            let before = contents(format, 16 * 8 * 4, 1);
            shared.gl.define(TEXTURE_2D, 0, [16, 8, 1], format.gl, &before);
            let egl_image = shared.gl.egl_image(name);
            shared.gl.functions.glFinish();
            let display = std::ptr::with_exposed_provenance_mut(shared.gl.display);
            let image = std::ptr::with_exposed_provenance_mut(egl_image);
            let (queue, functions) = (context.queue(0), &shared.functions);
            let create = |display, image, flags| {
                let mut status = 1;
                let mem = functions.clCreateFromEGLImageKHR(context.0, display, image, flags, null(), &mut status);
                Shared::result(mem, status)
            };
            assert_eq!(create(display, null_mut(), CL_MEM_READ_WRITE).err(), Some(CL_INVALID_EGL_OBJECT_KHR));
            assert_eq!(create(null_mut(), image, CL_MEM_READ_WRITE).err(), Some(CL_INVALID_VALUE));
            assert_eq!(create(display, image, CL_MEM_COPY_HOST_PTR).err(), Some(CL_INVALID_VALUE));
            let mem = create(display, image, CL_MEM_READ_WRITE).expect("clCreateFromEGLImageKHR");
            let area = Area { origin: [0; 3], region: [16, 8, 1] };
            let mut bytes = before.clone();
            let read = target().cl.clEnqueueReadImage(
                queue.0,
                mem.0,
                CL_TRUE,
                area.origin.as_ptr(),
                area.region.as_ptr(),
                0,
                0,
                bytes.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            );
            assert_eq!(read, CL_EGL_RESOURCE_NOT_ACQUIRED_KHR);
            assert_ne!(functions.clEnqueueAcquireGLObjects(queue.0, 1, &mem.0, 0, null(), null_mut()), CL_SUCCESS);
            assert_eq!(functions.clEnqueueAcquireEGLObjectsKHR(queue.0, 1, &mem.0, 0, null(), null_mut()), CL_SUCCESS);
            assert_eq!(images::read(&queue, &mem, area, 4), before);
            let after = contents(format, before.len(), 33);
            images::write(&queue, &mem, area, &after);
            assert_eq!(functions.clEnqueueReleaseEGLObjectsKHR(queue.0, 1, &mem.0, 0, null(), null_mut()), CL_SUCCESS);
            queue.finish();
            // With NVIDIA's driver (580.159.04), a write of another context changes no other texture of the image. Two
            // contexts of OpenGL show the same.
            if shared.gl.is_of_nvidia() {
                println!("skips the write to an EGL image: NVIDIA's driver");
                continue;
            }
            assert_eq!(shared.gl.texture_bytes((TEXTURE_2D, TEXTURE_2D, name), 0, [16, 8, 1], format.gl, before.len()), after);
        }
    }
}
