//! Records of key-value targets. Each function stands in for the check of the same kind on a table.

use super::batches::exchange;
use super::{Fixture, connect, ensure, same, told};
use crate::{
    Administration, Command, Dialect, Direct, Fields, KeyValue, OpError, Reply, Session, Target, Value,
};
use units::Outcome;

/// Whether the target has records instead of tables.
pub(super) fn has_records<F: Fixture>(fixture: &F) -> bool {
    fixture.target().dialect() == Dialect::KeyValue
}

const TABLE: &str = "truetail_conformance";

const READ: Reply = Reply { rows: 1, affected: 0 };
const WRITTEN: Reply = Reply { rows: 0, affected: 1 };

type Written<'a> = &'a [(&'a str, &'a str)];

fn key(number: usize) -> String {
    format!("truetail_conformance{number}")
}

fn read(key: &str) -> Command<'_> {
    Command::KeyValue(KeyValue::Read { table: TABLE, key, fields: Fields::All })
}

fn read_one<'a>(key: &'a str, field: &'a str) -> Command<'a> {
    Command::KeyValue(KeyValue::Read { table: TABLE, key, fields: Fields::One(field) })
}

fn insert<'a>(key: &'a str, fields: Written<'a>) -> Command<'a> {
    Command::KeyValue(KeyValue::Insert { table: TABLE, key, fields })
}

fn update<'a>(key: &'a str, fields: Written<'a>) -> Command<'a> {
    Command::KeyValue(KeyValue::Update { table: TABLE, key, fields })
}

fn delete(key: &str) -> Command<'_> {
    Command::KeyValue(KeyValue::Delete { table: TABLE, key })
}

/// The reply of a delete of what is not there.
fn deleted_nothing<F: Fixture>(fixture: &F) -> Reply {
    if fixture.deletes_blindly() { WRITTEN } else { Reply::default() }
}

fn ask<S: Session>(session: &mut S, command: Command<'_>) -> Result<Reply, String> {
    let reply = Direct::new(session).ask(command);
    told(reply, session, name(command))
}

fn name(command: Command<'_>) -> &'static str {
    match command {
        Command::KeyValue(KeyValue::Read { .. }) => "read",
        Command::KeyValue(KeyValue::Insert { .. }) => "insert",
        Command::KeyValue(KeyValue::Update { .. }) => "update",
        Command::KeyValue(KeyValue::Delete { .. }) => "delete",
        _ => "command",
    }
}

/// The values of a command's one row, sorted: a store keeps fields in an order of its own.
fn values<S: Session>(session: &S, command: usize) -> Vec<String> {
    let text = |column| match session.value(command, 0, column)? {
        Value::Text(text) => Some(text.to_owned()),
        other => Some(format!("{other:?}")),
    };
    let mut values: Vec<String> = (0..).map_while(text).collect();
    values.sort();
    values
}

fn sorted(values: &[&str]) -> Vec<String> {
    let mut values: Vec<String> = values.iter().map(|text| (*text).to_owned()).collect();
    values.sort();
    values
}

/// A session, and no record of earlier checks. Then `count` records with a `name`, their key's number.
fn session<F: Fixture>(
    fixture: &F,
    count: usize,
) -> Result<<<F as Fixture>::Target as Target>::Session, String> {
    let mut session = connect(fixture, &[], None)?;
    for number in 0..60 {
        ask(&mut session, delete(&key(number)))?;
    }
    for number in 0..count {
        let name = number.to_string();
        same(ask(&mut session, insert(&key(number), &[("name", &name)]))?, WRITTEN, "reply of an insert")?;
    }
    Ok(session)
}

pub(super) fn values_come_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 0)?;
    let key = key(0);
    let texts =
        ["", " ", "a'b\"c\\d\n\t", "größe", "日本語 🦀", "\r\n", "$-1\r\n", "*2\r\n", "NULL", "-ERR x"];
    for (at, text) in texts.into_iter().enumerate() {
        let number = format!("number {at}");
        let written = ask(&mut session, insert(&key, &[("words", text), ("number", &number)]))?;
        same(written, WRITTEN, "reply of an insert")?;
        same(ask(&mut session, read(&key))?, READ, "reply of a read")?;
        same(values(&session, 0), sorted(&[text, &number]), "values of all fields")?;
        same(ask(&mut session, read_one(&key, "words"))?, READ, "reply of a read of one field")?;
        same(values(&session, 0), sorted(&[text]), "the value of one field")?;
        same(ask(&mut session, update(&key, &[("number", "7")]))?, WRITTEN, "reply of an update")?;
        ask(&mut session, read(&key))?;
        same(values(&session, 0), sorted(&[text, "7"]), "values after an update of one field")?;
        same(ask(&mut session, delete(&key))?, WRITTEN, "reply of a delete")?;
    }
    Ok(())
}

pub(super) fn missing_fields<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 2)?;
    for (number, field) in [(0, "nothing"), (50, "name"), (1, "nothing")] {
        let reply = ask(&mut session, read_one(&key(number), field))?;
        same(reply, Reply::default(), "reply of a read of a field that is not there")?;
        same(session.value(0, 0, 0), None, "the value of a field that is not there")?;
    }
    let both = Fields::Named(&["nothing", "name"]);
    let first = key(1);
    let named = Command::KeyValue(KeyValue::Read { table: TABLE, key: &first, fields: both });
    same(ask(&mut session, named)?, READ, "reply of a read of two fields of which one is there")?;
    let found = [0, 1, 2].map(|column| session.value(0, 0, column));
    same(found, [Some(Value::Null), Some(Value::Text("1")), None], "the values of these two fields")
}

pub(super) fn long_text_comes_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 0)?;
    let key = key(0);
    // Around the sizes of buffers and of segments, and far above both.
    for length in [1_000, 4_095, 4_096, 16_384, 65_535, 65_536, 1_000_000, 3] {
        let text: String = "0123456789abcdefghijklm".chars().cycle().take(length).collect();
        ask(&mut session, delete(&key))?; // a store may refuse to insert what is there
        same(ask(&mut session, insert(&key, &[("long", &text)]))?, WRITTEN, "reply of an insert")?;
        for fields in [Fields::All, Fields::One("long"), Fields::Named(&["long"])] {
            let command = Command::KeyValue(KeyValue::Read { table: TABLE, key: &key, fields });
            same(ask(&mut session, command)?, READ, "reply of a read")?;
            ensure(session.value(0, 0, 0) == Some(Value::Text(&text)), || {
                format!("{length} bytes of text came back changed")
            })?;
        }
    }
    Ok(())
}

pub(super) fn values_end<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 3)?;
    ask(&mut session, read(&key(2)))?;
    same(session.value(0, 0, 0), Some(Value::Text("2")), "a value")?;
    for (command, row, column) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (9, 9, 9)] {
        same(session.value(command, row, column), None, "a value past the end")?;
    }
    for command in [read(&key(50)), update(&key(2), &[("name", "new")]), delete(&key(2)), Command::Ping] {
        ask(&mut session, command)?;
        same(session.value(0, 0, 0), None, "a value of no row")?;
    }
    Ok(())
}

pub(super) fn rows_and_changes_are_counted<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 10)?;
    for number in 0..10 {
        let key = key(number);
        same(ask(&mut session, read(&key))?, READ, "reply of a read")?;
        let fields = [("name", "new"), ("more", "fields"), ("than", "one")];
        same(ask(&mut session, update(&key, &fields))?, WRITTEN, "reply of an update")?;
        same(ask(&mut session, update(&key, &fields))?, WRITTEN, "reply of an update that changes nothing")?;
        same(ask(&mut session, read(&key))?, READ, "reply of a read of three fields")?;
        same(ask(&mut session, delete(&key))?, WRITTEN, "reply of a delete")?;
        let second = ask(&mut session, delete(&key))?;
        same(second, deleted_nothing(fixture), "reply of a second delete")?;
    }
    Ok(())
}

pub(super) fn misses_touch_nothing<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 1)?;
    // Touch something first: counts of an earlier command must not stay.
    let none = deleted_nothing(fixture);
    for (before, miss, reply) in
        [(read(&key(0)), read(&key(50)), Reply::default()), (delete(&key(0)), delete(&key(50)), none)]
    {
        ensure(ask(&mut session, before)?.touched(), || "what is there was not touched".to_owned())?;
        same(ask(&mut session, miss)?, reply, "reply of a miss")?;
    }
    same(ask(&mut session, read_one(&key(50), "name"))?, Reply::default(), "reply of a miss")
}

pub(super) fn many_exchanges<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 20)?;
    for round in 0..1000 {
        let name = (round % 20).to_string();
        same(ask(&mut session, read(&key(round % 20)))?, READ, "reply of a read")?;
        same(session.value(0, 0, 0), Some(Value::Text(&name)), "the name read")?;
    }
    Ok(())
}

pub(super) fn batch_answers_in_order<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 30)?;
    let keys: Vec<String> = (0..32).map(key).collect();
    let mut commands: Vec<Command<'_>> = keys[..30].iter().map(|key| read(key)).collect();
    commands.push(Command::Ping);
    commands.push(insert(&keys[30], &[("name", "30"), ("more", "fields")]));
    commands.push(read(&keys[31]));
    commands.push(read_one(&keys[30], "name"));
    commands.push(delete(&keys[31]));
    commands.push(delete(&keys[30]));
    let result = exchange(&mut session, &commands);
    told(result, &session, "a batch")?;
    for command in 0..30 {
        same(session.reply(command), READ, "reply of a read in a batch")?;
        same(values(&session, command), sorted(&[&command.to_string()]), "value of a read in a batch")?;
    }
    let replies: Vec<Reply> = (30..37).map(|command| session.reply(command)).collect();
    let (none, missing) = (Reply::default(), deleted_nothing(fixture));
    same(replies, vec![none, WRITTEN, none, READ, missing, WRITTEN, none], "the replies behind the reads")?;
    same(values(&session, 33), sorted(&["30"]), "a value behind commands without values")
}

pub(super) fn error_in_a_batch<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 3)?;
    let spoilt = key(40);
    fixture.spoil(&spoilt).map_err(|problem| format!("spoiling a record: {problem}"))?;
    let (first, new, last) = (key(0), key(4), key(2));
    let commands = [read(&first), read(&spoilt), insert(&new, &[("name", "4")]), read(&last)];
    let result = exchange(&mut session, &commands);
    same(result, Err(OpError::refused(Outcome::Server)), "a batch that reads a spoilt record")?;
    ensure(session.last_error().is_some_and(|words| !words.is_empty()), || {
        "last_error has no words for a spoilt record".to_owned()
    })?;
    // Without a transaction around them the others are done.
    let replies: Vec<Reply> = (0..4).map(|command| session.reply(command)).collect();
    same(replies, vec![READ, Reply::default(), WRITTEN, READ], "the replies of a failed batch")?;
    for (command, found) in [(0, &["0"][..]), (1, &[]), (3, &["2"])] {
        same(values(&session, command), sorted(found), "values of a failed batch")?;
    }
    for _ in 0..3 {
        same(ask(&mut session, read(&new))?, READ, "reply after a failed batch")?;
        same(session.value(0, 0, 0), Some(Value::Text("4")), "value after a failed batch")?;
    }
    same(session.last_error(), None, "the words for a request that did not fail")?;
    same(ask(&mut session, delete(&spoilt))?, WRITTEN, "reply of a delete of a spoilt record")
}

pub(super) fn two_sessions<F: Fixture>(fixture: &F) -> Result<(), String> {
    let (mut first, mut second) = (session(fixture, 0)?, connect(fixture, &[], None)?);
    for number in 0..10 {
        let key = key(number);
        let (writer, reader) =
            if number % 2 == 0 { (&mut first, &mut second) } else { (&mut second, &mut first) };
        same(ask(writer, insert(&key, &[("name", "one")]))?, WRITTEN, "reply of an insert")?;
        same(ask(reader, read(&key))?, READ, "what the other session sees")?;
    }
    drop(first); // a session that ends must not disturb the other
    same(ask(&mut second, delete(&key(6)))?, WRITTEN, "reply of a delete")
}

/// A refusal takes along what was staged before it: half a batch is never sent.
pub(super) fn refusal_takes_the_batch_along<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = session(fixture, 1)?;
    let new = key(50);
    let staged = session.stage(insert(&new, &[("name", "new")]));
    told(staged, &session, "staging an insert")?;
    let refusal = session.stage(Command::Begin);
    same(refusal, Err(OpError::refused(Outcome::Protocol)), "staging what can't be sent")?;
    same(ask(&mut session, read(&key(0)))?, READ, "reply of the first command after a refusal")?;
    same(ask(&mut session, read(&new))?, Reply::default(), "reply of a read of what was refused")
}

/// Up to the wanted number of records, or a refusal with words.
pub(super) fn scan_keeps_its_limit<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !has_records(fixture) {
        return Ok(());
    }
    let mut session = session(fixture, 10)?;
    let keys: Vec<String> = (0..10).map(key).collect();
    let of =
        |first, fields, count| Command::KeyValue(KeyValue::Scan { table: TABLE, key: first, count, fields });
    if session.stage(of(&keys[0], Fields::All, 3)).is_err() {
        return super::batches::refused_and_usable(&mut session, of(&keys[0], Fields::All, 3));
    }
    // The store's order may be any: of ten records two at most have fewer than three from them on.
    let (mut number, mut first) = (0, &keys[0]);
    for (at, start) in keys.iter().enumerate() {
        let found = if at == 0 {
            let result = exchange(&mut session, &[]);
            told(result, &session, "scan")?;
            session.reply(0)
        } else {
            ask(&mut session, of(start, Fields::All, 3))?
        };
        ensure((1..=3).contains(&found.rows), || format!("a scan of up to 3 records gave {found:?}"))?;
        (number, first) = (at, start);
        if found.rows == 3 {
            break;
        }
    }
    let name = number.to_string();
    let scan = |count, fields| of(first, fields, count);
    let three = scan(3, Fields::All);
    three_records(&session, 0, &name)?;
    // Scans among others, and one that finds nothing of what it wants.
    let (missing, gone) = (key(50), Reply::default());
    let batch = [
        read(first),
        scan(3, Fields::One("name")),
        read(&missing),
        scan(2, Fields::Named(&["none"])),
        three,
        delete(&missing),
        read(first),
    ];
    let result = exchange(&mut session, &batch);
    told(result, &session, "scans in a batch")?;
    let replies: Vec<Reply> = [0, 2, 3, 5, 6].map(|command| session.reply(command)).to_vec();
    same(replies, vec![READ, gone, gone, deleted_nothing(fixture), READ], "the replies around scans")?;
    three_records(&session, 1, &name)?;
    three_records(&session, 4, &name)?;
    same(values(&session, 6), sorted(&[&name]), "a value behind scans")
}

/// Three records, of which the first has this name.
fn three_records<S: Session>(session: &S, command: usize, name: &str) -> Result<(), String> {
    same(session.reply(command), Reply { rows: 3, affected: 0 }, "reply of a scan")?;
    for row in 0..3 {
        let found = session.value(command, row, 0);
        ensure(matches!(found, Some(Value::Text(_))), || format!("row {row} of a scan has {found:?}"))?;
        same(session.value(command, row, 1), None, "a value past the end of a record")?;
    }
    same(session.value(command, 0, 0), Some(Value::Text(name)), "the first record of a scan")?;
    same(session.value(command, 3, 0), None, "a value past the end of a scan")
}

/// What data sets are made, looked at and dropped by.
pub(super) fn records_are_set_up<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !has_records(fixture) {
        return Ok(());
    }
    let mut session = session(fixture, 0)?;
    let mut administration = fixture.target().administer().map_err(|error| error.to_string())?;
    if administration.records().is_some_and(|records| !records.lists()) {
        return records_are_set_up_blindly(&mut session, administration.as_mut());
    }
    let there = |administration: &mut dyn Administration| -> Result<u64, String> {
        let Some(records) = administration.records() else {
            return Err("a target of records has none for set-up".to_owned());
        };
        records.count(TABLE).map_err(|error| error.to_string())
    };
    let before = there(administration.as_mut())?;
    let keys: Vec<String> = (0..3).map(key).collect();
    let mut rows = keys.iter();
    let written = administration.bulk(TABLE, &["key", "name", "words"], &mut |push| {
        let Some(key) = rows.next() else { return false };
        push(&[Value::Text(key), Value::Text("a name"), Value::Text("größe")]);
        true
    });
    same(written.map_err(|error| error.to_string())?, 3, "records written in bulk")?;
    same(there(administration.as_mut())?, before + 3, "records counted")?;
    same(administration.table_exists(TABLE).ok(), Some(true), "whether the table is there")?;
    same(ask(&mut session, read(&keys[1]))?, READ, "a read of what was written in bulk")?;
    same(values(&session, 0), sorted(&["a name", "größe"]), "its values")?;
    let Some(records) = administration.records() else { return Ok(()) };
    let told = |error: crate::ConnectError| error.to_string();
    let mut found = Vec::new();
    records.keys(TABLE, &mut |key| found.extend(keys.iter().position(|known| known == key))).map_err(told)?;
    found.sort_unstable();
    same(found, vec![0, 1, 2], "the keys that are listed")?;
    let missing = key(50);
    let mut sizes = Vec::new();
    let asked: Vec<&str> = vec![&keys[0], &missing, &keys[2]];
    records.read(TABLE, &asked, &mut |at, fields| sizes.push((at, fields.len()))).map_err(told)?;
    same(sizes, vec![(0, 2), (1, 0), (2, 2)], "the fields of records that are read")?;
    records.remove(TABLE, &asked).map_err(told)?;
    same(records.count(TABLE).map_err(told)?, before + 1, "records left after a removal")?;
    let topic = "truetail_conformance_notes";
    for text in ["first", "second"] {
        records.note(topic, "a note", text).map_err(told)?;
    }
    let noted = vec![("a note".to_owned(), "second".to_owned())];
    same(records.notes(topic).map_err(told)?, noted, "notes")?;
    records.forget(topic, "a note").map_err(told)?;
    same(records.notes(topic).map_err(told)?, vec![], "notes that were forgotten")?;
    same(records.count(TABLE).map_err(told)?, before + 1, "records beside notes")?;
    records.drop_table(TABLE).map_err(told)?;
    same(records.count(TABLE).map_err(told)?, 0, "records of a dropped table")?;
    same(ask(&mut session, read(&keys[1]))?, Reply::default(), "a read of what was dropped")
}

/// Where keys are not listed: what is written can be read and removed, and what can't be had is refused.
fn records_are_set_up_blindly<S: Session>(
    session: &mut S,
    administration: &mut dyn Administration,
) -> Result<(), String> {
    let keys: Vec<String> = (0..3).map(key).collect();
    let mut rows = keys.iter();
    let written = administration.bulk(TABLE, &["key", "name", "words"], &mut |push| {
        let Some(key) = rows.next() else { return false };
        push(&[Value::Text(key), Value::Text("a name"), Value::Text("größe")]);
        true
    });
    same(written.map_err(|error| error.to_string())?, 3, "records written in bulk")?;
    same(ask(session, read(&keys[1]))?, READ, "a read of what was written in bulk")?;
    same(values(session, 0), sorted(&["a name", "größe"]), "its values")?;
    let Some(records) = administration.records() else { return Ok(()) };
    let told = |error: crate::ConnectError| error.to_string();
    let missing = key(50);
    let asked: Vec<&str> = vec![&keys[0], &missing, &keys[2]];
    let mut sizes = Vec::new();
    records.read(TABLE, &asked, &mut |at, fields| sizes.push((at, fields.len()))).map_err(told)?;
    same(sizes, vec![(0, 2), (1, 0), (2, 2)], "the fields of records that are read")?;
    records.remove(TABLE, &asked).map_err(told)?;
    for (key, left) in [(&keys[0], Reply::default()), (&keys[1], READ), (&keys[2], Reply::default())] {
        same(ask(session, read(key))?, left, "a read behind a removal")?;
    }
    let refusals =
        [records.count(TABLE).err(), records.keys(TABLE, &mut |_| ()).err(), records.drop_table(TABLE).err()];
    for refusal in refusals {
        ensure(refusal.is_some_and(|error| !error.transient && !error.message.is_empty()), || {
            "what needs a list of keys was not refused for good".to_owned()
        })?;
    }
    Ok(())
}

/// What the checks on allocation do again and again: all kinds of commands, a miss, a batch, an error.
pub(super) fn steady_round<S: Session>(session: &mut S, round: usize, keys: &Keys) -> Result<(), String> {
    let key = &keys.there[round % keys.there.len()];
    let words = if round.is_multiple_of(2) { "a rather long text, for what it is worth" } else { "short" };
    let fields = [("name", "a name"), ("words", words)];
    let commands = [
        (read(key), READ),
        (read_one(key, "name"), READ),
        (update(key, &fields), WRITTEN),
        (read(&keys.missing), Reply::default()),
        (insert(&keys.passing, &fields), WRITTEN),
        (delete(&keys.passing), WRITTEN),
    ];
    for (command, expected) in commands {
        let found = Direct::new(session).ask(command);
        ensure(found == Ok(expected), || format!("{command:?}: found {found:?}, expected {expected:?}"))?;
    }
    let result = exchange(session, &commands.map(|(command, _)| command));
    told(result, session, "a batch")?;
    ensure(session.value(0, 0, 1).is_some() && session.reply(5) == WRITTEN, || {
        "the batch's replies are wrong".to_owned()
    })?;
    let refused = Direct::new(session).ask(read(&keys.spoilt));
    ensure(refused.is_err_and(|e| e.session_usable), || "a spoilt record was not refused".to_owned())
}

/// Keys of the rounds above, made beforehand.
pub(super) struct Keys {
    there: Vec<String>,
    missing: String,
    passing: String,
    spoilt: String,
}

/// A session and the records for [`steady_round`].
pub(super) fn steady<F: Fixture>(
    fixture: &F,
) -> Result<(<<F as Fixture>::Target as Target>::Session, Keys), String> {
    let session = session(fixture, 20)?;
    let keys =
        Keys { there: (0..20).map(key).collect(), missing: key(50), passing: key(51), spoilt: key(52) };
    fixture.spoil(&keys.spoilt).map_err(|problem| format!("spoiling a record: {problem}"))?;
    Ok((session, keys))
}
