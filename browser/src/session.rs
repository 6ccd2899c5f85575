//! Executes requests, and keeps programs and shaders by number.

use wgcl_compiler::{CompileError, Image, Options, OptionsError, Program, RunError, Shader, ShaderError, Value};

use crate::request::{Argument, Request};
use crate::response::{Binding, Diagnostic, Failure, Kernel, Response, Success};

/// The programs and shaders of a page.
#[derive(Debug, Default)]
pub struct Session {
    programs: Slots<Program>,
    shaders: Slots<Shader>,
}

/// Values by number. The number of a removed value is used again.
#[derive(Debug)]
struct Slots<T>(Vec<Option<T>>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    fn add(&mut self, value: T) -> usize {
        let number = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        match self.0.get_mut(number) {
            Some(slot) => *slot = Some(value),
            None => self.0.push(Some(value)),
        }
        number
    }

    fn get(&self, number: usize, what: &str) -> Result<&T, Failure> {
        let missing = || Failure::Request { message: format!("{what} {number} does not exist or was freed") };
        self.0.get(number).and_then(Option::as_ref).ok_or_else(missing)
    }

    fn remove(&mut self, number: usize) {
        if let Some(slot) = self.0.get_mut(number) {
            *slot = None;
        }
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Self::Compile { message: error.log(), diagnostics: error.diagnostics.iter().map(Diagnostic::of).collect() }
    }
}

impl From<OptionsError> for Failure {
    fn from(error: OptionsError) -> Self {
        Self::Request { message: error.to_string() }
    }
}

impl From<ShaderError> for Failure {
    fn from(error: ShaderError) -> Self {
        Self::Shader { message: error.to_string() }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run { message: error.message, line: error.line, work_item: error.work_item }
    }
}

fn lacks_sections() -> Failure {
    Failure::Request { message: "the request has fewer sections than its arguments need".to_owned() }
}

impl Session {
    /// Executes a request. Returns the sections of the response.
    pub fn call(&mut self, sections: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut made = Vec::new();
        let (json, rest) = sections.split_first().map_or((&[][..], &[][..]), |(json, rest)| (*json, rest));
        let result = serde_json::from_slice(json)
            .map_err(|error| Failure::Request { message: format!("the request is not valid: {error}") })
            .and_then(|request| self.execute(request, rest, &mut made));
        let response = result.map_or_else(Response::Error, Response::Ok);
        // Serialisation fails only for maps whose keys are not strings. Responses have none.
        made.insert(0, serde_json::to_vec(&response).unwrap_or_default());
        made
    }

    fn execute(&mut self, request: Request, sections: &[&[u8]], made: &mut Vec<Vec<u8>>) -> Result<Success, Failure> {
        match request {
            Request::Check { source, options } => {
                let diagnostics = wgcl_compiler::check(&source, &options.convert()?);
                Ok(Success::Diagnostics { diagnostics: diagnostics.iter().map(Diagnostic::of).collect() })
            }
            Request::Compile { source, options } => self.keep(wgcl_compiler::compile(&source, &options.convert()?)),
            Request::CompileSpirv { options } => {
                let bytes = sections.first().ok_or_else(lacks_sections)?;
                let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
                let options: Options = options.convert()?;
                self.keep(wgcl_compiler::compile_spirv(&words, &options))
            }
            Request::Listing { program, kernel, launch, form } => {
                let listing = self.programs.get(program, "program")?.listing(&kernel, &launch.into(), form.into())?;
                Ok(Success::Listing { text: listing.text, lines: listing.lines })
            }
            Request::Run { program, kernel, range, arguments } => {
                let program = self.programs.get(program, "program")?;
                let mut buffers = Buffers::new(&arguments, sections)?;
                let result = program.run(&kernel, &range.into(), &mut buffers.values(&arguments));
                *made = buffers.changed;
                Ok(Success::Run { output: result? })
            }
            Request::Shader { program, kernel, launch } => {
                let shader = self.programs.get(program, "program")?.shader(&kernel, &launch.into())?;
                let bindings = shader.bindings().iter().map(|binding| Binding::of(binding, made)).collect();
                let (entry_point, work_group_size) = (shader.entry_point().to_owned(), shader.work_group_size());
                Ok(Success::Shader { shader: self.shaders.add(shader), entry_point, work_group_size, bindings })
            }
            Request::Spirv { shader } => {
                let words = self.shaders.get(shader, "shader")?.spirv();
                made.extend(words.map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()));
                Ok(Success::Bytes {})
            }
            Request::Text { shader, language } => {
                let text = self.shaders.get(shader, "shader")?.text(language.into())?;
                Ok(Success::Text { text })
            }
            Request::Arguments { shader, range, values } => {
                let shader = self.shaders.get(shader, "shader")?;
                let mut rest = sections.iter();
                let mut bytes = Vec::new();
                for (index, value) in values {
                    bytes.push((
                        index,
                        match value {
                            Argument::Bytes => rest.next().ok_or_else(lacks_sections)?.to_vec(),
                            Argument::Image { width, height, format } => Image::new(width, height, format.into()).argument(),
                            _ => continue,
                        },
                    ));
                }
                let values: Vec<(usize, &[u8])> = bytes.iter().map(|(index, bytes)| (*index, bytes.as_slice())).collect();
                made.push(shader.arguments(&range.into(), &values)?);
                Ok(Success::Bytes {})
            }
            Request::FreeProgram { program } => {
                self.programs.remove(program);
                Ok(Success::Bytes {})
            }
            Request::FreeShader { shader } => {
                self.shaders.remove(shader);
                Ok(Success::Bytes {})
            }
        }
    }

    fn keep(&mut self, program: Result<Program, CompileError>) -> Result<Success, Failure> {
        let program = program?;
        let kernels = program.kernels().iter().map(Kernel::of).collect();
        let warnings = program.warnings().map(Diagnostic::of).collect();
        Ok(Success::Program { program: self.programs.add(program), kernels, warnings })
    }
}

/// The memory of the arguments of a launch.
struct Buffers {
    /// Values that the launch does not change.
    bytes: Vec<Vec<u8>>,
    /// Buffers and images.
    changed: Vec<Vec<u8>>,
}

impl Buffers {
    fn new(arguments: &[Argument], sections: &[&[u8]]) -> Result<Self, Failure> {
        let mut made = Self { bytes: Vec::new(), changed: Vec::new() };
        let mut rest = sections.iter();
        for argument in arguments {
            let list = match argument {
                Argument::Bytes => &mut made.bytes,
                Argument::Buffer | Argument::Image { .. } => &mut made.changed,
                _ => continue,
            };
            list.push(rest.next().ok_or_else(lacks_sections)?.to_vec());
        }
        Ok(made)
    }

    fn values<'a>(&'a mut self, arguments: &[Argument]) -> Vec<Value<'a>> {
        let (mut bytes, mut changed) = (self.bytes.iter(), self.changed.iter_mut());
        let mut next = || changed.next().map_or(&mut [][..], Vec::as_mut_slice);
        let value = |argument: &Argument| match *argument {
            Argument::Bytes => Value::Bytes(bytes.next().map_or(&[], Vec::as_slice)),
            Argument::Buffer => Value::Buffer(next()),
            Argument::Image { width, height, format } => Value::Image(Image::new(width, height, format.into()), next()),
            Argument::Sampler(ref sampler) => Value::Sampler(sampler.into()),
            Argument::Local { size } => Value::Local(size),
            Argument::Null => Value::Null,
        };
        arguments.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Session;

    fn call(session: &mut Session, request: &str, sections: &[&[u8]]) -> (String, Vec<Vec<u8>>) {
        let request = [&[request.as_bytes()], sections].concat();
        let mut response = session.call(&request);
        let json = String::from_utf8(response.remove(0)).expect("JSON is UTF-8");
        (json, response)
    }

    #[test]
    fn a_kernel_runs_and_its_program_is_freed() {
        let mut session = Session::default();
        let source = "kernel void k(global int *a, int n) { a[get_global_id(0)] += n; }";
        let (json, _) = call(&mut session, &format!(r#"{{"op":"compile","source":"{source}","options":{{"device":"cpu"}}}}"#), &[]);
        assert!(json.starts_with(r#"{"ok":{"program":0,"kernels":[{"name":"k","arguments":[{"name":"a","typeName":"int*""#), "{json}");
        let run = r#"{"op":"run","program":0,"kernel":"k","range":{"globalSize":[2],"workGroupSize":[1]},
            "arguments":[{"kind":"buffer"},{"kind":"bytes"}]}"#;
        let (json, sections) = call(&mut session, run, &[&[1, 0, 0, 0, 2, 0, 0, 0], &[5, 0, 0, 0]]);
        assert_eq!((json.as_str(), sections), (r#"{"ok":{"output":""}}"#, vec![vec![6, 0, 0, 0, 7, 0, 0, 0]]));
        // The second work-item accesses memory out of bounds, after the first has changed the buffer.
        let (json, sections) = call(&mut session, run, &[&[1, 0, 0, 0], &[5, 0, 0, 0]]);
        assert!(json.contains(r#""kind":"run""#) && json.contains(r#""line":1,"workItem":[1,0,0]"#), "{json}");
        assert_eq!(sections, [[6, 0, 0, 0]]);
        let (json, _) = call(&mut session, run, &[&[1, 0, 0, 0]]);
        assert!(json.contains("fewer sections"), "{json}");
        call(&mut session, r#"{"op":"freeProgram","program":0}"#, &[]);
        let (json, _) = call(&mut session, run, &[&[1, 0, 0, 0], &[5, 0, 0, 0]]);
        assert!(json.contains("program 0 does not exist or was freed"), "{json}");
    }

    #[test]
    fn invalid_requests_are_errors() {
        let mut session = Session::default();
        for (request, expected) in [
            ("", "the request is not valid"),
            (r#"{"op":"print"}"#, "unknown variant `print`"),
            (r#"{"op":"check","source":"","options":{"device":"gpu"}}"#, "unknown variant `gpu`"),
            (r#"{"op":"check","source":"","options":{"device":"cpu","optimise":true}}"#, "unknown field `optimise`"),
            (r#"{"op":"compile","source":"kernel","options":{"device":"cpu"}}"#, r#""kind":"compile""#),
            (r#"{"op":"text","shader":7,"language":"wgsl"}"#, "shader 7 does not exist or was freed"),
        ] {
            let (json, _) = call(&mut session, request, &[]);
            assert!(json.starts_with(r#"{"error":"#) && json.contains(expected), "{request}\n{json}");
        }
        let none = session.call(&[]);
        assert!(none[0].starts_with(br#"{"error""#));
    }
}
