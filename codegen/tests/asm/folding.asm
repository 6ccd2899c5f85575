# load_into_add, avx512: 14 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
add (%rsi),%eax
pop %rbp
ret

# load_into_add, avx2: 14 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
add (%rsi),%eax
pop %rbp
ret

# load_into_add, sse4.2: 14 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
add (%rsi),%eax
pop %rbp
ret

# load_into_add, armv8.2: 28 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     w3, [x0]
ldr     w5, [x1]
add     w0, w3, w5
ldp     x29, x30, [sp], #0x10
ret

# load_before_store, avx512: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
movl $7,(%rsi)
add $7,%eax
pop %rbp
ret

# load_before_store, avx2: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
movl $7,(%rsi)
add $7,%eax
pop %rbp
ret

# load_before_store, sse4.2: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi),%eax
movl $7,(%rsi)
add $7,%eax
pop %rbp
ret

# load_before_store, armv8.2: 32 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     w3, [x0]
mov     w5, #0x7
str     w5, [x1]
add     w0, w3, #0x7
ldp     x29, x30, [sp], #0x10
ret

# compare_and_branch, avx512: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %esi,%edi
mov %rsi,%rax
jge 0x0000000000000014
mov %rdi,%rax
pop %rbp
ret
pop %rbp
ret

# compare_and_branch, avx2: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %esi,%edi
mov %rsi,%rax
jge 0x0000000000000014
mov %rdi,%rax
pop %rbp
ret
pop %rbp
ret

# compare_and_branch, sse4.2: 22 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp %esi,%edi
mov %rsi,%rax
jge 0x0000000000000014
mov %rdi,%rax
pop %rbp
ret
pop %rbp
ret

# compare_and_branch, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
cmp     w0, w1
mov     x3, x1
b.ge    0x1c
ldp     x29, x30, [sp], #0x10
ret
mov     x0, x3
ldp     x29, x30, [sp], #0x10
ret

# broadcast, avx512: 27 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm3
vmulps (%rsi){1to8},%ymm3,%ymm5
vmovups %ymm5,(%rdi)
vzeroupper
pop %rbp
ret

# broadcast, avx2: 26 bytes
endbr64
push %rbp
mov %rsp,%rbp
vpbroadcastd (%rsi),%ymm3
vmulps (%rdi),%ymm3,%ymm5
vmovups %ymm5,(%rdi)
vzeroupper
pop %rbp
ret

# broadcast, sse4.2: no value of type f32x8

# broadcast, armv8.2: no value of type f32x8

# broadcast, armv8: no value of type f32x8

# broadcast, sve-128: no value of type f32x8

# broadcast, sve-256: 36 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl8
ld1rw   {z5.s}, p3/z, [x1]
ldr     z7, [x0]
fmul    z16.s, z7.s, z5.s
str     z16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# broadcast, sve-512: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p3.s, vl16
ld1rw   {z5.s}, p3/z, [x1]
ptrue   p7.s, vl8
ld1w    {z16.s}, p7/z, [x0]
fmul    z16.s, z16.s, z5.s
st1w    {z16.s}, p7, [x0]
ldp     x29, x30, [sp], #0x10
ret

# fused, avx512: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x20(%rdi),%ymm4
vmovups (%rdi),%ymm5
vfmadd213ps 0x40(%rdi),%ymm5,%ymm4
vmovups %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# fused, avx2: 32 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups 0x20(%rdi),%ymm4
vmovups (%rdi),%ymm5
vfmadd213ps 0x40(%rdi),%ymm5,%ymm4
vmovups %ymm4,(%rdi)
vzeroupper
pop %rbp
ret

# fused, sse4.2: no value of type f32x8

# fused, armv8.2: no value of type f32x8

# fused, armv8: no value of type f32x8

# fused, sve-128: no value of type f32x8

# fused, sve-256: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ldr     z4, [x0, #0x1, mul vl]
ldr     z16, [x0, #0x2, mul vl]
ptrue   p0.s, vl8
fmla    z16.s, p0/m, z2.s, z4.s
str     z16, [x0]
ldp     x29, x30, [sp], #0x10
ret

# fused, sve-512: 48 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
add     x6, x0, #0x20
ld1w    {z16.s}, p2/z, [x6]
ld1w    {z17.s}, p2/z, [x0, #0x1, mul vl]
ptrue   p0.s, vl16
fmla    z17.s, p0/m, z4.s, z16.s
st1w    {z17.s}, p2, [x0]
ldp     x29, x30, [sp], #0x10
ret

