// Definitions and calls need complete types.

struct U;
int takes(struct U u) { return 0; } // error: variable has incomplete type 'struct U'
struct U gives(void) { } // error: incomplete result type 'struct U' in function definition
struct V;
struct V later(int x);
int earlier(struct V v);

kernel void run(global int *o)
{
    later(1); // error: calling 'later' with incomplete return type 'struct V'
    earlier(o[0]); // error: argument type 'struct V' is incomplete
}
