// Two work-groups update one place.
// buffers: x out
// events: 7
// cell: 4
// case: -DUPDATE=atomic_fetch_add_explicit(x,1,memory_order_relaxed,memory_scope_device)
// forbidden: x = 1
// forbidden: out[0] = 0, out[1] = 0
// forbidden: out[0] = 1, out[1] = 1
// allowed: out[0] = 0, out[1] = 1, x = 2
// case: -DUPDATE=atomic_exchange_explicit(x,1+get_group_id(0),memory_order_relaxed,memory_scope_device)
// forbidden: out[0] = 0, out[1] = 0
// forbidden: out[0] = 2, out[1] = 1
// allowed: out[0] = 0, out[1] = 1, x = 2
// case: -DUPDATE=atomic_fetch_or_explicit(x,1,memory_order_relaxed,memory_scope_device)
// forbidden: out[0] = 0, out[1] = 0
// allowed: out[0] = 0, out[1] = 1, x = 1
// allowed: out[0] = 1, out[1] = 0, x = 1

kernel void atomicity(global atomic_int *x, global int *out)
{
    out[get_group_id(0)] = UPDATE;
}
