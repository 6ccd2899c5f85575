//! The functions that emulate operations on doubles. They are compiled when a launch first needs them.
//!
//! Example: `Operation::Add` is the function `double_add` in `library/double`.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::build;
use crate::diag::{Span, WarningLevels};
use crate::ir::{Func, Function, Op, Scalar, Type};
use crate::options::{BuildOptions, CStd, Source};
use crate::passes::PassError;
use crate::target::{Language, Target};

static ARITHMETIC: &str = include_str!("../../library/double/arithmetic.cl");
static CONVERSIONS: &str = include_str!("../../library/double/conversions.cl");

/// A function of the library. Its operands and results are bits: 64 for doubles, 32 for floats, 16 for halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Sqrt,
    Fma,
    Less,
    LessEqual,
    Equal,
    Min,
    Max,
    Trunc,
    Floor,
    Ceil,
    Rint,
    ToInteger,
    OfUlong,
    OfLong,
    OfUint,
    OfInt,
    OfFloat,
    ToFloat,
    ToHalf,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Add => "double_add",
            Self::Subtract => "double_subtract",
            Self::Multiply => "double_multiply",
            Self::Divide => "double_divide",
            Self::Sqrt => "double_sqrt",
            Self::Fma => "double_fma",
            Self::Less => "double_less",
            Self::LessEqual => "double_less_equal",
            Self::Equal => "double_equal",
            Self::Min => "double_min",
            Self::Max => "double_max",
            Self::Trunc => "double_trunc",
            Self::Floor => "double_floor",
            Self::Ceil => "double_ceil",
            Self::Rint => "double_rint",
            Self::ToInteger => "double_to_integer",
            Self::OfUlong => "double_of_ulong",
            Self::OfLong => "double_of_long",
            Self::OfUint => "double_of_uint",
            Self::OfInt => "double_of_int",
            Self::OfFloat => "double_of_float",
            Self::ToFloat => "double_to_float",
            Self::ToHalf => "double_to_half",
        }
    }

    /// The type of the result.
    pub(super) const fn result(self) -> Scalar {
        match self {
            Self::Less | Self::LessEqual | Self::Equal | Self::ToFloat => Scalar::I32,
            Self::ToHalf => Scalar::I16,
            _ => Scalar::I64,
        }
    }
}

/// The functions that one module needs. They are appended to its functions.
pub(super) struct Library<'a> {
    target: &'a Target,
    first: usize,
    numbers: FxHashMap<Operation, Func>,
    functions: Vec<Arc<Function>>,
}

impl<'a> Library<'a> {
    /// Creates an empty list. `first` is the number of the first library function.
    pub(super) fn new(first: usize, target: &'a Target) -> Self {
        Self { target, first, numbers: FxHashMap::default(), functions: Vec::new() }
    }

    /// Returns the number of a function. Errors refer to `caller`.
    pub(super) fn number(&mut self, operation: Operation, caller: &str) -> Result<Func, PassError> {
        if let Some(&func) = self.numbers.get(&operation) {
            return Ok(func);
        }
        let made = function(operation, self.target).map_err(|message| PassError::Internal {
            function: caller.to_owned(),
            pass: super::PASS.name,
            message,
        })?;
        let func = Func((self.first + self.functions.len()) as u32);
        self.functions.push(made);
        self.numbers.insert(operation, func);
        Ok(func)
    }

    /// The functions, in the order of their numbers.
    pub(super) fn functions(self) -> impl Iterator<Item = Arc<Function>> {
        self.functions.into_iter()
    }
}

/// The key contains the properties of the target on which the code depends.
type Cache = FxHashMap<(Operation, Language), Arc<Function>>;

static FUNCTIONS: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Returns the compiled function. All calls in it are inlined.
fn function(operation: Operation, target: &Target) -> Result<Arc<Function>, String> {
    let key = (operation, target.language.clone());
    if let Some(known) = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(known.clone());
    }
    let made = Arc::new(compile(operation, target)?);
    Ok(FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone())
}

fn compile(operation: Operation, target: &Target) -> Result<Function, String> {
    let options = BuildOptions { std: CStd::Cl30, warnings: WarningLevels::NONE, ..BuildOptions::default() };
    let source = Source { text: format!("{ARITHMETIC}{CONVERSIONS}"), ..Source::default() };
    let name = operation.name();
    let mut function = build::function(&source, &options, target, name).map_err(|log| format!("{name}: {log}"))?;
    let mut is_whole = function.returned() == Type::Scalar(operation.result());
    function.body.walk_mut(&mut |inst| {
        is_whole &= !matches!(inst.op, Op::GlobalAddr(_) | Op::Call(..) | Op::Load { .. } | Op::Store { .. });
        // Remove the spans, because they refer to the source of the library and not to that of the kernel.
        inst.span = Span::NONE;
    });
    if is_whole { Ok(function) } else { Err(format!("library function {name} has calls, memory accesses or the wrong result type")) }
}
