// The layout of structures and unions: sizes, alignments and offsets match gcc on x86-64, with `packed`, `aligned` and
// `#pragma pack` in all positions. A generator wrote the declarations; gcc computed the numbers.
// requires: fp64 int64

typedef struct __attribute__((packed)) {
    struct { ushort m0_0; struct { double m0_1_0 __attribute__((packed)); } m0_1; } m0;
    double m1[1] __attribute__((packed));
    struct { double m2_0; uchar m2_1[3]; } m2;
    struct { union { uint m3_0_0; uchar m3_0_1[3] __attribute__((aligned(4))); }; ulong m3_1; float m3_2[1] __attribute__((packed)); };
    long m4;
    float m5[3] __attribute__((packed));
} T0;
_Static_assert(sizeof(T0) == 78 && _Alignof(T0) == 1, "T0");
_Static_assert(offsetof(T0, m0) == 0, "T0.m0");
_Static_assert(offsetof(T0, m0.m0_0) == 0, "T0.m0.m0_0");
_Static_assert(offsetof(T0, m0.m0_1) == 2, "T0.m0.m0_1");
_Static_assert(offsetof(T0, m0.m0_1.m0_1_0) == 2, "T0.m0.m0_1.m0_1_0");
_Static_assert(offsetof(T0, m1) == 10, "T0.m1");
_Static_assert(offsetof(T0, m2) == 18, "T0.m2");
_Static_assert(offsetof(T0, m2.m2_0) == 18, "T0.m2.m2_0");
_Static_assert(offsetof(T0, m2.m2_1) == 26, "T0.m2.m2_1");
_Static_assert(offsetof(T0, m3_0_0) == 34, "T0.m3_0_0");
_Static_assert(offsetof(T0, m3_0_1) == 34, "T0.m3_0_1");
_Static_assert(offsetof(T0, m3_1) == 42, "T0.m3_1");
_Static_assert(offsetof(T0, m3_2) == 50, "T0.m3_2");
_Static_assert(offsetof(T0, m4) == 58, "T0.m4");
_Static_assert(offsetof(T0, m5) == 66, "T0.m5");

typedef union {
    double m0[5];
    int m1[1];
    int m2[2][3] __attribute__((packed));
} T1;
_Static_assert(sizeof(T1) == 40 && _Alignof(T1) == 8, "T1");
_Static_assert(offsetof(T1, m0) == 0, "T1.m0");
_Static_assert(offsetof(T1, m1) == 0, "T1.m1");
_Static_assert(offsetof(T1, m2) == 0, "T1.m2");

#pragma pack(push, 8)
typedef struct {
    uint m0;
    double m1;
    int m2;
} T2;
#pragma pack(pop)
_Static_assert(sizeof(T2) == 24 && _Alignof(T2) == 8, "T2");
_Static_assert(offsetof(T2, m0) == 0, "T2.m0");
_Static_assert(offsetof(T2, m1) == 8, "T2.m1");
_Static_assert(offsetof(T2, m2) == 16, "T2.m2");

typedef struct {
    T1 m0;
} __attribute__((aligned(32))) T3;
_Static_assert(sizeof(T3) == 64 && _Alignof(T3) == 32, "T3");
_Static_assert(offsetof(T3, m0) == 0, "T3.m0");

typedef union {
    long m0;
    T1 m1 __attribute__((aligned(4)));
    int m2;
} T4;
_Static_assert(sizeof(T4) == 40 && _Alignof(T4) == 8, "T4");
_Static_assert(offsetof(T4, m0) == 0, "T4.m0");
_Static_assert(offsetof(T4, m1) == 0, "T4.m1");
_Static_assert(offsetof(T4, m2) == 0, "T4.m2");

typedef struct {
    float m0[3];
    ulong m1[5];
    float m2[1];
    ulong m3[2][3];
    ushort m4[1];
} __attribute__((packed, aligned(4))) T5;
_Static_assert(sizeof(T5) == 108 && _Alignof(T5) == 4, "T5");
_Static_assert(offsetof(T5, m0) == 0, "T5.m0");
_Static_assert(offsetof(T5, m1) == 12, "T5.m1");
_Static_assert(offsetof(T5, m2) == 52, "T5.m2");
_Static_assert(offsetof(T5, m3) == 56, "T5.m3");
_Static_assert(offsetof(T5, m4) == 104, "T5.m4");

typedef struct {
    T2 m0 __attribute__((aligned(2)));
} __attribute__((aligned(2))) T6;
_Static_assert(sizeof(T6) == 24 && _Alignof(T6) == 8, "T6");
_Static_assert(offsetof(T6, m0) == 0, "T6.m0");

typedef struct {
    T2 m0[2];
    ulong m1[1] __attribute__((aligned(16)));
    uint m2[2][3] __attribute__((aligned(2)));
    short m3[3];
} __attribute__((packed)) T7;
_Static_assert(sizeof(T7) == 96 && _Alignof(T7) == 16, "T7");
_Static_assert(offsetof(T7, m0) == 0, "T7.m0");
_Static_assert(offsetof(T7, m1) == 48, "T7.m1");
_Static_assert(offsetof(T7, m2) == 56, "T7.m2");
_Static_assert(offsetof(T7, m3) == 80, "T7.m3");

typedef struct {
    char m0[5];
    uchar m1[2][3];
    short m2;
    float m3;
    ushort m4[5];
} T8;
_Static_assert(sizeof(T8) == 32 && _Alignof(T8) == 4, "T8");
_Static_assert(offsetof(T8, m0) == 0, "T8.m0");
_Static_assert(offsetof(T8, m1) == 5, "T8.m1");
_Static_assert(offsetof(T8, m2) == 12, "T8.m2");
_Static_assert(offsetof(T8, m3) == 16, "T8.m3");
_Static_assert(offsetof(T8, m4) == 20, "T8.m4");

typedef struct {
    char m0;
    ushort m1[2][3];
} __attribute__((packed, aligned(2))) T9;
_Static_assert(sizeof(T9) == 14 && _Alignof(T9) == 2, "T9");
_Static_assert(offsetof(T9, m0) == 0, "T9.m0");
_Static_assert(offsetof(T9, m1) == 1, "T9.m1");

typedef struct {
    T3 m0[2] __attribute__((aligned(16)));
    struct { uchar m1_0[5]; ushort m1_1[1]; } m1;
    uchar m2[5];
} __attribute__((aligned(16))) T10;
_Static_assert(sizeof(T10) == 160 && _Alignof(T10) == 32, "T10");
_Static_assert(offsetof(T10, m0) == 0, "T10.m0");
_Static_assert(offsetof(T10, m1) == 128, "T10.m1");
_Static_assert(offsetof(T10, m1.m1_0) == 128, "T10.m1.m1_0");
_Static_assert(offsetof(T10, m1.m1_1) == 134, "T10.m1.m1_1");
_Static_assert(offsetof(T10, m2) == 136, "T10.m2");

typedef union {
    short m0;
    double m1[1] __attribute__((packed));
    ulong m2[2][3] __attribute__((aligned(32)));
    short m3 __attribute__((aligned(32)));
} T11;
_Static_assert(sizeof(T11) == 64 && _Alignof(T11) == 32, "T11");
_Static_assert(offsetof(T11, m0) == 0, "T11.m0");
_Static_assert(offsetof(T11, m1) == 0, "T11.m1");
_Static_assert(offsetof(T11, m2) == 0, "T11.m2");
_Static_assert(offsetof(T11, m3) == 0, "T11.m3");

typedef struct {
    T2 m0[3];
    ushort m1;
    ushort m2[5];
    long m3[5];
    T5 m4[3];
    float m5[1];
} T12;
_Static_assert(sizeof(T12) == 456 && _Alignof(T12) == 8, "T12");
_Static_assert(offsetof(T12, m0) == 0, "T12.m0");
_Static_assert(offsetof(T12, m1) == 72, "T12.m1");
_Static_assert(offsetof(T12, m2) == 74, "T12.m2");
_Static_assert(offsetof(T12, m3) == 88, "T12.m3");
_Static_assert(offsetof(T12, m4) == 128, "T12.m4");
_Static_assert(offsetof(T12, m5) == 452, "T12.m5");

typedef union {
    char m0[5];
    char m1[5];
} T13;
_Static_assert(sizeof(T13) == 5 && _Alignof(T13) == 1, "T13");
_Static_assert(offsetof(T13, m0) == 0, "T13.m0");
_Static_assert(offsetof(T13, m1) == 0, "T13.m1");

typedef union __attribute__((packed)) {
    uint m0[2][3] __attribute__((aligned(2)));
    uchar m1[3];
    T0 m2;
    uchar m3[1];
} T14;
_Static_assert(sizeof(T14) == 78 && _Alignof(T14) == 2, "T14");
_Static_assert(offsetof(T14, m0) == 0, "T14.m0");
_Static_assert(offsetof(T14, m1) == 0, "T14.m1");
_Static_assert(offsetof(T14, m2) == 0, "T14.m2");
_Static_assert(offsetof(T14, m3) == 0, "T14.m3");

typedef struct {
    ulong m0[3];
    ushort m1[2][3];
    int m2[3];
    ulong m3;
    uint m4;
} T15;
_Static_assert(sizeof(T15) == 64 && _Alignof(T15) == 8, "T15");
_Static_assert(offsetof(T15, m0) == 0, "T15.m0");
_Static_assert(offsetof(T15, m1) == 24, "T15.m1");
_Static_assert(offsetof(T15, m2) == 36, "T15.m2");
_Static_assert(offsetof(T15, m3) == 48, "T15.m3");
_Static_assert(offsetof(T15, m4) == 56, "T15.m4");

typedef struct {
    uint m0 __attribute__((aligned(4)));
    ushort m1[2][3] __attribute__((aligned(16)));
    ulong m2;
    short m3[2][3];
    uint m4[1];
    union { char m5_0[1]; };
} __attribute__((packed, aligned(2))) T16;
_Static_assert(sizeof(T16) == 64 && _Alignof(T16) == 16, "T16");
_Static_assert(offsetof(T16, m0) == 0, "T16.m0");
_Static_assert(offsetof(T16, m1) == 16, "T16.m1");
_Static_assert(offsetof(T16, m2) == 28, "T16.m2");
_Static_assert(offsetof(T16, m3) == 36, "T16.m3");
_Static_assert(offsetof(T16, m4) == 48, "T16.m4");
_Static_assert(offsetof(T16, m5_0) == 52, "T16.m5_0");

#pragma pack(push, 1)
typedef struct {
    uchar m0;
} T17;
#pragma pack(pop)
_Static_assert(sizeof(T17) == 1 && _Alignof(T17) == 1, "T17");
_Static_assert(offsetof(T17, m0) == 0, "T17.m0");

typedef struct __attribute__((packed)) {
    union { short m0_0[3]; uint m0_1; short m0_2[1]; } m0;
    uchar m1[5] __attribute__((packed));
    ushort m2;
    uint m3[3] __attribute__((aligned(2)));
    double m4;
    T3 m5;
    int m6[2][3];
} T18;
_Static_assert(sizeof(T18) == 124 && _Alignof(T18) == 2, "T18");
_Static_assert(offsetof(T18, m0) == 0, "T18.m0");
_Static_assert(offsetof(T18, m0.m0_0) == 0, "T18.m0.m0_0");
_Static_assert(offsetof(T18, m0.m0_1) == 0, "T18.m0.m0_1");
_Static_assert(offsetof(T18, m0.m0_2) == 0, "T18.m0.m0_2");
_Static_assert(offsetof(T18, m1) == 8, "T18.m1");
_Static_assert(offsetof(T18, m2) == 13, "T18.m2");
_Static_assert(offsetof(T18, m3) == 16, "T18.m3");
_Static_assert(offsetof(T18, m4) == 28, "T18.m4");
_Static_assert(offsetof(T18, m5) == 36, "T18.m5");
_Static_assert(offsetof(T18, m6) == 100, "T18.m6");

typedef struct {
    int m0;
    char m1;
    T6 m2[3];
} T19;
_Static_assert(sizeof(T19) == 80 && _Alignof(T19) == 8, "T19");
_Static_assert(offsetof(T19, m0) == 0, "T19.m0");
_Static_assert(offsetof(T19, m1) == 4, "T19.m1");
_Static_assert(offsetof(T19, m2) == 8, "T19.m2");

typedef struct {
    float m0[5];
    int m1[2][3];
    struct { char m2_0[5] __attribute__((aligned(8))); T8 m2_1[3] __attribute__((packed)); T16 m2_2[2] __attribute__((aligned(16))); } m2;
    short m3 __attribute__((packed));
    uint m4 __attribute__((packed));
    ushort m5;
    uint m6;
} __attribute__((packed, aligned(8))) T20;
_Static_assert(sizeof(T20) == 296 && _Alignof(T20) == 8, "T20");
_Static_assert(offsetof(T20, m0) == 0, "T20.m0");
_Static_assert(offsetof(T20, m1) == 20, "T20.m1");
_Static_assert(offsetof(T20, m2) == 44, "T20.m2");
_Static_assert(offsetof(T20, m2.m2_0) == 44, "T20.m2.m2_0");
_Static_assert(offsetof(T20, m2.m2_1) == 49, "T20.m2.m2_1");
_Static_assert(offsetof(T20, m2.m2_2) == 156, "T20.m2.m2_2");
_Static_assert(offsetof(T20, m3) == 284, "T20.m3");
_Static_assert(offsetof(T20, m4) == 286, "T20.m4");
_Static_assert(offsetof(T20, m5) == 290, "T20.m5");
_Static_assert(offsetof(T20, m6) == 292, "T20.m6");

typedef struct {
    float m0[5];
    T2 m1;
    char m2 __attribute__((packed));
} __attribute__((aligned(32))) T21;
_Static_assert(sizeof(T21) == 64 && _Alignof(T21) == 32, "T21");
_Static_assert(offsetof(T21, m0) == 0, "T21.m0");
_Static_assert(offsetof(T21, m1) == 24, "T21.m1");
_Static_assert(offsetof(T21, m2) == 48, "T21.m2");

typedef struct {
    short m0[2][3];
    double m1[1];
    ulong m2;
    short m3;
    float m4[2][3];
} __attribute__((packed)) T22;
_Static_assert(sizeof(T22) == 54 && _Alignof(T22) == 1, "T22");
_Static_assert(offsetof(T22, m0) == 0, "T22.m0");
_Static_assert(offsetof(T22, m1) == 12, "T22.m1");
_Static_assert(offsetof(T22, m2) == 20, "T22.m2");
_Static_assert(offsetof(T22, m3) == 28, "T22.m3");
_Static_assert(offsetof(T22, m4) == 30, "T22.m4");

typedef struct {
    T16 m0;
    ushort m1;
    T3 m2[3] __attribute__((aligned(8)));
    char m3[2][3];
    int m4;
} T23;
_Static_assert(sizeof(T23) == 320 && _Alignof(T23) == 32, "T23");
_Static_assert(offsetof(T23, m0) == 0, "T23.m0");
_Static_assert(offsetof(T23, m1) == 64, "T23.m1");
_Static_assert(offsetof(T23, m2) == 96, "T23.m2");
_Static_assert(offsetof(T23, m3) == 288, "T23.m3");
_Static_assert(offsetof(T23, m4) == 296, "T23.m4");

typedef struct __attribute__((packed)) {
    uchar m0[2][3] __attribute__((aligned(32)));
    uchar m1[5];
    ushort m2;
    ulong m3[5];
    int m4[5];
} T24;
_Static_assert(sizeof(T24) == 96 && _Alignof(T24) == 32, "T24");
_Static_assert(offsetof(T24, m0) == 0, "T24.m0");
_Static_assert(offsetof(T24, m1) == 6, "T24.m1");
_Static_assert(offsetof(T24, m2) == 11, "T24.m2");
_Static_assert(offsetof(T24, m3) == 13, "T24.m3");
_Static_assert(offsetof(T24, m4) == 53, "T24.m4");

#pragma pack(push, 2)
typedef struct {
    int m0[3];
} T25;
#pragma pack(pop)
_Static_assert(sizeof(T25) == 12 && _Alignof(T25) == 2, "T25");
_Static_assert(offsetof(T25, m0) == 0, "T25.m0");

typedef struct __attribute__((packed)) {
    uchar m0[2][3];
} T26;
_Static_assert(sizeof(T26) == 6 && _Alignof(T26) == 1, "T26");
_Static_assert(offsetof(T26, m0) == 0, "T26.m0");

typedef struct {
    uchar m0[3];
    union { float m1_0[1] __attribute__((packed)); } m1;
    ushort m2;
    int m3 __attribute__((aligned(32)));
    T16 m4[2];
} __attribute__((packed, aligned(8))) T27;
_Static_assert(sizeof(T27) == 192 && _Alignof(T27) == 32, "T27");
_Static_assert(offsetof(T27, m0) == 0, "T27.m0");
_Static_assert(offsetof(T27, m1) == 3, "T27.m1");
_Static_assert(offsetof(T27, m1.m1_0) == 3, "T27.m1.m1_0");
_Static_assert(offsetof(T27, m2) == 7, "T27.m2");
_Static_assert(offsetof(T27, m3) == 32, "T27.m3");
_Static_assert(offsetof(T27, m4) == 36, "T27.m4");

typedef union {
    long m0;
    T21 m1[3];
} T28;
_Static_assert(sizeof(T28) == 192 && _Alignof(T28) == 32, "T28");
_Static_assert(offsetof(T28, m0) == 0, "T28.m0");
_Static_assert(offsetof(T28, m1) == 0, "T28.m1");

typedef struct {
    uint m0;
    long m1;
    char m2[2][3];
    long m3[1];
} T29;
_Static_assert(sizeof(T29) == 32 && _Alignof(T29) == 8, "T29");
_Static_assert(offsetof(T29, m0) == 0, "T29.m0");
_Static_assert(offsetof(T29, m1) == 8, "T29.m1");
_Static_assert(offsetof(T29, m2) == 16, "T29.m2");
_Static_assert(offsetof(T29, m3) == 24, "T29.m3");

#pragma pack(push, 4)
typedef union {
    int m0;
    T20 m1;
    union { long m2_0; } m2;
    float m3[3];
} T30;
#pragma pack(pop)
_Static_assert(sizeof(T30) == 296 && _Alignof(T30) == 4, "T30");
_Static_assert(offsetof(T30, m0) == 0, "T30.m0");
_Static_assert(offsetof(T30, m1) == 0, "T30.m1");
_Static_assert(offsetof(T30, m2) == 0, "T30.m2");
_Static_assert(offsetof(T30, m2.m2_0) == 0, "T30.m2.m2_0");
_Static_assert(offsetof(T30, m3) == 0, "T30.m3");

typedef struct __attribute__((packed)) {
    short m0[2][3];
    float m1;
    T9 m2[2];
    int m3[1];
    float m4[2][3];
    uchar m5 __attribute__((aligned(4)));
} T31;
_Static_assert(sizeof(T31) == 76 && _Alignof(T31) == 4, "T31");
_Static_assert(offsetof(T31, m0) == 0, "T31.m0");
_Static_assert(offsetof(T31, m1) == 12, "T31.m1");
_Static_assert(offsetof(T31, m2) == 16, "T31.m2");
_Static_assert(offsetof(T31, m3) == 44, "T31.m3");
_Static_assert(offsetof(T31, m4) == 48, "T31.m4");
_Static_assert(offsetof(T31, m5) == 72, "T31.m5");

typedef struct {
    union { T5 m0_0; uint m0_1 __attribute__((aligned(4))); } m0;
    union { long m1_0; int m1_1[3] __attribute__((packed)); } m1 __attribute__((packed));
    T13 m2;
    long m3[2][3];
    char m4;
} T32;
_Static_assert(sizeof(T32) == 192 && _Alignof(T32) == 8, "T32");
_Static_assert(offsetof(T32, m0) == 0, "T32.m0");
_Static_assert(offsetof(T32, m0.m0_0) == 0, "T32.m0.m0_0");
_Static_assert(offsetof(T32, m0.m0_1) == 0, "T32.m0.m0_1");
_Static_assert(offsetof(T32, m1) == 108, "T32.m1");
_Static_assert(offsetof(T32, m1.m1_0) == 108, "T32.m1.m1_0");
_Static_assert(offsetof(T32, m1.m1_1) == 108, "T32.m1.m1_1");
_Static_assert(offsetof(T32, m2) == 124, "T32.m2");
_Static_assert(offsetof(T32, m3) == 136, "T32.m3");
_Static_assert(offsetof(T32, m4) == 184, "T32.m4");

typedef struct {
    char m0;
    float m1[5];
    uchar m2;
    T6 m3[3];
    T0 m4;
    union { long m5_0[2][3]; } m5;
    T12 m6[3];
} T33;
_Static_assert(sizeof(T33) == 1600 && _Alignof(T33) == 8, "T33");
_Static_assert(offsetof(T33, m0) == 0, "T33.m0");
_Static_assert(offsetof(T33, m1) == 4, "T33.m1");
_Static_assert(offsetof(T33, m2) == 24, "T33.m2");
_Static_assert(offsetof(T33, m3) == 32, "T33.m3");
_Static_assert(offsetof(T33, m4) == 104, "T33.m4");
_Static_assert(offsetof(T33, m5) == 184, "T33.m5");
_Static_assert(offsetof(T33, m5.m5_0) == 184, "T33.m5.m5_0");
_Static_assert(offsetof(T33, m6) == 232, "T33.m6");

typedef struct {
    T29 m0[2];
} T34;
_Static_assert(sizeof(T34) == 64 && _Alignof(T34) == 8, "T34");
_Static_assert(offsetof(T34, m0) == 0, "T34.m0");

#pragma pack(push, 2)
typedef union {
    char m0[1];
    char m1;
    long m2;
    uint m3;
} T35;
#pragma pack(pop)
_Static_assert(sizeof(T35) == 8 && _Alignof(T35) == 2, "T35");
_Static_assert(offsetof(T35, m0) == 0, "T35.m0");
_Static_assert(offsetof(T35, m1) == 0, "T35.m1");
_Static_assert(offsetof(T35, m2) == 0, "T35.m2");
_Static_assert(offsetof(T35, m3) == 0, "T35.m3");

#pragma pack(push, 8)
typedef struct {
    int m0[2][3];
    ulong m1;
    ushort m2[1];
} T36;
#pragma pack(pop)
_Static_assert(sizeof(T36) == 40 && _Alignof(T36) == 8, "T36");
_Static_assert(offsetof(T36, m0) == 0, "T36.m0");
_Static_assert(offsetof(T36, m1) == 24, "T36.m1");
_Static_assert(offsetof(T36, m2) == 32, "T36.m2");

typedef struct {
    T11 m0;
    char m1[3];
    T13 m2;
} T37;
_Static_assert(sizeof(T37) == 96 && _Alignof(T37) == 32, "T37");
_Static_assert(offsetof(T37, m0) == 0, "T37.m0");
_Static_assert(offsetof(T37, m1) == 64, "T37.m1");
_Static_assert(offsetof(T37, m2) == 67, "T37.m2");

typedef union __attribute__((packed)) {
    ulong m0[2][3];
} T38;
_Static_assert(sizeof(T38) == 48 && _Alignof(T38) == 1, "T38");
_Static_assert(offsetof(T38, m0) == 0, "T38.m0");

typedef union {
    short m0[2][3];
} T39;
_Static_assert(sizeof(T39) == 12 && _Alignof(T39) == 2, "T39");
_Static_assert(offsetof(T39, m0) == 0, "T39.m0");

typedef union {
    uint m0;
} T40;
_Static_assert(sizeof(T40) == 4 && _Alignof(T40) == 4, "T40");
_Static_assert(offsetof(T40, m0) == 0, "T40.m0");

typedef struct __attribute__((packed)) {
    uchar m0[3];
} T41;
_Static_assert(sizeof(T41) == 3 && _Alignof(T41) == 1, "T41");
_Static_assert(offsetof(T41, m0) == 0, "T41.m0");

typedef union {
    long m0;
    T23 m1[3];
    union { long m2_0; };
} __attribute__((packed)) T42;
_Static_assert(sizeof(T42) == 960 && _Alignof(T42) == 1, "T42");
_Static_assert(offsetof(T42, m0) == 0, "T42.m0");
_Static_assert(offsetof(T42, m1) == 0, "T42.m1");
_Static_assert(offsetof(T42, m2_0) == 0, "T42.m2_0");

typedef struct {
    double m0;
} T43;
_Static_assert(sizeof(T43) == 8 && _Alignof(T43) == 8, "T43");
_Static_assert(offsetof(T43, m0) == 0, "T43.m0");

typedef struct {
    int m0;
    T40 m1;
    T30 m2[3];
} __attribute__((aligned(2))) T44;
_Static_assert(sizeof(T44) == 896 && _Alignof(T44) == 4, "T44");
_Static_assert(offsetof(T44, m0) == 0, "T44.m0");
_Static_assert(offsetof(T44, m1) == 4, "T44.m1");
_Static_assert(offsetof(T44, m2) == 8, "T44.m2");

typedef union {
    short m0 __attribute__((aligned(16)));
    short m1[3];
    union { float m2_0; uchar m2_1[2][3] __attribute__((aligned(16))); };
    long m3;
} __attribute__((aligned(16))) T45;
_Static_assert(sizeof(T45) == 16 && _Alignof(T45) == 16, "T45");
_Static_assert(offsetof(T45, m0) == 0, "T45.m0");
_Static_assert(offsetof(T45, m1) == 0, "T45.m1");
_Static_assert(offsetof(T45, m2_0) == 0, "T45.m2_0");
_Static_assert(offsetof(T45, m2_1) == 0, "T45.m2_1");
_Static_assert(offsetof(T45, m3) == 0, "T45.m3");

typedef union {
    union { struct { uchar m0_0_0[5]; double m0_0_1; ushort m0_0_2[1]; }; };
} __attribute__((packed)) T46;
_Static_assert(sizeof(T46) == 24 && _Alignof(T46) == 1, "T46");
_Static_assert(offsetof(T46, m0_0_0) == 0, "T46.m0_0_0");
_Static_assert(offsetof(T46, m0_0_1) == 8, "T46.m0_0_1");
_Static_assert(offsetof(T46, m0_0_2) == 16, "T46.m0_0_2");

typedef struct {
    union { uchar m0_0[2][3]; };
    T14 m1[3] __attribute__((packed));
    int m2 __attribute__((packed));
    T37 m3;
    short m4[1];
} T47;
_Static_assert(sizeof(T47) == 384 && _Alignof(T47) == 32, "T47");
_Static_assert(offsetof(T47, m0_0) == 0, "T47.m0_0");
_Static_assert(offsetof(T47, m1) == 6, "T47.m1");
_Static_assert(offsetof(T47, m2) == 240, "T47.m2");
_Static_assert(offsetof(T47, m3) == 256, "T47.m3");
_Static_assert(offsetof(T47, m4) == 352, "T47.m4");

typedef struct {
    double m0 __attribute__((aligned(32)));
    struct { struct { uint m1_0_0; } m1_0; };
    T30 m2;
    float m3;
    long m4[2][3] __attribute__((aligned(4)));
    int m5[1];
} T48;
_Static_assert(sizeof(T48) == 384 && _Alignof(T48) == 32, "T48");
_Static_assert(offsetof(T48, m0) == 0, "T48.m0");
_Static_assert(offsetof(T48, m1_0) == 8, "T48.m1_0");
_Static_assert(offsetof(T48, m1_0.m1_0_0) == 8, "T48.m1_0.m1_0_0");
_Static_assert(offsetof(T48, m2) == 12, "T48.m2");
_Static_assert(offsetof(T48, m3) == 308, "T48.m3");
_Static_assert(offsetof(T48, m4) == 312, "T48.m4");
_Static_assert(offsetof(T48, m5) == 360, "T48.m5");

typedef union {
    uint m0[2][3];
    struct { uchar m1_0[1] __attribute__((aligned(2))); } m1;
    short m2;
    T5 m3[2] __attribute__((aligned(16)));
} __attribute__((aligned(16))) T49;
_Static_assert(sizeof(T49) == 224 && _Alignof(T49) == 16, "T49");
_Static_assert(offsetof(T49, m0) == 0, "T49.m0");
_Static_assert(offsetof(T49, m1) == 0, "T49.m1");
_Static_assert(offsetof(T49, m1.m1_0) == 0, "T49.m1.m1_0");
_Static_assert(offsetof(T49, m2) == 0, "T49.m2");
_Static_assert(offsetof(T49, m3) == 0, "T49.m3");

typedef struct __attribute__((packed)) {
    uchar m0;
    ushort m1;
    T30 m2[2];
} T50;
_Static_assert(sizeof(T50) == 595 && _Alignof(T50) == 1, "T50");
_Static_assert(offsetof(T50, m0) == 0, "T50.m0");
_Static_assert(offsetof(T50, m1) == 1, "T50.m1");
_Static_assert(offsetof(T50, m2) == 3, "T50.m2");

typedef struct {
    T44 m0;
    double m1[1];
    ulong m2;
    float m3 __attribute__((packed));
} T51;
_Static_assert(sizeof(T51) == 920 && _Alignof(T51) == 8, "T51");
_Static_assert(offsetof(T51, m0) == 0, "T51.m0");
_Static_assert(offsetof(T51, m1) == 896, "T51.m1");
_Static_assert(offsetof(T51, m2) == 904, "T51.m2");
_Static_assert(offsetof(T51, m3) == 912, "T51.m3");

typedef struct __attribute__((packed)) {
    ushort m0;
    char m1[2][3];
} T52;
_Static_assert(sizeof(T52) == 8 && _Alignof(T52) == 1, "T52");
_Static_assert(offsetof(T52, m0) == 0, "T52.m0");
_Static_assert(offsetof(T52, m1) == 2, "T52.m1");

typedef union __attribute__((packed)) {
    int m0[2][3];
    long m1[1];
    ulong m2;
    T31 m3[3];
    union { uchar m4_0; };
} T53;
_Static_assert(sizeof(T53) == 228 && _Alignof(T53) == 1, "T53");
_Static_assert(offsetof(T53, m0) == 0, "T53.m0");
_Static_assert(offsetof(T53, m1) == 0, "T53.m1");
_Static_assert(offsetof(T53, m2) == 0, "T53.m2");
_Static_assert(offsetof(T53, m3) == 0, "T53.m3");
_Static_assert(offsetof(T53, m4_0) == 0, "T53.m4_0");

typedef struct {
    short m0 __attribute__((packed));
    float m1;
    T24 m2;
    T39 m3 __attribute__((packed));
    union { short m4_0[2][3]; uchar m4_1[5]; };
} T54;
_Static_assert(sizeof(T54) == 160 && _Alignof(T54) == 32, "T54");
_Static_assert(offsetof(T54, m0) == 0, "T54.m0");
_Static_assert(offsetof(T54, m1) == 4, "T54.m1");
_Static_assert(offsetof(T54, m2) == 32, "T54.m2");
_Static_assert(offsetof(T54, m3) == 128, "T54.m3");
_Static_assert(offsetof(T54, m4_0) == 140, "T54.m4_0");
_Static_assert(offsetof(T54, m4_1) == 140, "T54.m4_1");

typedef union __attribute__((packed)) {
    short m0;
    ushort m1[3];
    uint m2;
    T10 m3[2];
    short m4[5];
} T55;
_Static_assert(sizeof(T55) == 320 && _Alignof(T55) == 1, "T55");
_Static_assert(offsetof(T55, m0) == 0, "T55.m0");
_Static_assert(offsetof(T55, m1) == 0, "T55.m1");
_Static_assert(offsetof(T55, m2) == 0, "T55.m2");
_Static_assert(offsetof(T55, m3) == 0, "T55.m3");
_Static_assert(offsetof(T55, m4) == 0, "T55.m4");

typedef union __attribute__((packed)) {
    T55 m0[3];
    uchar m1;
    long m2[2][3];
    uint m3[3];
    T5 m4[3];
} T56;
_Static_assert(sizeof(T56) == 960 && _Alignof(T56) == 1, "T56");
_Static_assert(offsetof(T56, m0) == 0, "T56.m0");
_Static_assert(offsetof(T56, m1) == 0, "T56.m1");
_Static_assert(offsetof(T56, m2) == 0, "T56.m2");
_Static_assert(offsetof(T56, m3) == 0, "T56.m3");
_Static_assert(offsetof(T56, m4) == 0, "T56.m4");

#pragma pack(push, 1)
typedef struct {
    double m0[2][3];
    char m1;
    T27 m2[3];
} T57;
#pragma pack(pop)
_Static_assert(sizeof(T57) == 625 && _Alignof(T57) == 1, "T57");
_Static_assert(offsetof(T57, m0) == 0, "T57.m0");
_Static_assert(offsetof(T57, m1) == 48, "T57.m1");
_Static_assert(offsetof(T57, m2) == 49, "T57.m2");

typedef struct {
    char m0;
    T19 m1;
} T58;
_Static_assert(sizeof(T58) == 88 && _Alignof(T58) == 8, "T58");
_Static_assert(offsetof(T58, m0) == 0, "T58.m0");
_Static_assert(offsetof(T58, m1) == 8, "T58.m1");

#pragma pack(push, 8)
typedef struct {
    double m0[5];
    short m1[1];
    T55 m2[2];
    char m3;
    uint m4[3];
} T59;
#pragma pack(pop)
_Static_assert(sizeof(T59) == 696 && _Alignof(T59) == 8, "T59");
_Static_assert(offsetof(T59, m0) == 0, "T59.m0");
_Static_assert(offsetof(T59, m1) == 40, "T59.m1");
_Static_assert(offsetof(T59, m2) == 42, "T59.m2");
_Static_assert(offsetof(T59, m3) == 682, "T59.m3");
_Static_assert(offsetof(T59, m4) == 684, "T59.m4");

kernel void sizes(global uint *out)
{
    out[0] = sizeof(T0);
}
// run: sizes global=1
// arg out: uint[1]
// expect out: 78
