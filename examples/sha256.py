#!/usr/bin/env python3
"""SHA-256 of many messages of different lengths, one work-item per message, compared with hashlib."""

import hashlib

import numpy as np
import pyopencl as cl

import common

CONSTANTS = """
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
"""

SOURCE = """
constant uint K[64] = {%s};

#define ROTATE_RIGHT(x, n) rotate((x), 32u - (n))

// One round of the compression function for each of the 64 words of the message schedule, stored in a circular buffer of 16.
void compress(uint *state, uint *w)
{
    uint a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (uint i = 0; i < 64; i++) {
        if (i >= 16) {
            uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            uint s0 = ROTATE_RIGHT(x, 7u) ^ ROTATE_RIGHT(x, 18u) ^ (x >> 3);
            uint s1 = ROTATE_RIGHT(y, 17u) ^ ROTATE_RIGHT(y, 19u) ^ (y >> 10);
            w[i & 15] += s0 + s1 + w[(i + 9) & 15];
        }
        uint t1 = h + (ROTATE_RIGHT(e, 6u) ^ ROTATE_RIGHT(e, 11u) ^ ROTATE_RIGHT(e, 25u)) + bitselect(g, f, e) + K[i] + w[i & 15];
        uint t2 = (ROTATE_RIGHT(a, 2u) ^ ROTATE_RIGHT(a, 13u) ^ ROTATE_RIGHT(a, 22u)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
    state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

// A byte of the padded message: the message, a 1 bit, zeros. The last words contain the length.
uchar padded(global const uchar *message, uint length, uint at)
{
    return at < length ? message[at] : at == length ? 0x80 : 0;
}

kernel void sha256(global const uchar *messages, global const uint *starts, global uchar *digests)
{
    size_t me = get_global_id(0);
    global const uchar *message = messages + starts[me];
    uint length = starts[me + 1] - starts[me];
    uint blocks = (length + 8) / 64 + 1;
    uint state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint block = 0; block < blocks; block++) {
        uint w[16];
        for (uint i = 0; i < 16; i++) {
            uint at = 64 * block + 4 * i;
            uchar4 bytes = (uchar4)(padded(message, length, at + 3), padded(message, length, at + 2),
                                    padded(message, length, at + 1), padded(message, length, at));
            w[i] = as_uint(bytes);
        }
        if (block == blocks - 1)
            w[15] = length * 8;
        compress(state, w);
    }
    for (uint i = 0; i < 8; i++)
        vstore4(as_uchar4(state[i]).wzyx, i, digests + 32 * me);
}
""" % CONSTANTS


def main():
    args = common.arguments(__doc__, messages=(1000, "number of messages"), longest=(200, "maximum length of a message in bytes"))
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().sha256

    random = np.random.default_rng(6)
    messages = [random.bytes(length) for length in random.integers(0, args.longest + 1, args.messages)]
    starts = np.concatenate([[0], np.cumsum([len(message) for message in messages])]).astype(np.uint32)
    # One extra byte, because a buffer cannot be empty.
    data = np.frombuffer(b"".join(messages) + b"\0", np.uint8)
    digests = np.zeros((args.messages, 32), np.uint8)
    buffers = [common.to_device(context, array) for array in (data, starts, digests)]
    event = kernel(queue, (args.messages,), None, *buffers)
    result = common.to_host(queue, buffers[2], digests)
    print(f"{args.messages} messages, {data.size - 1} bytes in {common.milliseconds(event):.2f} ms")
    right = all(bytes(digest) == hashlib.sha256(message).digest() for digest, message in zip(result, messages))
    common.verdict("digests", right)


main()
