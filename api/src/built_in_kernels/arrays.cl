// Operations on the elements of arrays. Each work-item computes the element at its position in the NDRange.

kernel void pocl_copy_i8(global const char *restrict input, global char *restrict output) {
    output[position()] = input[position()];
}

kernel void pocl_abs_f32(global const float *restrict input, global float *restrict output) {
    output[position()] = fabs(input[position()]);
}

// The arithmetic is unsigned, because signed overflow is undefined in C.
#define ARITHMETIC(name, type, operation)                                                                              \
    kernel void name(global const type *restrict input1, global const type *restrict input2,                           \
                     global type *restrict output) {                                                                   \
        output[position()] = (type)((uint)input1[position()] operation (uint)input2[position()]);                      \
    }

ARITHMETIC(pocl_add_i8, char, +)
ARITHMETIC(pocl_add_i16, short, +)
ARITHMETIC(pocl_add_i32, int, +)
ARITHMETIC(pocl_mul_i8, char, *)
ARITHMETIC(pocl_mul_i16, short, *)
ARITHMETIC(pocl_mul_i32, int, *)
