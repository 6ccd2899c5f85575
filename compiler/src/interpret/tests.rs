//! Small modules in text form, run.

use super::{Argument, Fault, FaultKind, Memory, NdRange, ObjectId, Place, Program, Settings, Stage};
use crate::ir::read::read_module;
use crate::ir::verify::verify;
use crate::target::Target;

/// Runs kernel `k` of one buffer over so many work-items in one group.
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
    let arguments = [Argument::Buffer(Some(Place { object, offset: 0 }))];
    program.launch(&instance, "k", &arguments, &NdRange::linear(items, items), &mut memory, &mut Vec::new())?;
    let bytes = memory.get(object).expect("the buffer");
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

fn settings() -> Settings {
    Settings::new(Stage::Built, &Target::full())
}

#[test]
fn loop_parameters_change_places_at_once() {
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
fn barriers_hold_a_group_together() {
    let text = r#"
global @g0 "room" local size=16 align=4
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
fn undefined_values_are_what_was_asked_for() {
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
