// Universal character names that C99 does not permit, with clang's wording.

kernel void k(global int *o)
{
    o[0] = '\u00e9'; // error: character too large for enclosing character literal type
    o[1] = '\u0041'; // error: character 'A' cannot be specified by a universal character name
    o[2] = "\ud800"[0]; // error: invalid universal character
    o[3] = "\u12"[0]; // error: incomplete universal character name
    o[4] = "\u"[0]; // error: \u used with no following hex digits
    o[5] = "\u0001"[0]; // error: universal character name refers to a control character
    o[6] = L'ab'; // warning: extraneous characters in character constant ignored
    o[7] = L"ab"[0]; // error: wide string literals are not supported
}
