//! Random control flow: loops, switches with labels anywhere, `goto`s anywhere, and jumps in and out of statement
//! expressions. Each program runs as a sequence of numbered instructions with jumps, as C defines it, and as IR before
//! and after the passes.

use super::programs::check;

/// A pseudo-random generator with a fixed sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

enum Stmt {
    Mark(i32),
    If(Vec<Stmt>, Vec<Stmt>),
    While(Vec<Stmt>),
    DoWhile(Vec<Stmt>),
    For(Vec<Stmt>),
    Switch(Vec<Stmt>),
    /// `do ... while (0)`
    Once(Vec<Stmt>),
    Block(Vec<Stmt>),
    Case(Option<usize>),
    Break,
    Continue,
    Goto(usize),
    MaybeGoto(usize),
    Label(usize),
    Return,
    /// Statements in an expression.
    Expr(Vec<Stmt>),
}

/// The constructs that enclose a statement.
#[derive(Clone, Copy)]
struct Enclosing {
    depth: u32,
    in_loop: bool,
    breakable: bool,
    /// Whether the statement is in a statement expression.
    in_expression: bool,
}

struct Generator {
    random: Random,
    labels: usize,
    /// Number of the labels that are outside of statement expressions.
    outer: usize,
    /// Labels that are not yet in the program.
    unplaced: Vec<usize>,
    /// Remaining `case` values of each enclosing switch.
    cases: Vec<Vec<Option<usize>>>,
    marks: i32,
    expressions: Expressions,
    /// Labels that are in enclosing statement expressions.
    expression_labels: Vec<usize>,
}

/// The jumps in statement expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expressions {
    None,
    /// `break`, `continue` and `return` out of statement expressions.
    Leaving,
    /// `Leaving`, and one label in each statement expression. Only `goto`s in the statement expression jump to it.
    WithLabels,
    /// Labels anywhere in statement expressions, and `goto`s out of statement expressions to any label.
    Irregular,
}

impl Generator {
    fn list(&mut self, enclosing: Enclosing) -> Vec<Stmt> {
        let count = 1 + self.random.below(4);
        let mut list = Vec::new();
        for _ in 0..count {
            if !enclosing.in_expression && self.random.below(5) == 0 {
                list.extend(self.unplaced.pop().map(Stmt::Label));
            }
            if !enclosing.in_expression
                && self.random.below(3) == 0
                && let Some(case) = self.cases.last_mut().and_then(Vec::pop)
            {
                list.push(Stmt::Case(case));
            }
            list.push(self.stmt(enclosing));
        }
        list
    }

    fn mark(&mut self) -> Stmt {
        self.marks += 1;
        Stmt::Mark(self.marks)
    }

    fn stmt(&mut self, enclosing: Enclosing) -> Stmt {
        let inner = Enclosing { depth: enclosing.depth + 1, ..enclosing };
        let looped = Enclosing { in_loop: true, breakable: true, ..inner };
        if enclosing.depth > 4 {
            return self.mark();
        }
        match self.random.below(18) {
            0 | 1 => Stmt::If(self.list(inner), if self.random.below(2) == 0 { Vec::new() } else { self.list(inner) }),
            2 => Stmt::While(self.list(looped)),
            3 => Stmt::DoWhile(self.list(looped)),
            4 => Stmt::For(self.list(looped)),
            5 | 6 if !enclosing.in_expression => {
                self.cases.push(vec![Some(3), None, Some(2), Some(0), Some(1)]);
                let body = self.list(Enclosing { breakable: true, ..inner });
                self.cases.pop();
                Stmt::Switch(body)
            }
            7 => Stmt::Once(self.list(looped)),
            8 => Stmt::Block(self.list(inner)),
            9 if enclosing.breakable => Stmt::If(vec![Stmt::Break], Vec::new()),
            10 if enclosing.in_loop => Stmt::If(vec![Stmt::Continue], Vec::new()),
            11 if enclosing.breakable && enclosing.depth > 2 => Stmt::Break,
            kind @ 12..=14 => match self.goto_label() {
                None => self.mark(),
                Some(label) if kind == 14 => Stmt::Goto(label),
                Some(label) => Stmt::MaybeGoto(label),
            },
            15 if enclosing.depth > 2 => Stmt::Return,
            16 if self.expressions != Expressions::None => {
                let cases = std::mem::take(&mut self.cases);
                let with_labels = matches!(self.expressions, Expressions::WithLabels | Expressions::Irregular);
                let label = with_labels.then_some(self.labels);
                self.expression_labels.extend(label);
                self.labels += self.expression_labels.len().min(1);
                let mut body = self.list(Enclosing { in_expression: true, ..inner });
                if let Some(label) = label {
                    self.expression_labels.pop();
                    self.place(&mut body, label);
                }
                self.cases = cases;
                Stmt::Expr(body)
            }
            _ => self.mark(),
        }
    }

    /// Selects a label that a `goto` at this point may jump to.
    fn goto_label(&mut self) -> Option<usize> {
        let outer = match self.expressions {
            Expressions::WithLabels => 0,
            _ => self.outer,
        };
        let count = outer + self.expression_labels.len();
        let chosen = (count > 0).then(|| self.random.below(count))?;
        if chosen < outer { Some(chosen) } else { self.expression_labels.get(chosen - outer).copied() }
    }

    /// Inserts a label at a random position of a statement expression.
    fn place(&mut self, body: &mut Vec<Stmt>, label: usize) {
        if self.expressions == Expressions::Irregular && self.random.below(3) > 0 {
            let lists: Vec<&mut Vec<Stmt>> = body
                .iter_mut()
                .filter_map(|stmt| match stmt {
                    Stmt::If(list, _)
                    | Stmt::While(list)
                    | Stmt::DoWhile(list)
                    | Stmt::For(list)
                    | Stmt::Once(list)
                    | Stmt::Block(list) => Some(list),
                    _ => None,
                })
                .collect();
            let chosen = self.random.below(lists.len().max(1));
            if let Some(list) = lists.into_iter().nth(chosen) {
                self.place(list, label);
                return;
            }
        }
        body.insert(self.random.below(body.len() + 1), Stmt::Label(label));
    }
}

const CONDITION: &str = "(fuel-- > 0 && ((x = x * 1103515245u + 12345u) & 0x10000) != 0)";

fn print(list: &[Stmt], text: &mut String) {
    let braced = |list: &[Stmt], text: &mut String| {
        text.push_str("{ ");
        print(list, text);
        text.push_str("} ");
    };
    for stmt in list {
        match stmt {
            Stmt::Mark(mark) => text.push_str(&format!("h = h * 31 + {mark}; ")),
            Stmt::If(then, els) => {
                text.push_str(&format!("if ({CONDITION}) "));
                braced(then, text);
                if !els.is_empty() {
                    text.push_str("else ");
                    braced(els, text);
                }
            }
            Stmt::While(body) => {
                text.push_str(&format!("while ({CONDITION}) "));
                braced(body, text);
            }
            Stmt::For(body) => {
                text.push_str(&format!("for (; {CONDITION}; h = h * 31 + 7) "));
                braced(body, text);
            }
            Stmt::DoWhile(body) | Stmt::Once(body) => {
                text.push_str("do ");
                braced(body, text);
                let condition = if matches!(stmt, Stmt::Once(_)) { "0" } else { CONDITION };
                text.push_str(&format!("while ({condition}); "));
            }
            Stmt::Switch(body) => {
                text.push_str("switch ((int)((x = x * 1103515245u + 12345u) >> 16) & 7) ");
                braced(body, text);
            }
            Stmt::Block(body) => braced(body, text),
            Stmt::Case(Some(value)) => text.push_str(&format!("case {value}: ")),
            Stmt::Case(None) => text.push_str("default: "),
            Stmt::Break => text.push_str("break; "),
            Stmt::Continue => text.push_str("continue; "),
            Stmt::Goto(label) => text.push_str(&format!("goto L{label}; ")),
            Stmt::MaybeGoto(label) => text.push_str(&format!("if ({CONDITION}) goto L{label}; ")),
            Stmt::Label(label) => text.push_str(&format!("L{label}: ; ")),
            Stmt::Return => text.push_str("return h; "),
            Stmt::Expr(body) => {
                text.push_str("h = h + 5 * ({ ");
                print(body, text);
                text.push_str("3; }); ");
            }
        }
    }
}

/// Makes unconditional backward `goto`s conditional, because they could loop forever.
fn only_forward(list: &mut [Stmt], seen: &mut Vec<usize>) {
    for stmt in list {
        match stmt {
            Stmt::If(then, els) => {
                only_forward(then, seen);
                only_forward(els, seen);
            }
            Stmt::While(body)
            | Stmt::DoWhile(body)
            | Stmt::For(body)
            | Stmt::Switch(body)
            | Stmt::Once(body)
            | Stmt::Block(body)
            | Stmt::Expr(body) => only_forward(body, seen),
            Stmt::Label(label) => seen.push(*label),
            Stmt::Goto(label) if seen.contains(label) => *stmt = Stmt::MaybeGoto(*label),
            _ => {}
        }
    }
}

#[derive(Clone, Debug)]
enum Code {
    Mark(i32),
    /// Continues with the next instruction if the condition holds, otherwise jumps.
    Unless(usize),
    Jump(usize),
    Switch(Vec<(Option<usize>, usize)>, usize),
    Return,
    /// Reads `h`, the left operand, before the statement expression changes it.
    Save(usize),
    /// `h = saved + 15`
    Restore(usize),
}

#[derive(Default)]
struct Assembler {
    code: Vec<Code>,
    /// The index of each target. Code refers to targets by number until the end.
    places: Vec<usize>,
    labels: Vec<usize>,
    cases: Vec<Vec<(Option<usize>, usize)>>,
}

impl Assembler {
    fn place(&mut self) -> usize {
        self.places.push(usize::MAX);
        self.places.len() - 1
    }

    fn put(&mut self, place: usize) {
        self.places[place] = self.code.len();
    }

    fn list(&mut self, list: &[Stmt], on_break: usize, on_continue: usize) {
        for stmt in list {
            self.stmt(stmt, on_break, on_continue);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, on_break: usize, on_continue: usize) {
        match stmt {
            Stmt::Mark(mark) => self.code.push(Code::Mark(*mark)),
            Stmt::If(then, els) => {
                let (other, end) = (self.place(), self.place());
                self.code.push(Code::Unless(other));
                self.list(then, on_break, on_continue);
                self.code.push(Code::Jump(end));
                self.put(other);
                self.list(els, on_break, on_continue);
                self.put(end);
            }
            Stmt::While(body) | Stmt::For(body) => {
                let (head, next, end) = (self.place(), self.place(), self.place());
                self.put(head);
                self.code.push(Code::Unless(end));
                self.list(body, end, next);
                self.put(next);
                if matches!(stmt, Stmt::For(_)) {
                    self.code.push(Code::Mark(7));
                }
                self.code.push(Code::Jump(head));
                self.put(end);
            }
            Stmt::DoWhile(body) | Stmt::Once(body) => {
                let (head, next, end) = (self.place(), self.place(), self.place());
                self.put(head);
                self.list(body, end, next);
                self.put(next);
                if matches!(stmt, Stmt::DoWhile(_)) {
                    self.code.push(Code::Unless(end));
                    self.code.push(Code::Jump(head));
                }
                self.put(end);
            }
            Stmt::Switch(body) => {
                let end = self.place();
                let at = self.code.len();
                self.code.push(Code::Return);
                self.cases.push(Vec::new());
                self.list(body, end, on_continue);
                self.put(end);
                let cases = self.cases.pop().unwrap_or_default();
                self.code[at] = Code::Switch(cases, end);
            }
            Stmt::Block(body) => self.list(body, on_break, on_continue),
            Stmt::Case(value) => {
                let place = self.place();
                self.put(place);
                if let Some(cases) = self.cases.last_mut() {
                    cases.push((*value, place));
                }
            }
            Stmt::Break => self.code.push(Code::Jump(on_break)),
            Stmt::Continue => self.code.push(Code::Jump(on_continue)),
            Stmt::Goto(label) => self.code.push(Code::Jump(self.labels[*label])),
            Stmt::MaybeGoto(label) => {
                let end = self.place();
                self.code.push(Code::Unless(end));
                self.code.push(Code::Jump(self.labels[*label]));
                self.put(end);
            }
            Stmt::Label(label) => self.put(self.labels[*label]),
            Stmt::Return => self.code.push(Code::Return),
            Stmt::Expr(body) => {
                let slot = self.place();
                self.code.push(Code::Save(slot));
                self.list(body, on_break, on_continue);
                self.code.push(Code::Restore(slot));
            }
        }
    }
}

fn run(code: &[Code], places: &[usize], mut x: u32, mut fuel: i32) -> i32 {
    let (mut at, mut h) = (0, 0_i32);
    let mut saved = vec![0; places.len()];
    while let Some(code) = code.get(at) {
        at += 1;
        match code {
            Code::Mark(mark) => h = h.wrapping_mul(31).wrapping_add(*mark),
            Code::Unless(place) => {
                fuel -= 1;
                let mut holds = false;
                if fuel >= 0 {
                    x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                    holds = x & 0x10000 != 0;
                }
                if !holds {
                    at = places[*place];
                }
            }
            Code::Jump(place) => at = places[*place],
            Code::Switch(cases, end) => {
                x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                let value = (x >> 16) as usize & 7;
                let find = |wanted: Option<usize>| cases.iter().find(|(case, _)| *case == wanted).map(|(_, place)| *place);
                at = places[find(Some(value)).or_else(|| find(None)).unwrap_or(*end)];
            }
            Code::Return => return h,
            Code::Save(slot) => saved[*slot] = h,
            Code::Restore(slot) => h = saved[*slot].wrapping_add(15),
        }
    }
    h
}

/// Runs one random program. Fails with the text of the program if a result is wrong.
fn try_one(seed: u64, labels: usize, expressions: Expressions) -> Result<(), String> {
    let unplaced = (0..labels).collect();
    let mut generator = Generator {
        random: Random(seed),
        labels,
        outer: labels,
        unplaced,
        cases: Vec::new(),
        marks: 0,
        expressions,
        expression_labels: Vec::new(),
    };
    let enclosing = Enclosing { depth: 0, in_loop: false, breakable: false, in_expression: false };
    let mut list: Vec<Stmt> = (0..3).flat_map(|_| generator.list(enclosing)).collect();
    list.extend(generator.unplaced.drain(..).map(Stmt::Label));
    only_forward(&mut list, &mut Vec::new());
    let mut text = String::from("int f(uint x, int fuel) { int h = 0; ");
    print(&list, &mut text);
    text.push_str("return h; } kernel void k(global int *out) { for (int i = 0; i < 6; i++) out[i] = f(i * 77777u + 1u, 40); }");
    let mut assembler = Assembler::default();
    assembler.labels = (0..generator.labels).map(|_| assembler.place()).collect();
    assembler.list(&list, usize::MAX, usize::MAX);
    let want: Vec<i32> = (0..6).map(|i| run(&assembler.code, &assembler.places, i * 77_777 + 1, 40)).collect();
    let tried = std::panic::catch_unwind(|| check(&text, &want));
    tried.map_err(|_| text)
}

#[test]
fn random_jumps() {
    // A range of seeds as `first..end`, to search further.
    let range = std::env::var("WGCL_JUMP_SEEDS").ok();
    let bounds = range.as_deref().and_then(|range| range.split_once("..")).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (first, end): (u64, u64) = bounds.unwrap_or((0, 300));
    let mut wrong: Vec<String> = Vec::new();
    for seed in first..end {
        wrong.extend(try_one(seed, (seed % 4) as usize, Expressions::None).err());
        wrong.extend(try_one(seed, (seed % 3) as usize, Expressions::Leaving).err());
        wrong.extend(try_one(seed, 0, Expressions::WithLabels).err());
        wrong.extend(try_one(seed, (seed % 3) as usize, Expressions::Irregular).err());
    }
    let shortest = wrong.iter().min_by_key(|text| text.len());
    assert!(wrong.is_empty(), "{} programs are wrong, the shortest is\n{}", wrong.len(), shortest.map_or("", String::as_str));
}
