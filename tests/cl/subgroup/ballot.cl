// Ballots and masks, and votes in non-uniform control flow.
// requires: cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_vote
// build: -cl-std=CL3.0

kernel void k(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
    uint4 odd = sub_group_ballot(lane & 1);
    uint4 all = sub_group_ballot(1);
    int bad = sub_group_ballot_bit_count(all) != size || sub_group_ballot_bit_count(odd) != size / 2;
    bad += 2 * (sub_group_inverse_ballot(odd) != (lane & 1));
    bad += 4 * (sub_group_ballot_bit_extract(odd, 0) != 0 || (size > 1 && !sub_group_ballot_bit_extract(odd, 1)));
    bad += 8 * (sub_group_ballot_inclusive_scan(all) != lane + 1 || sub_group_ballot_exclusive_scan(all) != lane);
    bad += 16 * (sub_group_ballot_find_lsb(all) != 0 || sub_group_ballot_find_msb(all) != size - 1);
    bad += 32 * (sub_group_ballot_bit_count(get_sub_group_eq_mask()) != 1 || !sub_group_inverse_ballot(get_sub_group_eq_mask()));
    bad += 64 * (sub_group_ballot_bit_count(get_sub_group_lt_mask()) != lane || sub_group_ballot_bit_count(get_sub_group_le_mask()) != lane + 1);
    bad += 128 * (sub_group_ballot_bit_count(get_sub_group_gt_mask()) != most - 1 - lane);
    bad += 256 * (sub_group_ballot_bit_count(get_sub_group_ge_mask()) != most - lane);
    wrong[get_global_id(0)] = bad;
}
// run: k global=32 local=32
// arg wrong: int[32] = 9
// expect wrong: 0
// run: k global=13 local=13
// arg wrong: int[13] = 9
// expect wrong: 0

kernel void divergent(global int *wrong)
{
    uint lane = get_sub_group_local_id();
    int bad = 0;
    if (lane & 1) {
        bad += sub_group_broadcast_first(lane) != 1;
        bad += 2 * (sub_group_elect() != (lane == 1));
        bad += 4 * !sub_group_non_uniform_all(lane & 1);
        bad += 8 * sub_group_non_uniform_any(!(lane & 1));
    } else {
        bad += sub_group_elect() != (lane == 0);
        bad += 2 * !sub_group_non_uniform_all_equal(5);
    }
    wrong[get_global_id(0)] = bad;
}
// run: divergent global=32 local=32
// arg wrong: int[32] = 9
// expect wrong: 0
