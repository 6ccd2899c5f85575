//! Runs small modules in text form.

use super::{Argument, Fault, FaultKind, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use crate::ir::read::read_module;
use crate::ir::verify::verify;
use crate::target::Target;

/// Runs kernel `k` with one buffer and one group of `items` work-items. Returns the words of the buffer.
fn run(text: &str, items: u32, words: &[u32], settings: Settings) -> Result<Vec<u32>, Fault> {
    let module = read_module(text).expect("a module");
    assert_eq!(verify(&module), Ok(()));
    let program = Program::new(&module, settings);
    let mut memory = Memory::default();
    let mut last = 0;
    let mut name = || {
        last += 1;
        ObjectId::new(last)
    };
    let object = name().expect("a name");
    memory.insert(object, words.iter().flat_map(|word| word.to_le_bytes()).collect(), false);
    let instance = program.instantiate(&mut memory, &mut name).expect("names");
    let arguments = [Argument::Buffer(Some(MemoryLocation { object, offset: 0 }))];
    program.launch(&instance, "k", &arguments, &NdRange::linear(items, items), &mut memory, &mut Vec::new())?;
    let bytes = memory.get(object).expect("the buffer");
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

fn settings() -> Settings {
    Settings::new(Stage::Built, &Target::full())
}

#[test]
fn loop_parameters_are_assigned_in_parallel() {
    let text = r#"
kernel @f0 "k" (%0: ptr.global buffer) {
  %1: i32 = const 0
  %2: i32 = const 1
  %3: i32 = const 10
  %4: i32 = loop (%5: i32 = %1, %6: i32 = %2, %7: i32 = %1) {
    %8: bool = ult %7, %3
    if %8 {
      yield
    } else {
      break %5
    }
    %9: i32 = add %7, %2
    continue %6, %5, %9
  }
  store %0, %4 align 4
  return
}"#;
    assert_eq!(run(text, 1, &[9], settings()), Ok(vec![0]));
    assert_eq!(run(&text.replace("const 10", "const 11"), 1, &[9], settings()), Ok(vec![1]));
    let endless = text.replace("ult %7, %3", "uge %7, %1");
    let fault = run(&endless, 1, &[9], Settings { fuel: 1000, ..settings() });
    assert_eq!(fault.map_err(|fault| fault.kind), Err(FaultKind::OutOfFuel));
}

#[test]
fn accesses_are_checked() {
    let text = |offset: i32, align: u32| {
        format!(
            r#"
kernel @f0 "k" (%0: ptr.global buffer) {{
  %1: i32 = const {offset}
  %2: ptr.global = ptr_add %0, %1
  %3: i32 = load %2 align {align}
  store %0, %3 align 4
  return
}}"#
        )
    };
    assert_eq!(run(&text(4, 4), 1, &[0, 7], settings()), Ok(vec![7, 7]));
    assert_eq!(run(&text(2, 2), 1, &[0, 7], settings()), Ok(vec![7 << 16, 7]));
    let kind = |offset, align| run(&text(offset, align), 1, &[0, 7], settings()).map_err(|fault| fault.kind);
    assert_eq!(kind(2, 4), Err(FaultKind::Misaligned { offset: 2, align: 4 }));
    assert_eq!(kind(6, 2), Err(FaultKind::OutOfBounds { offset: 6, size: 4, length: 8 }));
    let fault = run(&text(8, 4), 1, &[0, 7], settings()).expect_err("it is out of bounds");
    assert_eq!((fault.function.map(|(name, _)| name).as_deref(), fault.item), (Some("k"), Some([0, 0, 0])));
}

#[test]
fn barriers_synchronise_a_group() {
    let text = r#"
global @g0 "memory" local size=16 align=4
kernel @f0 "k" (%0: ptr.global buffer) {
  %1: i32 = workitem.local_id 0
  %2: i32 = const 2
  %3: i32 = const 1
  %4: i32 = const 3
  %5: i32 = shl %1, %2
  %6: ptr.local = global_addr @g0
  %7: ptr.local = ptr_add %6, %5
  store %7, %1 align 4
  barrier local
  %8: i32 = add %1, %3
  %9: i32 = and %8, %4
  %10: i32 = shl %9, %2
  %11: ptr.local = ptr_add %6, %10
  %12: i32 = load %11 align 4
  %13: ptr.global = ptr_add %0, %5
  store %13, %12 align 4
  return
}"#;
    assert_eq!(run(text, 4, &[9; 4], settings()), Ok(vec![1, 2, 3, 0]));
    let apart = text
        .replace("  barrier local\n", "  %20: bool = ult %1, %2\n  if %20 {\n    barrier local\n    yield\n  } else {\n    yield\n  }\n");
    assert_eq!(run(&apart, 4, &[9; 4], settings()).map_err(|fault| fault.kind), Err(FaultKind::Divergence));
}

#[test]
fn undefined_values_are_the_requested_ones() {
    let text = r#"
kernel @f0 "k" (%0: ptr.global buffer) {
  var $0 "x" size=4 align=4
  %1: ptr.private = var_addr $0
  %2: i32 = load %1 align 4
  store %0, %2 align 4
  return
}"#;
    assert_eq!(run(text, 1, &[0], Settings { undefined: 0x5a, ..settings() }), Ok(vec![0x5a5a_5a5a]));
}

/// A kernel with `body`, which must define `%9`. Each work-item stores it. `%1` is the index in the group, `%2` to `%8`
/// are 0 to 6.
fn each(body: &str) -> String {
    let constants: String = (0..7).map(|n| format!("%{}: i32 = const {n}\n", n + 2)).collect();
    format!(
        "kernel @f0 \"k\" (%0: ptr.global buffer) {{\n%1: i32 = workitem.local_id 0\n{constants}{body}\n%90: i32 = shl %1, %4\n%91: ptr.global = ptr_add %0, %90\nstore %91, %9 align 4\nreturn\n}}"
    )
}

fn lanes(body: &str, items: u32, lanes: u32) -> Result<Vec<u32>, FaultKind> {
    run(&each(body), items, &vec![99; items as usize], Settings { lanes, ..settings() }).map_err(|fault| fault.kind)
}

#[test]
fn subgroups_have_lanes() {
    // The last subgroup has two work-items.
    assert_eq!(lanes("%10: i32 = group sub scan_inclusive add, %1 %9: i32 = add %10, %2", 6, 4), Ok(vec![0, 1, 3, 6, 4, 9]));
    assert_eq!(lanes("%9: i32 = group sub scan_exclusive smax, %1", 6, 4).map(|words| words[5]), Ok(4));
    assert_eq!(lanes("%9: i32 = group sub shuffle_xor, %1, %3", 6, 4), Ok(vec![1, 0, 3, 2, 5, 4]));
    assert_eq!(lanes("%9: i32 = group sub shuffle_down, %1, %4", 6, 4), Ok(vec![2, 3, 0xcdcd_cdcd, 0xcdcd_cdcd, 0xcdcd_cdcd, 0xcdcd_cdcd]));
    assert_eq!(lanes("%9: i32 = workitem.subgroup_id", 6, 4), Ok(vec![0, 0, 0, 0, 1, 1]));
    assert_eq!(lanes("%9: i32 = workitem.num_subgroups", 6, 4), Ok(vec![2; 6]));
    let odd = "%10: i32 = and %1, %3 %11: bool = ne %10, %2 ";
    let ballot = format!("{odd} %12: i32x4 = group sub ballot, %11 %9: i32 = extract %12, 0");
    assert_eq!(lanes(&ballot, 6, 4), Ok(vec![0b1010, 0b1010, 0b1010, 0b1010, 0b10, 0b10]));
    assert_eq!(lanes(&ballot, 6, 1), Ok(vec![0, 1, 0, 1, 0, 1]));
    // Clusters of two.
    let clustered = "%9: i32 = group sub active_reduce add, %1, %4";
    assert_eq!(lanes(clustered, 6, 4), Ok(vec![1, 1, 5, 5, 9, 9]));
}

#[test]
fn subgroups_diverge_and_reconverge() {
    let odd = "%10: i32 = and %1, %3 %11: bool = ne %10, %2 ";
    let apart = format!(
        "{odd} %12: i32 = if %11 {{ %13: i32 = group sub broadcast_first, %1 yield %13 }} else {{ yield %8 }}
         %14: i32 = group sub active_reduce add, %12, %8 %9: i32 = add %14, %2"
    );
    assert_eq!(lanes(&apart, 4, 4), Ok(vec![14; 4]), "twice 1 and twice 6");
    // The number of iterations is the index of the work-item plus 1. Each iteration has a subgroup operation.
    let iterations = "%10: i32 = loop (%11: i32 = %2, %12: i32 = %2) {
        %13: bool = ule %11, %1
        if %13 { yield } else { break %12 }
        %14: i32 = group sub active_reduce add, %3, %8
        %15: i32 = add %12, %14
        %16: i32 = add %11, %3
        continue %16, %15
      }
      %17: i32 = group sub active_reduce add, %3, %8 %9: i32 = add %10, %17";
    assert_eq!(lanes(iterations, 4, 4), Ok(vec![8, 11, 13, 14]));
    let some = format!("{odd} if %11 {{ group sub barrier yield }} else {{ yield }} %9: i32 = add %1, %2");
    assert_eq!(lanes(&some, 4, 4), Err(FaultKind::NotAllOfSubgroup));
    let sum = format!("{odd} %9: i32 = if %11 {{ %13: i32 = group sub reduce add, %1 yield %13 }} else {{ yield %1 }}");
    assert_eq!(lanes(&sum, 4, 4), Err(FaultKind::NotAllOfSubgroup));
    let launched = run(&each(&sum), 4, &[9; 4], Settings { lanes: 4, ..Settings::new(Stage::Launched, &Target::full()) });
    assert_eq!(launched.map_err(|fault| fault.kind), Ok(vec![0, 4, 2, 4]), "of the active ones");
}
