//! Predefined macros (OpenCL C 6.12 "Preprocessor Directives and Macros", 6.15.2.1, 6.15.3).
//!
//! A predefined macro is defined on demand, when the preprocessor first looks up its name.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::diag::Span;
use crate::lex::interner::{Interner, Symbol};
use crate::lex::raw::{RawKind, RawLexer, RawToken};
use crate::options::{BuildOptions, CStd};
use crate::target::Target;

use super::Preprocessor;
use super::macros::{Dynamic, Macro};

/// The condition under which a macro is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Availability {
    Always,
    Fp64,
    Fp16,
    Cl20,
    /// OpenCL C 2.0, or a newer version on a device with this feature.
    Feature(&'static str),
    Images,
    Embedded,
    FastRelaxedMath,
    FusedFma,
    FusedDouble,
    AccurateExp2,
}

impl Availability {
    fn holds(self, target: &Target, options: &BuildOptions) -> bool {
        match self {
            Self::Always => true,
            Self::Fp64 => target.language.fp64,
            Self::Fp16 => target.language.fp16,
            Self::Cl20 => options.std >= CStd::Cl20,
            Self::Feature(feature) => options.std >= CStd::Cl20 && (options.std < CStd::Cl30 || target.has_feature(feature)),
            Self::Images => target.language.images,
            Self::Embedded => !target.language.int64,
            Self::FastRelaxedMath => options.fast_relaxed_math,
            Self::FusedFma => target.language.fused_fma,
            Self::FusedDouble => target.fuses_doubles(),
            Self::AccurateExp2 => target.shaders.costs.accurate_exp2,
        }
    }
}

/// Names with a special meaning in the preprocessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownNames {
    pub defined: Symbol,
    pub va_args: Symbol,
    pub pragma_operator: Symbol,
    pub zero: Symbol,
    pub one: Symbol,
}

impl KnownNames {
    pub(super) fn new(interner: &mut Interner) -> Self {
        Self {
            defined: interner.intern("defined"),
            va_args: interner.intern("__VA_ARGS__"),
            pragma_operator: interner.intern("_Pragma"),
            zero: interner.intern("0"),
            one: interner.intern("1"),
        }
    }
}

static TABLE: LazyLock<FxHashMap<&'static str, (&'static str, Availability)>> =
    LazyLock::new(|| PREDEFINED.iter().map(|(name, text, when)| (*name, (*text, *when))).collect());

/// Returns the feature that OpenCL C 3.0 requires for the macro with this name. Returns `None` if it requires none.
pub(crate) fn needed_feature(name: &str) -> Option<&'static str> {
    match TABLE.get(name) {
        Some((_, Availability::Feature(feature))) => Some(feature),
        _ => None,
    }
}

/// Returns the names in [`PREDEFINED`].
pub(crate) fn predefined_names() -> impl Iterator<Item = &'static str> {
    PREDEFINED.iter().map(|(name, ..)| *name)
}

impl Preprocessor<'_> {
    /// Creates the predefined macro with this name. Returns `None` if the version and the target do not define it.
    pub(super) fn predefined(&mut self, name: Symbol) -> Option<Rc<Macro>> {
        let text = self.interner.name(name).clone();
        let dynamic = match &*text {
            "__LINE__" => Some(Dynamic::Line),
            "__FILE__" => Some(Dynamic::File),
            "__COUNTER__" => Some(Dynamic::Counter),
            "__INCLUDE_LEVEL__" => Some(Dynamic::IncludeLevel),
            _ => None,
        };
        if dynamic.is_some() {
            return Some(Rc::new(Macro {
                name,
                params: None,
                body: Vec::new(),
                definition: Span::NONE,
                dynamic,
                disabled: Cell::new(false),
            }));
        }
        if let Some((body, when)) = TABLE.get(&*text) {
            return when.holds(self.target, self.options).then(|| self.define_text(&format!("{text}{}{body}", separator(body)))).flatten();
        }
        let body = match &*text {
            "__OPENCL_C_VERSION__" => self.options.std.version().to_string(),
            name if self.target.language.extensions.iter().any(|known| known == name) => String::from("1"),
            // Feature macros exist from OpenCL C 3.0 on (6.2.1).
            name if self.options.std >= CStd::Cl30 && self.target.language.features.iter().any(|known| known == name) => String::from("1"),
            _ => return None,
        };
        self.define_text(&format!("{text} {body}"))
    }

    /// Creates a macro without a location from the text after `#define`. Reports an error and returns `None` if it is
    /// invalid.
    fn define_text(&mut self, text: &str) -> Option<Rc<Macro>> {
        let mut lexer = RawLexer::new(text.into(), 0);
        let mut line: Vec<RawToken> = Vec::new();
        loop {
            let mut token = lexer.next(&mut self.interner, true);
            if matches!(token.kind, RawKind::EndOfLine | RawKind::UnterminatedComment) {
                break;
            }
            token.span = Span::NONE;
            line.push(token);
        }
        self.parse_definition(&line, Span::NONE).map(Rc::new)
    }

    /// Executes the options `-D` and `-U` in order.
    pub(super) fn command_line_macros(&mut self) {
        let options = self.options;
        for (name, value) in &options.macros {
            match value {
                // `-D'f(x)=x'` defines a function-like macro, as in clang and gcc.
                Some(value) => {
                    let line = value.lines().next().unwrap_or("");
                    if let Some(new) = self.define_text(&format!("{name} {line}")) {
                        self.set_macro(new.name, Some(new.clone()));
                    }
                }
                None => {
                    let symbol = self.interner.intern(name);
                    self.set_macro(symbol, None);
                }
            }
        }
    }
}

/// Returns the separator between name and body in a definition. It is empty if the body starts with parameters.
fn separator(body: &str) -> &'static str {
    if body.starts_with("(X,") || body.starts_with("(type,") || body.starts_with("(value)") { "" } else { " " }
}

/// The name, the parameters with the replacement list, and the condition of each predefined macro.
const PREDEFINED: &[(&str, &str, Availability)] = &[
    ("CHAR_BIT", "8", Availability::Always),
    ("CHAR_MAX", "127", Availability::Always),
    ("CHAR_MIN", "(-127 - 1)", Availability::Always),
    ("INT_MAX", "2147483647", Availability::Always),
    ("INT_MIN", "(-2147483647 - 1)", Availability::Always),
    ("LONG_MAX", "0x7fffffffffffffffL", Availability::Always),
    ("LONG_MIN", "(-0x7fffffffffffffffL - 1)", Availability::Always),
    ("SCHAR_MAX", "127", Availability::Always),
    ("SCHAR_MIN", "(-127 - 1)", Availability::Always),
    ("SHRT_MAX", "32767", Availability::Always),
    ("SHRT_MIN", "(-32767 - 1)", Availability::Always),
    ("UCHAR_MAX", "255", Availability::Always),
    ("USHRT_MAX", "65535", Availability::Always),
    ("UINT_MAX", "0xffffffff", Availability::Always),
    ("ULONG_MAX", "0xffffffffffffffffUL", Availability::Always),
    ("FLT_DIG", "6", Availability::Always),
    ("FLT_MANT_DIG", "24", Availability::Always),
    ("FLT_MAX_10_EXP", "+38", Availability::Always),
    ("FLT_MAX_EXP", "+128", Availability::Always),
    ("FLT_MIN_10_EXP", "-37", Availability::Always),
    ("FLT_MIN_EXP", "-125", Availability::Always),
    ("FLT_RADIX", "2", Availability::Always),
    ("FLT_MAX", "0x1.fffffep127f", Availability::Always),
    ("FLT_MIN", "0x1.0p-126f", Availability::Always),
    ("FLT_EPSILON", "0x1.0p-23f", Availability::Always),
    ("MAXFLOAT", "0x1.fffffep127f", Availability::Always),
    ("HUGE_VALF", "__builtin_astype(0x7f800000, float)", Availability::Always),
    ("INFINITY", "__builtin_astype(0x7f800000, float)", Availability::Always),
    ("NAN", "__builtin_astype(0x7fc00000, float)", Availability::Always),
    ("FP_ILOGB0", "(-2147483647 - 1)", Availability::Always),
    ("FP_ILOGBNAN", "2147483647", Availability::Always),
    ("M_E_F", "2.7182818284590452354f", Availability::Always),
    ("M_LOG2E_F", "1.4426950408889634074f", Availability::Always),
    ("M_LOG10E_F", "0.43429448190325182765f", Availability::Always),
    ("M_LN2_F", "0.69314718055994530942f", Availability::Always),
    ("M_LN10_F", "2.30258509299404568402f", Availability::Always),
    ("M_PI_F", "3.14159265358979323846f", Availability::Always),
    ("M_PI_2_F", "1.57079632679489661923f", Availability::Always),
    ("M_PI_4_F", "0.78539816339744830962f", Availability::Always),
    ("M_1_PI_F", "0.31830988618379067154f", Availability::Always),
    ("M_2_PI_F", "0.63661977236758134308f", Availability::Always),
    ("M_2_SQRTPI_F", "1.12837916709551257390f", Availability::Always),
    ("M_SQRT2_F", "1.41421356237309504880f", Availability::Always),
    ("M_SQRT1_2_F", "0.70710678118654752440f", Availability::Always),
    ("DBL_DIG", "15", Availability::Fp64),
    ("DBL_MANT_DIG", "53", Availability::Fp64),
    ("DBL_MAX_10_EXP", "+308", Availability::Fp64),
    ("DBL_MAX_EXP", "+1024", Availability::Fp64),
    ("DBL_MIN_10_EXP", "-307", Availability::Fp64),
    ("DBL_MIN_EXP", "-1021", Availability::Fp64),
    ("DBL_RADIX", "2", Availability::Fp64),
    ("DBL_MAX", "0x1.fffffffffffffp1023", Availability::Fp64),
    ("DBL_MIN", "0x1.0p-1022", Availability::Fp64),
    ("DBL_EPSILON", "0x1.0p-52", Availability::Fp64),
    ("HUGE_VAL", "__builtin_astype(0x7ff0000000000000L, double)", Availability::Fp64),
    ("M_E", "2.7182818284590452354", Availability::Fp64),
    ("M_LOG2E", "1.4426950408889634074", Availability::Fp64),
    ("M_LOG10E", "0.43429448190325182765", Availability::Fp64),
    ("M_LN2", "0.69314718055994530942", Availability::Fp64),
    ("M_LN10", "2.30258509299404568402", Availability::Fp64),
    ("M_PI", "3.14159265358979323846", Availability::Fp64),
    ("M_PI_2", "1.57079632679489661923", Availability::Fp64),
    ("M_PI_4", "0.78539816339744830962", Availability::Fp64),
    ("M_1_PI", "0.31830988618379067154", Availability::Fp64),
    ("M_2_PI", "0.63661977236758134308", Availability::Fp64),
    ("M_2_SQRTPI", "1.12837916709551257390", Availability::Fp64),
    ("M_SQRT2", "1.41421356237309504880", Availability::Fp64),
    ("M_SQRT1_2", "0.70710678118654752440", Availability::Fp64),
    ("HALF_DIG", "3", Availability::Fp16),
    ("HALF_MANT_DIG", "11", Availability::Fp16),
    ("HALF_MAX_10_EXP", "+4", Availability::Fp16),
    ("HALF_MAX_EXP", "+16", Availability::Fp16),
    ("HALF_MIN_10_EXP", "-4", Availability::Fp16),
    ("HALF_MIN_EXP", "-13", Availability::Fp16),
    ("HALF_RADIX", "2", Availability::Fp16),
    ("HALF_MAX", "0x1.ffcp15h", Availability::Fp16),
    ("HALF_MIN", "0x1.0p-14h", Availability::Fp16),
    ("HALF_EPSILON", "0x1.0p-10h", Availability::Fp16),
    ("M_E_H", "2.7182818284590452354h", Availability::Fp16),
    ("M_LOG2E_H", "1.4426950408889634074h", Availability::Fp16),
    ("M_LOG10E_H", "0.43429448190325182765h", Availability::Fp16),
    ("M_LN2_H", "0.69314718055994530942h", Availability::Fp16),
    ("M_LN10_H", "2.30258509299404568402h", Availability::Fp16),
    ("M_PI_H", "3.14159265358979323846h", Availability::Fp16),
    ("M_PI_2_H", "1.57079632679489661923h", Availability::Fp16),
    ("M_PI_4_H", "0.78539816339744830962h", Availability::Fp16),
    ("M_1_PI_H", "0.31830988618379067154h", Availability::Fp16),
    ("M_2_PI_H", "0.63661977236758134308h", Availability::Fp16),
    ("M_2_SQRTPI_H", "1.12837916709551257390h", Availability::Fp16),
    ("M_SQRT2_H", "1.41421356237309504880h", Availability::Fp16),
    ("M_SQRT1_2_H", "0.70710678118654752440h", Availability::Fp16),
    ("NULL", "((void *)0)", Availability::Always),
    ("true", "1", Availability::Always),
    ("false", "0", Availability::Always),
    ("offsetof", "(type, member) __builtin_offsetof(type, member)", Availability::Always),
    (
        "kernel_exec",
        "(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))",
        Availability::Always,
    ),
    (
        "__kernel_exec",
        "(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))",
        Availability::Always,
    ),
    ("__ENDIAN_LITTLE__", "1", Availability::Always),
    ("__STDC__", "1", Availability::Always),
    ("__STDC_VERSION__", "199901L", Availability::Always),
    ("CL_VERSION_1_0", "100", Availability::Always),
    ("CL_VERSION_1_1", "110", Availability::Always),
    ("CL_VERSION_1_2", "120", Availability::Always),
    ("CL_VERSION_2_0", "200", Availability::Always),
    ("CL_VERSION_3_0", "300", Availability::Always),
    ("CL_VERSION_3_1", "310", Availability::Always),
    ("__OPENCL_VERSION__", "300", Availability::Always),
    ("CLK_LOCAL_MEM_FENCE", "0x01", Availability::Always),
    ("CLK_GLOBAL_MEM_FENCE", "0x02", Availability::Always),
    ("CLK_IMAGE_MEM_FENCE", "0x04", Availability::Always),
    ("memory_order_relaxed", "0", Availability::Cl20),
    ("memory_order_acquire", "2", Availability::Cl20),
    ("memory_order_release", "3", Availability::Cl20),
    ("memory_order_acq_rel", "4", Availability::Cl20),
    ("memory_order_seq_cst", "5", Availability::Feature("__opencl_c_atomic_order_seq_cst")),
    ("memory_scope_work_item", "0", Availability::Cl20),
    ("memory_scope_work_group", "1", Availability::Cl20),
    ("memory_scope_device", "2", Availability::Feature("__opencl_c_atomic_scope_device")),
    ("memory_scope_all_svm_devices", "3", Availability::Feature("__opencl_c_atomic_scope_all_devices")),
    ("memory_scope_all_devices", "3", Availability::Feature("__opencl_c_atomic_scope_all_devices")),
    ("CLK_ENQUEUE_FLAGS_NO_WAIT", "0", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_ENQUEUE_FLAGS_WAIT_KERNEL", "1", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP", "2", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_SUCCESS", "0", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_ENQUEUE_FAILURE", "(-101)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_INVALID_QUEUE", "(-102)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_INVALID_NDRANGE", "(-160)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_INVALID_EVENT_WAIT_LIST", "(-57)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_DEVICE_QUEUE_FULL", "(-161)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_INVALID_ARG_SIZE", "(-51)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_EVENT_ALLOCATION_FAILURE", "(-100)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_OUT_OF_RESOURCES", "(-5)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_NULL_QUEUE", "((queue_t)0)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_NULL_EVENT", "((clk_event_t)0)", Availability::Feature("__opencl_c_device_enqueue")),
    ("CLK_PROFILING_COMMAND_EXEC_TIME", "1", Availability::Feature("__opencl_c_device_enqueue")),
    ("CL_COMPLETE", "0", Availability::Feature("__opencl_c_device_enqueue")),
    ("CL_RUNNING", "1", Availability::Feature("__opencl_c_device_enqueue")),
    ("CL_SUBMITTED", "2", Availability::Feature("__opencl_c_device_enqueue")),
    ("CL_QUEUED", "3", Availability::Feature("__opencl_c_device_enqueue")),
    ("memory_scope_sub_group", "4", Availability::Feature("__opencl_c_subgroups")),
    ("CLK_NULL_RESERVE_ID", "((reserve_id_t)0)", Availability::Feature("__opencl_c_pipes")),
    ("ATOMIC_FLAG_INIT", "0", Availability::Cl20),
    ("ATOMIC_VAR_INIT", "(value) (value)", Availability::Cl20),
    ("__IMAGE_SUPPORT__", "1", Availability::Images),
    ("CLK_NORMALIZED_COORDS_FALSE", "0x00", Availability::Images),
    ("CLK_NORMALIZED_COORDS_TRUE", "0x01", Availability::Images),
    ("CLK_ADDRESS_NONE", "0x00", Availability::Images),
    ("CLK_ADDRESS_CLAMP_TO_EDGE", "0x02", Availability::Images),
    ("CLK_ADDRESS_CLAMP", "0x04", Availability::Images),
    ("CLK_ADDRESS_REPEAT", "0x06", Availability::Images),
    ("CLK_ADDRESS_MIRRORED_REPEAT", "0x08", Availability::Images),
    ("CLK_FILTER_NEAREST", "0x10", Availability::Images),
    ("CLK_FILTER_LINEAR", "0x20", Availability::Images),
    ("CLK_SNORM_INT8", "0x10D0", Availability::Images),
    ("CLK_SNORM_INT16", "0x10D1", Availability::Images),
    ("CLK_UNORM_INT8", "0x10D2", Availability::Images),
    ("CLK_UNORM_INT16", "0x10D3", Availability::Images),
    ("CLK_UNORM_SHORT_565", "0x10D4", Availability::Images),
    ("CLK_UNORM_SHORT_555", "0x10D5", Availability::Images),
    ("CLK_UNORM_INT_101010", "0x10D6", Availability::Images),
    ("CLK_SIGNED_INT8", "0x10D7", Availability::Images),
    ("CLK_SIGNED_INT16", "0x10D8", Availability::Images),
    ("CLK_SIGNED_INT32", "0x10D9", Availability::Images),
    ("CLK_UNSIGNED_INT8", "0x10DA", Availability::Images),
    ("CLK_UNSIGNED_INT16", "0x10DB", Availability::Images),
    ("CLK_UNSIGNED_INT32", "0x10DC", Availability::Images),
    ("CLK_HALF_FLOAT", "0x10DD", Availability::Images),
    ("CLK_FLOAT", "0x10DE", Availability::Images),
    ("CLK_UNORM_INT24", "0x10DF", Availability::Images),
    ("CLK_UNORM_INT_101010_2", "0x10E0", Availability::Images),
    ("CLK_UNORM_INT_2_101010_EXT", "0x10E5", Availability::Images),
    ("CLK_R", "0x10B0", Availability::Images),
    ("CLK_A", "0x10B1", Availability::Images),
    ("CLK_RG", "0x10B2", Availability::Images),
    ("CLK_RA", "0x10B3", Availability::Images),
    ("CLK_RGB", "0x10B4", Availability::Images),
    ("CLK_RGBA", "0x10B5", Availability::Images),
    ("CLK_BGRA", "0x10B6", Availability::Images),
    ("CLK_ARGB", "0x10B7", Availability::Images),
    ("CLK_INTENSITY", "0x10B8", Availability::Images),
    ("CLK_LUMINANCE", "0x10B9", Availability::Images),
    ("CLK_Rx", "0x10BA", Availability::Images),
    ("CLK_RGx", "0x10BB", Availability::Images),
    ("CLK_RGBx", "0x10BC", Availability::Images),
    ("CLK_DEPTH", "0x10BD", Availability::Images),
    ("CLK_DEPTH_STENCIL", "0x10BE", Availability::Images),
    ("CLK_sRGB", "0x10BF", Availability::Images),
    ("CLK_sRGBx", "0x10C0", Availability::Images),
    ("CLK_sRGBA", "0x10C1", Availability::Images),
    ("CLK_sBGRA", "0x10C2", Availability::Images),
    ("CLK_ABGR", "0x10C3", Availability::Images),
    ("__EMBEDDED_PROFILE__", "1", Availability::Embedded),
    ("__FAST_RELAXED_MATH__", "1", Availability::FastRelaxedMath),
    ("FP_FAST_FMAF", "1", Availability::FusedFma),
    ("FP_FAST_FMA", "1", Availability::FusedDouble),
    // Only the built-in library uses this macro.
    ("__WGCL_ACCURATE_EXP2__", "1", Availability::AccurateExp2),
];
