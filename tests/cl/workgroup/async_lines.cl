// cl_khr_extended_async_copies: rectangles and boxes, in both directions, with elements of several sizes.
// requires: cl_khr_extended_async_copies

kernel void rectangle(global const int *a, global int *out)
{
    local int tile[4 * 6];
    event_t event = async_work_group_copy_2D2D(tile, 1, a, 2, sizeof(int), 5, 4, 10, 6, 0);
    wait_group_events(1, &event);
    event = async_work_group_copy_2D2D(out, 0, tile, 1, sizeof(int), 5, 4, 6, 5, 0);
    wait_group_events(1, &event);
}
// run: rectangle global=8 local=8
// arg a: int[40] = i
// arg out: int[20]
// expect out: i / 5 * 10 + i % 5 + 2

kernel void bytes(global const char *a, global char *out)
{
    local char tile[64];
    event_t event = async_work_group_copy_2D2D(tile, 0, a, 1, 3, 3, 2, 4, 3, 0);
    wait_group_events(1, &event);
    event = async_work_group_copy_2D2D(out, 0, tile, 0, 1, 9, 2, 9, 9, 0);
    wait_group_events(1, &event);
}
// run: bytes global=4 local=4
// arg a: char[27] = i
// arg out: char[18]
// expect out: 3 + i / 9 * 12 + i % 9

kernel void box(global const float2 *a, global float2 *out)
{
    local float2 tile[64];
    event_t event = async_work_group_copy_3D3D(tile, 0, a, 1, sizeof(float2), 2, 3, 2, 4, 16, 2, 6, 0);
    wait_group_events(1, &event);
    event = async_work_group_copy(out, tile, 12, 0);
    wait_group_events(1, &event);
}
// run: box global=6 local=3
// arg a: float2[64] = i
// arg out: float2[12]
// expect out: ((i / 2 / 6) * 16 + (i / 2 % 6 / 2) * 4 + i / 2 % 2 + 1) * 2 + i % 2
