//! Assigns the arguments of a command line to the parameters of a kernel, and checks their types.

use crate::element::Element;
use crate::error::ClientError;
use crate::notation::{Argument, ArgumentKind};
use crate::objects::Parameter;

type Result<T> = std::result::Result<T, ClientError>;

/// Assigns arguments to parameters. An argument with the name of a parameter is assigned to that parameter. The other
/// arguments are assigned to the remaining parameters in order. Returns the index of the parameter, the name and the
/// kind of each argument. The arguments keep their order, because values may refer to earlier arguments.
///
/// # Errors
/// Fails if a name is not that of a parameter, a type does not match, or arguments are missing or left over. Names and
/// types are not checked if the device does not report them.
pub(crate) fn assign<'a>(
    kernel: &str,
    parameters: &[Parameter],
    arguments: &'a [Argument],
) -> Result<Vec<(u32, String, &'a ArgumentKind)>> {
    let mut taken = vec![false; parameters.len()];
    let mut places: Vec<Option<usize>> = Vec::new();
    for argument in arguments {
        places.push(place_of_name(kernel, parameters, argument, &mut taken)?);
    }
    let mut found = Vec::new();
    for (argument, place) in arguments.iter().zip(places) {
        let Some(index) = place.or_else(|| taken.iter().position(|taken| !taken)) else {
            let (expected, have) = (parameters.len(), arguments.len());
            return Err(ClientError::Arguments(format!("too many arguments for `{kernel}`: expected {expected}, have {have}")));
        };
        taken[index] = true;
        let name = argument.name.clone().or_else(|| Some(parameters.get(index)?.name.clone()).filter(|name| !name.is_empty()));
        let name = name.unwrap_or_else(|| format!("argument {index}"));
        if let Some(given) = parameters.get(index).and_then(|parameter| mismatch(&parameter.type_name, &argument.kind)) {
            let expected = &parameters[index].type_name;
            return Err(ClientError::Arguments(format!("argument `{name}` is {given}, but the kernel expects `{expected}`")));
        }
        let number = u32::try_from(index).map_err(|error| ClientError::Arguments(error.to_string()))?;
        found.push((number, name, &argument.kind));
    }
    check_complete(kernel, parameters, &taken)?;
    Ok(found)
}

/// Returns the index of the parameter that an argument names. Returns `None` if the argument has no name, or if the
/// names of parameters are unknown.
fn place_of_name(kernel: &str, parameters: &[Parameter], argument: &Argument, taken: &mut [bool]) -> Result<Option<usize>> {
    let Some(name) = argument.name.as_deref().filter(|name| !name.is_empty()) else { return Ok(None) };
    match parameters.iter().position(|parameter| parameter.name == name) {
        Some(place) if std::mem::replace(&mut taken[place], true) => {
            Err(ClientError::Arguments(format!("argument `{name}` is given twice")))
        }
        None if parameters.iter().all(|parameter| !parameter.name.is_empty()) => {
            let names: Vec<String> = parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
            let known =
                if names.is_empty() { "it has no parameters".to_owned() } else { format!("its parameters are {}", names.join(", ")) };
            Err(ClientError::Arguments(format!("`{kernel}` has no parameter `{name}`; {known}")))
        }
        place => Ok(place),
    }
}

/// Fails if a parameter has no argument.
fn check_complete(kernel: &str, parameters: &[Parameter], taken: &[bool]) -> Result<()> {
    let describe = |parameter: &Parameter| format!("{} {}", parameter.type_name, parameter.name).trim().to_owned();
    let missing: Vec<String> = (0..)
        .zip(parameters)
        .zip(taken)
        .filter(|(_, taken)| !**taken)
        .map(|((index, parameter), _)| {
            let text = describe(parameter);
            if text.is_empty() { format!("{index}") } else { format!("{index} ({text})") }
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let plural = if missing.len() == 1 { "argument" } else { "arguments" };
    Err(ClientError::Arguments(format!("missing {plural} for `{kernel}`: {}", missing.join(", "))))
}

/// Returns a description of an argument that does not match the type of its parameter. Returns `None` if the argument
/// matches, or if the type is unknown.
fn mismatch(type_name: &str, kind: &ArgumentKind) -> Option<String> {
    if type_name.is_empty() {
        return None;
    }
    let is_pointer = type_name.ends_with('*');
    let scalar = Element::from_name(type_name.trim_end_matches(['*', ' ']).trim_end_matches(|c: char| c.is_ascii_digit()));
    let is_opaque = ["image", "sampler_t", "queue_t"].iter().any(|prefix| type_name.starts_with(prefix));
    match kind {
        ArgumentKind::Buffer { element, .. } if is_opaque || scalar.is_some_and(|scalar| !is_pointer || !is_alike(scalar, *element)) => {
            Some(format!("a buffer of `{}`", element.name()))
        }
        ArgumentKind::Value { element, .. } if is_opaque || is_pointer || scalar.is_some_and(|scalar| !is_alike(scalar, *element)) => {
            Some(format!("a value of type `{}`", element.name()))
        }
        ArgumentKind::Struct(_) if is_opaque || is_pointer || scalar.is_some() => Some("a structure".to_owned()),
        ArgumentKind::Local(_) if is_opaque || !is_pointer && scalar.is_some() => Some("local memory".to_owned()),
        ArgumentKind::Null if is_opaque || !is_pointer && scalar.is_some() => Some("a null buffer".to_owned()),
        ArgumentKind::Image { .. } if !type_name.starts_with("image") && scalar.is_some() => Some("an image".to_owned()),
        ArgumentKind::Sampler(_) if type_name != "sampler_t" && scalar.is_some() => Some("a sampler".to_owned()),
        _ => None,
    }
}

/// Whether data of one type can be passed as the other: floats of equal size, or integers of equal size.
fn is_alike(one: Element, other: Element) -> bool {
    one.size() == other.size() && one.is_float() == other.is_float()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed_among(parameters: &[(&str, &str)], texts: &[&str]) -> std::result::Result<Vec<(u32, String)>, String> {
        let parameters: Vec<Parameter> =
            parameters.iter().map(|(name, type_name)| Parameter { name: (*name).to_owned(), type_name: (*type_name).to_owned() }).collect();
        let arguments = texts.iter().map(|text| Argument::parse(text)).collect::<std::result::Result<Vec<_>, _>>();
        let arguments = arguments.map_err(|error| error.to_string())?;
        let placed = assign("k", &parameters, &arguments).map_err(|error| error.to_string())?;
        Ok(placed.into_iter().map(|(index, name, _)| (index, name)).collect())
    }

    fn placed(texts: &[&str]) -> std::result::Result<Vec<(u32, String)>, String> {
        placed_among(&[("a", "float*"), ("n", "int")], texts)
    }

    #[test]
    fn named_arguments_are_assigned_first() {
        assert_eq!(placed(&["n: int = 1", "float[4]"]), Ok(vec![(1, "n".to_owned()), (0, "a".to_owned())]));
    }

    #[test]
    fn unknown_names_are_reported_if_names_are_known() {
        assert_eq!(placed(&["float[4]", "count: int = 1"]), Err("`k` has no parameter `count`; its parameters are `a`, `n`".to_owned()));
        let unnamed = placed_among(&[("", ""), ("", "")], &["float[4]", "count: int = 1"]);
        assert_eq!(unnamed, Ok(vec![(0, "argument 0".to_owned()), (1, "count".to_owned())]));
    }

    #[test]
    fn missing_and_surplus_arguments_are_reported() {
        assert_eq!(placed(&["float[4]"]), Err("missing argument for `k`: 1 (int n)".to_owned()));
        assert_eq!(placed(&["float[4]", "int = 1", "int = 2"]), Err("too many arguments for `k`: expected 2, have 3".to_owned()));
        assert_eq!(placed(&["n: int = 1", "n: int = 1"]), Err("argument `n` is given twice".to_owned()));
    }

    #[test]
    fn types_that_do_not_match_are_reported() {
        for (type_name, argument, given) in [
            ("float*", "int[4]", "a buffer of `int`"),
            ("float4*", "double[4]", "a buffer of `double`"),
            ("int", "int[4]", "a buffer of `int`"),
            ("image2d_t", "float[4]", "a buffer of `float`"),
            ("int*", "int = 4", "a value of type `int`"),
            ("float", "int = 4", "a value of type `int`"),
            ("int", "struct {int = 4}", "a structure"),
            ("float", "local 16", "local memory"),
            ("uint", "null", "a null buffer"),
            ("float*", "image2d 2x2 RGBA UNORM_INT8", "an image"),
            ("float*", "sampler unnormalized clamp nearest", "a sampler"),
        ] {
            let expected = format!("argument `p` is {given}, but the kernel expects `{type_name}`");
            assert_eq!(placed_among(&[("p", type_name)], &[argument]), Err(expected), "{argument}");
        }
        for (type_name, argument) in [
            ("uint*", "int[4]"),
            ("float4*", "float[16]"),
            ("uchar4", "uchar4 = 1"),
            ("struct body*", "float[16]"),
            ("real_t", "float = 1"),
            ("struct pair", "struct {int = 1; int = 2}"),
            ("float*", "local 16"),
            ("float*", "null"),
            ("image2d_t", "image2d 2x2 RGBA UNORM_INT8"),
            ("sampler_t", "sampler unnormalized clamp nearest"),
            ("int", "pipe int[64]"),
        ] {
            assert!(placed_among(&[("p", type_name)], &[argument]).is_ok(), "{type_name} {argument}");
        }
    }
}
