// Atomic floats support arithmetic, but not logic; byte dot products need two operands of four bytes.
// build: -cl-std=CL2.0

kernel void f(global atomic_float *a, global int *out)
{
    atomic_fetch_and(a, 1.0f);      // error: no matching function for call to 'atomic_fetch_and'
    atomic_fetch_xor_explicit(a, 1.0f, memory_order_relaxed); // error: no matching function for call to 'atomic_fetch_xor_explicit'
    out[0] = dot_acc_sat((char4)(1), (short4)(1), 0);         // error: no matching function for call to 'dot_acc_sat'
    out[1] = dot_4x8packed_ss_int((char4)(1), 1u);            // error: 
    out[2] = bitfield_insert(1.0f, 2, 1, 1);                  // error: bitfield_insert
}
