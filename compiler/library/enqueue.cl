// Device-side enqueue (OpenCL C 6.15.18). A kernel writes its commands to its program's memory, and the host reads them
// after the kernel has ended. The layout must agree with compiler/src/enqueue.rs.
//
// The captures of running blocks have their own memory, so that a kernel that only reads captures is known to enqueue
// nothing.
//
// A clk_event_t is the index of an event slot, from 1. A queue_t has the queue's number, from 1, in its upper half and
// its size in words in the lower half.

#define WGCL_USED 0
#define WGCL_CAPACITY 1
#define WGCL_EVENTS_TAKEN 2
#define WGCL_EVENTS_FREE 3
#define WGCL_GROUP_ITEMS 4
#define WGCL_SUBGROUP 5
#define WGCL_QUEUE_WORDS 6
#define WGCL_QUEUE_NUMBER 7
#define WGCL_GROUP_SIZES 8
#define WGCL_UNIFORM 11
#define WGCL_EVENTS 16
#define WGCL_EVENT_WORDS 8
#define WGCL_MAX_EVENTS 4096
#define WGCL_FREE (WGCL_EVENTS + WGCL_EVENT_WORDS * WGCL_MAX_EVENTS)
#define WGCL_RECORDS (WGCL_FREE + WGCL_MAX_EVENTS)
#define WGCL_PARAMETER_WORDS 65536
#define WGCL_RECORD_WORDS 2097152
#define WGCL_HEAD_WORDS 20

__global uint __wgcl_device_queue[WGCL_RECORDS + WGCL_RECORD_WORDS] __attribute__((aligned(128)));

__global uint __wgcl_device_parameters[WGCL_PARAMETER_WORDS] __attribute__((aligned(128)));

volatile __global uint *__wgcl_queue_word(uint index) {
    return (volatile __global uint *)__wgcl_device_queue + index;
}

queue_t __wgcl_default_queue(void) {
    ulong number = *__wgcl_queue_word(WGCL_QUEUE_NUMBER);
    return (queue_t)(number << 32 | *__wgcl_queue_word(WGCL_QUEUE_WORDS));
}

ndrange_t __wgcl_ndrange(uint dimensions, size_t o0, size_t o1, size_t o2, size_t g0, size_t g1, size_t g2, size_t l0, size_t l1, size_t l2) {
    ndrange_t range;
    range.__dimensions = dimensions;
    range.__padding = 0;
    range.__offset[0] = o0;
    range.__offset[1] = o1;
    range.__offset[2] = o2;
    range.__global_size[0] = g0;
    range.__global_size[1] = g1;
    range.__global_size[2] = g2;
    range.__local_size[0] = l0;
    range.__local_size[1] = l1;
    range.__local_size[2] = l2;
    return range;
}

volatile __global uint *__wgcl_event(clk_event_t event) {
    return __wgcl_queue_word(WGCL_EVENTS + WGCL_EVENT_WORDS * ((uint)(ulong)event - 1));
}

bool __wgcl_is_valid_event(clk_event_t event) {
    ulong number = (ulong)event;
    if (number == 0 || number > WGCL_MAX_EVENTS)
        return false;
    return (int)*__wgcl_event(event) > 0;
}

// A new event in state CL_SUBMITTED with one reference, or 0 if no slot is free.
clk_event_t __wgcl_take_event(void) {
    uint free = *__wgcl_queue_word(WGCL_EVENTS_FREE);
    if (*__wgcl_queue_word(WGCL_EVENTS_TAKEN) >= free)
        return (clk_event_t)(ulong)0;
    uint taken = atomic_inc(__wgcl_queue_word(WGCL_EVENTS_TAKEN));
    if (taken >= free)
        return (clk_event_t)(ulong)0;
    clk_event_t event = (clk_event_t)(ulong)*__wgcl_queue_word(WGCL_FREE + taken);
    volatile __global uint *place = __wgcl_event(event);
    place[0] = 1;
    place[1] = 2;
    place[2] = 0;
    return event;
}

clk_event_t __wgcl_create_user_event(void) {
    clk_event_t event = __wgcl_take_event();
    if ((ulong)event != 0)
        __wgcl_event(event)[2] = 1;
    return event;
}

void __wgcl_retain_event(clk_event_t event) {
    if (__wgcl_is_valid_event(event))
        atomic_inc(__wgcl_event(event));
}

void __wgcl_release_event(clk_event_t event) {
    if (__wgcl_is_valid_event(event))
        atomic_dec(__wgcl_event(event));
}

void __wgcl_set_user_event_status(clk_event_t event, int status) {
    if (__wgcl_is_valid_event(event) && status <= 0)
        __wgcl_event(event)[1] = (uint)status;
}

bool __wgcl_is_valid_queue(queue_t queue) {
    return ((ulong)queue >> 32) != 0;
}

// Returns CLK_INVALID_EVENT_WAIT_LIST if a wait list is invalid, else 0.
int __wgcl_check_waits(uint count, __generic const clk_event_t *waits) {
    if ((waits == 0) != (count == 0))
        return -57;
    for (uint i = 0; i < count; i++)
        if (!__wgcl_is_valid_event(waits[i]))
            return -57;
    return 0;
}

// Returns CLK_INVALID_NDRANGE if a range is invalid, else 0.
int __wgcl_check_range(ndrange_t range) {
    if (range.__dimensions < 1 || range.__dimensions > 3)
        return -160;
    size_t items = 1;
    for (uint i = 0; i < range.__dimensions; i++) {
        size_t size = range.__global_size[i];
        size_t local_size = range.__local_size[i];
        if (size == 0 || size > 0xffffffffu || range.__offset[i] > 0xffffffffu - size)
            return -160;
        if ((local_size == 0) != (range.__local_size[0] == 0) || local_size > *__wgcl_queue_word(WGCL_GROUP_SIZES + i))
            return -160;
        if (local_size != 0 && size % local_size != 0 && *__wgcl_queue_word(WGCL_UNIFORM))
            return -160;
        items *= local_size;
    }
    return items > *__wgcl_queue_word(WGCL_GROUP_ITEMS) ? -160 : 0;
}

// Allocates a record with `count` events and `words` other words after its header. Returns the index of its first word,
// or an error.
int __wgcl_take_record(queue_t queue, uint kind, uint count, __generic const clk_event_t *waits, __generic clk_event_t *returned, uint words) {
    uint capacity = min(*__wgcl_queue_word(WGCL_CAPACITY), (uint)(ulong)queue);
    uint size = (WGCL_HEAD_WORDS + count + words + 1) & ~1u;
    if (size > capacity || *__wgcl_queue_word(WGCL_USED) > capacity - size)
        return -161;
    clk_event_t event = (clk_event_t)(ulong)0;
    if (returned != 0) {
        event = __wgcl_take_event();
        if ((ulong)event == 0)
            return -100;
    }
    uint at = atomic_add(__wgcl_queue_word(WGCL_USED), size);
    if (at > capacity - size) {
        // The record does not fit the queue. Mark its words as a record without a request, or, if they do not fit the
        // memory, as the end of the records.
        uint most = *__wgcl_queue_word(WGCL_CAPACITY);
        volatile __global uint *place = __wgcl_queue_word(WGCL_RECORDS + at);
        if (at <= most - size) {
            place[0] = size;
            place[1] = 2;
        } else if (at < most) {
            place[0] = 0;
        }
        if (returned != 0)
            __wgcl_release_event(event);
        return -161;
    }
    volatile __global uint *record = __wgcl_queue_word(WGCL_RECORDS + at);
    record[0] = size;
    record[1] = kind;
    record[4] = (uint)(ulong)event;
    record[5] = count;
    for (uint i = 0; i < count; i++)
        record[WGCL_HEAD_WORDS + i] = (uint)(ulong)waits[i];
    if (returned != 0)
        *returned = event;
    return (int)at;
}

// Writes the record of a kernel to run. Returns the index of its first word, or an error. A word for each parameter and
// the block's captures in memory follow the events.
int __wgcl_enqueue(queue_t queue, int flags, ndrange_t range, uint count, __generic const clk_event_t *waits, __generic clk_event_t *returned, ulong kernel_number, uint parameters, uint captures) {
    if (!__wgcl_is_valid_queue(queue))
        return -102;
    int error = __wgcl_check_range(range);
    if (error == 0)
        error = __wgcl_check_waits(count, waits);
    if (error != 0)
        return error;
    uint offset = ((count + parameters + 1) & ~1u) - count + captures;
    int at = __wgcl_take_record(queue, (uint)flags << 8, count, waits, returned, offset);
    if (at < 0)
        return at;
    volatile __global uint *record = __wgcl_queue_word(WGCL_RECORDS + (uint)at);
    record[2] = (uint)kernel_number;
    record[3] = (uint)(kernel_number >> 32);
    record[6] = range.__dimensions;
    record[7] = parameters;
    record[8] = captures;
    record[9] = (uint)((ulong)queue >> 32);
    record[10] = record[11] = record[12] = 0;
    record[13] = record[14] = record[15] = 1;
    record[16] = record[17] = record[18] = 0;
    for (uint i = 0; i < range.__dimensions; i++) {
        record[10 + i] = (uint)range.__offset[i];
        record[13 + i] = (uint)range.__global_size[i];
        record[16 + i] = (uint)range.__local_size[i];
    }
    return at;
}

void __wgcl_enqueue_parameter(int at, uint index, uint word) {
    volatile __global uint *record = __wgcl_queue_word(WGCL_RECORDS + (uint)at);
    record[WGCL_HEAD_WORDS + record[5] + index] = word;
}

// The address of a block's captures in a record.
__global char *__wgcl_captures(int at) {
    volatile __global uint *record = __wgcl_queue_word(WGCL_RECORDS + (uint)at);
    uint offset = (WGCL_HEAD_WORDS + record[5] + record[7] + 1) & ~1u;
    return (__global char *)(__wgcl_device_queue + WGCL_RECORDS + (uint)at + offset);
}

// The address of the captures in an enqueued kernel.
__global char *__wgcl_captured(uint at) {
    return (__global char *)(__wgcl_device_parameters + at);
}

int __wgcl_enqueue_marker(queue_t queue, uint count, __generic const clk_event_t *waits, __generic clk_event_t *returned) {
    if (!__wgcl_is_valid_queue(queue))
        return -102;
    if (returned == 0)
        return 0;
    if (count == 0 || __wgcl_check_waits(count, waits) != 0)
        return -57;
    int at = __wgcl_take_record(queue, 1, count, waits, returned, 0);
    return min(at, 0);
}

// The result of enqueue_kernel: CLK_ENQUEUE_FAILURE for every error, unless the program requests details.
int __wgcl_enqueued(int at, int detailed) {
    if (at >= 0)
        return 0;
    return detailed ? at : -101;
}

uint __wgcl_group_items(void) {
    return *__wgcl_queue_word(WGCL_GROUP_ITEMS);
}

uint __wgcl_subgroup_items(void) {
    return *__wgcl_queue_word(WGCL_SUBGROUP);
}

// Number of work-items of a group in an NDRange. Without a specified size, the largest group counts.
uint __wgcl_range_items(ndrange_t range) {
    if (range.__local_size[0] == 0)
        return *__wgcl_queue_word(WGCL_GROUP_ITEMS);
    size_t items = 1;
    for (uint i = 0; i < range.__dimensions; i++)
        items *= range.__local_size[i];
    return (uint)items;
}

uint __wgcl_range_subgroup_size(ndrange_t range) {
    return min(__wgcl_range_items(range), __wgcl_subgroup_items());
}

uint __wgcl_range_subgroups(ndrange_t range) {
    uint size = max(__wgcl_subgroup_items(), 1u);
    return (__wgcl_range_items(range) + size - 1) / size;
}

// Writes the two times of a completed event.
void __wgcl_report_times(clk_event_t event, __generic ulong *value) {
    volatile __global uint *place = __wgcl_event(event);
    value[0] = (ulong)place[5] << 32 | place[4];
    value[1] = (ulong)place[7] << 32 | place[6];
}

// Whether an event has completed.
bool __wgcl_has_ended(clk_event_t event) {
    return (int)__wgcl_event(event)[1] <= 0;
}

// The function capture_event_profiling_info. If the event has not completed, enqueues the kernel `kernel_number`, which
// waits for the event. The reference to the event is released by that kernel.
void __wgcl_capture_times(clk_event_t event, __global ulong *value, ulong kernel_number) {
    if (__wgcl_has_ended(event)) {
        __wgcl_report_times(event, value);
        return;
    }
    __wgcl_retain_event(event);
    clk_event_t wait = event;
    ndrange_t range = __wgcl_ndrange(1, 0, 0, 0, 1, 1, 1, 0, 0, 0);
    queue_t queue = (queue_t)(0xffffffff00000000ul | WGCL_RECORD_WORDS);
    int at = __wgcl_enqueue(queue, 0, range, 1, &wait, (__generic clk_event_t *)0, kernel_number, 0, 4);
    if (at < 0) {
        __wgcl_release_event(event);
        return;
    }
    __global char *captures = __wgcl_captures(at);
    *(__global ulong *)captures = (ulong)event;
    *(__global ulong *__global *)(captures + 8) = value;
}

// The body of the kernel that __wgcl_capture_times enqueues.
void __wgcl_captured_times(uint at) {
    __global char *captures = __wgcl_captured(at);
    clk_event_t event = (clk_event_t)*(__global ulong *)captures;
    __wgcl_report_times(event, *(__global ulong *__global *)(captures + 8));
    __wgcl_release_event(event);
}
