// vec_step and sizeof of every vector type.

kernel void steps(global int *out)
{
    out[0] = vec_step(float); out[1] = vec_step(int2); out[2] = vec_step(char3); out[3] = vec_step(short4); out[4] = vec_step(uint8); out[5] = vec_step(float16);
    out[6] = sizeof(char3); out[7] = sizeof(short16); out[8] = sizeof(uchar2); out[9] = sizeof(float4[2]);
}
// run: steps global=1
// arg out: int[10]
// expect out: {1, 2, 4, 4, 8, 16, 4, 32, 2, 32}
