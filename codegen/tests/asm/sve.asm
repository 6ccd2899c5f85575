# compare_under_mask, avx512: 70 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
mov $0x10,%esi
vpbroadcastd %esi,%ymm6
vpxor %xmm8,%xmm8,%xmm8
vbroadcastss %xmm8,%ymm10
vpcmpnleud 0x20(%rdi),%ymm6,%k1
vcmpgt_oqps %ymm10,%ymm2,%k1{%k1}
kortestb %k1,%k1
jae 0x000000000000003B
vzeroupper
pop %rbp
ret
vmovups %ymm2,(%rdi){%k1}
vzeroupper
pop %rbp
ret

# compare_under_mask, avx2: 115 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
mov $0x10,%esi
vmovd %esi,%xmm7
vpbroadcastd %xmm7,%ymm7
vmovups 0x20(%rdi),%ymm10
vpxor 0xA0,%ymm10,%ymm12
vmovups 0x80,%ymm14
vpcmpgtd %ymm12,%ymm14,%ymm0
vpxor %xmm1,%xmm1,%xmm1
vbroadcastss %xmm1,%ymm1
vcmpgt_oqps %ymm1,%ymm2,%ymm1
vandps %ymm1,%ymm0,%ymm0
vmovmskps %ymm0,%eax
cmp $0xFF,%eax
jne 0x0000000000000057
vzeroupper
pop %rbp
ret
vmovmskps %ymm0,%eax
cmp $0xFF,%eax
jne 0x0000000000000069
vmovups %ymm2,(%rdi)
jmp 0x000000000000006E
vmaskmovps %ymm2,%ymm0,(%rdi)
vzeroupper
pop %rbp
ret

# compare_under_mask, sse4.2: no value of type m32x8

# compare_under_mask, armv8.2: no value of type m32x8

# compare_under_mask, armv8: no value of type m32x8

# compare_under_mask, sve-128: no value of type m32x8

# compare_under_mask, sve-256: 56 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ptrue   p6.s, vl8
cmplo   p0.s, p6/z, z4.s, #0x10
fcmgt   p0.s, p0/z, z2.s, #0.0
nots    p12.b, p6/z, p0.b
b.ne    0x2c
ldp     x29, x30, [sp], #0x10
ret
st1w    {z2.s}, p0, [x0]
ldp     x29, x30, [sp], #0x10
ret

# compare_under_mask, sve-512: 60 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z16.s}, p2/z, [x6]
cmplo   p0.s, p2/z, z16.s, #0x10
fcmgt   p0.s, p0/z, z4.s, #0.0
nots    p14.b, p2/z, p0.b
b.ne    0x30
ldp     x29, x30, [sp], #0x10
ret
st1w    {z4.s}, p0, [x0]
ldp     x29, x30, [sp], #0x10
ret

# index_and_displacement, avx512: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi,%rsi,4),%ymm3
vaddps 0x20(%rdi,%rsi,4),%ymm3,%ymm5
vmovups %ymm5,0x64(%rdi,%rsi,4)
vzeroupper
pop %rbp
ret

# index_and_displacement, avx2: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi,%rsi,4),%ymm3
vaddps 0x20(%rdi,%rsi,4),%ymm3,%ymm5
vmovups %ymm5,0x64(%rdi,%rsi,4)
vzeroupper
pop %rbp
ret

# index_and_displacement, sse4.2: no value of type f32x8

# index_and_displacement, armv8.2: no value of type f32x8

# index_and_displacement, armv8: no value of type f32x8

# index_and_displacement, sve-128: no value of type f32x8

# index_and_displacement, sve-256: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1w    {z5.s}, p3/z, [x0, x1, lsl #0x2]
add     x7, x0, x1, lsl #0x2
ldr     z16, [x7, #0x1, mul vl]
fadd    z16.s, z5.s, z16.s
add     x13, x7, #0x4
str     z16, [x13, #0x3, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# index_and_displacement, sve-512: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1w    {z5.s}, p3/z, [x0, x1, lsl #0x2]
add     x7, x0, x1, lsl #0x2
add     x9, x7, #0x20
ld1w    {z16.s}, p3/z, [x9]
fadd    z16.s, z5.s, z16.s
add     x15, x7, #0x24
st1w    {z16.s}, p3, [x15, #0x1, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# halves, avx512: 51 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxwd (%rdi),%ymm2
vpmovdw %ymm2,%xmm4
vcvtph2ps %xmm4,%ymm6
vmulps %ymm6,%ymm6,%ymm8
vcvtps2ph $0,%ymm8,%xmm10
vpmovzxwd %xmm10,%ymm12
vpmovdw %ymm12,0x10(%rdi)
vzeroupper
pop %rbp
ret

# halves, avx2: 82 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxwd (%rdi),%ymm2
vpand 0x60,%ymm2,%ymm4
vpackusdw %ymm4,%ymm4,%ymm6
vpermq $8,%ymm6,%ymm8
vcvtph2ps %xmm8,%ymm10
vmulps %ymm10,%ymm10,%ymm12
vcvtps2ph $0,%ymm12,%xmm14
vpmovzxwd %xmm14,%ymm0
vpand 0x60,%ymm0,%ymm0
vpackusdw %ymm0,%ymm0,%ymm0
vpermq $8,%ymm0,%ymm0
vmovups %xmm0,0x10(%rdi)
vzeroupper
pop %rbp
ret

# halves, sse4.2: no value of type i32x8

# halves, armv8.2: no value of type i32x8

# halves, armv8: no value of type i32x8

# halves, sve-128: no value of type i32x8

# halves, sve-256: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1h    {z4.s}, p2/z, [x0]
fcvt    z6.s, p2/m, z4.h
fmul    z16.s, z6.s, z6.s
fcvt    z16.h, p2/m, z16.s
st1h    {z16.s}, p2, [x0, #0x1, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# halves, sve-512: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1h    {z4.s}, p2/z, [x0]
ptrue   p6.s, vl16
fcvt    z16.s, p6/m, z4.h
fmul    z16.s, z16.s, z16.s
fcvt    z16.h, p6/m, z16.s
add     x14, x0, #0x10
st1h    {z16.s}, p2, [x14]
ldp     x29, x30, [sp], #0x10
ret

# gather_longs, avx512: 49 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vpcmpltud 0x40,%xmm2,%k4
vpxor %xmm7,%xmm7,%xmm7
kmovq %k4,%k1
vpgatherdq (%rdi,%xmm2,8),%ymm7{%k1}
vmovupd %ymm7,0x40(%rdi)
vzeroupper
pop %rbp
ret

# gather_longs, avx2: 72 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vmovups 0x60,%xmm4
vpxor 0x50,%xmm4,%xmm6
vpxor 0x50,%xmm2,%xmm8
vpcmpgtd %xmm8,%xmm6,%xmm10
vpmovsxdq %xmm10,%ymm12
vpxor %xmm15,%xmm15,%xmm15
vmovaps %ymm12,%ymm0
vpgatherdq %ymm0,(%rdi,%xmm2,8),%ymm15
vmovupd %ymm15,0x40(%rdi)
vzeroupper
pop %rbp
ret

# gather_longs, sse4.2: no value of type i64x4

# gather_longs, armv8.2: no value of type i64x4

# gather_longs, armv8: no value of type i64x4

# gather_longs, sve-128: no value of type i64x4

# gather_longs, sve-256: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, 0x30
ptrue   p6.s, vl4
cmphi   p8.s, p6/z, z4.s, z2.s
punpklo p0.h, p8.b
uunpklo z16.d, z2.s
ld1d    {z16.d}, p0/z, [x0, z16.d, sxtw #0x3]
str     z16, [x0, #0x2, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# gather_longs, sve-512: 52 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, 0x40
ptrue   p6.s, vl4
cmphi   p8.s, p6/z, z4.s, z2.s
punpklo p0.h, p8.b
uunpklo z16.d, z2.s
ld1d    {z16.d}, p0/z, [x0, z16.d, sxtw #0x3]
ptrue   p0.d, vl4
st1d    {z16.d}, p0, [x0, #0x1, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# constants, avx512: 63 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x60,%ymm2
vpaddd 0x40,%ymm2,%ymm9
mov $0x7FFFFFFF,%esi
vpbroadcastd %esi,%ymm8
mov $0x12345678,%r10d
vpbroadcastd %r10d,%ymm12
vpternlogd $0x6A,%ymm12,%ymm8,%ymm9
vmovups %ymm9,(%rdi)
vzeroupper
pop %rbp
ret

# constants, avx2: 70 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x80,%ymm2
vpaddd 0x60,%ymm2,%ymm4
mov $0x7FFFFFFF,%esi
vmovd %esi,%xmm9
vpbroadcastd %xmm9,%ymm9
vpand %ymm9,%ymm4,%ymm12
mov $0x12345678,%eax
vmovd %eax,%xmm0
vpbroadcastd %xmm0,%ymm0
vpxor %ymm0,%ymm12,%ymm0
vmovups %ymm0,(%rdi)
vzeroupper
pop %rbp
ret

# constants, sse4.2: no value of type i32x8

# constants, armv8.2: no value of type i32x8

# constants, armv8: no value of type i32x8

# constants, sve-128: no value of type i32x8

# constants, sve-256: 56 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
index   z2.s, #0x0, #0x1
adr     x17, 0x40
ldr     z4, [x17]
add     z6.s, z2.s, z4.s
mov     z16.s, #0x7fffffff
and     z16.d, z6.d, z16.d
ldr     s17, 0x60
mov     z17.s, s17
eor     z16.d, z16.d, z17.d
str     z16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# constants, sve-512: 60 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
index   z2.s, #0x0, #0x1
adr     x17, 0x40
ldr     z4, [x17]
add     z6.s, z2.s, z4.s
mov     z16.s, #0x7fffffff
and     z16.d, z6.d, z16.d
ldr     s17, 0x80
mov     z17.s, s17
eor     z16.d, z16.d, z17.d
ptrue   p0.s, vl8
st1w    {z16.s}, p0, [x0]
ldp     x29, x30, [sp], #0x10
ret

# reverse, avx512: 68 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vmovups 0x60,%ymm7
vpermi2d %ymm2,%ymm2,%ymm7
vmovups 0x80,%ymm11
vpermi2d %ymm4,%ymm2,%ymm11
vmovups 0xA0,%ymm15
vpermi2d %ymm11,%ymm7,%ymm15
vmovups %ymm15,(%rdi)
vzeroupper
pop %rbp
ret

# reverse, avx2: 103 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vmovups 0x80,%ymm6
vpermps %ymm2,%ymm6,%ymm8
vmovups 0xA0,%ymm10
vpermps %ymm2,%ymm10,%ymm12
vmovups 0xC0,%ymm14
vpermps %ymm4,%ymm14,%ymm0
vblendps $0xF0,%ymm0,%ymm12,%ymm0
vmovups 0xE0,%ymm1
vpermps %ymm8,%ymm1,%ymm1
vmovups 0x100,%ymm2
vpermps %ymm0,%ymm2,%ymm0
vblendps $0xAA,%ymm0,%ymm1,%ymm0
vmovups %ymm0,(%rdi)
vzeroupper
pop %rbp
ret

# reverse, sse4.2: no value of type f32x8

# reverse, armv8.2: no value of type f32x8

# reverse, armv8: no value of type f32x8

# reverse, sve-128: no value of type f32x8

# reverse, sve-256: 64 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
rev     z6.s, z2.s
uzp1    z16.s, z2.s, z4.s
adr     x17, 0x40
ldr     z17, [x17]
adr     x17, 0x60
ldr     z18, [x17]
tbl     z17.s, {z6.s}, z17.s
tbl     z16.s, {z16.s}, z18.s
orr     z18.d, z17.d, z16.d
str     z18, [x0]
ldp     x29, x30, [sp], #0x10
ret

# reverse, sve-512: 72 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z16.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z18.s}, p2/z, [x6]
index   z17.s, #0x7, #-1
tbl     z17.s, {z16.s}, z17.s
splice  z16.s, p2, z16.s, z18.s
index   z18.s, #0x0, #0x2
tbl     z18.s, {z16.s}, z18.s
splice  z17.s, p2, z17.s, z18.s
adr     x17, 0x80
ldr     z22, [x17]
tbl     z24.s, {z17.s}, z22.s
st1w    {z24.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

