//! Reads of multisample textures (cl_khr_gl_msaa_sharing).
//!
//! OpenGL cannot transfer the samples of a texture to memory. So a draw copies one sample of each element of a layer to
//! a texture with one sample, which is read like other textures. In the memory of the image, sample `s` of layer `l` is
//! image `l * samples + s` of an array (`wgcl_compiler::image`).

use std::cell::RefCell;
use std::ffi::c_char;

use wgcl_api::backend::{BackendError, BackendResult};

use super::connection::{Gl, GlError};
use super::constants::{
    GL_ALPHA, GL_BLUE, GL_COMPILE_STATUS, GL_DITHER, GL_DRAW_FRAMEBUFFER, GL_FRAGMENT_SHADER, GL_GREEN, GL_LINK_STATUS, GL_RED,
    GL_TEXTURE_2D, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_SWIZZLE_A, GL_TEXTURE_SWIZZLE_B, GL_TEXTURE_SWIZZLE_G,
    GL_TEXTURE_SWIZZLE_R, GL_TRIANGLES, GL_VERTEX_SHADER,
};
use super::format::{SampleFormat, SampleValues};
use super::functions::DrawFunctions;
use super::object::{MultisampleTexture, TextureLevel};
use super::transfer::{check_complete, read_texture, with_framebuffer};

/// The vertex shader: a triangle that contains the whole framebuffer.
const VERTEX: &str = "void main()
{
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
";

/// The fragment shader, after the declarations of [`Key::header`] and the macros `FETCH`, `VALUES` and `ENCODE`.
const FRAGMENT: &str = "uniform int sample_index;
uniform int layer;
out VALUES color;
void main()
{
    VALUES value = FETCH(ivec2(gl_FragCoord.xy));
    color = ENCODE(value);
}
";

/// The sRGB transfer function. A fetch decodes values, and the framebuffer stores them unchanged.
const ENCODE_SRGB: &str = "vec4 encoded(vec4 c)
{
    vec3 low = c.rgb * 12.92;
    vec3 high = 1.055 * pow(max(c.rgb, vec3(0.0031308)), vec3(1.0 / 2.4)) - 0.055;
    return vec4(mix(high, low, vec3(lessThanEqual(c.rgb, vec3(0.0031308)))), c.a);
}
";

/// The properties on which a program depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    is_es: bool,
    is_array: bool,
    values: SampleValues,
}

impl Key {
    /// The version and the default precisions. OpenGL ES has arrays of multisample textures since version 3.2.
    fn header(self) -> String {
        if !self.is_es {
            return "#version 150\n".to_owned();
        }
        let version = if self.is_array { "320 es" } else { "310 es" };
        format!("#version {version}\nprecision highp float;\nprecision highp int;\n")
    }

    fn fragment_shader(self) -> String {
        let prefix = match self.values {
            SampleValues::Float | SampleValues::Srgb => "",
            SampleValues::Int => "i",
            SampleValues::UInt => "u",
        };
        let array = if self.is_array { "Array" } else { "" };
        let precision = if self.is_es { "highp " } else { "" };
        let place = if self.is_array { "ivec3(place, layer)" } else { "place" };
        let (function, encode) = if self.values == SampleValues::Srgb { (ENCODE_SRGB, "encoded(value)") } else { ("", "value") };
        format!(
            "{}uniform {precision}{prefix}sampler2DMS{array} image;\n#define VALUES {prefix}vec4\n#define FETCH(place) texelFetch(image, \
             {place}, sample_index)\n#define ENCODE(value) {encode}\n{function}{FRAGMENT}",
            self.header()
        )
    }
}

/// A program that copies samples.
#[derive(Clone, Copy, Debug)]
struct Program {
    name: u32,
    /// The locations of the uniform variables. The layer is -1 for a texture that is not an array.
    sample_index: i32,
    layer: i32,
}

/// The functions for draws, and the programs of a context. The first use of a program creates it.
pub(super) struct SampleReader {
    functions: DrawFunctions,
    programs: RefCell<Vec<(Key, Program)>>,
}

impl SampleReader {
    /// Sets the state of the current context for the draws.
    pub(super) fn new(functions: DrawFunctions) -> Self {
        // Core profiles draw only with a vertex array object. The context owns it.
        let mut vertex_array = 0;
        functions.glGenVertexArrays(1, &raw mut vertex_array);
        functions.glBindVertexArray(vertex_array);
        functions.glDisable(GL_DITHER);
        Self { functions, programs: RefCell::default() }
    }

    fn program(&self, key: Key) -> BackendResult<Program> {
        if let Some((_, program)) = self.programs.borrow().iter().find(|(known, _)| *known == key) {
            return Ok(*program);
        }
        let program = self.create(key)?;
        self.programs.borrow_mut().push((key, program));
        Ok(program)
    }

    fn create(&self, key: Key) -> BackendResult<Program> {
        let functions = &self.functions;
        let vertex = self.shader(GL_VERTEX_SHADER, &format!("{}{VERTEX}", key.header()))?;
        let fragment = self.shader(GL_FRAGMENT_SHADER, &key.fragment_shader());
        let name = functions.glCreateProgram();
        for &shader in fragment.iter().chain([&vertex]) {
            functions.glAttachShader(name, shader);
            // The program keeps the shader.
            functions.glDeleteShader(shader);
        }
        let linked = fragment.and_then(|_| {
            functions.glLinkProgram(name);
            let mut status = 0;
            functions.glGetProgramiv(name, GL_LINK_STATUS, &raw mut status);
            if status != 0 { Ok(()) } else { Err(BackendError::Other("OpenGL cannot link the program that reads samples".to_owned())) }
        });
        if let Err(error) = linked {
            functions.glDeleteProgram(name);
            return Err(error);
        }
        let location = |variable: &std::ffi::CStr| functions.glGetUniformLocation(name, variable.as_ptr());
        Ok(Program { name, sample_index: location(c"sample_index"), layer: location(c"layer") })
    }

    fn shader(&self, kind: u32, source: &str) -> BackendResult<u32> {
        let functions = &self.functions;
        let name = functions.glCreateShader(kind);
        let (pointer, length) = (source.as_ptr().cast::<c_char>(), i32::try_from(source.len()).unwrap_or(i32::MAX));
        functions.glShaderSource(name, 1, &raw const pointer, &raw const length);
        functions.glCompileShader(name);
        let mut status = 0;
        functions.glGetShaderiv(name, GL_COMPILE_STATUS, &raw mut status);
        if status != 0 {
            return Ok(name);
        }
        let mut log = [0u8; 1024];
        let mut length = 0;
        functions.glGetShaderInfoLog(name, 1024, &raw mut length, log.as_mut_ptr().cast());
        functions.glDeleteShader(name);
        let log = String::from_utf8_lossy(log.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default()).into_owned();
        Err(BackendError::Other(format!("OpenGL cannot compile the shader that reads samples: {log}")))
    }
}

impl Drop for SampleReader {
    fn drop(&mut self) {
        // The application's context shares the programs, and may exist longer than this one.
        for (_, program) in self.programs.get_mut() {
            self.functions.glDeleteProgram(program.name);
        }
    }
}

/// A texture with one sample and the size of a layer, which exists until the end of a copy.
struct Copied<'a> {
    gl: &'a Gl,
    level: TextureLevel,
}

impl<'a> Copied<'a> {
    fn new(gl: &'a Gl, [width, height]: [i32; 2], format: SampleFormat) -> Result<Self, GlError> {
        let (functions, SampleFormat { internal, transfer, .. }) = (&gl.functions, format);
        let mut name = 0;
        functions.glGenTextures(1, &raw mut name);
        functions.glBindTexture(GL_TEXTURE_2D, name);
        let data = std::ptr::null();
        functions.glTexImage2D(GL_TEXTURE_2D, 0, internal.cast_signed(), width, height, 0, transfer.format, transfer.kind, data);
        functions.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
        functions.glBindTexture(GL_TEXTURE_2D, 0);
        let level = TextureLevel { target: GL_TEXTURE_2D, name, level: 0, size: [width, height, 1], transfer };
        let copied = Self { gl, level };
        gl.check("glTexImage2D")?;
        Ok(copied)
    }
}

impl Drop for Copied<'_> {
    fn drop(&mut self) {
        self.gl.functions.glDeleteTextures(1, &raw const self.level.name);
    }
}

/// The swizzle of the bound texture, which applies to fetches. It is the identity until this value is dropped.
struct IdentitySwizzle<'a> {
    gl: &'a Gl,
    target: u32,
    /// The parameters that the application has changed, with their values.
    changed: Vec<(u32, i32)>,
}

impl<'a> IdentitySwizzle<'a> {
    fn new(gl: &'a Gl, target: u32) -> Self {
        let identity = [
            (GL_TEXTURE_SWIZZLE_R, GL_RED),
            (GL_TEXTURE_SWIZZLE_G, GL_GREEN),
            (GL_TEXTURE_SWIZZLE_B, GL_BLUE),
            (GL_TEXTURE_SWIZZLE_A, GL_ALPHA),
        ];
        let mut changed = Vec::new();
        for (name, same) in identity {
            let mut value = same.cast_signed();
            gl.functions.glGetTexParameteriv(target, name, &raw mut value);
            if value != same.cast_signed() {
                changed.push((name, value));
                gl.functions.glTexParameteri(target, name, same.cast_signed());
            }
        }
        // OpenGL 3.2 has no swizzle.
        gl.discard_errors();
        Self { gl, target, changed }
    }
}

impl Drop for IdentitySwizzle<'_> {
    fn drop(&mut self) {
        for &(name, value) in &self.changed {
            self.gl.functions.glTexParameteri(self.target, name, value);
        }
    }
}

/// Copies the samples of a texture to `data`, which has `size` bytes.
pub(super) fn read(gl: &Gl, texture: &MultisampleTexture, data: *mut u8, size: usize) -> BackendResult<()> {
    let MultisampleTexture { target, name, size: [width, height, layers], samples, format } = *texture;
    let missing = || BackendError::Other("the driver of OpenGL lacks a function for draws".to_owned());
    let reader = gl.samples.as_ref().ok_or_else(missing)?;
    let is_array = target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
    let program = reader.program(Key { is_es: gl.desktop.is_none(), is_array, values: format.values })?;
    let copied = Copied::new(gl, [width, height], format)?;
    let part = size / usize::try_from(layers * samples).unwrap_or(1).max(1);
    let places = (0..layers).flat_map(|layer| (0..samples).map(move |sample| (layer, sample)));
    // The texture stays bound: reads bind only the target of the copy.
    gl.functions.glBindTexture(target, name);
    let swizzle = IdentitySwizzle::new(gl, target);
    let result = places.zip(0..).try_for_each(|(place, index)| {
        draw(gl, reader, program, &copied.level, place)?;
        read_texture(gl, &copied.level, data.wrapping_add(part * index), part)
    });
    drop(swizzle);
    gl.functions.glBindTexture(target, 0);
    result
}

/// Copies a sample of all elements of a layer of the bound texture.
fn draw(gl: &Gl, reader: &SampleReader, program: Program, to: &TextureLevel, (layer, sample): (i32, i32)) -> BackendResult<()> {
    let functions = &reader.functions;
    with_framebuffer(gl, GL_DRAW_FRAMEBUFFER, to.transfer, |attachment| {
        gl.functions.glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, attachment, to.target, to.name, 0);
        check_complete(gl, GL_DRAW_FRAMEBUFFER)?;
        functions.glViewport(0, 0, to.size[0], to.size[1]);
        functions.glUseProgram(program.name);
        functions.glUniform1i(program.sample_index, sample);
        functions.glUniform1i(program.layer, layer);
        functions.glDrawArrays(GL_TRIANGLES, 0, 3);
        functions.glUseProgram(0);
        Ok(gl.check("glDrawArrays")?)
    })
}
