//! The stages of a launch, from a built program and a [`LaunchKey`] to a shader.
//!
//! ```text
//! Program.module                                   every kernel, in SSA form, with real pointers
//!   of_kernel        one kernel and what it calls
//!   images           image accesses become loads and stores, for formats and samplers             (image::expand)
//!   SPECIALISE       key values become constants, collective functions expanded, loops unrolled   (passes)
//! Specialised                                      still with real pointers: where every code generator starts
//!   SHADER           pointers resolved to roots, accesses widened                                 (passes)
//!   doubles          emulated with integers if the device lacks them                              (doubles)
//!   LEGALIZE         operations that naga or the device lacks are replaced                        (passes)
//!   emit             bindings, naga, SPIR-V                                                       (emit)
//! Shader
//! ```
//! A shader that does not depend on the work-group size is used for all sizes ([`Shader::any_local_size`]). With
//! assertions enabled, a second shader is compiled for another size, and the two shaders are compared.

use crate::analysis::calls::expanded_size;
use crate::doubles;
#[cfg(feature = "shaders")]
use crate::emit::{self, Binding, BindingSource, Shader};
use crate::image::expand;
use crate::ir::{self, Func};
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::passes::{self, Driver, LEGALIZE, NATIVE, NATIVE_INSTRUMENTED, PassError, SHADER, SPECIALISE, Step, Watch};
use crate::target::Target;
use crate::timing::stage;

/// Compiles the shader of a kernel for one launch key and device.
///
/// # Errors
/// See [`LaunchError`].
#[cfg(feature = "shaders")]
pub fn specialise(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<Shader> {
    let shader = shader(module, kernel, key, target, emit::Debug::Nothing)?;
    if cfg!(debug_assertions) && shader.any_local_size {
        check_other_size(&shader, module, kernel, key, target)?;
    }
    Ok(shader)
}

/// Like [`specialise`], with the lines of the source in the SPIR-V ([`emit::print_lines`]).
///
/// # Errors
/// See [`LaunchError`].
#[cfg(feature = "languages")]
pub fn specialise_with_lines(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    line_of: emit::LineOf<'_>,
) -> LaunchResult<Shader> {
    shader(module, kernel, key, target, emit::Debug::Lines(line_of))
}

/// A kernel that is specialised to a launch: function 0 of a module, followed by the helper functions that it calls.
/// The module contains all globals with unchanged numbers, so that every kernel has the same layout of program memory.
pub struct Specialised<'a> {
    pub module: ir::Module,
    driver: Driver<'a>,
}

impl<'a> Specialised<'a> {
    /// Specialises a kernel. The result is the input of every code generator. Its pointers are not yet resolved to
    /// memory objects.
    ///
    /// # Errors
    ///
    /// Fails if the kernel does not exist or selects an image at run time, or if the compiler has a defect.
    pub fn new(
        module: &ir::Module,
        kernel: &str,
        key: &'a LaunchKey,
        target: &'a Target,
        watch: Option<&'a Watch<'a>>,
    ) -> LaunchResult<Self> {
        let mut module = of_kernel(module, kernel)?;
        let mut driver = Driver::new(target, key, watch);
        let mut run = || -> Result<(), PassError> {
            driver.run(&mut module, IMAGES)?;
            driver.note_purity(&module);
            driver.run(&mut module, SPECIALISE)?;
            Ok(())
        };
        run().map_err(|error| error.for_launch(kernel))?;
        Ok(Self { module, driver })
    }

    /// Converts the module to the form for shaders: pointers become a root (a memory object) and an offset. Operations
    /// that the device lacks remain until [`Specialised::legalize`].
    ///
    /// # Errors
    ///
    /// Fails if the kernel cannot be a shader or the compiler has a defect.
    pub fn prepare_shader(&mut self) -> Result<(), PassError> {
        self.driver.run(&mut self.module, SHADER).map(drop)
    }

    /// Converts the module to the form that [`crate::vectorize`] reads. If `instrumented`, memory accesses are not
    /// combined.
    ///
    /// # Errors
    ///
    /// Fails if the compiler has a defect.
    pub fn prepare(&mut self, instrumented: bool) -> Result<(), PassError> {
        self.driver.run(&mut self.module, if instrumented { NATIVE_INSTRUMENTED } else { NATIVE }).map(drop)
    }

    /// Converts the module to the form that [`crate::emit`] reads.
    ///
    /// # Errors
    ///
    /// Fails if the device lacks doubles and the kernel uses an operation that is not emulated, or if the compiler has
    /// a defect.
    pub fn legalize(&mut self) -> Result<(), PassError> {
        self.driver.run(&mut self.module, DOUBLES)?;
        self.driver.run(&mut self.module, LEGALIZE).map(drop)
    }
}

/// Returns the module that [`crate::emit`] reads.
///
/// # Errors
/// See [`LaunchError`].
pub fn launched(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    watch: Option<&Watch<'_>>,
) -> LaunchResult<ir::Module> {
    let mut made = Specialised::new(module, kernel, key, target, watch)?;
    made.prepare_shader().and_then(|()| made.legalize()).map_err(|error| error.for_launch(kernel))?;
    Ok(made.module)
}

/// Returns the module that [`crate::vectorize`] reads. For `instrumented`, see [`Specialised::prepare`].
///
/// # Errors
/// See [`LaunchError`].
pub fn prepared(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    instrumented: bool,
    watch: Option<&Watch<'_>>,
) -> LaunchResult<ir::Module> {
    let mut made = Specialised::new(module, kernel, key, target, watch)?;
    made.prepare(instrumented).map_err(|error| error.for_launch(kernel))?;
    Ok(made.module)
}

/// Returns the module of one kernel after a build, with image accesses expanded for the formats and samplers of the
/// key. An interpreter can execute it.
///
/// # Errors
///
/// Fails if the kernel does not exist or selects an image at run time.
pub fn expand_images(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<ir::Module> {
    let mut module = of_kernel(module, kernel)?;
    Driver::new(target, key, None).run(&mut module, IMAGES).map_err(|error| error.for_launch(kernel))?;
    Ok(module)
}

/// Whether a build or a launch runs a pass with this name.
pub fn has_pass(name: &str) -> bool {
    [expand::PASS.name, doubles::PASS.name].contains(&name) || passes::find(name).is_some()
}

/// Returns the names of all passes of builds and launches, in no particular order, with repetitions.
pub fn pass_names() -> Vec<&'static str> {
    let mut names = passes::names();
    names.extend([expand::PASS.name, doubles::PASS.name]);
    names
}

/// The passes that expand image accesses. They are not in [`passes`], because they run passes of that module to build
/// library functions.
const IMAGES: &[Step] = &[Step::Pass(&expand::PASS)];

/// The passes that emulate doubles. They are not in [`passes`], because they run passes of that module to build the
/// library functions that emulate operations.
const DOUBLES: &[Step] = &[Step::If(
    Target::emulates_doubles,
    &[Step::IfChanged(
        &[Step::Pass(&doubles::PASS)],
        &[Step::EachFunction(&[Step::Pass(&passes::simplify::PASS), Step::Pass(&passes::renumber::PASS)])],
    )],
)];

/// Returns the module of one kernel: function 0, followed by the helper functions that it calls.
fn of_kernel(module: &ir::Module, kernel: &str) -> LaunchResult<ir::Module> {
    let root = passes::functions(module)
        .find(|func| module.functions[func.index()].kernel.is_some() && module.functions[func.index()].name == kernel)
        .ok_or_else(|| LaunchError::NoKernel(kernel.to_owned()))?;
    passes::subset(module, &[root]).map_err(|error| error.for_launch(kernel))
}

#[cfg(feature = "shaders")]
fn shader(before: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, debug: emit::Debug<'_>) -> LaunchResult<Shader> {
    let mut made = stage("specialise", || Specialised::new(before, kernel, key, target, None))?;
    stage("shader passes", || made.prepare_shader()).map_err(|error| error.for_launch(kernel))?;
    let depends = depends_on_groups(before, &made.module, key, target);
    stage("legalize", || made.legalize()).map_err(|error| error.for_launch(kernel))?;
    let (size, most) = (expanded_size(&made.module), target.shaders.limits.expanded_instructions);
    if size > most {
        return Err(LaunchError::TooLarge { kernel: kernel.to_owned(), size, limit: most });
    }
    let mut shader = emit::detailed_shader(&made.module, key, target, debug)?;
    let is_scratch = |binding: &Binding| matches!(binding.source, BindingSource::Scratch { .. });
    shader.any_local_size = !depends && shader.local_memory == 0 && !shader.bindings.iter().any(is_scratch);
    Ok(shader)
}

/// Compiles a shader for another work-group size. Fails if it differs from `made`, which is marked for all sizes.
#[cfg(feature = "shaders")]
fn check_other_size(made: &Shader, module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<()> {
    let local_size = if key.kernel.local_size == [7, 3, 1] { [64, 1, 1] } else { [7, 3, 1] };
    let key = key.clone().changed(|key| {
        key.kernel.local_size = local_size;
        key.kernel.enqueued_local_size = local_size;
    });
    let mut other = shader(module, kernel, &key, target, emit::Debug::Nothing)?;
    other.set_local_size(made.naga.entry_points.first().map_or([0; 3], |entry_point| entry_point.workgroup_size));
    if other.any_local_size && other.spirv == made.spirv && other.bindings == made.bindings && other.args == made.args {
        return Ok(());
    }
    let message = "the shader is not the same for all work-group sizes".to_owned();
    Err(LaunchError::Internal { kernel: kernel.to_owned(), stage: "launch passes", message })
}

/// Whether the shader may depend on the work-group size. Reasons are `subgroup_coalesce`, an NDRange with several
/// dispatches or a two-dimensional dispatch, and a kernel that depends on its work-group. `before` is the module before
/// all passes. `module` is the module after [`SPECIALISE`] and [`SHADER`], before [`LEGALIZE`].
#[cfg(feature = "shaders")]
fn depends_on_groups(before: &ir::Module, module: &ir::Module, key: &LaunchKey, target: &Target) -> bool {
    let Some(kernel) = module.functions.first() else { return true };
    let is_same = |function: &ir::Function| function.kernel.is_some() && function.name == kernel.name;
    let Some(index) = before.functions.iter().position(is_same) else { return true };
    let is_independent = |module, index: usize| u32::try_from(index).is_ok_and(|index| passes::group_independent(module, Func(index)));
    let exchanges = target.shaders.costs.subgroup_coalescing && passes::subgroup_coalesce::has_wide(kernel);
    exchanges
        || !key.binding.single_dispatch
        || key.binding.two_dimensional_dispatch
        || !is_independent(before, index)
        || !is_independent(module, 0)
}

#[cfg(test)]
mod tests {
    use super::specialise;
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::Source;
    use crate::options::parse_options;
    use crate::target::Target;

    #[test]
    fn a_shader_can_be_changed_to_another_work_group_size() {
        let source = "
            constant int table[5] = {3, 1, 4, 1, 5};
            kernel void independent(global const float *a, global float *out, constant float *c, uint n) {
                size_t i = get_global_id(0), j = get_global_id(1);
                float sum = table[i % 5] + a[i * n] * c[n & 7];
                if (i + j < get_global_size(0)) out[j * get_global_size(0) + i] = sin(sum);
            }";
        let options = parse_options("").expect("no options");
        for target in [Target::full(), Target::lavapipe()] {
            let result = build(&Source { text: source.to_owned(), ..Source::default() }, &options, &target);
            let program = result.program.expect("it builds");
            assert!(program.kernels[0].group_independent);
            for guard in [false, true] {
                let make = |local_size| {
                    let key = LaunchKey::example(&program.module.functions[0], local_size);
                    let key = key.changed(|key| {
                        key.kernel.guard = [guard, false, guard];
                        key.binding.distinct = true;
                    });
                    specialise(&program.module, "independent", &key, &target).expect("a shader")
                };
                let (mut one, other) = (make([64, 1, 1]), make([8, 4, 2]));
                assert!(one.any_local_size);
                assert_ne!(one.spirv, other.spirv);
                one.set_local_size([8, 4, 2]);
                assert!(one.spirv.is_some());
                assert_eq!(one.spirv, other.spirv);
                assert_eq!(one.naga.entry_points[0].workgroup_size, [8, 4, 2]);
                assert_eq!((&one.bindings, &one.args), (&other.bindings, &other.args));
            }
        }
    }

    #[test]
    fn shaders_that_depend_on_work_groups_are_for_one_size() {
        let source = "
            kernel void wide(global const float8 *a, global float8 *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2; }
            kernel void loop_(global const uchar *a, global uint *b, uint n) {
                uint sum = 0;
                for (uint k = 0; k < n; k++) sum += a[get_global_id(0) * n + k];
                b[get_global_id(0)] = sum;
            }
            kernel void sized(global uint *b) { b[get_global_id(0)] = get_local_size(0); }
            kernel void plain(global const int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2; }";
        let options = parse_options("").expect("no options");
        let target = Target::full().changed(|target| target.shaders.costs.subgroup_coalescing = true);
        let result = build(&Source { text: source.to_owned(), ..Source::default() }, &options, &target);
        let program = result.program.expect("it builds");
        for (name, expected) in [("wide", false), ("loop_", true), ("sized", false), ("plain", true)] {
            let function = program.module.functions.iter().find(|function| function.name == name).expect("the kernel");
            for local_size in [[64, 1, 1], [7, 1, 1]] {
                let key = LaunchKey::example(function, local_size).changed(|key| key.binding.distinct = true);
                let shader = specialise(&program.module, name, &key, &target).expect("a shader");
                assert_eq!(shader.any_local_size, expected, "{name}");
                let key = key.changed(|key| key.binding.single_dispatch = false);
                assert!(!specialise(&program.module, name, &key, &target).expect("a shader").any_local_size);
            }
        }
    }
}
