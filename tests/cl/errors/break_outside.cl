// break, continue and case outside of loops and switches.
kernel void f(global int *out)
{
    break;                  // error: 'break' statement not in
    out[0] = 1;
    continue;               // error: 'continue' statement not in
    switch (out[0]) {
    case 1:
        continue;           // error: 'continue' statement not in
    }
    case 2:                 // error: 'case' statement not in switch
    out[1] = 2;
}
