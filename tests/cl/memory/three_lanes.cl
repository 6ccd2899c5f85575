// Vectors of three lanes occupy the memory of four; read-only vectors may be loaded in another way than written ones.
// for: T = double, long, float, short

#define JOIN_(a) a##3
#define JOIN_2(a) JOIN_(a)
#define JOIN JOIN_2(T)
kernel void copy(global const JOIN *from, global JOIN *to)
{
    size_t i = get_global_id(0);
    to[i] = from[i] + from[i + 1];
}
// run: copy global=33
// arg from: $T3[34] = rand(-1000, 1000)
// arg to: $T3[33]
// expect to if i % 4 < 3: from[i] + from[i + 4]
