//! The formats of the tests: internal format, format and type of OpenGL, and order and type of OpenCL.

/// A format of OpenGL and its OpenCL image format.
pub struct Format {
    pub name: &'static str,
    /// Internal format, format and type.
    pub gl: [u32; 3],
    /// Channel order and channel data type.
    pub image: (u32, u32),
    /// Bytes of an element.
    pub bytes: usize,
}

const fn format(name: &'static str, gl: [u32; 3], image: (u32, u32), bytes: usize) -> Format {
    Format { name, gl, image, bytes }
}

const R: u32 = 0x10B0;
const RG: u32 = 0x10B2;
const RGBA: u32 = 0x10B5;

/// CL_DEPTH_STENCIL
pub const DEPTH_STENCIL: u32 = 0x10BE;

pub const COLORS: &[Format] = &[
    format("GL_RGBA8", [0x8058, 0x1908, 0x1401], (RGBA, 0x10D2), 4),
    format("GL_RGBA", [0x1908, 0x1908, 0x8367], (RGBA, 0x10D2), 4),
    format("GL_SRGB8_ALPHA8", [0x8C43, 0x1908, 0x1401], (0x10C1, 0x10D2), 4),
    format("GL_RGBA8I", [0x8D8E, 0x8D99, 0x1400], (RGBA, 0x10D7), 4),
    format("GL_RGBA16I", [0x8D88, 0x8D99, 0x1402], (RGBA, 0x10D8), 8),
    format("GL_RGBA32I", [0x8D82, 0x8D99, 0x1404], (RGBA, 0x10D9), 16),
    format("GL_RGBA8UI", [0x8D7C, 0x8D99, 0x1401], (RGBA, 0x10DA), 4),
    format("GL_RGBA16UI", [0x8D76, 0x8D99, 0x1403], (RGBA, 0x10DB), 8),
    format("GL_RGBA32UI", [0x8D70, 0x8D99, 0x1405], (RGBA, 0x10DC), 16),
    format("GL_RGBA8_SNORM", [0x8F97, 0x1908, 0x1400], (RGBA, 0x10D0), 4),
    format("GL_RGBA16", [0x805B, 0x1908, 0x1403], (RGBA, 0x10D3), 8),
    format("GL_RGBA16_SNORM", [0x8F9B, 0x1908, 0x1402], (RGBA, 0x10D1), 8),
    format("GL_RGBA16F", [0x881A, 0x1908, 0x140B], (RGBA, 0x10DD), 8),
    format("GL_RGBA32F", [0x8814, 0x1908, 0x1406], (RGBA, 0x10DE), 16),
    format("GL_R8", [0x8229, 0x1903, 0x1401], (R, 0x10D2), 1),
    format("GL_R8_SNORM", [0x8F94, 0x1903, 0x1400], (R, 0x10D0), 1),
    format("GL_R16", [0x822A, 0x1903, 0x1403], (R, 0x10D3), 2),
    format("GL_R16_SNORM", [0x8F98, 0x1903, 0x1402], (R, 0x10D1), 2),
    format("GL_R16F", [0x822D, 0x1903, 0x140B], (R, 0x10DD), 2),
    format("GL_R32F", [0x822E, 0x1903, 0x1406], (R, 0x10DE), 4),
    format("GL_R8I", [0x8231, 0x8D94, 0x1400], (R, 0x10D7), 1),
    format("GL_R16I", [0x8233, 0x8D94, 0x1402], (R, 0x10D8), 2),
    format("GL_R32I", [0x8235, 0x8D94, 0x1404], (R, 0x10D9), 4),
    format("GL_R8UI", [0x8232, 0x8D94, 0x1401], (R, 0x10DA), 1),
    format("GL_R16UI", [0x8234, 0x8D94, 0x1403], (R, 0x10DB), 2),
    format("GL_R32UI", [0x8236, 0x8D94, 0x1405], (R, 0x10DC), 4),
    format("GL_RG8", [0x822B, 0x8227, 0x1401], (RG, 0x10D2), 2),
    format("GL_RG8_SNORM", [0x8F95, 0x8227, 0x1400], (RG, 0x10D0), 2),
    format("GL_RG16", [0x822C, 0x8227, 0x1403], (RG, 0x10D3), 4),
    format("GL_RG16_SNORM", [0x8F99, 0x8227, 0x1402], (RG, 0x10D1), 4),
    format("GL_RG16F", [0x822F, 0x8227, 0x140B], (RG, 0x10DD), 4),
    format("GL_RG32F", [0x8230, 0x8227, 0x1406], (RG, 0x10DE), 8),
    format("GL_RG8I", [0x8237, 0x8228, 0x1400], (RG, 0x10D7), 2),
    format("GL_RG16I", [0x8239, 0x8228, 0x1402], (RG, 0x10D8), 4),
    format("GL_RG32I", [0x823B, 0x8228, 0x1404], (RG, 0x10D9), 8),
    format("GL_RG8UI", [0x8238, 0x8228, 0x1401], (RG, 0x10DA), 2),
    format("GL_RG16UI", [0x823A, 0x8228, 0x1403], (RG, 0x10DB), 4),
    format("GL_RG32UI", [0x823C, 0x8228, 0x1405], (RG, 0x10DC), 8),
    format("GL_RGB565", [0x8D62, 0x1907, 0x8363], (0x10B4, 0x10D4), 2),
    format("GL_RGB10_A2", [0x8059, 0x1908, 0x8036], (RGBA, 0x10E0), 4),
];

pub const DEPTHS: &[Format] = &[
    format("GL_DEPTH_COMPONENT16", [0x81A5, 0x1902, 0x1403], (0x10BD, 0x10D3), 2),
    format("GL_DEPTH_COMPONENT24", [0x81A6, 0x1902, 0x1406], (0x10BD, 0x10DE), 4),
    format("GL_DEPTH_COMPONENT32F", [0x8CAC, 0x1902, 0x1406], (0x10BD, 0x10DE), 4),
    format("GL_DEPTH24_STENCIL8", [0x88F0, 0x1902, 0x1406], (DEPTH_STENCIL, 0x10DF), 4),
    format("GL_DEPTH32F_STENCIL8", [0x8CAD, 0x1902, 0x1406], (DEPTH_STENCIL, 0x10DE), 4),
];

pub fn named(name: &str) -> &'static Format {
    COLORS.iter().find(|format| format.name == name).expect("a format of the table")
}

/// Whether every driver of OpenGL renders to the format.
pub fn is_renderable(format: &Format) -> bool {
    !format.name.ends_with("SNORM")
}

/// Whether glReadPixels of OpenGL ES 3 must support the format and type for this internal format.
pub fn is_readable_in_es(format: &Format) -> bool {
    ["GL_RGBA8", "GL_SRGB8_ALPHA8", "GL_RGBA32I", "GL_RGBA32UI", "GL_RGBA32F"].contains(&format.name)
}

/// Returns contents for elements of a format. Floats are positive and at most 1, and no byte is 0x80, because -128 and
/// -127 have the same value in normalised formats.
pub fn contents(format: &Format, size: usize, seed: usize) -> Vec<u8> {
    let numbers = (0..).map(|i: usize| i * 31 + seed * 17 + i * i);
    let take = |bytes: Vec<u8>| bytes.into_iter().take(size).collect();
    match format.gl[2] {
        0x1406 => take(numbers.take(size / 4).flat_map(|n| ((n % 1000) as f32 / 1000.0).to_ne_bytes()).collect()),
        0x140B => take(numbers.take(size / 2).flat_map(|n| (0x3000 + (n % 0xC00) as u16).to_ne_bytes()).collect()),
        _ => numbers.take(size).map(|n| (n % 251) as u8).map(|byte| if byte == 0x80 { 1 } else { byte }).collect(),
    }
}
