//! An exact model: after a run the database holds what the model holds, to the last value.

use super::*;
use crate::model::{Database, Table};
use std::collections::BTreeMap;

fn tatp(parameters: &[(&str, &str)]) -> Tatp {
    let mut all = vec![("subscribers", "300")];
    all.extend(parameters);
    let all: Vec<_> = all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Tatp::new(TatpConfig::new(1.0, Seed(3), &all).unwrap())
}

#[derive(PartialEq)]
struct Model {
    subscribers: Table,
    access: Table,
    facilities: Table,
    forwards: Table,
}

impl Model {
    fn read(database: &Database) -> Model {
        let administration = &mut *database.administer();
        Model {
            subscribers: Table::read(administration, "subscriber", &["s_id"]),
            access: Table::read(administration, "access_info", &["s_id", "ai_type"]),
            facilities: Table::read(administration, "special_facility", &["s_id", "sf_type"]),
            forwards: Table::read(administration, "call_forwarding", &["s_id", "sf_type", "start_time"]),
        }
    }

    /// What becomes of the request.
    fn apply(&mut self, plan: &Plan, benchbase: bool) -> Outcome {
        let found = |is_there: bool| if is_there { Outcome::Ok } else { Outcome::Miss };
        let (id, kind_of, start) =
            (plan.subscriber.to_string(), plan.kind_of.to_string(), plan.start.to_string());
        let (id, kind_of, start) = (id.as_str(), kind_of.as_str(), start.as_str());
        match plan.kind {
            Kind::GetSubscriberData => found(self.subscribers.get(&[id], "s_id").is_some()),
            Kind::GetAccessData => found(self.access.get(&[id, kind_of], "data1").is_some()),
            Kind::GetNewDestination => found(self.is_forwarded(plan, id, kind_of)),
            Kind::UpdateLocation => found(self.subscribers.set(&[id], "vlr_location", plan.value)),
            Kind::UpdateSubscriberData => {
                let has_facility = self.facilities.get(&[id, kind_of], "data_a").is_some();
                if has_facility == benchbase {
                    return Outcome::Abort;
                }
                self.subscribers.set(&[id], "bit_1", plan.bit);
                self.facilities.set(&[id, kind_of], "data_a", plan.value);
                Outcome::Ok
            }
            Kind::InsertCallForwarding => {
                let has_facility = self.facilities.get(&[id, kind_of], "data_a").is_some();
                let is_taken = self.forwards.get(&[id, kind_of, start], "numberx").is_some();
                if !has_facility || is_taken {
                    return Outcome::Abort;
                }
                let number = if benchbase { &plan.number } else { &plan.other_number };
                let key = [id, kind_of, start].map(str::to_owned);
                let mut row = key.to_vec();
                row.extend([plan.end.to_string(), number.as_str().to_owned()]);
                self.forwards.rows.insert(key.to_vec(), row);
                Outcome::Ok
            }
            Kind::DeleteCallForwarding => {
                let key = [id, kind_of, start].map(str::to_owned);
                found(self.forwards.rows.remove(key.as_slice()).is_some())
            }
        }
    }

    fn is_forwarded(&self, plan: &Plan, id: &str, kind_of: &str) -> bool {
        let is_active = self.facilities.get(&[id, kind_of], "is_active") == Some("1");
        let hour = |text: &String| text.parse::<i64>().unwrap();
        let matches = |(key, row): (&Vec<String>, &Vec<String>)| {
            key[0] == id && key[1] == kind_of && hour(&key[2]) <= plan.start && plan.end < hour(&row[3])
        };
        is_active && self.forwards.rows.iter().any(matches)
    }
}

/// Runs requests on a database and on the model. Gives how the requests of each transaction ended.
fn run(tatp: &mut Tatp, requests: u64) -> BTreeMap<(&'static str, &'static str), u64> {
    let database = Database::loaded(tatp);
    let mut model = Model::read(&database);
    tatp.observe(&mut *database.administer()).unwrap();
    let mut ends = BTreeMap::new();
    database.run(
        tatp,
        requests,
        |_, _, ticket| ticket,
        |plan, outcome| {
            assert_eq!(outcome, model.apply(plan, tatp.config.benchbase), "{plan}");
            let (name, ..) = OPERATIONS.iter().find(|(_, _, kind)| *kind == plan.kind).unwrap();
            *ends.entry((*name, outcome.name())).or_insert(0) += 1;
        },
    );
    assert!(model == Model::read(&database), "tables differ");
    let results = tatp.check(&mut *database.administer(), Dialect::Sqlite).unwrap();
    assert!(results.iter().all(|result| result.passed), "{results:?}");
    assert!(results.iter().any(|result| result.name.contains("inserted and not deleted")));
    ends
}

#[test]
fn the_database_is_what_the_model_says() {
    for parameters in [
        &[][..],
        &[("roundtrips", "single"), ("keys", "uniform")],
        &[("compat", "benchbase")],
        &[("compat", "benchbase"), ("roundtrips", "batched"), ("keys", "nurand")],
    ] {
        let ends = run(&mut tatp(parameters), 20_000);
        for (name, outcome) in [
            ("InsertCallForwarding", "ok"),
            ("InsertCallForwarding", "abort"),
            ("DeleteCallForwarding", "ok"),
            ("DeleteCallForwarding", "miss"),
            ("UpdateSubscriberData", "ok"),
            ("UpdateSubscriberData", "abort"),
        ] {
            assert!(ends.get(&(name, outcome)).is_some_and(|n| *n > 50), "{name} {outcome}: {ends:?}");
        }
    }
}

/// Of many subscribers, all alike, each transaction succeeds as often as the specification's population has it.
#[test]
fn shares_of_success_are_those_that_are_stated() {
    let mut tatp = tatp(&[("subscribers", "20000"), ("keys", "uniform")]);
    let stated = shares::facts(&tatp);
    let ends = run(&mut tatp, 40_000);
    for (name, ..) in OPERATIONS {
        let count = |outcome| ends.get(&(name, outcome)).copied().unwrap_or(0) as f64;
        let all = count("ok") + count("miss") + count("abort");
        let found = count("ok") / all;
        let (_, value) = stated.iter().find(|(fact, _)| fact.ends_with(name)).unwrap();
        let percent = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap() / 100.0;
        let (range, spread) = value.split_once(" ± ").unwrap_or((value.as_str(), "0%"));
        let (low, high) = range.split_once("..").unwrap_or((range, range));
        let slack = |share: f64| 4.0 * (share * (1.0 - share) / all + percent(spread).powi(2)).sqrt();
        let (low, high) = (percent(low), percent(high));
        assert!(found >= low - slack(low) && found <= high + slack(high), "{name}: {found}, {value}");
    }
}

#[test]
fn who_is_not_there_is_missed_and_nothing_is_changed() {
    let tatp = tatp(&[("subscribers", "50")]);
    let database = Database::loaded(&tatp);
    let gone = "DELETE FROM call_forwarding; DELETE FROM special_facility; DELETE FROM access_info; \
                DELETE FROM subscriber";
    database.administer().script(gone).unwrap();
    let before = Model::read(&database);
    database.run(
        &tatp,
        2_000,
        |_, _, ticket| ticket,
        |plan, outcome| {
            let rolled_back = plan.kind == Kind::UpdateSubscriberData;
            assert_eq!(outcome, if rolled_back { Outcome::Abort } else { Outcome::Miss }, "{plan}");
        },
    );
    assert!(before == Model::read(&database));
    assert_eq!((tatp.ledger.moved(), tatp.ledger.unknown()), ((0, 0), 0));
}
