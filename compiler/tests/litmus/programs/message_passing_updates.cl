// Message passing by an atomic update of the flag, and by an update that reads the flag.
// buffers: x flag out
// events: 9
// case: -DSET(order)=atomic_exchange_explicit(flag,1,order) -DGET(order)=atomic_fetch_add_explicit(flag,0,order)
// forbidden: out[0] = 1, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// needs: 0 1
// case: -DSET(order)=atomic_fetch_add_explicit(flag,1,order) -DGET(order)=atomic_load_explicit(flag,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSET(order)=atomic_fetch_sub_explicit(flag,-1,order) -DGET(order)=atomic_exchange_explicit(flag,2,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSET(order)=atomic_fetch_or_explicit(flag,1,order) -DGET(order)=atomic_load_explicit(flag,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSET(order)=atomic_fetch_xor_explicit(flag,1,order) -DGET(order)=atomic_load_explicit(flag,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSET(order)=atomic_fetch_max_explicit(flag,1,order) -DGET(order)=atomic_load_explicit(flag,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSET(order)=atomic_store_explicit(flag,1,order) -DGET(order)=atomic_fetch_or_explicit(flag,0,order)
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1

#define memory_order_release memory_order_release, memory_scope_device
#define memory_order_acquire memory_order_acquire, memory_scope_device

kernel void message_passing_updates(global int *x, global atomic_int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = 1;
        SET(memory_order_release);
    } else {
        out[0] = GET(memory_order_acquire);
        out[1] = *x;
    }
}
