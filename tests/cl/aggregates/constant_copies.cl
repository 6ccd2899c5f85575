// A constant structure with an address can be the initial value of another, as a whole or as a member.

typedef struct {
    constant int *place;
    int value;
} Item;
typedef struct {
    Item first, second;
} Pair;

constant int numbers[3] = {5, 6, 7};
constant Item item = {numbers + 1, 40};
constant Item copy = item;
constant Pair pair = {item, {numbers + 2, 50}};
constant Item member = pair.second;

kernel void k(global int *out)
{
    out[0] = *copy.place + copy.value;
    out[1] = *pair.first.place + pair.first.value;
    out[2] = *member.place + member.value;
}
// run: k global=1
// arg out: int[3]
// expect out: {46, 46, 57}
