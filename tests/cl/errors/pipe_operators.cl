// C operators do not apply to pipes, and only assignment applies to reservations (OpenCL C 6.15.17).
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes wgcl

void reads(read_only pipe int p);
void reads_floats(pipe float p);
kernel void wrong(read_only pipe int in, write_only pipe int out)
{
    reserve_id_t id;
    int x;
    reads(out); // error: passing '__write_only pipe int' to parameter of incompatible type '__read_only pipe int'
    reads_floats(in); // error: incompatible type '__read_only pipe float'
    reads(x ? in : in); // error: incompatible operand types
    in = in; // error: is not assignable
    &in; // error: taking the address of a variable
    in + 1; // error: invalid operands
    in == in; // error: invalid operands
    !in; // error: invalid argument type
    *in; // error: indirection requires pointer operand
    id == id; // error: invalid operands
    id = 5; // error: incompatible type
    id = CLK_NULL_RESERVE_ID;
    x = sizeof(in) > 0;
}
