// Functions that several files of built-in kernels call. This file precedes them in every program.

// The position of the work-item in the NDRange, row by row. A global offset is included.
size_t position(void) {
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}
