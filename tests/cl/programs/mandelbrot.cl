// The Mandelbrot set by escape time, compared with points whose result is known.

kernel void mandelbrot(global ushort *out, float x0, float y0, float step_size, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 c = (float2)(x0 + x * step_size, y0 + y * step_size), z = 0.0f;
    int n = 0;
    while (n < limit && dot(z, z) <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        n++;
    }
    out[y * get_global_size(0) + x] = n;
}
// The real axis from -2 to 1.5 in steps of a half, and i, where the orbits are exact.
// run: mandelbrot global=8x1
// arg out: ushort[8]
// arg x0: float = -2
// arg y0: float = 0
// arg step_size: float = 0.5
// arg limit: int = 1000
// expect out: {1000, 1000, 1000, 1000, 1000, 5, 3, 2}
// run: mandelbrot global=4x4 local=2x2
// arg out: ushort[16]
// arg x0: float = 0
// arg y0: float = 1
// arg step_size: float = 1
// arg limit: int = 100
// expect out: {100, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
