//! Subgroup sizes that kernels require (cl_intel_required_subgroup_size): each size that the device lists, several
//! sizes in one program, and unsupported sizes.

mod common;

use std::process::Command;
use std::ptr::null;

use common::ffi::{CL_DEVICE_EXTENSIONS, CL_SUCCESS, cl_int, cl_uint};
use common::objects::{Context, Kernel, Program};
use common::{info, info_bytes, info_string, target};

const CL_DEVICE_MAX_WORK_GROUP_SIZE: cl_uint = 0x1004;
const CL_DEVICE_MAX_NUM_SUB_GROUPS: cl_uint = 0x105C;
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: cl_uint = 0x4108;
const CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL: cl_uint = 0x410A;
const CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: cl_uint = 0x2033;
const CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: cl_uint = 0x2034;
const CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: cl_uint = 0x11B8;
const CL_KERNEL_MAX_NUM_SUB_GROUPS: cl_uint = 0x11B9;
const CL_BUILD_PROGRAM_FAILURE: cl_int = -11;

/// A kernel that requires subgroups of `SIZE`. Every work-item writes its position and the results of its subgroup's
/// operations.
const KERNEL: &str = "
kernel __attribute__((intel_reqd_sub_group_size(SIZE))) void of_SIZE(global uint *out, global const uint *in) {
    size_t i = get_global_linear_id();
    uint x = in[i], lane = get_sub_group_local_id();
    out += i * 12;
    out[0] = get_max_sub_group_size();
    out[1] = get_sub_group_size();
    out[2] = get_num_sub_groups();
    out[3] = get_sub_group_id();
    out[4] = lane;
    out[5] = sub_group_reduce_add(x);
    out[6] = sub_group_scan_exclusive_add(x);
    long wide = sub_group_scan_inclusive_max((long)x << 20);
    out[7] = wide >> 20;
    out[8] = sub_group_broadcast(x, 1);
    out[9] = intel_sub_group_shuffle(x, lane / 2);
    out[10] = sub_group_any(x % 13 == 0) + 2 * sub_group_all(x % 7 != 0);
    uint iterations = 0;
    for (uint n = x % 9; sub_group_any(iterations < n); iterations++) if (sub_group_all(iterations >= n)) break;
    out[11] = iterations;
}
";

fn has_extension(name: &str) -> bool {
    let target = target();
    let query = |size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret);
    info_string(query).expect("extensions").split(' ').any(|extension| extension == name)
}

/// Returns CL_DEVICE_SUB_GROUP_SIZES_INTEL, or an empty list if the device does not have the extension.
fn sizes() -> Vec<usize> {
    let target = target();
    let query = |name| move |size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret);
    let bytes = if has_extension("cl_intel_required_subgroup_size") {
        info_bytes(query(CL_DEVICE_SUB_GROUP_SIZES_INTEL)).expect("sizes")
    } else {
        Vec::new()
    };
    bytes.chunks_exact(size_of::<usize>()).map(|size| usize::from_ne_bytes(size.try_into().expect("a size"))).collect()
}

fn source(sizes: &[usize]) -> String {
    sizes.iter().map(|size| KERNEL.replace("SIZE", &size.to_string())).collect()
}

fn build(context: &Context, sizes: &[usize]) -> Program {
    let program = context.program(&source(sizes));
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    program
}

fn subgroup_info(kernel: &Kernel, what: cl_uint, input: &[usize]) -> usize {
    let target = target();
    let (bytes, place) = if input.is_empty() { (0, null()) } else { (size_of_val(input), input.as_ptr().cast()) };
    info(|size, value, ret| target.cl.clGetKernelSubGroupInfo(kernel.0, target.device, what, bytes, place, size, value, ret))
        .expect("an answer")
}

/// Returns the expected results of the work-items of a subgroup, in the order of the lanes. `own` contains the input
/// value of each lane.
fn expected(size: usize, group: usize, subgroup: u32, own: &[u32]) -> Vec<[u32; 12]> {
    let any = own.iter().any(|x| x % 13 == 0);
    let all = own.iter().all(|x| x % 7 != 0);
    let of = |lane: usize| {
        [
            size as u32,
            own.len() as u32,
            group.div_ceil(size) as u32,
            subgroup,
            lane as u32,
            own.iter().sum(),
            own[..lane].iter().sum(),
            own[..=lane].iter().copied().max().unwrap_or(0),
            own[1.min(own.len() - 1)],
            own[lane / 2],
            u32::from(any) + 2 * u32::from(all),
            own.iter().map(|x| x % 9).max().unwrap_or(0),
        ]
    };
    (0..own.len()).map(of).collect()
}

fn check(context: &Context, program: &Program, size: usize, local: [usize; 2]) {
    let queue = context.queue(0);
    let kernel = program.kernel(&format!("of_{size}"));
    let (group, groups) = (local[0] * local[1], 3);
    let words: Vec<u32> = (0..group * groups).map(|i| (i as u32).wrapping_mul(2_654_435_761) >> 12).collect();
    let (out, input) = (context.buffer(words.len() * 48), context.buffer(words.len() * 4));
    queue.write(&input, &words);
    kernel.set_mem(0, &out);
    kernel.set_mem(1, &input);
    // The groups follow each other in dimension 1. Each group is as wide as the NDRange, so the linear ids of a group
    // are consecutive.
    assert_eq!(queue.launch(&kernel, &[local[0], local[1] * groups], Some(&local)), CL_SUCCESS);
    let found: Vec<[u32; 12]> = queue.read::<u32>(&out, words.len() * 12).chunks_exact(12).map(|row| row.try_into().expect("12")).collect();
    for (found, words) in found.chunks(group).zip(words.chunks(group)) {
        // The device chooses which work-items form a subgroup, so sort them by subgroup and lane.
        let mut placed: Vec<_> = found.iter().zip(words).collect();
        placed.sort_by_key(|(row, _)| (row[3], row[4]));
        let mut wanted = Vec::new();
        for subgroup in placed.chunk_by(|(a, _), (b, _)| a[3] == b[3]) {
            let own: Vec<u32> = subgroup.iter().map(|&(_, &word)| word).collect();
            wanted.extend(expected(size, group, subgroup[0].0[3], &own));
        }
        let found: Vec<_> = placed.into_iter().map(|(row, _)| *row).collect();
        assert_eq!(found, wanted, "groups of {local:?} in subgroups of {size}");
    }
}

#[test]
fn kernels_run_with_the_required_size() {
    let sizes = sizes();
    assert!(sizes.is_sorted() && sizes.iter().all(|size| size.is_power_of_two()), "{sizes:?}");
    let context = Context::new();
    let program = build(&context, &sizes);
    for &size in sizes.iter().filter(|&&size| size > 1) {
        for local in [[64, 1], [size, 1], [4 * size + 2, 1], [6, 5], [16, 4], [2, 1]] {
            check(&context, &program, size, local);
        }
    }
}

/// The subgroups wait for each other in reverse order. The last one writes 0.
const CHAIN: &str = "
kernel __attribute__((intel_reqd_sub_group_size(SIZE))) void chain_SIZE(global int *out) {
    local atomic_int next;
    if (get_local_id(0) == 0)
        atomic_init(&next, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    int own = get_num_sub_groups() - 1 - get_sub_group_id();
    int spins = 0;
    while (atomic_load(&next) != own)
        ++spins;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0)
        atomic_fetch_add(&next, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load(&next) - (int)get_num_sub_groups();
}
";

/// With cl_khr_subgroups, the subgroups of a group make progress independently.
#[test]
fn subgroups_of_every_size_can_wait_for_each_other() {
    if !has_extension("cl_khr_subgroups") {
        return;
    }
    let (context, sizes) = (Context::new(), sizes());
    let source: String = sizes.iter().map(|size| CHAIN.replace("SIZE", &size.to_string())).collect();
    let program = context.program(&source);
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let queue = context.queue(0);
    for size in sizes {
        for (global, local) in [(1024, 256), (37, 37)] {
            let (kernel, out) = (program.kernel(&format!("chain_{size}")), context.buffer(global * 4));
            queue.write(&out, &vec![7_u32; global]);
            kernel.set_mem(0, &out);
            assert_eq!(queue.launch(&kernel, &[global], Some(&[local])), CL_SUCCESS);
            assert_eq!(queue.read::<u32>(&out, global), vec![0; global], "groups of {local} in subgroups of {size}");
        }
    }
}

#[test]
fn queries_report_the_required_size() {
    let sizes = sizes();
    let target = target();
    let query = |name| move |size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret);
    let context = Context::new();
    let program = build(&context, &sizes);
    for &size in &sizes {
        let kernel = program.kernel(&format!("of_{size}"));
        assert_eq!(subgroup_info(&kernel, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, &[]), size);
        assert_eq!(subgroup_info(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &[2 * size]), size);
        assert_eq!(subgroup_info(&kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[2 * size + 1]), 3);
        assert_eq!(subgroup_info(&kernel, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[2]), 2 * size);
        let most = subgroup_info(&kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[]);
        let (in_all, group): (cl_uint, usize) =
            (info(query(CL_DEVICE_MAX_NUM_SUB_GROUPS)).expect("a number"), info(query(CL_DEVICE_MAX_WORK_GROUP_SIZE)).expect("a number"));
        assert!(
            most >= 1 && most <= in_all as usize && most * size <= group.next_multiple_of(size),
            "{most} of {in_all}, {group} work-items"
        );
    }
}

/// `WGCL_SUBGROUP` selects the size of kernels that require none. Queries and kernels then agree.
#[test]
fn kernels_run_with_the_requested_size() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    for size in sizes().into_iter().filter(|&size| size > 1) {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "requested_size", "--ignored"]).env("WGCL_SUBGROUP", size.to_string());
        let output = command.output().expect("the child");
        assert!(output.status.success(), "{size}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
#[ignore = "the child of the other test"]
fn requested_size() {
    let size: usize = std::env::var("WGCL_SUBGROUP").ok().and_then(|size| size.parse().ok()).expect("a size");
    let context = Context::new();
    let source = KERNEL.replace("__attribute__((intel_reqd_sub_group_size(SIZE)))", "").replace("SIZE", &size.to_string());
    let program = context.program(&source);
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel(&format!("of_{size}"));
    assert_eq!(subgroup_info(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &[2 * size]), size);
    for local in [[64, 1], [4 * size + 2, 1], [6, 5]] {
        check(&context, &program, size, local);
    }
}

#[test]
fn other_sizes_do_not_build() {
    let sizes = sizes();
    let context = Context::new();
    for size in [0, 3, 1, 2, 4, 8, 16, 32, 64, 128, 256].into_iter().filter(|size| !sizes.contains(size)) {
        let program = context.program(&source(&[size]));
        assert_eq!(program.build("-cl-std=CL3.0"), CL_BUILD_PROGRAM_FAILURE, "{size}");
        let log = program.log();
        assert!(log.contains(&size.to_string()) || size == 0, "{log}");
    }
}
