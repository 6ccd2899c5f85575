# copy, avx512: 48 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm3
vmovups 0x10(%rdi),%xmm5
vmovups 0x20(%rdi),%xmm7
vmovups 0x30(%rdi),%xmm9
vmovups %xmm3,(%rsi)
vmovups %xmm5,0x10(%rsi)
vmovups %xmm7,0x20(%rsi)
vmovups %xmm9,0x30(%rsi)
pop %rbp
ret

# copy, avx2: 48 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm3
vmovups 0x10(%rdi),%xmm5
vmovups 0x20(%rdi),%xmm7
vmovups 0x30(%rdi),%xmm9
vmovups %xmm3,(%rsi)
vmovups %xmm5,0x10(%rsi)
vmovups %xmm7,0x20(%rsi)
vmovups %xmm9,0x30(%rsi)
pop %rbp
ret

# copy, sse4.2: no value of type f32x4

# copy, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldp     q3, q4, [x0]
ldp     q6, q7, [x0, #0x20]
stp     q3, q4, [x1]
stp     q6, q7, [x1, #0x20]
ldp     x29, x30, [sp], #0x10
ret

# indexed_pair, avx512: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi,%rsi),%xmm4
vmovups 0x10(%rdi,%rsi),%xmm6
vmovups %xmm4,(%rdx,%rsi)
vmovups %xmm6,0x10(%rdx,%rsi)
pop %rbp
ret

# indexed_pair, avx2: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi,%rsi),%xmm4
vmovups 0x10(%rdi,%rsi),%xmm6
vmovups %xmm4,(%rdx,%rsi)
vmovups %xmm6,0x10(%rdx,%rsi)
pop %rbp
ret

# indexed_pair, sse4.2: no value of type f32x4

# indexed_pair, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
add     x5, x0, x1
ldp     q5, q7, [x5]
add     x9, x2, x1
stp     q5, q7, [x9]
ldp     x29, x30, [sp], #0x10
ret

# interrupted_pair, avx512: 24 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%r8
mov %r8,(%rsi)
mov 8(%rdi),%rdi
mov %rdi,8(%rsi)
pop %rbp
ret

# interrupted_pair, avx2: 24 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%r8
mov %r8,(%rsi)
mov 8(%rdi),%rdi
mov %rdi,8(%rsi)
pop %rbp
ret

# interrupted_pair, sse4.2: 24 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%r8
mov %r8,(%rsi)
mov 8(%rdi),%rdi
mov %rdi,8(%rsi)
pop %rbp
ret

# interrupted_pair, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     x3, [x0]
str     x3, [x1]
ldr     x6, [x0, #0x8]
str     x6, [x1, #0x8]
ldp     x29, x30, [sp], #0x10
ret

# shifted_index, avx512: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
shl $2,%esi
movslq %esi,%rsi
mov (%rdi,%rsi),%eax
add 0x100(%rdi,%rsi),%eax
pop %rbp
ret

# shifted_index, avx2: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
shl $2,%esi
movslq %esi,%rsi
mov (%rdi,%rsi),%eax
add 0x100(%rdi,%rsi),%eax
pop %rbp
ret

# shifted_index, sse4.2: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
shl $2,%esi
movslq %esi,%rsi
mov (%rdi,%rsi),%eax
add 0x100(%rdi,%rsi),%eax
pop %rbp
ret

# shifted_index, armv8.2: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
sbfiz   x3, x1, #0x2, #0x1e
add     x6, x0, x3
ldr     w7, [x6]
ldr     w9, [x6, #0x100]
add     w0, w7, w9
ldp     x29, x30, [sp], #0x10
ret

# extended_index, avx512: 15 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# extended_index, avx2: 15 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# extended_index, sse4.2: 15 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# extended_index, armv8.2: 20 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     w0, [x0, w1, uxtw #0x2]
ldp     x29, x30, [sp], #0x10
ret

# element_products, avx512: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd 4(%rdi),%xmm3
vmulps (%rsi),%xmm3,%xmm6
vfmadd231ps 0x20(%rsi),%xmm3,%xmm6
vmovups %xmm6,(%rsi)
pop %rbp
ret

# element_products, avx2: 30 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd 4(%rdi),%xmm3
vmulps (%rsi),%xmm3,%xmm6
vfmadd231ps 0x20(%rsi),%xmm3,%xmm6
vmovups %xmm6,(%rsi)
pop %rbp
ret

# element_products, sse4.2: no value of type f32x4

# element_products, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     s3, [x0, #0x4]
ldr     q5, [x1]
ldr     q7, [x1, #0x20]
fmul    v16.4s, v5.4s, v3.s[0]
fmla    v16.4s, v7.4s, v3.s[0]
str     q16, [x1]
ldp     x29, x30, [sp], #0x10
ret

# differences, avx512: 33 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x20(%rdi),%xmm2
vxorps 0x24{1to4},%xmm2,%xmm4
vaddps (%rdi),%xmm4,%xmm6
vmovups %xmm6,(%rdi)
pop %rbp
ret

# differences, avx2: 31 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x20(%rdi),%xmm2
vxorps 0x20,%xmm2,%xmm4
vaddps (%rdi),%xmm4,%xmm6
vmovups %xmm6,(%rdi)
pop %rbp
ret

# differences, sse4.2: no value of type f32x4

# differences, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
fsub    v6.4s, v2.4s, v4.4s
str     q6, [x0]
ldp     x29, x30, [sp], #0x10
ret

# multiply_add, avx512: 43 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vmovups 0x40(%rdi),%xmm4
vpmulld 0x20(%rdi),%xmm2,%xmm6
vpaddd %xmm4,%xmm6,%xmm8
vpmulld %xmm4,%xmm2,%xmm10
vpsubd %xmm10,%xmm8,%xmm12
vmovups %xmm12,(%rdi)
pop %rbp
ret

# multiply_add, avx2: 43 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vmovups 0x40(%rdi),%xmm4
vpmulld 0x20(%rdi),%xmm2,%xmm6
vpaddd %xmm4,%xmm6,%xmm8
vpmulld %xmm4,%xmm2,%xmm10
vpsubd %xmm10,%xmm8,%xmm12
vmovups %xmm12,(%rdi)
pop %rbp
ret

# multiply_add, sse4.2: no value of type i32x4

# multiply_add, armv8.2: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
ldr     q6, [x0, #0x40]
mov     v16.16b, v6.16b
mla     v16.4s, v2.4s, v4.4s
mls     v16.4s, v2.4s, v6.4s
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# multiply_add, sve-256: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
ldr     q6, [x0, #0x40]
mov     z16.d, z6.d
mla     v16.4s, v2.4s, v4.4s
mls     v16.4s, v2.4s, v6.4s
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# halves, avx512: 47 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxwd (%rdi),%xmm2
vpmovdw %xmm2,%xmm4
vcvtph2ps %xmm4,%xmm6
vaddps %xmm6,%xmm6,%xmm8
vcvtps2ph $0,%xmm8,%xmm10
vpmovzxwd %xmm10,%xmm12
vpmovdw %xmm12,(%rdi)
pop %rbp
ret

# halves, avx2: 67 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpmovzxwd (%rdi),%xmm2
vpand 0x50,%xmm2,%xmm4
vpackusdw %xmm4,%xmm4,%xmm6
vcvtph2ps %xmm6,%xmm8
vaddps %xmm8,%xmm8,%xmm10
vcvtps2ph $0,%xmm10,%xmm12
vpmovzxwd %xmm12,%xmm14
vpand 0x50,%xmm14,%xmm0
vpackusdw %xmm0,%xmm0,%xmm0
vmovq %xmm0,(%rdi)
pop %rbp
ret

# halves, sse4.2: no value of type i32x4

# halves, armv8.2: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     d2, [x0]
fcvtl   v4.4s, v2.4h
fadd    v6.4s, v4.4s, v4.4s
fcvtn   v16.4h, v6.4s
str     d16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# active_lanes, avx512: 51 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vmovups 0x20(%rdi),%xmm4
vpcmpnled %xmm4,%xmm2,%k6
vpcmpeqd %xmm4,%xmm2,%k1
kandnw %k6,%k1,%k1
kandnw %k6,%k1,%k1
vpblendmd %xmm2,%xmm4,%xmm14{%k1}
vmovups %xmm14,(%rdi)
pop %rbp
ret

# active_lanes, avx2: 45 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%xmm2
vmovups 0x20(%rdi),%xmm4
vpcmpgtd %xmm4,%xmm2,%xmm6
vpcmpeqd %xmm4,%xmm2,%xmm8
vandnps %xmm6,%xmm8,%xmm10
vandnps %xmm6,%xmm10,%xmm12
vblendvps %xmm12,%xmm2,%xmm4,%xmm14
vmovups %xmm14,(%rdi)
pop %rbp
ret

# active_lanes, sse4.2: no value of type i32x4

# active_lanes, armv8.2: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
cmgt    v6.4s, v2.4s, v4.4s
cmeq    v16.4s, v2.4s, v4.4s
and     v16.16b, v6.16b, v16.16b
bsl     v16.16b, v2.16b, v4.16b
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# active_lanes, sve-128: 52 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     q2, [x0]
ldr     q4, [x0, #0x20]
ptrue   p6.s, vl4
cmpgt   p8.s, p6/z, z2.s, z4.s
cmpeq   p10.s, p6/z, z2.s, z4.s
bic     p12.b, p8/z, p8.b, p10.b
bic     p14.b, p8/z, p8.b, p12.b
sel     z16.s, p14, z2.s, z4.s
str     q16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# constants_in_a_loop, avx512: 75 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
jmp 0x0000000000000044
nopw (%rax,%rax)
nopw (%rax,%rax)
nop
vmovups (%rdi,%r8),%xmm9
vmulps 0x4C{1to4},%xmm9,%xmm11
vaddps 0x4C{1to4},%xmm11,%xmm13
vmovups %xmm13,(%rdi,%r8)
lea 0x10(%r8),%r8
cmp %rsi,%r8
jb 0x0000000000000020
pop %rbp
ret

# constants_in_a_loop, avx2: 71 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %r8d,%r8d
jmp 0x0000000000000040
nopw (%rax,%rax)
nopw (%rax,%rax)
nop
vmovups (%rdi,%r8),%xmm9
vmulps 0x50,%xmm9,%xmm11
vaddps 0x50,%xmm11,%xmm13
vmovups %xmm13,(%rdi,%r8)
lea 0x10(%r8),%r8
cmp %rsi,%r8
jb 0x0000000000000020
pop %rbp
ret

# constants_in_a_loop, sse4.2: no value of type f32x4

# constants_in_a_loop, armv8.2: 68 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
mov     w4, #0x0
ldr     q7, 0x50
b       0x34
nop
nop
nop
ldr     q16, [x0, x4]
fmul    v16.4s, v16.4s, v7.4s
fadd    v16.4s, v16.4s, v7.4s
str     q16, [x0, x4]
add     x4, x4, #0x10
cmp     x4, x1
b.lo    0x20
ldp     x29, x30, [sp], #0x10
ret

# late_predecessor, avx512: 47 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %rsi,%rdi
jge 0x000000000000002A
mov %rdi,%r8
imul %rsi,%r8
mov %r8,(%rdx)
nopw (%rax,%rax)
imul %rsi,%rdi
mov %rdi,8(%rdx)
pop %rbp
ret
mov %rdi,(%rdx)
jmp 0x0000000000000020

# late_predecessor, avx2: 47 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %rsi,%rdi
jge 0x000000000000002A
mov %rdi,%r8
imul %rsi,%r8
mov %r8,(%rdx)
nopw (%rax,%rax)
imul %rsi,%rdi
mov %rdi,8(%rdx)
pop %rbp
ret
mov %rdi,(%rdx)
jmp 0x0000000000000020

# late_predecessor, sse4.2: 47 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %rsi,%rdi
jge 0x000000000000002A
mov %rdi,%r8
imul %rsi,%r8
mov %r8,(%rdx)
nopw (%rax,%rax)
imul %rsi,%rdi
mov %rdi,8(%rdx)
pop %rbp
ret
mov %rdi,(%rdx)
jmp 0x0000000000000020

# late_predecessor, armv8.2: 56 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
cmp     x0, x1
b.ge    0x30
mul     x6, x0, x1
str     x6, [x2]
nop
nop
mul     x10, x0, x1
str     x10, [x2, #0x8]
ldp     x29, x30, [sp], #0x10
ret
str     x0, [x2]
b       0x20

