// 32-bit atomics on global memory, of both spellings.
// for: T = int, uint
// build: -DNEW_NAMES
// build: -DOLD_NAMES

#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_global_int32_extended_atomics : enable
#ifdef OLD_NAMES
#define A(op) atom_##op
#else
#define A(op) atomic_##op
#endif

kernel void every(volatile global T *c, global T *seen)
{
    int i = get_global_id(0);
    T old = A(add)(&c[0], 2);
    seen[old / 2] += 1;
    A(sub)(&c[1], 3);
    A(inc)(&c[2]);
    A(dec)(&c[3]);
    A(min)(&c[4], (T)i);
    A(max)(&c[5], (T)i);
    A(and)(&c[6], ~(T)(1u << (i % 8)));
    A(or)(&c[7], (T)(1u << (i % 8)));
    A(xor)(&c[8], (T)i);
    A(xchg)(&c[9], 77);
    // An addition by a compare-and-exchange loop.
    T expected, found = c[10];
    do {
        expected = found;
        found = A(cmpxchg)(&c[10], expected, expected + 5);
    } while (found != expected);
}
// run: every global=256 local=32
// arg c: $T[11] = {0, 1000, 0, 500, 9999, 0, 0xffff, 0, 0, 5, 1}
// arg seen: $T[256]
// expect c: {512, 1000 - 768, 256, 244, 0, 255, 0xff00, 0xff, 0, 77, 1281}
// expect seen: 1
