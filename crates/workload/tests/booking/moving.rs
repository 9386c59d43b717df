//! SmallBank and TATP on servers: what many sessions moved adds up, also where connections break.

use crate::parts::goes_on_where_it_was;
use crate::postgres::run_side_by_side;
use crate::support::{Database, broken, load, smallbank, tatp};
use driver::{Administration, Direct, Isolation, Session, StatementSpec, Target, TargetUrl};
use driver_mysql::MySqlTarget;
use driver_postgres::{PostgresSession, PostgresTarget};
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::{mariadb, postgres};
use units::{Outcome, Seed};
use workload::dataset::DataSet;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

/// What a server gives up of two transactions that meet, and is asked again.
const RETRIED: [Outcome; 3] = [Outcome::Deadlock, Outcome::Serialization, Outcome::Busy];

/// Connections that are lost in a test of lost connections.
const LOST: u64 = 40;

/// Loads, runs side by side and checks; the last check tells what was moved.
fn adds_up<T: Target, W: Workload + DataSet>(
    target: &T,
    workload: &mut W,
    isolation: Option<Isolation>,
    moved: &str,
) {
    load(target, workload, 2);
    assert_eq!(broken(target, workload), [] as [String; 0]);
    workload.observe(&mut *target.administer().unwrap()).unwrap();
    let ends = run_side_by_side(target, workload, 4_000, isolation, &RETRIED);
    assert!(ends.keys().all(|(_, outcome)| ["ok", "miss", "abort"].contains(outcome)), "{ends:?}");
    assert_eq!(broken(target, workload), [] as [String; 0], "{isolation:?}: {ends:?}");
    let counts = workload.counts();
    let of = |name: &str| counts.iter().find(|(known, _)| *known == name).unwrap().1;
    assert!(of(moved) > 0, "{counts:?}");
    assert_eq!(counts.last().unwrap().1, 0, "every commit was answered: {counts:?}");
    workload::dataset::drop_dataset(&mut *target.administer().unwrap(), workload).unwrap();
}

fn all_add_up<T: Target>(target: &T, isolations: &[Option<Isolation>]) {
    for isolation in isolations {
        // Few customers, so that sessions meet.
        for hotspot in ["none", "3,90%"] {
            adds_up(target, &mut smallbank(&[("hotspot", hotspot)]), *isolation, "cents paid out");
        }
        adds_up(target, &mut tatp(&[("subscribers", "40")]), *isolation, "call forwardings inserted");
    }
    adds_up(target, &mut smallbank(&[("roundtrips", "single")]), None, "cents paid in");
    adds_up(target, &mut tatp(&[("roundtrips", "single")]), None, "call forwardings deleted");
    adds_up(target, &mut tatp(&[("compat", "benchbase")]), isolations[0], "call forwardings deleted");
}

#[test]
fn on_sqlite() {
    all_add_up(&Database::new().target, &[None]);
}

fn postgres_target(server: &postgres::Server) -> PostgresTarget {
    PostgresTarget::from_url(&TargetUrl::parse(&server.unix_url()).unwrap()).unwrap()
}

#[test]
fn on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let target = postgres_target(&server);
    goes_on_where_it_was(&target, &smallbank(&[("customers", "10001")]));
    goes_on_where_it_was(&target, &tatp(&[("subscribers", "5001")]));
    all_add_up(&target, &[None, Some(Isolation::Serializable)]);
}

#[test]
fn on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let target = MySqlTarget::from_url(&TargetUrl::parse(&server.unix_url()).unwrap()).unwrap();
    goes_on_where_it_was(&target, &smallbank(&[("customers", "10001")]));
    goes_on_where_it_was(&target, &tatp(&[("subscribers", "5001")]));
    all_add_up(&target, &[None, Some(Isolation::ReadCommitted)]);
}

/// A new session, however often it is ended while it is made.
fn reconnected(target: &PostgresTarget, statements: &[StatementSpec]) -> PostgresSession {
    loop {
        if let Ok(session) = target.connect(statements, None) {
            return session;
        }
    }
}

/// Asks until enough connections were lost. The number of requests bounds how long that can take.
fn ask_on<W: Workload>(target: &PostgresTarget, workload: &W, next: &AtomicU64, lost: &AtomicU64) {
    let statements = workload.statements(target.dialect()).unwrap();
    let operations = workload.operations().len() as u64;
    let mut plan = workload.new_plan();
    let mut session = reconnected(target, &statements);
    while lost.load(Ordering::Relaxed) < LOST {
        let seq = next.fetch_add(1, Ordering::Relaxed);
        assert!(seq < 1_000_000, "few connections break");
        let op = OpId(Seed(8).at(seq).below(operations) as u8);
        workload.plan(Request { seq, op, ticket: 0, user: NOBODY }, &mut plan);
        let mut direct = Direct::new(&mut session);
        let Err(error) = Direct::<PostgresSession>::run(workload.run(&plan, &mut direct)) else { continue };
        if error.session_usable {
            assert!(RETRIED.contains(&error.outcome), "{error:?}: {:?}", session.last_error());
            continue;
        }
        lost.fetch_add(1, Ordering::Relaxed);
        session = reconnected(target, &statements);
    }
}

/// Ends what the server is busy with, until nobody asks any more.
fn end_connections(target: &PostgresTarget, asking: &AtomicU64) {
    let mut administration = target.administer().unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
               AND backend_type = 'client backend' AND state <> 'idle' LIMIT 1";
    while asking.load(Ordering::Relaxed) > 0 {
        administration.query(end).unwrap();
    }
}

/// One who asks, until he is dropped: also when he fails.
struct Asking<'a>(&'a AtomicU64);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn run_while_connections_break<W: Workload>(target: &PostgresTarget, workload: &W) {
    const SESSIONS: u64 = 4;
    let (next, lost, asking) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(SESSIONS));
    std::thread::scope(|scope| {
        for _ in 0..SESSIONS {
            scope.spawn(|| {
                let _asking = Asking(&asking);
                ask_on(target, workload, &next, &lost);
            });
        }
        scope.spawn(|| end_connections(target, &asking));
    });
}

/// A commit whose answer was lost makes a bound; what was moved lies within it, and much less or more does not.
#[test]
fn broken_connections_leave_a_bound() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let target = postgres_target(&server);
    let mut bank = smallbank(&[]);
    let mut network = tatp(&[]);
    load(&target, &bank, 1);
    load(&target, &network, 1);
    bank.observe(&mut *target.administer().unwrap()).unwrap();
    network.observe(&mut *target.administer().unwrap()).unwrap();
    run_while_connections_break(&target, &bank);
    run_while_connections_break(&target, &network);
    assert_eq!(broken(&target, &bank), [] as [String; 0], "{:?}", bank.counts());
    assert_eq!(broken(&target, &network), [] as [String; 0], "{:?}", network.counts());
    let administration: &mut dyn Administration = &mut *target.administer().unwrap();
    administration.script("UPDATE savings SET bal = bal + 100000000 WHERE custid = 1").unwrap();
    let found = broken(&target, &bank);
    assert!(found.len() == 1 && found[0].starts_with("money is conserved"), "{found:?}");
}
