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

