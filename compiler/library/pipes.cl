// Pipes (OpenCL C 6.15.14). What the host makes of one is told in `src/pipe.rs`, which has the same places.
//
// A pipe is a ring of slots for packets, and two sides, one of writers and one of readers. A side has two positions: up to where slots are reserved, and up
// to where they are committed without a gap. Writers reserve up to what readers have committed, a round further; readers up to what writers have. Positions
// count on beyond the capacity, so that an old one is never taken for a new one, and start again at a multiple of it (WRAP, below 2^31). A reservation is its
// first position plus one: 0 is none.
//
// Each side has a word for each slot, its record. That of a reservation's first slot says how many slots it has (OPEN), and when it is committed, which may be
// in any order, the position behind them plus one. Whoever commits then moves the committed position over all records that lie there. Nobody ever waits: a
// step that fails, fails because somebody else's was done, so that work-items of a vector, or of groups that do not run yet, hold nobody up.

#define CAPACITY 0
#define WRAP 1
#define PACKETS 2
#define WRITERS 16
#define READERS 48
#define COMMITTED 16
#define RECORDS 80
#define OPEN 0x80000000u

// Records that one commit moves over, at most: what is left is for those who look for packets or slots. Some devices end loops that go on for long.
#define MOST_RECORDS 4096u

// OpenCL C 2.0 has it as far as the device does, 3.0 where the device reports it, together with the orders.
#ifdef memory_scope_device
#define LOAD(place) atomic_load_explicit((volatile __global atomic_uint *)(place), memory_order_acquire, memory_scope_device)
#define STORE(place, value) atomic_exchange_explicit((volatile __global atomic_uint *)(place), value, memory_order_acq_rel, memory_scope_device)
#define REPLACE(place, old, value) \
    atomic_compare_exchange_strong_explicit( \
        (volatile __global atomic_uint *)(place), &(old), value, memory_order_acq_rel, memory_order_acquire, memory_scope_device \
    )
#else
// One kernel sees what another one did before it, and within a kernel each word by itself is enough.
#define LOAD(place) atomic_or((volatile __global uint *)(place), 0u)
#define STORE(place, value) atomic_xchg((volatile __global uint *)(place), value)
#define REPLACE(place, old, value) (atomic_cmpxchg((volatile __global uint *)(place), old, value) == (old))
#endif

// How far it is from one position to another that is not before it.
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

// Moves a side's committed position, which was `start`, over one record. Whether that position is another one now, by whomever.
bool __wgcl_pipe_step(__global uint *ring, uint side, uint start) {
    uint wrap = ring[WRAP];
    __global uint *record = __wgcl_pipe_record(ring, side, start);
    uint found = LOAD(record);
    uint end = found - 1u;
    uint slots = __wgcl_pipe_distance(wrap, start, end);
    // Nothing, an open reservation, or what the slot had a round ago.
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
        // In this order: if the first has not changed in the end, there was room for all that time.
        uint start = LOAD(ring + side);
        uint limit = LOAD(ring + other + COMMITTED);
        uint room = side == WRITERS ? __wgcl_pipe_distance(wrap, limit, start) : __wgcl_pipe_distance(wrap, start, limit);
        if (room > capacity) {
            // Others reserved and committed in between.
            continue;
        }
        if (count > (side == WRITERS ? capacity - room : room)) {
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
    // What is no reservation, or was committed before, is left alone.
    if (id == 0u || (found & OPEN) == 0u) {
        return;
    }
    STORE(record, __wgcl_pipe_later(ring[WRAP], start, found & ~OPEN) + 1u);
    uint left = MOST_RECORDS;
    while (left != 0u && __wgcl_pipe_step(ring, side, LOAD(ring + side + COMMITTED))) {
        left--;
    }
}

// Where a packet of a reservation lies. An index out of bounds is some other slot's.
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

// Packets that could be read now.
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

// A work-group's: one of its work-items makes the reservation, and commits it when all have done with it.
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
