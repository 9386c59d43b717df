//! What a proof looks like: text, page, figures, document.

mod planted;
#[path = "../xml/mod.rs"]
mod xml;

use planted::proof;
use prove::Proof;
use report::text::TextOptions;
use testkit::documented::Schema;

const OPTIONS: TextOptions = TextOptions { width: 110, colour: false };

fn keep(name: &str, content: &str) {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("proof");
    std::fs::create_dir_all(&directory).expect("target is writable");
    std::fs::write(directory.join(name), content).expect("target is writable");
}

#[test]
fn the_page_as_people_see_it() {
    let text = report::prove::text(proof(), &OPTIONS);
    for line in text.lines() {
        assert!(line.chars().count() <= OPTIONS.width, "{} columns: {line}", line.chars().count());
        assert_eq!(line, line.trim_end());
    }
    assert!(text.ends_with('\n') && !text.contains("\n\n\n"));
    insta::assert_snapshot!("proof", text);
}

#[test]
fn a_page_without_anything_says_so() {
    let text = report::prove::text(&Proof::default(), &OPTIONS);
    assert_eq!(text, "not graded: truetail itself; the verdicts are those of the tools\n");
    let tools = Proof { tools: proof().tools.clone(), ..Proof::default() };
    assert!(report::prove::text(&tools, &OPTIONS).starts_with("not graded: "));
    let html = report::prove::html(&tools);
    assert!(
        html.contains("<span class=\"badge\">not graded</span>") && !html.contains(">pass<"),
        "a pass of nothing"
    );
    assert_eq!(report::prove::json(&tools)["passed"], serde_json::Value::Null);
    let one = Proof { scenarios: proof().scenarios[..1].to_vec(), ..Proof::default() };
    let text = report::prove::text(&one, &OPTIONS);
    assert!(text.starts_with("pass: truetail's one run is within its limits\n"), "{text}");
}

#[test]
fn figures_are_well_formed_and_small() {
    let figures = report::prove::figures(proof());
    let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["league", "mean-over-capacity", "around-the-hiccup", "node-joins"]);
    for (name, svg) in &figures {
        keep(&format!("{name}.svg"), svg);
        xml::check(svg).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(svg.len() < 100_000, "{name}: {} bytes", svg.len());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    assert_eq!(report::prove::figures(&Proof::default()), vec![]);
}

#[test]
fn the_html_page_is_whole_and_its_own() {
    let page = report::prove::html(proof());
    keep("proof.html", &page);
    assert!(
        !page.contains("http:")
            && !page.contains("https:")
            && !page.contains("url(")
            && !page.contains("<script")
    );
    for part in [
        "League table",
        "measures from the intended start",
        "omits",
        "corrects approximately",
        "can&#39;t be told",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Other people's words can't become markup.
    assert!(page.contains("corrector &lt;2.0&gt;") && !page.contains("<2.0>"));
    // What is right stands first, what omits last of those that tell.
    let (_, league) = page.split_once("<caption>League table").expect("a league table");
    let place = |tool: &str| league.find(tool).unwrap_or_else(|| panic!("{tool}"));
    assert!(place("pgbench -R") < place("corrector") && place("corrector") < place("omitter"));
    // No colour of the figures stays that of paper in the dark.
    let (_, figures) = page.split_once("<body>").expect("a body");
    assert!(!figures.contains("\"#"), "{:?}", figures.find("\"#").map(|at| &figures[at..at + 10]));
}

#[test]
fn the_document_is_described() {
    let whole = report::prove::json(proof());
    let empty = report::prove::json(&Proof::default());
    assert_eq!(
        Schema::new("truetail.prove/1").differences(&[whole.clone(), empty.clone()]),
        Vec::<String>::new()
    );
    assert_eq!((&whole["passed"], &empty["passed"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(empty.get("nosqlmark"), Some(&serde_json::Value::Null));
    assert_eq!(whole["tools"][0]["verdict"], "omits");
    // Times are nanoseconds everywhere, in the table too.
    assert_eq!(whole["nosqlmark"]["table"][1]["published"]["quantiles"]["p99"], 603.647e6);
}
