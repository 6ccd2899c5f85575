//! Runs `tests/sema/*.cl` through the front end.
//!
//! A line `// build: OPTIONS` contains build options. With `// device: portable`, the device has no acquire and release
//! operations. The default device has all features. Each line that ends in `// error: TEXT` is checked without the
//! other such lines. The front end must reject it, with errors only at this line, and with a message that contains the
//! text. A file without such lines must be accepted.

use std::path::Path;

use wgcl_compiler::diag::Severity;
use wgcl_compiler::front::{FrontEnd, TypedProgram};
use wgcl_compiler::options;
use wgcl_compiler::program::Source;
use wgcl_compiler::target::Target;

/// Returns the line and the text of every error.
fn errors(text: &str, options: &str, target: &Target) -> Vec<(usize, String)> {
    let options = options::parse_words(options.split_whitespace().map(str::to_owned)).expect("options of the test");
    let source = Source { text: text.to_owned(), ..Default::default() };
    let mut front = FrontEnd::new(&source, &options, target);
    let program = front.check();
    assert_eq!(program.is_none(), front.diags.has_errors());
    front
        .diags
        .list()
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| (front.map.locate(d.span).map_or(0, |at| at.line as usize), d.message.clone()))
        .collect()
}

fn check(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("readable test");
    let lines: Vec<&str> = text.lines().collect();
    let options = lines.iter().find_map(|l| l.strip_prefix("// build: ")).unwrap_or("");
    let target = if lines.contains(&"// device: portable") { Target::portable() } else { Target::full() };
    let is_wrong = |line: &str| line.contains("// error: ");
    let base: Vec<&str> = lines.iter().map(|l| if is_wrong(l) { "" } else { *l }).collect();
    let mut failures = Vec::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for (line, message) in errors(&base.join("\n"), options, &target) {
        failures.push(format!("{name}:{line}: unexpected: {message}"));
    }
    for (index, line) in lines.iter().enumerate().filter(|(_, l)| is_wrong(l)) {
        let mut source = base.clone();
        source[index] = line;
        let found = errors(&source.join("\n"), options, &target);
        let wanted: Vec<&str> = line.split("// error: ").skip(1).map(str::trim).collect();
        let matches =
            found.len() == wanted.len() && found.iter().zip(&wanted).all(|((at, text), want)| *at == index + 1 && text.contains(want));
        if !matches {
            failures.push(format!("{name}:{}: expected {wanted:?}, found {found:?}", index + 1));
        }
    }
    failures
}

#[test]
fn programs_are_accepted_or_rejected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sema");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the tests").filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "cl"));
    paths.sort();
    assert!(!paths.is_empty());
    // The front end is recursive, so the thread has the stack size of a build.
    let run = move || paths.iter().flat_map(|path| check(path)).collect::<Vec<_>>();
    let failures = std::thread::Builder::new().stack_size(256 << 20).spawn(run).expect("a thread").join().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn multisample_images_require_the_extension() {
    let text = "#ifdef cl_khr_gl_msaa_sharing\n#error macro\n#endif\nkernel void k(read_only image2d_msaa_t a) {}\n\
                kernel void n(read_only image2d_t a) { get_image_num_samples(a); }";
    let without = Target::full().changed(|target| target.language.multisample_images = false);
    // The extension requires another.
    let hidden = Target::full().with_extension_changes(vec!["-cl_khr_gl_depth_images".to_owned()]);
    for target in [without, hidden] {
        let found = errors(text, "-cl-std=CL3.0", &target);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].0, 4);
        assert!(found[0].1.contains("use of type 'image2d_msaa_t' requires cl_khr_gl_msaa_sharing support"), "{found:?}");
        assert!(found[1].0 == 5 && found[1].1.contains("get_image_num_samples"), "{found:?}");
    }
}

/// Returns the typed tree of a correct source.
fn checked(text: &str) -> TypedProgram {
    let options = options::parse_words(std::iter::empty()).expect("no options");
    let target = Target::full();
    let source = Source { text: text.to_owned(), ..Default::default() };
    let mut front = FrontEnd::new(&source, &options, &target);
    front.check().unwrap_or_else(|| unreachable!("{:?}", front.diags.list()))
}

#[test]
fn kernels_are_described() {
    use wgcl_compiler::ir::{KernelParam, Space};
    let program = checked(
        "typedef struct { int a; float4 b; } S; typedef unsigned int word;
         __attribute__((reqd_work_group_size(8, 2, 1))) __attribute__((vec_type_hint(float4)))
         kernel void k(global const unsigned int *restrict a, local float3 *b, constant char *c, S d, float3 e, global volatile word *f)
         { local int x[5]; local char y; local long z; x[0] = y = z = 1; }",
    );
    let [(_, info)] = program.kernels.as_slice() else { unreachable!("one kernel") };
    assert_eq!(info.name, "k");
    assert_eq!(info.attributes, "reqd_work_group_size(8,2,1) vec_type_hint(float4)");
    assert_eq!(info.reqd_work_group_size, Some([8, 2, 1]));
    assert_eq!(info.local_memory, 32);
    let types: Vec<_> = info.args.iter().map(|a| a.type_name.as_str()).collect();
    assert_eq!(types, ["uint*", "float3*", "char*", "S", "float3", "word*"]);
    let spaces: Vec<_> = info.args.iter().map(|a| a.address).collect();
    assert_eq!(spaces, [Space::Global, Space::Local, Space::Constant, Space::Private, Space::Private, Space::Global]);
    assert!(info.args[0].is_const && info.args[0].is_restrict && info.args[2].is_const && info.args[5].is_volatile);
    assert_eq!(info.args[0].passing, KernelParam::Buffer { space: Space::Global, read_only: true, restrict: true });
    assert_eq!(info.args[1].passing, KernelParam::Local { align: 16 });
    assert_eq!(info.args[3].passing, KernelParam::Bytes { size: 32, align: 16 });
    assert_eq!((info.args[3].size, info.args[4].size), (32, 16));
}

#[test]
fn constants_become_bytes() {
    let program = checked(
        "struct P { char c; union { int i; float f; }; short s[3]; };
         constant struct P p[2] = { { 1, { .f = 1.0f }, { [1] = -2 } }, { .s = { 5 }, .c = 'A' } };
         constant float4 v = (float4)(1.0f / 3, 2, (float2)(0x1p-3f)).yxwz * 2;
         constant uint u[] = { ~0u >> 4, (uchar)300, -1, 7 / 2 * 3 % 5, sizeof(struct P), as_uint(1.5f), convert_uchar_sat(-3.5f) };
         constant int *constant q = &((constant int *)u)[2];
         kernel void k(global int *o) { *o = *q + u[0] + p[0].c + (int)v.x; }",
    );
    let bytes = |name: &str| program.globals.iter().find(|g| &*g.name == name).and_then(|g| g.init.clone()).unwrap_or_default();
    let mut expected = vec![1, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0xfe, 0xff, 0, 0, 0, 0];
    expected.extend([b'A', 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes("p"), expected);
    let floats: Vec<u8> = [4.0f32, 2.0 / 3.0, 0.25, 0.25].iter().flat_map(|f| f.to_le_bytes()).collect();
    assert_eq!(bytes("v"), floats);
    let words: Vec<u8> = [0x0fff_ffffu32, 44, u32::MAX, 4, 16, 0x3fc0_0000, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(bytes("u"), words);
    let q = program.globals.iter().find(|g| &*g.name == "q").expect("q");
    assert_eq!(q.relocs.len(), 1);
    assert_eq!((q.relocs[0].at, q.relocs[0].addend), (0, 8));
    assert_eq!(&*program.globals[q.relocs[0].target.index()].name, "u");
}
