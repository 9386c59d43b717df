//! The predictability experiment, as people and programs see it.

mod fixture;
mod xml;

use analysis::{Predictability, PredictabilityRuns, Work, predictability};
use report::text::TextOptions;
use testkit::documented::Schema;

/// Two servers; the second was asked one kind of work alone, and one of its runs failed.
fn experiment() -> Predictability {
    let runs = |server: &str, work, runs, missing: &[&str]| PredictabilityRuns {
        server: server.to_owned(),
        work,
        runs,
        missing: missing.iter().map(|why| (*why).to_owned()).collect(),
    };
    let (one, other) = (fixture::open_loop, fixture::open_loop_slower);
    predictability(&[
        runs("PostgreSQL", Work::Standard, vec![one(), other(), one()], &[]),
        runs("PostgreSQL", Work::Alike, vec![other(), other()], &[]),
        runs("MariaDB", Work::Standard, vec![fixture::open_loop()], &["round 2: the server went away"]),
        runs("MariaDB", Work::Alike, Vec::new(), &["no MariaDB: install mariadb-server"]),
    ])
}

#[test]
fn the_page_as_people_see_it() {
    let shown = report::predictability::text(&experiment(), &TextOptions { width: 110, colour: false });
    for line in shown.lines() {
        assert!(line.chars().count() <= 110 && line == line.trim_end(), "{line}");
    }
    insta::assert_snapshot!("predictability", shown);
    for said in ["no MariaDB: install mariadb-server", "round 2: the server went away", "published"] {
        assert!(shown.replace("\n", " ").contains(said), "no `{said}` in {shown}");
    }
}

#[test]
fn nothing_is_said_where_nothing_was_run() {
    let none = predictability(&[]);
    let shown = report::predictability::text(&none, &TextOptions { width: 100, colour: false });
    assert!(shown.contains("no server has runs of both kinds"), "{shown}");
    assert_eq!(report::predictability::figure(&none), None);
    assert!(report::predictability::html(&none).contains("</html>"));
}

#[test]
fn the_figure_has_a_row_for_each_cell_and_each_published_one() {
    let svg = report::predictability::figure(&experiment()).expect("there are times");
    xml::check(&svg).unwrap();
    let texts: Vec<String> = xml::texts(&svg).collect();
    for name in
        ["PostgreSQL, standard mix", "PostgreSQL, alike", "MariaDB, standard mix", "VoltDB, published"]
    {
        assert!(texts.iter().any(|text| text == name), "no {name} in {texts:?}");
    }
    assert!(!texts.iter().any(|text| text == "MariaDB, alike"), "it has no times");
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("predictability.svg");
    std::fs::write(place, svg).expect("target is writable");
}

#[test]
fn the_html_says_the_same() {
    let html = report::predictability::html(&experiment());
    for said in ["PostgreSQL, standard mix", "no MariaDB: install mariadb-server", "id=\"spreads\""] {
        assert!(html.contains(said), "no `{said}`");
    }
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("predictability.html");
    std::fs::write(place, html).expect("target is writable");
}

#[test]
fn the_document_is_described() {
    let schema = Schema::new("truetail.predictability/1");
    assert_eq!(schema.differences(&[report::predictability::json(&experiment())]), Vec::<String>::new());
}
