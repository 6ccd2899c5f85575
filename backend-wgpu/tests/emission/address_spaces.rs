//! Local, private and constant memory, by-value arguments, and atomics.

use crate::common::{ALL, device, noise};
use crate::kernels::Text;
use crate::{TWO, execute, kernel};
use wgcl_api::backend::{Device, LaunchArg};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn local_memory_of_every_width() {
    for (ty, size) in [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("f32x4", 16), ("i8x4", 4)] {
        // Each work-item stores its element, and loads the mirrored element after a barrier.
        let mut text = kernel("mirror", TWO, 2, |t, id| {
            let local = t.op("i32", "workitem.local_id 0");
            let base = t.op("ptr.local", "global_addr @g0");
            let from = t.element("%0", "global", id, size);
            let value = t.load(ty, &from, size);
            let here = t.element(&base, "local", &local, size);
            t.store(&here, &value, size);
            t.line("barrier local");
            let last = t.int(63);
            let other = t.op("i32", format!("sub {last}, {local}"));
            let there = t.element(&base, "local", &other, size);
            let value = t.load(ty, &there, size);
            let to = t.element("%1", "global", id, size);
            t.store(&to, &value, size);
        });
        text.insert_str(0, &format!("global @g0 \"tile\" local size={} align=16\n", size * 64));
        let input = noise(size as usize * 256, size);
        let expected: Vec<u8> = input
            .chunks(size as usize * 64)
            .flat_map(|group| group.chunks(size as usize).rev().flatten().copied().collect::<Vec<_>>())
            .collect();
        for settings in ALL {
            let out = execute(&device(settings), &text, &[input.clone(), vec![0; input.len()]], &[], 256, 64);
            assert!(out[1] == expected, "{ty} on {settings:?}");
        }
    }
}

#[test]
fn local_memory_of_mixed_widths() {
    // All work-items of a group store bytes, then load words.
    let mut text = kernel("mixed", TWO, 2, |t, id| {
        let local = t.op("i32", "workitem.local_id 0");
        let base = t.op("ptr.local", "global_addr @g0");
        let from = t.element("%0", "global", id, 1);
        let value = t.load("i8", &from, 1);
        let here = t.element(&base, "local", &local, 1);
        t.store(&here, &value, 1);
        t.line("barrier local");
        let two = t.int(2);
        let word = t.op("i32", format!("lshr {local}, {two}"));
        let place = t.element(&base, "local", &word, 4);
        let value = t.load("i32", &place, 4);
        let to = t.element("%1", "global", id, 4);
        t.store(&to, &value, 4);
    });
    text.insert_str(0, "global @g0 \"tile\" local size=64 align=4\n");
    let input = noise(256, 21);
    let expected: Vec<u8> = (0..256).flat_map(|i| input[i / 4 * 4..i / 4 * 4 + 4].to_vec()).collect();
    for settings in ALL {
        let out = execute(&device(settings), &text, &[input.clone(), vec![0; 1024]], &[], 256, 64);
        assert!(out[1] == expected, "{settings:?}");
    }
}

#[test]
fn private_arrays() {
    // Permutes the work-item's numbers through an array with indices known at run time. The array is small, too large
    // for registers, or too large for local memory.
    for count in [16_u32, 200, 1000] {
        for ty in ["i32", "i8"] {
            let size = if ty == "i32" { 4 } else { 1 };
            let mut t = Text::new(2);
            let id = t.op("i32", "workitem.global_id 0");
            let array = t.op("ptr.private", "var_addr $0");
            let (zero, one, n) = (t.int(0), t.int(1), t.int(u64::from(count)));
            let (i, k) = (t.fresh(), t.fresh());
            t.line(format!("loop ({i}: i32 = {zero}) {{"));
            let done = t.op("bool", format!("uge {i}, {n}"));
            t.line(format!("if {done} {{\nbreak\n}} else {{\nyield\n}}"));
            let seven = t.int(7);
            let at = t.op("i32", format!("mul {i}, {seven}"));
            let at = t.op("i32", format!("add {at}, {id}"));
            let at = t.op("i32", format!("urem {at}, {n}"));
            let place = t.element(&array, "private", &at, size);
            let value = if size == 4 { i.clone() } else { t.op("i8", format!("trunc {i}")) };
            t.store(&place, &value, size);
            let next = t.op("i32", format!("add {i}, {one}"));
            t.line(format!("continue {next}\n}}"));
            t.line(format!("loop ({k}: i32 = {zero}) {{"));
            let done = t.op("bool", format!("uge {k}, {n}"));
            t.line(format!("if {done} {{\nbreak\n}} else {{\nyield\n}}"));
            let place = t.element(&array, "private", &k, size);
            let value = t.load(ty, &place, size);
            let value = if size == 4 { value } else { t.op("i32", format!("zext {value}")) };
            let row = t.op("i32", format!("mul {id}, {n}"));
            let to = t.op("i32", format!("add {row}, {k}"));
            let to = t.element("%1", "global", &to, 4);
            t.store(&to, &value, 4);
            let next = t.op("i32", format!("add {k}, {one}"));
            t.line(format!("continue {next}\n}}"));
            let text = t.kernel(&format!("\"private\" ({TWO})"));
            let text = text.replacen("{\n", &format!("{{\nvar $0 \"a\" size={} align=4\n", count * size), 1);
            let items = 64_u32;
            let mut expected = vec![0; (items * count) as usize];
            for id in 0..items {
                for i in 0..count {
                    expected[(id * count + (i * 7 + id) % count) as usize] = if size == 4 { i } else { i & 255 };
                }
            }
            for settings in ALL {
                let out =
                    execute(&device(settings), &text, &[vec![0; 4], vec![0; (items * count * 4) as usize]], &[], u64::from(items), 32);
                assert!(words(&out[1]) == expected, "{count} of {ty} on {settings:?}");
            }
        }
    }
}

#[test]
fn by_value_arguments() {
    // out[id] = value + byte + vector.z + struct[id % 8] + (long >> 32). The structure has 16-bit numbers.
    let params = "%0: ptr.global buffer, %1: i32 value, %2: i8 value, %3: i32x3 value, %4: ptr.constant bytes 16 2, %5: i64 value";
    let text = kernel("values", params, 6, |t, id| {
        let byte = t.op("i32", "zext %2");
        let z = t.op("i32", "extract %3, 2");
        let seven = t.int(7);
        let index = t.op("i32", format!("and {id}, {seven}"));
        let place = t.element("%4", "constant", &index, 2);
        let short = t.load("i16", &place, 2);
        let short = t.op("i32", format!("sext {short}"));
        let long = t.op("i64", "const 32");
        let long = t.op("i64", format!("lshr %5, {long}"));
        let long = t.op("i32", format!("trunc {long}"));
        let sum = ["%1", &byte, &z, &short, &long]
            .iter()
            .copied()
            .map(str::to_owned)
            .reduce(|a, b| t.op("i32", format!("add {a}, {b}")))
            .unwrap();
        let to = t.element("%0", "global", id, 4);
        t.store(&to, &sum, 4);
    });
    let shorts: Vec<u8> = (0..8_i16).flat_map(|i| (i * 1000 - 3000).to_le_bytes()).collect();
    let vector: Vec<u8> = [1_u32, 2, 300, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let args = [
        LaunchArg::Value(5_u32.to_le_bytes().to_vec().into()),
        LaunchArg::Value(vec![200].into()),
        LaunchArg::Value(vector.into()),
        LaunchArg::Value(shorts.into()),
        LaunchArg::Value((70_000_u64 << 32).to_le_bytes().to_vec().into()),
    ];
    let expected: Vec<u32> = (0..64).map(|id: i32| (5 + 200 + 300 + (id % 8 * 1000 - 3000) + 70_000) as u32).collect();
    for settings in ALL {
        let out = execute(&device(settings), &text, &[vec![0; 256]], &args, 64, 32);
        assert_eq!(words(&out[0]), expected, "{settings:?}");
    }
}

#[test]
fn atomics_count_every_work_item() {
    // %0: sum, signed minimum, unsigned maximum and float sum. %1: the old sum, and the count of the bin in local
    // memory.
    let mut text = kernel("atomics", TWO, 2, |t, id| {
        let one = t.int(1);
        let at = |t: &mut Text, offset: u64| {
            let offset = t.int(offset);
            t.op("ptr.global", format!("ptr_add %0, {offset}"))
        };
        let (sum, least, most, float) = (at(t, 0), at(t, 4), at(t, 8), at(t, 12));
        let old = t.op("i32", format!("atomic.add i32 {sum}, {one}"));
        let hundred = t.int(100);
        let number = t.op("i32", format!("sub {id}, {hundred}"));
        t.op("i32", format!("atomic.smin i32 {least}, {number}"));
        t.op("i32", format!("atomic.umax i32 {most}, {number}"));
        let half = t.op("f32", "const 0x3f000000");
        t.op("f32", format!("atomic.fadd f32 {float}, {half}"));
        let base = t.op("ptr.local", "global_addr @g0");
        let local = t.op("i32", "workitem.local_id 0");
        let seven = t.int(7);
        let bin = t.op("i32", format!("and {id}, {seven}"));
        let zero = t.int(0);
        let eight = t.int(8);
        let first = t.op("bool", format!("ult {local}, {eight}"));
        t.line(format!("if {first} {{"));
        let place = t.element(&base, "local", &local, 4);
        t.store(&place, &zero, 4);
        t.line("yield\n} else {\nyield\n}\nbarrier local");
        let place = t.element(&base, "local", &bin, 4);
        t.op("i32", format!("atomic.add i32 {place}, {one}"));
        t.line("barrier local");
        let place = t.element(&base, "local", &bin, 4);
        let total = t.load("i32", &place, 4);
        let shift = t.int(16);
        let total = t.op("i32", format!("shl {total}, {shift}"));
        let both = t.op("i32", format!("or {total}, {old}"));
        let to = t.element("%1", "global", id, 4);
        t.store(&to, &both, 4);
    });
    text.insert_str(0, "global @g0 \"bins\" local size=32 align=4\n");
    // Signed and unsigned extremes of one object need two views.
    let items = 512_u32;
    for settings in ALL.into_iter().filter(|settings| !settings.portable) {
        let out = execute(&device(settings), &text, &[vec![0; 16], vec![0; items as usize * 4]], &[], u64::from(items), 64);
        let data = words(&out[0]);
        assert_eq!(data, [items, -100_i32 as u32, u32::MAX, (items as f32 / 2.0).to_bits()], "{settings:?}");
        let mut tickets: Vec<u32> = words(&out[1]).iter().map(|word| word & 0xffff).collect();
        tickets.sort_unstable();
        assert_eq!(tickets, (0..items).collect::<Vec<_>>(), "{settings:?}");
        assert!(words(&out[1]).iter().all(|word| word >> 16 == 8), "{settings:?}");
    }
}

#[test]
fn compare_and_exchange() {
    // A compare-and-exchange loop increments a counter. It also adds floats in local memory, where the device may
    // have no such atomics.
    let mut text = kernel("exchange", TWO, 2, |t, id| {
        let one = t.int(1);
        let start = t.op("i32", "atomic.load i32 %0");
        let seen = t.fresh();
        let result = t.fresh();
        t.line(format!("{result}: i32 = loop ({seen}: i32 = {start}) {{"));
        let next = t.op("i32", format!("add {seen}, {one}"));
        let found = t.op("i32", format!("cmpxchg i32 %0, {seen}, {next}"));
        let same = t.op("bool", format!("eq {found}, {seen}"));
        t.line(format!("if {same} {{\nbreak {seen}\n}} else {{\nyield\n}}\ncontinue {found}\n}}"));
        let base = t.op("ptr.local", "global_addr @g0");
        let zero = t.op("f32", "const 0x0");
        t.line(format!("atomic.store f32 {base}, {zero}"));
        t.line("barrier local");
        let quarter = t.op("f32", "const 0x3e800000");
        t.op("f32", format!("atomic.fadd f32 {base}, {quarter}"));
        t.line("barrier local");
        let sum = t.op("f32", format!("atomic.load f32 {base}"));
        let sum = t.op("i32", format!("ftou {sum}"));
        let shift = t.int(16);
        let sum = t.op("i32", format!("shl {sum}, {shift}"));
        let both = t.op("i32", format!("or {sum}, {result}"));
        let to = t.element("%1", "global", id, 4);
        t.store(&to, &both, 4);
    });
    text.insert_str(0, "global @g0 \"sum\" local size=4 align=4\n");
    for settings in ALL {
        let out = execute(&device(settings), &text, &[vec![0; 4], vec![0; 1024]], &[], 256, 64);
        assert_eq!(words(&out[0]), [256], "{settings:?}");
        let mut tickets: Vec<u32> = words(&out[1]).iter().map(|word| word & 0xffff).collect();
        tickets.sort_unstable();
        assert_eq!(tickets, (0..256).collect::<Vec<_>>(), "{settings:?}");
        assert!(words(&out[1]).iter().all(|word| word >> 16 == 16), "{settings:?}");
    }
}

#[test]
fn halves() {
    if !device(ALL[0]).target().language.fp16 {
        return;
    }
    // out = half(float(in)) * in + in, for four components.
    let text = kernel("halves", TWO, 2, |t, id| {
        let from = t.element("%0", "global", id, 8);
        let value = t.load("f16x4", &from, 8);
        let wide = t.op("f32x4", format!("ftof {value}"));
        let back = t.op("f16x4", format!("ftof {wide}"));
        let product = t.op("f16x4", format!("fmul {back}, {value}"));
        let sum = t.op("f16x4", format!("fadd {product}, {value}"));
        let to = t.element("%1", "global", id, 8);
        t.store(&to, &sum, 8);
    });
    // Small integers are exact in half precision.
    let half = |n: u32| -> u16 {
        if n == 0 {
            0
        } else {
            let e = n.ilog2();
            ((15 + e) << 10 | (n << (10 - e) & 0x3ff)) as u16
        }
    };
    let input: Vec<u8> = (0..1024_u32).flat_map(|i| half(i % 40).to_le_bytes()).collect();
    let expected: Vec<u8> = (0..1024_u32).flat_map(|i| half(i % 40 * (i % 40) + i % 40).to_le_bytes()).collect();
    for settings in ALL {
        let out = execute(&device(settings), &text, &[input.clone(), vec![0; input.len()]], &[], 256, 64);
        assert!(out[1] == expected, "{settings:?}");
    }
}
