//! On MariaDB: the same statements, keys and locks.

use crate::parts::goes_on_where_it_was;
use crate::postgres::run_side_by_side;
use crate::support::{broken, epinions, load, seats};
use driver::{Target, TargetUrl};
use driver_mysql::MySqlTarget;
use testkit::mariadb::{Options, server};
use units::Outcome;
use workload::Workload;

#[test]
fn both_stay_sound() {
    let Some(server) = server(&Options::default()) else { return };
    let target = MySqlTarget::from_url(&TargetUrl::parse(&server.unix_url()).unwrap()).unwrap();
    goes_on_where_it_was(&target, &epinions(0.1, &[]));
    let existing = epinions(3.0, &[("pairs", "existing")]);
    load(&target, &existing, 2);
    assert_eq!(broken(&target, &existing), [] as [String; 0]);
    // Locks of gaps between keys may meet: InnoDB then gives one of two up, and it is tried again.
    let retried = [Outcome::Deadlock, Outcome::Serialization];
    let ends = run_side_by_side(&target, &existing, 3_000, None, &retried);
    // Also where the value was the same before.
    assert!(ends.keys().all(|(_, outcome)| *outcome == "ok"), "{ends:?}");
    assert_eq!(broken(&target, &existing), [] as [String; 0]);

    goes_on_where_it_was(&target, &seats(&[]));
    let mut calm = seats(&[]);
    load(&target, &calm, 2);
    assert_eq!(broken(&target, &calm), [] as [String; 0]);
    calm.observe(&mut *target.administer().unwrap()).unwrap();
    let ends = run_side_by_side(&target, &calm, 4_000, None, &retried);
    assert_eq!(broken(&target, &calm), [] as [String; 0]);
    let aborted: u64 = ends.iter().filter(|((_, outcome), _)| *outcome != "ok").map(|(_, n)| n).sum();
    assert!(aborted < 30, "{ends:?}");
    let mut crowded = seats(&[("flightcache", "4"), ("outstanding", "0")]);
    crowded.observe(&mut *target.administer().unwrap()).unwrap();
    run_side_by_side(&target, &crowded, 2_000, None, &retried);
    assert_eq!(broken(&target, &crowded), [] as [String; 0]);
}
