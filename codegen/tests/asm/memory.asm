# gather, avx512: 42 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rsi),%ymm3
kxnorw %k5,%k5,%k5
vpxor %xmm8,%xmm8,%xmm8
kmovq %k5,%k1
vgatherdps (%rdi,%ymm3,4),%ymm8{%k1}
vmovups %ymm8,(%rsi)
vzeroupper
pop %rbp
ret

# gather, avx2: 40 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rsi),%ymm3
vpcmpeqd %ymm5,%ymm5,%ymm5
vpxor %xmm8,%xmm8,%xmm8
vmovaps %ymm5,%ymm10
vgatherdps %ymm10,(%rdi,%ymm3,4),%ymm8
vmovups %ymm8,(%rsi)
vzeroupper
pop %rbp
ret

# gather, sse4.2: no value of type f32x8

# gather, armv8.2: no value of type f32x8

# gather, armv8: no value of type f32x8

# gather, sve-128: no value of type f32x8

# gather, sve-256: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z3, [x1]
ptrue   p5.s, vl8
ld1w    {z7.s}, p5/z, [x0, z3.s, sxtw #0x2]
str     z7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# gather, sve-512: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1w    {z5.s}, p3/z, [x1]
ld1w    {z7.s}, p3/z, [x0, z5.s, sxtw #0x2]
st1w    {z7.s}, p3, [x1]
ldp     x29, x30, [sp], #0x10
ret

# scatter, avx512: 37 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rsi),%zmm3
vmovups 0x40(%rsi),%zmm5
kxnorw %k1,%k1,%k1
vpscatterdd %zmm5,(%rdi,%zmm3,4){%k1}
vzeroupper
pop %rbp
ret

# scatter, avx2: no value of type i32x16

# scatter, sse4.2: no value of type i32x16

# scatter, armv8.2: no value of type i32x16

# scatter, armv8: no value of type i32x16

# scatter, sve-128: no value of type i32x16

# scatter, sve-256: no value of type i32x16

# scatter, sve-512: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z3, [x1]
ldr     z5, [x1, #0x1, mul vl]
ptrue   p7.s, vl16
st1w    {z5.s}, p7, [x0, z3.s, sxtw #0x2]
ldp     x29, x30, [sp], #0x10
ret

# bytes, avx512: 40 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxbd (%rdi),%ymm3
mov $3,%edi
vpbroadcastd %edi,%ymm7
vpmulld %ymm7,%ymm3,%ymm9
vpmovdb %ymm9,(%rsi)
vzeroupper
pop %rbp
ret

# bytes, avx2: 73 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxbd (%rdi),%ymm3
mov $3,%edi
vmovd %edi,%xmm8
vpbroadcastd %xmm8,%ymm8
vpmulld %ymm8,%ymm3,%ymm11
vpand 0x60,%ymm11,%ymm13
vpand 0x80,%ymm13,%ymm15
vpackusdw %ymm15,%ymm15,%ymm0
vpermq $8,%ymm0,%ymm0
vpackuswb %xmm0,%xmm0,%xmm0
vmovq %xmm0,(%rsi)
vzeroupper
pop %rbp
ret

# bytes, sse4.2: no value of type i32x8

# bytes, armv8.2: no value of type i32x8

# bytes, armv8: no value of type i32x8

# bytes, sve-128: no value of type i32x8

# bytes, sve-256: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1b    {z7.s}, p3/z, [x0]
mov     z16.s, #0x3
mul     z7.s, p3/m, z7.s, z16.s
st1b    {z7.s}, p3, [x1]
ldp     x29, x30, [sp], #0x10
ret

# bytes, sve-512: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1b    {z16.s}, p3/z, [x0]
mov     z7.s, #0x3
ptrue   p0.s, vl16
mul     z16.s, p0/m, z16.s, z7.s
st1b    {z16.s}, p3, [x1]
ldp     x29, x30, [sp], #0x10
ret

# counter, avx512: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rsi,%r8
lock xadd %r8d,(%rdi)
lock orl $0,(%rsp)
mov %rsi,%rax
lock cmpxchg %r8d,4(%rdi)
pop %rbp
ret

# counter, avx2: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rsi,%r8
lock xadd %r8d,(%rdi)
lock orl $0,(%rsp)
mov %rsi,%rax
lock cmpxchg %r8d,4(%rdi)
pop %rbp
ret

# counter, sse4.2: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rsi,%r8
lock xadd %r8d,(%rdi)
lock orl $0,(%rsp)
mov %rsi,%rax
lock cmpxchg %r8d,4(%rdi)
pop %rbp
ret

# counter, armv8.2: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldaddal w1, w3, [x0]
dmb     ish
add     x6, x0, #0x4
mov     x0, x1
casal   w0, w3, [x6]
ldp     x29, x30, [sp], #0x10
ret

# counter, armv8: 68 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldaxr   w3, [x0]
add     w16, w3, w1
stlxr   w17, w16, [x0]
cbnz    w17, 0x8
dmb     ish
dmb     ish
add     x6, x0, #0x4
ldaxr   w0, [x6]
cmp     w0, w1
b.ne    0x38
stlxr   w17, w3, [x6]
cbnz    w17, 0x24
dmb     ish
ldp     x29, x30, [sp], #0x10
ret

# counter, sve-128: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldaddal w1, w3, [x0]
dmb     ish
add     x6, x0, #0x4
mov     x0, x1
casal   w0, w3, [x6]
ldp     x29, x30, [sp], #0x10
ret

# copy_loop, avx512: 51 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
nopw (%rax,%rax)
nopw (%rax,%rax)
nopl (%rax)
mov (%rsi,%r8),%r9
mov %r9,(%rdi,%r8)
lea 8(%r8),%r8
cmp %rdx,%r8
jb 0x0000000000000020
pop %rbp
ret

# copy_loop, avx2: 51 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
nopw (%rax,%rax)
nopw (%rax,%rax)
nopl (%rax)
mov (%rsi,%r8),%r9
mov %r9,(%rdi,%r8)
lea 8(%r8),%r8
cmp %rdx,%r8
jb 0x0000000000000020
pop %rbp
ret

# copy_loop, sse4.2: 51 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
nopw (%rax,%rax)
nopw (%rax,%rax)
nopl (%rax)
mov (%rsi,%r8),%r9
mov %r9,(%rdi,%r8)
lea 8(%r8),%r8
cmp %rdx,%r8
jb 0x0000000000000020
pop %rbp
ret

# copy_loop, armv8.2: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
mov     w5, #0x0
nop
ldr     x8, [x1, x5]
str     x8, [x0, x5]
add     x5, x5, #0x8
cmp     x5, x2
b.lo    0x10
ldp     x29, x30, [sp], #0x10
ret

# pieces, avx512: 71 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x10(%rdi),%xmm3
vinserti128 $1,0x32(%rdi,%rsi,4),%ymm3,%ymm5
vmovups %ymm5,(%rsi)
vmovupd 0x100(%rdi),%xmm8
vinserti32x4 $1,0xD0(%rdi),%zmm8,%zmm10
vinserti32x4 $2,(%rsi),%zmm10,%zmm12
vinserti32x4 $3,0x70(%rdi),%zmm12,%zmm14
vmovupd %zmm14,0x20(%rsi)
vzeroupper
pop %rbp
ret

# pieces, avx2: no value of type i64x8

# pieces, sse4.2: no value of type i64x8

# pieces, armv8.2: no value of type i64x8

# pieces, armv8: no value of type i64x8

# pieces, sve-128: no value of type i64x8

# pieces, sve-256: no value of type i64x8

# pieces, sve-512: no load_pieces.f32 [v0 + 0x10], [v0 + v1 * 4 + 0x32]

