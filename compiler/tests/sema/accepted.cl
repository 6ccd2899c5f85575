// Valid OpenCL C 1.2: all parts of the language once.
typedef struct { float x, y; int id; } particle;
typedef struct node { int value; __global struct node *next; } node;
struct __attribute__((packed)) P { char c; int i; short s; };
typedef union { uint u; float f; uchar b[4]; } pun;
struct outer { int a; struct { int b; union { int c; float d; }; } in; struct { int e; }; float3 v; int arr[3][2]; };
enum color { RED, GREEN = 5, BLUE, NEG = -3 };
typedef enum { A1, B1 } e2;
__constant float weights[] = { 1.0f, 2.0f, 3, [5] = 4.5f };
__constant int table[2][3] = { {1,2,3}, {4,5,6} };
__constant int flat[2][3] = { 1,2,3,4,5,6 };
__constant char msg[] = "hello";
__constant char *__constant pmsg = "world";
__constant float4 vecs[2] = { (float4)(1,2,3,4), (float4)(0.5f) };
__constant particle parts[] = { { 1, 2, 3 }, { .id = 7, .x = 1.5f } };
__constant int sz = sizeof(struct outer) + sizeof(particle[3]);
constant int *constant cp = &table[1][2];
constant float4 swz = ((float4)(1,2,3,4)).wzyx;
constant uint m = ~0u >> 3 | (1 << 4);
constant pun pu = { .f = 1.0f };
_Static_assert(sizeof(float3) == 16, "vec3");
_Static_assert(sizeof(struct P) == 7, "packed");
// The conformance suite takes the size of `event_t`.
_Static_assert(sizeof(event_t) > 0, "event");
_Static_assert(BLUE == 6, "enum");
int helper(int a, float b);
static inline float sq(float x) { return x * x; }
float4 quad(float4 v, float s) { return v * s + s; }
particle mk(float x) { particle p = { x, .id = 3 }; p.y = p.x; return p; }
int helper(int a, float b) { return a + (int)b; }
float sum(const float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
__global int *pick(__global int *a, __global int *b, int c) { return c ? a : b; }
int __attribute__((overloadable)) ov(int x) { return x; }
float __attribute__((overloadable)) ov(float x) { return x; }
float2 __attribute__((overloadable)) ov(float2 x) { return x; }
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void k(__global float *out, __global const float *restrict in, __local float *scratch, const int n, float4 f4, uchar uc,
                __constant float *cc, particle byval, __global node *list)
{
    __local float tile[16][17];
    __local particle lp;
    const size_t gid = get_global_id(0);
    int lid = get_local_id(0);
    float a[4] = { 1, 2 }, *p = a, b = *p++;
    int x = 3, y = x << 2, z = x > y ? x : y;
    float4 v = (float4)(1.0f, 2.0f, v.xy);
    v.xy = v.zw; v.s0 += 1; v.lo = v.hi; v.even *= 2.0f; v.odd = (float2)(1, 2);
    float8 w8 = (float8)(v, v); v = w8.hi; w8.s7 = 3; w8.s01 = (float2)0;
    int4 iv = convert_int4(v), jv = convert_int4_sat_rte(v); uint4 uv = as_uint4(v);
    iv = iv < jv; iv = !iv; iv = iv && jv; iv = iv ? jv : (int4)5; iv = -iv; iv = ~iv; iv <<= 2; iv >>= jv; iv++; --iv;
    v = iv ? v : v * 2; v = v + 1; v = 2 * v; v += 1.0; v = v / 3;
    uchar4 c4 = (uchar4)(1, 2, 3, 4); c4 = c4 + (uchar)1; c4 = c4 * 2; 
    x = y = z; x += 1.5f; uc += 3; x <<= uc;
    for (int i = 0, j = 10; i < j; ++i, --j) { if (i == 3) continue; if (j == 4) break; x += i * j; }
    while (x-- > 0) { do { y++; } while (y < 3); }
    switch (x) { case 1: case 2: y = 1; break; case RED: { y = 2; } case 10 ... 20: y = 4; break; default: y = 5; }
    goto end;
    { int q; q = 2; x = q; }
end:
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    scratch[lid] = in[gid] + weights[lid & 3] + cc[0] + table[1][2];
    tile[lid][0] = 1; lp.x = 2; lp = byval;
    swap(&x, &y);
    particle q = mk(2.0f), r; r = q; r.x = mk(3).y; (&r)->id++;
    struct outer o = { 1, { 2, { 3 } }, { 4 }, (float3)(1,2,3), { { 1, 2 }, 3, 4 } };
    o.in.c = o.e; o.v.x = 3; o.arr[1][0]++;
    pun pp; pp.f = 2.5f; x = pp.b[2] + pp.u;
    float s = sum(a, 4) + sq(x) + quad(v, s).x + ov(1) + ov(2.0f) + ov((float2)(1)).y;
    s += dot(v, v) + length(v.xyz) + fmax(v, 0.0f).x + max(x, y) + min(gid, (size_t)4) + clamp(s, 0.0f, 1.0f) + mix(s, s, 0.5f);
    s += sin(s) + cos(v).x + pow(s, 2.0f) + native_exp(s) + fabs(s) + sqrt(v).y + hypot(s, s) + ldexp(s, 2) + pown(s, 3) + fmod(s, 2.0f);
    float ip; s += modf(s, &ip); float4 ipv; v = fract(v, &ipv); int ex; s = frexp(s, &ex); s = sincos(s, &ip); v = sincos(v, (__local float4 *)scratch);
    v = remquo(v, v, (__global int4 *)list); s = lgamma_r(s, (__global int*)list);
    __global node *cur = list; while (cur) { x += cur->value; cur = cur->next; }
    vstore4(v, gid, out); v = vload4(0, in + 4); vstore_half4(v, 0, (__global half *)out); v = vload_half4(1, (__global half *)out);
    vstore3(v.xyz, 1, out); s += vload_half(0, (const __global half *)in);
    atomic_add((volatile __global int *)out, 1); atomic_inc((__local int *)scratch); atomic_cmpxchg((__global uint *)out, 1, 2); atom_max((__global int*)out, 3);
    event_t ev = async_work_group_copy(scratch, in, 16, 0); wait_group_events(1, &ev); prefetch(in, 3);
    v = shuffle(v, (uint4)(3,2,1,0)); w8 = shuffle2(v, v, (uint8)(1));
    x = isnan(s) + any(iv) + all(iv < jv); iv = isless(v, v); v = select(v, v, iv); v = bitselect(v, v, v); s = select(s, s, x); x = select(1, 2, 3u);
    x = (int)(gid), y = vec_step(float3); x = sizeof(x + 1.0f); y = sizeof a / sizeof a[0]; x = __builtin_astype(s, int);
    int arr2[] = { [3] = 1, 2 }; x = arr2[4];
    out[gid] = s + x + y + ((particle){ 1, 2, 3 }).x + ((float4)(1)).w + (float)uc + ip + b;
    printf("hi %d %f %v4hlf %s\n", x, s, v, "str");
    p = &a[1]; x = p - a; x = p > a && p != 0 && !p; p += 2; p -= 1; p = p + 1; p = 1 + p; x = 2[a];
    int (*pa)[3] = 0; int m2[2][3]; pa = m2; x = pa[1][2] + *(*(m2 + 1) + 2) + (*pa)[0];
    void *vp = p; p = vp; char *chp = (char *)p; x = *(int *)(chp + 2); size_t addr = (size_t)p; p = (float *)addr; uintptr_t up = (uintptr_t)out;
    int h = helper(1, 2); x = ({ int t = h; t + 1; });
    x = upsample((short)1, (ushort)2) + mul24(x, y) + mad24(x, y, 3) + abs(x) + clz(x) + rotate(x, 3) + popcount(uc) + mul_hi(x, y) + hadd(x, y);
    v = cross(v, v); v.xyz = cross(v.xyz, v.xyz); s = distance(v.xy, v.zw); v = normalize(v); v = step(0.5f, v); v = smoothstep(0.0f, 1.0f, v); v = nan((uint4)1);
    long l = 0x7fffffffffffffff; ulong ul = 18446744073709551615UL; double d = 1.0; d = sin(d) + d * s; half hh = 1; hh = hh * 2; l = 1L << 40;
    const float cf = 3; s = cf + 0x1.8p3f + 1e-3f + .5f + 'a';
    e2 ee = B1; enum color ec = GREEN; ee = 1; x = ec == GREEN;
    if (gid >= n) return;
}
kernel void k2(global int *p, int a) { k(0, 0, 0, a, 0, 1, 0, (particle){1,2,3}, 0); }
kernel void elvis(global int *p, int n) { p[0] = p[n++] ?: 3; float f = n ?: 1.5f; p[1] = f; }
kernel void truths(global bool *a, local bool *b, global int *c) { b[0] = a[0]; c[0] = b[0] || a[1]; a[2] = c[0]; }
