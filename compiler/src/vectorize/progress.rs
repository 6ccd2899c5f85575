//! Kernels whose subgroups wait for each other ([`super::waits`]). Their subgroups make independent progress: each gang
//! can be suspended, and the CPU device then runs another gang of the group on another stack.
//!
//! ```text
//! while (gang = scheduler(claim)) < gangs {        the next gang of the group that has not started
//!     while atomic_load(flag) == 0 {
//!         scheduler(pause)                         may run other gangs
//!     }
//!     scheduler(barrier)                           runs other gangs until all have reached the barrier
//! }
//! ```
//! A gang runs to its end without a switch if it does not wait. Kernels without such loops, and groups of one gang, do
//! not use the scheduler.
//!
//! # Memory
//! Each stack has its own arena, except for work-group memory: all stacks use that of the first one
//! (`WorkerContext::local`). A header after work-group memory contains the address of the worker context, for called
//! functions.

use std::mem::offset_of;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use wgcl_codegen::vir::{Addr, BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Cond, Elem, Mem, Op as VOp, Target, Terminator};
use wgcl_codegen::vir::{Type as Register, Value as V};

use super::abi::{LaunchContext, SubgroupRequest, WorkerContext};
use super::vectorizer::{Lowered, Vectorizer};
use crate::ir::Inst;

/// The state of a function whose gangs can be suspended.
pub(super) struct Progress {
    /// The address of the worker context.
    pub worker: V,
    /// The loops that may wait, by the addresses of their instructions.
    pub waiting: FxHashSet<*const Inst>,
}

impl Vectorizer<'_> {
    /// Enables the scheduler in the kernel. `worker` is the address of the worker context.
    pub(super) fn begin_progress(&mut self, worker: V) {
        let Some(header) = self.frame.header else { return };
        let place = self.arena_at(header);
        self.b.effect(VOp::Store(Mem::Elem(Elem::I64), Addr::of(place), worker));
        self.enable_progress(worker);
    }

    /// Enables the scheduler in a called function.
    pub(super) fn begin_called_progress(&mut self) {
        let Some(header) = self.frame.header else { return };
        let base = self.frame.base;
        let worker = self.load_invariant(base, Register::I64, header.cast_signed());
        self.enable_progress(worker);
    }

    fn enable_progress(&mut self, worker: V) {
        self.frame.local_base = self.load_invariant(worker, Register::I64, offset_of!(WorkerContext, local) as i32);
        let waiting = super::waits::waiting_loops(self.module, self.function);
        self.progress = Some(Progress { worker, waiting });
    }

    /// Calls the scheduler, if the kernel uses it. `group` is the number of the current group, for a claim.
    fn call_scheduler(&mut self, request: SubgroupRequest, group: Option<V>) -> Option<V> {
        let worker = self.progress.as_ref()?.worker;
        let scheduler = self.launch_address(offset_of!(LaunchContext, scheduler));
        let request = self.i64(request as u64);
        let group = group.unwrap_or(request);
        let args = SmallVec::from_iter([worker, request, group]);
        Some(self.emit(Register::I64, VOp::CallHelper(scheduler, args)))
    }

    /// Lets other gangs run, before the next iteration of a loop that may wait.
    pub(super) fn pause(&mut self) {
        self.call_scheduler(SubgroupRequest::Pause, None);
    }

    /// Waits until all gangs of the group have reached the barrier.
    pub(super) fn wait_for_gangs(&mut self) {
        self.call_scheduler(SubgroupRequest::Barrier, None);
    }

    pub(super) fn may_wait(&self, inst: &Inst) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.waiting.contains(&std::ptr::from_ref(inst)))
    }

    /// Emits a loop over the gangs of a group that the scheduler assigns to this stack.
    pub(super) fn claimed_gangs(&mut self, group: V, body: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let (header, inside, latch, after) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        self.masks.exit = latch;
        self.open_loop(header, []);
        let none = self.i64(0);
        let number = self.call_scheduler(SubgroupRequest::Claim, Some(group)).unwrap_or(none);
        let gangs = self.i64(u64::from(self.shape.gangs()));
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULt, number, gangs), Target::new(inside, []), Target::new(after, [])));
        self.b.enter(inside);
        let (number, lanes) = (self.op(Register::I32, VOp::Cast(VCast::Trunc, number)), self.i32(self.shape.lanes));
        self.items.linear = Some(self.op(Register::I32, VOp::Bin(VBin::Mul, number, lanes)));
        self.gang(latch, body)?;
        self.jump(header, []);
        self.close_loop();
        self.b.enter(after);
        Ok(())
    }
}
