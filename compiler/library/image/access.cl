// read_image and write_image (OpenCL C 6.15.15.2 to 6.15.15.5) for one shape, format and sampler.
//
// Macros beside those of format.cl: DIMS (1 to 3), ARRAY, COORDINATE (the type of coordinates), FLOAT_COORDINATE,
// SAMPLED, and SAMPLER if its value is known. OFFSET is the type of offsets in bytes. It is ulong if the image may have
// more than 4 GiB, otherwise uint. LEVEL, with the types LOD and GRADIENT, is 0 for the first level of a
// mipmapped image. It is 1 for a given level, and 2 for the level that gradients select. Invalid coordinates are
// clamped to the image, so a kernel never accesses other memory.

#define NORMALIZED 1u
#define MODE 0xeu
#define CLAMP 4u
#define REPEAT 6u
#define MIRRORED_REPEAT 8u
#define LINEAR 0x20u
// Sampler bits without CLK_ constants, see SamplerWord: the mipmap filter, and the level bounds in units of 1/256.
#define MIP_LINEAR 0x40u
#define LOD_MIN(sampler) ((sampler) >> 8 & 0xfffu)
#define LESS_THAN_MOST(sampler) ((sampler) >> 20)

#ifdef SAMPLER
#define WITH_SAMPLER
#define SAMPLER_VALUE() const uint sampler = SAMPLER
#elif SAMPLED
#define WITH_SAMPLER uint sampler,
#define SAMPLER_VALUE()
#else
#define WITH_SAMPLER
#define SAMPLER_VALUE() const uint sampler = 0u
#endif

#if DIMS == 1 && ARRAY
#define LAYER(c) (c).y
#elif ARRAY
#define LAYER(c) (c).z
#endif
#if DIMS == 1 && !ARRAY
#define X(c) (c)
#else
#define X(c) (c).x
#endif
#if DIMS == 1
#define Y(c) 0
#else
#define Y(c) (c).y
#endif
#if DIMS == 3
#define Z(c) (c).z
#else
#define Z(c) 0
#endif

#define IMAGE global uchar *data, uint width, uint height, uint depth, uint layers, OFFSET row_pitch, OFFSET slice_pitch
#if LEVEL
#define WITH_LEVELS uint levels,
#else
#define WITH_LEVELS
#endif
#if LEVEL == 1
#define WITH_LOD , LOD lod
#elif LEVEL == 2
#define WITH_LOD , GRADIENT gradient_x, GRADIENT gradient_y
#else
#define WITH_LOD
#endif

#if LEVEL
// Advances to another level. Each level follows the previous one and has half its size.
#define TO_LEVEL(level) \
    OFFSET begin = 0u; \
    for (int i = 0; i < (level); i++) { \
        begin += slice_pitch * depth * layers; \
        width = max(width >> 1, 1u); \
        height = max(height >> 1, 1u); \
        depth = max(depth >> 1, 1u); \
        row_pitch = (OFFSET)width * ELEMENT_SIZE; \
        slice_pitch = row_pitch * height; \
    } \
    data += begin;
#endif

#if FLOAT_COORDINATE
// The element at a coordinate. -1 or `size` if it is outside and the sampler uses the border colour.
int nearest_index(float c, uint size, uint sampler)
{
    float n = (float)(int)size;
    uint mode = sampler & MODE;
    if (mode == REPEAT) {
        float u = floor((c - floor(c)) * n);
        return (int)(u >= n ? u - n : u);
    }
    if (mode == MIRRORED_REPEAT) {
        float u = fabs(c - 2.0f * rint(0.5f * c)) * n;
        return (int)fmin(floor(u), n - 1.0f);
    }
    float u = floor(sampler & NORMALIZED ? c * n : c);
    return mode == CLAMP ? (int)fmax(fmin(u, n), -1.0f) : (int)fmax(fmin(u, n - 1.0f), 0.0f);
}

// The two elements around a coordinate, and the weight of the second.
float linear_index(float c, uint size, uint sampler, int *first, int *second)
{
    float n = (float)(int)size;
    uint mode = sampler & MODE;
    float u = sampler & NORMALIZED ? c * n : c;
    u = mode == REPEAT ? (c - floor(c)) * n : u;
    u = mode == MIRRORED_REPEAT ? fabs(c - 2.0f * rint(0.5f * c)) * n : u;
    u -= 0.5f;
    float f = floor(u);
    float low = mode == CLAMP ? -1.0f : 0.0f;
    float high = mode == CLAMP ? n : n - 1.0f;
    if (mode == REPEAT) {
        *first = (int)(f < 0.0f ? f + n : f);
        *second = (int)(f + 1.0f >= n ? f + 1.0f - n : f + 1.0f);
    } else {
        *first = (int)fmax(fmin(f, high), low);
        *second = (int)fmax(fmin(f + 1.0f, high), low);
    }
    return u - f;
}

int layer_index(float c, uint layers) { return (int)fmax(fmin(rint(c), (float)(int)layers - 1.0f), 0.0f); }
#else
int nearest_index(int c, uint size, uint sampler)
{
    int n = (int)size;
    return (sampler & MODE) == CLAMP ? clamp(c, -1, n) : clamp(c, 0, n - 1);
}

int layer_index(int c, uint layers) { return clamp(c, 0, (int)layers - 1); }
#endif

COLOUR texel(IMAGE, uint sampler, int x, int y, int z)
{
#if ARRAY || DIMS == 3
    OFFSET offset = (uint)z * slice_pitch;
#else
    OFFSET offset = 0u;
#endif
#if DIMS > 1
    offset += (uint)y * row_pitch;
#endif
    offset += (OFFSET)(uint)x * ELEMENT_SIZE;
    if ((sampler & MODE) != CLAMP) {
        return load_element(data + offset);
    }
    int inside = (uint)x < width;
#if DIMS > 1
    inside &= (uint)y < height;
#endif
#if DIMS > 2
    inside &= (uint)z < depth;
#endif
    COLOUR result = BORDER;
    if (inside) {
        result = load_element(data + offset);
    }
    return result;
}

#if !WRITE
COLOUR read_base(IMAGE, uint sampler, COORDINATE c)
{
#if ARRAY
    int z = layer_index(LAYER(c), layers);
#endif
#if FLOAT_COORDINATE && defined(COLOUR_F)
    if (sampler & LINEAR) {
        int x0, x1;
        float a = linear_index(X(c), width, sampler, &x0, &x1);
#if DIMS > 1
        int y0, y1;
        float b = linear_index(Y(c), height, sampler, &y0, &y1);
#else
        int y0 = 0;
#endif
#if DIMS > 2
        int z, z1;
        float g = linear_index(Z(c), depth, sampler, &z, &z1);
#elif !ARRAY
        int z = 0;
#endif
#define TEXEL(x, y, z) texel(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, x, y, z)
#if DIMS == 1
        return (1.0f - a) * TEXEL(x0, y0, z) + a * TEXEL(x1, y0, z);
#else
        float4 near = (1.0f - a) * (1.0f - b) * TEXEL(x0, y0, z) + a * (1.0f - b) * TEXEL(x1, y0, z) + (1.0f - a) * b * TEXEL(x0, y1, z) + a * b * TEXEL(x1, y1, z);
#if DIMS == 2
        return near;
#else
        float4 farther = (1.0f - a) * (1.0f - b) * TEXEL(x0, y0, z1) + a * (1.0f - b) * TEXEL(x1, y0, z1) + (1.0f - a) * b * TEXEL(x0, y1, z1) + a * b * TEXEL(x1, y1, z1);
        return (1.0f - g) * near + g * farther;
#endif
#endif
    }
#endif
    int x = nearest_index(X(c), width, sampler);
#if DIMS > 1
    int y = nearest_index(Y(c), height, sampler);
#else
    int y = 0;
#endif
#if DIMS > 2
    int z = nearest_index(Z(c), depth, sampler);
#elif !ARRAY
    int z = 0;
#endif
    return texel(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, x, y, z);
}

#if LEVEL
COLOUR read_level(IMAGE, uint sampler, COORDINATE c, int level)
{
    TO_LEVEL(level)
    return read_base(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c);
}
#endif

#if LEVEL == 2
// The level of detail at which neighbouring pixels are one element apart: the logarithm of the longer gradient.
float lod_of(IMAGE, uint sampler, GRADIENT gradient_x, GRADIENT gradient_y)
{
#if DIMS == 1
    float size = width;
#elif DIMS == 2
    float2 size = (float2)(width, height);
#else
    float4 size = (float4)(width, height, depth, 1.0f);
#endif
    size = sampler & NORMALIZED ? size : (GRADIENT)(1.0f);
#if DIMS == 3
    gradient_x.w = gradient_y.w = 0.0f;
#endif
    GRADIENT x = gradient_x * size, y = gradient_y * size;
    return 0.5f * log2(fmax(dot(x, x), dot(y, y)));
}
#endif

COLOUR image_read(IMAGE, WITH_LEVELS WITH_SAMPLER COORDINATE c WITH_LOD)
{
    SAMPLER_VALUE();
#if !LEVEL
    return read_base(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c);
#elif !SAMPLED
    return read_level(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c, clamp(lod, 0, (int)levels - 1));
#else
#if LEVEL == 2
    float lod = lod_of(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, gradient_x, gradient_y);
#endif
    lod = fmax(lod, (float)LOD_MIN(sampler) * (1.0f / 256.0f));
    if (LESS_THAN_MOST(sampler)) {
        lod = fmin(lod, (float)(0xfffu - LESS_THAN_MOST(sampler)) * (1.0f / 256.0f));
    }
    lod = fmax(fmin(lod, (float)((int)levels - 1)), 0.0f);
#ifdef COLOUR_F
    if (sampler & MIP_LINEAR) {
        float whole = floor(lod), part = lod - whole;
        COLOUR near = read_level(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c, (int)whole);
        if (part == 0.0f) {
            return near;
        }
        COLOUR farther = read_level(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c, (int)whole + 1);
        return (1.0f - part) * near + part * farther;
    }
#endif
    // Halfway between two levels, use the smaller level number.
    return read_level(data, width, height, depth, layers, row_pitch, slice_pitch, sampler, c, (int)ceil(lod + 0.5f) - 1);
#endif
}
#endif

#if WRITE
// Writes outside of the image are dropped.
void image_write(IMAGE, WITH_LEVELS COORDINATE c WITH_LOD, COLOUR colour)
{
    int inside = 1;
#if LEVEL
    inside = (uint)lod < levels;
    lod = inside ? lod : 0;
    TO_LEVEL(lod)
#endif
    uint x = X(c);
    inside &= x < width;
    OFFSET offset = (OFFSET)x * ELEMENT_SIZE;
#if DIMS > 1
    uint y = Y(c);
    inside &= y < height;
    offset += y * row_pitch;
#endif
#if DIMS > 2
    uint z = Z(c);
    inside &= z < depth;
    offset += z * slice_pitch;
#elif ARRAY
    uint z = LAYER(c);
    inside &= z < layers;
    offset += z * slice_pitch;
#endif
    if (inside) {
        store_element(data + offset, colour);
    }
}
#endif
