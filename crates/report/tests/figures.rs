//! Figures: well-formed, small, honest.

mod fixture;
mod xml;

use record::Measure;
use std::sync::OnceLock;

struct Figure {
    name: String,
    svg: String,
}

/// The figures of all fixtures, also written to `target/tmp/figures` for people to look at.
fn all() -> &'static [Figure] {
    static ALL: OnceLock<Vec<Figure>> = OnceLock::new();
    ALL.get_or_init(|| {
        let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
        std::fs::create_dir_all(&directory).expect("target is writable");
        let fixtures = [
            ("open", fixture::open_loop()),
            ("closed", fixture::closed_loop()),
            ("tiny", fixture::tiny()),
            ("censored", fixture::censored()),
            ("truth", fixture::with_truth()),
            ("join", fixture::with_join()),
            ("stalls", fixture::with_stalls()),
            ("floor", fixture::with_floor()),
            ("statements", fixture::with_statements_timed()),
        ];
        let mut all = Vec::new();
        for (fixture, analysis) in fixtures {
            for (figure, svg) in report::svg::figures(&analysis) {
                let name = format!("{fixture}-{figure}");
                std::fs::write(directory.join(format!("{name}.svg")), &svg).expect("target is writable");
                all.push(Figure { name, svg });
            }
        }
        all
    })
}

fn figure(name: &str) -> &'static str {
    let found = all().iter().find(|f| f.name == name);
    &found.unwrap_or_else(|| panic!("no figure {name}")).svg
}

#[test]
fn every_kind_of_run_has_its_figures() {
    let names: Vec<&str> = all().iter().map(|f| f.name.as_str()).collect();
    let of = |fixture: &str| names.iter().filter_map(|n| n.strip_prefix(fixture)).collect::<Vec<_>>();
    let open = [
        "attribution",
        "anatomy",
        "response-time-series",
        "service-time-series",
        "spectrum",
        "operations",
        "response-time-heat-map",
        "service-time-heat-map",
        "load",
    ];
    for fixture in ["open-", "tiny-", "censored-"] {
        assert_eq!(of(fixture), open, "{fixture}");
    }
    assert_eq!(of("truth-")[0], "truth");
    assert_eq!(of("truth-")[1..], open);
    assert_eq!(of("join-")[..2], ["truth", "node-joins"]);
    // A closed loop without kernel stamps has one part only: no anatomy.
    let closed: Vec<&str> =
        open.into_iter().filter(|n| *n != "anatomy" && !n.starts_with("response-time-")).collect();
    assert_eq!(of("closed-"), closed);
}

/// (kind, title) of the figures of the page, in its order.
fn of_the_page(analysis: &analysis::Analysis) -> Vec<String> {
    let page = report::html::page(analysis);
    let figures = page.match_indices("<figure id=\"").map(|(at, mark)| &page[at + mark.len()..]);
    figures.filter_map(|rest| Some(rest.split_once('-')?.0.to_owned())).collect()
}

#[test]
fn each_figure_of_the_page_is_a_file() {
    let kinds = |name: &str| match name {
        "response-time-series" | "service-time-series" => "series".to_owned(),
        "operations" => "boxes".to_owned(),
        "response-time-heat-map" | "service-time-heat-map" => "heat".to_owned(),
        "node-joins" => "node".to_owned(),
        other => other.to_owned(),
    };
    let runs = [
        fixture::open_loop(),
        fixture::closed_loop(),
        fixture::tiny(),
        fixture::censored(),
        fixture::with_truth(),
        fixture::with_join(),
        fixture::with_stalls(),
    ];
    for analysis in runs {
        let files: Vec<String> =
            report::svg::figures(&analysis).iter().map(|(name, _)| kinds(name)).collect();
        assert_eq!(files, of_the_page(&analysis));
    }
}

#[test]
fn each_figure_says_its_load_model_and_the_verdict() {
    for (prefix, load, verdict) in [
        ("open-", "open loop: poisson, ycsb-a on PostgreSQL 17.5 (TCP)", "verdict valid: believable to"),
        ("closed-", "closed loop: no think time, ycsb-a on SQLite 3.50.2", "verdict "),
        ("censored-", "open loop: poisson", "verdict invalid: do not use the numbers"),
    ] {
        for Figure { name, svg } in all().iter().filter(|f| f.name.starts_with(prefix)) {
            let texts: Vec<String> = xml::texts(svg).collect();
            // Title, description and the title as it is drawn; then the subtitle.
            let subtitle = texts.iter().find(|t| t.contains(" · verdict "));
            let subtitle = subtitle.unwrap_or_else(|| panic!("{name} says no verdict: {texts:?}"));
            assert!(subtitle.starts_with(load) && subtitle.contains(verdict), "{name}: {subtitle}");
        }
    }
}

#[test]
fn figures_are_well_formed_and_small() {
    for Figure { name, svg } in all() {
        xml::check(svg).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(svg.len() <= 300_000, "{name} has {} bytes", svg.len());
    }
}

#[test]
fn the_checker_sees_what_is_wrong() {
    for bad in [
        "<svg><g></svg>",
        "<svg>a & b</svg>",
        "<svg x=1></svg>",
        "<svg></svg><svg></svg>",
        "<svg a=\"<\"></svg>",
        "<svg>",
    ] {
        assert!(xml::check(bad).is_err(), "{bad}");
    }
    assert_eq!(xml::check("<svg a=\"1\"><g/>x &amp; y</svg>"), Ok(()));
}

#[test]
fn all_coordinates_are_numbers() {
    for Figure { name, svg } in all() {
        let drawn =
            xml::attributes(svg).filter(|(attribute, _)| !matches!(*attribute, "font-family" | "role"));
        for (attribute, value) in drawn {
            let lower = value.to_lowercase();
            assert!(!lower.contains("nan") && !lower.contains("inf"), "{name}: {attribute}=\"{value}\"");
        }
    }
}

#[test]
fn nothing_is_drawn_outside() {
    for Figure { name, svg } in all() {
        let height: f64 = xml::attributes(svg)
            .find(|(a, _)| *a == "height")
            .and_then(|(_, v)| v.parse().ok())
            .expect("has a height");
        for (attribute, value) in xml::attributes(svg) {
            let most = match attribute {
                "x" | "cx" => 1000.0,
                "y" | "cy" => height,
                _ => continue,
            };
            let place: f64 = value.parse().expect("a number");
            assert!((0.0..=most).contains(&place), "{name}: {attribute}={value}");
        }
    }
}

#[test]
fn the_planted_extreme_is_drawn() {
    let analysis = fixture::open_loop();
    let (at, _) = fixture::PLANTED;
    for (measure, name) in
        [(Measure::Response, "open-response-time-series"), (Measure::Service, "open-service-time-series")]
    {
        let series = analysis.series.iter().find(|s| s.measure == measure).expect("has the series");
        let longest = series.extremes.iter().max_by_key(|e| e.value).expect("has extremes");
        assert!(longest.at.0.abs_diff(at) < 10 * fixture::MS, "{longest:?}");
        let svg = figure(name);
        assert!(svg.contains("Longest: 2.50 s at 4.00 s"), "{name}");
        // The time axis spans 12 s from 96 to 976: its place is 96 + 880 · at / 12 s.
        let x = 96.0 + 880.0 * longest.at.0 as f64 / (12 * fixture::S) as f64;
        let dots = xml::attributes(svg).filter(|(a, v)| *a == "d" && v.contains("h0"));
        let highest = dots
            .flat_map(|(_, d)| d.split("h0"))
            .filter_map(|dot| dot.strip_prefix('M')?.split_once(' '))
            .filter_map(|(x, y)| Some((x.parse::<f64>().ok()?, y.parse::<f64>().ok()?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("has dots");
        assert!((highest.0 - x).abs() < 0.11, "{name}: highest dot at {highest:?}, not at x = {x}");
    }
}

/// A run that ends within a step has no axis beyond its end.
#[test]
fn the_load_ends_with_the_run() {
    let mut analysis = fixture::tiny();
    let end = units::Instant(700 * fixture::MS);
    analysis.measured.1 = end;
    analysis.recordings[0].header.phases.iter_mut().for_each(|p| p.end = end);
    analysis.load.truncate(1);
    let figures = report::svg::figures(&analysis);
    let (_, svg) = figures.iter().find(|(name, _)| *name == "load").expect("has a load");
    let labels: Vec<String> = xml::texts(svg).filter(|t| t.ends_with(" s") && t.len() < 7).collect();
    assert!(labels.iter().any(|l| l == "0.6 s") && !labels.iter().any(|l| l == "0.8 s"), "{labels:?}");
}

#[test]
fn withheld_quantiles_have_no_place() {
    for name in ["anatomy", "spectrum"] {
        let texts: Vec<String> = xml::texts(figure(&format!("tiny-{name}"))).collect();
        assert!(texts.iter().any(|t| t == "p50"), "{name}");
        for withheld in ["p75", "p90", "p95", "p99", "p99.9", "p99.99"] {
            assert!(!texts.iter().any(|t| t == withheld), "{name} prints {withheld}");
        }
    }
    // Marks of the 95th and 99th percentile are circles; three of them are in the legend.
    let marks = |name: &str| figure(name).matches("<circle").count();
    assert_eq!(marks("tiny-operations"), 3);
    assert!(marks("open-operations") > 3);
}

#[test]
fn names_cannot_break_a_figure() {
    let mut analysis = fixture::open_loop();
    for scope in &mut analysis.scopes {
        scope.name = "</text><script>&\"'\u{0}".repeat(9);
    }
    for phase in &mut analysis.recordings[0].header.phases {
        phase.name = "<&>".to_owned();
    }
    for (name, svg) in report::svg::figures(&analysis) {
        xml::check(&svg).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(!svg.contains("<script"), "{name}");
    }
}

/// A long run has more of everything: a large heat map, full pyramids, all the points.
#[test]
fn figures_stay_small_when_all_is_full() {
    let mut analysis = fixture::open_loop();
    let mut rng = units::Seed(9).rng();
    let at = |i: u64| units::Instant(i * 2_400_000);
    for map in &mut analysis.heat_maps {
        map.row_limits = (0..=280).map(|r| (f64::from(r) / 8.0).exp2()).collect();
        map.columns = (0..512).map(|_| (0..280).map(|_| rng.below(5_000) as u32).collect()).collect();
    }
    for series in &mut analysis.series {
        let mut value = || 1_000 + rng.below(1 << 33);
        let min: Vec<u64> = (0..2_000).map(|_| value()).collect();
        let max = min.iter().map(|v| v * 3).collect();
        let (first, last) = (min.clone(), min.clone());
        let width = units::Nanos(6 * fixture::MS);
        series.pyramid.levels = vec![analysis::PyramidLevel { width, first, last, min, max }];
        series.sampled =
            (0..5_000).map(|i| analysis::SampledPoint { at: at(i), value: units::Nanos(value()) }).collect();
        let some = series.extremes[0];
        series.extremes = (0..5_000)
            .map(|seq| analysis::Extreme { at: at(seq), value: units::Nanos(value()), seq, ..some })
            .collect();
    }
    let point = analysis.load[0];
    analysis.load = (0..2_000)
        .map(|i| analysis::LoadPoint {
            at: units::Instant(i * 6 * fixture::MS),
            failed: 1.0 + rng.unit(),
            ..point
        })
        .collect();
    let attribution = analysis.attribution.as_mut().expect("has slow requests");
    let causes = analysis::Cause::ALL;
    attribution.points = (0..5_000)
        .map(|i| analysis::attribution::SlowPoint {
            at: at(i),
            whole: units::Nanos(1_000 + rng.below(1 << 33)),
            largest: causes[i as usize % causes.len()],
        })
        .collect();
    attribution.intervals = (0..8 * 500)
        .map(|i| analysis::attribution::CauseInterval {
            cause: causes[i / 500],
            begin: at(i as u64 % 500),
            end: at(i as u64 % 500 + 1),
        })
        .collect();
    for (name, svg) in report::svg::figures(&analysis) {
        assert!(svg.len() <= 300_000, "{name} has {} bytes", svg.len());
    }
}
