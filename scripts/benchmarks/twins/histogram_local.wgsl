// Twin of workloads/searching.py: a histogram of bytes, counted in work-group memory first. WGSL has no 8-bit type, so bytes are extracted from words.

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> size: u32;

var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(64)
fn histogram(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32, @builtin(num_workgroups) groups: vec3u) {
    for (var b = lane; b < 256u; b += 64u) {
        atomicStore(&counts[b], 0u);
    }
    workgroupBarrier();
    for (var i = id.x; i < size / 4u; i += groups.x * 64u) {
        let word = data[i];
        atomicAdd(&counts[word & 255u], 1u);
        atomicAdd(&counts[(word >> 8u) & 255u], 1u);
        atomicAdd(&counts[(word >> 16u) & 255u], 1u);
        atomicAdd(&counts[word >> 24u], 1u);
    }
    workgroupBarrier();
    for (var b = lane; b < 256u; b += 64u) {
        atomicAdd(&bins[b], atomicLoad(&counts[b]));
    }
}
