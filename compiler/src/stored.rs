//! Serialises programs and shaders, for a cache on disk.
//!
//! Only a compiler of the same [`VERSION`] can read the bytes, because the format is not stable. Source locations are
//! not stored.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::binding::ArgLayout;
#[cfg(feature = "shaders")]
use crate::emit::{Binding, Shader};
use crate::ir::{self, Module};
use crate::program::Program;
use crate::reflection::KernelInfo;
use crate::target::Target;

/// Identifies this compiler: a hash of its source, its built-in library, its dependencies, and the target triple.
pub const VERSION: &str = env!("WGCL_COMPILER_ID");

/// The target triple that the compiler was built for, such as `x86_64-unknown-linux-gnu`. It determines the calling
/// convention of the machine code of kernels.
pub const TARGET_TRIPLE: &str = env!("WGCL_TARGET");

/// Maximum nesting of regions in stored programs, because deserialisation is recursive and uses the application's
/// stack.
const MAX_DEPTH: usize = 64;

#[derive(Serialize, Deserialize)]
struct StoredProgram<'a> {
    module: Cow<'a, Module>,
    kernels: Cow<'a, [KernelInfo]>,
    global_variable_size: u64,
}

#[cfg(feature = "shaders")]
#[derive(Serialize, Deserialize)]
struct StoredShader<'a> {
    spirv: Cow<'a, [u32]>,
    entry_point: Cow<'a, str>,
    bindings: Cow<'a, [Binding]>,
    args: Cow<'a, ArgLayout>,
    local_memory: u32,
    private_memory: u32,
    coarsening_factor: u32,
    subgroup_size: Option<u32>,
    any_local_size: bool,
}

fn is_shallow(module: &Module) -> bool {
    module.functions.iter().all(|function| function.body.depth(ir::MAX_NESTING) <= MAX_DEPTH)
}

/// Serialises a program. Returns `None` if its regions are nested too deeply.
pub fn encode_program(program: &Program) -> Option<Vec<u8>> {
    let stored = StoredProgram {
        module: Cow::Borrowed(&program.module),
        kernels: Cow::Borrowed(&program.kernels),
        global_variable_size: program.global_variable_size,
    };
    is_shallow(&program.module).then(|| postcard::to_stdvec(&stored).ok()).flatten()
}

/// Deserialises a program. Returns `None` if the bytes are not a program.
pub fn decode_program(bytes: &[u8]) -> Option<Program> {
    let StoredProgram { module, kernels, global_variable_size } = postcard::from_bytes(bytes).ok()?;
    Some(Program { module: Arc::new(module.into_owned()), kernels: kernels.into_owned(), global_variable_size, sources: None })
}

/// Serialises a shader. Returns `None` if it has no SPIR-V or calls `printf`.
#[cfg(feature = "shaders")]
pub fn encode_shader(shader: &Shader) -> Option<Vec<u8>> {
    let stored = StoredShader {
        spirv: Cow::Borrowed(shader.spirv.as_deref()?),
        entry_point: Cow::Borrowed(&shader.entry_point),
        bindings: Cow::Borrowed(&shader.bindings),
        args: Cow::Borrowed(&shader.args),
        local_memory: shader.local_memory,
        private_memory: shader.private_memory,
        coarsening_factor: shader.coarsening_factor,
        subgroup_size: shader.subgroup_size,
        any_local_size: shader.any_local_size,
    };
    shader.printf.is_empty().then(|| postcard::to_stdvec(&stored).ok()).flatten()
}

/// Deserialises a shader, with SPIR-V and without a naga module. Returns `None` if the bytes are not a shader.
#[cfg(feature = "shaders")]
pub fn decode_shader(bytes: &[u8]) -> Option<Shader> {
    let StoredShader { spirv, entry_point, bindings, args, local_memory, private_memory, coarsening_factor, subgroup_size, any_local_size } =
        postcard::from_bytes(bytes).ok()?;
    Some(Shader {
        naga: naga::Module::default(),
        spirv: Some(spirv.into_owned()),
        entry_point: entry_point.into_owned(),
        bindings: bindings.into_owned(),
        args: args.into_owned(),
        local_memory,
        private_memory,
        coarsening_factor,
        subgroup_size,
        printf: crate::printf::Table::default(),
        any_local_size,
    })
}

/// Returns bytes that are equal only for equal modules and targets. Returns `None` for modules that cannot be stored.
pub fn identify(module: &Module, target: &Target) -> Option<Vec<u8>> {
    is_shallow(module).then(|| postcard::to_stdvec(&(module, target)).ok()).flatten()
}

/// Returns bytes that are equal only for equal targets.
pub fn identify_target(target: &Target) -> Vec<u8> {
    postcard::to_stdvec(target).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{decode_program, decode_shader, encode_program, encode_shader, identify};
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::Source;
    use crate::options::parse_options;
    use crate::program::Program;
    use crate::specialise::specialise;
    use crate::target::Target;

    const SOURCE: &str = "
        constant float table[] = {1.5f, -0.0f, NAN};
        global int counter = 3;
        typedef struct { int a; float4 b; } S;
        __attribute__((reqd_work_group_size(8, 1, 1)))
        kernel void k(global float *out, S s, local int *l, constant float *c, ulong n) {
            size_t i = get_global_id(0);
            l[get_local_id(0)] = (int)i;
            barrier(CLK_LOCAL_MEM_FENCE);
            float sum = 0;
            for (uint j = 0; j < n; j++) {
                switch (l[j & 7]) { case 1: sum += table[j % 3]; break; case 2: case 3: sum *= c[j]; break; default: sum = sin(sum); }
            }
            atomic_inc(&counter);
            out[i] = sum + s.b.y;
        }
        kernel void prints(int a) { printf(\"%d\\n\", a); }";

    fn program() -> Program {
        let options = parse_options("-cl-std=CL3.0 -cl-kernel-arg-info").expect("options");
        let result = build(&Source { text: SOURCE.to_owned(), ..Source::default() }, &options, &Target::full());
        result.program.expect("it builds")
    }

    #[test]
    fn programs_are_unchanged_by_serialisation() {
        let program = program();
        let bytes = encode_program(&program).expect("it is stored");
        let back = decode_program(&bytes).expect("it is read");
        assert_eq!(back.module.to_string(), program.module.to_string());
        assert_eq!((&back.kernels, back.global_variable_size), (&program.kernels, program.global_variable_size));
        let target = Target::full();
        assert_eq!(identify(&back.module, &target), identify(&program.module, &target));
        let key = LaunchKey::example(&program.module.functions[0], [8, 1, 1]);
        let made = |program: &Program| specialise(&program.module, "k", &key, &target).expect("a shader").spirv;
        assert_eq!(made(&back), made(&program));
        assert!((0..bytes.len()).all(|length| decode_program(&bytes[..length]).is_none()), "a part of a program is none");
    }

    #[test]
    fn shaders_without_printf_are_unchanged_by_serialisation() {
        let (program, target) = (program(), Target::full());
        let make = |name: &str| {
            let function = program.module.functions.iter().find(|function| function.name == name).expect("the kernel");
            specialise(&program.module, name, &LaunchKey::example(function, [8, 1, 1]), &target).expect("a shader")
        };
        let shader = make("k");
        let back = decode_shader(&encode_shader(&shader).expect("it is stored")).expect("it is read");
        assert_eq!((&back.spirv, &back.entry_point, &back.bindings), (&shader.spirv, &shader.entry_point, &shader.bindings));
        assert_eq!((&back.args, back.local_memory, back.private_memory), (&shader.args, shader.local_memory, shader.private_memory));
        assert_eq!((back.coarsening_factor, back.any_local_size), (shader.coarsening_factor, shader.any_local_size));
        assert!(encode_shader(&make("prints")).is_none());
    }
}
