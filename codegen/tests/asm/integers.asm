# quotient_and_remainder, avx512: 19 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %edx,%edx
mov %rdi,%rax
div %esi
xor %edx,%eax
pop %rbp
ret

# quotient_and_remainder, avx2: 19 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %edx,%edx
mov %rdi,%rax
div %esi
xor %edx,%eax
pop %rbp
ret

# quotient_and_remainder, sse4.2: 19 bytes
endbr64
push %rbp
mov %rsp,%rbp
xor %edx,%edx
mov %rdi,%rax
div %esi
xor %edx,%eax
pop %rbp
ret

# quotient_and_remainder, armv8.2: 28 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
udiv    w3, w0, w1
msub    w5, w3, w1, w0
eor     w0, w3, w5
ldp     x29, x30, [sp], #0x10
ret

# wide_products, avx512: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovupd (%rdi),%ymm2
vpmullq 0x20(%rdi),%ymm2,%ymm4
vmovupd %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# wide_products, avx2: 63 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovupd (%rdi),%ymm2
vmovupd 0x20(%rdi),%ymm4
vpsrlq $0x20,%ymm2,%ymm6
vpsrlq $0x20,%ymm4,%ymm8
vpmuludq %ymm4,%ymm6,%ymm10
vpmuludq %ymm2,%ymm8,%ymm12
vpaddq %ymm12,%ymm10,%ymm14
vpsllq $0x20,%ymm14,%ymm0
vpmuludq %ymm4,%ymm2,%ymm1
vpaddq %ymm0,%ymm1,%ymm0
vmovupd %ymm0,(%rdi)
vzeroupper
pop %rbp
ret

# wide_products, sse4.2: no value of type i64x4

# wide_products, armv8.2: no value of type i64x4

# wide_products, armv8: no value of type i64x4

# wide_products, sve-128: no value of type i64x4

# wide_products, sve-256: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z5, [x0]
ldr     z4, [x0, #0x1, mul vl]
ptrue   p6.s, vl8
mul     z5.d, p6/m, z5.d, z4.d
str     z5, [x0]
ldp     x29, x30, [sp], #0x10
ret

# wide_products, sve-512: 44 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.d, vl4
ld1d    {z16.d}, p2/z, [x0]
add     x6, x0, #0x20
ld1d    {z17.d}, p2/z, [x6]
ptrue   p0.s, vl16
mul     z16.d, p0/m, z16.d, z17.d
st1d    {z16.d}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# three_operand_logic, avx512: 34 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm4
vmovups 0x20(%rdi),%ymm5
vpternlogd $0x6A,0x40(%rdi),%ymm5,%ymm4
vmovups %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# three_operand_logic, avx2: 31 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpand 0x20(%rdi),%ymm2,%ymm4
vpxor 0x40(%rdi),%ymm4,%ymm6
vmovups %ymm6,(%rdi)
vzeroupper
pop %rbp
ret

# three_operand_logic, sse4.2: no value of type i32x8

# three_operand_logic, armv8.2: no value of type i32x8

# three_operand_logic, armv8: no value of type i32x8

# three_operand_logic, sve-128: no value of type i32x8

# three_operand_logic, sve-256: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ldr     z6, [x0, #0x2, mul vl]
and     z16.d, z2.d, z4.d
eor     z16.d, z16.d, z6.d
str     z16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# three_operand_logic, sve-512: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z17.s}, p2/z, [x6]
ld1w    {z16.s}, p2/z, [x0, #0x1, mul vl]
and     z17.d, z4.d, z17.d
eor     z16.d, z17.d, z16.d
st1w    {z16.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# reverse, avx512: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpshufd $0x1B,%ymm2,%ymm4
vmovups %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# reverse, avx2: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpshufd $0x1B,%ymm2,%ymm4
vmovups %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# reverse, sse4.2: no value of type i32x8

# reverse, armv8.2: no value of type i32x8

# reverse, armv8: no value of type i32x8

# reverse, sve-128: no value of type i32x8

# reverse, sve-256: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
adr     x17, 0x40
ldr     z4, [x17]
tbl     z6.s, {z2.s}, z4.s
str     z6, [x0]
ldp     x29, x30, [sp], #0x10
ret

# reverse, sve-512: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
adr     x17, 0x40
ldr     z6, [x17]
tbl     z16.s, {z4.s}, z6.s
st1w    {z16.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# ticks, avx512: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
rdtsc
shl $0x20,%rdx
or %rax,%rdx
mov %rdx,(%rdi)
pop %rbp
ret

# ticks, avx2: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
rdtsc
shl $0x20,%rdx
or %rax,%rdx
mov %rdx,(%rdi)
pop %rbp
ret

# ticks, sse4.2: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
rdtsc
shl $0x20,%rdx
or %rax,%rdx
mov %rdx,(%rdi)
pop %rbp
ret

# ticks, armv8.2: 24 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
mrs     x2, cntvct_el0
str     x2, [x0]
ldp     x29, x30, [sp], #0x10
ret

# byte_rotations, avx512: 52 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vprold $0x10,%ymm2,%ymm4
vmovupd 0x20(%rdi),%ymm6
vprolq $0x20,%ymm6,%ymm8
vprolq $0x28,%ymm8,%ymm10
vmovups %ymm4,(%rdi)
vmovupd %ymm10,0x20(%rdi)
vzeroupper
pop %rbp
ret

# byte_rotations, avx2: 54 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpshufb 0x40,%ymm2,%ymm4
vmovupd 0x20(%rdi),%ymm6
vpshufd $0xB1,%ymm6,%ymm8
vpshufb 0x60,%ymm8,%ymm10
vmovups %ymm4,(%rdi)
vmovupd %ymm10,0x20(%rdi)
vzeroupper
pop %rbp
ret

# byte_rotations, sse4.2: no value of type i64x4

# byte_rotations, armv8.2: no value of type i64x4

# byte_rotations, armv8: no value of type i64x4

# byte_rotations, sve-128: no value of type i64x4

# byte_rotations, sve-256: 68 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
lsl     z6.s, z2.s, #0x10
lsr     z16.s, z2.s, #0x10
orr     z16.d, z6.d, z16.d
lsl     z17.d, z4.d, #0x20
lsr     z18.d, z4.d, #0x20
orr     z17.d, z17.d, z18.d
lsl     z18.d, z17.d, #0x28
lsr     z20.d, z17.d, #0x18
orr     z22.d, z18.d, z20.d
str     z16, [x0]
str     z22, [x0, #0x1, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# byte_rotations, sve-512: 80 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ptrue   p0.d, vl4
ld1d    {z17.d}, p0/z, [x6]
lsl     z16.s, z4.s, #0x10
lsr     z18.s, z4.s, #0x10
orr     z16.d, z16.d, z18.d
lsl     z18.d, z17.d, #0x20
lsr     z20.d, z17.d, #0x20
orr     z22.d, z18.d, z20.d
lsl     z24.d, z22.d, #0x28
lsr     z26.d, z22.d, #0x18
orr     z28.d, z24.d, z26.d
st1w    {z16.s}, p2, [x0]
st1d    {z28.d}, p0, [x6]
ldp     x29, x30, [sp], #0x10
ret

