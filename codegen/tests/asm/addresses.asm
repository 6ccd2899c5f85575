# displacement, avx512: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov 0x10(%rdi),%r8d
add 0x14(%rdi),%r8d
mov %r8d,(%rsi)
pop %rbp
ret

# displacement, avx2: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov 0x10(%rdi),%r8d
add 0x14(%rdi),%r8d
mov %r8d,(%rsi)
pop %rbp
ret

# displacement, sse4.2: 21 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov 0x10(%rdi),%r8d
add 0x14(%rdi),%r8d
mov %r8d,(%rsi)
pop %rbp
ret

# displacement, armv8.2: 28 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldp     w3, w4, [x0, #0x10]
add     w6, w3, w4
str     w6, [x1]
ldp     x29, x30, [sp], #0x10
ret

# scaled_index, avx512: 13 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# scaled_index, avx2: 13 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# scaled_index, sse4.2: 13 bytes
endbr64
push %rbp
mov %rsp,%rbp
mov (%rdi,%rsi,4),%eax
pop %rbp
ret

# scaled_index, armv8.2: 20 bytes
stp     x29, x30, [sp, #-0x10]!
mov     x29, sp
ldr     w0, [x0, x1, lsl #0x2]
ldp     x29, x30, [sp], #0x10
ret

