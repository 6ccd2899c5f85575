//! The built-in functions, with their signatures as text.

use crate::ast::Access;
use crate::builtins::signature::{Element, Lanes, Pointer, Signature, Slot, Type};
use crate::builtins::table::{self, Overload};
use crate::ir::Space;
use crate::options::BuildOptions;
use crate::target::Target;

/// One overload of a built-in function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The result type.
    pub result: String,
    /// The types of the parameters. Optional parameters are in brackets.
    pub parameters: Vec<String>,
    /// The types that `gentype` denotes. Empty if no type depends on it.
    pub generic: String,
    /// The extension that provides the function.
    pub extension: Option<&'static str>,
}

/// Functions with names that contain no type, and that are not in the table: name and signature.
const OTHERS: &[(&str, &str, &[&str])] = &[
    ("printf", "int", &["constant char *format", "..."]),
    ("get_pipe_num_packets", "uint", &["pipe gentype"]),
    ("get_pipe_max_packets", "uint", &["pipe gentype"]),
    ("read_pipe", "int", &["read_only pipe gentype", "[reserve_id_t, uint]", "gentype *"]),
    ("write_pipe", "int", &["write_only pipe gentype", "[reserve_id_t, uint]", "const gentype *"]),
    ("reserve_read_pipe", "reserve_id_t", &["read_only pipe gentype", "uint"]),
    ("reserve_write_pipe", "reserve_id_t", &["write_only pipe gentype", "uint"]),
    ("commit_read_pipe", "void", &["read_only pipe gentype", "reserve_id_t"]),
    ("commit_write_pipe", "void", &["write_only pipe gentype", "reserve_id_t"]),
    ("work_group_reserve_read_pipe", "reserve_id_t", &["read_only pipe gentype", "uint"]),
    ("work_group_reserve_write_pipe", "reserve_id_t", &["write_only pipe gentype", "uint"]),
    ("work_group_commit_read_pipe", "void", &["read_only pipe gentype", "reserve_id_t"]),
    ("work_group_commit_write_pipe", "void", &["write_only pipe gentype", "reserve_id_t"]),
    ("sub_group_reserve_read_pipe", "reserve_id_t", &["read_only pipe gentype", "uint"]),
    ("sub_group_reserve_write_pipe", "reserve_id_t", &["write_only pipe gentype", "uint"]),
    ("sub_group_commit_read_pipe", "void", &["read_only pipe gentype", "reserve_id_t"]),
    ("sub_group_commit_write_pipe", "void", &["write_only pipe gentype", "reserve_id_t"]),
    ("is_valid_reserve_id", "bool", &["reserve_id_t"]),
    ("enqueue_kernel", "int", &["queue_t", "kernel_enqueue_flags_t", "ndrange_t", "[uint, const clk_event_t *, clk_event_t *]", "block"]),
    ("enqueue_marker", "int", &["queue_t", "uint", "const clk_event_t *", "clk_event_t *"]),
    ("ndrange_1D", "ndrange_t", &["[size_t offset]", "size_t global", "[size_t local]"]),
    ("ndrange_2D", "ndrange_t", &["[const size_t offset[2]]", "const size_t global[2]", "[const size_t local[2]]"]),
    ("ndrange_3D", "ndrange_t", &["[const size_t offset[3]]", "const size_t global[3]", "[const size_t local[3]]"]),
    ("get_default_queue", "queue_t", &[]),
    ("create_user_event", "clk_event_t", &[]),
    ("retain_event", "void", &["clk_event_t"]),
    ("release_event", "void", &["clk_event_t"]),
    ("set_user_event_status", "void", &["clk_event_t", "int"]),
    ("is_valid_event", "bool", &["clk_event_t"]),
    ("capture_event_profiling_info", "void", &["clk_event_t", "clk_profiling_info", "global void *"]),
    ("get_kernel_work_group_size", "uint", &["block"]),
    ("get_kernel_preferred_work_group_size_multiple", "uint", &["block"]),
    ("get_kernel_sub_group_count_for_ndrange", "uint", &["ndrange_t", "block"]),
    ("get_kernel_max_sub_group_size_for_ndrange", "uint", &["ndrange_t", "block"]),
];

/// Returns the names of all functions that the language version and the device have. Names that contain a type, such as
/// `convert_float4`, are those of scalars and of vectors with four components.
pub fn names(options: &BuildOptions, target: &Target) -> Vec<String> {
    let version = options.std.version();
    let is_offered = |overloads: &[Overload]| overloads.iter().any(|overload| overload.row.is_offered(version, target));
    let in_table = table::functions().filter(|(name, overloads)| !name.starts_with("__") && is_offered(overloads));
    let mut names: Vec<String> = in_table.map(|(name, _)| name.to_owned()).collect();
    names.extend(OTHERS.iter().filter(|(name, ..)| has_other(name, version, target)).map(|(name, ..)| (*name).to_owned()));
    for scalar in ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float"] {
        for prefix in ["convert_", "as_"] {
            names.push(format!("{prefix}{scalar}"));
            names.push(format!("{prefix}{scalar}4"));
        }
    }
    names.sort();
    names
}

fn has_other(name: &str, version: u32, target: &Target) -> bool {
    match name {
        "printf" => true,
        _ if name.contains("pipe") || name == "is_valid_reserve_id" => version >= 200 && target.has_feature("__opencl_c_pipes"),
        _ => version >= 200 && target.has_feature("__opencl_c_device_enqueue"),
    }
}

/// Returns all names of functions in the table, on any device.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    table::functions().map(|(name, _)| name).chain(OTHERS.iter().map(|(name, ..)| *name))
}

/// Returns the overloads of a function that the language version and the device have. Empty for other names.
pub fn overloads(name: &str, options: &BuildOptions, target: &Target) -> Vec<Function> {
    let version = options.std.version();
    let offered = table::find(name).iter().filter(|overload| overload.row.is_offered(version, target));
    let mut found: Vec<Function> = Vec::new();
    for overload in offered {
        let function = describe(overload);
        if !found.contains(&function) {
            found.push(function);
        }
    }
    if let Some((_, result, parameters)) = OTHERS.iter().find(|(known, ..)| *known == name) {
        let parameters = parameters.iter().map(|text| (*text).to_owned()).collect();
        found.push(Function { result: (*result).to_owned(), parameters, generic: String::new(), extension: None });
    }
    if let Some(ty) = name.strip_prefix("convert_").or_else(|| name.strip_prefix("as_")) {
        let ty = ty.split('_').next().unwrap_or(ty);
        if crate::parse::types::predeclared(ty).is_some() || crate::builtins::signature::scalar(ty).is_some() {
            let generic = if name.starts_with("as_") { "a type of the same size" } else { "an arithmetic type with as many components" };
            found.push(Function {
                result: ty.to_owned(),
                parameters: vec!["gentype".to_owned()],
                generic: generic.to_owned(),
                extension: None,
            });
        }
    }
    found
}

fn describe(overload: &Overload) -> Function {
    let signature = overload.signature();
    let lanes = overload.lanes;
    let mut parameters: Vec<String> = signature.params.iter().map(|slot| slot_text(slot, lanes)).collect();
    for optional in parameters.iter_mut().skip(signature.required) {
        *optional = format!("[{optional}]");
    }
    let result = slot_text(&signature.ret, lanes);
    let is_generic = |text: &String| text.contains("gentype");
    let generic = if parameters.iter().any(is_generic) || is_generic(&result) { class_text(signature, lanes) } else { String::new() };
    Function { result, parameters, generic, extension: overload.row.extension }
}

/// Returns the types that `gentype` denotes.
fn class_text(signature: &Signature, fixed: Option<u8>) -> String {
    let kinds: Vec<&str> = signature.class.iter().map(|kind| kind.name()).collect();
    let lanes = match (fixed, signature.lanes.as_slice()) {
        (Some(_), _) => String::new(),
        (None, [1]) => " (scalars only)".to_owned(),
        (None, []) => " and their vectors".to_owned(),
        (None, lanes) => {
            let lanes: Vec<String> = lanes.iter().map(u8::to_string).collect();
            format!(" with {} components", lanes.join(", "))
        }
    };
    format!("{}{lanes}", kinds.join(", "))
}

fn slot_text(slot: &Slot, lanes: Option<u8>) -> String {
    let ty = type_text(slot.ty, lanes);
    match &slot.pointer {
        Some(pointer) => pointer_text(pointer, &ty),
        None => ty,
    }
}

fn pointer_text(pointer: &Pointer, ty: &str) -> String {
    let constant = if pointer.is_const { "const " } else { "" };
    let space = match pointer.spaces.as_slice() {
        [Space::Private] => "private ",
        [Space::Local] => "local ",
        [Space::Global] => "global ",
        [Space::Constant] => "constant ",
        _ => "",
    };
    format!("{space}{constant}{ty} *")
}

fn type_text(ty: Type, fixed: Option<u8>) -> String {
    match ty {
        Type::Void => "void".to_owned(),
        Type::Event => "event_t".to_owned(),
        Type::Sampler => "sampler_t".to_owned(),
        Type::Flag => "atomic_flag".to_owned(),
        Type::Atomic => "atomic_gentype".to_owned(),
        Type::Order => "memory_order".to_owned(),
        Type::Scope => "memory_scope".to_owned(),
        Type::Image(set, access) => {
            let access = match access {
                Some(Access::ReadOnly) => "read_only ",
                Some(Access::WriteOnly) => "write_only ",
                Some(Access::ReadWrite) => "read_write ",
                None => "",
            };
            format!("{access}{}", set.describe())
        }
        Type::Value(element, lanes) => value_text(element, lanes, fixed),
    }
}

fn value_text(element: Element, lanes: Lanes, fixed: Option<u8>) -> String {
    let is_generic = lanes == Lanes::Generic;
    let name = match element {
        Element::Generic if is_generic || fixed.is_some() => "gentype",
        Element::Generic => "gentype_element",
        Element::Signed => "igentype",
        Element::Unsigned => "ugentype",
        Element::Relational => "igentype",
        Element::Wide => "wide_gentype",
        Element::Size => "size_t",
        Element::Fixed(kind) => kind.name(),
    };
    match lanes {
        Lanes::Generic => match fixed {
            Some(1) => name.to_owned(),
            Some(count) => format!("{name}{count}"),
            None if matches!(element, Element::Fixed(_)) => format!("{name}n"),
            None => name.to_owned(),
        },
        Lanes::Fixed(1) => name.to_owned(),
        Lanes::Fixed(count) => format!("{name}{count}"),
        Lanes::Other => format!("{name}m"),
        Lanes::Coordinates => format!("{name} coordinates"),
        Lanes::Gradients => format!("{name} gradient"),
    }
}

#[cfg(test)]
mod tests {
    use super::overloads;
    use crate::options::BuildOptions;
    use crate::target::Target;

    #[test]
    fn signatures_are_readable() {
        let (options, target) = (BuildOptions::default(), Target::full());
        let text = |name: &str| {
            let list = overloads(name, &options, &target);
            list.iter().map(|found| format!("{} {name}({})", found.result, found.parameters.join(", "))).collect::<Vec<_>>()
        };
        assert_eq!(text("fma"), ["gentype fma(gentype, gentype, gentype)"]);
        assert_eq!(text("dot")[0], "gentype_element dot(gentype, gentype)");
        assert_eq!(text("vload4"), ["gentype4 vload4(size_t, const gentype *)"]);
        assert_eq!(text("get_global_id"), ["size_t get_global_id(uint)"]);
        assert_eq!(text("convert_float4_rte"), ["float4 convert_float4_rte(gentype)"]);
        assert_eq!(
            overloads("clamp", &options, &target)[0].generic,
            "char, uchar, short, ushort, int, uint, long, ulong, float, half, double and their vectors"
        );
    }
}
