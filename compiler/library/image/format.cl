// Image formats (OpenCL API 5.3.1.1, OpenCL C 6.15.15.7): conversion of an element in memory to a colour and back.
//
// A launch compiles this file for one format. ORDER and DATA_TYPE are API constants. COLOUR_F, COLOUR_I or COLOUR_U
// selects the colour type of the kernel. Undefined combinations (integers of a normalised format) read as 0.

#define SNORM_INT8 0x10d0
#define SNORM_INT16 0x10d1
#define UNORM_INT8 0x10d2
#define UNORM_INT16 0x10d3
#define UNORM_SHORT_565 0x10d4
#define UNORM_SHORT_555 0x10d5
#define UNORM_INT_101010 0x10d6
#define SIGNED_INT8 0x10d7
#define SIGNED_INT16 0x10d8
#define SIGNED_INT32 0x10d9
#define UNSIGNED_INT8 0x10da
#define UNSIGNED_INT16 0x10db
#define UNSIGNED_INT32 0x10dc
#define HALF_FLOAT 0x10dd
#define FLOAT 0x10de
// Depths of OpenGL objects with 24 bits and a stencil. They are stored as floats, without the stencil.
#define UNORM_INT24 0x10df
#define UNORM_INT_101010_2 0x10e0
#define UNORM_INT_2_101010 0x10e5

#define ORDER_R 0x10b0
#define ORDER_A 0x10b1
#define ORDER_RG 0x10b2
#define ORDER_RA 0x10b3
#define ORDER_RGB 0x10b4
#define ORDER_RGBA 0x10b5
#define ORDER_BGRA 0x10b6
#define ORDER_ARGB 0x10b7
#define ORDER_INTENSITY 0x10b8
#define ORDER_LUMINANCE 0x10b9
#define ORDER_RX 0x10ba
#define ORDER_RGX 0x10bb
#define ORDER_RGBX 0x10bc
#define ORDER_DEPTH 0x10bd
#define ORDER_SRGB 0x10bf
#define ORDER_SRGBX 0x10c0
#define ORDER_SRGBA 0x10c1
#define ORDER_SBGRA 0x10c2
#define ORDER_ABGR 0x10c3

#define SRGB (ORDER == ORDER_SRGB || ORDER == ORDER_SRGBX || ORDER == ORDER_SRGBA || ORDER == ORDER_SBGRA)
#define PACKED (DATA_TYPE == UNORM_SHORT_565 || DATA_TYPE == UNORM_SHORT_555 || DATA_TYPE == UNORM_INT_101010 || DATA_TYPE == UNORM_INT_101010_2 || DATA_TYPE == UNORM_INT_2_101010)

#if ORDER == ORDER_RG || ORDER == ORDER_RA || ORDER == ORDER_RGX
#define CHANNELS 2
#elif ORDER == ORDER_RGB || ORDER == ORDER_RGBX || ORDER == ORDER_SRGB
#define CHANNELS 3
#elif ORDER == ORDER_RGBA || ORDER == ORDER_BGRA || ORDER == ORDER_ARGB || ORDER == ORDER_ABGR || ORDER == ORDER_SRGBX || ORDER == ORDER_SRGBA \
    || ORDER == ORDER_SBGRA
#define CHANNELS 4
#else
#define CHANNELS 1
#endif

// The type of a channel in memory.
#if DATA_TYPE == SNORM_INT8 || DATA_TYPE == SIGNED_INT8
#define MEMORY char
#define MEMORY_SIZE 1
#elif DATA_TYPE == UNORM_INT8 || DATA_TYPE == UNSIGNED_INT8
#define MEMORY uchar
#define MEMORY_SIZE 1
#elif DATA_TYPE == SNORM_INT16 || DATA_TYPE == SIGNED_INT16
#define MEMORY short
#define MEMORY_SIZE 2
#elif DATA_TYPE == UNORM_INT16 || DATA_TYPE == UNSIGNED_INT16 || DATA_TYPE == HALF_FLOAT || DATA_TYPE == UNORM_SHORT_565 || DATA_TYPE == UNORM_SHORT_555
#define MEMORY ushort
#define MEMORY_SIZE 2
#elif DATA_TYPE == SIGNED_INT32
#define MEMORY int
#define MEMORY_SIZE 4
#elif DATA_TYPE == FLOAT || DATA_TYPE == UNORM_INT24
#define MEMORY float
#define MEMORY_SIZE 4
#else
#define MEMORY uint
#define MEMORY_SIZE 4
#endif

#if PACKED
#define ELEMENT_CHANNELS 1
#else
#define ELEMENT_CHANNELS CHANNELS
#endif
#define ELEMENT_SIZE (MEMORY_SIZE * ELEMENT_CHANNELS)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#if ELEMENT_CHANNELS == 1
#define ELEMENT MEMORY
#elif ELEMENT_CHANNELS == 3
// Three channels have no padding, unlike a vector of three.
#define ELEMENT JOIN(MEMORY, 3)
#define ELEMENT_IS_PACKED 1
#else
#define ELEMENT JOIN(MEMORY, ELEMENT_CHANNELS)
#endif

#if DATA_TYPE >= SIGNED_INT8 && DATA_TYPE <= SIGNED_INT32
#define IS_SIGNED 1
#elif DATA_TYPE >= UNSIGNED_INT8 && DATA_TYPE <= UNSIGNED_INT32
#define IS_UNSIGNED 1
#else
#define IS_REAL 1
#endif

#if defined(COLOUR_F)
#define CHANNEL float
#define COLOUR float4
#elif defined(COLOUR_I)
#define CHANNEL int
#define COLOUR int4
#else
#define CHANNEL uint
#define COLOUR uint4
#endif
#if (defined(COLOUR_F) && defined(IS_REAL)) || (defined(COLOUR_I) && defined(IS_SIGNED)) || (defined(COLOUR_U) && defined(IS_UNSIGNED))
#define MEANINGFUL 1
#endif

// --- Reading ---

// Conversions of 8.3.1.1 and 8.3.1.3.
CHANNEL from_memory(MEMORY value)
{
#if !defined(MEANINGFUL)
    return 0;
#elif DATA_TYPE == UNORM_INT8
    return (float)value * (1.0f / 255.0f);
#elif DATA_TYPE == UNORM_INT16
    return (float)value * (1.0f / 65535.0f);
#elif DATA_TYPE == SNORM_INT8
    return max((float)value * (1.0f / 127.0f), -1.0f);
#elif DATA_TYPE == SNORM_INT16
    return max((float)value * (1.0f / 32767.0f), -1.0f);
#elif DATA_TYPE == HALF_FLOAT
    return vload_half(0, (private const half *)&value);
#else
    return (CHANNEL)value;
#endif
}

#if SRGB
CHANNEL linear_from_srgb(CHANNEL c) { return c <= 0.04045f ? c / 12.92f : powr((c + 0.055f) / 1.055f, 2.4f); }
#else
#define linear_from_srgb(c) (c)
#endif

COLOUR colour_of(ELEMENT e)
{
#if PACKED && !defined(MEANINGFUL)
    return (COLOUR)(0);
#elif DATA_TYPE == UNORM_SHORT_565
    uint bits = e;
    return (COLOUR)((float)(bits >> 11) * (1.0f / 31.0f), (float)(bits >> 5 & 63u) * (1.0f / 63.0f), (float)(bits & 31u) * (1.0f / 31.0f), 1.0f);
#elif DATA_TYPE == UNORM_SHORT_555
    uint bits = e;
    return (COLOUR)((float)(bits >> 10 & 31u) * (1.0f / 31.0f), (float)(bits >> 5 & 31u) * (1.0f / 31.0f), (float)(bits & 31u) * (1.0f / 31.0f), 1.0f);
#elif DATA_TYPE == UNORM_INT_101010
    return (COLOUR)((float)(e >> 20 & 1023u) * (1.0f / 1023.0f), (float)(e >> 10 & 1023u) * (1.0f / 1023.0f), (float)(e & 1023u) * (1.0f / 1023.0f), 1.0f);
#elif DATA_TYPE == UNORM_INT_101010_2
    return (COLOUR)((float)(e >> 22) * (1.0f / 1023.0f), (float)(e >> 12 & 1023u) * (1.0f / 1023.0f), (float)(e >> 2 & 1023u) * (1.0f / 1023.0f), (float)(e & 3u) * (1.0f / 3.0f));
#elif DATA_TYPE == UNORM_INT_2_101010
    return (COLOUR)((float)(e & 1023u) * (1.0f / 1023.0f), (float)(e >> 10 & 1023u) * (1.0f / 1023.0f), (float)(e >> 20 & 1023u) * (1.0f / 1023.0f), (float)(e >> 30) * (1.0f / 3.0f));
#elif ELEMENT_CHANNELS == 1
    CHANNEL c = from_memory(e);
#if ORDER == ORDER_A
    return (COLOUR)(0, 0, 0, c);
#elif ORDER == ORDER_INTENSITY
    return (COLOUR)(c, c, c, c);
#elif ORDER == ORDER_LUMINANCE
    return (COLOUR)(c, c, c, 1);
#else
    return (COLOUR)(c, 0, 0, 1);
#endif
#elif ORDER == ORDER_RA
    return (COLOUR)(from_memory(e.x), 0, 0, from_memory(e.y));
#elif ELEMENT_CHANNELS == 2
    return (COLOUR)(from_memory(e.x), from_memory(e.y), 0, 1);
#elif ELEMENT_CHANNELS == 3 || ORDER == ORDER_SRGBX
    return (COLOUR)(linear_from_srgb(from_memory(e.x)), linear_from_srgb(from_memory(e.y)), linear_from_srgb(from_memory(e.z)), 1);
#elif ORDER == ORDER_BGRA || ORDER == ORDER_SBGRA
    return (COLOUR)(linear_from_srgb(from_memory(e.z)), linear_from_srgb(from_memory(e.y)), linear_from_srgb(from_memory(e.x)), from_memory(e.w));
#elif ORDER == ORDER_ARGB
    return (COLOUR)(from_memory(e.y), from_memory(e.z), from_memory(e.w), from_memory(e.x));
#elif ORDER == ORDER_ABGR
    return (COLOUR)(from_memory(e.w), from_memory(e.z), from_memory(e.y), from_memory(e.x));
#else
    return (COLOUR)(linear_from_srgb(from_memory(e.x)), linear_from_srgb(from_memory(e.y)), linear_from_srgb(from_memory(e.z)), from_memory(e.w));
#endif
}

// The border colour (6.15.15.1.2). Formats without alpha are opaque. The specification lists RGBx and sRGBx as
// transparent, but the conformance tests require them to be opaque, like their elements.
#if ORDER == ORDER_R || ORDER == ORDER_RG || ORDER == ORDER_RGB || ORDER == ORDER_RGBX || ORDER == ORDER_LUMINANCE || \
    ORDER == ORDER_SRGB || ORDER == ORDER_SRGBX
#define BORDER (COLOUR)(0, 0, 0, 1)
#else
#define BORDER (COLOUR)(0)
#endif

COLOUR load_element(global const uchar *p)
{
#ifdef ELEMENT_IS_PACKED
    global const MEMORY *q = (global const MEMORY *)p;
    return colour_of((ELEMENT)(q[0], q[1], q[2]));
#else
    return colour_of(*(global const ELEMENT *)p);
#endif
}

// --- Writing ---

MEMORY to_memory(CHANNEL c)
{
#if !defined(MEANINGFUL)
    return 0;
#elif DATA_TYPE == UNORM_INT8
    return convert_uchar_sat_rte(c * 255.0f);
#elif DATA_TYPE == UNORM_INT16
    return convert_ushort_sat_rte(c * 65535.0f);
#elif DATA_TYPE == SNORM_INT8
    return convert_char_sat_rte(c * 127.0f);
#elif DATA_TYPE == SNORM_INT16
    return convert_short_sat_rte(c * 32767.0f);
#elif DATA_TYPE == HALF_FLOAT
    MEMORY bits;
    vstore_half_rte(c, 0, (private half *)&bits);
    return bits;
#elif DATA_TYPE == UNORM_INT24
    return clamp(c, 0.0f, 1.0f);
#elif DATA_TYPE == SIGNED_INT8
    return convert_char_sat(c);
#elif DATA_TYPE == SIGNED_INT16
    return convert_short_sat(c);
#elif DATA_TYPE == UNSIGNED_INT8
    return convert_uchar_sat(c);
#elif DATA_TYPE == UNSIGNED_INT16
    return convert_ushort_sat(c);
#else
    return (MEMORY)c;
#endif
}

#if SRGB
CHANNEL srgb_from_linear(CHANNEL c)
{
    c = clamp(c, 0.0f, 1.0f);
    return c < 0.0031308f ? 12.92f * c : 1.055f * powr(c, 1.0f / 2.4f) - 0.055f;
}
#else
#define srgb_from_linear(c) (c)
#endif

#if PACKED && defined(MEANINGFUL)
uint to_bits(float c, uint most) { return min((uint)convert_ushort_sat_rte(c * (float)most), most); }
#endif

ELEMENT element_of(COLOUR c)
{
#if PACKED && !defined(MEANINGFUL)
    return 0;
#elif DATA_TYPE == UNORM_SHORT_565
    return (ushort)(to_bits(c.x, 31u) << 11 | to_bits(c.y, 63u) << 5 | to_bits(c.z, 31u));
#elif DATA_TYPE == UNORM_SHORT_555
    return (ushort)(to_bits(c.x, 31u) << 10 | to_bits(c.y, 31u) << 5 | to_bits(c.z, 31u));
#elif DATA_TYPE == UNORM_INT_101010
    return to_bits(c.x, 1023u) << 20 | to_bits(c.y, 1023u) << 10 | to_bits(c.z, 1023u);
#elif DATA_TYPE == UNORM_INT_101010_2
    return to_bits(c.x, 1023u) << 22 | to_bits(c.y, 1023u) << 12 | to_bits(c.z, 1023u) << 2 | to_bits(c.w, 3u);
#elif DATA_TYPE == UNORM_INT_2_101010
    return to_bits(c.w, 3u) << 30 | to_bits(c.z, 1023u) << 20 | to_bits(c.y, 1023u) << 10 | to_bits(c.x, 1023u);
#elif ORDER == ORDER_A
    return to_memory(c.w);
#elif ELEMENT_CHANNELS == 1
    return to_memory(c.x);
#elif ORDER == ORDER_RA
    return (ELEMENT)(to_memory(c.x), to_memory(c.w));
#elif ELEMENT_CHANNELS == 2
    return (ELEMENT)(to_memory(c.x), to_memory(c.y));
#elif ELEMENT_CHANNELS == 3
    return (ELEMENT)(to_memory(srgb_from_linear(c.x)), to_memory(srgb_from_linear(c.y)), to_memory(srgb_from_linear(c.z)));
#elif ORDER == ORDER_BGRA || ORDER == ORDER_SBGRA
    return (ELEMENT)(to_memory(srgb_from_linear(c.z)), to_memory(srgb_from_linear(c.y)), to_memory(srgb_from_linear(c.x)), to_memory(c.w));
#elif ORDER == ORDER_ARGB
    return (ELEMENT)(to_memory(c.w), to_memory(c.x), to_memory(c.y), to_memory(c.z));
#elif ORDER == ORDER_ABGR
    return (ELEMENT)(to_memory(c.w), to_memory(c.z), to_memory(c.y), to_memory(c.x));
#else
    return (ELEMENT)(to_memory(srgb_from_linear(c.x)), to_memory(srgb_from_linear(c.y)), to_memory(srgb_from_linear(c.z)), to_memory(c.w));
#endif
}

void store_element(global uchar *p, COLOUR c)
{
#ifdef ELEMENT_IS_PACKED
    ELEMENT e = element_of(c);
    global MEMORY *q = (global MEMORY *)p;
    q[0] = e.x;
    q[1] = e.y;
    q[2] = e.z;
#else
    *(global ELEMENT *)p = element_of(c);
#endif
}
