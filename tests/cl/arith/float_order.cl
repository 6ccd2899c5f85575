// Without relaxed-math options the compiler may not reorder: each of these differs if it does.

kernel void order(global const float *in, global float *out, global float *quotient)
{
    float x = in[0], big = in[1], tiny = in[2];
    out[0] = (x + big) - big;
    out[1] = (big + tiny) - big;
    out[2] = (x + tiny) + tiny;
    out[3] = x - (x - tiny);
    quotient[0] = x * big / big;
}
// run: order global=1
// arg in: float[3] = {3, 1e10, 1e-8}
// arg out: float[4]
// arg quotient: float[1]
// expect out: {0, 0, 3, 0}
// expect quotient within 2.5 ulp: {3}
