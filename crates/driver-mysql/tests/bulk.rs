//! Loads: both ways, all or nothing, and nothing cut or left out in silence.

use driver::{Administration, Decimal, Target, TargetUrl, Value};
use driver_mysql::MySqlTarget;
use testkit::mariadb::{Options, Server, server};

/// A server that takes files, and one that does not.
fn servers() -> Option<[Server; 2]> {
    let settings = vec![("local_infile".to_owned(), "0".to_owned())];
    Some([server(&Options::default())?, server(&Options { settings, ..Options::default() })?])
}

fn administer(server: &Server) -> Box<dyn Administration> {
    let url = TargetUrl::parse(&server.tcp_url()).unwrap();
    let mut administration = MySqlTarget::from_url(&url).unwrap().administer().unwrap();
    administration
        .script(
            "CREATE TABLE t (id bigint PRIMARY KEY, n smallint, f double, w varchar(12), m datetime(6), d decimal(6,2))",
        )
        .unwrap();
    administration
}

fn load(
    administration: &mut dyn Administration,
    columns: &[&str],
    rows: &[Vec<Value<'_>>],
) -> Result<u64, String> {
    let mut rows = rows.iter();
    administration
        .bulk("t", columns, &mut |push| rows.next().map(|row| push(row)).is_some())
        .map_err(|error| error.message)
}

const ALL: [&str; 6] = ["id", "n", "f", "w", "m", "d"];

fn row(id: i64) -> Vec<Value<'static>> {
    let decimal = Value::Decimal(Decimal { unscaled: id % 10_000, scale: 2 });
    let text = Value::Text(["", "a'b\"", "\\N", "tab\there", "line\nend", "größe"][(id % 6) as usize]);
    let float = Value::Float(id as f64 / 7.0);
    let mut row = vec![Value::Int(id), Value::Int(id % 100), float, text, Value::Timestamp(id), decimal];
    if id % 5 == 0 {
        row[1 + (id / 5 % 5) as usize] = Value::Null;
    }
    row
}

#[test]
fn both_ways_load_the_same() {
    let Some(servers) = servers() else { return };
    let rows: Vec<Vec<Value<'_>>> = (0..3_001).map(row).collect();
    let found = servers.map(|server| {
        let mut administration = administer(&server);
        assert_eq!(load(&mut *administration, &ALL, &rows), Ok(3_001));
        administration.query("SELECT * FROM t ORDER BY id").unwrap()
    });
    assert!(found[0] == found[1], "the two ways differ");
    let text = |s: &str| Some(s.to_owned());
    let expected = [
        text("2"),
        text("2"),
        text("0.2857142857142857"),
        text("\\N"),
        text("1970-01-01 00:00:00.000002"),
        text("0.02"),
    ];
    assert_eq!(found[0][2], expected);
    assert_eq!(found[0].len(), 3_001);
}

#[test]
fn what_is_wrong_with_one_row_undoes_all() {
    let Some(servers) = servers() else { return };
    for server in servers {
        let mut administration = administer(&server);
        let with = |at: usize, value: Value<'static>| {
            let mut rows: Vec<Vec<Value<'_>>> = (1..2_000).map(row).collect();
            rows[1_500][at] = value;
            rows
        };
        for (rows, words) in [
            (with(0, Value::Int(1)), "Duplicate entry '1'"),
            (with(0, Value::Null), "id"),
            (with(1, Value::Int(40_000)), "Out of range value for column 'n'"),
            (with(3, Value::Text("thirteen byte")), "Data too long for column 'w'"),
            (with(5, Value::Decimal(Decimal { unscaled: 12_345_678, scale: 2 })), "column 'd'"),
        ] {
            let message = load(&mut *administration, &ALL, &rows).expect_err(words);
            assert!(message.contains("load of `t`") || message.contains("`load of"), "{message}");
            let known = message.contains(words) || message.to_lowercase().contains("data truncated");
            assert!(known && !message.contains('\n'), "`{message}` lacks `{words}`");
            assert_eq!(administration.query("SELECT COUNT(*) FROM t").unwrap(), [[Some("0".to_owned())]]);
        }
        let narrow = [vec![Value::Int(1)], vec![]];
        let message = load(&mut *administration, &["id"], &narrow).unwrap_err();
        assert!(message.contains("a row has 0 values for 1 columns"), "{message}");
        assert!(load(&mut *administration, &["id", "nothing"], &[vec![Value::Int(1), Value::Null]]).is_err());
        assert!(
            load(&mut *administration, &["id", "m"], &[vec![Value::Int(1), Value::Timestamp(i64::MAX)]])
                .is_err()
        );
        assert_eq!(load(&mut *administration, &["id"], &[]), Ok(0));
        assert_eq!(load(&mut *administration, &["id"], &[vec![Value::Int(1)]]), Ok(1), "still usable");
        assert_eq!(administration.query("SELECT COUNT(*) FROM t").unwrap(), [[Some("1".to_owned())]]);
    }
}
