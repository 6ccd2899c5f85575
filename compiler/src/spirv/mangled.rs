//! OpenCL C functions that a module imports by their mangled names, because its translator had no instruction for them:
//! `_Z18get_sub_group_sizev` and similar names.
//!
//! A mangled name encodes the parameter types, and thus the signedness that SPIR-V lacks (Itanium C++ ABI 5.1,
//! "External Names").

use super::bridge::{Signedness, c_type};
use super::errors::{Checked, invalid};
use super::function::{Lowering, Val};
use super::module::FunctionDef;
use crate::ir::{Scalar, Type};

/// A demangled name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mangled {
    /// The function name.
    pub(super) name: String,
    /// The parameter types in OpenCL C.
    pub(super) params: Vec<String>,
}

/// Demangles a name. Returns `None` if it is not the mangled name of a function with OpenCL C parameter types.
pub(super) fn parse(text: &str) -> Option<Mangled> {
    let mut reader = Reader { rest: text.strip_prefix("_Z")?, substitutions: Vec::new() };
    let name = reader.named()?.to_owned();
    let mut params = Vec::new();
    if reader.rest == "v" {
        return Some(Mangled { name, params });
    }
    while !reader.rest.is_empty() {
        params.push(reader.ty(0).filter(|ty| ty != "void")?);
    }
    Some(Mangled { name, params })
}

struct Reader<'a> {
    rest: &'a str,
    /// The substitution candidates.
    substitutions: Vec<String>,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<usize> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    /// Parses a `<source-name>`: a length and that number of characters.
    fn named(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let (name, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(name)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest.strip_prefix(prefix);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn ty(&mut self, depth: usize) -> Option<String> {
        if depth > 8 {
            return None;
        }
        if self.take("S") {
            let index = if self.rest.starts_with('_') { 0 } else { self.number()? + 1 };
            return self.take("_").then(|| self.substitutions.get(index).cloned()).flatten();
        }
        if self.take("Dv") {
            let lanes = self.number()?;
            let element = self.take("_").then(|| self.ty(depth + 1)).flatten()?;
            return Some(self.add_substitution(format!("{element}{lanes}")));
        }
        if self.take("Dh") {
            return Some("half".to_owned());
        }
        if self.take("P") {
            let pointee = self.qualified(depth + 1)?;
            return Some(self.add_substitution(format!("{pointee} *")));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let name = self.named()?;
            let ty = match name.strip_prefix("ocl_")? {
                image if image.starts_with("image") => {
                    let (kind, access) = image.rsplit_once('_')?;
                    let access = match access {
                        "ro" => "read_only",
                        "wo" => "write_only",
                        _ => "read_write",
                    };
                    format!("{access} {kind}_t")
                }
                "sampler" => "sampler_t".to_owned(),
                "event" => "event_t".to_owned(),
                _ => return None,
            };
            return Some(self.add_substitution(ty));
        }
        let scalars = [
            ("v", "void"),
            ("b", "bool"),
            ("c", "char"),
            ("a", "char"),
            ("h", "uchar"),
            ("s", "short"),
            ("t", "ushort"),
            ("i", "int"),
            ("j", "uint"),
            ("l", "long"),
            ("m", "ulong"),
            ("f", "float"),
            ("d", "double"),
        ];
        scalars.into_iter().find(|(letter, _)| self.take(letter)).map(|(_, name)| name.to_owned())
    }

    /// Parses a type with its qualifiers.
    fn qualified(&mut self, depth: usize) -> Option<String> {
        let mut words = String::new();
        if self.take("U3AS") {
            words.push_str(match self.number()? {
                1 => "__global ",
                2 => "__constant ",
                3 => "__local ",
                4 => "__generic ",
                _ => return None,
            });
        } else {
            words.push_str("__private ");
        }
        let plain = words.len();
        for (letter, word) in [("r", "restrict "), ("V", "volatile "), ("K", "const ")] {
            if self.take(letter) && letter != "r" {
                words.push_str(word);
            }
        }
        let is_qualified = words.len() > plain || !words.starts_with("__private");
        let ty = format!("{words}{}", self.ty(depth)?);
        Some(if is_qualified { self.add_substitution(ty) } else { ty })
    }

    fn add_substitution(&mut self, ty: String) -> String {
        self.substitutions.push(ty.clone());
        ty
    }
}

impl Lowering<'_, '_, '_> {
    /// Lowers a call of an imported OpenCL C built-in function. Returns false if `callee` is not such a function.
    pub(super) fn call_import(&mut self, callee: &FunctionDef<'_>) -> Checked<bool> {
        let module = self.module;
        let name = module.decorations.link(callee.id).map_or("", |link| link.name.as_str());
        let Some(mangled) = parse(name).filter(|_| callee.blocks.is_empty()) else { return Ok(false) };
        let linked = !self.shared.is_alone && crate::builtins::table::find(&mangled.name).is_empty();
        if linked || mangled.params.len() != callee.params.len() {
            return Ok(false);
        }
        let mut args = Vec::new();
        for index in 0..callee.params.len() {
            let value = self.arg(index + 1)?;
            args.push(if self.b.ty(value) == Type::BOOL { self.b.resize(value, false, Type::I32) } else { value });
        }
        let params: Vec<String> = mangled.params.iter().map(|ty| if ty == "bool" { "int".to_owned() } else { ty.clone() }).collect();
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        let call = format!("{}({names})", mangled.name);
        let want = module.types.ir(callee.inst.ty()?)?;
        if want == Type::Void {
            self.library_effect(&params, &args, &format!("{call};"));
            return Ok(true);
        }
        if want.scalar().is_none() {
            return Err(invalid!("imported function {}: the result type is not a scalar or vector", mangled.name));
        }
        let is_bool = want == Type::BOOL;
        let ty = if is_bool { Type::I32 } else { want };
        let result = c_type(ty, Signedness::Signed)?;
        let body = if ty.scalar().is_some_and(Scalar::is_int) && !is_bool {
            format!("return as_{result}({call});")
        } else {
            format!("return {call};")
        };
        let value = self.library_text(ty, &result, &params, &args, &body)?;
        let value = if is_bool { self.b.cmp_int(crate::ir::CmpOp::Ne, value, 0) } else { value };
        self.define(Val::One(value))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn read(text: &str) -> String {
        parse(text).map_or_else(|| "none".to_owned(), |found| format!("{}({})", found.name, found.params.join("; ")))
    }

    #[test]
    fn names_are_demangled() {
        assert_eq!(read("_Z20dot_4x8packed_ss_intjj"), "dot_4x8packed_ss_int(uint; uint)");
        assert_eq!(read("_Z11get_work_dimv"), "none");
        assert_eq!(read("_Z12get_work_dimv"), "get_work_dim()");
        assert_eq!(read("_Z4fmixDv4_fS_f"), "fmix(float4; float4; float)");
        assert_eq!(read("_Z6vload4mPU3AS1Kf"), "vload4(ulong; __global const float *)");
        assert_eq!(read("_Z3fooPU3AS3VjS0_"), "foo(__local volatile uint *; __local volatile uint *)");
        assert_eq!(read("_Z4readPi14ocl_image2d_ro"), "read(__private int *; read_only image2d_t)");
        assert_eq!(read("main"), "none");
    }
}
