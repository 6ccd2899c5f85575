// Arithmetic of 128 bits at run time is rejected; constant expressions are evaluated.
// requires: int64

kernel void wide(global long *o, long l, ulong u, int i, float f, long4 v)
{
    o[0] = (l - 9223372036854775808) / 2; // error: 128-bit integer arithmetic is supported in constants only
    o[1] = l % 9223372036854775808; // error: 128-bit integer arithmetic
    o[2] = (l * 9223372036854775808) >> 64; // error: 128-bit integer arithmetic
    o[3] = u + 9223372036854775808 < u; // error: 128-bit integer arithmetic
    o[4] = f * (u + 9223372036854775808); // error: 128-bit integer arithmetic
    if (u * 9223372036854775808) // error: 128-bit integer arithmetic
        o[5] = 340282366920938463463374607431768211456; // error: integer literal is too large to be represented in any integer type
    o[6] = 18446744073709551616u; // error: integer literal is too large
    o[7] = 170141183460469231731687303715884105727 + 1; // error: overflow or division by zero in a 128-bit integer constant
    typeof(9223372036854775808) t; // error: cannot be used to declare a variable
    v += 18446744073709551616; // error: scalar operand type has greater rank than the type of the vector element. ('long4' and 'long long')
    max(l, 18446744073709551616); // error: 128-bit integer arithmetic
    o[8] = i < 9223372036854775808; // warning: result of comparison of constant 9223372036854775808 with expression of type 'int' is always true
    o[9] = 9223372036854775808; // warning: implicit conversion from 'long long' to 'long' changes value from 9223372036854775808 to -9223372036854775808
#if 18446744073709551616 // error: integer literal is too large to be represented in any integer type
#endif
#if 9223372036854775808 < 0 // warning: integer literal is too large to be represented in a signed integer type, interpreting as unsigned
#endif
}
