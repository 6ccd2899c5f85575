# lowest_bit, avx512: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rdi,%r8
xor %rsi,%r8
mov %rdi,%rax
je 0x000000000000001A
blsi %r8,%rax
pop %rbp
ret
pop %rbp
ret

# lowest_bit, avx2: 28 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rdi,%r8
xor %rsi,%r8
mov %rdi,%rax
je 0x000000000000001A
blsi %r8,%rax
pop %rbp
ret
pop %rbp
ret

# lowest_bit, sse4.2: 35 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov %rdi,%rax
xor %rsi,%rax
mov %rdi,%rsi
je 0x000000000000001E
mov %rax,%rsi
neg %rsi
and %rsi,%rax
pop %rbp
ret
mov %rsi,%rax
pop %rbp
ret

# lowest_bit, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
eor     x3, x0, x1
cbz     x3, 0x20
neg     x6, x3
and     x0, x3, x6
ldp     x29, x30, [sp], #0x10
ret
ldp     x29, x30, [sp], #0x10
ret

# not_negative, avx512: 29 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp $0,%esi
jl 0x0000000000000014
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret
movslq %esi,%r10
mov (%rdi,%r10,4),%eax
pop %rbp
ret

# not_negative, avx2: 29 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp $0,%esi
jl 0x0000000000000014
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret
movslq %esi,%r10
mov (%rdi,%r10,4),%eax
pop %rbp
ret

# not_negative, sse4.2: 29 bytes
endbr64
push %rbp
mov %rsp,%rbp
cmp $0,%esi
jl 0x0000000000000014
mov %esi,%esi
mov (%rdi,%rsi,4),%eax
pop %rbp
ret
movslq %esi,%r10
mov (%rdi,%r10,4),%eax
pop %rbp
ret

# not_negative, armv8.2: 40 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
cmp     w1, #0x0
b.lt    0x1c
ldr     w0, [x0, w1, sxtw #0x2]
ldp     x29, x30, [sp], #0x10
ret
ldr     w0, [x0, w1, sxtw #0x2]
ldp     x29, x30, [sp], #0x10
ret

# at_least, avx512: 68 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpxor %xmm4,%xmm4,%xmm4
vpcmpnltd %ymm4,%ymm2,%k6
vpcmpled 0x50{1to8},%ymm2,%k1{%k6}
vmovups %ymm2,0x20(%rdi){%k1}
vmovupd (%rdi),%ymm11
vpcmpleq 0x48{1to4},%ymm11,%k1
vmovupd %ymm11,0x40(%rdi){%k1}
vzeroupper
pop %rbp
ret

# at_least, avx2: 116 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpcmpgtd 0x80,%ymm2,%ymm4
vpcmpgtd 0xA0,%ymm2,%ymm6
vpcmpeqd %ymm8,%ymm8,%ymm8
vpxor %ymm8,%ymm6,%ymm10
vandps %ymm10,%ymm4,%ymm12
vmovmskps %ymm12,%eax
cmp $0xFF,%eax
jne 0x000000000000003F
vmovups %ymm2,0x20(%rdi)
jmp 0x0000000000000045
vmaskmovps %ymm2,%ymm12,0x20(%rdi)
vmovupd (%rdi),%ymm0
vmovups 0xC0,%ymm1
vpcmpgtq %ymm0,%ymm1,%ymm1
vmovmskps %ymm1,%eax
cmp $0xFF,%eax
jne 0x0000000000000069
vmovupd %ymm0,0x40(%rdi)
jmp 0x000000000000006F
vmaskmovpd %ymm0,%ymm1,0x40(%rdi)
vzeroupper
pop %rbp
ret

# at_least, sse4.2: no value of type m64x4

# at_least, armv8.2: no value of type m64x4

# at_least, armv8: no value of type m64x4

# at_least, sve-128: no value of type m64x4

# at_least, sve-256: 52 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     z2, [x0]
ptrue   p4.s, vl8
cmpge   p6.s, p4/z, z2.s, #0x0
mov     z16.s, #0x7fffffff
cmpge   p0.s, p6/z, z16.s, z2.s
st1w    {z2.s}, p0, [x0, #0x1, mul vl]
ldr     z16, [x0]
cmple   p0.d, p4/z, z16.d, #0x5
st1d    {z16.d}, p0, [x0, #0x2, mul vl]
ldp     x29, x30, [sp], #0x10
ret

# at_least, sve-512: 60 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ptrue   p2.s, vl8
ld1w    {z4.s}, p2/z, [x0]
cmpge   p6.s, p2/z, z4.s, #0x0
mov     z16.s, #0x7fffffff
cmpge   p0.s, p6/z, z16.s, z4.s
add     x12, x0, #0x20
st1w    {z4.s}, p0, [x12]
ptrue   p0.d, vl4
ld1d    {z17.d}, p0/z, [x0]
cmple   p0.d, p0/z, z17.d, #0x5
st1d    {z17.d}, p0, [x0, #0x1, mul vl]
ldp     x29, x30, [sp], #0x10
ret

