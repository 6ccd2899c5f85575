// Twin of workloads/linear.py: transposition by tiles in work-group memory.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;

var<workgroup> tile: array<array<f32, 17>, 16>;

@compute @workgroup_size(16, 16)
fn transpose_tile(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
    let corner = group.xy * 16u;
    tile[lane.y][lane.x] = a[(corner.y + lane.y) * n + corner.x + lane.x];
    workgroupBarrier();
    b[(corner.x + lane.y) * n + corner.y + lane.x] = tile[lane.x][lane.y];
}
