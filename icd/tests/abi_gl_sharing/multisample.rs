//! Multisample textures (cl_khr_gl_msaa_sharing). A draw with a sample mask writes each sample of a texture from an
//! ordinary texture. A kernel must read the same values from the samples as from an ordinary image with these contents.

use std::ptr::null_mut;

use super::common::ffi::*;
use super::common::images::{self, image_info, try_image};
use super::common::objects::{Context, Mem};
use super::common::{info, target};
use super::formats::{self, Format, contents};
use super::opengl::*;
use super::{KINDS, Shared, has};

const SAMPLES: usize = 4;
/// Rows and layers are not aligned.
const SIZE: [usize; 2] = [13, 7];
const TEXELS: usize = SIZE[0] * SIZE[1];
const EXTENSION: &str = "cl_khr_gl_msaa_sharing";

impl Format {
    fn is_depth(&self) -> bool {
        self.gl[1] == 0x1902
    }

    /// The letter before `vec4` and `sampler2D`, and the letters of the OpenCL C function.
    fn letters(&self) -> (&'static str, &'static str) {
        match self.name {
            name if name.ends_with("UI") => ("u", "ui"),
            name if name.ends_with('I') => ("i", "i"),
            _ => ("", "f"),
        }
    }
}

/// The contexts that have the extension. Every device with cl_khr_gl_sharing has it.
fn all() -> impl Iterator<Item = Shared> {
    KINDS.iter().copied().filter_map(Shared::new).inspect(|_| assert!(has(EXTENSION)))
}

impl OpenGl {
    /// Creates a texture without contents. Returns `None` if the driver has no multisample textures of the format.
    fn multisample_texture(&self, kind: u32, internal: u32, layers: usize) -> Option<u32> {
        let (mut name, functions, [width, height]) = (0, &self.functions, SIZE.map(|size| size as i32));
        let (count, layers) = (SAMPLES as i32, layers as i32);
        functions.glGenTextures(1, &raw mut name);
        functions.glBindTexture(kind, name);
        match (kind, self.kind) {
            (TEXTURE_2D_MULTISAMPLE, Kind::EglEs) => functions.glTexStorage2DMultisample(kind, count, internal, width, height, 1),
            (TEXTURE_2D_MULTISAMPLE, _) => functions.glTexImage2DMultisample(kind, count, internal, width, height, 1),
            _ => functions.glTexImage3DMultisample(kind, count, internal, width, height, layers, 1),
        }
        (functions.glGetError() == 0).then_some(name)
    }

    fn shader(&self, kind: u32, source: &str) -> u32 {
        let functions = &self.functions;
        let (name, pointer, length) = (functions.glCreateShader(kind), source.as_ptr(), source.len() as i32);
        functions.glShaderSource(name, 1, &raw const pointer, &raw const length);
        functions.glCompileShader(name);
        name
    }

    /// Creates a program that copies the texture `image` to a framebuffer.
    fn copy_program(&self, format: &Format) -> u32 {
        let functions = &self.functions;
        let is_es = self.kind == Kind::EglEs;
        let (version, precision) =
            if is_es { ("#version 310 es\nprecision highp float;\nprecision highp int;\n", "highp") } else { ("#version 150\n", "") };
        let letter = format.letters().0;
        let corners = "vec2[3](vec2(-1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0))";
        let vertex = format!("{version}void main() {{ gl_Position = vec4({corners}[gl_VertexID], 0.0, 1.0); }}");
        let (output, result) = match format.is_depth() {
            true => (String::new(), "gl_FragDepth = value.r;"),
            false => (format!("out {letter}vec4 color;"), "color = value;"),
        };
        let fragment = format!(
            "{version}uniform {precision} {letter}sampler2D image;\n{output}\nvoid main() {{\n\
             {letter}vec4 value = texelFetch(image, ivec2(gl_FragCoord.xy), 0); {result} }}"
        );
        let name = functions.glCreateProgram();
        functions.glAttachShader(name, self.shader(0x8B31, &vertex));
        functions.glAttachShader(name, self.shader(0x8B30, &fragment));
        functions.glLinkProgram(name);
        let mut linked = 0;
        functions.glGetProgramiv(name, 0x8B82, &raw mut linked);
        assert_eq!(linked, 1, "{fragment}");
        name
    }

    /// Binds a framebuffer with a layer of a texture.
    fn attach(&self, (kind, name): (u32, u32), layer: usize, is_depth: bool) {
        let (mut framebuffer, functions) = (0, &self.functions);
        functions.glGenFramebuffers(1, &raw mut framebuffer);
        functions.glBindFramebuffer(FRAMEBUFFER, framebuffer);
        let attachment = if is_depth { DEPTH_ATTACHMENT } else { COLOR_ATTACHMENT };
        if kind == TEXTURE_2D_MULTISAMPLE {
            functions.glFramebufferTexture2D(FRAMEBUFFER, attachment, kind, name, 0);
        } else {
            functions.glFramebufferTextureLayer(FRAMEBUFFER, attachment, name, 0, layer as i32);
        }
        let buffer = if is_depth { 0 } else { COLOR_ATTACHMENT };
        functions.glReadBuffer(buffer);
        functions.glDrawBuffers(1, &raw const buffer);
    }

    /// Writes each sample of a texture. `bytes` contains the contents of the samples in sequence.
    fn fill(&self, texture: (u32, u32), format: &Format, bytes: &[u8]) {
        let functions = &self.functions;
        let [internal, layout, kind] = format.gl;
        // Without conversions, an sRGB format is a linear one. Only OpenGL ES encodes the values of the shader.
        let is_linear = format.name == "GL_SRGB8_ALPHA8" && self.kind != Kind::EglEs;
        let internal = if is_linear { RGBA8 } else { internal };
        let mut vertex_array = 0;
        functions.glGenVertexArrays(1, &raw mut vertex_array);
        functions.glBindVertexArray(vertex_array);
        functions.glUseProgram(self.copy_program(format));
        functions.glViewport(0, 0, SIZE[0] as i32, SIZE[1] as i32);
        if self.kind != Kind::EglEs {
            // GL_CLAMP_FRAGMENT_COLOR, which core profiles do not have.
            functions.glClampColor(0x891B, 0);
            functions.glGetError();
        }
        // GL_DITHER, GL_SAMPLE_MASK, GL_DEPTH_TEST, GL_ALWAYS
        functions.glDisable(0x0BD0);
        functions.glEnable(0x8E51);
        functions.glEnable(0x0B71);
        functions.glDepthFunc(0x0207);
        for (index, part) in bytes.chunks(TEXELS * format.bytes).enumerate() {
            self.attach(texture, index / SAMPLES, format.is_depth());
            let source = self.texture(TEXTURE_2D);
            self.define(TEXTURE_2D, 0, [SIZE[0], SIZE[1], 1], [internal, layout, kind], part);
            functions.glSampleMaski(0, 1 << (index % SAMPLES));
            functions.glDrawArrays(4, 0, 3);
            functions.glDeleteTextures(1, &raw const source);
            self.check(&format!("drawing {}", format.name));
        }
        functions.glDisable(0x8E51);
        functions.glDisable(0x0B71);
        functions.glBindFramebuffer(FRAMEBUFFER, 0);
    }
}

/// A kernel that reads all samples. Its results are in the order of `fill`.
fn source(format: &Format, is_array: bool) -> String {
    let (letters, array) = (format.letters().1, if is_array { "_array" } else { "" });
    let (depth, value) = if format.is_depth() { ("_depth", "(float4)(v, 0.0f, 0.0f, 0.0f)") } else { ("", "v") };
    let place = if is_array { "(int4)(x, y, z, 0)" } else { "(int2)(x, y)" };
    let kind = match letters {
        "f" if format.is_depth() => "float",
        "f" => "float4",
        "i" => "int4",
        _ => "uint4",
    };
    format!(
        "#pragma OPENCL EXTENSION cl_khr_gl_msaa_sharing : enable\n\
         kernel void samples(read_only image2d{array}_msaa{depth}_t image, global int4 *out) {{\n\
             int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n\
             for (int s = 0; s < get_image_num_samples(image); s++) {{\n\
                 {kind} v = read_image{letters}(image, {place}, s);\n\
                 out[((z * get_image_num_samples(image) + s) * {height} + y) * {width} + x] = as_int4({value}); }} }}\n\
         kernel void plain(read_only image2d_t image, global int4 *out) {{\n\
             int x = get_global_id(0), y = get_global_id(1);\n\
             out[y * {width} + x] = as_int4(read_image{letters}(image, (int2)(x, y))); }}",
        width = SIZE[0],
        height = SIZE[1],
    )
}

impl Shared {
    fn multisample_of(&self, flags: u64, (kind, name): (u32, u32), level: i32) -> Result<Mem, cl_int> {
        let mut status = 1;
        Self::result(self.functions.clCreateFromGLTexture(self.context.0, flags, kind, level, name, &mut status), status)
    }

    /// Returns the values that a kernel reads from ordinary images with these contents.
    fn expected(&self, format: &Format, bytes: &[u8]) -> Vec<[i32; 4]> {
        if format.is_depth() {
            let depth = |bytes: &[u8]| match *bytes {
                [low, high] => f32::from(u16::from_ne_bytes([low, high])) / 65535.0,
                _ => f32::from_ne_bytes(bytes.try_into().expect("4 bytes")),
            };
            return bytes.chunks(format.bytes).map(|bytes| [depth(bytes).to_bits().cast_signed(), 0, 0, 0]).collect();
        }
        let program = self.context.build(&source(format, false));
        let kernel = program.kernel("plain");
        let out = self.context.buffer(TEXELS * 16);
        let raw = images::format(format.image.0, format.image.1);
        let desc = images::desc(CL_MEM_OBJECT_IMAGE2D, [SIZE[0], SIZE[1], 1]);
        bytes
            .chunks(TEXELS * format.bytes)
            .flat_map(|part| {
                let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
                let host = part.as_ptr().cast_mut().cast();
                let image = try_image(&self.context, flags, &raw, &desc, host).expect("an image");
                kernel.set_mem(0, &image);
                kernel.set_mem(1, &out);
                assert_eq!(self.queue.launch(&kernel, &SIZE, None), CL_SUCCESS);
                self.queue.read::<[i32; 4]>(&out, TEXELS)
            })
            .collect()
    }

    /// Reads all samples of an acquired image with a kernel.
    fn samples(&self, image: &Mem, format: &Format, is_array: bool, layers: usize) -> Vec<[i32; 4]> {
        let program = self.context.build(&source(format, is_array));
        let kernel = program.kernel("samples");
        let count = TEXELS * layers * SAMPLES;
        let out = self.context.buffer(count * 16);
        kernel.set_mem(0, image);
        kernel.set_mem(1, &out);
        assert_eq!(self.queue.launch(&kernel, &[SIZE[0], SIZE[1], layers], None), CL_SUCCESS);
        self.queue.read(&out, count)
    }

    /// Checks the samples of a new texture. Returns false if the driver has no multisample textures of the format.
    fn check_samples(&self, kind: u32, format: &Format, layers: usize) -> bool {
        let what = format!("{:?}, target {kind:#x}, {}", self.gl.kind, format.name);
        let Some(name) = self.gl.multisample_texture(kind, format.gl[0], layers) else { return false };
        let parts = (0..layers * SAMPLES).flat_map(|index| contents(format, TEXELS * format.bytes, 7 + index * 5));
        let bytes: Vec<u8> = parts.collect();
        self.gl.fill((kind, name), format, &bytes);
        let image = self.multisample_of(CL_MEM_READ_ONLY, (kind, name), 0).unwrap_or_else(|status| panic!("{what}: {status}"));
        let raw: cl_image_format = image_info(image.0, CL_IMAGE_FORMAT).expect("CL_IMAGE_FORMAT");
        assert_eq!((raw.image_channel_order, raw.image_channel_data_type), format.image, "{what}");
        self.acquire(&image);
        let found = self.samples(&image, format, kind == TEXTURE_2D_MULTISAMPLE_ARRAY, layers);
        self.release(&image);
        let expected = self.expected(format, &bytes);
        assert!(expected[..TEXELS] != expected[TEXELS..2 * TEXELS], "{what}: the samples differ");
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let is_near = |(a, b): (&i32, &i32)| {
                let [a, b] = [a, b].map(|bits| f32::from_bits(bits.cast_unsigned()));
                format.name.starts_with("GL_DEPTH") && (a - b).abs() < 1e-6
            };
            let is_equal = found == expected || found.iter().zip(expected).all(is_near);
            let (part, texel) = (index / TEXELS, index % TEXELS);
            assert!(is_equal, "{what}: {found:x?} is not {expected:x?} at texel {texel} of sample {part}");
        }
        true
    }
}

#[test]
fn samples_of_all_formats_are_read() {
    for shared in all() {
        let count = formats::COLORS
            .iter()
            .filter(|format| shared.gl.kind != Kind::EglEs || formats::is_readable_in_es(format))
            .filter(|format| shared.check_samples(TEXTURE_2D_MULTISAMPLE, format, 1))
            .count();
        assert!(count >= if shared.gl.kind == Kind::EglEs { 4 } else { 30 }, "{count} formats");
    }
}

#[test]
fn all_bytes_of_srgb_survive() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let format = formats::named("GL_SRGB8_ALPHA8");
        let name = shared.gl.multisample_texture(TEXTURE_2D_MULTISAMPLE, format.gl[0], 1).expect("a texture");
        let bytes: Vec<u8> = (0..TEXELS * 4 * SAMPLES).map(|index| index as u8).collect();
        shared.gl.fill((TEXTURE_2D_MULTISAMPLE, name), format, &bytes);
        let image = shared.multisample_of(CL_MEM_READ_ONLY, (TEXTURE_2D_MULTISAMPLE, name), 0).expect("an image");
        shared.acquire(&image);
        assert_eq!(shared.samples(&image, format, false, 1), shared.expected(format, &bytes));
        shared.release(&image);
    }
}

#[test]
fn samples_of_arrays_are_read() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        for name in ["GL_RGBA8", "GL_R16F", "GL_RG32F", "GL_RGBA16I", "GL_R32UI"] {
            assert!(shared.check_samples(TEXTURE_2D_MULTISAMPLE_ARRAY, formats::named(name), 3), "{name}");
        }
    }
}

#[test]
fn samples_of_depths_are_read() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        for format in formats::DEPTHS {
            assert!(shared.check_samples(TEXTURE_2D_MULTISAMPLE, format, 1), "{}", format.name);
            assert!(shared.check_samples(TEXTURE_2D_MULTISAMPLE_ARRAY, format, 2), "{}", format.name);
        }
    }
}

/// A clear of one texel shows the orientation, and that each acquire copies the contents.
#[test]
fn an_acquire_copies_the_current_contents() {
    for shared in all() {
        let (gl, format) = (&shared.gl.functions, formats::named("GL_RGBA8"));
        let name = shared.gl.multisample_texture(TEXTURE_2D_MULTISAMPLE, RGBA8, 1).expect("a texture");
        let image = shared.multisample_of(CL_MEM_READ_ONLY, (TEXTURE_2D_MULTISAMPLE, name), 0).expect("an image");
        shared.gl.attach((TEXTURE_2D_MULTISAMPLE, name), 0, false);
        gl.glClearBufferfv(0x1800, 0, [0.0f32; 4].as_ptr());
        // GL_SCISSOR_TEST
        gl.glEnable(0x0C11);
        let one = 1.0f32.to_bits().cast_signed();
        let mut expected = vec![[0; 4]; TEXELS * SAMPLES];
        for (x, y) in [(2, 1), (12, 6)] {
            gl.glScissor(x as i32, y as i32, 1, 1);
            gl.glClearBufferfv(0x1800, 0, [1.0f32, 0.0, 1.0, 0.0].as_ptr());
            (0..SAMPLES).for_each(|sample| expected[sample * TEXELS + y * SIZE[0] + x] = [one, 0, one, 0]);
            shared.acquire(&image);
            assert_eq!(shared.samples(&image, format, false, 1), expected, "{:?}, {x}, {y}", shared.gl.kind);
            shared.release(&image);
        }
        gl.glDisable(0x0C11);
    }
}

/// A kernel may declare the parameter without read access, and query the image. The release must not write it.
#[test]
fn a_release_writes_nothing() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let (format, kind) = (formats::named("GL_RGBA8"), TEXTURE_2D_MULTISAMPLE);
        let name = shared.gl.multisample_texture(kind, RGBA8, 1).expect("a texture");
        let bytes = contents(format, TEXELS * 4 * SAMPLES, 3);
        shared.gl.fill((kind, name), format, &bytes);
        let image = shared.multisample_of(CL_MEM_READ_WRITE, (kind, name), 0).expect("an image");
        let program =
            shared.context.build("kernel void query(write_only image2d_msaa_t i, global int *out) { *out = get_image_num_samples(i); }");
        let (kernel, out) = (program.kernel("query"), shared.context.buffer(4));
        kernel.set_mem(0, &image);
        kernel.set_mem(1, &out);
        shared.acquire(&image);
        assert_eq!(shared.queue.launch(&kernel, &[1], None), CL_SUCCESS);
        assert_eq!(shared.queue.read::<i32>(&out, 1), [SAMPLES as i32]);
        shared.release(&image);
        shared.acquire(&image);
        assert_eq!(shared.samples(&image, format, false, 1), shared.expected(format, &bytes));
        shared.release(&image);
    }
}

#[test]
fn a_swizzle_does_not_change_the_samples() {
    const SWIZZLES: [u32; 4] = [0x8E42, 0x8E43, 0x8E44, 0x8E45];
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let (gl, format) = (&shared.gl.functions, formats::named("GL_RGBA8"));
        let kind = TEXTURE_2D_MULTISAMPLE;
        let name = shared.gl.multisample_texture(kind, RGBA8, 1).expect("a texture");
        let bytes = contents(format, TEXELS * 4 * SAMPLES, 3);
        shared.gl.fill((kind, name), format, &bytes);
        let image = shared.multisample_of(CL_MEM_READ_ONLY, (kind, name), 0).expect("an image");
        gl.glBindTexture(kind, name);
        // GL_BLUE, GL_ZERO, GL_RED, GL_ALPHA
        let values = [0x1905, 0, 0x1903, 0x1906];
        SWIZZLES.iter().zip(values).for_each(|(&parameter, value)| gl.glTexParameteri(kind, parameter, value));
        shared.gl.check("GL_TEXTURE_SWIZZLE");
        shared.acquire(&image);
        assert_eq!(shared.samples(&image, format, false, 1), shared.expected(format, &bytes));
        shared.release(&image);
        gl.glBindTexture(kind, name);
        let found = SWIZZLES.map(|parameter| {
            let mut value = 0;
            gl.glGetTexParameteriv(kind, parameter, &raw mut value);
            value
        });
        assert_eq!(found, values);
    }
}

#[test]
fn spirv_modules_read_samples() {
    let bytes = include_bytes!("../../../tests/spirv/samples.spv");
    let (kind, layers) = (TEXTURE_2D_MULTISAMPLE_ARRAY, 2);
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let format = formats::named("GL_RGBA32UI");
        let name = shared.gl.multisample_texture(kind, format.gl[0], layers).expect("a texture");
        let contents: Vec<u8> = (0..layers * SAMPLES).flat_map(|index| contents(format, TEXELS * format.bytes, 7 + index * 5)).collect();
        shared.gl.fill((kind, name), format, &contents);
        let image = shared.multisample_of(CL_MEM_READ_ONLY, (kind, name), 0).expect("an image");
        let program = shared.context.program_with_il(bytes);
        assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
        let (kernel, out) = (program.kernel("samples"), shared.context.buffer(32));
        kernel.set_mem(0, &image);
        kernel.set_mem(3, &out);
        shared.acquire(&image);
        for ([x, y, layer], sample) in [([0, 0, 0], 0), ([12, 6, 1], 3), ([3, 5, 1], 0), ([7, 2, 0], 2)] {
            assert_eq!(kernel.set(1, &[x, y, layer, 0]), CL_SUCCESS);
            assert_eq!(kernel.set(2, &sample), CL_SUCCESS);
            assert_eq!(shared.queue.launch(&kernel, &[1], None), CL_SUCCESS);
            let found = shared.queue.read::<u32>(&out, 8);
            let at = (((layer * 4 + sample) * 7 + y) * 13 + x) as usize * 16;
            let words = contents[at..at + 16].chunks(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes")));
            let expected: Vec<u32> = words.chain([13, 7, layers as u32, SAMPLES as u32]).collect();
            assert_eq!(found, expected, "{x}, {y}, {layer}, {sample}");
        }
        shared.release(&image);
    }
}

#[test]
fn queries_report_samples_and_layers() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        // 600 layers with 4 samples are more images than the maximum array size of the device. It limits only layers.
        for (kind, layers) in [(TEXTURE_2D_MULTISAMPLE, 1), (TEXTURE_2D_MULTISAMPLE_ARRAY, 3), (TEXTURE_2D_MULTISAMPLE_ARRAY, 600)] {
            let is_array = kind == TEXTURE_2D_MULTISAMPLE_ARRAY;
            let name = shared.gl.multisample_texture(kind, RGBA8, layers).expect("a texture");
            let image = shared.multisample_of(CL_MEM_READ_ONLY, (kind, name), 0).expect("an image");
            assert_eq!(image_info(image.0, CL_IMAGE_NUM_SAMPLES), Ok(SAMPLES as u32));
            let sizes = [(CL_IMAGE_WIDTH, 13), (CL_IMAGE_HEIGHT, 7), (CL_IMAGE_DEPTH, 0), (CL_IMAGE_ELEMENT_SIZE, 4)];
            for (param, size) in sizes.into_iter().chain([(CL_IMAGE_ARRAY_SIZE, if is_array { layers } else { 0 })]) {
                assert_eq!(image_info(image.0, param), Ok(size), "{param:#x}");
            }
            let query = |param| info::<u32>(|size, value, ret| target().cl.clGetMemObjectInfo(image.0, param, size, value, ret));
            assert_eq!(query(CL_MEM_TYPE), Ok(if is_array { CL_MEM_OBJECT_IMAGE2D_ARRAY } else { CL_MEM_OBJECT_IMAGE2D }));
            let gl = |param| info::<u32>(|size, value, ret| shared.functions.clGetGLTextureInfo(image.0, param, size, value, ret));
            assert_eq!((gl(CL_GL_TEXTURE_TARGET), gl(CL_GL_MIPMAP_LEVEL), gl(CL_GL_NUM_SAMPLES)), (Ok(kind), Ok(0), Ok(SAMPLES as u32)));
            let mut found = (0, 0);
            assert_eq!(shared.functions.clGetGLObjectInfo(image.0, &mut found.0, &mut found.1), CL_SUCCESS);
            assert_eq!(found, (if is_array { CL_GL_OBJECT_TEXTURE2D_ARRAY } else { CL_GL_OBJECT_TEXTURE2D }, name));

            let (array, layers_of) = if is_array { ("_array", "get_image_array_size(image)") } else { ("", "0") };
            let program = shared.context.build(&format!(
                "kernel void query(read_only image2d{array}_msaa_t image, global int *out) {{\n\
                 out[0] = get_image_num_samples(image); out[1] = get_image_width(image); out[2] = get_image_height(image);\n\
                 out[3] = {layers_of}; vstore2(get_image_dim(image), 2, out);\n\
                 out[6] = get_image_channel_order(image) - CLK_RGBA;\n\
                 out[7] = get_image_channel_data_type(image) - CLK_UNORM_INT8; }}"
            ));
            let (kernel, out) = (program.kernel("query"), shared.context.buffer(32));
            kernel.set_mem(0, &image);
            kernel.set_mem(1, &out);
            shared.acquire(&image);
            assert_eq!(shared.queue.launch(&kernel, &[1], None), CL_SUCCESS);
            shared.release(&image);
            let layers = if is_array { layers as i32 } else { 0 };
            assert_eq!(shared.queue.read::<i32>(&out, 8), [SAMPLES as i32, 13, 7, layers, 13, 7, 0, 0]);
        }
        // "If image is not a MSAA texture, 1 is returned."
        let plain = shared.gl.texture(TEXTURE_2D);
        shared.gl.define(TEXTURE_2D, 0, [4, 4, 1], formats::named("GL_RGBA8").gl, &[0; 64]);
        let plain = shared.texture_of(TEXTURE_2D, 0, plain).expect("an image");
        assert_eq!(image_info(plain.0, CL_IMAGE_NUM_SAMPLES), Ok(0u32));
        let samples = info::<u32>(|size, value, ret| shared.functions.clGetGLTextureInfo(plain.0, CL_GL_NUM_SAMPLES, size, value, ret));
        assert_eq!(samples, Ok(1));
    }
}

#[test]
fn other_uses_of_multisample_images_are_rejected() {
    for shared in all().filter(|shared| shared.gl.kind != Kind::EglEs) {
        let (gl, kind, array) = (&shared.gl, TEXTURE_2D_MULTISAMPLE, TEXTURE_2D_MULTISAMPLE_ARRAY);
        let name = gl.multisample_texture(kind, RGBA8, 1).expect("a texture");
        let layered = gl.multisample_texture(array, RGBA8, 2).expect("a texture");
        let status = |flags, texture, level| shared.multisample_of(flags, texture, level).err().unwrap_or(CL_SUCCESS);
        assert_eq!(status(CL_MEM_READ_ONLY, (kind, name), 1), CL_INVALID_MIP_LEVEL);
        assert_eq!(status(CL_MEM_READ_ONLY, (kind, name), -1), CL_INVALID_MIP_LEVEL);
        assert_eq!(status(CL_MEM_USE_HOST_PTR, (kind, name), 0), CL_INVALID_VALUE);
        for texture in [(TEXTURE_2D, name), (array, name), (kind, layered), (kind, 0), (kind, 9999), (kind, gl.texture(TEXTURE_2D))] {
            assert_eq!(status(CL_MEM_READ_ONLY, texture, 0), CL_INVALID_GL_OBJECT, "{texture:?}");
        }
        let mut empty = 0;
        gl.functions.glGenTextures(1, &raw mut empty);
        gl.functions.glBindTexture(kind, empty);
        assert_eq!(status(CL_MEM_READ_ONLY, (kind, empty), 0), CL_INVALID_GL_OBJECT);
        // GL_RGB10_A2UI has no OpenCL image format.
        if let Some(unmapped) = gl.multisample_texture(kind, 0x906F, 1) {
            assert_eq!(status(CL_MEM_READ_ONLY, (kind, unmapped), 0), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
        }
        let mut old = 1;
        shared.functions.clCreateFromGLTexture2D(shared.context.0, CL_MEM_READ_ONLY, kind, 0, name, &mut old);
        assert_eq!(old, CL_INVALID_VALUE);

        let image = shared.multisample_of(CL_MEM_READ_ONLY, (kind, name), 0).expect("an image");
        let layers = shared.multisample_of(CL_MEM_READ_ONLY, (array, layered), 0).expect("an image");
        shared.acquire(&image);
        assert_eq!(shared.command_statuses(&image, SIZE), [CL_INVALID_OPERATION; 8]);
        // An image of the image would give access to the memory.
        let desc = cl_image_desc { mem_object: image.0.cast(), ..images::desc(CL_MEM_OBJECT_IMAGE2D, [SIZE[0], SIZE[1], 1]) };
        let copy = try_image(&shared.context, 0, &images::format(0x10B5, 0x10D2), &desc, null_mut());
        assert_eq!(copy.err(), Some(CL_INVALID_IMAGE_DESCRIPTOR));
        shared.release(&image);

        let program = shared.context.build(
            "kernel void plain(read_only image2d_t i) {} kernel void array(read_only image2d_array_t i) {}\n\
             kernel void depth(read_only image2d_depth_t i) {} kernel void msaa(read_only image2d_msaa_t i) {}\n\
             kernel void array_msaa(read_only image2d_array_msaa_t i) {} kernel void msaa_depth(read_only image2d_msaa_depth_t i) {}\n\
             kernel void array_msaa_depth(read_only image2d_array_msaa_depth_t i) {}",
        );
        let plain = images::image(
            &shared.context,
            CL_MEM_READ_ONLY,
            images::format(0x10B5, 0x10D2),
            &images::desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]),
            null_mut(),
        );
        for (mem, fitting) in [(&image, "msaa"), (&layers, "array_msaa"), (&plain, "plain")] {
            for name in ["plain", "array", "depth", "msaa", "array_msaa", "msaa_depth", "array_msaa_depth"] {
                let expected = if name == fitting { CL_SUCCESS } else { CL_INVALID_MEM_OBJECT };
                assert_eq!(program.kernel(name).set(0, &mem.0), expected, "{name} for {fitting}");
            }
        }
    }
}

#[test]
fn a_hidden_extension_is_not_available() {
    const VARIABLE: &str = "WGCL_EXTENSIONS";
    if std::env::var(VARIABLE).is_err() {
        let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
        let command = command.args(["--exact", "multisample::a_hidden_extension_is_not_available"]);
        let output = command.env(VARIABLE, format!("-{EXTENSION}")).output().expect("a child process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let Some(shared) = KINDS.iter().find_map(|&kind| Shared::new(kind)) else { return };
    assert!(!has(EXTENSION));
    let name = shared.gl.multisample_texture(TEXTURE_2D_MULTISAMPLE, RGBA8, 1).expect("a texture");
    assert_eq!(shared.multisample_of(CL_MEM_READ_ONLY, (TEXTURE_2D_MULTISAMPLE, name), 0).err(), Some(CL_INVALID_VALUE));
    let program = Context::new().program("kernel void k(read_only image2d_msaa_t i) {}");
    assert_eq!(program.build(""), CL_BUILD_PROGRAM_FAILURE);
    assert!(program.log().contains(&format!("requires {EXTENSION} support")), "{}", program.log());
}
