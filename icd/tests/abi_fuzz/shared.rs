//! Random calls on shared virtual memory. The calls do not use freed memory, because a driver cannot check for that.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::common::ffi::{cl_event, cl_uint};
use super::common::target;
use super::{ARENA, CONTEXT, EVENT, Fuzzer, KERNEL, QUEUE};

/// The address and the size in bytes of an allocation, and its context.
pub(super) type Shared = (*mut c_void, usize, *mut c_void);

impl Fuzzer {
    /// Returns an address in shared memory, or null. If `own` is set, the address may also be in the application's
    /// memory.
    pub(super) fn place(&mut self, own: bool) -> *mut c_void {
        if self.random.chance(3) {
            return null_mut();
        }
        let index = self.random.below(self.shared.len() + 2);
        match self.shared.get(index) {
            // Stay within the allocation: the driver does not know which memory outside of it is shared.
            Some(&(start, size, _)) => start.wrapping_byte_add([0, 0, 4, 64, 100, 4096][self.random.below(6)].min(size - 1)),
            // Select one half of the memory. A copy from one half to the other does not overlap.
            None if own => {
                let half = if self.random.chance(50) { ARENA / 2 } else { 0 };
                self.arena.as_mut_ptr().cast::<c_void>().wrapping_byte_add(half)
            }
            None => null_mut(),
        }
    }

    /// Returns the number of bytes that may be copied between two addresses. For other contexts, SVM of one context is
    /// ordinary host memory of unknown size. Commands of other contexts may access it at any later time, so the test
    /// never frees it.
    pub(super) fn copyable_bytes(&mut self, places: [*mut c_void; 2]) -> usize {
        let size = self.random.size().min(ARENA / 2);
        if self.handles[CONTEXT].len() < 2 {
            return size;
        }
        let found = |place: *mut c_void| {
            let around = |(start, size, _): &&Shared| (start.addr()..start.addr() + size).contains(&place.addr());
            self.shared.iter().find(around).copied()
        };
        let left = |place: *mut c_void| found(place).map_or(usize::MAX, |(start, size, _)| start.addr() + size - place.addr());
        let size = size.min(left(places[0])).min(left(places[1]));
        for (start, _, context) in places.map(found).into_iter().flatten() {
            if !self.retained.contains(&start) {
                target().cl.clRetainContext(context);
                self.retained.push(start);
            }
        }
        size
    }

    /// Frees an allocation when no command uses it any more.
    fn free(&mut self) {
        if self.shared.is_empty() {
            return;
        }
        let cl = &target().cl;
        self.complete_user_events();
        for queue in self.handles[QUEUE].clone() {
            cl.clFinish(queue);
        }
        let index = self.random.below(self.shared.len());
        if self.retained.contains(&self.shared[index].0) {
            return;
        }
        let (start, _, context) = self.shared.swap_remove(index);
        if self.random.chance(50) {
            cl.clSVMFree(context, start);
        } else {
            let mut list = [start];
            let queue = self.handle(QUEUE);
            cl.clEnqueueSVMFree(queue, 1, list.as_mut_ptr(), None, null_mut(), 0, null(), null_mut());
        }
    }

    pub(super) fn shared(&mut self) {
        let cl = &target().cl;
        let queue = self.handle(QUEUE);
        let (n, list) = self.list(EVENT);
        let wait = self.pointer(&list);
        let mut event = null_mut();
        let out: *mut cl_event = if self.random.chance(80) { &mut event } else { null_mut() };
        let size = self.random.size();
        let kind = self.random.below(12);
        self.say(&format!("shared memory {kind}, {size} bytes, {n} events"));
        match kind {
            0..=2 if self.shared.len() < 8 => {
                let context = self.handle(CONTEXT);
                let (flags, align) = ([1, 1, 0, 2, 4, 9, 1 << 40][self.random.below(7)], [0, 0, 8, 128, 3, 1 << 20][self.random.below(6)]);
                // Limit the size, so that the allocation does not exhaust the memory of the machine.
                let size = if (ARENA..usize::MAX / 4).contains(&size) { ARENA } else { size };
                let start = cl.clSVMAlloc(context, flags, size, align);
                if !start.is_null() {
                    self.shared.push((start, size, context));
                }
            }
            3 => self.free(),
            4 | 5 => {
                let block = self.blocking();
                let (dst, src) = (self.place(true), self.place(true));
                let size = self.copyable_bytes([dst, src]);
                cl.clEnqueueSVMMemcpy(queue, block, dst, src, size, n, wait, out);
            }
            6 => {
                let pattern = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0][self.random.below(10)];
                let (place, memory) = (self.place(false), self.memory());
                cl.clEnqueueSVMMemFill(queue, place, memory, pattern, size, n, wait, out);
            }
            7 => {
                let (block, flags, place) = (self.blocking(), self.random.bits(3), self.place(false));
                cl.clEnqueueSVMMap(queue, block, flags, place, size, n, wait, out);
            }
            8 => {
                let place = self.place(false);
                cl.clEnqueueSVMUnmap(queue, place, n, wait, out);
            }
            9 => {
                let places = [self.place(false).cast_const(), self.place(false).cast_const()];
                let sizes = [self.random.size(), self.random.size()];
                let sizes = if self.random.chance(50) { sizes.as_ptr() } else { null() };
                let (count, flags) = (self.random.below(3) as cl_uint, self.random.bits(2));
                cl.clEnqueueSVMMigrateMem(queue, count, places.as_ptr(), sizes, flags, n, wait, out);
            }
            10 => {
                let (kernel, place) = (self.handle(KERNEL), self.place(false));
                cl.clSetKernelArgSVMPointer(kernel, self.random.below(4) as cl_uint, place);
            }
            _ => {
                let kernel = self.handle(KERNEL);
                let places = [self.place(false), self.place(false)];
                let (name, size) = (0x11B6 + self.random.below(2) as cl_uint, [0, 4, 8, 16][self.random.below(4)]);
                cl.clSetKernelExecInfo(kernel, name, size, places.as_ptr().cast());
            }
        }
        self.keep(EVENT, event);
    }
}
