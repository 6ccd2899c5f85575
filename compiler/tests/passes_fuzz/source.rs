//! Generates random OpenCL C programs without undefined behaviour: indices are masked, divisors are not zero, and
//! loops are counted. Work-items access their own parts of buffers, and synchronise with barriers before they read
//! the results of others.

use crate::lines::Lines;
use crate::random::Random;

/// Integer types of expressions.
const INTEGERS: [&str; 8] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];

/// Vectors, with their element type and number of elements.
const VECTORS: [(&str, &str, usize); 5] =
    [("int4", "int", 4), ("uchar4", "uchar", 4), ("short8", "short", 8), ("long2", "long", 2), ("float4", "float", 4)];

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    /// The number of statements that may still be added.
    budget: usize,
    /// The number of enclosing loops.
    loops: usize,
    counters: usize,
    /// Whether the current function is the kernel.
    kernel: bool,
}

/// Macros for divisions and square roots. With `ROUNDS_DIFFERENTLY`, a program has no divisions and square roots of
/// type `float`, because devices may round their results differently.
const OPERATIONS: [&str; 9] = [
    "#ifdef ROUNDS_DIFFERENTLY",
    "#define divide_float(a, b) ((a) * (b))",
    "#define sqrt_float(a) fabs(a)",
    "#else",
    "#define divide_float(a, b) ((a) / (b))",
    "#define sqrt_float(a) sqrt(a)",
    "#endif",
    "#define divide_double(a, b) ((a) / (b))",
    "#define sqrt_double(a) sqrt(a)",
];

/// Returns a random program with a kernel `k(global int *a, global int *b, int x, int y)`.
pub fn program(seed: u64) -> String {
    let mut w =
        Writer { random: Random::new(seed ^ 0x5eed_0000), text: String::new(), indent: 0, budget: 0, loops: 0, counters: 0, kernel: false };
    OPERATIONS.iter().for_each(|line| w.line(line));
    w.line("typedef struct { char c; int v[4]; short s; long l; uchar4 q; } S;");
    w.line("typedef union { int i; uchar b[4]; ushort h[2]; float f; } U;");
    w.line("constant int table[8] = {3, -1, 4, 1, -5, 9, 2, 6};");
    w.line("int helper(int i0, long l0, short8 w0) {");
    w.locals(&["i0", "l0", "w0"]);
    w.budget = 4;
    w.block();
    let result = w.integer("int", 2);
    w.line(&format!("return {result};"));
    w.close();
    // The functions `touch` and `twice` access only private memory, so they need not be inlined.
    w.line("int touch(private S *s, private int *r, int i0) {");
    w.locals(&["s", "i0"]);
    w.line("S t = *s; private int *p = r;");
    w.budget = 4;
    w.block();
    let (result, index, other) = (w.integer("int", 2), w.index(4), w.index(4));
    w.line(&format!("if (i0 & 1) r[{index}] += {result};"));
    w.line(&format!("r[{other}] ^= t.v[1]; s->v[{index}] = i1 + r[1]; s->l ^= r[{other}];"));
    w.line("if (i0 & 2) { s->c = (char)i0; s->q.y += 3; } return t.s + s->v[2];");
    w.close();
    w.line("int twice(private S *s, private int *r, int i0) {");
    w.locals(&["s", "i0"]);
    w.line("S t = *s;");
    w.budget = 3;
    w.block();
    let (first, second, index) = (w.integer("int", 1), w.integer("int", 1), w.index(4));
    w.line(&format!("i1 = touch(s, r, {first}); i1 += touch(&t, r + ({index}), {second});"));
    w.line("if (i1 & 1) i1 -= touch(s, t.v, i0); else i1 ^= touch(s, s->v, i1); *s = t; return i1 + arr[i0 & 7];");
    w.close();
    w.line("int reach(S *s, int *r, global int *g, int i0) {");
    w.locals(&["s", "i0"]);
    w.line("int *p = r; S t = *s;");
    w.budget = 5;
    w.statements_with_pointers();
    let result = w.integer("int", 2);
    w.line(&format!("*s = t; return {result};"));
    w.close();
    w.line("kernel void k(global int *a, global int *b, int x, int y) {");
    w.line("local int cells[16]; local S shared;");
    w.line("uint id = get_local_linear_id(), items = get_local_size(0) * get_local_size(1) * get_local_size(2);");
    w.line("size_t own = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));");
    w.line("a += 32 * own; b += 32 * own;");
    w.locals(&[]);
    w.line("S s = { 1, { 2, 3, 4, x }, 5, 6, (uchar4)(7, 8, 9, 10) }, t = s; int *p = arr; global int *g = a;");
    w.line("int *pp[2] = { arr, t.v }; int **way = &p; global int *gg[2] = { a, b }; struct { global int *g; int *p; } held = { b, arr };");
    w.line("local int other[16]; local int *lp = cells; cells[id] = x; other[id] = y; barrier(CLK_LOCAL_MEM_FENCE);");
    w.line("i0 = x; i1 = y; u0 = get_global_id(0);");
    w.kernel = true;
    for _ in 0..3 {
        w.budget = 8;
        w.statements_with_pointers();
        if w.random.below(2) == 0 {
            let value = w.integer("int", 2);
            w.line(&format!("cells[id] = {value}; barrier(CLK_LOCAL_MEM_FENCE);"));
            w.line("i1 += cells[(id + 1) % items]; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        }
        if w.random.below(2) == 0 {
            let (value, index) = (w.integer("int", 2), w.index(4));
            let record = w.pick(&["&s", "&t"]);
            // `twice` accesses three more elements than `touch`, so it gets only pointers to enough elements.
            let (helper, array) = match w.random.below(2) {
                0 => ("touch", w.pick(&["arr", "arr + 2", "s.v", "t.v"])),
                _ => ("twice", w.pick(&["arr", "arr + 1"])),
            };
            w.line(&format!("i0 += {helper}({record}, {array}, {value}); i1 -= touch(&s, arr + ({index}), i0);"));
        }
        if w.random.below(4) == 0 {
            let f = w.pick(&["reduce_add", "scan_inclusive_add", "scan_exclusive_max", "reduce_min"]);
            let (ty, name) = [("int", "i0"), ("uint", "u0"), ("long", "l0")][w.random.below(3)];
            let value = w.integer(ty, 2);
            w.line(&format!("{name} = work_group_{f}({value});"));
            let condition = w.condition();
            w.line(&format!("i1 += work_group_any({condition}) + work_group_broadcast(i0, 0);"));
        }
        if w.random.below(4) == 0 {
            let value = w.integer("int", 2);
            w.line("for (int iteration = 1; iteration < 4; iteration++) {");
            w.line(&format!("cells[id] = {value} + iteration; barrier(CLK_LOCAL_MEM_FENCE);"));
            w.line("i0 ^= cells[(id + iteration) % items]; barrier(CLK_LOCAL_MEM_FENCE);");
            w.close();
        }
        if w.random.below(3) == 0 {
            w.line("if (id == 0) shared = s; barrier(CLK_LOCAL_MEM_FENCE);");
            w.line("t = shared; barrier(CLK_LOCAL_MEM_FENCE);");
        }
    }
    w.line("uint at = 16;");
    w.line("b[at] = i0; b[at + 1] = i1; b[at + 2] = (int)u0; b[at + 3] = (int)l0; b[at + 4] = (int)(l0 >> 32); b[at + 5] = h0 + c0;");
    w.line("b[at + 6] = s.v[1] ^ s.c; b[at + 7] = (int)t.l + t.s; b[at + 8] = arr[3] + arr[6]; b[at + 9] = v0.x ^ v0.w; b[at + 10] = w0.s3 + w0.s7 + q0.y;");
    w.line("b[at + 11] = as_int(f0.x) ^ as_int(f0.z) ^ (isnan(x0) ? 1 : as_int(x0)) ^ (isnan(y0) ? 2 : (int)(as_long(y0) >> 13));");
    w.close();
    w.text
}

impl Lines for Writer {
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize) {
        (&mut self.random, &mut self.text, &mut self.indent)
    }
}

impl Writer {
    /// Adds the variables that every function has, except those with the name of a parameter.
    fn locals(&mut self, except: &[&str]) {
        let all = [
            ("i0", "int i0 = 1;"),
            ("i1", "int i1 = -2;"),
            ("u0", "uint u0 = 3u;"),
            ("l0", "long l0 = 4;"),
            ("m0", "ulong m0 = 0x123456789abcul;"),
            ("h0", "short h0 = 5;"),
            ("c0", "uchar c0 = 250;"),
            ("arr", "int arr[8] = {1, 2, 3, 4, 5, 6, 7, 8};"),
            ("v0", "int4 v0 = (int4)(1, 2, 3, 4);"),
            ("q0", "uchar4 q0 = (uchar4)(250, 2, 3, 4);"),
            ("w0", "short8 w0 = (short8)(1, 2, 3, 4, 5, 6, 7, 8);"),
            ("d0", "long2 d0 = (long2)(-1, 2);"),
            ("f0", "float4 f0 = (float4)(1.0f, 2.0f, 3.0f, 4.0f);"),
            ("un", "U un; un.i = 77;"),
            ("x0", "float x0 = 1.25f;"),
            ("y0", "double y0 = -0.75;"),
        ];
        for (name, text) in all {
            if !except.contains(&name) {
                self.line(text);
            }
        }
    }

    fn block(&mut self) {
        while self.budget > 0 {
            self.budget -= 1;
            self.statement(false);
        }
    }

    fn statements_with_pointers(&mut self) {
        while self.budget > 0 {
            self.budget -= 1;
            self.statement(true);
        }
    }

    /// Adds a few statements to the current block.
    fn nested(&mut self, pointers: bool) {
        for _ in 0..1 + self.random.below(3) {
            if self.budget > 0 {
                self.budget -= 1;
                self.statement(pointers);
            }
        }
    }

    /// Returns an index below `count`, which is a power of two.
    fn index(&mut self, count: usize) -> String {
        match self.random.below(3) {
            0 => self.random.below(count).to_string(),
            _ => {
                let value = self.integer("int", 1);
                format!("({value}) & {}", count - 1)
            }
        }
    }

    /// Returns an assignable integer expression, and its type.
    fn place(&mut self, pointers: bool) -> (String, &'static str) {
        match self.random.below(self.places(pointers)) {
            0 => ("i0".to_owned(), "int"),
            1 => ("i1".to_owned(), "int"),
            2 => ("u0".to_owned(), "uint"),
            3 => ("l0".to_owned(), "long"),
            4 => ("m0".to_owned(), "ulong"),
            5 => ("h0".to_owned(), "short"),
            6 => ("c0".to_owned(), "uchar"),
            7 => {
                let lane = self.pick(&["x", "y", "z", "w"]);
                if self.random.below(2) == 0 { (format!("v0.{lane}"), "int") } else { (format!("q0.{lane}"), "uchar") }
            }
            8 => (format!("w0.s{}", self.random.below(8)), "short"),
            9 => {
                let index = self.index(4);
                (format!("un.b[{index}]"), "uchar")
            }
            10 => {
                let index = self.index(8);
                (format!("arr[{index}]"), "int")
            }
            11 => {
                let index = self.index(4);
                (format!("t.v[{index}]"), "int")
            }
            12 => {
                let (member, ty) = [("t.c", "char"), ("t.s", "short"), ("t.l", "long"), ("t.q.z", "uchar")][self.random.below(4)];
                (member.to_owned(), ty)
            }
            13 => {
                let index = self.index(4);
                (format!("p[{index}]"), "int")
            }
            14 => {
                let index = self.index(4);
                (format!("((short *)p)[{index}]"), "short")
            }
            15 => {
                let index = self.index(16);
                (format!("((global uchar *)g)[{index}]"), "uchar")
            }
            16 | 17 => {
                let index = self.index(8);
                (format!("g[{index}]"), "int")
            }
            18 => {
                let (first, index) = (self.index(2), self.index(4));
                (format!("pp[{first}][{index}]"), "int")
            }
            19 => {
                let index = self.index(4);
                (format!("(*way)[{index}]"), "int")
            }
            20 => {
                let (member, index) = (self.pick(&["p", "g"]), self.index(4));
                (format!("held.{member}[{index}]"), "int")
            }
            21 => {
                let (first, index) = (self.index(2), self.index(8));
                (format!("gg[{first}][{index}]"), "int")
            }
            _ => ("lp[id]".to_owned(), "int"),
        }
    }

    /// Returns the number of alternatives of [`Self::place`]. With `pointers`, includes accesses through pointers. The
    /// kernel has more pointers than other functions.
    fn places(&self, pointers: bool) -> usize {
        match (pointers, self.kernel) {
            (false, _) => 11,
            (true, false) => 18,
            (true, true) => 24,
        }
    }

    /// Returns a pointer to at least four private ints.
    fn pointer(&mut self) -> String {
        match self.random.below(if self.kernel { 7 } else { 3 }) {
            0 => "arr".to_owned(),
            1 => "t.v".to_owned(),
            2 => format!("(arr + {})", self.random.below(5)),
            3 => {
                let index = self.index(2);
                format!("pp[{index}]")
            }
            4 => "held.p".to_owned(),
            5 => "*way".to_owned(),
            _ => "(int *)(uintptr_t)p".to_owned(),
        }
    }

    /// Returns a pointer to at least sixteen ints of a buffer.
    fn buffer(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("(a + {})", self.random.below(9)),
            1 => format!("(b + {})", self.random.below(9)),
            2 => {
                let index = self.index(2);
                format!("gg[{index}]")
            }
            3 => "held.g".to_owned(),
            _ => "(global int *)(uintptr_t)g".to_owned(),
        }
    }

    /// Adds a statement that changes pointers.
    fn move_pointer(&mut self) {
        let cond = self.condition();
        let text = match self.random.below(8) {
            0 | 1 => format!("p = {cond} ? {} : {};", self.pointer(), self.pointer()),
            2 => format!("g = {cond} ? {} : {};", self.buffer(), self.buffer()),
            3 => format!("pp[{}] = {cond} ? {} : p;", self.index(2), self.pointer()),
            4 => format!("way = {cond} ? &p : &pp[{}];", self.index(2)),
            5 => format!("if ({cond}) *way = {}; else held.p = {};", self.pointer(), self.pointer()),
            6 => format!("if ({cond}) held.g = {}; else gg[{}] = g;", self.buffer(), self.index(2)),
            _ => format!("lp = {cond} ? cells : other;"),
        };
        self.line(&text);
    }

    /// Returns an expression of type `ty`, which is `float` or `double`.
    fn float(&mut self, ty: &str, depth: usize) -> String {
        let own = if ty == "float" { "x0" } else { "y0" };
        if depth > 2 {
            return match self.random.below(4) {
                0 => format!("({ty}){}", self.integer("int", 3)),
                1 => format!("({ty}){}.{}", self.random.below(100), self.random.below(1000)),
                2 => format!("({ty})f0.{}", self.pick(&["x", "y", "w"])),
                _ => own.to_owned(),
            };
        }
        let d = depth + 1;
        match self.random.below(7) {
            0 | 1 => {
                let op = self.pick(&["+", "-", "*", "/"]);
                let (a, b) = (self.float(ty, d), self.float(ty, d));
                if op == "/" { format!("divide_{ty}({a}, {b})") } else { format!("({a} {op} {b})") }
            }
            2 => format!("fma({}, {}, {})", self.float(ty, d), self.float(ty, d), self.float(ty, d)),
            // The sign of a NaN is unspecified, so `copysign` gets 1 instead of a NaN.
            3 => match self.pick(&["fdim", "copysign"]) {
                "fdim" => format!("fdim({}, {own})", self.float(ty, d)),
                other => format!("{other}({}, isnan({own}) ? ({ty})1 : {own})", self.float(ty, d)),
            },
            4 => {
                let function = self.pick(&["floor", "rint", "trunc", "fabs", "-", "sqrt"]);
                let suffix = if function == "sqrt" { format!("_{ty}") } else { String::new() };
                format!("{function}{suffix}({})", self.float(ty, d))
            }
            5 => format!("({} ? {} : {})", self.condition(), self.float(ty, d), self.float(ty, d)),
            _ => own.to_owned(),
        }
    }

    fn statement(&mut self, pointers: bool) {
        match self.random.below(if pointers { 20 } else { 14 }) {
            0..=4 => {
                let (place, ty) = self.place(pointers);
                let value = self.integer(ty, 0);
                self.line(&format!("{place} = {value};"));
            }
            5 => {
                let (place, ty) = self.place(pointers);
                let op = self.pick(&["+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="]);
                let value = self.integer(if op.len() == 3 { "uint" } else { ty }, 1);
                self.line(&format!("{place} {op} {value};"));
            }
            6 => {
                let (place, _) = self.place(pointers);
                let op = self.pick(&["++", "--"]);
                self.line(&format!("{place}{op};"));
            }
            7 => {
                let (ty, _, _) = VECTORS[self.random.below(VECTORS.len())];
                let name = match ty {
                    "int4" => "v0",
                    "uchar4" => "q0",
                    "short8" => "w0",
                    "long2" => "d0",
                    _ => "f0",
                };
                let value = self.vector(ty, 0);
                self.line(&format!("{name} = {value};"));
            }
            8 | 9 if self.indent < 6 => {
                let cond = self.condition();
                self.line(&format!("if ({cond}) {{"));
                self.nested(pointers);
                self.close();
                if self.random.below(2) == 0 {
                    self.line("else {");
                    self.nested(pointers);
                    self.close();
                }
            }
            10 if self.loops < 2 => self.for_loop(pointers),
            11 if self.indent < 6 => self.switch(pointers),
            12 => {
                let value = self.random.below(1000);
                self.line(&format!("un.f = {value}.0f; i1 ^= un.h[1];"));
            }
            13 => {
                let (name, ty) = [("x0", "float"), ("y0", "double")][self.random.below(2)];
                let value = self.float(ty, 0);
                self.line(&format!("{name} = {value};"));
            }
            14 if !self.kernel => {
                let (cond, pointer) = (self.condition(), self.pointer());
                self.line(&format!("p = {cond} ? {pointer} : p;"));
            }
            14 | 15 if self.kernel => self.move_pointer(),
            16 if self.kernel => self.line("s = t;"),
            17 if self.kernel => {
                let value = self.integer("int", 1);
                self.line(&format!("i0 += reach(&s, p, g, {value});"));
            }
            18 if self.kernel => {
                let (first, second) = (self.integer("int", 1), self.integer("long", 1));
                self.line(&format!("i1 ^= helper({first}, {second}, w0);"));
            }
            _ => {
                let value = self.integer("int", 1);
                self.line(&format!("i0 = {value};"));
            }
        }
    }

    fn for_loop(&mut self, pointers: bool) {
        let counter = self.counters;
        self.counters += 1;
        let iterations = 1 + self.random.below(5);
        self.loops += 1;
        self.line(&format!("for (int n{counter} = 0; n{counter} < {iterations}; n{counter}++) {{"));
        self.nested(pointers);
        if self.random.below(3) == 0 {
            let (cond, jump) = (self.condition(), self.pick(&["break", "continue"]));
            self.line(&format!("if ({cond}) {jump};"));
            self.nested(pointers);
        }
        self.close();
        self.loops -= 1;
    }

    fn switch(&mut self, pointers: bool) {
        let selector = self.index(4);
        self.line(&format!("switch ({selector}) {{"));
        for case in 0..3 {
            if self.random.below(4) == 0 {
                self.line("default:");
                self.nested(pointers);
                self.line("break;");
                break;
            }
            self.line(&format!("case {case}:"));
            self.nested(pointers);
            if self.random.below(2) == 0 {
                self.line("break;");
            }
        }
        self.close();
    }

    fn condition(&mut self) -> String {
        let ty = INTEGERS[self.random.below(INTEGERS.len())];
        let (a, b) = (self.integer(ty, 2), self.integer(ty, 2));
        let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.random.below(5) {
            0 => format!("({a} {op} {b} && i0 != {})", self.random.below(9)),
            1 => format!("({a} {op} {b} || !u0)"),
            2 => format!("any(v0 {op} (int4)({}))", self.random.below(9)),
            3 if self.kernel && self.random.below(3) == 0 => {
                let own = self.pick(&["p", "held.p", "pp[1]"]);
                let op = self.pick(&["==", "!="]);
                format!("({own} {op} {})", self.pointer())
            }
            _ => format!("({a} {op} {b})"),
        }
    }

    /// Returns an expression of an integer type.
    fn integer(&mut self, ty: &str, depth: usize) -> String {
        if depth > 3 || self.random.below(5) == 0 {
            return match self.random.below(5) {
                0 => format!("({ty}){}", self.random.below(300)),
                1 => format!("({ty})0x{:x}", self.random.next() >> 32),
                2 => format!("({ty})table[{}]", self.random.below(8)),
                3 => format!("({ty})get_local_id(0)"),
                _ => format!("({ty})({})", self.pick(&["i0", "i1", "u0", "l0", "m0", "h0", "c0", "un.i", "d0.y"])),
            };
        }
        let d = depth + 1;
        match self.random.below(12) {
            0..=3 => {
                let (a, b) = (self.integer(ty, d), self.integer(ty, d));
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({ty})({a} {op} {b})")
            }
            4 => {
                let (a, b) = (self.integer(ty, d), self.integer("uint", d));
                let op = self.pick(&["<<", ">>"]);
                format!("({ty})({a} {op} {b})")
            }
            5 => {
                let (a, b) = (self.integer(ty, d), self.integer(ty, d));
                let op = self.pick(&["/", "%"]);
                format!("({ty})({a} {op} (({b} & 7) + 1))")
            }
            6 => {
                let other = INTEGERS[self.random.below(INTEGERS.len())];
                format!("({ty}){}", self.integer(other, d))
            }
            7 => {
                let (cond, a, b) = (self.condition(), self.integer(ty, d), self.integer(ty, d));
                format!("({cond} ? {a} : {b})")
            }
            8 => {
                let f = self.pick(&["min", "max", "rotate", "add_sat", "sub_sat", "mul_hi", "hadd", "rhadd"]);
                let (a, b) = (self.integer(ty, d), self.integer(ty, d));
                format!("{f}({a}, {b})")
            }
            9 => {
                let f = self.pick(&["clz", "popcount", "(long)abs", "(int)~", "(long)-", "!"]);
                let a = self.integer(ty, d);
                format!("({ty}){f}({a})")
            }
            10 => {
                let index = self.index(8);
                format!("({ty})arr[{index}]")
            }
            _ => {
                let lane = self.pick(&[
                    "v0.y",
                    "q0.x",
                    "w0.s5",
                    "d0.x",
                    "(int)f0.w",
                    "un.b[2]",
                    "un.h[0]",
                    "sizeof(S)",
                    "convert_int_sat(x0)",
                    "convert_uchar_sat_rte(y0)",
                ]);
                format!("({ty})({lane})")
            }
        }
    }

    /// Returns an expression of a vector type.
    fn vector(&mut self, ty: &str, depth: usize) -> String {
        let (_, scalar, lanes) = VECTORS.into_iter().find(|vector| vector.0 == ty).unwrap_or(VECTORS[0]);
        let name = match ty {
            "int4" => "v0",
            "uchar4" => "q0",
            "short8" => "w0",
            "long2" => "d0",
            _ => "f0",
        };
        if depth > 1 || self.random.below(4) == 0 {
            return name.to_owned();
        }
        let d = depth + 1;
        if scalar == "float" {
            // Use only small integers, so that all results are exact.
            return match self.random.below(4) {
                0 => format!("(float4)({}.0f, f0.zyx)", self.random.below(50)),
                1 => format!("fmin(fmax({} + f0.wzyx, -1000.0f), 1000.0f)", self.vector(ty, d)),
                2 => "convert_float4(q0)".to_owned(),
                _ => format!("fabs(-{})", self.vector(ty, d)),
            };
        }
        match self.random.below(5) {
            0 => {
                let items: Vec<String> = (0..lanes).map(|_| self.integer(scalar, 3)).collect();
                format!("({ty})({})", items.join(", "))
            }
            1 => {
                let (a, b) = (self.vector(ty, d), self.vector(ty, d));
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({a} {op} {b})")
            }
            2 => {
                let a = self.vector(ty, d);
                let f = self.pick(&["min", "max", "add_sat"]);
                format!("{f}({a}, {name})")
            }
            3 => {
                let lanes: String = (0..lanes).map(|_| char::from_digit(self.random.below(lanes) as u32, 16).unwrap_or('0')).collect();
                format!("{name}.s{lanes}")
            }
            _ => {
                let value = self.integer(scalar, 2);
                format!("({name} + ({scalar})({value}))")
            }
        }
    }
}
