//! Rows of the functions for vectors in memory, barriers, copies, shuffles, address spaces and clocks (OpenCL C 6.15.7
//! to 6.15.13, 6.15.24).

use super::super::table::{Row, extension, intrinsic, since, when};
use super::super::{Intrinsic, Rounding};
use crate::target::Target;

const VLOAD_HALF: &[&str] = &["float#(size,plgnc*const half)"];
const VSTORE_HALF: &[&str] = &["void(float#,size,*half)", "void(double#,size,*half)"];
const FENCE: &[&str] = &["void(uint)"];
const SCOPED_FENCE: &[&str] = &["void(uint,?scope)"];
const SPLIT_BARRIER: &str = "cl_intel_split_work_group_barrier";
const EXTENDED_COPIES: &str = "cl_khr_extended_async_copies";

/// Whether pointers without an address space qualifier are generic (6.7.5).
pub(crate) fn has_generic(version: u32, target: &Target) -> bool {
    version == 200 || (version >= 300 && target.has_feature("__opencl_c_generic_address_space"))
}

/// The rows of the stores of halves with one rounding mode (6.15.7). `None` is the default mode.
macro_rules! store_half {
    ($suffix:literal, $rounding:expr) => {
        [
            intrinsic(concat!("vstore_half{,2,3,4,8,16}", $suffix), Intrinsic::VStoreHalf($rounding), VSTORE_HALF),
            intrinsic(concat!("vstorea_half{2,3,4,8,16}", $suffix), Intrinsic::VStoreaHalf($rounding), VSTORE_HALF),
        ]
    };
}

pub(super) static STORES: &[[Row; 2]] = &[
    store_half!("", None),
    store_half!("_rte", Some(Rounding::Rte)),
    store_half!("_rtz", Some(Rounding::Rtz)),
    store_half!("_rtp", Some(Rounding::Rtp)),
    store_half!("_rtn", Some(Rounding::Rtn)),
];

pub(super) static ROWS: &[Row] = &[
    // 6.15.2. The generic type is that of the NaN code.
    intrinsic("nan", Intrinsic::Nan, &["float#(Q)"]),
    when(|_, target| target.language.fp64, intrinsic("nan", Intrinsic::Nan, &["double#(L)"])),
    when(|_, target| target.language.fp16, intrinsic("nan", Intrinsic::Nan, &["half#(H)"])),
    // 6.15.7
    intrinsic("vload{2,3,4,8,16}", Intrinsic::VLoad, &["G(size,plgnc*const e)"]),
    intrinsic("vstore{2,3,4,8,16}", Intrinsic::VStore, &["void(G,size,~*e)"]),
    intrinsic("vload_half{,2,3,4,8,16}", Intrinsic::VLoadHalf, VLOAD_HALF),
    intrinsic("vloada_half{2,3,4,8,16}", Intrinsic::VLoadaHalf, VLOAD_HALF),
    // 6.15.8 and 6.15.9
    intrinsic("barrier", Intrinsic::Barrier, FENCE),
    since(200, intrinsic("work_group_barrier", Intrinsic::Barrier, SCOPED_FENCE)),
    intrinsic("mem_fence read_mem_fence write_mem_fence", Intrinsic::MemFence, FENCE),
    // The wait becomes a full barrier, which also orders the accesses before the arrival. The arrival is therefore only
    // a fence.
    extension(SPLIT_BARRIER, intrinsic("intel_work_group_barrier_arrive", Intrinsic::MemFence, FENCE)),
    extension(SPLIT_BARRIER, intrinsic("intel_work_group_barrier_wait", Intrinsic::Barrier, FENCE)),
    extension(SPLIT_BARRIER, since(200, intrinsic("intel_work_group_barrier_arrive", Intrinsic::MemFence, SCOPED_FENCE))),
    extension(SPLIT_BARRIER, since(200, intrinsic("intel_work_group_barrier_wait", Intrinsic::Barrier, SCOPED_FENCE))),
    // 6.15.11
    intrinsic("async_work_group_copy", Intrinsic::AsyncCopy, &["event(l*G,g*const G,size,event)", "event(g*G,l*const G,size,event)"]),
    intrinsic(
        "async_work_group_strided_copy",
        Intrinsic::AsyncStridedCopy,
        &["event(l*G,g*const G,size,size,event)", "event(g*G,l*const G,size,size,event)"],
    ),
    extension(
        EXTENDED_COPIES,
        intrinsic(
            "async_work_group_copy_2D2D",
            Intrinsic::AsyncCopy2D,
            &[
                "event(l*void,size,g*const void,size,size,size,size,size,size,event)",
                "event(g*void,size,l*const void,size,size,size,size,size,size,event)",
            ],
        ),
    ),
    extension(
        EXTENDED_COPIES,
        intrinsic(
            "async_work_group_copy_3D3D",
            Intrinsic::AsyncCopy3D,
            &[
                "event(l*void,size,g*const void,size,size,size,size,size,size,size,size,size,event)",
                "event(g*void,size,l*const void,size,size,size,size,size,size,size,size,size,event)",
            ],
        ),
    ),
    intrinsic("wait_group_events", Intrinsic::WaitGroupEvents, &["void(int,*const event)"]),
    // The work-items execute the copies themselves. A barrier therefore orders the copies.
    extension("cl_khr_async_work_group_copy_fence", intrinsic("async_work_group_copy_fence", Intrinsic::Barrier, FENCE)),
    intrinsic("prefetch", Intrinsic::Prefetch, &["void(gn*const void,size)"]),
    // 6.15.13
    intrinsic("shuffle", Intrinsic::Shuffle, &["G~(G,U~)|2348g"]),
    intrinsic("shuffle2", Intrinsic::Shuffle2, &["G~(G,G,U~)|2348g"]),
    // 6.15.10
    when(has_generic, intrinsic("to_global", Intrinsic::ToGlobal, &["g*void(n*const void)"])),
    when(has_generic, intrinsic("to_local", Intrinsic::ToLocal, &["l*void(n*const void)"])),
    when(has_generic, intrinsic("to_private", Intrinsic::ToPrivate, &["p*void(n*const void)"])),
    when(has_generic, intrinsic("get_fence", Intrinsic::GetFence, &["uint(n*const void)"])),
    // 6.15.24
    clock("clock_read_device", false, &["ulong:uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_device")),
    clock("clock_read_hilo_device", false, &["uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_device")),
    clock("clock_read_work_group", false, &["ulong:uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_work_group")),
    clock("clock_read_hilo_work_group", false, &["uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_work_group")),
    clock("clock_read_sub_group", true, &["ulong:uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_sub_group")),
    clock("clock_read_hilo_sub_group", true, &["uint2()"], |_, target| target.has_feature("__opencl_c_kernel_clock_scope_sub_group")),
];

const fn clock(name: &'static str, sub: bool, signature: &'static [&'static str], condition: fn(u32, &Target) -> bool) -> Row {
    when(condition, intrinsic(name, Intrinsic::Clock { sub }, signature))
}
