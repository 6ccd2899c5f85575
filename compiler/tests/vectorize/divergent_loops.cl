// Loops that the lanes of a vector leave at different times.

kernel void break_at(global const int *x, global int *z, int n) {
    int i = get_global_id(0), k;
    for (k = 0; k < n; k++)
        if (x[k] == i) break;
    z[i] = k;
}

kernel void skip(global const int *x, global int *z, int n) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < n; k++) {
        if (x[k] < i) continue;
        sum += x[k];
    }
    z[i] = sum;
}

kernel void cases(global const int *x, global int *z) {
    int i = get_global_id(0);
    switch (x[i]) {
    case 0: z[i] = 5; break;
    case 1: z[i] = i; break;
    default: z[i] = x[i];
    }
}

// Limited by the throughput of gathers: the work-items run in sequence.
kernel void sparse_row(global const int *start, global const int *column, global const float *value, global const float *x, global float *z) {
    int row = get_global_id(0);
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
    z[row] = sum;
}
