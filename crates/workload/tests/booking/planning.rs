//! Planning is pure and allocates nothing; nor does running, against a target that answers at once.

use crate::support::{epinions, seats, smallbank, tatp};
use driver::{Dialect, Direct, Target};
use driver_null::{NullSession, NullTarget};
use testkit::alloc::counted;
use units::Outcome;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

fn allocates_nothing<W: Workload>(workload: &W) {
    let statements = workload.statements(Dialect::Null).unwrap();
    let mut session = NullTarget::new().connect(&statements, None).unwrap();
    let (mut tickets, mut plan) = (workload.tickets(), workload.new_plan());
    let operations = workload.operations().len() as u64;
    let (unusual, counts) = counted(|| {
        let mut unusual = 0;
        for seq in 0..6_000 {
            let op = OpId((seq % operations) as u8);
            let ticket = tickets.next(seq, op);
            workload.plan(Request { seq, op, ticket, user: NOBODY }, &mut plan);
            let mut direct = Direct::new(&mut session);
            let outcome = Direct::<NullSession>::run(workload.run(&plan, &mut direct));
            unusual += u64::from(outcome != Ok(Outcome::Ok));
        }
        unusual
    });
    assert_eq!((unusual, counts.total()), (0, 0), "{:?}", workload.facts());
}

#[test]
fn no_request_allocates_when_planned_or_run() {
    allocates_nothing(&epinions(1.0, &[]));
    allocates_nothing(&epinions(1.0, &[("pairs", "existing")]));
    allocates_nothing(&seats(&[]));
    allocates_nothing(&seats(&[("compat", "benchbase")]));
    for parameters in [&[][..], &[("roundtrips", "single")]] {
        allocates_nothing(&smallbank(parameters));
        allocates_nothing(&tatp(parameters));
    }
    allocates_nothing(&smallbank(&[("hotspot", "2,99%")]));
    allocates_nothing(&smallbank(&[("compat", "benchbase")]));
    allocates_nothing(&tatp(&[("keys", "uniform")]));
}

fn is_pure<W: Workload<Plan: std::fmt::Display>>(workload: &W, again: &W) {
    let (mut fresh, mut used) = (workload.new_plan(), again.new_plan());
    let operations = workload.operations().len() as u64;
    // Any ticket: a flight below 50, a customer below 512, a seat below 128.
    let request = |seq: u64| {
        let ticket = ((seq % 50) << 38) | ((seq * 11 % 512) << 8) | (seq % 128);
        Request { seq, op: OpId((seq * 7 % operations) as u8), ticket, user: NOBODY }
    };
    let planned: Vec<String> = (0..300)
        .map(|seq| {
            workload.plan(request(seq), &mut fresh);
            fresh.to_string()
        })
        .collect();
    for seq in (0..300).rev() {
        again.plan(request(seq), &mut used);
        assert_eq!(used.to_string(), planned[seq as usize], "request {seq}");
    }
}

#[test]
fn a_plan_does_not_depend_on_what_was_planned_before() {
    is_pure(&epinions(1.0, &[("pairs", "existing")]), &epinions(1.0, &[("pairs", "existing")]));
    is_pure(&seats(&[]), &seats(&[]));
    is_pure(&smallbank(&[("hotspot", "9,80%")]), &smallbank(&[("hotspot", "9,80%")]));
    is_pure(&tatp(&[]), &tatp(&[]));
}
