// Assertions between members, alignments, and values of opaque types.
struct checked { int x; _Static_assert(sizeof(int) == 8, "ints of 8 bytes"); int y; }; // error: static assertion failed: ints of 8 bytes
struct aligned { int x __attribute__((aligned(0x100000000))); };                         // error: requested alignment is 4294967296 bytes; the limit is
struct uneven { int x __attribute__((aligned(24))); };                                  // error: requested alignment is not a power of 2

kernel void k(global int *out)
{
    event_t none = 0;
    event_t some = 1; // error: 'event_t' with an expression of incompatible type 'int'
    out[0] = 0;
}
