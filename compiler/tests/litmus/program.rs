//! The programs: OpenCL C with a header that says which outcomes are possible.

use std::path::{Path, PathBuf};

use wgcl_codegen::Isa;
use wgcl_compiler::build::build;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::options::parse_options;
use wgcl_compiler::program::Source;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::abi::NativeKernel;
use wgcl_compiler::vectorize::{Style, compile};

/// Final values of cells. The text is `x = 1, out[1] = 0`.
pub(crate) type Outcome = Vec<(String, u64)>;

/// A set of build options, and the outcomes of the program with these options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) options: String,
    pub(crate) forbidden: Vec<Outcome>,
    pub(crate) allowed: Vec<Outcome>,
    /// Work-groups for a test of the checker: without the barriers and ordered accesses of any one of these groups,
    /// each forbidden outcome must be possible.
    pub(crate) needs: Vec<usize>,
}

/// A source file.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The number of work-groups. Each group has `group_size` work-items.
    pub(crate) groups: usize,
    pub(crate) group_size: u32,
    /// Bytes of a cell.
    pub(crate) cell: u64,
    /// The maximum number of events of a group, including barriers.
    pub(crate) events: usize,
    /// The names of the buffers that the parameters of the kernel point to.
    pub(crate) buffers: Vec<String>,
    pub(crate) cases: Vec<Case>,
}

/// Returns all programs, in the order of their names.
pub(crate) fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus/programs");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are programs");
    paths.into_iter().map(Program::read).collect()
}

fn outcome(text: &str) -> Outcome {
    let part = |part: &str| {
        let (cell, value) = part.split_once(" = ").unwrap_or_else(|| panic!("`{part}` is not `CELL = VALUE`"));
        (cell.trim().to_owned(), value.trim().parse().unwrap_or_else(|error| panic!("{part}: {error}")))
    };
    text.split(',').map(part).collect()
}

impl Program {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut program = Self { path, text, groups: 2, group_size: 1, cell: 4, events: 24, buffers: Vec::new(), cases: Vec::new() };
        let text = program.text.clone();
        for line in text.lines().map_while(|line| line.strip_prefix("//")) {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match key.trim() {
                "buffers" => program.buffers = value.split_whitespace().map(str::to_owned).collect(),
                "groups" => program.groups = value.parse().unwrap(),
                "group size" => program.group_size = value.parse().unwrap(),
                "cell" => program.cell = value.parse().unwrap(),
                "events" => program.events = value.parse().unwrap(),
                "case" => program.cases.push(Case { options: value.to_owned(), ..Case::default() }),
                "forbidden" => program.case().forbidden.push(outcome(value)),
                "allowed" => program.case().allowed.push(outcome(value)),
                "needs" => program.case().needs = value.split_whitespace().map(|group| group.parse().unwrap()).collect(),
                // A line of the description.
                _ => {}
            }
        }
        assert!(
            program.cases.iter().any(|case| !case.forbidden.is_empty()),
            "{}: no case forbids an outcome; add a line `forbidden`",
            program.path.display()
        );
        program
    }

    fn case(&mut self) -> &mut Case {
        self.cases.last_mut().unwrap_or_else(|| panic!("{}: an outcome before the first case", self.path.display()))
    }

    /// Returns the index of a cell: buffer and element.
    pub(crate) fn place(&self, cell: &str) -> (usize, u64) {
        let (name, element) = cell.strip_suffix(']').and_then(|cell| cell.split_once('[')).unwrap_or((cell, "0"));
        let buffer = self.buffers.iter().position(|buffer| buffer == name);
        (buffer.unwrap_or_else(|| panic!("{}: no buffer `{name}`", self.path.display())), element.parse().unwrap())
    }

    /// Returns the machine code of the kernel with the options of a case.
    pub(crate) fn compile(&self, case: &Case, isa: Isa) -> NativeKernel {
        let options = parse_options(&format!("-cl-std=CL3.0 {}", case.options)).expect("build options");
        let target = Target::cpu();
        let source = Source { text: self.text.clone(), ..Source::default() };
        let result = build(&source, &options, &target);
        let program = result.program.unwrap_or_else(|| panic!("{}: {}", self.path.display(), result.log));
        let kernel = program.module.functions.iter().find(|function| function.kernel.is_some()).expect("a kernel");
        let key = LaunchKey::example(kernel, [self.group_size, 1, 1]).changed(|key| key.kernel.zero_offset = true);
        compile(&program.module, &kernel.name, &key, &target, Style::of(isa)).unwrap_or_else(|error| panic!("{error}"))
    }
}
