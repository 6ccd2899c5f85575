//! Loads and stores of every width and alignment, vector components, and changes of type.

use crate::common::{ALL, device, noise};
use crate::kernels::{Text, size_of};
use crate::{TWO, execute, kernel};

#[test]
fn neighbouring_bytes_are_preserved() {
    for (size, ty) in [(1, "i8"), (2, "i16"), (3, "i8x3"), (2, "i8x2"), (4, "i8x4"), (6, "i16x3")] {
        let items = 4096_u32;
        // Reverses the elements. Every element is aligned only to its scalar type.
        let text = kernel("reverse", TWO, 2, |t, id| {
            let last = t.int(u64::from(items - 1));
            let other = t.op("i32", format!("sub {last}, {id}"));
            let from = t.element("%0", "global", &other, size);
            let align = if ty.starts_with("i8") { 1 } else { 2 };
            let value = t.load(ty, &from, align);
            let to = t.element("%1", "global", id, size);
            t.store(&to, &value, align);
        });
        let input = noise((items * size) as usize, size);
        let expected: Vec<u8> = input.chunks(size as usize).rev().flatten().copied().collect();
        for settings in ALL {
            let device = device(settings);
            let out = execute(&device, &text, &[input.clone(), vec![0; input.len()]], &[], u64::from(items), 64);
            assert!(out[1] == expected, "{ty} on {settings:?}");
        }
    }
}

#[test]
fn unaligned_accesses() {
    for (ty, stride, align) in [
        ("i32", 5, 1),
        ("i32", 6, 2),
        ("i64", 12, 4),
        ("i64", 9, 1),
        ("f32x3", 12, 4),
        ("f32x4", 20, 4),
        ("i64x2", 20, 4),
        ("f64", 12, 4),
        ("i16x4", 10, 2),
    ] {
        let size = size_of(ty);
        let items = 512_u32;
        let text = kernel("move", TWO, 2, |t, id| {
            let from = t.element("%0", "global", id, stride);
            let value = t.load(ty, &from, align);
            let to = t.element("%1", "global", id, stride);
            t.store(&to, &value, align);
        });
        let input = noise((items * stride) as usize, stride);
        let mut expected = vec![0xaa; input.len()];
        for item in 0..(items * stride) as usize / stride as usize {
            let at = item * stride as usize;
            expected[at..at + size as usize].copy_from_slice(&input[at..at + size as usize]);
        }
        for settings in ALL {
            let device = device(settings);
            let out = execute(&device, &text, &[input.clone(), vec![0xaa; input.len()]], &[], u64::from(items), 64);
            assert!(out[1] == expected, "{ty} every {stride} bytes on {settings:?}");
        }
    }
}

#[test]
fn one_buffer_accessed_with_several_types() {
    // Doubles four floats. Converts the second one to an int, whose low byte replaces the last byte of the vector.
    // Inverts the 16 bits at byte 10. Then reads all bytes as two 64-bit integers, and adds these.
    let text = kernel("views", TWO, 2, |t, id| {
        let place = t.element("%0", "global", id, 16);
        let vector = t.load("f32x4", &place, 16);
        let doubled = t.op("f32x4", format!("fadd {vector}, {vector}"));
        t.store(&place, &doubled, 16);
        let sixteen = t.int(16);
        let base = t.op("i32", format!("mul {id}, {sixteen}"));
        let at = |t: &mut Text, offset: u64| {
            let offset = t.int(offset);
            let offset = t.op("i32", format!("add {base}, {offset}"));
            t.op("ptr.global", format!("ptr_add %0, {offset}"))
        };
        let (second, byte, half) = (at(t, 4), at(t, 15), at(t, 10));
        let number = t.load("f32", &second, 4);
        let number = t.op("i32", format!("ftos {number}"));
        t.store(&second, &number, 4);
        let low = t.op("i8", format!("trunc {number}"));
        t.store(&byte, &low, 1);
        let short = t.load("i16", &half, 2);
        let short = t.op("i16", format!("not {short}"));
        t.store(&half, &short, 2);
        let pair = t.load("i64x2", &place, 16);
        let (x, y) = (t.op("i64", format!("extract {pair}, 0")), t.op("i64", format!("extract {pair}, 1")));
        let sum = t.op("i64", format!("add {x}, {y}"));
        let out = t.element("%1", "global", id, 8);
        t.store(&out, &sum, 8);
    });
    let items = 256_usize;
    let input: Vec<u8> = (0..items * 4).flat_map(|i| (i as f32 * 0.75).to_le_bytes()).collect();
    let mut memory = input.clone();
    let mut sums = Vec::new();
    for chunk in memory.chunks_mut(16) {
        for lane in chunk.chunks_mut(4) {
            let doubled = f32::from_le_bytes(lane.try_into().unwrap()) * 2.0;
            lane.copy_from_slice(&doubled.to_le_bytes());
        }
        let number = f32::from_le_bytes(chunk[4..8].try_into().unwrap()) as i32;
        chunk[4..8].copy_from_slice(&number.to_le_bytes());
        chunk[15] = number as u8;
        chunk[10] = !chunk[10];
        chunk[11] = !chunk[11];
        let word = |at: usize| u64::from_le_bytes(chunk[at..at + 8].try_into().unwrap());
        sums.extend(word(0).wrapping_add(word(8)).to_le_bytes());
    }
    for settings in ALL {
        let device = device(settings);
        let out = execute(&device, &text, &[input.clone(), vec![0; items * 8]], &[], items as u64, 64);
        assert!(out[0] == memory && out[1] == sums, "{settings:?}");
    }
}

#[test]
fn stores_of_three_components_preserve_the_fourth() {
    let text = kernel("three", TWO, 2, |t, id| {
        let (from, to) = (t.element("%0", "global", id, 16), t.element("%1", "global", id, 16));
        let value = t.load("f32x3", &from, 16);
        t.store(&to, &value, 16);
    });
    let input = noise(16 * 256, 3);
    let expected: Vec<u8> = input.chunks(16).flat_map(|v| v[..12].iter().copied().chain([0x55; 4])).collect();
    for settings in ALL {
        let out = execute(&device(settings), &text, &[input.clone(), vec![0x55; input.len()]], &[], 256, 64);
        assert!(out[1] == expected, "{settings:?}");
    }
}

#[test]
fn sixteen_components() {
    // out = (reverse(in + 3) as 16-bit) with component [id % 16] replaced by in[(id / 16) % 16].
    let text = kernel("lanes", TWO, 2, |t, id| {
        let from = t.element("%0", "global", id, 16);
        let value = t.load("i8x16", &from, 16);
        let three = t.op("i8", "const 3");
        let three = t.op("i8x16", format!("splat {three}"));
        let sum = t.op("i8x16", format!("add {value}, {three}"));
        let picks: Vec<String> = (0..16).rev().map(|lane: u32| lane.to_string()).collect();
        let reversed = t.op("i8x16", format!("shuffle {sum}, {sum}, [{}]", picks.join(", ")));
        let wide = t.op("i16x16", format!("sext {reversed}"));
        let (four, fifteen) = (t.int(4), t.int(15));
        let high = t.op("i32", format!("lshr {id}, {four}"));
        let high = t.op("i32", format!("and {high}, {fifteen}"));
        let low = t.op("i32", format!("and {id}, {fifteen}"));
        let picked = t.op("i8", format!("extract_dyn {value}, {high}"));
        let picked = t.op("i16", format!("zext {picked}"));
        let done = t.op("i16x16", format!("insert_dyn {wide}, {low}, {picked}"));
        let to = t.element("%1", "global", id, 32);
        t.store(&to, &done, 32);
    });
    let items = 512_usize;
    let input = noise(16 * items, 5);
    let mut expected = Vec::new();
    for (id, chunk) in input.chunks(16).enumerate() {
        let mut lanes: Vec<i16> = chunk.iter().rev().map(|&byte| i16::from(byte.wrapping_add(3) as i8)).collect();
        lanes[id % 16] = i16::from(chunk[id / 16 % 16]);
        expected.extend(lanes.iter().flat_map(|lane| lane.to_le_bytes()));
    }
    for settings in ALL {
        let out = execute(&device(settings), &text, &[input.clone(), vec![0; items * 32]], &[], items as u64, 64);
        assert!(out[1] == expected, "{settings:?}");
    }
}

#[test]
fn shuffles() {
    // Components of two vectors in many patterns. Each result is compared with its pattern.
    let patterns: [&[u8]; 8] = [
        &[0, 1, 2, 3],
        &[3, 2, 1, 0],
        &[4, 0, 5, 1],
        &[7, 7],
        &[0, 1, 2],
        &[6, 2, 4, 1, 0, 7, 3, 5],
        &[1],
        &[0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0],
    ];
    let text = kernel("shuffles", TWO, 2, |t, id| {
        let (two, one) = (t.int(2), t.int(1));
        let first = t.op("i32", format!("mul {id}, {two}"));
        let second = t.op("i32", format!("add {first}, {one}"));
        let (pa, pb) = (t.element("%0", "global", &first, 16), t.element("%0", "global", &second, 16));
        let (a, b) = (t.load("i32x4", &pa, 16), t.load("i32x4", &pb, 16));
        let row = t.int(64 * patterns.len() as u64);
        let base = t.op("i32", format!("mul {id}, {row}"));
        for (k, pattern) in patterns.iter().enumerate() {
            let ty = if pattern.len() == 1 { "i32".to_owned() } else { format!("i32x{}", pattern.len()) };
            let list: Vec<String> = pattern.iter().map(u8::to_string).collect();
            let value = t.op(&ty, format!("shuffle {a}, {b}, [{}]", list.join(", ")));
            let offset = t.int(64 * k as u64);
            let offset = t.op("i32", format!("add {base}, {offset}"));
            let place = t.op("ptr.global", format!("ptr_add %1, {offset}"));
            t.store(&place, &value, 4);
        }
    });
    let items = 64_usize;
    let input = noise(items * 32, 11);
    let mut expected = vec![0; items * 64 * patterns.len()];
    for (id, lanes) in input.chunks(32).enumerate() {
        for (k, pattern) in patterns.iter().enumerate() {
            for (i, &pick) in pattern.iter().enumerate() {
                let at = (id * patterns.len() + k) * 64 + i * 4;
                expected[at..at + 4].copy_from_slice(&lanes[usize::from(pick) * 4..][..4]);
            }
        }
    }
    for settings in ALL {
        let out = execute(&device(settings), &text, &[input.clone(), vec![0; expected.len()]], &[], items as u64, 64);
        assert!(out[1] == expected, "{settings:?}");
    }
}
