//! Calls of OpenCL C functions that implement instructions.
//!
//! ```text
//! %5 = OpExtInst %float %1 fract %3 %4
//! // calls
//! float spirv_0(float a0, __generic float *a1) { return fract(a0, a1); }
//! ```
//! The functions that a module needs form one OpenCL C source. It is compiled after the functions of the module are
//! lowered. Its functions are inlined like all other functions.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::Source;
use super::errors::{Checked, unsupported};
use super::function::Lowering;
use crate::ir::{self, Op, Scalar, Space, Type, Value};

/// Provisional number of the first function of the bridge. It is larger than the number of functions in any module.
pub(super) const FIRST: u32 = 1 << 24;

/// Signedness of the integers in the parameters and the result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signedness {
    Signed,
    Unsigned,
}

/// The OpenCL C functions that a module needs.
#[derive(Debug, Default)]
pub(super) struct Bridge {
    numbers: FxHashMap<String, u32>,
    /// Hash of the module, which makes names unique in a program.
    module: u64,
    /// Functions of the module that OpenCL C functions call, by their OpenCL C names.
    module_functions: FxHashMap<String, ir::Func>,
    /// The OpenCL C source of the functions.
    pub(super) text: String,
}

impl Bridge {
    /// Creates an empty bridge for a module.
    pub(super) fn new(source: Source<'_>) -> Self {
        let mut hasher = FxHasher::default();
        (source.words, source.specialisation).hash(&mut hasher);
        Self { module: hasher.finish(), ..Self::default() }
    }

    pub(super) fn name(number: u32) -> String {
        format!("spirv_{number}")
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// Appends a declaration to the source, for the functions that follow, unless the source already contains it.
    pub(super) fn declare(&mut self, declaration: &str) {
        if !self.text.contains(declaration) {
            self.text.push_str(declaration);
        }
    }

    /// Returns an OpenCL C name for a function of the module.
    pub(super) fn add_module_function(&mut self, id: u32, function: ir::Func) -> String {
        let name = format!("module_{:016x}_{id}", self.module);
        self.module_functions.insert(name.clone(), function);
        name
    }

    /// Returns the function of the module with this OpenCL C name.
    pub(super) fn module_function(&self, name: &str) -> Option<ir::Func> {
        self.module_functions.get(name).copied()
    }

    /// Returns the provisional number of a function with these parameters and body. The first call adds the function.
    fn function(&mut self, result: &str, params: &str, body: &str) -> ir::Func {
        let next = self.len();
        let number = *self.numbers.entry(format!("{result}({params}) {{ {body} }}")).or_insert(next);
        if number == next {
            let name = Self::name(number);
            self.text.push_str(&format!("{result} {name}({params}) {{ {body} }}\n"));
        }
        ir::Func(FIRST + number)
    }
}

/// Returns the OpenCL C name of a type. Every pointer becomes a pointer to `void`.
pub(super) fn c_type(ty: Type, sign: Signedness) -> Checked<String> {
    let scalar = |scalar: Scalar| {
        Ok(match (scalar, sign) {
            (Scalar::Bool, _) => return Err(unsupported!("bool in memory")),
            (Scalar::I8, Signedness::Signed) => "char",
            (Scalar::I8, Signedness::Unsigned) => "uchar",
            (Scalar::I16, Signedness::Signed) => "short",
            (Scalar::I16, Signedness::Unsigned) => "ushort",
            (Scalar::I32, Signedness::Signed) => "int",
            (Scalar::I32, Signedness::Unsigned) => "uint",
            (Scalar::I64, Signedness::Signed) => "long",
            (Scalar::I64, Signedness::Unsigned) => "ulong",
            (Scalar::F16, _) => "half",
            (Scalar::F32, _) => "float",
            (Scalar::F64, _) => "double",
        })
    };
    Ok(match ty {
        Type::Void => "void".to_owned(),
        Type::Scalar(kind) => scalar(kind)?.to_owned(),
        Type::Vector(kind, lanes) => format!("{}{lanes}", scalar(kind)?),
        Type::Ptr(space) => format!("{}void *", c_space(space)),
    })
}

/// Returns the OpenCL C qualifier of an address space, followed by a space.
pub(super) const fn c_space(space: Space) -> &'static str {
    match space {
        Space::Private => "__private ",
        Space::Local => "__local ",
        Space::Global => "__global ",
        Space::Constant => "__constant ",
        Space::Generic => "__generic ",
    }
}

impl Lowering<'_, '_, '_> {
    /// Calls an OpenCL C function with this body, in which the arguments are named `a0`, `a1` and so on.
    pub(super) fn library_text(&mut self, want: Type, result: &str, params: &[String], args: &[Value], body: &str) -> Checked<Value> {
        let listed = params.iter().enumerate().map(|(index, ty)| format!("{ty} a{index}")).collect::<Vec<_>>().join(", ");
        let function = self.shared.bridge.function(result, &listed, body);
        Ok(self.b.emit(Op::Call(function, args.to_vec()), want))
    }

    /// Does the same as [`Self::library_text`], for a function without a result.
    pub(super) fn library_effect(&mut self, params: &[String], args: &[Value], body: &str) {
        let listed = params.iter().enumerate().map(|(index, ty)| format!("{ty} a{index}")).collect::<Vec<_>>().join(", ");
        let function = self.shared.bridge.function("void", &listed, body);
        self.b.effect(Op::Call(function, args.to_vec()));
    }
}
