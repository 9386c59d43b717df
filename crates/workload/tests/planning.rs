//! Planning is pure and allocates nothing.

use driver::{Direct, Target};
use driver_null::{NullSession, NullTarget};
use testkit::alloc::{CountingAlloc, counted};
use units::{Outcome, Seed};
use workload::users::NOBODY;
use workload::ycsb::{Ycsb, YcsbConfig};
use workload::{OpId, Request, Workload};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const NAMES: [&str; 7] = ["ycsb", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"];

fn ycsb(name: &str, overrides: &[(&str, &str)]) -> Ycsb {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Ycsb::new(YcsbConfig::from_name(name, 1.0, Seed(1), &overrides).unwrap()).unwrap()
}

fn variants() -> Vec<Ycsb> {
    let mut all: Vec<Ycsb> = NAMES.iter().map(|name| ycsb(name, &[])).collect();
    let distributions = ["uniform", "zipfian-exact", "latest", "hotspot", "exponential", "sequential"];
    all.extend(distributions.map(|distribution| ycsb("ycsb-a", &[("requestdistribution", distribution)])));
    all.push(ycsb("ycsb-e", &[("fieldcount", "100"), ("fieldlengthdistribution", "zipfian")]));
    all.push(ycsb("ycsb-f", &[("readallfields", "false"), ("writeallfields", "true")]));
    all
}

#[test]
fn no_request_allocates_when_planned_or_run() {
    for ycsb in variants() {
        let statements = ycsb.statements(driver::Dialect::Null).unwrap();
        let mut session = NullTarget::new().connect(&statements, None).unwrap();
        let (mut tickets, mut plan) = (ycsb.tickets(), ycsb.new_plan());
        let operations = ycsb.operations().len() as u64;
        let (outcomes, counts) = counted(|| {
            let mut missed = 0;
            for seq in 0..5_000 {
                let op = OpId((seq % operations) as u8);
                let ticket = tickets.next(seq, op);
                ycsb.plan(Request { seq, op, ticket, user: NOBODY }, &mut plan);
                let mut direct = Direct::new(&mut session);
                let outcome = Direct::<NullSession>::run(ycsb.run(&plan, &mut direct));
                missed += u64::from(outcome != Ok(Outcome::Ok));
            }
            missed
        });
        assert_eq!((outcomes, counts.total()), (0, 0), "{:?}", ycsb.facts());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn no_request_makes_a_system_call_when_planned() {
    let ycsb = ycsb("ycsb", &[]);
    let mut plan = ycsb.new_plan();
    let ended = testkit::syscalls::no_syscalls(|| {
        for seq in 0..1_000 {
            ycsb.plan(Request { seq, op: OpId((seq % 6) as u8), ticket: seq, user: NOBODY }, &mut plan);
        }
    });
    assert_eq!(ended, Ok(()));
}

#[test]
fn a_plan_does_not_depend_on_what_was_planned_before() {
    for (ycsb, again) in variants().iter().zip(variants()) {
        let (mut fresh, mut used) = (ycsb.new_plan(), again.new_plan());
        let operations = ycsb.operations().len() as u64;
        let request =
            |seq: u64| Request { seq, op: OpId((seq * 7 % operations) as u8), ticket: seq / 2, user: NOBODY };
        let planned: Vec<String> = (0..300)
            .map(|seq| {
                ycsb.plan(request(seq), &mut fresh);
                fresh.to_string()
            })
            .collect();
        for seq in (0..300).rev() {
            again.plan(request(seq), &mut used);
            assert_eq!(used.to_string(), planned[seq as usize], "request {seq}");
        }
    }
}

/// A recording names its seed; a change here would silently change every load.
#[test]
fn plans_are_golden() {
    let shown = |name: &str| {
        let ycsb = ycsb(name, &[]);
        let mut plan = ycsb.new_plan();
        let operations = ycsb.operations().len() as u64;
        let lines: Vec<String> = (0..operations)
            .map(|seq| {
                ycsb.plan(Request { seq, op: OpId(seq as u8), ticket: 1_000 + seq, user: NOBODY }, &mut plan);
                plan.to_string()
            })
            .collect();
        lines.join("\n")
    };
    let mix = [
        "Read 0 field 0",
        "Insert 1001 from field 0: 1009320+100 355226+100 605869+100 805821+100 500107+100 169851+100 289922+100 \
         184957+100 787611+100 267108+100",
        "Scan 15 count 741 field 0",
        "Update 138 from field 0: 946921+100 854122+100 708487+100 993859+100 518292+100 179278+100 638845+100 \
         847577+100 856277+100 1018655+100",
        "Delete 1004 field 0",
        "ReadModifyWrite 48 from field 0: 20107+100 310070+100 423296+100 310655+100 844131+100 264074+100 \
         613257+100 301433+100 555072+100 326352+100",
    ];
    assert_eq!(shown("ycsb"), mix.join("\n"));
    let core = [
        "Read user4153387984724034032 field 0",
        "Update user773649639740817034 from field 3: 605869+100",
        "Insert user4429348515505139642 from field 0: 477970+100 776311+100 451021+100 122116+100 497056+100 \
         893735+100 405393+100 896851+100 630407+100 145581+100",
        "Scan user3453971665885977083 count 91 field 0",
        "ReadModifyWrite user2167454450103364686 from field 4: 527413+100",
    ];
    assert_eq!(shown("ycsb-a"), core.join("\n"));
}

fn of_client(name: &str, client: (u16, u16)) -> Ycsb {
    let mut config = YcsbConfig::from_name(name, 1.0, Seed(1), &[]).unwrap();
    config.client = client;
    Ycsb::new(config).unwrap()
}

/// The key of each of `count` requests of the operation at `index`, as planned from the run's start on.
fn keys_of(ycsb: &Ycsb, index: u8, count: u64) -> Vec<String> {
    let (mut tickets, mut plan) = (ycsb.tickets(), ycsb.new_plan());
    let word = |text: String| text.split(' ').nth(1).unwrap().to_owned();
    (0..count)
        .map(|seq| {
            let op = OpId(index);
            ycsb.plan(Request { seq, op, ticket: tickets.next(seq, op), user: NOBODY }, &mut plan);
            word(plan.to_string())
        })
        .collect()
}

#[test]
fn clients_insert_keys_of_their_own() {
    // The inserts of the mix, and of a CoreWorkload.
    for (name, insert) in [("ycsb", 1), ("ycsb-d", 2)] {
        let alone = keys_of(&of_client(name, (0, 1)), insert, 900);
        assert_eq!(alone, keys_of(&ycsb(name, &[]), insert, 900), "a client alone has the load of always");
        let mut all: Vec<String> =
            (0..3).flat_map(|client| keys_of(&of_client(name, (client, 3)), insert, 300)).collect();
        all.sort();
        let mut expected = alone;
        expected.sort();
        assert_eq!(all, expected, "{name}: three clients share out the keys of one");
    }
}

#[test]
fn clients_ask_differently_and_read_what_is_there() {
    let reads = |client| keys_of(&of_client("ycsb-d", client), 0, 1_000);
    assert_ne!(reads((0, 2)), reads((1, 2)), "not in step");
    // A read at a time when this client's inserts are all of the odd numbers from 1,001 on.
    let ycsb = of_client("ycsb-d", (1, 2));
    let own = keys_of(&ycsb, 2, 600);
    let mut plan = ycsb.new_plan();
    let mut from_own = 0;
    for seq in 0..2_000 {
        ycsb.plan(Request { seq, op: OpId(0), ticket: 600, user: NOBODY }, &mut plan);
        let key = plan.to_string().split(' ').nth(1).unwrap().to_owned();
        // The newest 128 may be in flight.
        assert!(!own[600 - 128..].contains(&key), "{key} may not be there yet");
        from_own += u64::from(own.contains(&key));
    }
    // `latest` draws the newest most often, and those are this client's own.
    assert!(from_own > 1_000, "{from_own}");
}
