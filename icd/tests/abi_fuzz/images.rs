//! Random calls on images and samplers.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::common::ffi::{cl_event, cl_image_desc, cl_image_format, cl_uint};
use super::common::target;
use super::{CONTEXT, EVENT, Fuzzer, MEM, QUEUE, SAMPLER};

/// The image types. 2D images occur more often than the others.
const TYPES: [cl_uint; 8] = [0x10F1, 0x10F1, 0x10F1, 0x10F2, 0x10F3, 0x10F4, 0x10F5, 0x10F6];
const ORDERS: [cl_uint; 6] = [0x10B0, 0x10B2, 0x10B5, 0x10B5, 0x10B6, 0x10BD];
const TYPES_OF_CHANNELS: [cl_uint; 8] = [0x10D0, 0x10D2, 0x10D3, 0x10D7, 0x10DA, 0x10DC, 0x10DD, 0x10DE];

impl Fuzzer {
    /// Returns a dimension that is so small that any image fits in the application's memory. With `absurd`, the
    /// dimension may also be too large for any device.
    fn dimension(&mut self, absurd: bool) -> usize {
        match self.random.below(16) {
            0 => 0,
            1 if absurd => usize::MAX - self.random.below(3),
            2 if absurd => 1 << (40 + self.random.below(24)),
            n => [1, 2, 3, 7, 8, 16][n % 6],
        }
    }

    /// Returns row and slice pitches with which no image extends beyond the application's memory.
    fn pitches(&mut self) -> (usize, usize) {
        ([0, 0, 0, 16, 64, 256, 1000][self.random.below(7)], [0, 0, 0, 1000, 4096, 8192][self.random.below(6)])
    }

    fn box_of_image(&mut self) -> ([usize; 3], [usize; 3]) {
        let origin = std::array::from_fn(|_| [0, 0, 0, 1, 2, 8, usize::MAX][self.random.below(7)]);
        let region = std::array::from_fn(|_| [0, 1, 1, 1, 2, 4, 7, 16, usize::MAX][self.random.below(9)]);
        (origin, region)
    }

    pub(super) fn make_image(&mut self) {
        let cl = &target().cl;
        let context = self.handle(CONTEXT);
        if self.random.chance(25) {
            self.say("clCreateSampler");
            let normalized = self.random.below(3) as cl_uint;
            let (addressing, filter) = (0x1130 + self.random.below(6) as cl_uint, 0x1140 + self.random.below(3) as cl_uint);
            let list =
                [0x1152, u64::from(normalized), 0x1153, u64::from(addressing), 0x1154 + u64::from(normalized / 2), u64::from(filter), 0];
            let sampler = if self.random.chance(50) {
                cl.clCreateSampler(context, normalized, addressing, filter, null_mut())
            } else {
                cl.clCreateSamplerWithProperties(context, if self.random.chance(80) { list.as_ptr() } else { null() }, null_mut())
            };
            self.keep(SAMPLER, sampler);
            return;
        }
        let (flags, memory) = (self.random.bits(10), self.memory());
        let of_host = flags & 0x28 != 0;
        let memory = if !of_host && self.random.chance(95) { null_mut() } else { memory };
        let (row, slice) = self.pitches();
        let third = [0, 1, 2, 4][self.random.below(4)];
        let desc = cl_image_desc {
            image_type: TYPES[self.random.below(8)],
            image_width: self.dimension(!of_host),
            image_height: self.dimension(!of_host).min(if of_host { 8 } else { usize::MAX }),
            image_depth: third,
            image_array_size: third,
            image_row_pitch: if memory.is_null() && self.random.chance(80) { 0 } else { row },
            image_slice_pitch: if memory.is_null() && self.random.chance(80) { 0 } else { slice },
            num_mip_levels: cl_uint::from(self.random.chance(2)),
            num_samples: cl_uint::from(self.random.chance(2)),
            mem_object: if self.random.chance(20) { self.handle(MEM).cast() } else { null_mut() },
        };
        let format = cl_image_format {
            image_channel_order: ORDERS[self.random.below(6)],
            image_channel_data_type: TYPES_OF_CHANNELS[self.random.below(8)],
        };
        self.say(&format!("clCreateImage {flags:#x} {desc:?} {format:?}"));
        let (format, mut status) = (if self.random.chance(98) { &raw const format } else { null() }, 0);
        let (width, height) = (desc.image_width, desc.image_height);
        let image = match self.random.below(10) {
            0 => cl.clCreateImage2D(context, flags, format, width, height, row, memory, &mut status),
            1 => cl.clCreateImage3D(context, flags, format, width, height, third, row, slice, memory, &mut status),
            2 => cl.clCreateImageWithProperties(context, null(), flags, format, &desc, memory, &mut status),
            _ => cl.clCreateImage(context, flags, format, &desc, memory, &mut status),
        };
        self.keep(MEM, image);
    }

    pub(super) fn image_commands(&mut self) {
        let cl = &target().cl;
        let (queue, image, other) = (self.handle(QUEUE), self.handle(MEM), self.handle(MEM));
        let (n, list) = self.list(EVENT);
        let wait = self.pointer(&list);
        let mut event = null_mut();
        let out: *mut cl_event = if self.random.chance(80) { &mut event } else { null_mut() };
        let ((origin, region), (to, _), (row, slice)) = (self.box_of_image(), self.box_of_image(), self.pitches());
        let (from, to, part) = (if self.random.chance(97) { origin.as_ptr() } else { null() }, to.as_ptr(), region.as_ptr());
        let memory = self.memory();
        let kind = self.random.below(8);
        self.say(&format!("image command {kind} {origin:?} {region:?} pitches {row} {slice}, {n} events"));
        match kind {
            0 | 1 => {
                let block = self.blocking();
                cl.clEnqueueReadImage(queue, image, block, from, part, row, slice, memory, n, wait, out);
            }
            2 => {
                let block = self.blocking();
                cl.clEnqueueWriteImage(queue, image, block, from, part, row, slice, memory, n, wait, out);
            }
            3 => {
                cl.clEnqueueFillImage(queue, image, memory, from, part, n, wait, out);
            }
            4 => {
                cl.clEnqueueCopyImage(queue, image, other, from, to, part, n, wait, out);
            }
            5 => {
                cl.clEnqueueCopyImageToBuffer(queue, image, other, from, part, self.random.size(), n, wait, out);
            }
            6 => {
                cl.clEnqueueCopyBufferToImage(queue, image, other, self.random.size(), from, part, n, wait, out);
            }
            _ => {
                let (block, flags) = (self.blocking(), self.random.bits(3));
                let (mut row, mut slice) = (0usize, 0usize);
                let slice: *mut usize = if self.random.chance(50) { &mut slice } else { null_mut() };
                let mapped = cl.clEnqueueMapImage(queue, image, block, flags, from, part, &mut row, slice, n, wait, out, null_mut());
                if !mapped.is_null() {
                    self.mapped.push(mapped.cast::<c_void>());
                }
            }
        }
        self.keep(EVENT, event);
    }
}
