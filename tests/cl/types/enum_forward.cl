// Enumerations that are named before their values are known, and packed ones.

typedef enum colour colour;
enum level;
int of(global colour *c);

struct node { global enum level *levels; int n; };

enum colour { red = 1, green = 2, blue = 4 };
enum level { low = -3, high = 3 };

int of(global colour *c) { return *c == green ? 100 : *c; }

enum __attribute__((packed)) small { s0, s255 = 255 };
enum minus { m = -128, p = 127 } __attribute__((packed));
enum wide { w = 256 } __attribute__((packed));
enum wide_minus { wm = -1, wp = 40000 } __attribute__((packed));
struct packed_members { enum small a; enum small b; enum wide c; };

kernel void forward(global colour *colours, global enum level *levels, global int *out, global enum small *small)
{
    struct node node;
    node.levels = levels;
    node.n = 2;
    colour c = blue;
    out[0] = of(colours);
    out[1] = of(colours + 1);
    out[2] = node.levels[1] < 0 ? -node.levels[1] : 0;
    out[3] = c;
    out[4] = sizeof(enum small) + 10 * sizeof(enum minus) + 100 * sizeof(enum wide) + 1000 * sizeof(enum wide_minus);
    out[5] = sizeof(struct packed_members);
    enum small x = s255;
    enum minus y = m;
    out[6] = x + 1;
    out[7] = y - 1;
    small[1] = x;
    small[2] = s0;
    enum inner;
    enum inner *pointer = 0;
    enum inner { i7 = 7 };
    enum inner value = i7;
    pointer = &value;
    out[8] = *pointer;
}
// run: forward global=1
// arg colours: uint[2] = {2, 4}
// arg levels: int[2] = {3, -3}
// arg out: int[9]
// arg small: uchar[4] = 9
// expect out: {100, 4, 3, 4, 4211, 4, 256, -129, 7}
// expect small: {9, 255, 0, 9}
