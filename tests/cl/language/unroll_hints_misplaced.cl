// Unroll hints before statements other than loops, and two pragmas before one loop, are errors, as in clang.

void misplaced(int sum)
{
#pragma unroll // error: expected a for, while, or do-while loop to follow '#pragma unroll'
    sum += 1;
#pragma unroll 4 // error: expected a for, while, or do-while loop to follow '#pragma unroll'
    int x = 3;
    __attribute__((opencl_unroll_hint(2))) // error: 'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements
    sum += 2;
    {
        sum += 3;
#pragma unroll 4 // error: expected statement
    }
#pragma unroll 8
#pragma unroll 3 // error: duplicate directives '#pragma unroll(8)' and '#pragma unroll(3)'
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma unroll
#pragma unroll 3 // error: incompatible directives '#pragma unroll' and '#pragma unroll(3)'
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma unroll 7 // error: expected a for, while, or do-while loop to follow '#pragma unroll'
again:
    for (int i = 0; i < 10; i++)
        sum ^= i;
    if (sum)
#pragma unroll 7 // error: expected a for, while, or do-while loop to follow '#pragma unroll'
        sum = 1;
#pragma unroll // error: expected a for, while, or do-while loop to follow '#pragma unroll'
    { for (;;) ; }
}

void on_label(int sum)
{
    __attribute__((opencl_unroll_hint(2))) // error: 'opencl_unroll_hint' attribute cannot be applied to a declaration
again:
    for (;;)
        sum += 1;
}
