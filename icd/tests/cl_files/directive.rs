//! Parses the directives in the comments of a `.cl` file. `tests/README.md` describes them for test authors.

use wgcl_client::expression::{Expr, parse};
use wgcl_client::notation::{ArgumentKind, Init, Launch};

/// One way to build and run a file: a value for every `for` variable, and a `build` line.
#[derive(Debug, Default)]
pub struct Variant {
    /// The values of the variables for messages, such as `T=char N=4`. Empty if there is only one variant.
    pub label: String,
    pub options: String,
    pub requires: Vec<String>,
    pub diagnostics: Vec<Expected>,
    /// Texts that the build log must contain, on any line.
    pub log: Vec<String>,
    /// Lines that the runs print.
    pub prints: Vec<String>,
    /// Whether the lines in `prints` may appear in any order.
    pub any_order: bool,
    pub runs: Vec<Run>,
}

/// A diagnostic that the build log must contain.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The line of the diagnostic. If it is `None`, the diagnostic may be on any line, any number of times.
    pub line: Option<usize>,
    /// `error` or `warning`.
    pub severity: &'static str,
    pub text: String,
}

#[derive(Debug)]
pub struct Run {
    /// Line of the `run` directive.
    pub line: usize,
    pub launch: Launch,
    pub arguments: Vec<Argument>,
    pub expects: Vec<Expect>,
}

/// A kernel argument.
#[derive(Debug)]
pub struct Argument {
    pub name: String,
    pub kind: ArgumentKind,
}

/// The expected contents of a buffer after the run.
#[derive(Debug)]
pub struct Expect {
    pub line: usize,
    pub name: String,
    pub tolerance: Tolerance,
    /// If present, only elements for which this condition is true are compared.
    pub condition: Option<Expr>,
    pub value: Init,
}

#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    Exact,
    /// Units in the last place of the buffer's type.
    Ulp(f64),
    /// The error relative to the expected value. For values below 1, the absolute error.
    Relative(f64),
}

/// A directive: its line number, keyword and text.
struct Line<'a> {
    number: usize,
    keyword: &'a str,
    text: String,
}

const KEYWORDS: [&str; 10] = ["for", "build", "requires", "error", "warning", "log", "run", "arg", "expect", "prints"];

/// Reads all directives of a file and expands them into variants.
pub fn parse_file(source: &str) -> Result<Vec<Variant>, String> {
    let lines = collect(source)?;
    let mut choices: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for line in lines.iter().filter(|line| line.keyword == "for") {
        let (variable, values) = line.text.split_once('=').ok_or_else(|| format!("line {}: for: NAME = values", line.number))?;
        choices = choices
            .iter()
            .flat_map(|chosen| {
                values.split(',').map(|value| {
                    let mut chosen = chosen.clone();
                    chosen.push((variable.trim().to_owned(), value.trim().to_owned()));
                    chosen
                })
            })
            .collect();
    }
    let mut builds: Vec<&str> = lines.iter().filter(|line| line.keyword == "build").map(|line| line.text.as_str()).collect();
    if builds.is_empty() {
        builds.push("");
    }
    let mut variants = Vec::new();
    for chosen in &choices {
        for (index, build) in builds.iter().enumerate() {
            let mut variant = variant(&lines, chosen, build)?;
            if builds.len() > 1 {
                variant.label = format!("{} build {}", variant.label, index + 1).trim().to_owned();
            }
            variants.push(variant);
        }
    }
    Ok(variants)
}

/// Finds the directives. If a bracket is open at the end of a line, the directive continues in the next comment line,
/// except for `error`, `warning` and `prints`.
fn collect(source: &str) -> Result<Vec<Line<'_>>, String> {
    let all: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(&line) = all.get(index) {
        let number = index + 1;
        index += 1;
        let Some((code, comment)) = line.split_once("//") else { continue };
        let comment = comment.trim();
        let end = comment.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(comment.len());
        let (word, rest) = comment.split_at(end);
        let Some(&keyword) = KEYWORDS.iter().find(|&&keyword| keyword == word) else { continue };
        // A comment that is not a directive may begin with a keyword. A directive has a colon after the keyword, or
        // after the keyword and a name.
        let (head, text) = match (keyword, rest.split_once(':')) {
            ("arg" | "expect", Some((head, text))) if head.starts_with(' ') => (head, text),
            ("arg" | "expect", _) => continue,
            ("error" | "warning", Some((" anywhere", text))) => ("anywhere", text),
            ("prints", Some((" in any order", text))) => ("any order", text),
            (_, Some(("", text))) => ("", text),
            _ => continue,
        };
        let keyword = match (keyword, head) {
            ("error", "anywhere") => "error anywhere",
            ("warning", "anywhere") => "warning anywhere",
            ("prints", "any order") => "prints in any order",
            _ => keyword,
        };
        if keyword.starts_with("prints") {
            // Remove one blank after the colon. All other text is expected output.
            found.push(Line { number, keyword, text: text.strip_prefix(' ').unwrap_or(text).to_owned() });
            continue;
        }
        let mut text =
            if head.is_empty() || head == "anywhere" { text.trim().to_owned() } else { format!("{} : {}", head.trim(), text.trim()) };
        let mut at = number;
        if matches!(keyword, "error" | "warning") {
            // A directive without code on its line refers to the next line that is not an `error` or `warning`
            // directive.
            if code.trim().is_empty() {
                at += all[index..]
                    .iter()
                    .position(|next| !["// error:", "// warning:"].iter().any(|mark| next.trim().starts_with(mark)))
                    .map_or(0, |distance| distance + 1);
            }
        } else {
            let open = |text: &str| text.matches(['(', '{', '[']).count() > text.matches([')', '}', ']']).count();
            while open(&text) {
                let next = all.get(index).and_then(|next| next.trim().strip_prefix("//"));
                text = format!("{text} {}", next.ok_or_else(|| format!("line {number}: a bracket is not closed"))?.trim());
                index += 1;
            }
        }
        found.push(Line { number: at, keyword, text });
    }
    Ok(found)
}

fn substitute(text: &str, chosen: &[(String, String)]) -> String {
    chosen.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

fn variant(lines: &[Line<'_>], chosen: &[(String, String)], build: &str) -> Result<Variant, String> {
    let mut variant = Variant::default();
    let mut options = Vec::new();
    for (name, value) in chosen {
        options.push(format!("-D{name}={value}"));
        require_types(value, true, &mut variant.requires);
    }
    variant.label = chosen.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
    options.push(substitute(build, chosen));
    variant.options = options.join(" ").trim().to_owned();

    for line in lines {
        let text = substitute(&line.text, chosen);
        if line.keyword == "requires" && text != line.text {
            // Insert these features before the features of types, so that they are reported as missing first.
            variant.requires.splice(0..0, text.split_whitespace().map(str::to_owned));
            continue;
        }
        directive(line, &text, &mut variant).map_err(|error| format!("line {}: {}: {error}", line.number, line.keyword))?;
    }
    Ok(variant)
}

fn directive(line: &Line<'_>, text: &str, variant: &mut Variant) -> Result<(), String> {
    let requires = &mut variant.requires;
    match line.keyword {
        "requires" => requires.extend(text.split_whitespace().map(str::to_owned)),
        "error" | "error anywhere" | "warning" | "warning anywhere" => variant.diagnostics.push(Expected {
            line: (!line.keyword.ends_with("anywhere")).then_some(line.number),
            severity: if line.keyword.starts_with("error") { "error" } else { "warning" },
            text: text.to_owned(),
        }),
        "log" => variant.log.push(text.to_owned()),
        "prints" | "prints in any order" => {
            variant.any_order |= line.keyword != "prints";
            variant.prints.push(text.to_owned());
        }
        "run" => variant.runs.push(run(line.number, text)?),
        "arg" | "expect" => {
            let run = variant.runs.last_mut().ok_or("must follow a `run` directive")?;
            let (head, body) = text.split_once(" : ").ok_or("a colon is missing after the name")?;
            if line.keyword == "arg" {
                require_types(body, false, requires);
                if ["image", "sampler "].iter().any(|word| body.trim().starts_with(word)) {
                    requires.push("images".to_owned());
                }
                let kind = ArgumentKind::parse(body).map_err(|error| format!("{error} in `{body}`"))?;
                run.arguments.push(Argument { name: head.trim().to_owned(), kind });
            } else {
                run.expects.push(expect(line.number, head, body)?);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Adds the features that the types in a text need. A buffer of `half` needs no feature, because vload_half is a core
/// function.
fn require_types(text: &str, half: bool, requires: &mut Vec<String>) {
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let feature = match word.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "double" => "fp64",
            "long" | "ulong" => "int64",
            "half" if half => "fp16",
            _ => continue,
        };
        if !requires.iter().any(|known| known == feature) {
            requires.push(feature.to_owned());
        }
    }
}

fn run(line: usize, text: &str) -> Result<Run, String> {
    let launch = Launch::parse(text.split_whitespace()).map_err(|error| error.to_string())?;
    Ok(Run { line, launch, arguments: Vec::new(), expects: Vec::new() })
}

fn expect(line: usize, head: &str, body: &str) -> Result<Expect, String> {
    let (head, condition) = match head.split_once(" if ") {
        Some((head, condition)) => (head, Some(parse(condition).map_err(|error| error.to_string())?)),
        None => (head, None),
    };
    let mut words = head.split_whitespace();
    let name = words.next().ok_or("the argument's name is missing")?.to_owned();
    let rest: Vec<&str> = words.collect();
    let number = |text: &str| text.parse::<f64>().map_err(|error| format!("{text}: {error}"));
    let tolerance = match rest.as_slice() {
        [] => Tolerance::Exact,
        ["within", amount, "ulp"] => Tolerance::Ulp(number(amount)?),
        ["within", amount] => Tolerance::Relative(number(amount)?),
        _ => return Err(format!("expected `within AMOUNT` or `if CONDITION` after the name, found `{}`", rest.join(" "))),
    };
    let value = Init::parse(body).map_err(|error| error.to_string())?;
    Ok(Expect { line, name, tolerance, condition, value })
}
