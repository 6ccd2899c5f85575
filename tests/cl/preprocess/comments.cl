/* Comments in every place, line splices, and digraph-free odd spacing. */
/**/ kernel /* a */ void /* // */ odd( /* b
   over lines */ global int *out) // to the end \
 which goes on here
{
    out[0] = 1 /* one */ + /* two */ 2;
    out[1] = 10 //* 2
        / 5;
    out[2] = "/* text */"[0] + '"' - '"';
    ou\
t[3] = 4;
    out[4] = 1/**/+/**/1;
    /* * / ** // */ out[5] = 6;
}
// run: odd global=1
// arg out: int[6]
// expect out: {3, 2, 47, 4, 2, 6}
