// Pipes (OpenCL C 6.15.17). The layout must agree with `src/pipe.rs`, where the host creates pipes.
//
// A pipe is a ring of packet slots with two sides, writers and readers. A side has two positions: the end of the
// reserved slots, and the end of the contiguously committed slots. Writers may reserve up to the position that readers
// have committed, one round further. Readers may reserve up to the position that writers have committed. Positions
// count beyond the capacity, so that an old one is never mistaken for a new one. They wrap at a multiple of the
// capacity (WRAP, below 2^31). A reservation is its first position plus one; 0 is invalid.
//
// Each side has one word per slot, the record of the slot. The record of the first reserved slot contains the number of
// reserved slots, with the bit OPEN. After the commit it contains the position after the reserved slots, plus one.
// Commits may happen in any order. A commit advances the committed position over all contiguous committed records. The
// algorithm is lock-free: a step fails only if another work-item's step succeeded. So work-items of a vector, or of
// groups that have not started, cannot block others.

#define CAPACITY 0
#define WRAP 1
#define PACKETS 2
#define WRITERS 16
#define READERS 48
#define COMMITTED 16
#define RECORDS 80
#define OPEN 0x80000000u

// Maximum number of records that one commit advances over. The rest is left to later queries and reservations. Some
// devices abort long loops.
#define MOST_RECORDS 4096u

// OpenCL C 2.0 always defines this macro. Later versions define it if the device reports this scope. Such a device also
// reports the memory orders.
#ifdef memory_scope_device
#define LOAD(place) atomic_load_explicit((volatile __global atomic_uint *)(place), memory_order_acquire, memory_scope_device)
#define STORE(place, value) atomic_exchange_explicit((volatile __global atomic_uint *)(place), value, memory_order_acq_rel, memory_scope_device)
#define REPLACE(place, old, value) \
    atomic_compare_exchange_strong_explicit( \
        (volatile __global atomic_uint *)(place), &(old), value, memory_order_acq_rel, memory_order_acquire, memory_scope_device \
    )
#else
// A kernel sees the writes of earlier kernels. Within a kernel, atomicity of each word is sufficient.
#define LOAD(place) atomic_or((volatile __global uint *)(place), 0u)
#define STORE(place, value) atomic_xchg((volatile __global uint *)(place), value)
#define REPLACE(place, old, value) (atomic_cmpxchg((volatile __global uint *)(place), old, value) == (old))
#endif

// The distance from a position to another one that does not precede it.
uint __wgcl_pipe_distance(uint wrap, uint from, uint to) {
    return to < from ? to + wrap - from : to - from;
}

uint __wgcl_pipe_later(uint wrap, uint position, uint count) {
    uint later = position + count;
    return later >= wrap ? later - wrap : later;
}

// The record of a position's slot.
__global uint *__wgcl_pipe_record(__global uint *ring, uint side, uint position) {
    uint capacity = ring[CAPACITY];
    return ring + RECORDS + (size_t)(position % capacity) + (side == READERS ? (size_t)capacity : (size_t)0);
}

// Advances a side's committed position, which was `start`, over one record. Returns whether the position has changed,
// by any work-item.
bool __wgcl_pipe_step(__global uint *ring, uint side, uint start) {
    uint wrap = ring[WRAP];
    __global uint *record = __wgcl_pipe_record(ring, side, start);
    uint found = LOAD(record);
    uint end = found - 1u;
    uint slots = __wgcl_pipe_distance(wrap, start, end);
    // Empty, an open reservation, or the record of an earlier round.
    if (end >= wrap || slots == 0u || slots > ring[CAPACITY]) {
        return LOAD(ring + side + COMMITTED) != start;
    }
    if (REPLACE(ring + side + COMMITTED, start, end)) {
        REPLACE(record, found, 0u);
    }
    return true;
}

uint __wgcl_pipe_reserve(__global uint *ring, uint count, uint side) {
    uint capacity = ring[CAPACITY];
    uint wrap = ring[WRAP];
    if (count == 0u || count > capacity) {
        return 0u;
    }
    uint other = side ^ (WRITERS ^ READERS);
    while (true) {
        // In this order: if the first position is unchanged at the end, the slots were available all the time.
        uint start = LOAD(ring + side);
        uint limit = LOAD(ring + other + COMMITTED);
        uint distance = side == WRITERS ? __wgcl_pipe_distance(wrap, limit, start) : __wgcl_pipe_distance(wrap, start, limit);
        if (distance > capacity) {
            // Other work-items reserved and committed in between.
            continue;
        }
        if (count > (side == WRITERS ? capacity - distance : distance)) {
            if (!__wgcl_pipe_step(ring, other, limit)) {
                return 0u;
            }
            continue;
        }
        uint old = start;
        if (REPLACE(ring + side, old, __wgcl_pipe_later(wrap, start, count))) {
            STORE(__wgcl_pipe_record(ring, side, start), OPEN | count);
            return start + 1u;
        }
    }
}

void __wgcl_pipe_commit(__global uint *ring, uint id, uint side) {
    uint start = id - 1u;
    __global uint *record = __wgcl_pipe_record(ring, side, start);
    uint found = LOAD(record);
    // Ignore an invalid reservation, or one that is already committed.
    if (id == 0u || (found & OPEN) == 0u) {
        return;
    }
    STORE(record, __wgcl_pipe_later(ring[WRAP], start, found & ~OPEN) + 1u);
    uint left = MOST_RECORDS;
    while (left != 0u && __wgcl_pipe_step(ring, side, LOAD(ring + side + COMMITTED))) {
        left--;
    }
}

// The address of a packet in a reservation. An index out of bounds gives another slot.
__global uchar *__wgcl_pipe_packet(__global uint *ring, uint id, uint index, uint size) {
    uint slot = (id - 1u + index) % ring[CAPACITY];
    return (__global uchar *)ring + (size_t)ring[PACKETS] * 128u + (size_t)slot * size;
}

uint __wgcl_reserve_read_pipe(__global uint *ring, uint count) {
    return __wgcl_pipe_reserve(ring, count, READERS);
}

uint __wgcl_reserve_write_pipe(__global uint *ring, uint count) {
    return __wgcl_pipe_reserve(ring, count, WRITERS);
}

void __wgcl_commit_read_pipe(__global uint *ring, uint id) {
    __wgcl_pipe_commit(ring, id, READERS);
}

void __wgcl_commit_write_pipe(__global uint *ring, uint id) {
    __wgcl_pipe_commit(ring, id, WRITERS);
}

uint __wgcl_get_pipe_max_packets(__global uint *ring) {
    return ring[CAPACITY];
}

// Number of packets that can be read.
uint __wgcl_get_pipe_num_packets(__global uint *ring) {
    while (true) {
        uint start = LOAD(ring + READERS);
        uint end = LOAD(ring + WRITERS + COMMITTED);
        uint packets = __wgcl_pipe_distance(ring[WRAP], start, end);
        if (!__wgcl_pipe_step(ring, WRITERS, end) && packets <= ring[CAPACITY]) {
            return packets;
        }
    }
}

// For a work-group: one work-item makes the reservation, and commits it after all have used it.
uint __wgcl_work_group_reserve_read_pipe(__global uint *ring, uint count) {
    uint id = 0u;
    if (get_local_linear_id() == 0) {
        id = __wgcl_pipe_reserve(ring, count, READERS);
    }
    return work_group_broadcast(id, 0, 0, 0);
}

uint __wgcl_work_group_reserve_write_pipe(__global uint *ring, uint count) {
    uint id = 0u;
    if (get_local_linear_id() == 0) {
        id = __wgcl_pipe_reserve(ring, count, WRITERS);
    }
    return work_group_broadcast(id, 0, 0, 0);
}

void __wgcl_work_group_commit_read_pipe(__global uint *ring, uint id) {
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_linear_id() == 0) {
        __wgcl_pipe_commit(ring, id, READERS);
    }
}

void __wgcl_work_group_commit_write_pipe(__global uint *ring, uint id) {
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_linear_id() == 0) {
        __wgcl_pipe_commit(ring, id, WRITERS);
    }
}

uint __wgcl_sub_group_reserve_read_pipe(__global uint *ring, uint count) {
    uint id = 0u;
    if (get_sub_group_local_id() == 0) {
        id = __wgcl_pipe_reserve(ring, count, READERS);
    }
    return sub_group_broadcast(id, 0);
}

uint __wgcl_sub_group_reserve_write_pipe(__global uint *ring, uint count) {
    uint id = 0u;
    if (get_sub_group_local_id() == 0) {
        id = __wgcl_pipe_reserve(ring, count, WRITERS);
    }
    return sub_group_broadcast(id, 0);
}

void __wgcl_sub_group_commit_read_pipe(__global uint *ring, uint id) {
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0) {
        __wgcl_pipe_commit(ring, id, READERS);
    }
}

void __wgcl_sub_group_commit_write_pipe(__global uint *ring, uint id) {
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0) {
        __wgcl_pipe_commit(ring, id, WRITERS);
    }
}
