//! Emission of IR in the form that the passes of a launch produce. Each module is verified, legalised and emitted, for
//! Vulkan and in the strict form (`Target::portable`). The strict form must pass naga's full validation, and print in
//! WGSL, MSL and HLSL. `spirv-val` checks the SPIR-V. Other tests run such kernels on a device.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Text, elementwise};
use std::io::Write as _;
use std::process::{Command, Stdio};
use wgcl_compiler::build::build;
use wgcl_compiler::emit::{self, BindingKind, Format, Shader};
use wgcl_compiler::ir::{self, read::read_module};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::passes::legalize;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::specialise::launched;
use wgcl_compiler::target::{FloatControls, Target};

fn strict() -> Target {
    Target::portable().changed(|target| target.language.fused_fma = true)
}

fn parse(text: &str) -> ir::Module {
    let module = read_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Err(errors) = ir::verify::verify(&module) {
        panic!("{errors:?}\n{text}");
    }
    module
}

fn emit_for(module: &ir::Module, target: &Target) -> Result<Shader, LaunchError> {
    let mut module = module.clone();
    legalize::run(&mut module, target);
    if let Err(errors) = ir::verify::verify(&module) {
        panic!("after legalisation: {errors:?}\n{module}");
    }
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]);
    emit::shader(&module, &key, target, true)
}

fn spirv_val(words: &[u32]) {
    let child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| panic!("spirv-val does not start ({error}): `scripts/setup` installs it"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("spirv-val reads");
    let output = child.wait_with_output().expect("spirv-val ends");
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}

/// Emits a module in both forms. Returns the shader for Vulkan. The strict form must print in `languages`.
fn check(text: &str, languages: &[Format]) -> Shader {
    let module = parse(text);
    let controls = FloatControls { signed_zero_inf_nan_preserve: 7, denorm_preserve: 0, rounding_mode_rte: 7 };
    let vulkan = Target::full().changed(|target| target.shaders.float_controls = controls);
    let shader = emit_for(&module, &vulkan).unwrap_or_else(|error| panic!("{error}\n{module}"));
    let words = shader.spirv.as_ref().expect("SPIR-V");
    spirv_val(words);
    let target = strict();
    let other = emit_for(&module, &target).unwrap_or_else(|error| panic!("strict: {error}\n{module}"));
    for &format in languages {
        let printed = emit::print(&other, format, &target).unwrap_or_else(|error| panic!("{format:?}: {error}\n{module}"));
        assert!(printed.contains("fn ") || printed.contains("kernel") || printed.contains("numthreads"), "{printed}");
    }
    shader
}

/// This is not a test. It prints how long emission takes.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let path = std::env::var("IR_SPEED").expect("the path of a module in text form");
    let module = parse(&std::fs::read_to_string(path).expect("a readable file"));
    let target = Target::full();
    for function in module.functions.iter().filter(|function| function.kernel.is_some()) {
        let key = LaunchKey::example(function, [64, 1, 1]);
        let rounds = 50;
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            wgcl_compiler::specialise::launched(&module, &function.name, &key, &target, None).expect("passes");
        }
        let passes = start.elapsed() / rounds;
        let start = std::time::Instant::now();
        let mut words = 0;
        for _ in 0..rounds {
            words = wgcl_compiler::specialise::specialise(&module, &function.name, &key, &target)
                .expect("emission")
                .spirv
                .map_or(0, |s| s.len());
        }
        println!("{}: {:?}, of which passes {passes:?}; {words} words", function.name, start.elapsed() / rounds);
    }
}

const ALL: &[Format] = &[Format::Wgsl, Format::Msl, Format::Hlsl];

#[test]
fn a_simple_kernel() {
    let shader = check(
        r#"
kernel @f0 "add" (%0: ptr.global buffer, %1: ptr.global buffer readonly, %2: i32 value) {
  %3: i32 = workitem.global_id 0
  %4: bool = ult %3, %2
  if %4 {
    %5: i32 = const 2
    %6: i32 = shl %3, %5
    %7: ptr.global = ptr_add %0, %6
    %8: ptr.global = ptr_add %1, %6
    %9: f32 = load %7 align 4
    %10: f32 = load %8 align 4
    %11: f32 = fadd %9, %10
    store %7, %11 align 4
    yield
  } else {
    yield
  }
  return
}"#,
        ALL,
    );
    assert_eq!(shader.bindings.len(), 3);
    assert_eq!(shader.bindings[0].kind, BindingKind::Uniform { size: 80 });
    assert_eq!(shader.entry_point, "add");
}

#[test]
fn unused_arguments_need_no_binding() {
    let shader = check(
        r#"
kernel @f0 "forgets" (%0: ptr.global buffer, %1: i32 value) {
  %2: i32 = const 7
  store %0, %2 align 4
  return
}"#,
        ALL,
    );
    assert_eq!(shader.bindings.len(), 1);
    assert_eq!(shader.bindings[0].kind, BindingKind::Storage);
}

#[test]
#[ignore = "prints a module in all its forms"]
fn dump() {
    let path = std::env::var("IR_DUMP").expect("the path of a module in text form");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let module = parse(&text);
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]);
    for target in [Target::full(), strict()] {
        let name = module.functions[0].name.clone();
        let module = wgcl_compiler::specialise::launched(&module, &name, &key, &target, None).unwrap();
        println!("{module}");
        let shader = emit::shader(&module, &key, &target, true).unwrap();
        let format = if target.shaders.spirv { Format::Spirv } else { Format::Wgsl };
        println!("{}", emit::print(&shader, format, &target).unwrap());
        println!("{:?}", shader.bindings);
    }
}

/// Returns the instructions of a shader for Vulkan, disassembled.
fn assembly(shader: &Shader) -> String {
    emit::print(shader, Format::Spirv, &Target::full()).unwrap()
}

#[test]
fn floats_are_not_contracted_and_inequality_is_unordered() {
    let ops = [("f32", "f32 = fmul A, B; fadd $, A"), ("f32", "fmin A, B"), ("i32", "bool = fne A, B; zext $")];
    let shader = check(&elementwise("f32", &ops), ALL);
    let text = assembly(&shader);
    assert_eq!(text.matches("NoContraction").count(), 2, "{text}");
    assert!(text.contains("OpFUnordNotEqual") && !text.contains("OpFOrdNotEqual"), "{text}");
    assert!(text.contains("NMin"), "{text}");
    assert!(text.contains("SignedZeroInfNanPreserve 32"), "{text}");

    let target = Target::full().changed(|target| target.language.fused_fma = true);
    let shader = emit_for(&parse(&elementwise("f32", &[("f32", "math.fma A, B, A")])), &target).unwrap();
    spirv_val(shader.spirv.as_ref().expect("SPIR-V"));
    let text = assembly(&shader);
    assert!(text.contains(" Fma ") && text.matches("NoContraction").count() == 1, "{text}");
}

/// SwiftShader miscompiles unsigned minima. For such drivers, a comparison and a select replace them.
#[test]
fn minima_are_selects_for_drivers_that_miscompile_them() {
    let text = "kernel @f0 \"k\" (%0: ptr.global buffer) {\n  %1: i32 = load %0 align 4\n  %2: i32 = const 47\n  %3: i32 = umin %1, %2\n  store %0, %3 align 4\n  return\n}\n";
    let has_minimum = |target: &Target| {
        emit_for(&parse(text), target).unwrap().naga.entry_points[0]
            .function
            .expressions
            .iter()
            .any(|(_, expression)| matches!(expression, naga::Expression::Math { fun: naga::MathFunction::Min, .. }))
    };
    assert!(has_minimum(&Target::full()));
    assert!(!has_minimum(&Target::full().changed(|target| target.shaders.defects.unsigned_minima = true)));
}

#[test]
fn every_integer_operation_prints_everywhere() {
    for ty in ["i8", "i16x3", "i32x4", "i64", "i8x16", "i64x8"] {
        let names = "add sub mul sdiv srem udiv urem shl lshr ashr and or xor smin smax umin umax umulhi smulhi saddsat ssubsat uaddsat usubsat rotate";
        let mut rhs: Vec<String> = names.split(' ').map(|name| format!("{name} A, B")).collect();
        rhs.extend(["clz", "ctz", "popcount", "reverse_bits", "sabs"].map(|name| format!("math.{name} A")));
        let ops: Vec<(&str, &str)> = rhs.iter().map(|rhs| (ty, rhs.as_str())).collect();
        check(&elementwise(ty, &ops), ALL);
    }
}

/// Returns a kernel that reads through one pointer and writes through another.
fn mixed_views() -> String {
    let mut t = Text::new(2);
    let id = t.op("i32", "workitem.global_id 0");
    let (vector, word, byte) = (t.element("%0", "global", &id, 16), t.element("%0", "global", &id, 4), t.element("%1", "global", &id, 1));
    let value = t.load("f32x4", &vector, 16);
    let number = t.load("i32", &word, 4);
    let lane = t.op("f32", format!("extract {value}, 2"));
    let lane = t.op("i32", format!("bitcast {lane}"));
    let sum = t.op("i32", format!("add {lane}, {number}"));
    let low = t.op("i8", format!("trunc {sum}"));
    t.store(&byte, &low, 1);
    t.kernel(r#""mixed" (%0: ptr.global buffer readonly, %1: ptr.global buffer)"#)
}

#[test]
fn views_alias_on_vulkan_only() {
    let shader = check(&mixed_views(), ALL);
    // There are views of vectors, words, and atomic words (for bytes).
    assert_eq!(shader.naga.global_variables.len(), 3);
    assert_eq!(shader.bindings.len(), 2);
    assert_eq!(assembly(&shader).matches(" Aliased").count(), 3);
    let other = emit_for(&parse(&mixed_views()), &strict()).unwrap();
    assert_eq!(other.naga.global_variables.len(), 2);
}

/// Returns a kernel with loads of every width. With `store`, it also stores a word to the same buffer.
fn loads(store: bool) -> String {
    let mut t = Text::new(2);
    let id = t.op("i32", "workitem.global_id 0");
    let mut sum = t.int(0);
    for (ty, size) in
        [("i8", 1), ("i16", 2), ("i16x2", 4), ("i16x4", 8), ("i32", 4), ("i32x2", 8), ("i32x4", 16), ("i64", 8), ("i64x2", 16)]
    {
        let pointer = t.element("%0", "global", &id, size);
        let mut value = t.load(ty, &pointer, size);
        let scalar = ty.split('x').next().unwrap();
        if scalar != ty {
            value = t.op(scalar, format!("extract {value}, 1"));
        }
        value = match scalar {
            "i64" => t.op("i32", format!("trunc {value}")),
            "i32" => value,
            _ => t.op("i32", format!("zext {value}")),
        };
        sum = t.op("i32", format!("add {sum}, {value}"));
    }
    let pointer = t.element("%1", "global", &id, 4);
    t.store(&pointer, &sum, 4);
    if store {
        let pointer = t.element("%0", "global", &id, 4);
        t.store(&pointer, &sum, 4);
    }
    t.kernel(r#""loads" (%0: ptr.global buffer, %1: ptr.global buffer)"#)
}

#[test]
fn unaliased_read_only_buffers_are_decorated() {
    let written = |store, distinct| {
        let module = parse(&loads(store));
        let key = LaunchKey::example(&module.functions[0], [64, 1, 1]).changed(|key| key.binding.distinct = distinct);
        let shader = emit::shader(&module, &key, &Target::full(), true).unwrap();
        spirv_val(shader.spirv.as_ref().expect("SPIR-V"));
        let text = assembly(&shader);
        let views =
            shader.naga.global_variables.iter().filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. }));
        (views.count() - text.matches(" NonWritable").count(), text.matches(" Aliased").count())
    };
    let (all, aliased) = written(false, false);
    assert_eq!(aliased, all);
    // There is one view of the written buffer. The views of the other buffer are read-only.
    assert_eq!(written(false, true), (1, 0));
    let (views, aliased) = written(true, true);
    assert_eq!((views, aliased), (all, all - 1));
}

#[test]
fn bytes_of_private_arrays_take_half_words() {
    let text = r#"
kernel @f0 "k" (%0: ptr.global buffer, %1: i32 value) {
  var $0 "bytes" size=24 align=1
  %2: ptr.private = var_addr $0
  %3: ptr.private = ptr_add %2, %1
  %4: i8 = const 7
  store %3, %4 align 1
  %5: i8 = load %2 align 1
  store %0, %5 align 1
  return
}"#;
    let text = assembly(&check(text, &[Format::Wgsl, Format::Msl, Format::Hlsl]));
    let half =
        text.lines().find(|line| line.contains("OpTypeInt 16 0")).and_then(|line| line.split_whitespace().next()).expect("half words");
    assert!(text.lines().any(|line| line.contains("OpTypeArray") && line.split_whitespace().any(|word| word == half)), "{text}");
    // Emission removes the initialiser of the variable, because OpenCL C does not require it.
    assert!(text.lines().any(|line| line.contains("OpVariable") && line.trim_end().ends_with("Function")), "{text}");
}

#[test]
fn missing_device_features_are_errors() {
    let module = parse(&mixed_views());
    let few = Target::full().changed(|target| target.shaders.limits.storage_buffers = 1);
    assert!(matches!(emit_for(&module, &few), Err(LaunchError::Limit { what: "storage buffers", needed: 2, limit: 1, .. })));
    let module = parse(&elementwise("f64", &[("f64", "fadd A, B")]));
    let single = Target::full().changed(|target| {
        target.language.fp64 = false;
        target.shaders.fp64 = false;
    });
    assert!(matches!(emit_for(&module, &single), Err(LaunchError::Unsupported { .. })));
    let text = parse(
        "global @g0 \"big\" local size=65536 align=4
kernel @f0 \"local\" () {
  %0: ptr.local = global_addr @g0
  %1: i32 = const 1
  store %0, %1 align 4
  return
}",
    );
    assert!(matches!(emit_for(&text, &Target::full()), Err(LaunchError::Limit { what: "bytes of local memory", .. })));
}

#[test]
fn deep_nesting_is_supported() {
    let mut t = Text::new(2);
    let id = t.op("i32", "workitem.global_id 0");
    let depth = 200;
    for level in 0..depth {
        let limit = t.int(level);
        let more = t.op("bool", format!("ugt {id}, {limit}"));
        t.line(format!("if {more} {{"));
    }
    let place = t.element("%0", "global", &id, 4);
    t.store(&place, &id, 4);
    for _ in 0..depth {
        t.line("yield\n} else {\nyield\n}");
    }
    check(&t.kernel(r#""deep" (%0: ptr.global buffer, %1: i32 value)"#), &[]);
}

/// Emits a kernel that accesses memory by address, if the target and the key permit it.
fn by_address(text: &str, target: &Target, all: bool) -> Shader {
    let module = parse(text);
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]).changed(|key| key.binding.addresses = all);
    let shader = emit::shader(&module, &key, target, true).unwrap_or_else(|error| panic!("{error}\n{module}"));
    spirv_val(shader.spirv.as_ref().expect("SPIR-V"));
    shader
}

/// Returns the number of storage buffers that a shader binds.
fn storage(shader: &Shader) -> usize {
    shader.bindings.iter().filter(|binding| binding.kind == BindingKind::Storage).count()
}

const UPDATE: &str = r#"kernel @f0 "k" (%0: ptr.global buffer, %1: ptr.global buffer, %2: ptr.global buffer) {
  %3: i32 = workitem.global_id 0
  %4: i32 = const 2
  %5: i32 = shl %3, %4
  %6: ptr.global = ptr_add %0, %5
  %7: f32 = load %6 align 4
  %8: ptr.global = ptr_add %1, %5
  %9: f32 = load %8 align 4
  %10: f32 = fadd %7, %9
  store %8, %10 align 4
  %11: ptr.global = ptr_add %2, %3
  %12: i8 = trunc %3
  store %11, %12 align 1
  %13: i32 = atomic.add i32 %0, %4
  return
}
"#;

#[test]
fn buffers_by_address_need_no_bindings() {
    let shader = by_address(UPDATE, &Target::full(), true);
    assert_eq!(storage(&shader), 0, "{:?}", shader.bindings);
    assert_eq!(shader.args.addresses, [Some(64), Some(72), Some(80)]);
    // The argument buffer is still bound.
    assert_eq!(shader.bindings.len(), 1, "{:?}", shader.bindings);
}

#[test]
fn only_updated_buffers_are_accessed_by_address_if_that_is_faster() {
    let shader = by_address(UPDATE, &Target::nvidia(), false);
    assert_eq!((storage(&shader), &shader.args.addresses[..]), (2, &[None, Some(64), None][..]));
    let shader = by_address(UPDATE, &Target::full(), false);
    assert_eq!((storage(&shader), &shader.args.addresses[..]), (3, &[][..]));
    // A device without buffer addresses binds all buffers.
    let target = Target::nvidia().changed(|target| target.shaders.addresses = false);
    assert_eq!(storage(&by_address(UPDATE, &target, false)), 3);
}

/// If a buffer has more than 2 GiB, the product of a signed 32-bit index and an element size has 64 bits. Otherwise, it
/// has 32 bits.
#[test]
fn indices_of_32_bits_address_more_than_2_gib() {
    let text = "kernel void k(global uint *p, int from) { int i = get_global_id(0); p[from + i] = i; }".to_owned();
    let target = Target::nvidia();
    let built = build(&Source { text, ..Source::default() }, &BuildOptions::default(), &target);
    let module = built.program.ok_or(built.log).unwrap().module;
    for large in [false, true] {
        let key = LaunchKey::example(&module.functions[0], [64, 1, 1])
            .changed(|key| (key.binding.addresses, key.kernel.large_offsets) = (true, large));
        let text = launched(&module, "k", &key, &target, None).unwrap().to_string();
        let scaled = |ty: &str| text.contains(&format!(": {ty} = shl ")) || text.contains(&format!(": {ty} = mul "));
        assert_eq!((scaled("i32"), scaled("i64")), (!large, large), "{text}");
    }
}
