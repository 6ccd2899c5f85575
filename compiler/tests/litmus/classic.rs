//! Tests of the model with programs that the literature names (Maranget, Sarkar, Sewell: "A Tutorial Introduction to
//! the ARM and POWER Relaxed Memory Models"; Pulte et al.: "Simplifying ARM Concurrency", POPL 2018).

use super::event::{Barrier, Event, EventSet, Kind, Trace};
use super::model::final_states;

/// Parses threads separated by `|`, with events separated by `;`. An event is one of
/// - `R x 1`, `RA x 1`, `RQ x 1`: a plain read, `ldar`, `ldapr`
/// - `W x 1`, `WL x 1`: a plain write, `stlr`
/// - `U x 0 1`, `UA`, `UL`, `UAL`: a read and a write by one atomic instruction
/// - `X x 0 1`, `XA`, `XL`, `XAL`: a read and a write by a pair of exclusive accesses
/// - `F`, `FL`, `FS`: `dmb ish`, `dmb ishld`, `dmb ishst`
///
/// A last word `addr`, `data` or `ctrl` is a dependency on the last read.
fn threads(text: &str) -> Vec<Trace> {
    text.split('|').map(thread).collect()
}

fn thread(text: &str) -> Trace {
    let mut trace = Trace::new();
    let mut last_read: EventSet = 0;
    // All later writes depend on the branch.
    let mut control = 0;
    for event in text.split(';') {
        let words: Vec<&str> = event.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        let cell = |at: usize| u64::from(words[at].as_bytes()[0]);
        let order = words[0].get(1..).unwrap_or("");
        let mut read = Event::new(Kind::Read, 0, 0);
        let mut write = Event::new(Kind::Write, 0, 0);
        (read.order.acquire, read.order.processor_consistent) = (order.contains(['A', 'Q']), order.contains('Q'));
        write.order.release = order.contains('L');
        let (dependency, last) = (words[words.len() - 1], last_read);
        control |= if dependency == "ctrl" { last } else { 0 };
        let depends = |event: Event| Event {
            address: if dependency == "addr" { last } else { 0 },
            data: if dependency == "data" { last } else { 0 },
            control,
            ..event
        };
        match &words[0][..1] {
            "F" => {
                let barrier =
                    [("", Barrier::Full), ("L", Barrier::Load), ("S", Barrier::Store)].into_iter().find(|(name, _)| *name == order);
                trace.push(Event::new(Kind::Barrier(barrier.unwrap().1), 0, 0));
            }
            "R" => {
                last_read = 1 << trace.len();
                trace.push(depends(Event { cell: cell(1), value: number(2), ..read }));
            }
            "W" => trace.push(depends(Event { cell: cell(1), value: number(2), ..write })),
            kind => {
                last_read = 1 << trace.len();
                let updates = Some(trace.len());
                trace.push(depends(Event { cell: cell(1), value: number(2), ..read }));
                let fences = kind == "U" && order == "AL";
                trace.push(Event { control, ..Event { cell: cell(1), value: number(3), updates, fences, ..write } });
            }
        }
    }
    trace
}

/// Whether the threads can read these values, and the cells can end with the values of `finally` (`x 1 y 2`).
fn is_possible(text: &str, finally: &str) -> bool {
    let words: Vec<&str> = finally.split_whitespace().collect();
    let traces: Vec<Vec<Trace>> = threads(text).into_iter().map(|trace| vec![trace]).collect();
    let matches = |cell: &str, value: &str, state: &super::model::State| {
        state.get(&u64::from(cell.as_bytes()[0])).copied().unwrap_or(0) == value.parse::<u64>().unwrap()
    };
    final_states(&traces).iter().any(|state| words.chunks(2).all(|pair| matches(pair[0], pair[1], state)))
}

/// Name, threads, final values, and whether the execution is possible.
const PROGRAMS: &[(&str, &str, &str, bool)] = &[
    ("MP", "W x 1; W y 1 | R y 1; R x 0", "", true),
    ("MP+dmb+po", "W x 1; F; W y 1 | R y 1; R x 0", "", true),
    ("MP+po+dmb", "W x 1; W y 1 | R y 1; F; R x 0", "", true),
    ("MP+dmb+dmb", "W x 1; F; W y 1 | R y 1; F; R x 0", "", false),
    ("MP+dmb.st+dmb.ld", "W x 1; FS; W y 1 | R y 1; FL; R x 0", "", false),
    ("MP+dmb.ld+dmb.ld", "W x 1; FL; W y 1 | R y 1; FL; R x 0", "", true),
    ("MP+dmb+addr", "W x 1; F; W y 1 | R y 1; R x 0 addr", "", false),
    ("MP+dmb+ctrl", "W x 1; F; W y 1 | R y 1; R x 0 ctrl", "", true),
    ("MP+po-rel+acq-po", "W x 1; WL y 1 | RA y 1; R x 0", "", false),
    ("MP+po-rel+acqpc-po", "W x 1; WL y 1 | RQ y 1; R x 0", "", false),
    ("MP+po+acq-po", "W x 1; W y 1 | RA y 1; R x 0", "", true),
    ("MP+swap-rel", "W x 1; UL y 0 1 | RA y 1; R x 0", "", false),
    ("MP+swap-acq", "W x 1; UA y 0 1 | RA y 1; R x 0", "", true),
    ("SB", "W x 1; R y 0 | W y 1; R x 0", "", true),
    ("SB+dmbs", "W x 1; F; R y 0 | W y 1; F; R x 0", "", false),
    ("SB+dmb+po", "W x 1; F; R y 0 | W y 1; R x 0", "", true),
    ("SB+dmb.lds", "W x 1; FL; R y 0 | W y 1; FL; R x 0", "", true),
    ("SB+rel-acqs", "WL x 1; RA y 0 | WL y 1; RA x 0", "", false),
    ("SB+rel-acqpcs", "WL x 1; RQ y 0 | WL y 1; RQ x 0", "", true),
    ("SB+swap-acq-rel", "UAL x 0 1; R y 0 | UAL y 0 1; R x 0", "", true),
    ("SB+exclusives", "XAL x 0 1; R y 0 | XAL y 0 1; R x 0", "", true),
    ("SB+swap-acq-rel-between", "W x 1; UAL z 0 1; R y 0 | W y 1; F; R x 0", "", false),
    ("SB+exclusive-between", "W x 1; XAL z 0 1; R y 0 | W y 1; F; R x 0", "", true),
    ("LB", "R x 1; W y 1 | R y 1; W x 1", "", true),
    ("LB+data+po", "R x 1; W y 1 data | R y 1; W x 1", "", true),
    ("LB+datas", "R x 1; W y 1 data | R y 1; W x 1 data", "", false),
    ("LB+ctrls", "R x 1; W y 1 ctrl | R y 1; W x 1 ctrl", "", false),
    ("LB+rels", "R x 1; WL y 1 | R y 1; WL x 1", "", false),
    ("S+dmb.st+data", "W x 2; FS; W y 1 | R y 1; W x 1 data", "x 2", false),
    ("S+dmb.st+po", "W x 2; FS; W y 1 | R y 1; W x 1", "x 2", true),
    ("R+dmbs", "W x 1; F; W y 1 | W y 2; F; R x 0", "y 2", false),
    ("R+po+dmb", "W x 1; W y 1 | W y 2; F; R x 0", "y 2", true),
    ("2+2W", "W x 1; W y 2 | W y 1; W x 2", "x 1 y 1", true),
    ("2+2W+dmb.sts", "W x 1; FS; W y 2 | W y 1; FS; W x 2", "x 1 y 1", false),
    ("WRC+addrs", "W x 1 | R x 1; W y 1 data | R y 1; R x 0 addr", "", false),
    ("WRC+data+po", "W x 1 | R x 1; W y 1 data | R y 1; R x 0", "", true),
    ("ISA2", "W x 1; F; W y 1 | R y 1; W z 1 data | R z 1; R x 0 addr", "", false),
    ("IRIW", "W x 1 | W y 1 | R x 1; R y 0 | R y 1; R x 0", "", true),
    ("IRIW+addrs", "W x 1 | W y 1 | R x 1; R y 0 addr | R y 1; R x 0 addr", "", false),
    ("IRIW+addr+po", "W x 1 | W y 1 | R x 1; R y 0 addr | R y 1; R x 0", "", true),
    ("CoRR", "W x 1 | R x 1; R x 0", "", false),
    ("CoWW", "W x 1; W x 2", "x 1", false),
    ("CoRW", "R x 1; W x 1", "", false),
    ("CoWR", "W x 1; R x 0", "", false),
    ("CoRR2", "W x 1 | W x 2 | R x 1; R x 2 | R x 2; R x 1", "", false),
    ("atomic updates", "U x 0 1 | U x 0 1", "", false),
    ("exclusive updates", "X x 0 1 | X x 1 2", "x 2", true),
    ("update and write", "U x 0 1 | W x 2", "x 1", false),
    ("release sequence", "W x 1; WL y 1 | U y 1 2 | RA y 2; R x 0", "", false),
    ("overwritten release", "W x 1; WL y 1 | R y 1; W y 2 | RA y 2; R x 0", "", false),
    ("release, then own write", "W x 1; WL y 1; W y 2 | RA y 2; R x 0", "", false),
    ("PPOCA", "W x 1; F; W y 1 | R y 1; W z 1 ctrl; R z 1; R x 0 addr", "", true),
    ("PPOAA", "W x 1; F; W y 1 | R y 1; W z 1 addr; R z 1; R x 0 addr", "", false),
];

#[test]
fn the_model_decides_known_programs() {
    let wrong = PROGRAMS.iter().filter(|(_, text, finally, possible)| is_possible(text, finally) != *possible);
    assert_eq!(wrong.map(|program| program.0).collect::<Vec<_>>(), Vec::<&str>::new());
}
