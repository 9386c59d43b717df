//! The elasticity experiment, as people and programs see it.

mod fixture;
mod xml;

use analysis::{
    Elasticity, ElasticityCurve, ElasticityJoin, ElasticityPoint, ElasticitySpan, JoinPhase, Reported,
};
use record::LoadModel;
use report::text::TextOptions;
use testkit::documented::Schema;
use units::{Bound, Estimate, Instant, Nanos};

const SECOND: u64 = 1_000_000_000;

fn estimate(point: f64) -> Estimate {
    Estimate {
        point,
        interval: Some((point * 0.9, point * 1.1)),
        bound: Bound::Exact,
        level: 0.95,
        n: 1_000,
        n_effective: 500.0,
        method: "planted",
    }
}

/// A node joins from 30 s to 60 s, and an open loop sees ten times of what a closed one reports.
fn experiment() -> Elasticity {
    let phase = |name: &str, from: u64, to: Option<u64>| JoinPhase {
        name: name.to_owned(),
        begin: Instant(from * SECOND),
        end: to.map_or(Instant::NONE, |to| Instant(to * SECOND)),
    };
    let phases = vec![
        phase("starting", 30, Some(40)),
        phase("joining", 40, Some(50)),
        phase("streaming", 50, Some(60)),
        phase("normal", 60, None),
    ];
    let join = |model| {
        let mut header = fixture::open_loop().recordings[0].header.clone();
        header.load.model = model;
        ElasticityJoin { header, verdict: "valid".to_owned(), phases: phases.clone() }
    };
    let curve = |reported, during: f64| {
        let span = |name, time: f64| ElasticitySpan {
            name,
            requests: 30_000,
            failed: 2,
            mean: Some(estimate(time)),
            p99: Some(estimate(4.0 * time)),
            longest: Some(estimate(20.0 * time)),
        };
        let point = |second: u64| {
            let mean = if (30..60).contains(&second) { during } else { 1e6 };
            ElasticityPoint {
                at: Instant(second * SECOND),
                requests: 1_000,
                mean,
                p99: 4.0 * mean,
                longest: 20.0 * mean,
            }
        };
        ElasticityCurve {
            reported,
            points: (0..90).map(point).collect(),
            spans: vec![span("before", 1e6), span("during", during), span("after", 1e6)],
        }
    };
    Elasticity {
        joins: vec![join(LoadModel::Open), join(LoadModel::ThrottledClosed)],
        curves: vec![
            curve(Reported::Plain, 2e6),
            curve(Reported::Intended, 15e6),
            curve(Reported::Open, 20e6),
        ],
        width: Nanos(SECOND),
    }
}

#[test]
fn the_page_as_people_see_it() {
    let shown = report::elasticity::text(&experiment(), &TextOptions { width: 110, colour: false });
    for line in shown.lines() {
        assert!(line.chars().count() <= 110 && line == line.trim_end(), "{line}");
    }
    insta::assert_snapshot!("elasticity", shown);
}

#[test]
fn nothing_is_said_where_nothing_was_run() {
    let none = Elasticity::default();
    let shown = report::elasticity::text(&none, &TextOptions { width: 100, colour: false });
    assert!(!shown.contains("times, in one run"), "{shown}");
    assert_eq!(report::elasticity::figure(&none), None);
    assert!(report::elasticity::html(&none).contains("</html>"));
}

#[test]
fn the_figure_has_three_lines_and_the_phases_of_both_runs() {
    let svg = report::elasticity::figure(&experiment()).expect("there are times");
    xml::check(&svg).unwrap();
    let texts: Vec<String> = xml::texts(&svg).collect();
    for name in ["starting", "joining", "streaming", "normal", "open", "closed"] {
        assert!(texts.iter().any(|text| text == name), "no {name} in {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "streaming").count(), 2);
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("elasticity.svg");
    std::fs::write(place, svg).expect("target is writable");
}

#[test]
fn the_html_says_the_same() {
    let html = report::elasticity::html(&experiment());
    for said in ["streaming from 50.0 s", "id=\"elasticity\"", "10.0 times"] {
        assert!(html.contains(said), "no `{said}`");
    }
}

#[test]
fn the_document_is_described() {
    let schema = Schema::new("truetail.elasticity/1");
    assert_eq!(schema.differences(&[report::elasticity::json(&experiment())]), Vec::<String>::new());
}
