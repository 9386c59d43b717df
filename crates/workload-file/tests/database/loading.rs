//! Data sets in parts: gone on with, told apart, and never dropped when they are somebody else's.

use super::*;
use driver_mysql::MySqlTarget;
use driver_postgres::PostgresTarget;
use std::path::Path;
use testkit::{mariadb, postgres};
use workload::dataset::{DataSet, Status, drop_dataset, status};

const WIDE: &str = r#"
[parameters]
rows = 250_000
other = 1
[setup]
create.any = """
CREATE TABLE wide (id bigint PRIMARY KEY, word {text} NOT NULL, price {decimal(9,2)} NOT NULL, share float NOT NULL,
                   at {timestamp} NOT NULL, kind varchar(9) NOT NULL);
CREATE TABLE loose (a int NOT NULL, b int NOT NULL);
CREATE VIEW dear AS SELECT id FROM wide WHERE price > 5;
"""
finish = "CREATE INDEX wide_kind ON wide (kind)"
drop = "DROP VIEW IF EXISTS dear"
[[table]]
name = "wide"
rows = "rows * scale"
[table.columns]
id = { draw = "sequence", from = 10 }
word = { draw = "string", length = 8 }
price = { draw = "uniform", from = 0.01, to = 9.99, type = "decimal(2)" }
share = { draw = "uniform", from = 0.0, to = 1.0 }
at = { draw = "timestamp", from = 2020-01-01, to = 2020-12-31 }
kind = { draw = "choice", of = ["plain", "rare"], weights = [9, 1] }
[[table]]
name = "loose"
rows = 7
[table.columns]
a = { draw = "uniform", from = 1, to = 100 }
b = { draw = "uniform", from = 1, to = 100, unlike = "a" }
[[check]]
name = "all rows are there"
sql = "SELECT count(*) - {rows * scale} FROM wide"
[values]
key = { draw = "uniform", from = 10, to = "highest(wide.id)" }
[[transaction]]
name = "read"
sql = "SELECT word FROM wide WHERE id = :key"
expect = "row"
"#;

fn wide(choice: &Choice) -> FileWorkload {
    FileWorkload::from_text("wide.toml", WIDE, choice).unwrap()
}

/// A load that was cut short goes on where it was, and makes the same rows.
fn cut_short_and_gone_on_with<T: Target>(target: &T) {
    let workload = wide(&Choice::default());
    let data = workload.dataset().unwrap();
    assert_eq!((data.parts(), data.rows()), (4, 250_007));
    load(target, &workload);
    assert_sound(target, &workload);
    let mut administration = target.administer().unwrap();
    let sums = |administration: &mut dyn Administration| {
        ["id", "price", "length(word)", "share"].map(|column| {
            administration.query(&format!("SELECT sum({column}) FROM wide")).unwrap()[0][0].clone().unwrap()
        })
    };
    let whole = sums(&mut *administration);
    let rare = number(&mut *administration, "SELECT count(*) FROM wide WHERE kind = 'rare'") as f64;
    assert!((rare - 25_000.0).abs() < 4.9 * (250_000.0f64 * 0.09).sqrt(), "{rare}");

    // As a load leaves it that ends within the second part: a marker that is incomplete, one part noted, some of another.
    struct Stops<'a>(&'a dyn DataSet);
    impl DataSet for Stops<'_> {
        fn marker(&self) -> workload::dataset::Marker {
            self.0.marker()
        }
        fn tables(&self) -> Vec<&'static str> {
            self.0.tables()
        }
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn create(&self, a: &mut dyn Administration, d: driver::Dialect) -> Result<(), driver::ConnectError> {
            self.0.create(a, d)
        }
        fn parts(&self) -> u32 {
            self.0.parts()
        }
        fn fill(
            &self,
            part: u32,
            a: &mut dyn Administration,
            d: driver::Dialect,
            progress: &mut dyn FnMut(u64),
        ) -> Result<(), driver::ConnectError> {
            self.0.fill(part, a, d, progress)?;
            if part >= 1 { Err(driver::ConnectError::permanent("cut short")) } else { Ok(()) }
        }
        fn empty(
            &self,
            part: u32,
            a: &mut dyn Administration,
            d: driver::Dialect,
        ) -> Result<(), driver::ConnectError> {
            self.0.empty(part, a, d)
        }
        fn before_drop(&self, a: &mut dyn Administration) -> Result<(), driver::ConnectError> {
            self.0.before_drop(a)
        }
        fn check(
            &self,
            a: &mut dyn Administration,
            d: driver::Dialect,
        ) -> Result<Vec<CheckResult>, driver::ConnectError> {
            self.0.check(a, d)
        }
    }
    drop_dataset(&mut *administration, data).unwrap();
    let connect = || target.administer();
    let loader = Loader { connect: &connect, dialect: target.dialect(), connections: 1, progress: &|_| () };
    assert_eq!(loader.load(&Stops(data)).unwrap_err().message, "cut short");
    assert_eq!(status(&mut *administration, data).unwrap(), Status::Incomplete);
    let again = load(target, &workload);
    assert_eq!((again.found, again.written), (100_000, 150_007));
    assert_sound(target, &workload);
    let sums = sums(&mut *administration);
    assert_eq!(sums[..3], whole[..3]);
    drop_dataset(&mut *administration, data).unwrap();
    assert!(!administration.table_exists("wide").unwrap());
}

#[test]
fn a_load_is_gone_on_with_on_sqlite() {
    cut_short_and_gone_on_with(&Database::new().target);
}

#[test]
fn a_load_is_gone_on_with_on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let url = TargetUrl::parse(&server.unix_url()).unwrap();
    cut_short_and_gone_on_with(&PostgresTarget::from_url(&url).unwrap());
}

#[test]
fn another_data_set_is_told_apart_and_another_request_is_not() {
    let database = Database::new();
    let small = |more: &[(&str, &str)]| wide(&parameters(&[&[("rows", "100")], more].concat()));
    load(&database.target, &small(&[]));
    let mut administration = database.target.administer().unwrap();
    let mut found =
        |workload: &FileWorkload| status(&mut *administration, workload.dataset().unwrap()).unwrap();
    assert!(matches!(found(&small(&[])), Status::Matching { .. }));
    assert!(matches!(found(&small(&[("other", "2")])), Status::Matching { .. }), "no table depends on it");
    assert!(matches!(found(&small(&[("rows", "200")])), Status::OtherVersion { .. }));
    let scaled = wide(&Choice { scale: 2.0, ..parameters(&[("rows", "100")]) });
    assert!(matches!(found(&scaled), Status::OtherScale { .. }));
    let moved = WIDE.replace("[parameters]", "\n\n# the same, some lines below\n[parameters]");
    let moved = FileWorkload::from_text("wide.toml", &moved, &parameters(&[("rows", "100")])).unwrap();
    assert!(matches!(found(&moved), Status::Matching { .. }));
    let other = WIDE.replace("length = 8", "length = 9");
    let other = FileWorkload::from_text("wide.toml", &other, &parameters(&[("rows", "100")])).unwrap();
    assert!(matches!(found(&other), Status::OtherVersion { .. }));
}

#[test]
fn what_is_looked_up_is_found_before_a_run() {
    let database = Database::new();
    let mut workload = wide(&parameters(&[("rows", "100")]));
    load(&database.target, &workload);
    database.target.administer().unwrap().script("DELETE FROM wide WHERE id > 12").unwrap();
    workload.observe(&mut *database.target.administer().unwrap()).unwrap();
    assert_eq!(run(&database.target, &workload, 500, 1), [(Outcome::Ok, 500)]);
    let facts = workload.facts().parameters;
    assert!(facts.contains(&("highest(wide.id)".to_owned(), "12".to_owned())), "{facts:?}");
    database.target.administer().unwrap().script("DROP VIEW dear; DROP TABLE wide").unwrap();
    let gone = workload.observe(&mut *database.target.administer().unwrap()).unwrap_err();
    assert!(gone.contains("highest(wide.id)") && !gone.contains('\n'), "{gone}");
}

/// A file for tables that are there already: nothing to load, and its checks are looked at.
const THEIRS: &str = "[values]\nkey = { draw = \"uniform\", from = 1, to = \"rows(theirs)\" }\n\
    [[check]]\nname = \"no one is below 0\"\nsql = \"SELECT id FROM theirs WHERE id < 0\"\n\
    [[transaction]]\nname = \"read\"\nsql = \"SELECT id FROM theirs WHERE id = :key\"\nexpect = \"row\"\n";

#[test]
fn tables_that_are_there_already_are_asked_and_checked_and_left_alone() {
    let database = Database::new();
    let mut administration = database.target.administer().unwrap();
    let mut workload = FileWorkload::from_text("theirs.toml", THEIRS, &Choice::default()).unwrap();
    let refused = workload.statements(driver::Dialect::Null).unwrap_err();
    assert!(refused.contains("looks numbers up in a database"), "{refused}");
    administration.script("CREATE TABLE theirs (id int); INSERT INTO theirs VALUES (1), (2), (3)").unwrap();
    workload.observe(&mut *administration).unwrap();
    assert_eq!(run(&database.target, &workload, 100, 1), [(Outcome::Ok, 100)]);
    let data = workload.dataset().unwrap();
    assert!(matches!(status(&mut *administration, data).unwrap(), Status::Matching { .. }));
    assert_eq!(check(&database.target, &workload).len(), 1);
    assert_sound(&database.target, &workload);
    administration.script("INSERT INTO theirs VALUES (-1)").unwrap();
    assert!(!check(&database.target, &workload)[0].passed);
    drop_dataset(&mut *administration, data).unwrap();
    assert!(administration.table_exists("theirs").unwrap());
    assert!(!administration.table_exists("truetail_dataset").unwrap());
}

#[test]
fn sql_may_lie_in_files_beside() {
    let database = Database::new();
    let directory = database.directory.join("w");
    std::fs::create_dir_all(directory.join("sql")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    write("sql/make.sql", "CREATE TABLE t (id bigint PRIMARY KEY)");
    write(
        "w.toml",
        "[setup]\ncreate.file = \"sql/make.sql\"\n[[table]]\nname = \"t\"\n[[transaction]]\nname = \"a\"\n\
         sql = \"SELECT id FROM t\"\n",
    );
    let open = |path: &Path| FileWorkload::open(path, &Choice::default());
    let workload = open(&directory.join("w.toml")).unwrap();
    load(&database.target, &workload);
    assert_eq!(run(&database.target, &workload, 1, 1), [(Outcome::Ok, 1)]);
    let names: Vec<String> = workload.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["w.toml", "sql/make.sql"]);
    std::fs::remove_file(directory.join("sql/make.sql")).unwrap();
    let error = open(&directory.join("w.toml")).err().unwrap();
    assert!(error.contains("line 2") && error.contains("`sql/make.sql`: can't be read"), "{error}");
    assert!(open(&directory.join("nowhere.toml")).err().unwrap().starts_with("can't be read"));
}

#[test]
fn a_load_is_gone_on_with_on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let url = TargetUrl::parse(&server.unix_url()).unwrap();
    cut_short_and_gone_on_with(&MySqlTarget::from_url(&url).unwrap());
}
