// Subgroups of smaller work-groups at the edge.
// build: -cl-std=CL3.0
// requires: cl_khr_subgroup_ballot

kernel void subgroups(global uint *out)
{
    uint most = get_max_sub_group_size(), left = get_local_size(0) - get_sub_group_id() * most;
    bool right = get_num_sub_groups() == (get_local_size(0) + most - 1) / most
        && get_enqueued_num_sub_groups() == (get_enqueued_local_size(0) + most - 1) / most
        && get_sub_group_size() == min(most, left) && sub_group_reduce_add(1) == (int)min(most, left);
    out[get_global_id(0)] = right ? get_local_size(0) : 0;
}
// run: subgroups global=91 local=40
// arg out: uint[91]
// expect out: i < 80 ? 40 : 11
// run: subgroups global=3 local=64
// arg out: uint[3]
// expect out: 3
