//! What a client of the PostgreSQL protocol can make the store keep: bounded, and told.

#[path = "postgres/conversation.rs"]
#[allow(dead_code, reason = "shared with the tests of the protocol, which ask for more")]
mod conversation;
#[path = "postgres/wire.rs"]
#[allow(dead_code, reason = "shared with the tests of the protocol, which ask for more")]
mod wire;

use conversation::{Client, Store};
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::Protocol;
use testkit::memory::{MeasuringAlloc, measured};
use wire::{bind_texts, close, execute, message, parse, query, sync};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const MIB: usize = 1 << 20;

/// Figures of memory are of the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A table of the most columns, `c0` to `c1599`, the first its key.
fn wide() -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    let columns: Vec<String> = (1..1600).map(|n| format!("c{n} text")).collect();
    client.rows(&mut store, &format!("CREATE TABLE wide (c0 int PRIMARY KEY, {})", columns.join(", ")));
    (store, client)
}

/// What the server keeps of a connection, and nothing else.
trait Kept {
    /// What the connection says that it holds.
    fn holds(&self) -> usize;
    /// Lets go of what the test keeps: figures of memory are then the server's alone.
    fn forget(&mut self);
}

impl Kept for Client {
    fn holds(&self) -> usize {
        self.protocol.holds()
    }

    fn forget(&mut self) {
        (self.answers, self.bytes, self.input) = (Vec::new(), Vec::new(), Vec::new());
    }
}

/// Memory that the process holds more than before, and what the protocol says of itself, before and after.
fn grown(client: &mut Client, store: &mut Store, bytes: &[u8]) -> (usize, usize) {
    client.forget();
    let before = (testkit::memory::held(), client.holds());
    client.send(store, bytes);
    client.forget();
    let held = testkit::memory::held().saturating_sub(before.0);
    (held, client.holds().saturating_sub(before.1))
}

/// What is reported covers what is really held, but for a plan or so that all connections share, and is not three times as
/// much.
fn assert_covers((held, reported): (usize, usize)) {
    let covers = reported + 128 * 1024 >= held;
    assert!(covers && reported <= 3 * held + 64 * 1024, "reported {reported}, held {held}");
}

#[test]
fn a_row_of_values_costs_what_it_names() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let rows: Vec<String> = (0..50_000).map(|n| format!("({n})")).collect();
    let text = format!("INSERT INTO wide (c0) VALUES {}", rows.join(","));
    let parsing = [parse("s", &text, &[]), sync()].concat();
    let (said, memory) = measured(|| client.ask(&mut store, &parsing));
    assert_eq!(said, ["parsed", "ready I"]);
    assert!(memory.peak < 64 * MIB, "{memory:?}");
    let left_out = client.rows(&mut store, "INSERT INTO wide (c5, c0) VALUES ('five', 1), (DEFAULT, 2)");
    assert!(left_out.is_empty());
    assert_eq!(client.rows(&mut store, "SELECT c0, c5, c6 FROM wide"), ["1|five|NULL", "2|NULL|NULL"]);
}

#[test]
fn stars_are_counted_before_they_are_columns() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let text = format!("SELECT {} FROM wide", vec!["*"; 500_000].join(","));
    let (state, memory) = measured(|| client.refused(&mut store, &text));
    assert_eq!(state, "54011");
    assert!(memory.peak < 128 * MIB, "{memory:?}");
}

#[test]
fn prepared_statements_are_charged_with_their_plans() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let wide_plan = parse("a", "SELECT * FROM wide", &[]);
    assert_covers(grown(&mut client, &mut store, &wide_plan));
    let rows: Vec<String> = (0..20_000).map(|n| format!("({n})")).collect();
    let long_plan = parse("b", &format!("INSERT INTO wide (c0) VALUES {}", rows.join(",")), &[]);
    assert_covers(grown(&mut client, &mut store, &long_plan));
    // Until the connection has what it may have.
    let mut number = 0;
    let said = loop {
        number += 1;
        let name = format!("n{number}");
        let text = format!("INSERT INTO wide (c0) VALUES {}", rows.join(","));
        let said = client.ask(&mut store, &[parse(&name, &text, &[]), sync()].concat());
        if said[0] != "parsed" {
            break said;
        }
        assert!(number < 100, "128 MiB are reached");
    };
    assert!(said[0].starts_with("error ERROR 53400"), "{said:?}");
    client.send(&mut store, &[close(b'S', "b"), close(b'S', "a"), sync()].concat());
    let before = client.holds();
    for number in 1..100 {
        client.send(&mut store, &[close(b'S', &format!("n{number}")), sync()].concat());
    }
    assert!(client.holds() < 64 * 1024 && before > MIB, "{before} → {}", client.holds());
}

#[test]
fn plans_that_are_remembered_are_few_where_they_are_large() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let before = testkit::memory::held();
    for number in 0..600 {
        client.rows(&mut store, &format!("SELECT * FROM wide WHERE c0 = {number}"));
    }
    client.forget();
    let held = testkit::memory::held() - before;
    assert!(held < 48 * MIB, "{held}");
}

#[test]
fn portals_are_charged_with_what_they_keep() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let rows: Vec<String> = (0..2_000).map(|n| format!("({n},'{}')", "x".repeat(400))).collect();
    client.rows(&mut store, &format!("INSERT INTO wide (c0, c1) VALUES {}", rows.join(",")));
    client.send(&mut store, &[parse("s", "SELECT c0, c1 FROM wide", &[]), sync()].concat());
    let open = [bind_texts("p", "s", &[]), execute("p", 1), message(b'H', b"")].concat();
    assert_covers(grown(&mut client, &mut store, &open));
    client.send(&mut store, &sync());
    assert!(client.holds() < 64 * 1024, "{}", client.holds());
}

#[test]
fn what_a_transaction_wrote_is_charged_with_its_nulls() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    client.rows(&mut store, "BEGIN");
    let rows: Vec<String> = (0..500).map(|n| format!("({n})")).collect();
    let insert = query(&format!("INSERT INTO wide (c0) VALUES {}", rows.join(",")));
    let (held, reported) = grown(&mut client, &mut store, &insert);
    assert!(held > 500 * 1600 * 24);
    assert_covers((held, reported));
    // Written again, it is there once.
    let (_, again) = grown(&mut client, &mut store, &query("UPDATE wide SET c1 = 'x'"));
    assert!(again < reported / 4, "{again} more than {reported}");
    client.rows(&mut store, "ROLLBACK");
    assert!(client.holds() < 64 * 1024, "{}", client.holds());
}

#[test]
fn a_copy_is_charged_with_its_cells_and_what_waits_behind_it() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    let behind = "SELECT 1;".repeat(10_000);
    let begin = query(&format!("COPY wide (c0) FROM STDIN; {behind}"));
    assert_covers(grown(&mut client, &mut store, &begin));
    let lines: String = (0..500).map(|n| format!("{n}\n")).collect();
    let data = grown(&mut client, &mut store, &message(b'd', lines.as_bytes()));
    assert!(data.0 > 500 * 1600 * 24);
    assert_covers(data);
    client.send(&mut store, &message(b'f', b"no\0"));
    assert!(client.holds() < 64 * 1024, "{}", client.holds());
}

#[test]
fn settings_of_a_transaction_have_a_limit_too() {
    let _alone = alone();
    let (mut store, mut client) = wide();
    client.rows(&mut store, "BEGIN");
    let long = "v".repeat(4_000);
    let refused = (0..2_000).find_map(|n| {
        let said = client.query(&mut store, &format!("SET LOCAL own.n{n} = '{long}'"));
        said[0].starts_with("error").then(|| said[0].clone())
    });
    assert!(refused.expect("a limit").contains("54000"));
    assert!(client.holds() > MIB, "they count");
    client.rows(&mut store, "ROLLBACK");
    assert!(client.holds() < 64 * 1024, "{}", client.holds());
}
