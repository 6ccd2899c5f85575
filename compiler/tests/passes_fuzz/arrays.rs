//! Generates random OpenCL C programs with private arrays, and with variables for positions in these arrays that loops
//! and conditions change: swaps, rotations, sliding windows, rings, buffers with consecutive reads, copies of arrays in
//! structures. Every index is in range and every loop ends.
//!
//! The work is in loops with at most 70 iterations, with constant or run-time bounds. The compiler can unroll only
//! some of them.

use crate::lines::Lines;
use crate::random::Random;

/// Element types, and the suffixes that select an integer part of an element.
const ELEMENTS: [(&str, &[&str]); 8] = [
    ("uint", &[""]),
    ("int", &[""]),
    ("uchar", &[""]),
    ("ushort", &[""]),
    ("ulong", &[""]),
    ("float", &[""]),
    ("uint4", &[".x", ".y", ".w"]),
    ("Part", &[".a", ".b", ".d", ".c[0]", ".c[2]"]),
];

/// Limit for the total number of iterations of all loops of a program. It bounds the time of the interpreter.
const MAX_ITERATIONS: usize = 1500;

/// An array of the program.
#[derive(Clone)]
struct Array {
    name: String,
    ty: usize,
    length: usize,
    /// The name of the variable that contains the current position in the array.
    at: String,
}

/// The counter of an enclosing loop, and the counter's exclusive upper bound.
struct Counter {
    name: String,
    below: usize,
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    arrays: Vec<Array>,
    counters: Vec<Counter>,
    /// The number of generated counters.
    made: usize,
    /// The product of the iterations of the enclosing loops.
    around: usize,
    /// The total number of iterations of all generated loops.
    iterations: usize,
    /// The number of calls of `draw` that may still be added. Each call is inlined.
    draws: usize,
}

/// Returns a random program with a kernel `k(global uint *a, global uint *b, int x, int y)`. Each work-item accesses 32
/// words of each buffer.
pub fn program(seed: u64) -> String {
    let mut w = Writer {
        random: Random::new(seed ^ 0x00a2_2a75),
        text: String::new(),
        indent: 0,
        arrays: Vec::new(),
        counters: Vec::new(),
        made: 0,
        around: 1,
        iterations: 0,
        draws: 3,
    };
    w.line("typedef struct { uint a; ushort b; uint c[3]; uchar d; } Part;");
    let drawn = w.draw();
    w.line("kernel void k(global uint *a, global uint *b, int x, int y) {");
    w.line("size_t own = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));");
    w.line("a += 32 * own; b += 32 * own;");
    w.line("uint t0 = x, t1 = a[3], t2 = own, sum = y; float f0 = 1; Stream s; s.at = 1; s.key = x;");
    w.line(&format!("for (int i = 0; i < {drawn}; i++) s.buffer.words[i] = i * 77u;"));
    for number in 0..1 + w.random.below(2) {
        w.declare(number);
    }
    for _ in 0..2 + w.random.below(3) {
        w.statement();
    }
    for (number, array) in w.arrays.clone().into_iter().enumerate() {
        let parts = ELEMENTS[array.ty].1;
        w.line(&format!("for (int i = 0; i < {}; i++) {{", array.length));
        for part in parts {
            w.line(&format!("sum = sum * 31u + {};", w.read(&array, "i", part)));
        }
        w.close();
        w.line(&format!("b[{number}] = sum; a[{number}] = {};", array.at));
    }
    w.line("b[10] = t0; b[11] = t1; b[12] = t2; b[13] = as_uint(f0); b[14] = s.at; b[15] = s.key;");
    w.line(&format!("for (int i = 0; i < {drawn}; i++) sum = (sum ^ s.buffer.words[i]) * 5u;"));
    w.line("b[16] = sum;");
    w.close();
    w.text
}

impl Lines for Writer {
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize) {
        (&mut self.random, &mut self.text, &mut self.indent)
    }
}

impl Writer {
    /// Adds the type `Stream`, which contains a buffer. Also adds the function `draw`, which reads the buffer
    /// consecutively and refills it at its end. Returns the length of the buffer.
    fn draw(&mut self) -> usize {
        let length = [2, 3, 4, 8, 16, 40][self.random.below(6)];
        self.line(&format!(
            "typedef struct {{ union {{ uint words[{length}]; ulong wide[{}]; }} buffer; uint key; int at; }} Stream;",
            length / 2
        ));
        self.line("uint draw(Stream *s) {");
        self.line(&format!("if (s->at == {length}) {{"));
        self.line("s->at = 0; s->key += 3;");
        self.line(&format!("for (int i = 0; i < {length}; i++) s->buffer.words[i] = (s->buffer.words[i] + s->key) * 2654435761u;"));
        self.close();
        let rest = self.pick(&[
            "int now = s->at; s->at += 1; return s->buffer.words[now];",
            "return s->buffer.words[s->at++];",
            "uint r = s->buffer.words[s->at]; s->buffer.words[s->at] = s->key; s->at = s->at + 1; return r;",
        ]);
        self.line(rest);
        self.close();
        length
    }

    /// Adds the declaration and initialisation of an array.
    fn declare(&mut self, number: usize) {
        let ty = self.random.below(ELEMENTS.len());
        let length = if self.random.below(3) == 0 { 2 + self.random.below(14) } else { 17 + self.random.below(54) };
        let (name, at) = (format!("h{number}"), format!("at{number}"));
        let (element, parts) = ELEMENTS[ty];
        let start = self.random.below(length);
        let at_ty = self.pick(&["int", "uint", "int", "uchar", "long"]);
        self.line(&format!("{element} {name}[{length}]; {at_ty} {at} = {start};"));
        let array = Array { name, ty, length, at };
        self.line(&format!("for (int i = 0; i < {length}; i++) {{"));
        if element == "uint4" || element == "Part" {
            self.line(&format!("{}[i] = ({element}){};", array.name, if element == "Part" { "{ 0 }" } else { "(0)" }));
        }
        for (number, part) in parts.iter().enumerate() {
            self.line(&self.write(&array, "i", part, &format!("i * {} + x", 3 + number)));
        }
        self.close();
        self.arrays.push(array);
    }

    /// Returns an expression of type `uint` for a part of an element.
    fn read(&self, array: &Array, index: &str, part: &str) -> String {
        let conversion = if ELEMENTS[array.ty].0 == "float" { "(uint)(int)" } else { "(uint)" };
        format!("{conversion}{}[{index}]{part}", array.name)
    }

    /// Returns a statement that assigns a `uint` to a part of an element.
    fn write(&self, array: &Array, index: &str, part: &str, value: &str) -> String {
        if ELEMENTS[array.ty].0 == "float" {
            format!("{}[{index}] = (int)(({value}) & 0xffff);", array.name)
        } else {
            format!("{}[{index}]{part} = {value};", array.name)
        }
    }

    fn array(&mut self) -> Array {
        self.arrays[self.random.below(self.arrays.len())].clone()
    }

    /// Selects an array, an index, and an integer part of the element at the index.
    fn place(&mut self) -> (Array, String, &'static str) {
        let array = self.array();
        let index = self.index(&array);
        let parts = ELEMENTS[array.ty].1;
        let part = parts[self.random.below(parts.len())];
        (array, index, part)
    }

    /// Returns an index into an array: mostly a loop counter or the array's position variable, in some cases with an
    /// added constant.
    fn index(&mut self, array: &Array) -> String {
        let fitting: Vec<(String, usize)> = self
            .counters
            .iter()
            .filter(|counter| counter.below <= array.length)
            .map(|counter| (counter.name.clone(), array.length - counter.below))
            .collect();
        if !fitting.is_empty() && self.random.below(4) > 0 {
            let (name, free) = &fitting[self.random.below(fitting.len())];
            let more = self.random.below(free.min(&3) + 1);
            return match self.random.below(8) {
                0 => format!("{} - {name}", array.length - 1),
                _ if more == 0 => name.clone(),
                _ => format!("{name} + {more}"),
            };
        }
        match self.random.below(6) {
            0 => self.random.below(array.length).to_string(),
            1 => format!("(uint)({}) % {}u", self.value(2), array.length),
            2 => format!("({} + 1) % {}", array.at, array.length),
            _ => array.at.clone(),
        }
    }

    /// Returns an expression of type `uint`.
    fn value(&mut self, depth: usize) -> String {
        if depth > 2 {
            return self.pick(&["t0", "t1", "t2", "(uint)x", "(uint)own", "sum", "7u"]).to_owned();
        }
        match self.random.below(9) {
            0 | 1 => self.pick(&["t0", "t1", "t2", "(uint)x", "sum"]).to_owned(),
            2 => match self.counters.last() {
                Some(counter) => format!("(uint){}", counter.name),
                None => format!("{}u", self.random.below(100)),
            },
            3..=5 => {
                let (array, index, part) = self.place();
                format!("({})", self.read(&array, &index, part))
            }
            6 if self.draws > 0 && self.iterations + self.around * 8 < MAX_ITERATIONS => {
                self.draws -= 1;
                self.iterations += self.around * 8;
                "draw(&s)".to_owned()
            }
            _ => {
                let op = self.pick(&["+", "-", "*", "^", "&", "|"]);
                format!("({} {op} {})", self.value(depth + 1), self.value(depth + 1))
            }
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("({} & {}u) != 0", self.value(1), 1 << self.random.below(6)),
            1 => format!("{} < {}", self.value(1), self.value(1)),
            2 => {
                let array = self.array();
                format!("{} == {}", array.at, self.random.below(array.length))
            }
            _ => format!("({}) % 3 == 0", self.value(1)),
        }
    }

    /// Adds a statement that changes the position variable of an array. The position remains within the array.
    fn step(&mut self) {
        let Array { at, length, .. } = self.array();
        let (step, last) = (1 + self.random.below(3), length - 1);
        let text = match self.random.below(8) {
            0 => format!("{at} = {at} + 1 == {length} ? 0 : {at} + 1;"),
            1 => format!("if (++{at} == {length}) {at} = 0;"),
            2 => format!("{at} = ({at} + {step}) % {length};"),
            3 => format!("{at} = min((uint){at} + {step}u, {last}u);"),
            4 => format!("{at} = max((int){at} - {step}, 0);"),
            5 => format!("if ({at} == 0) {at} = {last}; else {at}--;"),
            6 => format!("{at} = {} ? {at} : ({at} + 1) % {length};", self.condition()),
            _ => format!("{at} = {last} - {at};"),
        };
        self.line(&text);
    }

    /// Adds statements that move elements within one array.
    fn moves(&mut self) {
        let array = self.array();
        let counter = self.counters.last().filter(|counter| counter.below < array.length).map(|counter| counter.name.clone());
        if let Some(counter) = counter.filter(|_| self.random.below(2) == 0) {
            let part = ELEMENTS[array.ty].1[0];
            let (here, next) = (self.read(&array, &counter, part), self.read(&array, &format!("{counter} + 1"), part));
            let op = self.pick(&["+", "^", "-"]);
            self.line(&format!("t2 = {here};"));
            self.line(&self.write(&array, &counter, part, &format!("t1 {op} {next}")));
            return self.line("t1 = t2;");
        }
        let (name, element) = (&array.name, ELEMENTS[array.ty].0);
        let (first, second) = (self.index(&array), self.index(&array));
        let temporary = format!("e{}", self.made);
        self.made += 1;
        let text = match self.random.below(4) {
            0 => format!("{element} {temporary} = {name}[{first}]; {name}[{first}] = {name}[{second}]; {name}[{second}] = {temporary};"),
            1 => format!("{name}[{first}] = {name}[{second}];"),
            2 if element == "float" => format!("{name}[{first}] = ({name}[{second}] + {name}[{first}]) * 0.5f; f0 = {name}[{second}];"),
            2 => format!("{element} {temporary} = {name}[{first}]; {name}[{second}] = {temporary};"),
            _ => {
                let (array, index, part) = self.place();
                format!("t0 = {};", self.read(&array, &index, part))
            }
        };
        self.line(&text);
    }

    fn statement(&mut self) {
        let deep = self.indent > 4;
        match self.random.below(if self.counters.is_empty() { 8 } else { 16 }) {
            0..=4 if !deep && self.counters.len() < 2 => self.counted(),
            5 => self.copied(),
            0..=6 => self.step(),
            7 | 8 => self.moves(),
            9 | 10 => {
                let (array, index, part) = self.place();
                let value = self.value(0);
                self.line(&self.write(&array, &index, part, &value));
            }
            11 | 12 => {
                let (name, value) = (self.pick(&["t0", "t1", "t2", "sum"]), self.value(0));
                self.line(&format!("{name} = {value};"));
            }
            13 if !deep => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.some(3);
                self.close();
                if self.random.below(2) == 0 {
                    self.line("else {");
                    self.some(2);
                    self.close();
                }
            }
            14 if !deep => {
                let selector = self.value(1);
                self.line(&format!("switch ({selector} & 3) {{"));
                for label in ["case 0:", "case 2:", "default:"] {
                    self.line(label);
                    self.some(2);
                    self.line("break;");
                }
                self.close();
            }
            15 if self.random.below(3) == 0 => {
                let (condition, jump) = (self.condition(), self.pick(&["break", "continue"]));
                self.line(&format!("if ({condition}) {jump};"));
            }
            _ => self.moves(),
        }
    }

    fn some(&mut self, most: usize) {
        for _ in 0..1 + self.random.below(most) {
            self.statement();
        }
    }

    /// Adds a copy of a structure that contains an array.
    fn copied(&mut self) {
        let array = self.array();
        let (name, element, length) = (&array.name, ELEMENTS[array.ty].0, array.length);
        if self.iterations + self.around * 2 * length > MAX_ITERATIONS {
            return self.step();
        }
        self.iterations += self.around * 2 * length;
        self.line("{");
        self.line(&format!("struct {{ {element} v[{length}]; }} from, to;"));
        self.line(&format!("for (int i = 0; i < {length}; i++) from.v[i] = {name}[i];"));
        self.line("to = from;");
        let shift = self.random.below(length);
        self.line(&format!("for (int i = 0; i < {length}; i++) {name}[i] = to.v[(i + {shift}) % {length}];"));
        self.close();
    }

    /// Adds a loop with a bounded number of iterations.
    fn counted(&mut self) {
        let length = self.array().length;
        let iterations = match self.random.below(6) {
            0 => length,
            1..=3 => (length - 1).max(1),
            4 => (length / 2).max(1),
            _ => 2 + self.random.below(69),
        };
        if self.iterations + self.around * iterations > MAX_ITERATIONS {
            return self.step();
        }
        self.iterations += self.around * iterations;
        let name = format!("n{}", self.made);
        self.made += 1;
        let ty = self.pick(&["int", "uint", "int", "long", "uchar"]);
        let for_loop = "}".to_owned();
        let (first, then, end) = match self.random.below(6) {
            0 => (format!("for ({ty} {name} = {iterations}; {name}-- > 0;) {{"), String::new(), for_loop),
            // The trip count is unknown at compile time, because `y` is an argument of the kernel.
            1 => (format!("for ({ty} {name} = 0; {name} < (y & 1) + {}; {name}++) {{", iterations - 1), String::new(), for_loop),
            2 => {
                (format!("{ty} {name}a = 0, {name}; do {{"), format!("{name} = {name}a++;"), format!("}} while ({name}a < {iterations});"))
            }
            3 => (format!("{ty} {name} = 0; do {{"), String::new(), format!("}} while (++{name} < {iterations});")),
            _ => (format!("for ({ty} {name} = 0; {name} < {iterations}; {name}++) {{"), String::new(), for_loop),
        };
        self.line(&first);
        if !then.is_empty() {
            self.line(&then);
        }
        let outer = self.around;
        self.around *= iterations;
        self.counters.push(Counter { name: name.clone(), below: iterations });
        for _ in 0..2 + self.random.below(3) {
            self.statement();
        }
        self.counters.pop();
        self.around = outer;
        self.indent -= 1;
        self.line(&end);
    }
}
