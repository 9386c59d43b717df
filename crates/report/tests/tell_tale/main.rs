//! What the tell-tale experiment looks like: text, page, figures, document.

mod experiment;
#[path = "../xml/mod.rs"]
mod xml;

use experiment::{doubtful, experiment, small};
use report::text::TextOptions;
use serde_json::Value;
use testkit::browser::browser;
use testkit::documented::Schema;

const OPTIONS: TextOptions = TextOptions { width: 100, colour: false };

fn keep(name: &str, content: &str) -> std::path::PathBuf {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tell-tale");
    std::fs::create_dir_all(&directory).expect("target is writable");
    std::fs::write(directory.join(name), content).expect("target is writable");
    directory.join(name)
}

#[test]
fn the_page_as_people_see_it() {
    let text = report::tell_tale::text(experiment(), &OPTIONS);
    keep("tell-tale.txt", &text);
    for line in text.lines() {
        assert!(line.chars().count() <= OPTIONS.width, "{} columns: {line}", line.chars().count());
        assert_eq!(line, line.trim_end());
    }
    assert!(text.ends_with('\n') && !text.contains("\n\n\n"));
    insta::assert_snapshot!("tell-tale", text);
    insta::assert_snapshot!("tell-tale-small", report::tell_tale::text(small(), &OPTIONS));
}

/// What can't be run, or is not known, says why in every output; never a zero.
#[test]
fn what_is_not_known_says_why() {
    let text = report::tell_tale::text(experiment(), &TextOptions { width: 1_000, colour: false });
    let page = report::tell_tale::html(experiment());
    let document = report::tell_tale::json(experiment()).to_string();
    for out in [&text, &page, &document] {
        for says in
            ["this JVM has no Shenandoah", "its JVM wrote no log", "no clock leads from gc.log to the run"]
        {
            assert!(out.contains(says), "{says}");
        }
    }
    for words in
        ["no JVM", "no log", "no pause", "log tells nothing", "not run", "this truetail has no TPC-C"]
    {
        assert!(text.contains(words) && page.contains(words), "{words}");
    }
}

/// Rounds that were left out, that stay in although they are invalid, and of which no log tells: each is named, with its reason.
#[test]
fn what_is_not_to_be_believed_is_named() {
    let text = report::tell_tale::text(doubtful(), &TextOptions { width: 1_000, colour: false });
    let page = report::tell_tale::html(doubtful());
    for out in [&text, &page] {
        for says in [
            "G1: its log does not tell: round 1: no clock leads from gc.log to the run",
            "Serial: left out: round 1: its verdict is invalid: ",
            "the run failed: the made disk is full",
            "Parallel: round 3: the offered rate was not reached: ",
            "; it stays in",
        ] {
            assert!(out.contains(says), "{says}: {text}");
        }
        let untold = "of 2 of 3 rounds the log does not tell (no clock leads from gc.log to the run), and the others have no pause";
        assert!(out.contains(untold), "{text}");
    }
    // Of the round that is left out there is no figure beside those of others.
    let (_, side_by_side) = page.split_once("The longest request / the longest pause").expect("the table");
    let row = side_by_side.split("<tr").find(|row| row.contains("Serial")).expect("its row");
    let cells: Vec<&str> = row.split("<td").skip(1).collect();
    assert!(cells.len() == 3 && cells[0].contains('–') && !cells[1].contains('–'), "{row}");
    let document = report::tell_tale::json(doubtful());
    assert_eq!(document["cells"][1]["figures"]["untold_rounds"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["cells"][2]["figures"]["lost_rounds"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["cells"][2]["figures"]["rounds"][0]["number"], 2);
    assert_eq!(document["cells"][4]["figures"]["whose_tail"], "log-trouble");
}

#[test]
fn figures_are_well_formed_and_small() {
    let figures = report::tell_tale::figures(experiment());
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    for name in
        ["throughput", "boxes-0", "operations-0", "series-0", "boxes-2", "series-2", "rounds-0", "rounds-14"]
    {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    assert!(!names.contains(&"rounds-5"), "a cell that was not run");
    for (name, svg) in &figures {
        keep(&format!("{name}.svg"), svg);
        xml::check(svg).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let panels = if name.starts_with("series") || name.starts_with("rounds") { 6 } else { 1 };
        assert!(svg.len() < panels * 60_000, "{name}: {} bytes", svg.len());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    let (_, boxes) = figures.iter().find(|(name, _)| name == "boxes-0").expect("a figure");
    let longest = experiment().cells[1].figures.as_ref().expect("it ran").max.most;
    let longest = units::format_nanos(units::Nanos(longest as u64));
    assert!(xml::texts(boxes).any(|text| text == longest), "the largest of all has its number: {longest}");
    let names: Vec<String> = report::tell_tale::figures(small()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["throughput", "boxes-0", "operations-0", "series-0"],
        "one round has no others beside it"
    );
}

#[test]
fn the_html_page_is_whole_and_its_own() {
    let page = report::tell_tale::html(experiment());
    keep("tell-tale.html", &page);
    assert!(
        !page.contains("http:")
            && !page.contains("https:")
            && !page.contains("url(")
            && !page.contains("<script")
    );
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    // No colour of the figures stays that of paper in the dark.
    let (_, figures) = page.split_once("<body>").expect("a body");
    assert!(!figures.contains("\"#"), "{:?}", figures.find("\"#").map(|at| &figures[at..at + 10]));
    // Other people's words can't become markup.
    let page = report::tell_tale::html(small());
    assert!(page.contains("no &lt;b&gt;JDK&lt;/b&gt; 23 &amp; no Maven") && !page.contains("<b>JDK"));
}

#[test]
fn the_document_is_described() {
    let (whole, small) = (report::tell_tale::json(experiment()), report::tell_tale::json(small()));
    assert_eq!(
        Schema::new("truetail.tell-tale/1").differences(&[whole.clone(), small]),
        Vec::<String>::new()
    );
    assert_eq!(whole["cells"][1]["figures"]["whose_tail"], "harness");
    assert_eq!(whole["cells"][5]["figures"], serde_json::Value::Null);
    assert_eq!(whole["groups"][0]["claim"]["maxima_move"], "holds");
}

/// In a browser, wide and narrow, light and dark: all figures have their size and their marks, nothing is loaded, nothing
/// makes the page wider than the screen, and labels of one figure do not lie on each other.
#[test]
fn the_page_in_a_browser() {
    let Some(browser) = browser() else { return };
    let page = keep("in-a-browser.html", &report::tell_tale::html(experiment()));
    let eval = |script: &str| browser.eval(script).unwrap_or_else(|e| panic!("{e}\nin: {script}"));
    browser.open(&page).expect("a file that was just written opens");
    eval("document.querySelectorAll('details').forEach(fold => { fold.open = true })");
    for (width, dark) in [(1200, false), (1200, true), (400, false)] {
        browser.set_size(width, 900).expect("a device can be this large");
        browser.set_dark(dark).expect("a device can be dark");
        let wider =
            eval("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wider.as_i64(), Some(0), "{width} pixels");
        let figures = eval(
            "return [...document.querySelectorAll('figure svg')].map(svg => {
               const box = svg.getBoundingClientRect();
               return [box.width, box.height, svg.querySelectorAll('path, circle').length];
             })",
        );
        let figures = figures.as_array().expect("a list");
        assert_eq!(figures.len(), report::tell_tale::figures(experiment()).len());
        for figure in figures {
            let number = |index: usize| figure[index].as_f64().unwrap_or(0.0);
            assert!(number(0) > 700.0 && number(1) > 120.0 && number(2) > 5.0, "{width} pixels: {figure}");
        }
        let name = format!("in-a-browser-{width}{}.png", if dark { "-dark" } else { "" });
        browser.screenshot(&page.with_file_name(name)).expect("a picture");
    }
    let overlapping = eval(
        "const found = [];
         for (const svg of document.querySelectorAll('figure svg')) {
           const texts = [...svg.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent]);
           texts.forEach(([a, one], i) => texts.slice(i + 1).forEach(([b, other]) => {
             const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
             const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
             if (wide > 1 && high > 4) found.push(svg.parentNode.id + ': ' + one + ' | ' + other);
           }));
           const frame = svg.getBoundingClientRect();
           texts.filter(([t]) => t.right > frame.right + 1 || t.left < frame.left - 1)
             .forEach(([, text]) => found.push(svg.parentNode.id + ' beyond: ' + text));
         }
         return found",
    );
    assert_eq!(overlapping, serde_json::json!([]));
    assert_eq!(browser.console_errors().expect("a log"), Vec::<String>::new());
    assert_eq!(
        eval("return performance.getEntriesByType('resource').map(e => e.name)"),
        serde_json::json!([])
    );
    assert_eq!(eval("return document.querySelector('script')"), Value::Null);
}
