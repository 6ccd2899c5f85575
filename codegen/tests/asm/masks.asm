# masked_copy, avx512: 38 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm3
xor %edi,%edi
vpbroadcastd %edi,%ymm7
vpcmpnled %ymm7,%ymm3,%k1
vmovups %ymm3,(%rsi){%k1}
vzeroupper
pop %rbp
ret

# masked_copy, avx2: 57 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm3
xor %edi,%edi
vmovd %edi,%xmm8
vpbroadcastd %xmm8,%ymm8
vpcmpgtd %ymm8,%ymm3,%ymm11
vmovmskps %ymm11,%eax
cmp $0xFF,%eax
jne 0x000000000000002F
vmovups %ymm3,(%rsi)
jmp 0x0000000000000034
vmaskmovps %ymm3,%ymm11,(%rsi)
vzeroupper
pop %rbp
ret

# masked_copy, sse4.2: no value of type m32x8

# masked_copy, armv8.2: no value of type m32x8

# masked_copy, armv8: no value of type m32x8

# masked_copy, sve-128: no value of type m32x8

# masked_copy, sve-256: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z3, [x0]
ptrue   p5.s, vl8
cmpgt   p7.s, p5/z, z3.s, #0x0
st1w    {z3.s}, p7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# masked_copy, sve-512: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1w    {z5.s}, p3/z, [x0]
cmpgt   p7.s, p3/z, z5.s, #0x0
st1w    {z5.s}, p7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# select, avx512: 39 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vcmplt_oqps %ymm4,%ymm2,%k6
vblendmps %ymm2,%ymm4,%ymm8{%k6}
vmovups %ymm8,(%rdi)
vzeroupper
pop %rbp
ret

# select, avx2: 37 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vcmplt_oqps %ymm4,%ymm2,%ymm6
vblendvps %ymm6,%ymm2,%ymm4,%ymm8
vmovups %ymm8,(%rdi)
vzeroupper
pop %rbp
ret

# select, sse4.2: no value of type f32x8

# select, armv8.2: no value of type f32x8

# select, armv8: no value of type f32x8

# select, sve-128: no value of type f32x8

# select, sve-256: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ptrue   p6.s, vl8
fcmgt   p8.s, p6/z, z4.s, z2.s
sel     z16.s, p8, z2.s, z4.s
str     z16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# select, sve-512: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z16.s}, p2/z, [x6]
fcmgt   p10.s, p2/z, z16.s, z4.s
mov     z16.s, p10/m, z4.s
st1w    {z16.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# any, avx512: 45 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpcmpeqd 0x20(%rdi),%ymm2,%k4
kortestb %k4,%k4
je 0x0000000000000023
kmovb %k4,%eax
vzeroupper
pop %rbp
ret
mov $0xFFFFFFFF,%eax
vzeroupper
pop %rbp
ret

# any, avx2: 43 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpcmpeqd 0x20(%rdi),%ymm2,%ymm4
vptest %ymm4,%ymm4
je 0x0000000000000021
vmovmskps %ymm4,%eax
vzeroupper
pop %rbp
ret
mov $0xFFFFFFFF,%eax
vzeroupper
pop %rbp
ret

# any, sse4.2: no value of type m32x8

# any, armv8.2: no value of type m32x8

# any, armv8: no value of type m32x8

# any, sve-128: no value of type m32x8

# any, sve-256: 64 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ptrue   p6.s, vl8
cmpeq   p0.s, p6/z, z2.s, z4.s
b.eq    0x34
adr     x17, 0x40
ldr     z16, [x17]
uaddv   d16, p0, z16.s
fmov    w0, s16
ldp     x29, x30, [sp], #0x10
ret
mov     w0, #-0x1
ldp     x29, x30, [sp], #0x10
ret

# any, sve-512: 72 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z16.s}, p2/z, [x6]
ptrue   p11.s, vl16
cmpeq   p0.s, p2/z, z4.s, z16.s
b.eq    0x3c
adr     x17, 0x80
ldr     z16, [x17]
uaddv   d17, p0, z16.s
fmov    w0, s17
ldp     x29, x30, [sp], #0x10
ret
mov     w0, #-0x1
ldp     x29, x30, [sp], #0x10
ret

