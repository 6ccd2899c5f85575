//! Compares commands on images with a model on the host: random boxes and pitches for every type and element size. Also
//! compares fills of every format with an independent conversion.

#![allow(non_upper_case_globals, reason = "names of the Khronos headers in patterns")]

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_A, CL_ABGR, CL_ARGB, CL_BGRA, CL_DEPTH, CL_FLOAT, CL_HALF_FLOAT, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT_MISMATCH,
    CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
    CL_MEM_COPY_OVERLAP, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_READ_ONLY, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, CL_R, CL_RA, CL_RG, CL_RGBA, CL_SIGNED_INT8,
    CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SNORM_INT8, CL_SNORM_INT16, CL_SUCCESS, CL_TRUE, CL_UNORM_INT_2_101010_EXT, CL_UNORM_INT_101010,
    CL_UNORM_INT_101010_2, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNORM_SHORT_555, CL_UNORM_SHORT_565, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32, CL_sBGRA, CL_sRGBA, CL_sRGBx, cl_bitfield, cl_image_desc, cl_image_format, cl_int, cl_uint,
};
use common::images::{Area, KINDS, Model, Pitches, desc, extent, format, formats, image, image_info, read, supported};
use common::objects::{Context, Mem, Queue};
use common::target;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }

    fn area(&mut self, extent: [usize; 3]) -> Area {
        // In some cases, select the full extent, so that rows and slices are adjacent.
        let mut area = Area { origin: [0; 3], region: extent };
        for (dim, &most) in extent.iter().enumerate() {
            if self.below(3) != 0 {
                area.region[dim] = 1 + self.below(most);
                area.origin[dim] = self.below(most - area.region[dim] + 1);
            }
        }
        area
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// An image and its expected contents.
struct Pair {
    kind: cl_uint,
    image: Mem,
    model: Model,
}

impl Pair {
    /// Returns the pitches in the application's memory for a command: as arguments of the call, and as pitches of the
    /// model.
    fn pitches(&self, area: Area, random: &mut Random) -> ([usize; 2], Pitches) {
        let tight = self.model.tight(area);
        let has_slices = self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY || area.region[2] > 1 || self.model.extent[2] > 1;
        let row = tight.row + random.below(3) * 7;
        if !has_slices {
            return if random.below(2) == 0 { ([0, 0], tight) } else { ([row, 0], Pitches { row, slice: 0 }) };
        }
        let rows = if self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 1 } else { area.region[1] };
        let slice = row * rows + random.below(3) * 5;
        let given = match random.below(3) {
            0 => [0, 0],
            1 => [row, 0],
            _ => [row, slice],
        };
        let row = if given[0] == 0 { tight.row } else { row };
        let slice = if given[1] == 0 { row * rows } else { slice };
        (given, if self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { Pitches { row: slice, slice: 0 } } else { Pitches { row, slice } })
    }

    fn check(&self, queue: &Queue, what: &str) {
        let found = read(queue, &self.image, self.model.whole(), self.model.element);
        let wrong = found.iter().zip(&self.model.bytes).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "{what}: the first wrong byte of a {:#x} of {:?}", self.kind, self.model.extent);
    }
}

fn span(area: Area, pitches: Pitches, element: usize) -> usize {
    (area.region[2] - 1) * pitches.slice + (area.region[1] - 1) * pitches.row + area.region[0] * element
}

fn map(queue: &Queue, mem: &Mem, flags: cl_bitfield, area: Area) -> Result<(*mut u8, Pitches), cl_int> {
    let (mut row, mut slice, mut status) = (0, 0, 1);
    let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
    let cl = &target().cl;
    let at = cl.clEnqueueMapImage(queue.0, mem.0, CL_TRUE, flags, origin, region, &mut row, &mut slice, 0, null(), null_mut(), &mut status);
    assert_eq!(at.is_null(), status != CL_SUCCESS);
    if status == CL_SUCCESS { Ok((at.cast(), Pitches { row, slice })) } else { Err(status) }
}

fn unmap(queue: &Queue, mem: &Mem, at: *mut u8) {
    assert_eq!(target().cl.clEnqueueUnmapMemObject(queue.0, mem.0, at.cast(), 0, null(), null_mut()), CL_SUCCESS);
}

/// Copies a random box from one image to the other one.
fn copy_between(queue: &Queue, pairs: &mut [Pair; 2], first: usize, random: &mut Random) -> &'static str {
    let (from, to) = (&pairs[first], &pairs[1 - first]);
    let fits = std::array::from_fn(|dim| from.model.extent[dim].min(to.model.extent[dim]));
    let area = random.area(fits);
    let there = Area { origin: std::array::from_fn(|dim| random.below(to.model.extent[dim] - area.region[dim] + 1)), ..area };
    let (src, dst) = (area.origin.as_ptr(), there.origin.as_ptr());
    let region = area.region.as_ptr();
    let status = target().cl.clEnqueueCopyImage(queue.0, from.image.0, to.image.0, src, dst, region, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "{area:?} {there:?}");
    let moved = from.model.packed(area);
    let tight = from.model.tight(area);
    pairs[1 - first].model.put(there, tight, &moved);
    "copy"
}

/// Fills a box with a random colour.
fn fill(queue: &Queue, pair: &mut Pair, area: Area, random: &mut Random) -> &'static str {
    let element = pair.model.element;
    let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
    let color: Vec<u32> = (0..4).map(|_| random.below(256) as u32).collect();
    let status = target().cl.clEnqueueFillImage(queue.0, pair.image.0, color.as_ptr().cast(), origin, region, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "{area:?}");
    // The formats of this test have 1 or 4 channels of 1 to 4 bytes.
    let channel = match element {
        16 => 4,
        2 => 2,
        _ => 1,
    };
    let one: Vec<u8> = color.iter().flat_map(|value| value.to_le_bytes()[..channel].to_vec()).take(element).collect();
    let tight = pair.model.tight(area);
    pair.model.put(area, tight, &one.repeat(area.region.iter().product()));
    "fill"
}

/// Executes one random command on two images and a buffer.
fn step(queue: &Queue, pairs: &mut [Pair; 2], buffer: &Mem, held: &mut [u8], random: &mut Random) -> &'static str {
    let cl = &target().cl;
    let element = pairs[0].model.element;
    let first = random.below(2);
    let area = random.area(pairs[first].model.extent);
    let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
    let size = element * area.region.iter().product::<usize>();
    let offset = random.below(held.len() - size + 1);
    match random.below(8) {
        0 => {
            let (given, pitches) = pairs[first].pitches(area, random);
            let memory = random.bytes(span(area, pitches, element));
            let pointer = memory.as_ptr().cast();
            let image = pairs[first].image.0;
            let status =
                cl.clEnqueueWriteImage(queue.0, image, CL_TRUE, origin, region, given[0], given[1], pointer, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS, "{area:?} {given:?}");
            pairs[first].model.put(area, pitches, &memory);
            "write"
        }
        1 => {
            let (given, pitches) = pairs[first].pitches(area, random);
            let mut memory = vec![0xa5; span(area, pitches, element) + 3];
            let mut expected = memory.clone();
            pairs[first].model.get(area, pitches, &mut expected);
            let pointer = memory.as_mut_ptr().cast();
            let image = pairs[first].image.0;
            let status = cl.clEnqueueReadImage(queue.0, image, CL_TRUE, origin, region, given[0], given[1], pointer, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS, "{area:?} {given:?}");
            assert_eq!(memory, expected, "{area:?} {given:?}");
            "read"
        }
        2 => copy_between(queue, pairs, first, random),
        3 => {
            let status =
                cl.clEnqueueCopyImageToBuffer(queue.0, pairs[first].image.0, buffer.0, origin, region, offset, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS, "{area:?} {offset}");
            held[offset..offset + size].copy_from_slice(&pairs[first].model.packed(area));
            assert_eq!(queue.read::<u8>(buffer, held.len()), held, "{area:?} {offset}");
            "copy to a buffer"
        }
        4 => {
            let status =
                cl.clEnqueueCopyBufferToImage(queue.0, buffer.0, pairs[first].image.0, offset, origin, region, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS, "{area:?} {offset}");
            let tight = pairs[first].model.tight(area);
            pairs[first].model.put(area, tight, &held[offset..offset + size]);
            "copy from a buffer"
        }
        5 => fill(queue, &mut pairs[first], area, random),
        6 => {
            let (at, pitches) = map(queue, &pairs[first].image, CL_MAP_READ | CL_MAP_WRITE, area).expect("map");
            let pitches = if pairs[first].kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { Pitches { row: pitches.slice, slice: 0 } } else { pitches };
            // SAFETY: the span of the box is mapped, and only this test uses it.
            let seen = unsafe { std::slice::from_raw_parts_mut(at, span(area, pitches, element)) };
            let mut found = Model::new(element, area.region, |_| 0);
            let whole = found.whole();
            found.put(whole, pitches, seen);
            assert_eq!(found.bytes, pairs[first].model.packed(area), "{area:?}");
            found.bytes = random.bytes(size);
            found.get(whole, pitches, seen);
            unmap(queue, &pairs[first].image, at);
            let tight = found.tight(whole);
            pairs[first].model.put(area, tight, &found.bytes);
            "map"
        }
        _ => {
            let (at, pitches) = map(queue, &pairs[first].image, CL_MAP_WRITE_INVALIDATE_REGION, area).expect("map");
            let pitches = if pairs[first].kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { Pitches { row: pitches.slice, slice: 0 } } else { pitches };
            // SAFETY: as above.
            let seen = unsafe { std::slice::from_raw_parts_mut(at, span(area, pitches, element)) };
            let new = Model { element, extent: area.region, bytes: random.bytes(size) };
            new.get(new.whole(), pitches, seen);
            unmap(queue, &pairs[first].image, at);
            let tight = new.tight(new.whole());
            pairs[first].model.put(area, tight, &new.bytes);
            "map to be overwritten"
        }
    }
}

#[test]
fn commands_agree_with_a_model() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mut random = Random(2026);
    let formats = [
        (format(CL_R, CL_UNSIGNED_INT8), 1),
        (format(CL_R, CL_UNSIGNED_INT16), 2),
        (format(CL_RGBA, CL_UNSIGNED_INT8), 4),
        (format(CL_RGBA, CL_UNSIGNED_INT32), 16),
    ];
    for (kind, (format, element)) in KINDS.into_iter().flat_map(|kind| formats.map(|format| (kind, format))) {
        for _ in 0..3 {
            let mut pair = |kind| {
                let sizes = [1 + random.below(40), 1 + random.below(9), 1 + random.below(6)];
                let form = desc(kind, sizes);
                let bytes = random.bytes(element * extent(&form).iter().product::<usize>());
                let made = image(&context, 0, format, &form, null_mut());
                common::images::write(&queue, &made, Area { origin: [0; 3], region: extent(&form) }, &bytes);
                Pair { kind, image: made, model: Model { element, extent: extent(&form), bytes } }
            };
            // Use images of any type, because boxes are copied between all types.
            let other = KINDS[pair(kind).model.bytes.len() % KINDS.len()];
            let mut pairs = [pair(kind), pair(other)];
            let mut held = random.bytes(40 * 9 * 6 * 16 + 5);
            let buffer = context.buffer(held.len());
            queue.write(&buffer, &held);
            for _ in 0..25 {
                let what = step(&queue, &mut pairs, &buffer, &mut held, &mut random);
                pairs[0].check(&queue, what);
                pairs[1].check(&queue, what);
            }
        }
    }
}

#[test]
fn invalid_boxes_and_pitches_are_rejected() {
    if !supported() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let queue = context.queue(0);
    let rgba = format(CL_RGBA, CL_UNSIGNED_INT8);
    let made = |kind, sizes| image(&context, 0, rgba, &desc(kind, sizes), null_mut());
    let flat = made(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
    let mut memory = [0u8; 1024];
    let pointer = memory.as_mut_ptr();
    let read = |image: &Mem, origin: [usize; 3], region: [usize; 3], row, slice| {
        let (from, size) = (origin.as_ptr(), region.as_ptr());
        cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, from, size, row, slice, pointer.cast(), 0, null(), null_mut())
    };
    assert_eq!(read(&flat, [0; 3], [8, 4, 1], 32, 0), CL_SUCCESS);
    for (origin, region) in [
        ([0, 0, 0], [8, 4, 0]),
        ([0, 0, 0], [0, 4, 1]),
        ([0, 0, 0], [9, 4, 1]),
        ([1, 0, 0], [8, 4, 1]),
        ([0, 1, 0], [8, 4, 1]),
        ([0, 0, 1], [8, 4, 1]),
        ([0, 0, 0], [8, 4, 2]),
        ([usize::MAX, 0, 0], [2, 1, 1]),
    ] {
        assert_eq!(read(&flat, origin, region, 0, 0), CL_INVALID_VALUE, "{origin:?} {region:?}");
    }
    assert_eq!(read(&flat, [0; 3], [8, 4, 1], 31, 0), CL_INVALID_VALUE);
    assert_eq!(read(&flat, [0; 3], [8, 4, 1], 32, 128), CL_INVALID_VALUE, "two dimensions have no slices");
    let lines = made(CL_MEM_OBJECT_IMAGE1D_ARRAY, [8, 3, 0]);
    assert_eq!(read(&lines, [0; 3], [8, 3, 1], 32, 40), CL_SUCCESS);
    assert_eq!(read(&lines, [0; 3], [8, 3, 1], 32, 31), CL_INVALID_VALUE);
    assert_eq!(read(&lines, [0; 3], [8, 1, 3], 0, 0), CL_INVALID_VALUE, "the images of a 1D array are counted by y");
    let layers = made(CL_MEM_OBJECT_IMAGE2D_ARRAY, [8, 4, 2]);
    assert_eq!(read(&layers, [0; 3], [8, 4, 2], 32, 127), CL_INVALID_VALUE);
    let buffer = context.buffer(128);
    assert_eq!(read(&buffer, [0; 3], [1; 3], 0, 0), CL_INVALID_MEM_OBJECT);
    let (zero, all) = ([0usize; 3], [8usize, 4, 1]);
    let (origin, region) = (zero.as_ptr(), all.as_ptr());
    let status = cl.clEnqueueReadImage(queue.0, flat.0, CL_TRUE, null(), region, 0, 0, pointer.cast(), 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_VALUE);
    let status = cl.clEnqueueWriteImage(queue.0, flat.0, CL_TRUE, origin, region, 0, 0, null(), 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_VALUE);
    // Invalid copies must be rejected.
    let copy = |src: &Mem, dst: &Mem, from: [usize; 3], to: [usize; 3], region: [usize; 3]| {
        cl.clEnqueueCopyImage(queue.0, src.0, dst.0, from.as_ptr(), to.as_ptr(), region.as_ptr(), 0, null(), null_mut())
    };
    let other = image(&context, 0, format(CL_RGBA, CL_SIGNED_INT8), &desc(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]), null_mut());
    assert_eq!(copy(&flat, &other, zero, zero, all), CL_IMAGE_FORMAT_MISMATCH);
    assert_eq!(copy(&flat, &flat, zero, [1, 1, 0], [2, 2, 1]), CL_MEM_COPY_OVERLAP);
    assert_eq!(copy(&flat, &flat, zero, [2, 1, 0], [2, 2, 1]), CL_SUCCESS, "side by side");
    assert_eq!(copy(&flat, &flat, zero, [7, 0, 0], [2, 2, 1]), CL_INVALID_VALUE);
    let copy_out = |dst: &Mem, offset| cl.clEnqueueCopyImageToBuffer(queue.0, flat.0, dst.0, origin, region, offset, 0, null(), null_mut());
    assert_eq!(copy_out(&buffer, 0), CL_SUCCESS);
    assert_eq!(copy_out(&buffer, 1), CL_INVALID_VALUE);
    assert_eq!(copy_out(&flat, 0), CL_INVALID_MEM_OBJECT);
    let line = cl_image_desc { mem_object: buffer.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [8, 0, 0]) };
    let line = image(&context, 0, rgba, &line, null_mut());
    let row = [8usize, 1, 1];
    let status = cl.clEnqueueCopyImageToBuffer(queue.0, line.0, buffer.0, origin, row.as_ptr(), 64, 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_MEM_OBJECT, "the image's own buffer");
    // Two maps of separate halves of the same rows do not overlap.
    let part = |x| Area { origin: [x, 0, 0], region: [4, 4, 1] };
    let (left, _) = map(&queue, &flat, CL_MAP_WRITE, part(0)).expect("map");
    let (right, _) = map(&queue, &flat, CL_MAP_WRITE, part(4)).expect("map");
    assert_eq!(map(&queue, &flat, CL_MAP_WRITE, part(2)).err(), Some(CL_INVALID_OPERATION));
    // SAFETY: the first bytes of each row are mapped.
    unsafe {
        left.write(77);
        right.write(78);
    }
    unmap(&queue, &flat, left);
    unmap(&queue, &flat, right);
    let first = Area { origin: zero, region: [5, 1, 1] };
    let seen = common::images::read(&queue, &flat, first, 4);
    assert_eq!((seen[0], seen[16]), (77, 78));
    assert_eq!(map(&queue, &flat, 8, part(0)).err(), Some(CL_INVALID_VALUE));
    assert_eq!(map(&queue, &flat, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, part(0)).err(), Some(CL_INVALID_VALUE));
    let (mut pitch, mut status) = (0, 1);
    let none = null_mut();
    cl.clEnqueueMapImage(queue.0, flat.0, CL_TRUE, CL_MAP_READ, origin, region, none, none, 0, null(), null_mut(), &mut status);
    assert_eq!(status, CL_INVALID_VALUE);
    cl.clEnqueueMapImage(queue.0, layers.0, CL_TRUE, CL_MAP_READ, origin, region, &mut pitch, none, 0, null(), null_mut(), &mut status);
    assert_eq!(status, CL_INVALID_VALUE);
    // The command accepts buffers and images in one list.
    let objects = [flat.0, buffer.0];
    for flags in [0, CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED] {
        assert_eq!(cl.clEnqueueMigrateMemObjects(queue.0, 2, objects.as_ptr(), flags, 0, null(), null_mut()), CL_SUCCESS);
    }
    let status = cl.clEnqueueFillImage(queue.0, flat.0, null(), origin, region, 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_VALUE);
}

/// Converts the bits of a half. Infinity becomes 65536.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = if exponent == 0 { mantissa / 16_777_216.0 } else { (1024.0 + mantissa) * 2f64.powi(exponent - 25) };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Returns the component of the colour that each channel of an element contains, in the order of memory.
fn components(order: cl_uint) -> &'static [usize] {
    match order {
        CL_A => &[3],
        CL_RG => &[0, 1],
        CL_RA => &[0, 3],
        CL_RGBA | CL_sRGBA | CL_sRGBx => &[0, 1, 2, 3],
        CL_BGRA | CL_sBGRA => &[2, 1, 0, 3],
        CL_ARGB => &[3, 0, 1, 2],
        CL_ABGR => &[3, 2, 1, 0],
        _ => &[0],
    }
}

/// Checks that `stored` is the integer in `least..=most` that is nearest to `color * most`.
fn nearest(stored: i64, color: f64, [least, most]: [i64; 2], what: &str) {
    let wanted = (color * most as f64).clamp(least as f64, most as f64);
    // The driver may round the product in single precision, so the limit is a little more than 0.5.
    assert!((stored as f64 - wanted).abs() <= 0.5 + most as f64 * 1e-7, "{what}: {stored} for {color}");
}

/// Checks one element against the fill colour.
fn check_element(format: cl_image_format, element: &[u8], color: [f32; 4], integers: [u32; 4]) {
    let what = format!("{format:x?} {element:x?} {color:?}");
    let word = element.iter().rev().fold(0u128, |word, &byte| word << 8 | u128::from(byte));
    let field = |low: u32, bits: u32| (word >> low & ((1 << bits) - 1)) as i64;
    let fields: &[(usize, u32, u32)] = match format.image_channel_data_type {
        CL_UNORM_SHORT_565 => &[(0, 11, 5), (1, 5, 6), (2, 0, 5)],
        CL_UNORM_SHORT_555 => &[(0, 10, 5), (1, 5, 5), (2, 0, 5)],
        CL_UNORM_INT_101010 => &[(0, 20, 10), (1, 10, 10), (2, 0, 10)],
        CL_UNORM_INT_101010_2 => &[(0, 22, 10), (1, 12, 10), (2, 2, 10), (3, 0, 2)],
        CL_UNORM_INT_2_101010_EXT => &[(0, 0, 10), (1, 10, 10), (2, 20, 10), (3, 30, 2)],
        _ => &[],
    };
    for &(index, low, bits) in fields {
        nearest(field(low, bits), f64::from(color[index]), [0, (1 << bits) - 1], &what);
    }
    if !fields.is_empty() {
        return;
    }
    let srgb = matches!(format.image_channel_order, CL_sRGBA | CL_sRGBx | CL_sBGRA);
    let channels = components(format.image_channel_order);
    let bits = element.len() as u32 * 8 / channels.len() as u32;
    for (place, &index) in channels.iter().enumerate() {
        let raw = field(place as u32 * bits, bits);
        let signed = (raw << (64 - bits)) >> (64 - bits);
        let wanted = f64::from(color[index]);
        match format.image_channel_data_type {
            CL_UNORM_INT8 if srgb && index == 3 && format.image_channel_order == CL_sRGBx => {}
            CL_UNORM_INT8 if srgb && index != 3 => {
                // Convert the adjacent values back to linear light. The colour must be between the results.
                let linear = |step: i64| {
                    let c = (step as f64 / 255.0).clamp(0.0, 1.0);
                    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
                };
                let wanted = wanted.clamp(0.0, 1.0);
                assert!(linear(raw - 1) - 1e-6 <= wanted && wanted <= linear(raw + 1) + 1e-6, "{what}");
            }
            CL_UNORM_INT8 | CL_UNORM_INT16 => nearest(raw, wanted, [0, (1 << bits) - 1], &what),
            CL_SNORM_INT8 | CL_SNORM_INT16 => nearest(signed, wanted, [1 - (1 << (bits - 1)), (1 << (bits - 1)) - 1], &what),
            CL_FLOAT => assert_eq!(raw as u32, color[index].to_bits(), "{what}"),
            CL_HALF_FLOAT => {
                let stored = raw as u16;
                // [`half`] converts infinity to 65536, the number that would follow the largest half. So numbers are
                // clamped to it.
                let wanted = wanted.clamp(-65536.0, 65536.0);
                let gap = |other: u16| (half(other) - wanted).abs();
                assert!(gap(stored) <= gap(stored.wrapping_add(1)) && (stored & 0x7fff == 0 || gap(stored) <= gap(stored - 1)), "{what}");
            }
            CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32 => {
                let (least, most) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
                assert_eq!(signed, i64::from(integers[index].cast_signed()).clamp(least, most), "{what}");
            }
            CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => {
                assert_eq!(raw, i64::from(integers[index]).min((1 << bits) - 1), "{what}");
            }
            other => assert_eq!(other, 0, "a channel type that the test does not support"),
        }
    }
}

#[test]
fn fills_convert_to_every_format() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mut random = Random(7);
    let all = formats(&context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D);
    assert!(all.len() >= 11);
    for format in all {
        let form = desc(CL_MEM_OBJECT_IMAGE2D, [5, 4, 1]);
        let image = image(&context, CL_MEM_READ_ONLY, format, &form, null_mut());
        let element: usize = image_info(image.0, CL_IMAGE_ELEMENT_SIZE).expect("the size");
        let integers = matches!(format.image_channel_data_type, CL_SIGNED_INT8..=CL_UNSIGNED_INT32);
        for round in 0..20 {
            let fraction = |random: &mut Random| random.below(1 << 20) as f32 / (1 << 19) as f32 - 0.5;
            let color: [f32; 4] = match round {
                0 => [0.0, 1.0, -1.0, 0.5],
                1 => [2.0, -2.0, 1e-3, 1e5],
                _ => std::array::from_fn(|_| fraction(&mut random)),
            };
            let wide = 1u32 << random.below(32);
            let numbers: [u32; 4] = std::array::from_fn(|_| (random.below(1 << 30) as u32).wrapping_sub(1 << 29) % wide.max(2));
            // Fill the whole image and a box with parts of rows alternately.
            let area =
                if round % 2 == 0 { Area { origin: [0; 3], region: [5, 4, 1] } } else { Area { origin: [1, 1, 0], region: [3, 2, 1] } };
            let before = read(&queue, &image, Area { origin: [0; 3], region: [5, 4, 1] }, element);
            let pointer = if integers { numbers.as_ptr().cast() } else { color.as_ptr().cast() };
            let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
            let status = target().cl.clEnqueueFillImage(queue.0, image.0, pointer, origin, region, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS, "{format:x?}");
            let after = read(&queue, &image, Area { origin: [0; 3], region: [5, 4, 1] }, element);
            for (index, (old, new)) in before.chunks(element).zip(after.chunks(element)).enumerate() {
                let place = [index % 5, index / 5];
                if (0..2).all(|dim| (area.origin[dim]..area.origin[dim] + area.region[dim]).contains(&place[dim])) {
                    let color = if format.image_channel_order == CL_DEPTH { [color[0]; 4] } else { color };
                    check_element(format, new, color, numbers);
                } else {
                    assert_eq!(old, new, "{format:x?}: outside of the box");
                }
            }
        }
    }
}
