// Shuffles of cl_intel_subgroups in OpenCL C 1.2: vectors, narrow types, two values; subgroup functions of 2.0.
// requires: cl_intel_subgroups cl_intel_subgroups_short cl_intel_subgroups_char
// for: T = char, ushort, int, ulong, float
// build: -cl-std=CL1.2

typedef T V __attribute__((ext_vector_type(4)));

kernel void shuffles(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
    int bad = 0;
    uint next = (lane + 1) % size, other = lane ^ 1;
    V v = (V)((T)lane, (T)(lane + 1), (T)(lane + 2), (T)(lane * 2));
    V moved = intel_sub_group_shuffle(v, next);
    bad |= moved.x != (T)next || moved.y != (T)(next + 1) || moved.z != (T)(next + 2) || moved.w != (T)(next * 2);
    V swapped = intel_sub_group_shuffle_xor(v, 1u);
    bad |= other < size && (swapped.x != (T)other || swapped.w != (T)(other * 2)) ? 2 : 0;
    // As if two subgroups were adjacent.
    uint delta = min(3u, most);
    T here = (T)lane, there = (T)(50 + lane);
    T down = intel_sub_group_shuffle_down(here, there, delta);
    T up = intel_sub_group_shuffle_up(there, here, delta);
    if (lane + delta < size) {
        bad |= down != (T)(lane + delta) ? 4 : 0;
    } else if (size == most) {
        bad |= down != (T)(50 + lane + delta - most) ? 8 : 0;
    }
    if (lane >= delta) {
        bad |= up != (T)(lane - delta) ? 16 : 0;
    } else if (size == most) {
        bad |= up != (T)(50 + lane - delta + most) ? 32 : 0;
    }
    wrong[get_global_id(0)] = bad;
}
// run: shuffles global=64 local=64
// arg wrong: int[64] = 9
// expect wrong: 0
// run: shuffles global=60 local=20
// arg wrong: int[60] = 9
// expect wrong: 0

kernel void collective(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int bad = (int)intel_sub_group_broadcast((short)(lane + 5), 0u) - 5;
    bad |= intel_sub_group_reduce_add((short)1) != (short)size;
    bad |= intel_sub_group_scan_exclusive_add((uchar)1) != (uchar)lane;
    bad |= sub_group_reduce_max((int)lane) != (int)size - 1 || !sub_group_all(lane < size) || sub_group_broadcast(lane, 0) != 0;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    wrong[get_global_id(0)] = bad;
}
// run: collective global=60 local=20
// arg wrong: int[60] = 9
// expect wrong: 0
