# axpy, avx512: 35 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd 0x24,%xmm6
vmovups (%rdi),%xmm7
vfmadd213ps (%rsi,%rdx,4),%xmm7,%xmm6
vmovups %xmm6,0x10(%rsi,%rdx,4)
pop %rbp
ret

# axpy, avx2: 35 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd 0x24,%xmm6
vmovups (%rdi),%xmm7
vfmadd213ps (%rsi,%rdx,4),%xmm7,%xmm6
vmovups %xmm6,0x10(%rsi,%rdx,4)
pop %rbp
ret

# axpy, sse4.2: no value of type f32x4

# axpy, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q4, [x0]
add     x6, x1, x2, lsl #0x2
ldr     q16, [x6]
fmov    v17.4s, #2.5
fmla    v16.4s, v17.4s, v4.4s
str     q16, [x6, #0x10]
ldp     x29, x30, [sp], #0x10
ret

# splat_loads, avx512: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd (%rdi),%xmm3
vpbroadcastq 8(%rdi),%xmm5
vmovups %xmm3,(%rsi)
vmovupd %xmm5,0x10(%rsi)
pop %rbp
ret

# splat_loads, avx2: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd (%rdi),%xmm3
vpbroadcastq 8(%rdi),%xmm5
vmovups %xmm3,(%rsi)
vmovupd %xmm5,0x10(%rsi)
pop %rbp
ret

# splat_loads, sse4.2: no value of type f64x2

# splat_loads, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ld1r    {v3.4s}, [x0]
ldr     d5, [x0, #0x8]
dup     v7.2d, v5.d[0]
stp     q3, q7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# masked_copy, avx512: 35 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm3
xor %edi,%edi
vpbroadcastd %edi,%xmm7
vpcmpnled %xmm7,%xmm3,%k1
vmovups %xmm3,(%rsi){%k1}
pop %rbp
ret

# masked_copy, avx2: 54 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm3
xor %edi,%edi
vmovd %edi,%xmm8
vpbroadcastd %xmm8,%xmm8
vpcmpgtd %xmm8,%xmm3,%xmm11
vmovmskps %xmm11,%eax
cmp $0xF,%eax
jne 0x000000000000002F
vmovups %xmm3,(%rsi)
jmp 0x0000000000000034
vmaskmovps %xmm3,%xmm11,(%rsi)
pop %rbp
ret

# masked_copy, sse4.2: no value of type m32x4

# masked_copy, armv8.2: 104 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q3, [x0]
cmgt    v5.4s, v3.4s, #0x0
uminv   s7, v5.4s
fmov    w9, s7
cbz     w9, 0x28
str     q3, [x1]
ldp     x29, x30, [sp], #0x10
ret
fmov    w14, s5
cbz     w14, 0x34
st1     {v3.s}[0], [x1]
add     x0, x1, #0x4
mov     w2, v5.s[1]
cbz     w2, 0x44
st1     {v3.s}[1], [x0]
add     x0, x1, #0x8
mov     w2, v5.s[2]
cbz     w2, 0x54
st1     {v3.s}[2], [x0]
add     x0, x1, #0xc
mov     w1, v5.s[3]
cbz     w1, 0x20
st1     {v3.s}[3], [x0]
b       0x20

# masked_copy, sve-128: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q3, [x0]
ptrue   p5.s, vl4
cmpgt   p7.s, p5/z, z3.s, #0x0
st1w    {z3.s}, p7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# gather, avx512: 39 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rsi),%xmm3
kxnorw %k5,%k5,%k5
vpxor %xmm8,%xmm8,%xmm8
kmovq %k5,%k1
vgatherdps (%rdi,%xmm3,4),%xmm8{%k1}
vmovups %xmm8,(%rsi)
pop %rbp
ret

# gather, avx2: 37 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rsi),%xmm3
vpcmpeqd %xmm5,%xmm5,%xmm5
vpxor %xmm8,%xmm8,%xmm8
vmovaps %xmm5,%xmm10
vgatherdps %xmm10,(%rdi,%xmm3,4),%xmm8
vmovups %xmm8,(%rsi)
pop %rbp
ret

# gather, sse4.2: no value of type f32x4

# gather, armv8.2: 72 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q3, [x1]
fmov    w5, s3
add     x7, x0, w5, sxtw #0x2
ldr     s18, [x7]
mov     w11, v3.s[1]
add     x13, x0, w11, sxtw #0x2
ld1     {v18.s}[1], [x13]
mov     w2, v3.s[2]
add     x2, x0, w2, sxtw #0x2
ld1     {v18.s}[2], [x2]
mov     w2, v3.s[3]
add     x0, x0, w2, sxtw #0x2
ld1     {v18.s}[3], [x0]
str     q18, [x1]
ldp     x29, x30, [sp], #0x10
ret

# gather, sve-128: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q3, [x1]
ptrue   p5.s, vl4
ld1w    {z7.s}, p5/z, [x0, z3.s, sxtw #0x2]
str     q7, [x1]
ldp     x29, x30, [sp], #0x10
ret

# minimum, avx512: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vminps 0x20(%rdi),%xmm2,%xmm4
vpshufd $0x1B,%xmm4,%xmm6
vmovups %xmm6,(%rdi)
pop %rbp
ret

# minimum, avx2: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vminps 0x20(%rdi),%xmm2,%xmm4
vpshufd $0x1B,%xmm4,%xmm6
vmovups %xmm6,(%rdi)
pop %rbp
ret

# minimum, sse4.2: no value of type f32x4

# minimum, armv8.2: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
fcmgt   v7.4s, v4.4s, v2.4s
bsl     v7.16b, v2.16b, v4.16b
ldr     q16, 0x30
tbl     v16.16b, {v7.16b}, v16.16b
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# long_products, avx512: 25 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovupd (%rdi),%xmm2
vpmullq 0x20(%rdi),%xmm2,%xmm4
vmovupd %xmm4,(%rdi)
pop %rbp
ret

# long_products, avx2: 60 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovupd (%rdi),%xmm2
vmovupd 0x20(%rdi),%xmm4
vpsrlq $0x20,%xmm2,%xmm6
vpsrlq $0x20,%xmm4,%xmm8
vpmuludq %xmm4,%xmm6,%xmm10
vpmuludq %xmm2,%xmm8,%xmm12
vpaddq %xmm12,%xmm10,%xmm14
vpsllq $0x20,%xmm14,%xmm0
vpmuludq %xmm4,%xmm2,%xmm1
vpaddq %xmm0,%xmm1,%xmm0
vmovupd %xmm0,(%rdi)
pop %rbp
ret

# long_products, sse4.2: no value of type i64x2

# long_products, armv8.2: 56 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
rev64   v6.4s, v4.4s
mul     v16.4s, v2.4s, v6.4s
uaddlp  v16.2d, v16.4s
shl     v16.2d, v16.2d, #0x20
xtn     v17.2s, v2.2d
xtn     v18.2s, v4.2d
umlal   v16.2d, v17.2s, v18.2s
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# combined, avx512: 53 bytes
endbr64
push %rbp
mov %rsp,%rbp
imul %rsi,%rdi
add %rdi,%rdx
shl $5,%rsi
xor %rsi,%rdx
movabs $0x123456789ABC,%rax
and %rax,%rdx
movabs $0xFF00FF00FF00FF00,%rcx
mov %rdx,%rax
or %rcx,%rax
pop %rbp
ret

# combined, avx2: 53 bytes
endbr64
push %rbp
mov %rsp,%rbp
imul %rsi,%rdi
add %rdi,%rdx
shl $5,%rsi
xor %rsi,%rdx
movabs $0x123456789ABC,%rax
and %rax,%rdx
movabs $0xFF00FF00FF00FF00,%rcx
mov %rdx,%rax
or %rcx,%rax
pop %rbp
ret

# combined, sse4.2: 53 bytes
endbr64
push %rbp
mov %rsp,%rbp
imul %rsi,%rdi
add %rdi,%rdx
shl $5,%rsi
xor %rsi,%rdx
movabs $0x123456789ABC,%rax
and %rax,%rdx
movabs $0xFF00FF00FF00FF00,%rcx
mov %rdx,%rax
or %rcx,%rax
pop %rbp
ret

# combined, armv8.2: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
madd    x4, x0, x1, x2
eor     x6, x4, x1, lsl #0x5
mov     x10, #0x9abc
movk    x10, #0x5678, lsl #0x10
movk    x10, #0x1234, lsl #0x20
and     x14, x6, x10
orr     x0, x14, #0xff00ff00ff00ff00
ldp     x29, x30, [sp], #0x10
ret

# bytes, avx512: 37 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxbd (%rdi),%xmm3
mov $3,%edi
vpbroadcastd %edi,%xmm7
vpmulld %xmm7,%xmm3,%xmm9
vpmovdb %xmm9,(%rsi)
pop %rbp
ret

# bytes, avx2: 63 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxbd (%rdi),%xmm3
mov $3,%edi
vmovd %edi,%xmm8
vpbroadcastd %xmm8,%xmm8
vpmulld %xmm8,%xmm3,%xmm11
vpand 0x40,%xmm11,%xmm13
vpand 0x50,%xmm13,%xmm15
vpackusdw %xmm15,%xmm15,%xmm0
vpackuswb %xmm0,%xmm0,%xmm0
vmovd %xmm0,(%rsi)
pop %rbp
ret

# bytes, sse4.2: no value of type i32x4

# bytes, armv8.2: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     s3, [x0]
uxtl    v5.8h, v3.8b
uxtl    v7.4s, v5.4h
movi    v16.4s, #0x3
mul     v16.4s, v7.4s, v16.4s
xtn     v16.4h, v16.4s
xtn     v16.8b, v16.8h
str     s16, [x1]
ldp     x29, x30, [sp], #0x10
ret

# bytes, sve-128: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl4
ld1b    {z5.s}, p3/z, [x0]
movi    v7.4s, #0x3
mul     v16.4s, v5.4s, v7.4s
st1b    {z16.s}, p3, [x1]
ldp     x29, x30, [sp], #0x10
ret

# mask_bits, avx512: 29 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vpcmpnltud 0x10(%rdi),%xmm2,%k4
kmovb %k4,%eax
and $0xF,%eax
pop %rbp
ret

# mask_bits, avx2: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x10(%rdi),%xmm2
vpminud (%rdi),%xmm2,%xmm4
vpcmpeqd %xmm2,%xmm4,%xmm6
vmovmskps %xmm6,%eax
pop %rbp
ret

# mask_bits, sse4.2: no value of type m32x4

# mask_bits, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldp     q2, q3, [x0]
cmhs    v5.4s, v2.4s, v3.4s
ldr     q7, 0x30
and     v16.16b, v5.16b, v7.16b
addv    s16, v16.4s
fmov    w0, s16
ldp     x29, x30, [sp], #0x10
ret

# mask_bits, sve-128: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldp     q2, q3, [x0]
ptrue   p5.s, vl4
cmphs   p7.s, p5/z, z2.s, z3.s
ldr     q16, 0x30
uaddv   d16, p7, z16.s
fmov    w0, s16
ldp     x29, x30, [sp], #0x10
ret

