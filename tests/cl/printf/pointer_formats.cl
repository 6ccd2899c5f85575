// Formats that are not string literals: the host reads them from the program's constant memory.

constant char *constant variable = "variable %d\n";
constant char *constant list[] = {"first %d\n", "second %d\n", "third %d %s\n"};
constant char text[] = "array %d\n";
constant struct { int number; constant char *format; } record = {3, "member %d\n"};

void helper(constant char *format, int x) { printf(format, x); }

constant char *chosen(int x) { return x > 1 ? "many %d\n" : "few %d\n"; }

kernel void known(global int *out)
{
    printf(variable, 1);
    printf(list[1], 2);
    printf(record.format, 3);
    printf(text + 3, 4);
    constant char *local_variable = "local %d\n";
    printf(local_variable, 5);
    helper("helper %d\n", 6);
    helper(list[0], 7);
    out[0] = printf("") + 1;
}
// run: known global=1
// arg out: int[1]
// expect out: 1
// prints: variable 1
// prints: second 2
// prints: member 3
// prints: ay 4
// prints: local 5
// prints: helper 6
// prints: first 7

kernel void unknown(global const int *in)
{
    printf(in[0] ? "yes %d\n" : "no %d\n", 1);
    printf(in[1] ? "yes %d\n" : "no %d\n", 2);
    printf(list[in[2]], 3, "tail");
    printf(chosen(in[3]), 4);
    helper(chosen(in[2]), 5);
    constant char *moving = text;
    for (int i = 0; i < in[2]; i++)
        moving++;
    printf(moving, 6);
    printf(in[0] ? "%v4hlf %s\n" : "%v4hlf and %s\n", (float4)(1, 2, 3, 4.5f), list[in[1]] + 1);
}
// run: unknown global=1
// arg in: int[4] = {0, 1, 2, 1}
// prints: no 1
// prints: yes 2
// prints: third 3 tail
// prints: few 4
// prints: many 5
// prints: ray 6
// prints: 1.000000,2.000000,3.000000,4.500000 and econd %d
// prints:
