# masked_copy, avx512: 38 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm3
xor %edi,%edi
vpbroadcastd %edi,%ymm7
vpcmpnled %ymm7,%ymm3,%k1
vmovups %ymm3,(%rsi){%k1}
vzeroupper
pop %rbp
ret

# masked_copy, avx2: 57 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm3
xor %edi,%edi
vmovd %edi,%xmm8
vpbroadcastd %xmm8,%ymm8
vpcmpgtd %ymm8,%ymm3,%ymm11
vmovmskps %ymm11,%eax
cmp $0xFF,%eax
jne 0x000000000000002F
vmovups %ymm3,(%rsi)
jmp 0x0000000000000034
vmaskmovps %ymm3,%ymm11,(%rsi)
vzeroupper
pop %rbp
ret

# masked_copy, sse4.2: no value of type m32x8

# masked_copy, armv8.2: no value of type m32x8

# masked_copy, armv8: no value of type m32x8

# select, avx512: 39 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vcmplt_oqps %ymm4,%ymm2,%k6
vblendmps %ymm2,%ymm4,%ymm8{%k6}
vmovups %ymm8,(%rdi)
vzeroupper
pop %rbp
ret

# select, avx2: 37 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vmovups 0x20(%rdi),%ymm4
vcmplt_oqps %ymm4,%ymm2,%ymm6
vblendvps %ymm6,%ymm2,%ymm4,%ymm8
vmovups %ymm8,(%rdi)
vzeroupper
pop %rbp
ret

# select, sse4.2: no value of type f32x8

# select, armv8.2: no value of type f32x8

# select, armv8: no value of type f32x8

# any, avx512: 45 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpcmpeqd 0x20(%rdi),%ymm2,%k4
kortestb %k4,%k4
je 0x0000000000000023
kmovb %k4,%eax
vzeroupper
pop %rbp
ret
mov $0xFFFFFFFF,%eax
vzeroupper
pop %rbp
ret

# any, avx2: 43 bytes
endbr64
push %rbp
mov %rsp,%rbp
vmovups (%rdi),%ymm2
vpcmpeqd 0x20(%rdi),%ymm2,%ymm4
vptest %ymm4,%ymm4
je 0x0000000000000021
vmovmskps %ymm4,%eax
vzeroupper
pop %rbp
ret
mov $0xFFFFFFFF,%eax
vzeroupper
pop %rbp
ret

# any, sse4.2: no value of type m32x8

# any, armv8.2: no value of type m32x8

# any, armv8: no value of type m32x8

