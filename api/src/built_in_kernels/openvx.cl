// Functions of OpenVX on images and tensors (the section "Vision Functions" of OpenVX 1.2).

// "Scale Image": the sample position in the input for a pixel of the output. The scale is the size of the input divided
// by the size of the output.
float sample_position(uint at, float scale) {
    return (at + 0.5f) * scale - 0.5f;
}

// Nearest neighbour. The planes of a pixel are contiguous. Positions outside of the input get the nearest pixel.
kernel void org_khronos_openvx_scale_image_nn_u8(global const uchar *restrict input, global uchar *restrict output,
                                                 float width_scale, float height_scale, int input_width,
                                                 int input_height) {
    size_t x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2), planes = get_global_size(2);
    size_t from_x = clamp((int)floor(sample_position(x, width_scale) + 0.5f), 0, input_width - 1);
    size_t from_y = clamp((int)floor(sample_position(y, height_scale) + 0.5f), 0, input_height - 1);
    output[(y * get_global_size(0) + x) * planes + plane] = input[(from_y * input_width + from_x) * planes + plane];
}

// Bilinear interpolation. Each plane is contiguous. Positions outside of the input get the nearest pixel.
kernel void org_khronos_openvx_scale_image_bl_u8(global const uchar *restrict input, global uchar *restrict output,
                                                 float width_scale, float height_scale, int input_width,
                                                 int input_height) {
    float x = sample_position(get_global_id(0), width_scale), y = sample_position(get_global_id(1), height_scale);
    float s = x - floor(x), t = y - floor(y);
    size_t left = clamp((int)floor(x), 0, input_width - 1), right = clamp((int)floor(x) + 1, 0, input_width - 1);
    size_t top = clamp((int)floor(y), 0, input_height - 1), bottom = clamp((int)floor(y) + 1, 0, input_height - 1);
    global const uchar *from = input + get_global_id(2) * input_width * input_height;
    float above = (1 - s) * from[top * input_width + left] + s * from[top * input_width + right];
    float below = (1 - s) * from[bottom * input_width + left] + s * from[bottom * input_width + right];
    output[position()] = convert_uchar_sat_rte((1 - t) * above + t * below);
}

// "Tensor Convert Bit-Depth". A result of type float needs no rounding and no wrapping.
kernel void org_khronos_openvx_tensor_convert_depth_wrap_u8_f32(global const uchar *restrict input,
                                                                global float *restrict output, float norm,
                                                                float offset) {
    output[position()] = (input[position()] - offset) / norm;
}

// The smallest and the largest of the first 16 pixels, or of `count` pixels if there are fewer.
int2 extremes(global const uchar *pixels, size_t count) {
    if (count < 16) {
        int2 found = pixels[0];
        for (size_t i = 1; i < count; i++) found = (int2)(min(found.x, (int)pixels[i]), max(found.y, (int)pixels[i]));
        return found;
    }
    uchar16 all = vload16(0, pixels);
    uchar8 low8 = min(all.lo, all.hi), high8 = max(all.lo, all.hi);
    uchar4 low4 = min(low8.lo, low8.hi), high4 = max(high8.lo, high8.hi);
    uchar2 low2 = min(low4.lo, low4.hi), high2 = max(high4.lo, high4.hi);
    return (int2)(min(low2.x, low2.y), max(high2.x, high2.y));
}

// Writes the x and y of the first pixel with this value in a chunk of 16 pixels.
void write_location(global uint *location, global const uchar *pixels, uint chunk, int value) {
    size_t at = (size_t)chunk * 16;
    for (int i = 1; i < 16 && pixels[at] != value; i++) at++;
    location[0] = at % get_global_size(0);
    location[1] = at / get_global_size(0) % get_global_size(1);
}

// "Min, Max Location": the smallest and the largest value of an image, and the x and y of the first pixel with each.
// The NDRange has the size of the image. The first work-group does all the work: groups cannot wait for each other, and
// the kernel has no memory for partial results. It reads chunks of 16 pixels, because lavapipe ends long loops.
kernel void org_khronos_openvx_minmaxloc_r1_u8(global const uchar *restrict input, global uchar *restrict min,
                                               global uchar *restrict max, global uint *restrict minloc,
                                               global uint *restrict maxloc) {
    local int lowest, highest;
    local uint lowest_at, highest_at;
    if (get_group_id(0) != 0 || get_group_id(1) != 0 || get_group_id(2) != 0) return;
    uint first = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    size_t pixels = get_global_size(0) * get_global_size(1) * get_global_size(2);
    if (first == 0) {
        lowest = 256;
        highest = -1;
        lowest_at = highest_at = UINT_MAX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int low = 256, high = -1;
    uint low_at = UINT_MAX, high_at = UINT_MAX;
    for (size_t at = first * 16; at < pixels; at += items * 16) {
        int2 found = extremes(input + at, pixels - at);
        if (found.x < low) {
            low = found.x;
            low_at = at / 16;
        }
        if (found.y > high) {
            high = found.y;
            high_at = at / 16;
        }
    }
    atomic_min(&lowest, low);
    atomic_max(&highest, high);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (low == lowest) atomic_min(&lowest_at, low_at);
    if (high == highest) atomic_min(&highest_at, high_at);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first != 0) return;
    *min = lowest;
    *max = highest;
    write_location(minloc, input, lowest_at, lowest);
    write_location(maxloc, input, highest_at, highest);
}
