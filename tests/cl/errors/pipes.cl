// Invalid uses of pipes (OpenCL C 6.15.17).
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes wgcl

typedef struct {
    int *pointer;
} Pointing;

pipe int global_pipe; // error: can only be used as a function parameter

struct Holder {
    pipe int inner; // error: type cannot be used to declare a structure or union field
};

pipe int returned(void); // error: declaring function return value of type '__read_only pipe int' is not allowed
void pointed(pipe int *p); // error: pointer to type '__read_only pipe int' is invalid
void listed(pipe int p[2]); // error: array of '__read_only pipe int' type is invalid
void both(read_write pipe int p); // error: access qualifier 'read_write' cannot be used
void twice(pipe pipe int p); // error: cannot combine with previous 'pipe'
void of_pointers(pipe Pointing p); // error: invalid packet type
void of_events(pipe event_t p); // error: invalid packet type
void of_nothing(pipe void p); // error: invalid packet type
void of_truths(pipe bool p); // error: invalid packet type
void placed(global pipe int p); // error: parameter may not be qualified with an address space
reserve_id_t kept; // error: the 'reserve_id_t' type cannot be used to declare a program scope variable
kernel void reserved(reserve_id_t id) {} // error: cannot be used as the type of a kernel parameter

kernel void inner(read_only pipe int in)
{
    pipe int inner; // error: can only be used as a function parameter
    pipe int *pointer; // error: pointer to type
}

struct Reservations {
    reserve_id_t ids[2];
};
kernel void reservations(struct Reservations r) {} // error: it has a member of type 'reserve_id_t'
