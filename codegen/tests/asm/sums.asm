# chain, avx512: 52 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpxor 0x20(%rdi),%ymm2,%ymm4
vprold $7,%ymm4,%ymm6
vpaddd 0x34{1to8},%ymm4,%ymm8
vpaddd 0x40(%rdi),%ymm8,%ymm10
vpaddd %ymm6,%ymm10,%ymm12
vmovups %ymm12,(%rdi)
vzeroupper
pop %rbp
ret

# chain, avx2: 59 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpxor 0x20(%rdi),%ymm2,%ymm4
vpslld $7,%ymm4,%ymm6
vpsrld $0x19,%ymm4,%ymm8
vpor %ymm8,%ymm6,%ymm10
vpaddd 0x40,%ymm4,%ymm12
vpaddd 0x40(%rdi),%ymm12,%ymm14
vpaddd %ymm10,%ymm14,%ymm0
vmovups %ymm0,(%rdi)
vzeroupper
pop %rbp
ret

# chain, sse4.2: no value of type i32x8

# chain, armv8.2: no value of type i32x8

# chain, armv8: no value of type i32x8

# chain, sve-128: no value of type i32x8

# chain, sve-256: 68 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ldr     z6, [x0, #0x2, mul vl]
eor     z16.d, z2.d, z4.d
lsl     z17.s, z16.s, #0x7
lsr     z18.s, z16.s, #0x19
orr     z17.d, z17.d, z18.d
ldr     s18, 0x44
mov     z18.s, s18
add     z20.s, z17.s, z18.s
add     z22.s, z20.s, z6.s
add     z24.s, z16.s, z22.s
str     z24, [x0]
ldp     x29, x30, [sp], #0x10
ret

# chain, sve-512: 76 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z16.s}, p2/z, [x6]
ld1w    {z17.s}, p2/z, [x0, #0x1, mul vl]
eor     z16.d, z4.d, z16.d
lsl     z18.s, z16.s, #0x7
lsr     z19.s, z16.s, #0x19
orr     z18.d, z18.d, z19.d
ldr     s20, 0x4c
mov     z22.s, s20
add     z24.s, z18.s, z22.s
add     z26.s, z24.s, z17.s
add     z28.s, z16.s, z26.s
st1w    {z28.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# carried, avx512: 86 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
vpxor %xmm7,%xmm7,%xmm7
nopw (%rax,%rax)
nopl (%rax,%rax)
vmovups (%rdi,%r8),%ymm13
vpxor %xmm12,%xmm12,%xmm12
vpxor %ymm12,%ymm13,%ymm14
vpternlogd $0xF,%ymm13,%ymm13,%ymm13
vpsubd %ymm13,%ymm14,%ymm0
vpaddd %ymm0,%ymm13,%ymm0
vpaddd %ymm7,%ymm0,%ymm7
lea 0x20(%r8),%r8
cmp %rsi,%r8
jb 0x0000000000000020
vmovups %ymm7,(%rdi)
vzeroupper
pop %rbp
ret

# carried, avx2: 86 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
vpxor %xmm7,%xmm7,%xmm7
nopw (%rax,%rax)
nopl (%rax,%rax)
vmovups (%rdi,%r8),%ymm10
vpxor %xmm12,%xmm12,%xmm12
vpxor %ymm12,%ymm10,%ymm14
vpcmpeqd %ymm0,%ymm0,%ymm0
vpxor %ymm0,%ymm10,%ymm0
vpsubd %ymm0,%ymm14,%ymm1
vpaddd %ymm1,%ymm0,%ymm0
vpaddd %ymm7,%ymm0,%ymm7
lea 0x20(%r8),%r8
cmp %rsi,%r8
jb 0x0000000000000020
vmovups %ymm7,(%rdi)
vzeroupper
pop %rbp
ret

# carried, sse4.2: no value of type i32x8

# carried, armv8.2: no value of type i32x8

# carried, armv8: no value of type i32x8

# carried, sve-128: no value of type i32x8

# carried, sve-256: 84 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
mov     w5, #0x0
movi    v7.2d, #0x0
movi    v16.2d, #0x0
ptrue   p0.s, vl8
nop
nop
add     x12, x0, x5
ldr     z18, [x12]
eor     z17.d, z18.d, z16.d
not     z20.s, p0/m, z18.s
sub     z22.s, z17.s, z20.s
add     z24.s, z7.s, z22.s
add     z7.s, z24.s, z20.s
add     x5, x5, #0x20
cmp     x5, x1
b.lo    0x20
str     z7, [x0]
ldp     x29, x30, [sp], #0x10
ret

# carried, sve-512: 84 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
mov     w5, #0x0
movi    v7.2d, #0x0
ptrue   p0.s, vl8
movi    v16.2d, #0x0
ptrue   p1.s, vl16
nop
add     x13, x0, x5
ld1w    {z17.s}, p0/z, [x13]
eor     z19.d, z17.d, z16.d
not     z22.s, p1/m, z17.s
sub     z24.s, z19.s, z22.s
add     z26.s, z7.s, z24.s
add     z7.s, z26.s, z22.s
add     x5, x5, #0x20
cmp     x5, x1
b.lo    0x20
st1w    {z7.s}, p0, [x0]
ldp     x29, x30, [sp], #0x10
ret

