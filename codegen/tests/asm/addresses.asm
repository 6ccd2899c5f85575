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

