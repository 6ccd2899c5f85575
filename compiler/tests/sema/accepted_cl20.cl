// Address spaces: valid OpenCL C 2.0.
// build: -cl-std=CL2.0
global int foo; int foo2; global uchar buf[512]; global int baz = 12; static global int bat; static int s; int *p;
global int * global ptr; int * global ptr2; global int * constant ptr3 = &baz; global int * global baz_ptr = &baz;
global uchar big[65536];
struct st { int a; global int *p; };
global struct st gs = { 3, &baz };
int gfun(int *q) { return *q; }
generic int *gg(generic int *q) { return q; }
int gen2(int generic *q) { return q[0]; }
local int *lfun(local int *l) { return l; }
kernel void k(global int *out, local int *l, constant int *c, int n) {
   int x = 3; static int counter; static constant int tbl[2] = {1,2}; static global int cg = 5;
   int *g = &x; g = out; g = l; int generic *h = g;
   out[0] = gfun(out) + gfun(l) + gfun(&x) + *gg(out) + tbl[1] + cg;
   global int *og = to_global(g); local int *ol = to_local(g); private int *op = to_private(g);
   global int *og2 = (global int *)g; cl_mem_fence_flags f = get_fence(g);
   work_group_barrier(CLK_LOCAL_MEM_FENCE); work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
   counter++; g = n ? (generic int *)out : l; if (g == out) counter = g - out;
   atomic_fetch_add_explicit((global atomic_int *)out, 1, memory_order_relaxed, memory_scope_device);
   atomic_store((global atomic_int *)out, 4); int e = 1; atomic_compare_exchange_strong((global atomic_int *)out, &e, 3);
   x = atomic_load((volatile global atomic_int *)out); atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
   void *vp = out; vp = &x; int **pp = &g; **pp = 1; *p = 1; ptr = out; gs.p = out;
   size_t lin = get_global_linear_id() + get_local_linear_id() + get_enqueued_local_size(0);
   float fr; fr = fract(1.5f, &fr); float *gp = (float*)out; fr = sincos(fr, gp); x = ctz(x);
}
