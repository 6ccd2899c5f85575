//! Compiles and runs programs, before and after the passes.

use super::eval;
use crate::diag::{Diagnostics, SourceMap};
use crate::diag::{WarningLevels, render};
use crate::interpret::FaultKind;
use crate::ir::Module;
use crate::ir::verify::verify;
use crate::lower::{LowerError, lower};
use crate::options::{BuildOptions, CStd, Source};
use crate::target::Target;
use crate::{parse, passes, preprocess, sema};

pub(super) fn try_lower(text: &str, target: &Target) -> Result<Module, LowerError> {
    let source = Source { text: text.to_owned(), ..Source::default() };
    let options = BuildOptions { std: CStd::Cl30, ..BuildOptions::default() };
    let (mut map, mut diags) = (SourceMap::default(), Diagnostics::default());
    let tokens = preprocess::preprocess(&source, &options, target, &mut map, &mut diags);
    let unit = parse::parse(tokens, &mut diags);
    let program = sema::check(&unit, &options, target, &mut diags);
    assert!(!diags.has_errors(), "{}", render(&map, &diags, WarningLevels::NONE));
    lower(&program.expect("a program without errors"), &options, target)
}

/// Whether kernel `k` of a program ends with a fault of a kind, if its buffer contains zeros. The outcome must be the
/// same before and after the passes.
pub(super) fn has_fault(text: &str, target: &Target, kind: FaultKind) -> bool {
    let mut module = try_lower(text, target).expect("it lowers");
    let outcome = |module: &Module| {
        assert_eq!(verify(module), Ok(()));
        match eval::run(module, vec![vec![0; 64]]) {
            Ok(_) => false,
            Err(fault) => {
                assert_eq!(fault.kind, kind, "{text}");
                true
            }
        }
    };
    let lowered = outcome(&module);
    passes::build(&mut module, target).expect("the passes succeed");
    assert_eq!(outcome(&module), lowered, "{text}: after the passes");
    lowered
}

fn run_module(module: &Module, count: usize, input: &[i32]) -> Vec<i32> {
    let kernel = module.functions.iter().find(|f| f.kernel.is_some() && f.name == "k").expect("a kernel k");
    let mut buffers = vec![vec![0; count * 4]];
    if kernel.params.len() > 1 {
        buffers.push(input.iter().flat_map(|x| x.to_le_bytes()).collect());
    }
    let outcome = eval::run(module, buffers);
    assert!(outcome.is_ok(), "{outcome:?}\n{module}");
    outcome.unwrap_or_default()[0].chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Runs kernel `k(global int *out)` or `k(global int *out, global int *in)`. Compares `out` with `want`.
fn check_with(text: &str, input: &[i32], want: &[i32]) {
    let target = Target::full();
    let mut module = try_lower(text, &target).expect("it lowers");
    assert_eq!(verify(&module), Ok(()));
    assert_eq!(run_module(&module, want.len(), input), want, "as lowered:\n{text}");
    passes::build(&mut module, &target).expect("the passes succeed");
    assert_eq!(run_module(&module, want.len(), input), want, "after the passes:\n{text}");
}

pub(super) fn check(text: &str, want: &[i32]) {
    check_with(text, &[0; 1], want);
}

/// Runs statements that write to `out`. `n` counts the written elements.
fn body(statements: &str, want: &[i32]) {
    check(&format!("kernel void k(global int *out) {{ int n = 0; {statements} }}"), want);
}

#[test]
fn loops() {
    body("for (int i = 0; i < 4; i++) out[n++] = i * i;", &[0, 1, 4, 9]);
    body("for (int i = 0; i < 10; ++i) { if (i % 2) continue; if (i > 6) break; out[n++] = i; } out[n++] = 99;", &[0, 2, 4, 6, 99]);
    body("int i = 3; while (i--) out[n++] = i;", &[2, 1, 0]);
    body("int i = 0; do { out[n++] = i; if (i == 2) continue; i++; } while (i < 2);", &[0, 1]);
    body("int i = 0; do { i++; if (i == 2) continue; if (i == 4) break; out[n++] = i; } while (i < 9); out[n++] = -i;", &[1, 3, -4]);
    body("for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { if (j == i) break; out[n++] = 10 * i + j; }", &[10, 20, 21]);
    body("int i = 0; for (;;) { if (i > 2 && out[0] == 0) break; i++; } out[n++] = i;", &[3]);
    body("int i = 0; while (i < 5 && out[i] == 0) { out[i] = 7; i += 2; }", &[7, 0, 7, 0, 7]);
}

#[test]
fn a_long_loop_step_is_not_duplicated() {
    let step = "i = i + 1, j = (i * 3 + j * 5 + i * j) % 97, j = (i * 3 + j * 5 + i * j) % 97, j = (i * 3 + j * 5 + i * j) % 97";
    let text = format!(
        "int j = 0; for (int i = 0; i < 6; {step}) {{
            if (i == 1) continue;
            if (i == 2) {{ out[n++] = 5; if (j) continue; }}
            switch (i) {{ case 3: if (j != 1000) continue; break; case 4: out[n++] = 4; break; default: break; }}
            if (i == 5) {{ out[n++] = 55; continue; }}
            out[n++] = i;
        }}
        out[n++] = 77;"
    );
    body(&text, &[0, 5, 4, 4, 55, 77]);
}

#[test]
fn do_while_zero_is_not_a_loop() {
    let text = "
        kernel void k(global int *out, global int *in) {
            int n = 0;
            for (int i = 0; i < 4; i++) {
                do {
                    if (in[i] == 1) break;
                    out[n++] = 10 + i;
                    if (in[i] == 2) { out[n++] = 20; continue; }
                    if (in[i] == 3) { if (i == 0) break; out[n++] = 30; }
                    out[n++] = 40;
                } while (0);
            }
        }";
    check_with(text, &[3, 1, 2, 3], &[10, 12, 20, 13, 30, 40]);
    let module = try_lower(text, &Target::full()).expect("it lowers");
    let loops = module.to_string().matches("loop").count();
    assert_eq!(loops, 1, "only the `for`");
}

#[test]
fn switches() {
    let text = |cases: &str| {
        format!(
            "int f(int x) {{ int r = 0; switch (x) {{ {cases} }} return r; }} kernel void k(global int *out) {{ for (int i = 0; i < 6; i++) out[i] = f(i); }}"
        )
    };
    check(&text("case 1: r = 10; break; case 3: case 4: r = 34; break; default: r = 9;"), &[9, 10, 9, 34, 34, 9]);
    check(&text("case 1: r += 1; case 2: r += 2; case 3: r += 4; break; case 5: r = 50;"), &[0, 7, 6, 4, 0, 50]);
    check(
        &text("default: r += 1; case 2: r += 2; if (x == 2) break; case 3: r += 4; if (x == 4) { r = 44; break; } r += 8;"),
        &[15, 15, 2, 12, 44, 15],
    );
    check(&text("case 0 ... 2: r = 1; break; case 4 ... 100000: r = 2; break;"), &[1, 1, 1, 0, 2, 2]);
    check(
        &text("case 1: if (x) { if (x > 0) break; r = 1; } r = 2; break; case 2: return 22; case 3: { r = 3; break; } r = 4;"),
        &[0, 0, 22, 3, 0, 0],
    );
    check(
        &text("case 1: { int y = x * 2; switch (y) { case 2: r = 5; break; default: r = 6; } r++; break; } default: break;"),
        &[0, 6, 0, 0, 0, 0],
    );
    let long = "int f(long x) { switch (x) { case -1: return 1; case 0x100000000: return 2; default: return 3; } }
        kernel void k(global int *out) { out[0] = f(-1); out[1] = f(0x100000000L); out[2] = f(0); }";
    check(long, &[1, 2, 3]);
}

#[test]
fn continue_in_a_switch_in_a_loop() {
    body(
        "for (int i = 0; i < 6; i++) { switch (i) { case 1: continue; case 2: out[n++] = 2; case 3: out[n++] = 3; break; case 4: if (n) continue; out[n++] = -1; } out[n++] = 100 + i; }",
        &[100, 2, 3, 102, 3, 103, 105],
    );
}

#[test]
fn gotos() {
    body("int i = 0; again: out[n++] = i; i++; if (i < 3) goto again; out[n++] = 9;", &[0, 1, 2, 9]);
    body(
        "for (int i = 0; i < 5; i++) { for (int j = 0; j < 5; j++) { if (i * j == 6) goto out_of_both; n++; } } out_of_both: out[0] = n;",
        &[13],
    );
    body("int i = 0; goto inside; while (i < 3) { out[n++] = 1; inside: out[n++] = 2; i++; } out[n++] = 5;", &[2, 1, 2, 1, 2, 5]);
    let early = "int f(int x) { if (x == 0) goto fail; if (x == 1) { x = 7; goto fail; } return 1; fail: return -x; }
        kernel void k(global int *out) { for (int i = 0; i < 3; i++) out[i] = f(i); }";
    check(early, &[0, -7, 1]);
}

#[test]
fn duffs_device() {
    let text = "
        kernel void k(global int *out, global int *in) {
            int count = 7, n = (count + 3) / 4, i = 0;
            switch (count % 4) {
            case 0: do { out[i] = in[i]; i++;
            case 3:      out[i] = in[i]; i++;
            case 2:      out[i] = in[i]; i++;
            case 1:      out[i] = in[i]; i++;
                    } while (--n > 0);
            }
        }";
    check_with(text, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 5, 6, 7, 0]);
}

#[test]
fn conditions() {
    body(
        "int x = 3; out[0] = x && out[5]; out[1] = !x || x == 3; out[2] = !(x > 1 && x < 5); out[3] = x ? 4 : 5; out[5] = !!x;",
        &[0, 1, 0, 4, 0, 1],
    );
    let effects = "int f(global int *o, int v) { o[0] += v; return v; }
        kernel void k(global int *out) { int a = f(out, 1) && f(out, 2); int b = f(out, 4) || f(out, 8); int c = f(out, 0) && f(out, 16);
          out[1] = a + 2 * b + 4 * c; out[2] = f(out, 0) ? f(out, 32) : f(out, 64); }";
    check(effects, &[71, 3, 64]);
    body("float x = NAN; out[0] = x != x; out[1] = x == x; out[2] = !(x < 1.0f); out[3] = x ? 1 : 0;", &[1, 0, 1, 1]);
}

#[test]
fn records() {
    let text = "
        typedef struct { int a; float3 v; char c[3]; struct { short s; long l; } in; } S;
        S make(int x) { S s = { .a = x, .c = { 1, 2, 3 } }; s.v = (float3)(1, 2, x); s.in.s = -x; s.in.l = 1L << 40; return s; }
        int sum(S s) { s.a += 100; s.c[1] += 5; return s.a + (int)s.v.z + s.c[0] + s.c[1] + s.c[2] + s.in.s + (int)(s.in.l >> 40); }
        kernel void k(global int *out) {
            S s = make(7), t = s, *p = &t;
            out[0] = sum(s); out[1] = s.a;
            p->a = 1; p->v.xy = p->v.yx; out[2] = (int)t.v.x * 10 + (int)t.v.y; out[3] = make(3).in.s;
            s = t.a ? t : make(9); out[4] = s.a; out[5] = sizeof(S);
            S many[2] = { t }; many[1] = many[0]; out[6] = many[1].a + many[0].c[2];
        }";
    check(text, &[100 + 7 + 7 + 1 + 7 + 3 - 7 + 1, 7, 21, -3, 1, 64, 4]);
    let union = "typedef union { uint u; float f; uchar b[4]; } U;
        kernel void k(global int *out) { U x; x.f = 1.0f; out[0] = x.u; x.b[3] = 0x40; out[1] = (int)x.f; }";
    check(union, &[0x3f80_0000, 4]);
}

#[test]
fn vectors() {
    body("int4 v = (int4)(1, 2, 3, 4); v.yw = v.xz; v.s0 += 10; out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;", &[11, 1, 3, 3]);
    body("vstore4((int4)(1, 2, 3, 4).wzyx, 0, out); ((global int4 *)out)[0].lo = 9; out[3] = vload3(0, out).z;", &[9, 9, 2, 2]);
    body(
        "int4 a = (int4)(1, 5, 3, 9), b = 4; int4 m = a < b; vstore4(m, 0, out); vstore4(m ? a : -b, 1, out);",
        &[-1, 0, -1, 0, 1, -4, 3, -4],
    );
    body("int3 v = (int3)(1, 2, 3); int i = 2; v[i] += 4; v[0]++; out[0] = v.x; out[1] = v[1]; out[2] = v[i];", &[2, 2, 7]);
    body("global int4 *p = (global int4 *)out; p[0].y = 5; p[0].s3--; p->x = ++p->y;", &[6, 6, 0, -1]);
    body("char4 c = (char4)(100, -100, 3, 4); c = add_sat(c, c); vstore4(convert_int4(c), 0, out);", &[127, -128, 6, 8]);
    body(
        "float8 f = (float8)((float4)(1, 2, 3, 4), 5, 6, (float2)(7)); out[0] = (int)dot(f.lo, f.hi); out[1] = (int)f.odd.w;",
        &[5 + 12 + 21 + 28, 7],
    );
    body("int4 v = 3; v <<= (int4)(0, 1, 2, 33); v |= 1; vstore4(v, 0, out); vstore4(!v, 1, out);", &[3, 7, 13, 7, 0, 0, 0, 0]);
    body(
        "uint4 m = (uint4)(3, 2, 5, 0); int4 v = (int4)(10, 11, 12, 13); m.y += out[0]; vstore4(shuffle(v, m), 0, out); vstore4(shuffle2(v, -v, m), 1, out);",
        &[13, 12, 11, 10, 13, 12, -11, 10],
    );
}

#[test]
fn pointers() {
    body(
        "int a[4] = {1, 2, 3}; int *p = a + 1, *q = &a[3]; *p++ += 5; q[-1] = 8; out[0] = a[1]; out[1] = q - p; out[2] = *p; out[3] = p < q; out[4] = p[1];",
        &[7, 1, 8, 1, 0],
    );
    body(
        "int a = 1, b = 2; int *p = out[2] ? &a : &b; *p = 5; int **pp = &p; **pp += 1; out[0] = a; out[1] = b; out[2] = p == 0;",
        &[1, 6, 0],
    );
    body(
        "int m[3][2]; for (int i = 0; i < 6; i++) m[i / 2][i % 2] = i; int (*row)[2] = m; row += 2; out[0] = (*row)[1]; out[1] = *m[1]; row -= 1; out[2] = row[0][1];",
        &[5, 2, 3],
    );
    body(
        "short s[4] = {1, 2, 3, 4}; out[0] = ((int *)s)[1]; uchar *b = (uchar *)s; out[1] = b[6]; out[2] = *(ushort *)(b + 2); out[3] = (int)((uintptr_t)(s + 2) - (uintptr_t)s);",
        &[0x0004_0003, 4, 2, 4],
    );
    let constant = "constant int table[] = { 5, 6, 7 }; constant char *constant names = \"ab\";
        kernel void k(global int *out) { constant int *p = table; out[0] = p[out[2] + 2]; out[1] = names[1]; }";
    check(constant, &[7, 98, 0]);
}

#[test]
fn integers() {
    body(
        "uchar c = 250; c += 10; out[0] = c; char d = -128; d--; out[1] = d; bool b = 5; out[2] = b; b = 0.5f; out[3] = b + b; ushort s = 0; s = ~s; out[4] = s >> 4;",
        &[4, 127, 1, 2, 4095],
    );
    body(
        "int x = -7; out[0] = x / 2; out[1] = x % 2; out[2] = x >> 1; out[3] = (uint)x >> 28; out[4] = 1 << 35; out[5] = (int)(1L << 35 >> 33); out[6] = -x++; out[7] = x--;",
        &[-3, -1, -4, 15, 8, 4, 7, -6],
    );
    body(
        "out[0] = mul_hi(1 << 30, 8); out[1] = mad_sat(1 << 30, 4, -5); out[2] = mad_sat(-(1 << 30), 2, -1); out[3] = hadd(7, 8); out[4] = rhadd(7, 8); out[5] = abs_diff(-5, 6); out[6] = clz(1); out[7] = rotate(0x80000001, 4);",
        &[2, i32::MAX, i32::MIN, 7, 8, 11, 31, 0x18],
    );
    body(
        "out[0] = mad_sat((uint)-1, 1u, 0u); out[1] = mad_sat((uint)-1, 1u, 1u); out[2] = mad_sat((char)100, (char)2, (char)-100); out[3] = upsample((short)-1, (ushort)5); out[4] = popcount(0xff0f); out[5] = (int)clamp(5.5f, 0.0f, 2.0f); out[6] = max((char)3, (char)-3); out[7] = min(3u, (uint)-3);",
        &[-1, -1, 100, -65531, 12, 2, 3, 3],
    );
    body(
        "long a = 0x7fffffffffffffffL; out[0] = mad_sat(a, 2L, 1L) == a; out[1] = mad_sat(a, -2L, 1L) == -a - 1; out[2] = mad_sat(3L, 4L, 5L); ulong u = mad_sat((ulong)a, 2ul, 1ul); out[3] = u == (ulong)-1; out[4] = mad_sat((ulong)a, 2ul, 2ul) == (ulong)-1;",
        &[1, 1, 17, 1, 1],
    );
}

#[test]
fn conversions() {
    body(
        "out[0] = convert_uchar_sat(300); out[1] = convert_int_rte(2.5f); out[2] = convert_int_rtp(2.1f); out[3] = convert_char_sat(-1e9f); out[4] = convert_int_sat(NAN); out[5] = as_int(1.0f); out[6] = (int)as_float(0x40400000);",
        &[255, 2, 3, -128, 0, 0x3f80_0000, 3],
    );
    body(
        "int3 v = as_int3((float4)(1, 2, 3, 4)); out[0] = v.z; out[1] = as_int((char4)(1, 2, 3, 4)); float4 f = convert_float4((uchar4)(1, 200, 3, 4)); out[2] = (int)f.y; out[3] = (int)convert_float_rtz(0x7fffffff);",
        &[0x4040_0000, 0x0403_0201, 200, 0x7fff_ff80],
    );
    body(
        "vstore_half(1.5f, 1, (global half *)out); out[1] = (int)(vload_half(1, (global half *)out) * 2); vstore_half_rtz(65536.0f, 4, (global half *)out);",
        &[0x3e00_0000, 3, 0x7bff],
    );
}

#[test]
fn relational_and_common() {
    body(
        "float i = INFINITY; out[0] = isinf(i); out[1] = isnan(i - i); out[2] = isfinite(i); out[3] = isnormal(1e-40f); out[4] = signbit(-0.0f); out[5] = isordered(1.0f, NAN); out[6] = any((int2)(0, -1)) + 2 * all((int2)(0, -1)); out[7] = select(1, 2, 3);",
        &[1, 1, 0, 0, 1, 0, 1, 2],
    );
    body(
        "out[0] = (int)(mix(2.0f, 4.0f, 0.5f) * 10); out[1] = (int)step(1.0f, 2.0f); out[2] = (int)(smoothstep(0.0f, 2.0f, 1.0f) * 10); out[3] = (int)sign(-3.0f); out[4] = as_int(sign(-0.0f)); out[5] = (int)length((float2)(3e20f, 4e20f) * 1e-20f); out[6] = length((float2)(3e25f, 4e25f)) > 4.99e25f && length((float2)(3e25f, 4e25f)) < 5.01e25f; out[7] = (int)(normalize((float4)(0, 0, 0, 1e-42f)).w * 10);",
        &[30, 1, 5, -1, i32::MIN, 5, 1, 10],
    );
    // The small lane beside the large one becomes a denormal. It must be rounded only once.
    body(
        "float4 v = normalize((float4)(0, 0x1.245e08p-81f, 0, -0x1.937376p+60f)); out[0] = abs_diff(as_int(v.y), 186) <= 1; out[1] = as_int(v.w); v = normalize((float4)(INFINITY, 1, -INFINITY, 0)); out[2] = (int)(v.x * 1000); out[3] = (int)(v.y * 1000); out[4] = (int)(v.z * 1000);",
        &[1, (-1.0f32).to_bits().cast_signed(), 707, 0, -707],
    );
    body(
        "float4 c = cross((float4)(1, 0, 0, 9), (float4)(0, 1, 0, 9)); out[0] = (int)c.z; out[1] = (int)c.w; out[2] = (int)copysign(3.0f, -1.0f); out[3] = bitselect(0x0f, 0xf0, 0x3c); int2 s = select((int2)(1, 2), (int2)(3, 4), (int2)(-1, 1)); out[4] = s.x; out[5] = s.y;",
        &[1, 0, -3, 0x33, 3, 2],
    );
}

#[test]
fn work_items_and_atomics() {
    body(
        "out[0] = get_global_id(0); out[1] = get_global_id(1); out[2] = get_global_id(9); out[3] = get_local_size(3); uint d = 1 + out[5]; out[4] = get_global_id(d); out[5] = get_work_dim();",
        &[5, 6, 0, 1, 6, 2],
    );
    body(
        "out[0] = atomic_add(out + 1, 5); atomic_max(out + 1, 9); out[2] = atomic_inc(out + 1); atomic_cmpxchg(out + 1, 10, 20); out[3] = atomic_xchg(out + 1, -1); volatile global uint *u = (volatile global uint *)(out + 1); atomic_min(u, 7u); out[4] = out[1]; float f = atomic_xchg((volatile global float *)(out + 5), 1.0f);",
        &[0, 7, 9, 20, 7, 0x3f80_0000],
    );
    body(
        "local int tile[4]; event_t e = async_work_group_copy(tile, out + 4, 4, 0); wait_group_events(1, &e); tile[1] = 3; barrier(CLK_LOCAL_MEM_FENCE); e = async_work_group_copy(out, tile, 2, 0); wait_group_events(1, &e);",
        &[0, 3, 0, 0, 0, 0, 0, 0],
    );
}

#[test]
fn kernels_call_kernels_and_library_functions() {
    let text = "
        typedef struct { int a, b; } P;
        kernel void inner(global int *o, P p) { o[0] = p.a; p.a = 5; o[1] = p.a + p.b; }
        kernel void k(global int *out) { P p = { 1, 2 }; inner(out, p); out[2] = p.a; float4 v = ldexp((float4)(1, 2, 3, 4), 2); out[3] = (int)v.w; }";
    check(text, &[1, 7, 1, 16]);
    body(
        "float4 w; float4 f = fract((float4)(1.5f, 2.25f, -0.5f, 3.0f), &w); out[0] = (int)(f.x * 100); out[1] = (int)w.y; out[2] = (int)(f.z * 100);",
        &[50, 2, 50],
    );
}

#[test]
fn statement_expressions_and_commas() {
    body("int x = ({ int y = 3; y * 2; }); out[0] = x; out[1] = (x++, x * 2); out[2] = ({ if (x > 100) return; x; });", &[6, 14, 7]);
}

#[test]
fn variables_keep_their_values_between_iterations() {
    body("int x; for (int i = 0; i < 4; i++) { if (i >= 0) { if (i == 0) x = 5; out[n++] = x; x += i; } }", &[5, 5, 6, 8]);
    body("int x; for (int i = 0; i < 3; i++) for (int j = 0; j < 2; j++) { if (i + j == 0) x = 5; out[n++] = x++; }", &[5, 6, 7, 8, 9, 10]);
}

#[test]
fn deep_nesting_is_rejected_without_a_crash() {
    let depth = 150;
    let text = format!("kernel void k(global int *out) {{ {} out[0] = 1; }}", "if (out[1]) while (out[2]) ".repeat(depth));
    let error = try_lower(&text, &Target::full()).expect_err("it is too deep");
    assert!(error.message.contains("nested too deeply"), "{}", error.message);
}

#[test]
fn long_chains_of_operators() {
    let sum = vec!["1"; 5_000].join(" + out[1] + ");
    body(&format!("out[0] = {sum};"), &[5_000, 0]);
}
