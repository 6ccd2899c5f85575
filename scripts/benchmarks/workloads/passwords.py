"""Password hashes and the hashes below them, in the shapes of password crackers: long loops over a private state, tables in local memory, 64-bit integers."""

import hashlib

import numpy as np

from .base import SingleKernel


def root_fractions(power, count):
    """The first 64 fraction bits of the square roots (2) or cube roots (3) of the first primes: the constants of SHA-512."""
    primes = [p for p in range(2, 410) if all(p % d for d in range(2, int(p**0.5) + 1))][:count]
    fractions = []
    for prime in primes:
        low, high = 0, 1 << 68
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**power <= prime << (64 * power) else (low, middle)
        fractions.append(low & (2**64 - 1))
    return fractions


def table(kind, name, values):
    suffix = {"uint": "u", "ulong": "ul"}.get(kind, "")
    return f"constant {kind} {name}[{len(values)}] = {{{', '.join(f'{value:#x}{suffix}' for value in values)}}};\n"


def passwords(count, seed):
    """Distinct passwords of 8 to 15 letters, padded to 16 bytes, and their lengths."""
    random = np.random.default_rng(seed)
    letters, lengths = random.integers(97, 123, (count, 16), np.uint8), random.integers(8, 16, count).astype(np.uint32)
    letters[np.arange(16) >= lengths[:, None]] = 0
    return letters, lengths


class Sha3(SingleKernel):
    """SHA3-256 of 64-byte messages: 25 64-bit words of state, with loops that must be unrolled to keep them in registers."""

    SOURCE = """
    kernel void run(global const ulong *messages, global ulong *digests)
    {
        size_t me = get_global_id(0);
        ulong s[25], c[5];
        for (int i = 0; i < 25; i++) s[i] = i < 8 ? messages[8 * me + i] : 0;
        s[8] = 6;
        s[16] = 1ul << 63;
        for (int round = 0; round < 24; round++) {
            #pragma unroll
            for (int i = 0; i < 5; i++) c[i] = s[i] ^ s[i + 5] ^ s[i + 10] ^ s[i + 15] ^ s[i + 20];
            #pragma unroll
            for (int i = 0; i < 5; i++) {
                ulong t = c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1ul);
                #pragma unroll
                for (int j = 0; j < 25; j += 5) s[i + j] ^= t;
            }
            ulong t = s[1];
            #pragma unroll
            for (int i = 0; i < 24; i++) {
                ulong u = s[LANES[i]];
                s[LANES[i]] = rotate(t, ROTATIONS[i]);
                t = u;
            }
            #pragma unroll
            for (int j = 0; j < 25; j += 5) {
                #pragma unroll
                for (int i = 0; i < 5; i++) c[i] = s[i + j];
                #pragma unroll
                for (int i = 0; i < 5; i++) s[i + j] = c[i] ^ (~c[(i + 1) % 5] & c[(i + 2) % 5]);
            }
            s[0] ^= ROUNDS[round];
        }
        for (int i = 0; i < 4; i++) digests[4 * me + i] = s[i];
    }"""

    def source(self):
        x, y, lanes, rotations = 1, 0, [], []
        for i in range(24):
            rotations.append((i + 1) * (i + 2) // 2 % 64)
            x, y = y, (2 * x + 3 * y) % 5
            lanes.append(x + 5 * y)
        register, rounds = 1, []
        for _ in range(24):
            constant = 0
            for bit in range(7):
                constant |= (register & 1) << ((1 << bit) - 1)
                register = register << 1 ^ (0x171 if register & 0x80 else 0)
            rounds.append(constant)
        return table("int", "LANES", lanes) + table("ulong", "ROTATIONS", rotations) + table("ulong", "ROUNDS", rounds) + self.SOURCE

    def work(self):
        return self.pick(32 << 10, 4 << 20), "Ghash/s"

    def data(self):
        count = self.work()[0]
        self.messages = np.random.default_rng(31).integers(0, 256, (count, 64), np.uint8)
        self.digests = np.zeros((count, 32), np.uint8)
        self.arguments, self.items = [self.buffer(self.messages), self.buffer(self.digests)], ((count,), (64,))

    def check(self):
        digests = self.fetch(self.arguments[1], self.digests)
        return all(bytes(digests[i]) == hashlib.sha3_256(bytes(self.messages[i])).digest() for i in range(0, len(digests), 97))


class Blake2b(SingleKernel):
    """BLAKE2b of 128-byte messages: 12 rounds, unrolled with constant positions of the message words."""

    # The permutations of the message words in hexadecimal digits.
    ORDERS = [
        "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
        "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0"]

    def source(self):
        lines = []
        for text in [*self.ORDERS, *self.ORDERS[:2]]:
            order = [int(digit, 16) for digit in text]
            for i in range(8):
                a, b, c, d = (i % 4 + 4 * row for row in range(4)) if i < 4 else ((i + row) % 4 + 4 * row for row in range(4))
                lines.append(f"G({a}, {b}, {c}, {d}, m[{order[2 * i]}], m[{order[2 * i + 1]}])")
        return table("ulong", "IV", root_fractions(2, 8)) + """
        #define G(a, b, c, d, x, y) \\
            v[a] += v[b] + x; v[d] = rotate(v[d] ^ v[a], 32ul); v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 40ul); \\
            v[a] += v[b] + y; v[d] = rotate(v[d] ^ v[a], 48ul); v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 1ul);
        kernel void run(global const ulong *messages, global ulong *digests)
        {
            size_t me = get_global_id(0);
            ulong m[16], v[16];
            for (int i = 0; i < 16; i++) m[i] = messages[16 * me + i];
            for (int i = 0; i < 8; i++) v[i] = v[i + 8] = IV[i];
            v[0] ^= 0x01010040;
            v[12] ^= 128;
            v[14] = ~v[14];
            ROUNDS
            for (int i = 0; i < 8; i++) digests[8 * me + i] = v[i] ^ v[i + 8] ^ IV[i] ^ (i == 0 ? 0x01010040 : 0);
        }""".replace("ROUNDS", "\n".join(lines))

    def work(self):
        return self.pick(32 << 10, 4 << 20), "Ghash/s"

    def data(self):
        count = self.work()[0]
        self.messages = np.random.default_rng(32).integers(0, 256, (count, 128), np.uint8)
        self.digests = np.zeros((count, 64), np.uint8)
        self.arguments, self.items = [self.buffer(self.messages), self.buffer(self.digests)], ((count,), (64,))

    def check(self):
        digests = self.fetch(self.arguments[1], self.digests)
        return all(bytes(digests[i]) == hashlib.blake2b(bytes(self.messages[i])).digest() for i in range(0, len(digests), 97))


class Sha512Crypt(SingleKernel):
    """The loop of sha512crypt: each iteration hashes a message of 72 to 102 bytes that is built from bytes in a private array."""

    ITERATIONS = 64
    SOURCE = """
    #define R(x, n) rotate(x, 64ul - (n))
    void append(uchar *to, uint *at, const uchar *from, uint count) { for (uint i = 0; i < count; i++) to[(*at)++] = from[i]; }
    kernel void run(global const uchar *passwords, global const uint *lengths, global const uchar *salts, global ulong *digests, uint iterations)
    {
        size_t me = get_global_id(0);
        uchar password[16], salt[8], last[64], message[128];
        uint length = lengths[me];
        for (uint i = 0; i < 16; i++) password[i] = passwords[16 * me + i];
        for (uint i = 0; i < 8; i++) salt[i] = salts[8 * me + i];
        for (uint i = 0; i < 64; i++) last[i] = i;
        ulong s[8];
        for (uint n = 0; n < iterations; n++) {
            uint at = 0;
            if (n & 1) append(message, &at, password, length); else append(message, &at, last, 64);
            if (n % 3) append(message, &at, salt, 8);
            if (n % 7) append(message, &at, password, length);
            if (n & 1) append(message, &at, last, 64); else append(message, &at, password, length);
            message[at] = 0x80;
            for (uint i = at + 1; i < 126; i++) message[i] = 0;
            message[126] = at * 8 >> 8;
            message[127] = at * 8;
            ulong w[16];
            for (uint i = 0; i < 16; i++) {
                w[i] = 0;
                for (uint j = 0; j < 8; j++) w[i] = w[i] << 8 | message[8 * i + j];
            }
            for (uint i = 0; i < 8; i++) s[i] = H[i];
            for (uint i = 0; i < 80; i++) {
                if (i >= 16) {
                    ulong x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                    w[i & 15] += (R(x, 1ul) ^ R(x, 8ul) ^ x >> 7) + w[(i + 9) & 15] + (R(y, 19ul) ^ R(y, 61ul) ^ y >> 6);
                }
                ulong t = s[7] + (R(s[4], 14ul) ^ R(s[4], 18ul) ^ R(s[4], 41ul)) + bitselect(s[6], s[5], s[4]) + K[i] + w[i & 15];
                ulong u = (R(s[0], 28ul) ^ R(s[0], 34ul) ^ R(s[0], 39ul)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t + u;
            }
            for (uint i = 0; i < 8; i++) {
                s[i] += H[i];
                for (uint j = 0; j < 8; j++) last[8 * i + j] = s[i] >> (56 - 8 * j);
            }
        }
        for (uint i = 0; i < 8; i++) digests[8 * me + i] = s[i];
    }"""

    def source(self):
        return table("ulong", "K", root_fractions(3, 80)) + table("ulong", "H", root_fractions(2, 8)) + self.SOURCE

    def count(self):
        return self.pick(256, 64 << 10)

    def work(self):
        return self.count() * self.ITERATIONS, "Ghash/s"

    def data(self):
        self.passwords, self.lengths = passwords(self.count(), 33)
        self.salts = np.random.default_rng(34).integers(33, 127, (self.count(), 8), np.uint8)
        self.digests = np.zeros((self.count(), 8), np.uint64)
        self.arguments = [*(self.buffer(array) for array in (self.passwords, self.lengths, self.salts, self.digests)), np.uint32(self.ITERATIONS)]
        self.items = (self.count(),), (64,)

    def check(self):
        digests = self.fetch(self.arguments[3], self.digests)
        for i in range(0, self.count(), self.count() // 16):
            password, salt, last = bytes(self.passwords[i, : self.lengths[i]]), bytes(self.salts[i]), bytes(range(64))
            for n in range(self.ITERATIONS):
                parts = (password if n & 1 else last, salt if n % 3 else b"", password if n % 7 else b"", last if n & 1 else password)
                last = hashlib.sha512(b"".join(parts)).digest()
            if digests[i].astype(">u8").tobytes() != last:
                return False
        return True


class Wpa(SingleKernel):
    """PBKDF2 with HMAC-SHA1, as for WPA: a helper function with array parameters, called in a loop. A real key takes 4,096 iterations."""

    ITERATIONS = 64
    SOURCE = """
    void sha1(uint *s, const uint *block)
    {
        uint w[16], a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
        for (int i = 0; i < 16; i++) w[i] = block[i];
        #define STEP(f, k) { \\
            if (i >= 16) w[i & 15] = rotate(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1u); \\
            uint t = rotate(a, 5u) + (f) + e + k + w[i & 15]; e = d; d = c; c = rotate(b, 30u); b = a; a = t; }
        for (int i = 0; i < 20; i++) STEP(bitselect(d, c, b), 0x5a827999)
        for (int i = 20; i < 40; i++) STEP(b ^ c ^ d, 0x6ed9eba1)
        for (int i = 40; i < 60; i++) STEP((b & c) | (d & (b | c)), 0x8f1bbcdc)
        for (int i = 60; i < 80; i++) STEP(b ^ c ^ d, 0xca62c1d6)
        s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e;
    }
    void start(uint *s) { s[0] = 0x67452301; s[1] = 0xefcdab89; s[2] = 0x98badcfe; s[3] = 0x10325476; s[4] = 0xc3d2e1f0; }
    void hmac(const uint *inner, const uint *outer, uint *digest, uint *block)
    {
        uint s[5];
        for (int i = 0; i < 5; i++) s[i] = inner[i];
        sha1(s, block);
        for (int i = 0; i < 16; i++) block[i] = i < 5 ? s[i] : 0;
        block[5] = 0x80000000;
        block[15] = (64 + 20) * 8;
        for (int i = 0; i < 5; i++) digest[i] = outer[i];
        sha1(digest, block);
    }
    kernel void run(global const uint *passwords, global const uint *salt, global uint *keys, uint iterations)
    {
        size_t me = get_global_id(0);
        uint inner[5], outer[5], digest[5], key[5], block[16];
        for (int i = 0; i < 16; i++) block[i] = (i < 4 ? as_uint(as_uchar4(passwords[4 * me + i]).wzyx) : 0) ^ 0x36363636;
        start(inner);
        sha1(inner, block);
        for (int i = 0; i < 16; i++) block[i] ^= 0x36363636 ^ 0x5c5c5c5c;
        start(outer);
        sha1(outer, block);
        for (int i = 0; i < 16; i++) block[i] = i < 2 ? as_uint(as_uchar4(salt[i]).wzyx) : 0;
        block[2] = 1;
        block[3] = 0x80000000;
        block[15] = (64 + 12) * 8;
        hmac(inner, outer, digest, block);
        for (int i = 0; i < 5; i++) key[i] = digest[i];
        for (uint n = 1; n < iterations; n++) {
            for (int i = 0; i < 16; i++) block[i] = i < 5 ? digest[i] : 0;
            block[5] = 0x80000000;
            block[15] = (64 + 20) * 8;
            hmac(inner, outer, digest, block);
            for (int i = 0; i < 5; i++) key[i] ^= digest[i];
        }
        for (int i = 0; i < 5; i++) keys[5 * me + i] = key[i];
    }"""

    def count(self):
        return self.pick(1024, 256 << 10)

    def work(self):
        return self.count() * self.ITERATIONS, "Ghash/s"

    def data(self):
        self.passwords, self.lengths = passwords(self.count(), 35)
        self.salt = np.frombuffer(b"network1", np.uint8)
        self.keys = np.zeros((self.count(), 5), np.uint32)
        self.arguments = [*(self.buffer(array) for array in (self.passwords, self.salt, self.keys)), np.uint32(self.ITERATIONS)]
        self.items = (self.count(),), (64,)

    def check(self):
        keys = self.fetch(self.arguments[2], self.keys)
        return all(
            keys[i].astype(">u4").tobytes() == hashlib.pbkdf2_hmac("sha1", bytes(self.passwords[i, : self.lengths[i]]), bytes(self.salt), self.ITERATIONS, 20)
            for i in range(0, self.count(), self.count() // 32))


def blowfish_tables():
    """The initial subkeys and S-boxes of Blowfish: the fraction bits of pi, from Machin's formula."""
    words = 18 + 1024
    bits = 32 * words + 64

    def inverse_tangent(x):
        term, total, divisor, sign = (1 << bits) // x, 0, 1, 1
        while term:
            total, term, divisor, sign = total + sign * (term // divisor), term // (x * x), divisor + 2, -sign
        return total

    fraction = (16 * inverse_tangent(5) - 4 * inverse_tangent(239)) & ((1 << bits) - 1)
    return [fraction >> (bits - 32 * (i + 1)) & 0xFFFFFFFF for i in range(words)]


class Bcrypt(SingleKernel):
    """bcrypt's key schedule: each work-item has 4 KiB of S-boxes in local memory and reads them at data-dependent positions. A real cost is at least 10."""

    GROUP, COST = 8, 1
    TEXT = [int.from_bytes(b"OrpheanBeholderScryDoubt"[i : i + 4], "big") for i in range(0, 24, 4)]
    SOURCE = """
    #define GROUP 8
    #define F(x) (((s[(x) >> 24] + s[256 + ((x) >> 16 & 255)]) ^ s[512 + ((x) >> 8 & 255)]) + s[768 + ((x) & 255)])
    #define ENCRYPT() { \\
        for (int r = 0; r < 16; r += 2) { left ^= p[r]; right ^= F(left); right ^= p[r + 1]; left ^= F(right); } \\
        uint swap = left ^ p[16]; left = right ^ p[17]; right = swap; }
    void expand(uint *p, local uint *s, const uint *key, const uint *salt)
    {
        for (int i = 0; i < 18; i++) p[i] ^= key[i];
        uint left = 0, right = 0;
        for (int i = 0; i < 18; i += 2) {
            left ^= salt[i & 2];
            right ^= salt[(i & 2) + 1];
            ENCRYPT()
            p[i] = left;
            p[i + 1] = right;
        }
        for (int i = 0; i < 1024; i += 2) {
            left ^= salt[(i + 2) & 2];
            right ^= salt[((i + 2) & 2) + 1];
            ENCRYPT()
            s[i] = left;
            s[i + 1] = right;
        }
    }
    kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
    void run(global const uint *keys, global const uint *salts, constant uint *initial, global uint *digests, uint rounds)
    {
        local uint boxes[GROUP][1024];
        size_t me = get_global_id(0);
        local uint *s = boxes[get_local_id(0)];
        uint p[18], key[18], salt[4], wide[18], none[4] = {0, 0, 0, 0}, text[6] = {TEXT};
        for (int i = 0; i < 18; i++) { p[i] = initial[i]; key[i] = keys[18 * me + i]; }
        for (int i = 0; i < 4; i++) salt[i] = salts[4 * me + i];
        for (int i = 0; i < 18; i++) wide[i] = salt[i & 3];
        for (int i = 0; i < 1024; i++) s[i] = initial[18 + i];
        expand(p, s, key, salt);
        for (uint n = 0; n < rounds; n++) {
            expand(p, s, key, none);
            expand(p, s, wide, none);
        }
        for (int i = 0; i < 6; i += 2) {
            uint left = text[i], right = text[i + 1];
            for (int n = 0; n < 64; n++) ENCRYPT()
            digests[6 * me + i] = left;
            digests[6 * me + i + 1] = right;
        }
    }"""

    def source(self):
        return self.SOURCE.replace("TEXT", ", ".join(f"{word:#x}u" for word in self.TEXT))

    def work(self):
        return self.pick(32, 16 << 10), "Ghash/s"

    def data(self):
        count, random = self.work()[0], np.random.default_rng(36)
        self.keys, self.salts = random.integers(0, 2**32, (count, 18), np.uint32), random.integers(0, 2**32, (count, 4), np.uint32)
        self.initial, self.digests = blowfish_tables(), np.zeros((count, 6), np.uint32)
        arrays = self.keys, self.salts, np.array(self.initial, np.uint32), self.digests
        self.arguments, self.items = [*(self.buffer(array) for array in arrays), np.uint32(1 << self.COST)], ((count,), (self.GROUP,))

    @staticmethod
    def encrypt(p, s, left, right):
        for r in range(16):
            left ^= p[r]
            right ^= ((s[left >> 24] + s[256 + (left >> 16 & 255)] ^ s[512 + (left >> 8 & 255)]) + s[768 + (left & 255)]) & 0xFFFFFFFF
            left, right = right, left
        return right ^ p[17], left ^ p[16]

    def expand(self, state, key, salt):
        """Expands the state, 18 subkeys and then 1,024 entries of the S-boxes, in place."""
        state[:18] = [a ^ b for a, b in zip(state, key)]
        p, s, left, right = state[:18], state[18:], 0, 0
        for i in range(0, 18 + 1024, 2):
            left, right = self.encrypt(p, s, left ^ salt[i % 4], right ^ salt[i % 4 + 1])
            target, at = (p, i) if i < 18 else (s, i - 18)
            target[at : at + 2] = left, right
        state[:] = p + s

    def check(self):
        digests = self.fetch(self.arguments[3], self.digests)
        for me in (0, len(digests) // 2 + 3, len(digests) - 1):
            state, key, salt = list(self.initial), self.keys[me].tolist(), self.salts[me].tolist()
            self.expand(state, key, salt)
            for _ in range(1 << self.COST):
                self.expand(state, key, [0] * 4)
                self.expand(state, (salt * 5)[:18], [0] * 4)
            for i in range(0, 6, 2):
                pair = self.TEXT[i : i + 2]
                for _ in range(64):
                    pair = self.encrypt(state[:18], state[18:], *pair)
                if tuple(digests[me, i : i + 2].tolist()) != tuple(pair):
                    return False
        return True


class Argon2(SingleKernel):
    """Argon2's fill of memory: 32 work-items mix two blocks of 1 KiB in local memory with 32 x 32-bit products; the position of one block depends on data."""

    SOURCE = """
    #define MIX(a, b) ((a) + (b) + 2 * ((a) & 0xffffffff) * ((b) & 0xffffffff))
    #define G(i, j, k, l) { \\
        ulong a = b[i], e = b[j], c = b[k], d = b[l]; \\
        a = MIX(a, e); d = rotate(d ^ a, 32ul); c = MIX(c, d); e = rotate(e ^ c, 40ul); \\
        a = MIX(a, e); d = rotate(d ^ a, 48ul); c = MIX(c, d); e = rotate(e ^ c, 1ul); \\
        b[i] = a; b[j] = e; b[k] = c; b[l] = d; }
    #define ROW(n) (16 * line + (n))
    #define COLUMN(n) (2 * line + 16 * ((n) / 2) + ((n) & 1))
    #define ROUND(AT) \\
        G(AT(q), AT(4 + q), AT(8 + q), AT(12 + q)) barrier(CLK_LOCAL_MEM_FENCE); \\
        G(AT(q), AT(4 + (q + 1) % 4), AT(8 + (q + 2) % 4), AT(12 + (q + 3) % 4)) barrier(CLK_LOCAL_MEM_FENCE);
    kernel __attribute__((reqd_work_group_size(32, 1, 1))) void run(global ulong *memory, uint blocks)
    {
        local ulong b[128];
        uint lane = get_local_id(0), line = lane / 4, q = lane % 4;
        global ulong *mine = memory + (size_t)get_group_id(0) * blocks * 128;
        for (uint n = 2; n < blocks; n++) {
            uint x = (uint)mine[(n - 1) * 128], other = n - 2 - mul_hi(n - 1, mul_hi(x, x));
            ulong old[4];
            for (uint i = 0; i < 4; i++) b[lane + 32 * i] = old[i] = mine[(n - 1) * 128 + lane + 32 * i] ^ mine[other * 128 + lane + 32 * i];
            barrier(CLK_LOCAL_MEM_FENCE);
            ROUND(ROW)
            ROUND(COLUMN)
            for (uint i = 0; i < 4; i++) mine[n * 128 + lane + 32 * i] = old[i] ^ b[lane + 32 * i];
            barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        }
    }"""

    def shape(self):
        return self.pick(16, 256), self.pick(128, 1024)

    def work(self):
        lanes, blocks = self.shape()
        return lanes * (blocks - 2) * 1024, "GB/s"

    def data(self):
        lanes, blocks = self.shape()
        self.memory = np.zeros((lanes, blocks, 128), np.uint64)
        self.memory[:, :2] = np.random.default_rng(37).integers(0, 2**64, (lanes, 2, 128), np.uint64)
        self.arguments, self.items = [self.buffer(self.memory), np.uint32(blocks)], ((lanes * 32,), (32,))

    @staticmethod
    def quarter(a, b, c, d):
        half, bits = np.uint64(0xFFFFFFFF), np.uint64(64)

        def mix(x, y):
            return x + y + np.uint64(2) * (x & half) * (y & half)

        def rotated(x, by):
            return x >> np.uint64(by) | x << bits - np.uint64(by)

        for first, second in ((32, 24), (16, 63)):
            a = mix(a, b)
            d = rotated(d ^ a, first)
            c = mix(c, d)
            b = rotated(b ^ c, second)
        return a, b, c, d

    def permute(self, rows):
        """BLAKE2b's round without a message, on each row of 16 words."""
        v = list(np.moveaxis(rows.reshape(*rows.shape[:-1], 4, 4), -2, 0))
        v = list(self.quarter(*v))
        v = [np.roll(part, -i, axis=-1) for i, part in enumerate(v)]
        v = [np.roll(part, i, axis=-1) for i, part in enumerate(self.quarter(*v))]
        return np.stack(v, axis=-2).reshape(rows.shape)

    def check(self):
        memory, lanes = self.memory[:8].copy(), np.arange(8)
        for n in range(2, memory.shape[1]):
            x = memory[:, n - 1, 0] & np.uint64(0xFFFFFFFF)
            scaled = np.uint64(n - 1) * (x * x >> np.uint64(32)) >> np.uint64(32)
            old = memory[:, n - 1] ^ memory[lanes, n - 2 - scaled.astype(int)]
            rows = self.permute(old.reshape(-1, 8, 16))
            columns = rows.reshape(-1, 8, 8, 2).transpose(0, 2, 1, 3).reshape(-1, 8, 16)
            mixed = self.permute(columns).reshape(-1, 8, 8, 2).transpose(0, 2, 1, 3).reshape(-1, 128)
            memory[:, n] = old ^ mixed
        return np.array_equal(self.fetch(self.arguments[0], self.memory)[:8], memory)


WORKLOADS = {"sha3_256": Sha3, "blake2b": Blake2b, "sha512crypt": Sha512Crypt, "wpa_pbkdf2": Wpa, "bcrypt": Bcrypt, "argon2_fill": Argon2}
