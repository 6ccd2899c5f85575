// A relaxed update continues the release sequence of another work-group's store.
// buffers: x y out
// events: 7
// groups: 3
// case: -DUPDATE=atomic_fetch_add_explicit(y,1,memory_order_relaxed,memory_scope_device)
// forbidden: out[0] = 2, out[1] = 0
// allowed: out[0] = 2, out[1] = 1
// allowed: out[0] = 1, out[1] = 1
// needs: 0 2
// case: -DUPDATE=atomic_fetch_max_explicit(y,2,memory_order_relaxed,memory_scope_device)
// forbidden: out[0] = 2, out[1] = 0, out[2] = 1
// needs: 0 2

kernel void release_sequence(global int *x, global atomic_int *y, global int *out)
{
    switch (get_group_id(0)) {
    case 0:
        *x = 1;
        atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
        break;
    case 1:
        out[2] = UPDATE;
        break;
    default:
        out[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
        out[1] = *x;
    }
}
