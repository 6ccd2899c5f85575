// Universal character names (C99 6.4.3) in literals and identifiers, trigraphs, and the prefix L.

// Static, because llvm-spirv 15 writes exported non-ASCII names incorrectly.
static int doubl\u00e9(int \u00e9t\U000000e9) { return \u00e9té * 2; }
#define café 7

kernel void run(global int *o)
{
    o[0] = sizeof("a\u00e9b");
    o[1] = "a\u00e9b"[1] & 255;
    o[2] = "a\u00e9b"[2] & 255;
    o[3] = sizeof("\U0001F600");
    o[4] = doublé(4) + caf\u00e9;
    o[5] = L'a';
    o[6] = L'\u00e9';
    o[7] = 1.0L + 2.0l;
    o[8] = '\u0040';
#if L'\x41' == 65
    o[9] = 1;
#endif
    o[10] = "a\\u00e9"[1];
}
// run: run global=1
// arg o: int[11]
// expect o: {5, 0xc3, 0xa9, 5, 15, 97, 0xe9, 3, 64, 1, 92}

kernel void trigraphs(global int *o)
{
    o[0] = sizeof("??!"); // warning: trigraph converted to '|' character
    o??(1??) = 5 ??' 1; // warning: trigraph converted to '[' character
    o[2] = sizeof("what?? ??.");
    // Trigraphs in comments are replaced without a warning: ??=
#define JOIN(a, b) a ??=??= b
    o[3] = JOIN(1, 2);
    o[4] = "??/n"[0]; // warning: trigraph converted to '\' character
}
// warning anywhere: trigraph converted to ']' character
// warning anywhere: trigraph converted to '^' character
// run: trigraphs global=1
// arg o: int[5]
// expect o: {2, 4, 11, 12, 10}
