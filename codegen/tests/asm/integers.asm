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

