//! Who ran during planted stalls: named with the share that was planted, and nobody where nobody was.

mod made;
mod pool;

use analysis::attribution::{Held, Ran};
use analysis::{Attribution, Cause, Options, analyse_batches};
use made::{MS, Run, S};
use pool::{Pool, announce, runs_on, watched};
use record::NoiseObservation;
use units::{Instant, Nanos};

fn attributed(run: &Run) -> Attribution {
    let options = Options { worst: usize::MAX, ..Options::default() };
    let batches = run.batches();
    let pairs = batches.iter().map(|batch| (0, batch));
    let found = analyse_batches(vec![run.input.clone()], pairs, &options).expect("one run is a run");
    assert!(found.noise_sources.iter().all(|source| !source.name.starts_with("ran cpu ")), "no watchers");
    assert_eq!(found.observers.sources, found.noise_sources.iter().filter(|s| s.available.is_ok()).count());
    found.attribution.expect("there are requests")
}

fn told(run: &mut Run, source: u16, value: u64, begin: u64, end: u64) {
    let (begin, end) = (Instant(begin), Instant(end));
    run.input.noise.push(NoiseObservation { source, value: value as f64, begin, end });
}

/// Three stalls of 50 ms of CPU 1, which is the load's; nobody has said yet who ran.
fn stalled() -> (Run, Vec<u64>) {
    let begins: Vec<u64> = [4, 9, 15].map(|second| second * S + 123 * MS).to_vec();
    let client: pool::Stalls = begins.iter().map(|begin| (*begin, begin + 50 * MS)).collect();
    let mut run = Pool { client: client.clone(), ..Pool::new(5) }.run();
    runs_on(&mut run, "1", "0");
    watched(&mut run, 1, &client);
    (run, begins)
}

fn ran(found: &Attribution) -> &Ran {
    found.row(Cause::ClientStall).and_then(|row| row.ran.as_ref()).expect("somebody watched")
}

fn named(ran: &Ran) -> Vec<(&str, u64)> {
    ran.runners.iter().map(|runner| (runner.name.as_str(), runner.time.0 / MS)).collect()
}

#[test]
fn those_who_ran_are_named_with_their_time_and_the_rest_is_nobodys() {
    let (mut run, begins) = stalled();
    let who = announce(&mut run, "who", Ok(900));
    let sources = ["ran cpu 1: postgres (pid 7)", "ran cpu 1: postgres (pid 8)", "ran cpu 1: softirq NET_RX"]
        .map(|name| announce(&mut run, name, Ok(0)));
    let elsewhere = announce(&mut run, "ran cpu 0: cc1 (pid 9)", Ok(0));
    for begin in &begins {
        told(&mut run, who, 0, *begin, begin + 100 * MS);
        // It began before the stall, and half of its time others had the CPU.
        told(&mut run, sources[0], 20 * MS, begin - 10 * MS, begin + 30 * MS);
        told(&mut run, sources[1], 10 * MS, begin + 30 * MS, begin + 40 * MS);
        told(&mut run, sources[2], 5 * MS, begin + 40 * MS, begin + 45 * MS);
        told(&mut run, elsewhere, 50 * MS, *begin, begin + 50 * MS);
    }
    let found = attributed(&run);
    let ran = ran(&found);
    assert_eq!(named(ran), [("postgres (2 processes)", 75), ("softirq NET_RX", 15)]);
    assert_eq!((ran.stalled, ran.nobody, ran.is_whole), (Nanos(150 * MS), Nanos(60 * MS), true));
    let note = found.notes.iter().find(|note| note.contains("was had by")).expect("a note");
    assert!(
        note.contains("cc1 (pid 9) 150 ms, postgres (2 processes) 90.0 ms, softirq NET_RX 15.0 ms"),
        "{note}"
    );
}

#[test]
fn a_request_says_who_had_the_cpu_in_its_stall() {
    let (mut run, begins) = stalled();
    announce(&mut run, "who", Ok(900));
    let burner = announce(&mut run, "ran cpu 1: burner (pid 7)", Ok(0));
    told(&mut run, burner, 50 * MS, begins[0], begins[0] + 50 * MS);
    let found = attributed(&run);
    let mut seen = [0; 3];
    for one in &found.worst {
        assert_eq!(one.held.len(), one.pieces.len());
        for (piece, held) in one.pieces.iter().zip(&one.held) {
            let is_stall = piece.cause == Cause::ClientStall && !piece.is_behind;
            let is_first = piece.begin.0 < begins[1] - S;
            let expected = match (is_stall, is_first) {
                (false, _) => None,
                (true, true) => Some(Held::By("burner (pid 7)".to_owned())),
                (true, false) => Some(Held::ByNobody),
            };
            assert_eq!(*held, expected, "{piece:?}");
            seen[usize::from(is_stall) + usize::from(is_stall && is_first)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn where_nobody_watched_or_not_all_was_told_nobody_is_not_said() {
    let (run, _) = stalled();
    let found = attributed(&run);
    assert_eq!(found.row(Cause::ClientStall).expect("its row").ran, None);
    assert!(found.worst.iter().flat_map(|one| &one.held).all(Option::is_none));

    let (mut refused, _) = stalled();
    announce(&mut refused, "who", Err("bpf(2), a map: Operation not permitted".to_owned()));
    let found = attributed(&refused);
    assert_eq!(found.row(Cause::ClientStall).expect("its row").ran, None);
    assert!(
        found.notes.iter().any(|note| note.ends_with("is not known: bpf(2), a map: Operation not permitted"))
    );

    let (mut lossy, begins) = stalled();
    let who = announce(&mut lossy, "who", Ok(900));
    told(&mut lossy, who, 17, begins[0], begins[0] + 100 * MS);
    let found = attributed(&lossy);
    assert_eq!((ran(&found).nobody, ran(&found).is_whole), (Nanos(150 * MS), false));
    assert!(found.worst.iter().flat_map(|one| &one.held).all(Option::is_none));
    assert!(found.notes.iter().any(|note| note.contains("17 events of who ran were lost or left out")));
}
