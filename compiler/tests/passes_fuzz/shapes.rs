//! Generates OpenCL C kernels with the patterns that passes match: contiguous accesses, loops over the global size,
//! guards, many buffers. The results do not depend on the order of work-items: each work-item writes its own elements,
//! and only commutative atomics change shared data.

use crate::case::Requirements;
use crate::random::Random;
use std::fmt::Write;

/// Element types of 16 to 128 bytes, integer types of the same sizes, and the sizes in bytes.
const WIDE: [(&str, &str, u32); 14] = [
    ("float8", "uint8", 32),
    ("int8", "uint8", 32),
    ("double4", "ulong4", 32),
    ("long4", "ulong4", 32),
    ("short16", "ushort16", 32),
    ("float8", "uint8", 32),
    ("float16", "uint16", 64),
    ("int16", "uint16", 64),
    ("double8", "ulong8", 64),
    ("ulong8", "ulong8", 64),
    ("double16", "ulong16", 128),
    ("long16", "ulong16", 128),
    ("float4", "uint4", 16),
    ("long2", "ulong2", 16),
];

/// Element types of up to 8 bytes, integer types of the same sizes, and the sizes in bytes.
const NARROW: [(&str, &str, u32); 12] = [
    ("uchar", "uchar", 1),
    ("char", "uchar", 1),
    ("uchar2", "uchar2", 2),
    ("uchar4", "uchar4", 4),
    ("ushort", "ushort", 2),
    ("short2", "ushort2", 4),
    ("ushort4", "ushort4", 8),
    ("int", "uint", 4),
    ("uint2", "uint2", 8),
    ("float", "uint", 4),
    ("float2", "uint2", 8),
    ("long", "ulong", 8),
];

/// A kernel, and the requirements for its launch.
pub struct Shape {
    pub text: String,
    pub requirements: Requirements,
}

struct Writer {
    random: Random,
    params: Vec<String>,
    body: String,
    requirements: Requirements,
}

/// Returns a kernel `k` with a random pattern.
pub fn program(seed: u64) -> Shape {
    let random = Random::new(seed ^ 0x5a5a_1234);
    let mut w =
        Writer { random, params: Vec::new(), body: String::new(), requirements: Requirements { stride: 4, ..Requirements::default() } };
    match seed % 10 {
        0 => w.wide(),
        1 => w.narrow(),
        2 => w.counts(),
        3 => w.tile(),
        4 => w.fields(),
        5 => w.iterations(),
        6 => w.many(),
        7 => w.subgroups(),
        8 => w.choices(),
        _ => w.bytes(),
    }
    let index = if w.requirements.linear {
        w.pick(&["size_t i = get_global_id(0);", "uint i = get_global_id(0);", "int i = get_global_id(0);"])
    } else {
        w.pick(&[
            "uint i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));",
            "uint i = (uint)get_global_id(0) + (uint)get_global_size(0) * ((uint)get_global_id(1) + (uint)get_global_size(1) * (uint)get_global_id(2));",
        ])
    };
    let text = format!(
        "typedef struct {{ float x, y; uint z; int w; }} Four;\ntypedef struct {{ uint s[6]; ulong t; }} Eight;\nkernel void k({}, uint x, uint y) {{\n{index}\n{}}}\n",
        w.params.join(", "),
        w.body
    );
    let may_alias = w.requirements.may_alias && !text.contains("restrict");
    Shape { text, requirements: Requirements { may_alias, ..w.requirements } }
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "{text}");
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len())]
    }

    fn chance(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }

    /// Adds a pointer parameter with this name. If `constant` is set, kernels only read the pointee, which is in some
    /// cases in constant memory. Otherwise, it is in global memory.
    fn buffer(&mut self, name: &str, ty: &str, constant: bool) {
        let qualifier = if constant { "const " } else { "" };
        let restrict = if self.chance(4) { " restrict" } else { "" };
        let space = if constant && self.chance(6) { "constant" } else { "global" };
        self.params.push(format!("{space} {qualifier}{ty} *{restrict} {name}"));
    }

    /// Adds code that some or all work-items execute.
    fn guarded(&mut self, text: &str) {
        match self.random.below(6) {
            0 | 1 => self.line(&format!("if (i < x) {{ {text} }}")),
            2 => self.line(&format!("if (i >= x) return; {text}")),
            3 if !text.contains("T s") => self.line(&format!("if ((i & 3) != 1) {{ {text} }} else {{ {} }}", text.replace("+ x", "- x"))),
            _ => self.line(text),
        }
    }

    /// Returns `expression`, in most cases with an operation on its bits. `ty` is its type, and `bits` an integer type
    /// of the same size.
    fn changed(&mut self, expression: &str, (ty, bits): (&str, &str)) -> String {
        let by = self.pick(&["+ x", "^ 0x55", "* 3", "| 1", "- y", ">> 1"]);
        let scalar = bits.trim_end_matches(char::is_numeric);
        let (op, number) = by.split_at(2);
        if self.chance(4) { expression.to_owned() } else { format!("as_{ty}(({bits})(as_{bits}({expression}) {op}({scalar}){number}))") }
    }

    /// Adds accesses to wide elements by global id.
    fn wide(&mut self) {
        let (ty, bits, size) = self.pick(&WIDE);
        let rows = self.pick(&[1, 1, 2, 4]);
        self.requirements =
            Requirements { stride: size * rows, may_alias: true, linear: self.chance(2), device: Some("nvidia"), ..self.requirements };
        let in_place = self.chance(4);
        self.buffer("a", ty, !in_place);
        self.buffer("b", ty, false);
        if in_place {
            let value = self.changed("a[i]", (ty, bits));
            self.requirements.may_alias = false;
            self.guarded(&format!("a[i] = {value}; b[i] = a[i];"));
            return;
        }
        // `y` is the number of work-items, so `i + k * y` is element `i` of row `k`.
        let steps = self.pick(&["i + k * y", "i + y * k"]);
        match self.random.below(5) {
            0 | 1 => {
                let value = self.changed("a[i]", (ty, bits));
                self.guarded(&format!("b[i] = {value};"));
            }
            2 if rows > 1 => {
                let value = self.changed(&format!("a[{steps}]"), (ty, bits));
                self.requirements.may_alias = false;
                self.guarded(&format!("{bits} s = 0; for (uint k = 0; k < {rows}; k++) s += as_{bits}({value}); b[i] = as_{ty}(s);"));
            }
            3 if rows > 1 => {
                let value = self.changed(&format!("a[{steps}]"), (ty, bits));
                self.guarded(&format!("for (uint k = 0; k < {rows}; k++) b[{steps}] = {value};"));
            }
            4 if rows > 1 => {
                let value = self.changed("a[2 * i + 1]", (ty, bits));
                self.guarded(&format!("b[2 * i] = {value}; b[2 * i + 1] = a[2 * i];"));
            }
            _ => {
                let value = self.changed("a[i]", (ty, bits));
                self.requirements.may_alias = false;
                self.line(&format!("{ty} v = {value};"));
                self.guarded(&format!("b[i] = as_{ty}(as_{bits}(v) + as_{bits}(b[i]));"));
            }
        }
    }

    /// Adds accesses to narrow elements by global id.
    fn narrow(&mut self) {
        let (ty, bits, size) = self.pick(&NARROW);
        let (other, other_bits, other_size) = self.pick(&NARROW);
        self.requirements = Requirements { stride: 8 * size.max(other_size), linear: !self.chance(4), ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("b", ty, false);
        let text = match self.random.below(6) {
            0 | 1 => format!("b[i] = {};", self.changed("a[i]", (ty, bits))),
            2 => format!("b[i] = as_{ty}(({bits})(as_{bits}(a[i]) + as_{bits}(b[i])));"),
            3 => {
                let value = self.changed("a[i + k * y]", (ty, bits));
                format!("{bits} s = 0; for (uint k = 0; k < 4; k++) s += as_{bits}({value}); b[i] = as_{ty}(s);")
            }
            4 => {
                self.buffer("c", other, true);
                self.buffer("d", other, false);
                let value = self.changed("c[i]", (other, other_bits));
                format!("b[i] = a[i]; d[i] = {value};")
            }
            _ => {
                self.buffer("c", "uint", false);
                let value = self.changed("a[i]", (ty, bits));
                format!("b[i] = {value}; if (i + x & 1) c[i] = i;")
            }
        };
        self.guarded(&text);
    }

    /// Adds loops that count values and whose step is the global size.
    fn counts(&mut self) {
        let ty = self.pick(&["uchar", "uchar", "ushort", "uchar2", "char", "uint"]);
        let counter = self.pick(&["uint", "uint", "size_t", "int"]);
        let op = self.pick(&["atomic_add", "atomic_add", "atomic_or", "atomic_max", "atomic_xor", "atomic_min"]);
        self.requirements = Requirements { stride: 32, linear: true, times: 6, ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("b", "uint", false);
        let found = match ty {
            "uchar2" => "(a[j].x + a[j].y * 3) & 15",
            "char" => "(uchar)a[j] & 15",
            _ => "a[j] & 15",
        };
        let value = self.pick(&["1", "1", "x", "(uint)j", "a_value"]);
        let value = if value == "a_value" { if ty == "uchar2" { "a[j].x" } else { "(uint)a[j]" } } else { value };
        let header = format!("for ({counter} j = get_global_id(0); j < ({counter})x; j += get_global_size(0))");
        let loop_ = |target: &str| format!("{header} {op}(&{target}[{found}], {value});");
        match self.random.below(3) {
            0 => self.line(&loop_("b")),
            1 => {
                self.line("local uint bins[16];");
                self.local_counts("bins", op, &loop_("bins"));
            }
            _ => {
                self.params.push("local uint *bins".to_owned());
                self.local_counts("bins", op, &loop_("bins"));
            }
        }
    }

    fn local_counts(&mut self, bins: &str, op: &str, text: &str) {
        self.line(&format!(
            "for (uint k = get_local_id(0); k < 16; k += get_local_size(0)) {bins}[k] = {};",
            if op == "atomic_min" { "~0u" } else { "0" }
        ));
        self.line(&format!("barrier(CLK_LOCAL_MEM_FENCE);\n{text}\nbarrier(CLK_LOCAL_MEM_FENCE);"));
        self.line(&format!("for (uint k = get_local_id(0); k < 16; k += get_local_size(0)) {op}(&b[k], {bins}[k]);"));
    }

    /// Adds loops over local memory in which all work-items load the same element.
    fn tile(&mut self) {
        let (ty, bits, size) = self.pick(&[
            ("int", "uint", 4),
            ("uint", "uint", 4),
            ("float", "uint", 4),
            ("uint4", "uint4", 16),
            ("float2", "uint2", 8),
            ("ushort", "ushort", 2),
        ]);
        let iterations = self.pick(&[32, 64, 64, 24, 16]);
        self.requirements =
            Requirements { stride: size * 2, local: 64 * size, linear: !self.chance(3), device: Some("lavapipe"), ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("b", ty, false);
        if self.chance(2) {
            self.params.push(format!("local {ty} *tile"));
        } else {
            self.line(&format!("local {ty} tile[64];"));
        }
        self.line("uint l = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));");
        self.line("uint n = get_local_size(0) * get_local_size(1) * get_local_size(2);");
        let scalar = bits.trim_end_matches(char::is_numeric);
        self.line(&format!("{bits} s = ({scalar})i;"));
        let rounds = 1 + self.random.below(2);
        for round in 0..rounds {
            self.line(&format!("for (uint k = l; k < 64; k += n) tile[k] = a[(k + {round} * l) % y];"));
            self.line("barrier(CLK_LOCAL_MEM_FENCE);");
            let counter = self.pick(&["int", "uint", "size_t"]);
            let index = match iterations {
                16 | 24 => self.pick(&["j", "j * 2 + 1", "63 - j", "j + 1"]),
                32 => self.pick(&["j", "j + 31", "63 - j"]),
                _ => "j",
            };
            let text = match self.random.below(3) {
                0 => format!("s += as_{bits}(tile[{index}]);"),
                1 => format!("s = s * ({scalar})3 + as_{bits}(tile[{index}]) * ({scalar})(j + x);"),
                _ => format!("s ^= as_{bits}(tile[{index}]) + ({scalar})l; if (j == 5) s += ({scalar})1;"),
            };
            self.line(&format!("for ({counter} j = 0; j < {iterations}; j++) {{ {text} }}"));
            self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        }
        self.line(&format!("b[i] = as_{ty}(s);"));
    }

    /// Adds accesses to the fields of structures, one by one.
    fn fields(&mut self) {
        self.requirements = Requirements { stride: 64, may_alias: true, ..self.requirements };
        let (ty, names) = self.pick(&[
            ("Four", ["x", "y", "z", "w"]),
            ("Eight", ["s[0]", "s[1]", "s[2]", "s[5]"]),
            ("Eight", ["s[3]", "s[2]", "t", "s[4]"]),
        ]);
        self.buffer("a", ty, true);
        self.buffer("b", ty, false);
        let mut text = String::new();
        if ty == "Eight" && self.chance(2) {
            for k in 0..6 {
                let _ = write!(text, "b[i].s[{k}] = a[i].s[{}] + {k};", (k + 1) % 6);
            }
            text.push_str("b[i].t = a[i].t;");
            self.requirements.may_alias = false;
        } else {
            for name in names {
                let _ = write!(text, "b[i].{name} = a[i].{name}{};", if name == "x" || name == "y" { "" } else { " + x" });
            }
        }
        if self.chance(3) {
            text = format!("for (uint k = 0; k < 2; k++) {{ {} }}", text.replace("[i]", "[2 * i + k]"));
            self.requirements.stride = 128;
        }
        self.guarded(&text);
    }

    /// Adds loops with loads in each iteration.
    fn iterations(&mut self) {
        let ty = self.pick(&["uint", "int", "uchar", "ushort", "ulong", "uint4", "float"]);
        let bits = if ty == "float" { "uint" } else { ty };
        let scalar = bits.trim_end_matches(char::is_numeric);
        self.requirements = Requirements { stride: 96, ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("b", ty, false);
        let most = self.pick(&["x % 6", "5", "(i + x) % 6", "4"]);
        let counter = self.pick(&["int", "uint", "size_t"]);
        let place = self.pick(&["i * 6 + j", "i + j * y"]);
        let text = match self.random.below(4) {
            0 => format!("{bits} s = 0; for ({counter} j = 0; j < {most}; j++) s += as_{bits}(a[{place}]); b[i] = as_{ty}(s);"),
            1 => format!("for ({counter} j = 0; j < {most}; j++) b[{place}] = a[{place}];"),
            2 => format!(
                "{bits} s = 1; for ({counter} j = 1; j < {most}; j += 2) {{ s = s * ({scalar})5 + as_{bits}(a[{place}]); b[{place}] = as_{ty}(s); }}"
            ),
            _ => format!(
                "{bits} s = 0; for ({counter} j = 0; j < {most}; j++) {{ if (j == 3) break; s ^= as_{bits}(a[{place}]); }} b[i] = as_{ty}(s);"
            ),
        };
        self.guarded(&text);
    }

    /// Adds accesses to more buffers than a device may have bindings for.
    fn many(&mut self) {
        let count = 5 + self.random.below(8);
        let (ty, bits, size) = self.pick(&NARROW);
        self.requirements = Requirements { stride: size, linear: self.chance(2), nullable: Some(2), ..self.requirements };
        for number in 0..count {
            self.buffer(&format!("p{number}"), ty, number < count / 2 && number != 2);
        }
        let mut text = String::new();
        for number in (count / 2..count).filter(|&number| number != 2) {
            let from = self.random.below(number);
            let value = if from == 2 { format!("p{number}[i]") } else { self.changed(&format!("p{from}[i]"), (ty, bits)) };
            let _ = write!(text, "p{number}[i] = {value}; ");
        }
        text.push_str("if (p2) p2[i] = p0[i];");
        self.guarded(&text);
    }

    /// Adds calls of subgroup functions, some of them in code that only some work-items execute.
    fn subgroups(&mut self) {
        let (ty, size) = self.pick(&[("int", 4), ("uint", 4), ("uint", 4), ("long", 8), ("ulong", 8), ("short", 2), ("uchar", 1)]);
        self.requirements = Requirements { stride: 2 * size, ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("b", ty, false);
        self.line(&format!("{ty} s = a[i]; uint lane = get_sub_group_local_id(), size = get_sub_group_size();"));
        for _ in 0..2 + self.random.below(3) {
            let f = self.pick(&["add", "min", "max"]);
            let distance = self.pick(&["1", "2", "3", "5"]);
            let text = match self.random.below(9) {
                0 => format!("s += sub_group_reduce_{f}(s);"),
                1 => format!("s ^= sub_group_scan_inclusive_{f}(s);"),
                2 => format!("s ^= sub_group_scan_exclusive_{f}(s);"),
                3 => format!("s += sub_group_shuffle(s, (lane + {distance}) % size);"),
                4 => format!("{{ {ty} r = sub_group_shuffle_xor(s, {distance}); if ((lane ^ {distance}) < size) s -= r; }}"),
                5 => format!("{{ {ty} r = sub_group_shuffle_up(s, {distance}); if (lane >= {distance}) s += r * 3; }}"),
                6 => "s += sub_group_broadcast(s, size - 1) + (sub_group_any(s > 5) ? 2 : 0);".to_owned(),
                7 => "s += sub_group_ballot(s & 1).x;".to_owned(),
                _ => format!("s += sub_group_clustered_reduce_{f}(s, 4);"),
            };
            let apart = match self.random.below(6) {
                0 => format!("s ^= sub_group_non_uniform_reduce_{f}(s);"),
                1 => format!("s ^= sub_group_non_uniform_scan_exclusive_{f}(s);"),
                2 => format!("s ^= sub_group_non_uniform_scan_inclusive_{f}(s);"),
                3 => "s += sub_group_elect();".to_owned(),
                4 => "s ^= sub_group_ballot(s & 2).x + sub_group_broadcast_first(s);".to_owned(),
                _ => "s += sub_group_non_uniform_all(s & 1) ? 3 : 0;".to_owned(),
            };
            match self.random.below(5) {
                0 => self.line(&format!("if (s & 1) {{ {apart} }}")),
                1 => self.line(&format!("if (lane % 3 == 1) {{ {apart} }} else {{ s++; }}")),
                2 => self.line(&format!("for (uint k = 0; k < (i & 3); k++) {{ {apart} }}")),
                _ => self.line(&text),
            }
        }
        if self.chance(3) {
            self.line("sub_group_barrier(CLK_LOCAL_MEM_FENCE);");
        }
        self.line("b[i] = s;");
    }

    /// Adds loads in one or both branches of a condition.
    fn choices(&mut self) {
        let (ty, size) =
            self.pick(&[("uint", 4), ("uint", 4), ("int", 4), ("uint2", 8), ("uint4", 16), ("ushort", 2), ("uchar", 1), ("ulong", 8)]);
        self.requirements = Requirements { stride: size, device: Some("lavapipe"), ..self.requirements };
        self.buffer("a", ty, true);
        self.buffer("c", ty, true);
        self.buffer("b", ty, false);
        self.line(&format!("{ty} v = 0;"));
        for _ in 0..1 + self.random.below(3) {
            let cond = self.pick(&["i < x", "(i & 1) == 0", "i + x > y", "i % 5 < 2"]);
            let place = self.pick(&["i", "(i * 3) % y", "(i + x) % y", "y - 1"]);
            let text = match self.random.below(4) {
                0 => format!("if ({cond}) v += a[{place}];"),
                1 => format!("if ({cond}) v += a[{place}]; else v ^= c[i];"),
                2 => format!("if ({cond}) {{ v *= 3; if (i & 2) v -= a[{place}]; }}"),
                _ => format!("if ({cond}) {{ v += a[{place}]; b[i] = v; }} else {{ v += c[i] >> 1; }}"),
            };
            self.line(&text);
        }
        self.line("b[i] = v;");
    }

    /// Adds accesses to contiguous bytes and shorts.
    fn bytes(&mut self) {
        self.requirements = Requirements { stride: 32, may_alias: true, ..self.requirements };
        self.buffer("a", "uchar", true);
        self.buffer("b", "uchar", false);
        let count = self.pick(&[2, 3, 4, 7, 8, 16]);
        let mut text = String::new();
        match self.random.below(4) {
            0 => {
                for k in 0..count {
                    let _ = write!(text, "b[i * {count} + {k}] = a[i * {count} + {}];", count - 1 - k);
                }
                self.requirements.may_alias = false;
            }
            1 => text.push_str("vstore4(vload4(i, a) + (uchar4)1, i, b);"),
            2 => text.push_str(
                "global ushort *h = (global ushort *)(b + 8 * i); h[0] = a[8 * i]; h[3] = h[0] + a[8 * i + 1]; b[8 * i + 3] = 7;",
            ),
            _ => {
                let _ = write!(
                    text,
                    "uint s = 0; for (uint k = 0; k < {count}; k++) s = s * 3 + a[i * {count} + k]; for (uint k = 0; k < {count}; k++) b[i * {count} + k] = s >> k;"
                );
            }
        }
        self.guarded(&text);
    }
}
