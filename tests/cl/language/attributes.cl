// Attributes in every position that GNU C allows, and pragmas.
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0
#pragma OPENCL EXTENSION cl_khr_byte_addressable_store : enable
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : disable
#pragma OPENCL EXTENSION all : disable
#pragma OPENCL EXTENSION cl_khr_made_up : enable             // warning: unsupported OpenCL extension 'cl_khr_made_up'
#pragma OPENCL FP_CONTRACT ON
#pragma region helpers
__attribute__((always_inline)) int first(int x __attribute__((unused))) { return 1; }
int __attribute__((noinline)) second(int x) { return x; }
static __attribute__((pure, nothrow)) inline int third(const int x) { return x; }
int fourth(int x) __attribute__((const)) __attribute__((unused));
int fourth(int x) { return x; }
__attribute__((convergent)) __attribute__((overloadable)) int fifth(int x) { return x; }
__attribute__((made_up)) int sixth(int x) { return x; }      // warning: unknown attribute 'made_up' ignored
__attribute__((noinlin)) int seventh(int x) { return x; }    // warning: did you mean 'noinline'?
#pragma endregion
typedef struct __attribute__((packed)) { char c; int i __attribute__((endian(device))); } tight __attribute__((aligned(1)));
typedef __attribute__((aligned(16))) struct { int a; } wide;
enum __attribute__((packed)) { one __attribute__((unused)) = 1 };
kernel void declared(global int *out) __attribute__((reqd_work_group_size(2, 1, 1)));
__attribute__((reqd_work_group_size(2, 1, 1))) __attribute__((work_group_size_hint(2, 1, 1), vec_type_hint(float4)))
kernel __attribute__((nosvm)) void places(global int *out __attribute__((endian(host))), __attribute__((unused)) int unused)
{
    __attribute__((unused)) int a = 1;
    int __attribute__((unused)) b = 2, c __attribute__((aligned(8))) = 3, *__attribute__((unused)) d;
    global int *__attribute__((may_alias)) alias = out;
    int i, total = 0;
    __attribute__((opencl_unroll_hint))
    for (i = 0; i < 4; ++i)
        total += i;
    __attribute__((opencl_unroll_hint(2)))
    while (i-- > 0)
        total += i;
#pragma unroll
    for (i = 0; i < 4; ++i)
        total += i;
#pragma unroll 2
    do
        total += i;
    while (--i > 0);
#pragma nounroll
    for (i = 0; i < 4; ++i)
#pragma unroll(2)
        for (int j = 0; j < 4; ++j)
            total += j;
    if (total > 1) {
#pragma OPENCL FP_CONTRACT OFF
        total += 1;
    }
    switch (total) {
    case 1:
        total = 2;
        __attribute__((fallthrough));
    default:
        total += 1;
    }
end: __attribute__((unused));
    alias[get_global_id(0)] = total + a + b + c;
}
kernel void declared(global int *out) { out[get_global_id(0)] = get_local_size(0); }
// run: places global=2 local=2
// arg out: int[2]
// arg unused: int = 0
// expect out: 6 + 6 + 6 + 10 + 24 + 1 + 1 + 6
