// Twin of workloads/streams.py: reduction.

@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@group(0) @binding(2) var<uniform> size: u32;

var<workgroup> partials: array<f32, 64>;

@compute @workgroup_size(64)
fn sum(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
) {
    var total = 0.0;
    for (var i = id.x; i < size; i += groups.x * 64u) {
        total += data[i];
    }
    partials[lane] = total;
    for (var width = 32u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if lane < width {
            partials[lane] += partials[lane + width];
        }
    }
    if lane == 0u {
        sums[group.x] = partials[0];
    }
}
