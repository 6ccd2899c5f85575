// Code that no work-item executes accesses memory before the first element of a buffer.

kernel void before_first(global char *bytes, global int *words, int n)
{
    if (n) {
        bytes[-1] = 3;
        words[-1] = bytes[-1] + words[-2];
    }
    bytes[0] = 5;
    words[0] = 6;
}
// run: before_first global=1 local=1
// arg bytes: char[4]
// arg words: int[4]
// arg n: int = 0
// expect bytes: {5, 0, 0, 0}
// expect words: {6, 0, 0, 0}
