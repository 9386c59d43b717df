//! What the measuring side itself costs, as people and programs see it.

mod fixture;
mod xml;

use analysis::{Floor, Reason, ReasonKind, Severity, VerdictState};
use report::text::{TextOptions, page};

const OPTIONS: TextOptions = TextOptions { width: 100, colour: false };

fn text(floor: &Floor, width: usize) -> String {
    report::floor::text(floor, &TextOptions { width, colour: false })
}

#[test]
fn the_page_as_people_see_it() {
    let floor = fixture::floor();
    let shown = text(&floor, OPTIONS.width);
    insta::assert_snapshot!("floor", shown);
    for width in [80, 100, 200] {
        let shown = text(&floor, width);
        assert!(
            shown.lines().all(|line| line.chars().count() <= width && line == line.trim_end()),
            "{shown}"
        );
        assert!(shown.lines().count() <= 50 && !shown.contains("\n\n\n"), "{shown}");
        for name in ["null", "echo", "noop ping", "noop select1", "noop empty+commit"] {
            assert!(shown.contains(name), "no {name} in {shown}");
        }
    }
}

#[test]
fn what_is_missing_is_said() {
    let shown = text(&fixture::floor_without_the_network(), OPTIONS.width);
    assert!(shown.contains("the network to db1 is not in it"), "{shown}");
    assert!(shown.contains("--echo db1:7377"), "{shown}");
    let shown = text(&fixture::overloaded(), OPTIONS.width);
    insta::assert_snapshot!("floor-overloaded", shown);
    assert!(report::floor::html(&fixture::overloaded()).contains("class=\"verdict invalid\""));
    assert!(!shown.contains("can't see below"), "{shown}");
}

/// A verdict without its reason helps nobody: below the table each is said once.
#[test]
fn the_page_says_why_a_part_is_suspect() {
    let mut floor = fixture::floor();
    let reason = |severity, text: &str| Reason {
        severity,
        kind: ReasonKind::NotWatched,
        text: text.to_owned(),
        hint: String::new(),
    };
    for part in &mut floor.parts[..2] {
        let own = format!("{}: nobody watched <the host>", part.info.name);
        part.verdict.state = VerdictState::Suspect;
        part.verdict.reasons = vec![
            reason(Severity::Note, "a note"),
            reason(Severity::Suspect, &own),
            reason(Severity::Suspect, "another"),
        ];
    }
    let html = report::floor::html(&floor);
    let (_, below) = html.split_once("</table>").expect("has a table");
    assert!(
        below.contains(
            "<p class=\"note\">Verdict suspect of null, echo: nobody watched &lt;the host&gt;.</p>"
        ),
        "{below}"
    );
    assert!(!below.contains("a note") && !below.contains("another"), "the first of the gravest alone");
    assert!(!report::floor::html(&fixture::floor()).contains("Verdict suspect"));
}

/// What a floor adds, between what else is on the page; a run without one says nothing of it.
#[test]
fn the_shares_stand_on_the_page_of_the_run() {
    let (without, with) = (page(&fixture::open_loop(), &OPTIONS), page(&fixture::with_floor(), &OPTIONS));
    assert!(!without.contains("floor"), "{without}");
    let begin = with.find("floor, measured right before the run\n").expect("a section on the floor");
    let end = begin + with[begin..].find("\noperation").expect("the operations come next") + 1;
    assert_eq!(format!("{}{}", &with[..begin], &with[end..]), without);
    insta::assert_snapshot!("floor-under-a-run", &with[begin..end]);
    assert!(with[begin..end].lines().all(|line| line.chars().count() <= OPTIONS.width));
    let html = report::html::page(&fixture::with_floor());
    for part in
        ["id=\"floor\"", "Which share of each quantile the floor explains", "echo explains", "all of it"]
    {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!report::html::page(&fixture::open_loop()).contains("id=\"floor\""));
}

#[test]
fn the_document_as_programs_see_it() {
    let document = report::json::document(&fixture::with_floor());
    let floor = &document["floor"];
    assert_eq!(floor["decisive"], "echo");
    let median = &floor["explained"][0];
    assert_eq!(median["quantile"], "p50");
    let echo = median["shares"].as_array().expect("shares").iter().find(|share| share["part"] == "echo");
    let share = echo.and_then(|echo| echo["share"]["point"].as_f64()).expect("a share");
    assert!((0.07..0.13).contains(&share), "a tenth was planted: {share}");
    assert!(report::json::document(&fixture::open_loop())["floor"].is_null());
    let overloaded = report::floor::json(&fixture::overloaded());
    assert!(overloaded["decisive"].is_null() && overloaded["can_not_see_below"] == serde_json::json!([]));
}

#[test]
fn the_figure_has_a_curve_for_each_part() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("floor");
    std::fs::create_dir_all(&directory).expect("target is writable");
    let svg = report::floor::figure(&fixture::floor()).expect("it has times");
    let html = report::floor::html(&fixture::floor());
    std::fs::write(directory.join("floor.svg"), &svg).expect("target is writable");
    std::fs::write(directory.join("floor.html"), &html).expect("target is writable");
    std::fs::write(directory.join("run.html"), report::html::page(&fixture::with_floor()))
        .expect("target is writable");
    xml::check(&svg).expect("well-formed");
    assert!(svg.len() < 100_000 && !svg.contains("NaN") && !svg.contains("inf"));
    let texts: Vec<String> = xml::texts(&svg).collect();
    for name in ["null", "echo", "noop ping", "noop select1", "noop empty+commit", "p50", "p99"] {
        assert!(texts.iter().any(|text| text == name), "no {name} in {texts:?}");
    }
    assert!(html.contains("<figure id=\"floor\" class=\"drawn\">") && !html.contains("<script"));
    // Beside a run they are thin.
    let figures = report::svg::figures(&fixture::with_floor());
    let (_, spectrum) = figures.iter().find(|(name, _)| *name == "spectrum").expect("a spectrum");
    std::fs::write(directory.join("spectrum.svg"), spectrum).expect("target is writable");
    assert_eq!(spectrum.matches("stroke-width=\"1.4\" stroke-dasharray").count(), 5);
    let figures = report::svg::figures(&fixture::open_loop());
    let (_, spectrum) = figures.iter().find(|(name, _)| *name == "spectrum").expect("a spectrum");
    assert!(!spectrum.contains("stroke-width=\"1.4\" stroke-dasharray"));
}
