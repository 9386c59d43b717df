//! A second node joins a real Cassandra: what its neighbour tells of it meanwhile, and that both then serve the same records.
#![cfg(feature = "fetched-servers")]

use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl};
use driver_cql::CqlTarget;
use testkit::cassandra::{Options, cassandra_server};

const TABLE: &str = "usertable";

fn target(url: &str) -> CqlTarget {
    CqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

#[test]
fn a_node_joins_and_both_have_what_is_written_at_all() {
    let Some(first) = cassandra_server(&Options::default()) else { return };
    let made = target(&format!("{}?replication=2&consistency=one", first.url("ycsb")));
    let mut administration = made.administer().unwrap();
    administration.records().unwrap().make_table(TABLE, &["field0", "field1"]).unwrap();
    let second = first.neighbour(2, &Options::default()).unwrap();
    second.begin().unwrap();
    let mut states: Vec<String> = Vec::new();
    while !second.serves().unwrap() {
        let cql = "SELECT toJson(address), status_with_port FROM system_views.gossip_info";
        let rows = administration.query(cql).unwrap();
        let is_second =
            |row: &&Vec<Option<String>>| row[0].as_ref().is_some_and(|text| text.contains("127.0.0.2"));
        let state = rows.iter().find(is_second).and_then(|row| row[1].clone()).unwrap_or_default();
        let state = state.split(',').next().unwrap_or_default().to_owned();
        if !state.is_empty() && states.last() != Some(&state) {
            states.push(state);
        }
        clock::pause(units::Nanos::from_millis(50));
    }
    assert_eq!(states, ["BOOT", "NORMAL"]);
    // Sessions take the hosts in turns; whatever is written through one is read through the other.
    let url =
        format!("cql://127.0.0.1,127.0.0.2:{}/ycsb?write_consistency=all&read_consistency=one", first.port());
    let both = target(&url);
    let mut sessions = [both.connect(&[], None).unwrap(), both.connect(&[], None).unwrap()];
    for number in 0..20 {
        let (key, text) = (format!("user{number}"), number.to_string());
        let insert =
            KeyValue::Insert { table: TABLE, key: &key, fields: &[("field0", &text), ("field1", "x")] };
        Direct::new(&mut sessions[number % 2]).ask(Command::KeyValue(insert)).unwrap();
        let read = KeyValue::Read { table: TABLE, key: &key, fields: Fields::All };
        let reply = Direct::new(&mut sessions[(number + 1) % 2]).ask(Command::KeyValue(read)).unwrap();
        assert_eq!(reply.rows, 1);
    }
}
