//! Loops, switches, jumps out of loops and switches, and calls of functions.

use crate::common::{ALL, device};
use crate::{TWO, execute};

fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

fn check(text: &str, items: u32, expected: impl Fn(u32) -> u32) {
    let want: Vec<u8> = (0..items).flat_map(|id| expected(id).to_le_bytes()).collect();
    for settings in ALL {
        let out = execute(&device(settings), text, &[numbers(items), vec![0; items as usize * 4]], &[], u64::from(items), 8);
        let got: Vec<u32> = out[1].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let want: Vec<u32> = want.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(got, want, "{settings:?}");
    }
}

/// Returns a kernel `out[id] = f(in[id])`. `body` computes `%9` from `%5`. It may define values from `%10` on.
fn unary(body: &str) -> String {
    format!(
        r#"kernel @f0 "unary" ({TWO}) {{
  %2: i32 = workitem.global_id 0
  %3: i32 = const 2
  %6: i32 = shl %2, %3
  %4: ptr.global = ptr_add %0, %6
  %5: i32 = load %4 align 4
  {body}
  %8: ptr.global = ptr_add %1, %6
  store %8, %9 align 4
  return
}}
"#
    )
}

#[test]
fn collatz_steps() {
    let text = unary(
        "%20: i32 = const 0
  %21: i32 = const 1
  %22: i32 = const 3
  %9: i32 = loop (%10: i32 = %5, %11: i32 = %20) {
    %12: bool = ule %10, %21
    if %12 {
      break %11
    } else {
      yield
    }
    %13: i32 = and %10, %21
    %14: bool = ne %13, %20
    %15: i32 = if %14 {
      %16: i32 = mul %10, %22
      %17: i32 = add %16, %21
      yield %17
    } else {
      %18: i32 = lshr %10, %21
      yield %18
    }
    %19: i32 = add %11, %21
    continue %15, %19
  }",
    );
    check(&text, 128, |mut n| {
        let mut steps = 0;
        while n > 1 {
            n = if n % 2 == 1 { n * 3 + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    });
}

#[test]
fn break_and_continue_inside_a_switch() {
    // sum = 0; for (i = 0;; i++) switch ((x + i) % 8) { 0: break out; 1, 5: continue; 2: sum += 10; default: sum += i }
    // Each iteration without `continue` also increments `sum`.
    let text = unary(
        "%20: i32 = const 0
  %21: i32 = const 1
  %22: i32 = const 7
  %23: i32 = const 10
  %9: i32 = loop (%10: i32 = %20, %11: i32 = %20) {
    %12: i32 = add %5, %10
    %13: i32 = and %12, %22
    %14: i32 = add %10, %21
    %15: i32 = switch %13 {
      case 0 {
        break %11
      }
      case 1, 5 {
        continue %14, %11
      }
      case 2 {
        %16: i32 = add %11, %23
        yield %16
      }
      default {
        %17: i32 = add %11, %10
        yield %17
      }
    }
    %18: i32 = add %15, %21
    continue %14, %18
  }",
    );
    check(&text, 64, |x| {
        let mut sum = 0;
        let mut i = 0;
        loop {
            match (x + i) & 7 {
                0 => return sum,
                1 | 5 => {
                    i += 1;
                    continue;
                }
                2 => sum += 10,
                _ => sum += i,
            }
            sum += 1;
            i += 1;
        }
    });
}

#[test]
fn nested_loops_and_switches() {
    // The inner loop is left from within two switches. The outer loop continues.
    let text = unary(
        "%20: i32 = const 0
  %21: i32 = const 1
  %22: i32 = const 3
  %24: i32 = const 100
  %9: i32 = loop (%10: i32 = %20, %11: i32 = %20) {
    %12: bool = ugt %10, %22
    if %12 {
      break %11
    } else {
      yield
    }
    %25: i32 = and %10, %21
    %26: i32 = switch %25 {
      case 1 {
        %13: i32 = loop (%14: i32 = %20) {
          %15: i32 = add %5, %14
          %16: i32 = and %15, %22
          switch %16 {
            case 3 {
              switch %10 {
                case 1 {
                  break %14
                }
                default {
                  %30: i32 = add %14, %24
                  break %30
                }
              }
              yield
            }
            default {
              yield
            }
          }
          %17: i32 = add %14, %21
          continue %17
        }
        %27: i32 = add %11, %13
        yield %27
      }
      default {
        %28: i32 = add %11, %21
        yield %28
      }
    }
    %18: i32 = add %10, %21
    continue %18, %26
  }",
    );
    check(&text, 64, |x| {
        let mut sum = 0;
        for i in 0..4 {
            if i & 1 == 1 {
                let mut j = 0;
                while (x + j) & 3 != 3 {
                    j += 1;
                }
                sum += if i == 1 { j } else { j + 100 };
            } else {
                sum += 1;
            }
        }
        sum
    });
}

#[test]
fn loop_parameters_are_swapped() {
    // Fibonacci: both carried values are replaced at once.
    let text = unary(
        "%20: i32 = const 0
  %21: i32 = const 1
  %9: i32 = loop (%10: i32 = %20, %11: i32 = %21, %12: i32 = %20) {
    %13: bool = uge %12, %5
    if %13 {
      break %10
    } else {
      yield
    }
    %14: i32 = add %10, %11
    %15: i32 = add %12, %21
    continue %11, %14, %15
  }",
    );
    check(&text, 40, |n| {
        let (mut a, mut b) = (0_u32, 1_u32);
        for _ in 0..n {
            (a, b) = (b, a.wrapping_add(b));
        }
        a
    });
}

#[test]
fn switches_on_64_bits_and_early_returns() {
    let text = unary(
        "%20: i64 = const 4294967296
  %21: i64 = zext %5
  %22: i64 = mul %21, %20
  %23: i32 = const 7
  %9: i32 = switch %22 {
    case 0, 8589934592 {
      %24: i32 = const 11
      yield %24
    }
    case 12884901888 {
      return
    }
    default {
      %25: i32 = add %5, %23
      yield %25
    }
  }",
    );
    check(&text, 64, |x| match x {
        0 | 2 => 11,
        3 => 0,
        _ => x + 7,
    });
}

#[test]
fn helpers_with_wide_vectors_and_ids() {
    let text = format!(
        r#"kernel @f0 "calls" ({TWO}) {{
  %2: i32 = workitem.global_id 0
  %3: i32 = const 2
  %4: i32 = shl %2, %3
  %5: i32x8 = splat %2
  %6: i32x8 = call @f1, %5, %2
  %7: i32 = extract %6, 7
  %8: i32 = extract %6, 2
  %9: i32 = add %7, %8
  %10: ptr.global = ptr_add %1, %4
  store %10, %9 align 4
  return
}}

func @f1 "wide" (%0: i32x8, %1: i32) -> i32x8 noinline {{
  %2: i32x8 = const [0, 1, 2, 3, 4, 5, 6, 7]
  %3: i32x8 = mul %0, %2
  %4: i32 = call @f2, %1
  %5: i32x8 = splat %4
  %6: i32x8 = add %3, %5
  return %6
}}

func @f2 "local" (%0: i32) -> i32 noinline {{
  %1: i32 = workitem.local_id 0
  %2: i32 = const 1000
  %3: i32 = mul %1, %2
  return %3
}}
"#
    );
    check(&text, 64, |id| id * 7 + id * 2 + id % 8 * 2000);
}

#[test]
fn long_loops_run_to_completion() {
    // Some drivers stop after 65,535 iterations. This loop has more than 300,000 iterations.
    let text = unary(
        "%20: i32 = const 0
  %21: i32 = const 1
  %22: i32 = const 300000
  %23: i32 = add %22, %5
  %9: i32 = loop (%10: i32 = %20, %11: i32 = %20) {
    %12: bool = uge %10, %23
    if %12 {
      break %11
    } else {
      yield
    }
    %13: i32 = xor %11, %10
    %14: i32 = add %10, %21
    continue %14, %13
  }",
    );
    check(&text, 8, |x| (0..300_000 + x).fold(0, |sum, i| sum ^ i));
}
