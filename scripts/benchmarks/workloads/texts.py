"""Sequences of bytes: alignment, edit distance, checksums, matches for compression."""

import zlib

import numpy as np

from .base import SingleKernel

# The number of bytes that a match at the end of the text can read after the text.
MARGIN = 72


class SmithWaterman(SingleKernel):
    """Local alignment of a query with many sequences of proteins, one per work-item: affine gaps, a table of scores, and a column in private memory."""

    QUERY, OPEN, EXTEND = 48, 11, 1
    SOURCE = """
    #define QUERY 48
    kernel void run(global const uchar *sequences, constant uchar *query, constant char *scores, global int *best, int count, int length)
    {
        int me = get_global_id(0), most = 0;
        short h[QUERY], e[QUERY];
        for (int i = 0; i < QUERY; i++) { h[i] = 0; e[i] = 0; }
        for (int j = 0; j < length; j++) {
            int letter = sequences[j * count + me], diagonal = 0, above = 0, f = 0;
            for (int i = 0; i < QUERY; i++) {
                int left = h[i];
                int right_gap = max(left - OPEN, e[i] - EXTEND);
                f = max(above - OPEN, f - EXTEND);
                int score = max(max(0, diagonal + scores[query[i] * 32 + letter]), max(right_gap, f));
                e[i] = right_gap;
                h[i] = score;
                diagonal = left;
                above = score;
                most = max(most, score);
            }
        }
        best[me] = most;
    }"""
    OPTIONS = (f"-DOPEN={OPEN}", f"-DEXTEND={EXTEND}")

    def shape(self):
        return self.pick(1024, 256 << 10), self.pick(96, 256)

    def work(self):
        count, length = self.shape()
        return count * length * self.QUERY, "Gcell/s"

    def data(self):
        (count, length), random = self.shape(), np.random.default_rng(41)
        self.query = random.integers(0, 20, self.QUERY, np.uint8)
        self.sequences = random.integers(0, 20, (length, count), np.uint8)
        # A part of the query, with a gap, gives alignments that are longer than those of random sequences.
        for me in range(0, count, 3):
            at = me % (length - self.QUERY)
            self.sequences[at : at + 20, me] = self.query[:20]
            self.sequences[at + 22 : at + 42, me] = self.query[20:40]
        upper = np.triu(random.integers(-4, 1, (32, 32)))
        self.scores = (upper + upper.T + np.diag(np.full(32, 6)) - np.diag(np.diag(upper))).astype(np.int8)
        self.best = np.zeros(count, np.int32)
        arrays = self.sequences, self.query, self.scores, self.best
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(count), np.int32(length)]
        self.items = (count,), (64,)

    def check(self):
        sequences = self.sequences[:, ::7]
        h = np.zeros((self.QUERY + 1, sequences.shape[1]), np.int32)
        e, most = np.zeros_like(h), np.zeros(sequences.shape[1], np.int32)
        for letters in sequences:
            before, f = h.copy(), np.zeros_like(most)
            for i in range(1, self.QUERY + 1):
                e[i] = np.maximum(before[i] - self.OPEN, e[i] - self.EXTEND)
                f = np.maximum(h[i - 1] - self.OPEN, f - self.EXTEND)
                pairs = self.scores[self.query[i - 1], letters]
                h[i] = np.maximum.reduce([np.zeros_like(most), before[i - 1] + pairs, e[i], f])
            most = np.maximum(most, h.max(axis=0))
        return np.array_equal(self.fetch(self.arguments[3], self.best)[::7], most)


class Levenshtein(SingleKernel):
    """Edit distances of a pattern of up to 64 letters to many words, with bit vectors: a table of 64-bit masks in local memory, sums with carries."""

    PATTERN = 60
    SOURCE = """
    kernel __attribute__((reqd_work_group_size(64, 1, 1)))
    void run(global const uchar *words, global const uchar *lengths, constant uchar *pattern, int pattern_length, global uchar *distances)
    {
        local ulong masks[256];
        int lane = get_local_id(0);
        size_t me = get_global_id(0);
        for (int i = lane; i < 256; i += 64) {
            ulong mask = 0;
            for (int j = 0; j < pattern_length; j++) mask |= (ulong)(pattern[j] == i) << j;
            masks[i] = mask;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ulong up = ~0ul, down = 0, last = 1ul << (pattern_length - 1);
        int distance = pattern_length, length = lengths[me];
        for (int i = 0; i < length; i++) {
            ulong equal = masks[words[64 * me + i]], vertical = equal | down;
            ulong across = ((equal & up) + up ^ up) | equal;
            ulong plus = down | ~(across | up), minus = up & across;
            if (plus & last) distance++;
            if (minus & last) distance--;
            plus = plus << 1 | 1;
            up = minus << 1 | ~(vertical | plus);
            down = plus & vertical;
        }
        distances[me] = distance;
    }"""

    def work(self):
        return self.pick(32 << 10, 8 << 20), "Gword/s"

    def data(self):
        count, random = self.work()[0], np.random.default_rng(42)
        self.pattern = random.integers(97, 105, self.PATTERN, np.uint8)
        self.words = random.integers(97, 105, (count, 64), np.uint8)
        self.words[::2, 3:40] = self.pattern[:37]
        self.lengths = random.integers(30, 65, count).astype(np.uint8)
        self.distances = np.zeros(count, np.uint8)
        words, lengths, pattern, distances = (self.buffer(array) for array in (self.words, self.lengths, self.pattern, self.distances))
        self.arguments, self.items = [words, lengths, pattern, np.int32(self.PATTERN), distances], ((count,), (64,))

    def check(self):
        step = len(self.words) // 500 | 1
        words, lengths = self.words[::step], self.lengths[::step]
        row = np.repeat(np.arange(self.PATTERN + 1)[:, None], len(words), axis=1)
        rows = [row]
        for letters in words.T:
            before = rows[-1]
            row = np.empty_like(before)
            row[0] = before[0] + 1
            for i, letter in enumerate(self.pattern):
                row[i + 1] = np.minimum(np.minimum(row[i], before[i + 1]) + 1, before[i] + (letters != letter))
            rows.append(row)
        want = np.stack(rows)[lengths, self.PATTERN, np.arange(len(words))]
        return np.array_equal(self.fetch(self.arguments[4], self.distances)[::step], want)


class Crc32(SingleKernel):
    """CRC-32 of blocks of 256 bytes, eight bytes per step with eight tables."""

    BLOCK = 256
    SOURCE = """
    #define T(n, x) tables[(n) * 256 + (x)]
    kernel void run(global const uint2 *bytes, global const uint *tables, global uint *sums, int pairs)
    {
        size_t me = get_global_id(0);
        uint sum = ~0u;
        for (int i = 0; i < pairs; i++) {
            uint2 next = bytes[me * pairs + i];
            uint a = next.x ^ sum, b = next.y;
            sum = T(7, a & 255) ^ T(6, a >> 8 & 255) ^ T(5, a >> 16 & 255) ^ T(4, a >> 24)
                ^ T(3, b & 255) ^ T(2, b >> 8 & 255) ^ T(1, b >> 16 & 255) ^ T(0, b >> 24);
        }
        sums[me] = ~sum;
    }"""

    def work(self):
        return self.pick(16 << 10, 1 << 20) * self.BLOCK, "GB/s"

    def tables(self):
        first = np.arange(256, dtype=np.uint32)
        for _ in range(8):
            first = np.where(first & 1, first >> 1 ^ 0xEDB88320, first >> 1).astype(np.uint32)
        tables = [first]
        for _ in range(7):
            tables.append(tables[-1] >> 8 ^ first[tables[-1] & 255])
        return np.stack(tables)

    def data(self):
        count = self.work()[0] // self.BLOCK
        self.bytes = np.random.default_rng(43).integers(0, 256, (count, self.BLOCK), np.uint8)
        self.sums = np.zeros(count, np.uint32)
        self.arguments = [*(self.buffer(array) for array in (self.bytes, self.tables(), self.sums)), np.int32(self.BLOCK // 8)]
        self.items = (count,), (64,)

    def check(self):
        sums = self.fetch(self.arguments[2], self.sums)
        return all(sums[i] == zlib.crc32(self.bytes[i].tobytes()) for i in range(0, len(sums), 17))


class Matches(SingleKernel):
    """The longest earlier match at each position, as for LZ compression: a walk through a chain of positions with the same hash, and unaligned reads."""

    WINDOW, DEPTH, LONGEST = 4096, 8, 64
    SOURCE = """
    uint word(global const uchar *text, uint at) { return as_uint(vload4(0, text + at)); }
    kernel void run(global const uchar *text, global const int *before, global uint *matches, uint length)
    {
        uint me = get_global_id(0), best = 3, from = 0, limit = min((uint)LONGEST, length - me);
        int candidate = before[me];
        for (int depth = 0; depth < DEPTH && candidate >= 0 && me - candidate <= WINDOW; depth++) {
            if (text[candidate + best] == text[me + best]) {
                uint same = 0;
                while (same < limit) {
                    uint differ = word(text, candidate + same) ^ word(text, me + same);
                    if (differ) {
                        same += (31 - clz(differ & -differ)) / 8;
                        break;
                    }
                    same += 4;
                }
                same = min(same, limit);
                if (same > best) {
                    best = same;
                    from = me - candidate;
                    if (best == limit) break;
                }
            }
            candidate = before[candidate];
        }
        matches[me] = from << 8 | (from ? best : 0);
    }"""
    OPTIONS = (f"-DWINDOW={WINDOW}", f"-DDEPTH={DEPTH}", f"-DLONGEST={LONGEST}")

    def work(self):
        return self.pick(128 << 10, 32 << 20), "GB/s"

    def data(self):
        length, random = self.work()[0], np.random.default_rng(44)
        # Text of words, so that matches have many lengths.
        words = [random.integers(97, 123, random.integers(2, 12), np.uint8) for _ in range(512)]
        text = np.concatenate([words[i] for i in (random.exponential(60, length // 4) % 512).astype(int)])
        self.text = np.concatenate([np.resize(text, length), np.zeros(MARGIN, np.uint8)])
        keys = np.lib.stride_tricks.sliding_window_view(self.text[: length + 3], 4).astype(np.uint32) @ np.array([1, 1 << 8, 1 << 16, 1 << 24], np.uint32)
        hashes = (keys * np.uint32(2654435761)) >> np.uint32(20)
        order = np.argsort(hashes, kind="stable")
        self.before = np.full(length, -1, np.int32)
        same = hashes[order[1:]] == hashes[order[:-1]]
        self.before[order[1:][same]] = order[:-1][same]
        self.matches = np.zeros(length, np.uint32)
        self.arguments = [*(self.buffer(array) for array in (self.text, self.before, self.matches)), np.uint32(length)]
        self.items = (length,), (64,)

    def check(self):
        matches, text, length = self.fetch(self.arguments[2], self.matches), self.text.tobytes(), len(self.before)
        for me in range(0, length, length // 400 - 1):
            best, source, limit, candidate = 3, 0, min(self.LONGEST, length - me), self.before[me]
            for _ in range(self.DEPTH):
                if candidate < 0 or me - candidate > self.WINDOW:
                    break
                same = 0
                while same < limit and text[candidate + same] == text[me + same]:
                    same += 1
                if same > best:
                    best, source = same, me - candidate
                candidate = self.before[candidate]
            if matches[me] != (source << 8 | (best if source else 0)):
                return False
        return True


WORKLOADS = {"smith_waterman": SmithWaterman, "levenshtein": Levenshtein, "crc32": Crc32, "lz_matches": Matches}
