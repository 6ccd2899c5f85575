// read_image and write_image (OpenCL C 6.15.15.2 to 6.15.15.5) for one shape, format and sampler.
//
// Beside the macros of format.cl: DIMS (1 to 3), ARRAY, COORDINATE (the type of coordinates), FLOAT_COORDINATE, SAMPLED, and SAMPLER where
// its value is known. Coordinates that no rule allows stay inside the image: a kernel never reaches foreign memory.

#define NORMALIZED 1u
#define MODE 0xeu
#define CLAMP 4u
#define REPEAT 6u
#define MIRRORED_REPEAT 8u
#define LINEAR 0x20u

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

#define IMAGE global uchar *data, uint width, uint height, uint depth, uint layers, uint row_pitch, uint slice_pitch

#if FLOAT_COORDINATE
// The element at a coordinate: -1 or `size` where it is outside and the sampler asks for the border.
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

// The two elements around a coordinate, and how near it is to the second.
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
    uint offset = (uint)z * slice_pitch;
#else
    uint offset = 0u;
#endif
#if DIMS > 1
    offset += (uint)y * row_pitch;
#endif
    offset += (uint)x * ELEMENT_SIZE;
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

#if SAMPLED || !WRITE
COLOUR image_read(IMAGE, WITH_SAMPLER COORDINATE c)
{
    SAMPLER_VALUE();
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
        float4 far = (1.0f - a) * (1.0f - b) * TEXEL(x0, y0, z1) + a * (1.0f - b) * TEXEL(x1, y0, z1) + (1.0f - a) * b * TEXEL(x0, y1, z1) + a * b * TEXEL(x1, y1, z1);
        return (1.0f - g) * near + g * far;
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
#endif

#if WRITE
// What lies outside is not written.
void image_write(IMAGE, COORDINATE c, COLOUR colour)
{
    uint x = X(c);
    int inside = x < width;
    uint offset = x * ELEMENT_SIZE;
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
