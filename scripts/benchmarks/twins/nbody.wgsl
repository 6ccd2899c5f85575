// Twin of workloads/numeric.py: forces between bodies.

@group(0) @binding(0) var<storage, read> bodies: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> forces: array<vec4f>;

var<workgroup> tile: array<vec4f, 64>;

@compute @workgroup_size(64)
fn attract(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32, @builtin(num_workgroups) groups: vec3u) {
    let mine = bodies[id.x];
    var sum = vec4f();
    for (var first = 0u; first < groups.x * 64u; first += 64u) {
        tile[lane] = bodies[first + lane];
        workgroupBarrier();
        for (var i = 0u; i < 64u; i++) {
            let other = tile[i];
            let away = vec4f(other.xyz - mine.xyz, 0.0);
            let inverse = inverseSqrt(dot(away, away) + 0.01);
            sum += away * (other.w * inverse * inverse * inverse);
        }
        workgroupBarrier();
    }
    forces[id.x] = sum;
}
