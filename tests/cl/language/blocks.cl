// Blocks: literals and variables, captures, nested blocks, blocks at program scope; none of them is enqueued.
// requires: __opencl_c_device_enqueue
// build: -cl-std=CL3.0

constant int seven = 7;
int (^constant of_program)(int) = ^int(int n) { return seven * n; };
struct two { short x; long y; };
typedef int (^unary)(int);

int around(int a)
{
    int seventeen = 17;
    unary inner = ^(int n) { return seventeen * n; };
    return inner(a + 1);
}

int with_jumps(int n)
{
    int (^sums)(int) = ^(int num) {
        int result = 1;
        for (int i = 0; i < num; i++) {
            if (i == 5)
                goto leave;
            result += i;
        }
        return 777;
    leave:
        return result;
    };
    return sums(n);
}

kernel void calls(global int *out)
{
    global int *own = out + get_global_id(0) * 12;
    int id = (int)get_global_id(0);
    int by = 3;
    int (^times)(int) = ^(int n) { return n * by + id; };
    by = 8;
    own[0] = times(7);
    own[1] = ^int(int n) { return by * n; }(11);
    own[2] = around(id);
    int (^nested)(int) = ^(int n) {
        int (^more)(int) = ^(int m) { return by * m + n; };
        return more(23);
    };
    by = 0;
    own[3] = nested(13);
    struct two t;
    t.x = 2;
    t.y = 3;
    int (^takes)(struct two, int *) = ^int(struct two s, int *p) { return s.x * s.y * p[1]; };
    int a[2] = {4, 5};
    own[4] = takes(t, a);
    // A structure is captured by value, an array by reference.
    void (^stores)(void) = ^{ a[0] = 6; own[5] = t.y; };
    t.y = 9;
    stores();
    own[6] = a[0];
    for (int k = 0; k < 3; k++) {
        int (^next)(void) = ^() { return k + 1; };
        own[7] += next() * of_program(1);
    }
    own[8] = with_jumps(7) + with_jumps(3);
    barrier(CLK_GLOBAL_MEM_FENCE);
    int (^all)(int) = ^(int n) {
        atomic_add(out + 9, n);
        barrier(CLK_GLOBAL_MEM_FENCE);
        return out[9];
    };
    own[10] = all(1);
}
// run: calls global=4 local=4
// arg out: int[48]
// expect out if i % 12 == 0: 21 + i / 12
// expect out if i % 12 == 1: 88
// expect out if i % 12 == 2: 17 * (i / 12 + 1)
// expect out if i % 12 == 3: 8 * 23 + 13
// expect out if i % 12 == 4: 30
// expect out if i % 12 == 5: 3
// expect out if i % 12 == 6: 6
// expect out if i % 12 == 7: 42
// expect out if i % 12 == 8: 11 + 777
// expect out if i == 9: 4
// expect out if i % 12 == 10: 4
