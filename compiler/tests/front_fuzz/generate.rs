//! Generates programs from the grammar. Most are valid, so that they reach the passes and emission.

use std::fmt::Write as _;

use crate::Random;

const SCALARS: &[&str] = &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "int", "float", "uint"];
const WIDTHS: &[usize] = &[2, 3, 4, 8, 16];
const SPACES: &[&str] = &["global", "local", "private", "constant"];

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
enum Type {
    Scalar(&'static str),
    Vector(&'static str, usize),
    /// The structure with this number.
    Record(usize),
    Pointer(&'static str, Box<Type>),
}

impl Type {
    fn name(&self) -> String {
        match self {
            Self::Scalar(name) => (*name).to_owned(),
            Self::Vector(name, lanes) => format!("{name}{lanes}"),
            Self::Record(number) => format!("struct S{number}"),
            Self::Pointer(space, to) => format!("{space} {} *", to.name()),
        }
    }

    fn is_float(&self) -> bool {
        matches!(self, Self::Scalar("float" | "double") | Self::Vector("float" | "double", _))
    }
}

struct Generator<'r> {
    random: &'r mut Random,
    text: String,
    /// The variables in scope: name, type, and whether they are writable.
    variables: Vec<(String, Type, bool)>,
    records: Vec<Vec<Type>>,
    /// The generated functions: result type and parameter types.
    functions: Vec<(Type, Vec<Type>)>,
    next: usize,
    labels: usize,
    in_loop: bool,
}

/// Generates a program with kernels and other functions.
pub fn program(random: &mut Random) -> String {
    let mut generator = Generator {
        random,
        text: String::new(),
        variables: Vec::new(),
        records: Vec::new(),
        functions: Vec::new(),
        next: 0,
        labels: 0,
        in_loop: false,
    };
    for _ in 0..generator.random.below(3) {
        generator.record();
    }
    for number in 0..generator.random.below(3) {
        let ty = generator.arithmetic();
        let values: Vec<String> = (0..4).map(|_| generator.constant(&ty)).collect();
        let _ = writeln!(generator.text, "constant {} table{number}[4] = {{ {} }};", ty.name(), values.join(", "));
        generator.variables.push((format!("table{number}[1]"), ty, false));
    }
    let globals = generator.variables.clone();
    for _ in 0..generator.random.below(4) {
        generator.function(false);
        generator.variables.clone_from(&globals);
    }
    for _ in 0..=generator.random.below(2) {
        generator.function(true);
        generator.variables.clone_from(&globals);
    }
    generator.text
}

impl Generator<'_> {
    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.random.below(list.len())]
    }

    fn arithmetic(&mut self) -> Type {
        let scalar = *self.pick(SCALARS);
        if self.random.below(3) == 0 { Type::Vector(scalar, *self.pick(WIDTHS)) } else { Type::Scalar(scalar) }
    }

    fn value_type(&mut self) -> Type {
        if !self.records.is_empty() && self.random.below(5) == 0 {
            Type::Record(self.random.below(self.records.len()))
        } else {
            self.arithmetic()
        }
    }

    fn record(&mut self) {
        let number = self.records.len();
        let fields: Vec<Type> = (0..1 + self.random.below(4)).map(|_| self.value_type()).collect();
        let _ = write!(self.text, "struct S{number} {{ ");
        for (index, field) in fields.iter().enumerate() {
            let array = if self.random.below(4) == 0 { "[3]" } else { "" };
            // Expressions use an array member without an index (see `expr`).
            let _ = write!(self.text, "{} f{index}{array}; ", field.name());
        }
        let packed = if self.random.below(4) == 0 { " __attribute__((packed))" } else { "" };
        let _ = writeln!(self.text, "}}{packed};");
        self.records.push(fields);
    }

    fn function(&mut self, kernel: bool) {
        let number = self.functions.len();
        let count = self.random.below(5) + usize::from(kernel);
        let params: Vec<Type> = (0..count)
            .map(|_| {
                let value = self.value_type();
                if self.random.below(2) == 0 {
                    let space = if kernel { *self.pick(&["global", "local", "constant"]) } else { *self.pick(SPACES) };
                    Type::Pointer(space, Box::new(value))
                } else {
                    value
                }
            })
            .collect();
        let ret = if kernel { None } else { Some(self.value_type()) };
        let declared: Vec<String> = params.iter().enumerate().map(|(i, ty)| format!("{} p{i}", ty.name())).collect();
        let head = ret.as_ref().map_or_else(|| "kernel void".to_owned(), Type::name);
        let _ = writeln!(self.text, "{head} f{number}({}) {{", declared.join(", "));
        for (i, ty) in params.iter().enumerate() {
            self.variables.push((format!("p{i}"), ty.clone(), true));
            if let Type::Pointer(space, to) = ty {
                self.variables.push((format!("p{i}[get_global_id(0)]"), (**to).clone(), *space != "constant"));
                self.variables.push((format!("(*p{i})"), (**to).clone(), *space != "constant"));
            }
        }
        let first = self.labels;
        self.block(0);
        for label in first..self.labels {
            let _ = writeln!(self.text, "L{label}: ;");
        }
        if let Some(ret) = &ret {
            let value = self.expr(ret, 2);
            let _ = writeln!(self.text, "return {value};");
        }
        self.text.push_str("}\n");
        // The following functions and kernels may call this function.
        self.functions.push((ret.unwrap_or(Type::Scalar("void")), params));
    }

    fn block(&mut self, depth: usize) {
        let scope = self.variables.len();
        for _ in 0..1 + self.random.below(5) {
            self.statement(depth);
        }
        self.variables.truncate(scope);
    }

    fn statement(&mut self, depth: usize) {
        let choice = if depth > 4 { self.random.below(5) } else { self.random.below(18) };
        match choice {
            0 | 1 => self.declaration(),
            2..=4 => self.assignment(),
            5..=7 => {
                let cond = self.condition();
                let _ = writeln!(self.text, "if ({cond}) {{");
                self.block(depth + 1);
                if self.random.below(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block(depth + 1);
                }
                self.text.push_str("}\n");
            }
            8..=11 => {
                let cond = self.condition();
                let name = self.next;
                self.next += 1;
                let (head, tail) = match self.random.below(4) {
                    0 => (format!("while ({cond})"), String::new()),
                    1 => ("do".to_owned(), format!("while ({cond});")),
                    _ => (format!("for (int k{name} = 0; k{name} < {}; k{name}++)", 1 + self.random.below(9)), String::new()),
                };
                let outer = std::mem::replace(&mut self.in_loop, true);
                let _ = writeln!(self.text, "{head} {{");
                self.block(depth + 1);
                let _ = writeln!(self.text, "}} {tail}");
                self.in_loop = outer;
            }
            12 => {
                let selector = self.expr(&Type::Scalar("int"), 2);
                let _ = writeln!(self.text, "switch ({selector}) {{");
                for case in 0..1 + self.random.below(4) {
                    let label = if case == 2 { "default".to_owned() } else { format!("case {}", case * 3) };
                    let _ = writeln!(self.text, "{label}: {{");
                    self.block(depth + 1);
                    let _ = writeln!(self.text, "}} {}", if self.random.below(2) == 0 { "break;" } else { "" });
                }
                self.text.push_str("}\n");
            }
            13 if self.in_loop => {
                let cond = self.condition();
                let jump = *self.pick(&["break", "continue"]);
                let _ = writeln!(self.text, "if ({cond}) {jump};");
            }
            14 => {
                let cond = self.condition();
                if self.random.below(2) == 0 {
                    let _ = writeln!(self.text, "if ({cond}) goto L{};", self.labels);
                    self.labels += 1;
                } else {
                    let label = self.next;
                    self.next += 1;
                    let _ = writeln!(self.text, "if ({cond}) goto M{label};");
                    self.statement(depth + 1);
                    let _ = writeln!(self.text, "M{label}: ;");
                }
            }
            15 => self.text.push_str("barrier(CLK_LOCAL_MEM_FENCE);\n"),
            16 => self.pointer(),
            _ => self.assignment(),
        }
    }

    fn declaration(&mut self) {
        let ty = self.value_type();
        let name = format!("v{}", self.next);
        self.next += 1;
        if self.random.below(4) == 0 {
            let length = *self.pick(&[1, 2, 7, 64, 300]);
            let zero = if matches!(ty, Type::Record(_)) { "{{0}}" } else { "{0}" };
            let _ = writeln!(self.text, "{} {name}[{length}] = {zero};", ty.name());
            let index = self.expr(&Type::Scalar("uint"), 1);
            self.variables.push((format!("{name}[({index}) % {length}]"), ty.clone(), true));
            self.variables.push((format!("{name}[0]"), ty, true));
        } else {
            let value = self.expr(&ty, 3);
            let _ = writeln!(self.text, "{} {name} = {value};", ty.name());
            self.variables.push((name, ty, true));
        }
    }

    fn pointer(&mut self) {
        let pointers: Vec<(String, Type)> = self
            .variables
            .iter()
            .filter(|(_, ty, _)| matches!(ty, Type::Pointer(..)))
            .map(|(name, ty, _)| (name.clone(), ty.clone()))
            .collect();
        if pointers.is_empty() {
            return self.declaration();
        }
        let (from, ty) = self.pick(&pointers).clone();
        let Type::Pointer(space, to) = &ty else { return };
        let name = format!("q{}", self.next);
        self.next += 1;
        let offset = self.expr(&Type::Scalar("int"), 1);
        let (cond, other) =
            (self.condition(), pointers.iter().rev().find(|(_, other)| *other == ty).map_or(from.clone(), |(name, _)| name.clone()));
        if self.random.below(3) == 0 {
            let to = self.arithmetic();
            let _ = writeln!(self.text, "{space} {} *{name} = ({space} {} *)({from} + ({offset}));", to.name(), to.name());
            self.variables.push((format!("{name}[0]"), to, *space != "constant"));
        } else {
            let _ = writeln!(self.text, "{}{name} = {cond} ? {from} + ({offset}) : {other};", ty.name());
            self.variables.push((format!("{name}[0]"), (**to).clone(), *space != "constant"));
            self.variables.push((name, ty, true));
        }
    }

    fn assignment(&mut self) {
        let targets: Vec<(String, Type)> = self
            .variables
            .iter()
            .filter(|(_, ty, writable)| *writable && !matches!(ty, Type::Pointer(..)))
            .map(|(name, ty, _)| (name.clone(), ty.clone()))
            .collect();
        if targets.is_empty() {
            return self.declaration();
        }
        let (name, ty) = self.pick(&targets).clone();
        let value = self.expr(&ty, 4);
        match &ty {
            Type::Vector(scalar, lanes) if self.random.below(3) == 0 => {
                let lane = self.random.below(*lanes);
                let value = self.expr(&Type::Scalar(scalar), 2);
                let _ = writeln!(self.text, "{name}.s{lane:x} = {value};");
            }
            Type::Record(_) => {
                let _ = writeln!(self.text, "{name} = {value};");
            }
            _ => {
                let operator = *self.pick(&["=", "+=", "-=", "*=", "="]);
                let _ = writeln!(self.text, "{name} {operator} {value};");
            }
        }
    }

    fn condition(&mut self) -> String {
        let scalar = *self.pick(SCALARS);
        let ty = Type::Scalar(scalar);
        let (a, mut b) = (self.expr(&ty, 2), self.expr(&ty, 1));
        if self.random.below(16) == 0 {
            // A 128-bit constant.
            b = "-9223372036854775808".to_owned();
        }
        let operator = *self.pick(&["<", ">", "==", "!=", "<=", ">=", "&&", "||"]);
        format!("({a} {operator} {b})")
    }

    fn constant(&mut self, ty: &Type) -> String {
        let number = match self.random.below(6) {
            0 => "0".to_owned(),
            1 => "-1".to_owned(),
            2 => "0x7fffffff".to_owned(),
            _ => self.random.below(200).to_string(),
        };
        match ty {
            Type::Scalar("float") => format!("{number}.5f").replace("0x7fffffff.5f", "1e30f"),
            Type::Vector(..) | Type::Scalar(_) => format!("({})({number})", ty.name()),
            Type::Record(_) | Type::Pointer(..) => "0".to_owned(),
        }
    }

    /// Generates an expression of a type.
    fn expr(&mut self, ty: &Type, depth: usize) -> String {
        let fitting: Vec<String> = self.variables.iter().filter(|(_, other, _)| other == ty).map(|(name, ..)| name.clone()).collect();
        if let Type::Record(number) = ty {
            if !fitting.is_empty() && self.random.below(3) > 0 {
                return self.pick(&fitting).clone();
            }
            // If the first member is an array, the first number initialises it.
            return format!("(struct S{number}){{ 0 }}");
        }
        if depth == 0 || self.random.below(5) == 0 {
            return if !fitting.is_empty() && self.random.below(4) > 0 { self.pick(&fitting).clone() } else { self.constant(ty) };
        }
        let calls: Vec<usize> = (0..self.functions.len()).filter(|&index| self.functions[index].0 == *ty).collect();
        match self.random.below(14) {
            0..=3 => {
                let operators: &[&str] =
                    if ty.is_float() { &["+", "-", "*", "/"] } else { &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"] };
                let operator = *self.pick(operators);
                format!("({} {operator} {})", self.expr(ty, depth - 1), self.expr(ty, depth - 1))
            }
            4 => format!("(-{})", self.expr(ty, depth - 1)),
            5 => {
                let from = self.arithmetic();
                match (ty, &from) {
                    (Type::Scalar(name), Type::Scalar(_)) => format!("(({name}){})", self.expr(&from, depth - 1)),
                    (Type::Vector(_, a), Type::Vector(_, b)) if a == b => format!("convert_{}({})", ty.name(), self.expr(&from, depth - 1)),
                    (Type::Scalar(scalar), Type::Vector(other, lanes)) if scalar == other => {
                        let lane = self.random.below(*lanes);
                        format!("({}).s{lane:x}", self.expr(&from, depth - 1))
                    }
                    (Type::Vector(scalar, _), _) => format!("({})({})", ty.name(), self.expr(&Type::Scalar(scalar), depth - 1)),
                    _ => self.constant(ty),
                }
            }
            6 => {
                let cond = self.condition();
                format!("({cond} ? {} : {})", self.expr(ty, depth - 1), self.expr(ty, depth - 1))
            }
            7 => {
                let name = *self.pick(if ty.is_float() {
                    &["fmin", "fmax", "fmod", "pow", "atan2"]
                } else {
                    &["min", "max", "rotate", "add_sat", "mul_hi"]
                });
                format!("{name}({}, {})", self.expr(ty, depth - 1), self.expr(ty, depth - 1))
            }
            8 if ty.is_float() => {
                let name = *self.pick(&["sin", "exp", "sqrt", "fabs", "floor", "log2"]);
                format!("{name}({})", self.expr(ty, depth - 1))
            }
            9 if !calls.is_empty() => {
                let index = *self.pick(&calls);
                let params = self.functions[index].1.clone();
                let args: Option<Vec<String>> = params
                    .iter()
                    .map(|param| match param {
                        Type::Pointer(..) => self.variables.iter().find(|(_, ty, _)| ty == param).map(|(name, ..)| name.clone()),
                        _ => Some(self.expr(param, depth - 1)),
                    })
                    .collect();
                args.map_or_else(|| self.constant(ty), |args| format!("f{index}({})", args.join(", ")))
            }
            10 => {
                let fields: Vec<String> = self
                    .variables
                    .iter()
                    .filter_map(|(name, other, _)| match other {
                        Type::Record(number) => {
                            let at = self.records[*number].iter().position(|field| field == ty)?;
                            Some(format!("{name}.f{at}"))
                        }
                        _ => None,
                    })
                    .collect();
                // An array member decays to a pointer. The program is then rejected, which is also tested.
                if fields.is_empty() { self.constant(ty) } else { self.pick(&fields).clone() }
            }
            11 if *ty == Type::Scalar("int") => self.condition(),
            12 => {
                let statement = self.condition();
                format!("({{ if ({statement}) ; {}; }})", self.expr(ty, depth - 1))
            }
            _ => {
                if fitting.is_empty() {
                    self.constant(ty)
                } else {
                    self.pick(&fitting).clone()
                }
            }
        }
    }
}
