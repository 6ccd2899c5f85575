// Pointers that a kernel stores in global memory are valid in the next one, whatever its arguments and their order.
// requires: int64

struct node {
    int value;
    global struct node *next;
};

// A list through the nodes in steps of `step`, from the first one.
kernel void build(global struct node *nodes, global int *log, int count, int step)
{
    int at = 0;
    for (int i = 0; i < count; i++) {
        int next = (at + step) % count;
        nodes[at].value = at;
        nodes[at].next = i + 1 < count ? &nodes[next] : 0;
        at = next;
    }
    log[0] = count;
}
// run: build global=1
// arg nodes: long[34]
// arg log: int[1]
// arg count: int = 17
// arg step: int = 5
// expect nodes: _
// expect log: 17

kernel void walk(global int *out, global struct node *first)
{
    int sum = 0, length = 0;
    for (global struct node *node = first; node; node = node->next) {
        out[2 + length] = node->value;
        sum += node->value;
        length++;
        node->value += 100;
    }
    out[0] = length;
    out[1] = sum;
}
// run: walk global=1
// arg out: int[20]
// arg first: same nodes
// expect out if i == 0: 17
// expect out if i == 1: 136
// expect out if i >= 2 && i < 19: (i - 2) * 5 % 17
// expect first: _

// The nodes are not arguments of this kernel; it finds them through the buffer.
kernel void through(global int *out, global struct node *unused, global ulong *heads)
{
    global struct node *node = (global struct node *)heads[0];
    out[0] = node->next->next->value;
    global struct node *global *table = (global struct node *global *)(heads + 1);
    out[1] = table[0]->value + table[1]->value;
}
kernel void heads(global struct node *nodes, global ulong *table)
{
    table[0] = (ulong)nodes;
    table[1] = (ulong)(nodes + 3);
    ((global struct node *global *)table)[2] = &nodes[4];
}
// run: heads global=1
// arg nodes: same nodes
// arg table: ulong[3]
// expect table: _
// run: through global=1
// arg out: int[2]
// arg unused: same nodes
// arg heads: same table
// expect out: {110, 207}

// Two buffers with pointers to each other, bound in the reverse order.
kernel void cross(global long *a, global long *b)
{
    ((global long *global *)a)[0] = b + 1;
    ((global long *global *)b)[0] = a + 1;
    a[1] = 11;
    b[1] = 22;
}
kernel void follow(global int *out, global long *ym, global long *xm)
{
    global long *global *y = (global long *global *)ym;
    global long *global *x = (global long *global *)xm;
    out[0] = *x[0];
    out[1] = *y[0];
    out[2] = x[0] == (global long *)(y + 1);
    out[3] = y[0] == (global long *)(y + 1);
    out[4] = y[0] - (global long *)x;
    *x[0] = 33;
}
// run: cross global=1
// arg a: long[2]
// arg b: long[2]
// expect a: _
// expect b: _
// run: follow global=1
// arg out: int[5]
// arg ym: same b
// arg xm: same a
// expect out: {22, 11, 1, 0, 1}
// expect ym if i == 1: 33
