//! Values and batches that are larger than every buffer on their way.

use driver::{Command, Conversation, Direct, Fields, KeyValue, Session, Target, TargetUrl, Value};
use driver_redis::{RedisSession, RedisTarget};
use testkit::alloc::{CountingAlloc, counted};
use testkit::redis::{Options, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

fn connect(url: &str) -> RedisSession {
    RedisTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap().connect(&[], None).unwrap()
}

#[test]
fn values_of_ten_megabytes_come_back_whole_and_cost_no_more_room_the_second_time() {
    let Some(server) = server(&Options::default()) else { return };
    let text: String = "0123456789abcdefghijklm".chars().cycle().take(10_000_000).collect();
    for url in [server.unix_url(), server.tcp_url()] {
        let mut session = connect(&url);
        let fields = [("long", text.as_str()), ("short", "s")];
        let mut both = || {
            let mut direct = Direct::new(&mut session);
            direct
                .ask(Command::KeyValue(KeyValue::Update { table: "usertable", key: "k", fields: &fields }))
                .unwrap();
            let reply = direct
                .ask(Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::All }))
                .unwrap();
            assert_eq!(reply.rows, 1);
            // Fields come in the store's order, which is none for long values.
            let mut found = [0, 1].map(|column| session.value(0, 0, column));
            if found[0] == Some(Value::Text("s")) {
                found.reverse();
            }
            assert!(found == [Some(Value::Text(&text)), Some(Value::Text("s"))], "{url}: changed");
        };
        both();
        let ((), counts) = counted(both);
        assert_eq!(counts.total(), 0, "{url}");
    }
}

#[test]
fn batches_that_both_sides_must_read_while_they_write() {
    let Some(server) = server(&Options::default()) else { return };
    let text = "grow ".repeat(200_000);
    for url in [server.unix_url(), server.tcp_url()] {
        let mut session = connect(&url);
        for _ in 0..2 {
            let mut direct = Direct::new(&mut session);
            for _ in 0..8 {
                let fields = [("f", text.as_str())];
                direct
                    .stage(Command::KeyValue(KeyValue::Insert {
                        table: "usertable",
                        key: "k",
                        fields: &fields,
                    }))
                    .unwrap();
                direct
                    .stage(Command::KeyValue(KeyValue::Read {
                        table: "usertable",
                        key: "k",
                        fields: Fields::One("f"),
                    }))
                    .unwrap();
            }
            Direct::<RedisSession>::run(direct.exchange()).unwrap();
            for command in (1..16).step_by(2) {
                assert!(session.value(command, 0, 0) == Some(Value::Text(&text)), "{url}: command {command}");
            }
        }
    }
}

/// Many more commands in a batch, and fields in a record, than there was room for at first.
#[test]
fn long_batches_and_wide_records_come_back_whole() {
    let Some(server) = server(&Options::default()) else { return };
    let mut session = connect(&server.tcp_url());
    let names: Vec<String> = (0..5000).map(|number| format!("f{number}")).collect();
    let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    Direct::new(&mut session)
        .ask(Command::KeyValue(KeyValue::Insert { table: "usertable", key: "wide", fields: &fields }))
        .unwrap();
    let mut direct = Direct::new(&mut session);
    direct
        .stage(Command::KeyValue(KeyValue::Read { table: "usertable", key: "wide", fields: Fields::All }))
        .unwrap();
    for name in &names {
        direct
            .stage(Command::KeyValue(KeyValue::Read {
                table: "usertable",
                key: "wide",
                fields: Fields::One(name),
            }))
            .unwrap();
    }
    Direct::<RedisSession>::run(direct.exchange()).unwrap();
    let text = |command, column| match session.value(command, 0, column) {
        Some(Value::Text(text)) => Some(text.to_owned()),
        _ => None,
    };
    let mut all: Vec<String> = (0..).map_while(|column| text(0, column)).collect();
    all.sort_by_key(|name| name[1..].parse::<u32>().unwrap());
    assert_eq!(all, names);
    for (at, name) in names.iter().enumerate() {
        assert_eq!((text(at + 1, 0).as_ref(), text(at + 1, 1)), (Some(name), None));
    }
}
