"""Hashes and ciphers: integer arithmetic in registers, tables, byte buffers."""

import hashlib
import math

import numpy as np

from .base import Workload


class Sha256(Workload):
    """Hashes of 32-byte messages."""

    def constants(self):
        primes = [p for p in range(2, 312) if all(p % d for d in range(2, int(p**0.5) + 1))]

        def fraction(p, root):
            # The first 32 fraction bits of a root, with integers: floor(p^(1/root) * 2^32).
            low, high = 0, 1 << 40
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if middle**root <= p << (32 * root) else (low, middle)
            return low & 0xFFFFFFFF

        return [fraction(p, 3) for p in primes[:64]], [fraction(p, 2) for p in primes[:8]]

    def source(self):
        k, h = (", ".join(f"{value:#x}u" for value in values) for values in self.constants())
        return f"constant uint K[64] = {{{k}}};\nconstant uint H[8] = {{{h}}};" + """
        #define R(x, n) rotate((x), 32u - (n))
        kernel void sha256(global const uchar *messages, global uchar *digests)
        {
            uint me = get_global_id(0), w[16], s[8];
            for (uint i = 0; i < 8; i++) w[i] = as_uint(vload4(i, messages + 32 * me).wzyx);
            w[8] = 0x80000000u;
            for (uint i = 9; i < 15; i++) w[i] = 0;
            w[15] = 256;
            for (uint i = 0; i < 8; i++) s[i] = H[i];
            for (uint i = 0; i < 64; i++) {
                if (i >= 16) {
                    uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                    w[i & 15] += (R(x, 7u) ^ R(x, 18u) ^ x >> 3) + w[(i + 9) & 15] + (R(y, 17u) ^ R(y, 19u) ^ y >> 10);
                }
                uint t = s[7] + (R(s[4], 6u) ^ R(s[4], 11u) ^ R(s[4], 25u)) + bitselect(s[6], s[5], s[4]) + K[i] + w[i & 15];
                uint u = (R(s[0], 2u) ^ R(s[0], 13u) ^ R(s[0], 22u)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t + u;
            }
            for (uint i = 0; i < 8; i++) vstore4(as_uchar4(s[i] + H[i]).wzyx, i, digests + 32 * me);
        }"""

    def count(self):
        return self.pick(16 << 10, 4 << 20)

    def work(self):
        return self.count(), "Ghash/s"

    def data(self):
        self.messages = np.random.default_rng(5).integers(0, 256, (self.count(), 32), np.uint8)
        self.buffers = self.buffer(self.messages), self.buffer(np.zeros_like(self.messages))

    def set_up(self):
        self.sha256 = self.kernel(self.program(self.source()), "sha256", *self.buffers)

    def enqueue(self):
        self.launch(self.sha256, (self.count(),), (64,))

    def check(self):
        digests = self.fetch(self.buffers[1], self.messages)
        return all(bytes(digests[i]) == hashlib.sha256(bytes(self.messages[i])).digest() for i in range(0, self.count(), 97))


class Md5(Workload):
    """Hashes of 32-byte messages."""

    def source(self):
        table = ", ".join(f"{int(abs(math.sin(i + 1)) * 2**32):#x}u" for i in range(64))
        return f"constant uint K[64] = {{{table}}};" + """
        constant uint shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
        kernel void md5(global const uint *messages, global uint4 *digests)
        {
            uint me = get_global_id(0), w[16];
            for (uint i = 0; i < 8; i++) w[i] = messages[8 * me + i];
            w[8] = 0x80;
            for (uint i = 9; i < 16; i++) w[i] = 0;
            w[14] = 256;
            uint4 start = (uint4)(0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u), s = start;
            for (uint i = 0; i < 64; i++) {
                uint f, g;
                switch (i / 16) {
                    case 0: f = bitselect(s.w, s.z, s.y); g = i; break;
                    case 1: f = bitselect(s.z, s.y, s.w); g = 5 * i + 1; break;
                    case 2: f = s.y ^ s.z ^ s.w; g = 3 * i + 5; break;
                    default: f = s.z ^ (s.y | ~s.w); g = 7 * i; break;
                }
                f += s.x + K[i] + w[g & 15];
                s = (uint4)(s.w, s.y + rotate(f, shifts[i / 16 * 4 + i % 4]), s.y, s.z);
            }
            digests[me] = s + start;
        }"""

    def count(self):
        return self.pick(16 << 10, 8 << 20)

    def work(self):
        return self.count(), "Ghash/s"

    def data(self):
        self.messages = np.random.default_rng(14).integers(0, 256, (self.count(), 32), np.uint8)
        self.digests = np.zeros((self.count(), 16), np.uint8)
        self.buffers = self.buffer(self.messages), self.buffer(self.digests)

    def set_up(self):
        self.md5 = self.kernel(self.program(self.source()), "md5", *self.buffers)

    def enqueue(self):
        self.launch(self.md5, (self.count(),), (64,))

    def check(self):
        digests = self.fetch(self.buffers[1], self.digests)
        return all(bytes(digests[i]) == hashlib.md5(bytes(self.messages[i])).digest() for i in range(0, self.count(), 97))


def double(x):
    """Twice x in the field of AES."""
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def substitution():
    """The S-box of AES, from the powers of 3."""
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] ^ double(powers[-1]))
    box = [0x63] * 256
    for i, power in enumerate(powers):
        inverse = powers[-i % 255]
        box[power] = 0x63 ^ inverse
        for _ in range(4):
            inverse = (inverse << 1 | inverse >> 7) & 0xFF
            box[power] ^= inverse
    return box


class Aes(Workload):
    """AES-128 of 16-byte blocks, with a table of words in local memory."""

    SOURCE = """
    #define ROW(s, n) ((s) >> (n) * 8 & 255)
    #define T(a, b, c, d) (table[ROW(a, 0)] ^ rotate(table[ROW(b, 1)], 8u) ^ rotate(table[ROW(c, 2)], 16u) ^ rotate(table[ROW(d, 3)], 24u))
    #define S(a, b, c, d) (table[ROW(a, 0)] >> 8 & 255 | table[ROW(b, 1)] & 0xff00 | (table[ROW(c, 2)] & 0xff00) << 8 | (table[ROW(d, 3)] & 0xff00) << 16)
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void aes(global const uint4 *from, global uint4 *to, constant uint4 *keys, constant uint *words)
    {
        local uint table[256];
        for (uint i = get_local_id(0); i < 256; i += 64) table[i] = words[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 s = from[get_global_id(0)] ^ keys[0];
        for (uint i = 1; i < 10; i++)
            s = (uint4)(T(s.x, s.y, s.z, s.w), T(s.y, s.z, s.w, s.x), T(s.z, s.w, s.x, s.y), T(s.w, s.x, s.y, s.z)) ^ keys[i];
        to[get_global_id(0)] = (uint4)(S(s.x, s.y, s.z, s.w), S(s.y, s.z, s.w, s.x), S(s.z, s.w, s.x, s.y), S(s.w, s.x, s.y, s.z)) ^ keys[10];
    }"""

    def count(self):
        return self.pick(32 << 10, 8 << 20)

    def work(self):
        return self.count() * 16, "GB/s"

    def round_keys(self, key):
        words, constant = [list(key[i : i + 4]) for i in range(0, 16, 4)], 1
        for i in range(4, 44):
            word = list(words[-1])
            if i % 4 == 0:
                word = [self.box[b] for b in word[1:] + word[:1]]
                word[0] ^= constant
                constant = double(constant)
            words.append([a ^ b for a, b in zip(words[-4], word)])
        return np.array(words, np.uint8).reshape(11, 16)

    def encrypt(self, blocks):
        """Encrypts many blocks as FIPS 197 describes."""
        box = np.array(self.box, np.uint8)
        twice = np.array([double(i) for i in range(256)], np.uint8)
        state = blocks ^ self.keys[0]
        for i in range(1, 11):
            # Byte 4 c + r is row r of column c; row r moves r columns to the left.
            state = box[state][:, [(4 * (at // 4 + at % 4) + at % 4) % 16 for at in range(16)]]
            if i < 10:
                a = state.reshape(-1, 4, 4)
                b, c, d = (np.roll(a, -n, axis=2) for n in (1, 2, 3))
                state = (twice[a] ^ twice[b] ^ b ^ c ^ d).reshape(-1, 16)
            state = state ^ self.keys[i]
        return state

    def data(self):
        self.box = substitution()
        self.keys = self.round_keys(bytes(range(16)))
        self.blocks = np.random.default_rng(15).integers(0, 256, (self.count(), 16), np.uint8)
        table = np.array([double(s) | s << 8 | s << 16 | (double(s) ^ s) << 24 for s in self.box], np.uint32)
        self.buffers = [self.buffer(array) for array in (self.blocks, np.zeros_like(self.blocks), self.keys, table)]

    def set_up(self):
        self.aes = self.kernel(self.program(self.SOURCE), "aes", *self.buffers)

    def enqueue(self):
        self.launch(self.aes, (self.count(),), (64,))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[1], self.blocks)[::97], self.encrypt(self.blocks[::97]))


WORKLOADS = {"sha256": Sha256, "md5": Md5, "aes128": Aes}
