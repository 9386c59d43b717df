//! The page in a real browser: that its figures are drawn, zoom, keep every extreme, and need no network.

mod fixture;

use analysis::{Analysis, ClientTotals, VerdictState};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use testkit::browser::{Browser, browser};
use units::Quantile;

/// Writes the page, opens it and waits for its figures.
fn open(browser: &Browser, name: &str, analysis: &Analysis) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    std::fs::write(&path, report::html::page(analysis)).expect("the test's own directory takes a page");
    browser.open(&path).expect("a file that was just written opens");
    browser.wait_until("window.truetail && window.truetail.ready").expect("the page becomes ready");
    path
}

fn eval(browser: &Browser, script: &str) -> Value {
    browser.eval(script).unwrap_or_else(|e| panic!("{e}\nin: {script}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Draws what is waiting for the next frame.
fn settle(browser: &Browser) {
    eval(browser, "return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
}

fn state(browser: &Browser, figure: &str) -> Value {
    eval(browser, &format!("return window.truetail.figures['{figure}']"))
}

/// A point of a figure by shares of its inner rectangle, in the visible part, after scrolling there.
fn point(browser: &Browser, figure: &str, across: f64, down: f64) -> (i64, i64) {
    let script = format!(
        "const canvas = document.querySelector('#{figure} canvas');
         canvas.scrollIntoView({{block: 'center'}});
         const box = canvas.getBoundingClientRect();
         const at = window.truetail.figures['{figure}'].at;
         return [box.left + at.left + {across} * at.width, box.top + at.top + {down} * at.height]"
    );
    let found = eval(browser, &script);
    (number(&found[0]).round() as i64, number(&found[1]).round() as i64)
}

fn visible(browser: &Browser, figure: &str) -> (f64, f64) {
    settle(browser);
    let state = state(browser, figure);
    (number(&state["visible"][0]), number(&state["visible"][1]))
}

#[test]
fn every_figure_is_drawn_without_an_error() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    let runs = [
        ("open", fixture::open_loop(), 8),
        ("closed", fixture::closed_loop(), 5),
        ("tiny", fixture::tiny(), 8),
        ("censored", fixture::censored(), 8),
        ("truth", fixture::with_truth(), 9),
        ("stalls", fixture::with_stalls(), 8),
    ];
    for (name, analysis, figures) in runs {
        open(&browser, name, &analysis);
        let drawn = eval(
            &browser,
            "return [...document.querySelectorAll('figure[data-kind]')].map(figure => {
               const canvas = figure.querySelector('canvas');
               const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
               const colours = new Set();
               let painted = 0;
               for (let i = 0; i < data.length; i += 4) {
                 if (data[i + 3] === 0) continue;
                 painted += 1;
                 colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
               }
               const label = canvas.getAttribute('aria-label');
               return [figure.id, painted, colours.size, window.truetail.figures[figure.id].drawn, label];
             })",
        );
        let drawn = drawn.as_array().expect("a list of figures");
        assert_eq!(drawn.len(), figures, "{name}");
        for figure in drawn {
            assert!(number(&figure[1]) > 800.0 && number(&figure[2]) > 4.0, "{name}: blank {figure}");
            assert!(number(&figure[3]) > 0.0, "{name}: nothing drawn {figure}");
            assert!(figure[4].as_str().is_some_and(|label| label.len() > 30), "{name}: unlabelled {figure}");
        }
        // One more is part of the page itself.
        let own = "return [...document.querySelectorAll('figure:not([data-kind]) svg')]
                   .map(svg => [svg.getBoundingClientRect().height, svg.querySelectorAll('path').length])";
        let own = eval(&browser, own);
        assert_eq!(own.as_array().map(Vec::len), Some(1), "{name}: {own}");
        assert!(number(&own[0][0]) > 300.0 && number(&own[0][1]) > 10.0, "{name}: {own}");
        assert_eq!(eval(&browser, "return window.truetail.trouble"), Value::Null, "{name}");
        assert_eq!(browser.console_errors().expect("a log"), Vec::<String>::new(), "{name}");
        // What the page loaded besides itself.
        let loaded = eval(&browser, "return performance.getEntriesByType('resource').map(e => e.name)");
        assert_eq!(loaded, serde_json::json!([]), "{name}");
    }
}

#[test]
fn zooming_shows_a_part_of_the_run_from_a_finer_level() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    let page = open(&browser, "zoom", &fixture::open_loop());
    let whole = visible(&browser, "series-0");
    let coarse = number(&state(&browser, "series-0")["level"]);
    let (from, to) = (point(&browser, "series-0", 0.25, 0.5), point(&browser, "series-0", 0.30, 0.5));
    browser.drag(from, to).expect("both points are visible");
    let part = visible(&browser, "series-0");
    let length = whole.1 - whole.0;
    assert!((part.0 / length - 0.25).abs() < 0.003 && (part.1 / length - 0.30).abs() < 0.003, "{part:?}");
    let fine = number(&state(&browser, "series-0")["level"]);
    assert!(fine < coarse, "level {fine} after {coarse}");
    for figure in ["series-1", "heat-0", "heat-1", "load-0"] {
        assert_eq!(visible(&browser, figure), part, "{figure} shows the same part");
    }

    // The figure has the focus now: the wheel zooms further in, around where it is.
    let middle = point(&browser, "series-0", 0.5, 0.5);
    browser.wheel(middle, -300).expect("the point is visible");
    let closer = visible(&browser, "series-0");
    let factor = (part.1 - part.0) / (closer.1 - closer.0);
    assert!((factor - 1f64.exp()).abs() < 0.05, "300 pixels of wheel zoom e-fold: {factor}");
    assert!(((closer.0 + closer.1) - (part.0 + part.1)).abs() < 0.01 * (part.1 - part.0), "{closer:?}");

    browser.hover(point(&browser, "series-0", 0.6, 0.6)).expect("the point is visible");
    browser.screenshot(&page.with_extension("png")).expect("a picture");
    browser.double_click(middle).expect("the point is visible");
    assert_eq!(visible(&browser, "series-0"), whole);
    // The button is there while it is of use.
    let button = "document.querySelector('#series-0 button.whole')";
    assert_eq!(eval(&browser, &format!("return {button}.hidden")), Value::Bool(true));
    browser.drag(from, to).expect("both points are visible");
    settle(&browser);
    assert_eq!(eval(&browser, &format!("return {button}.hidden")), Value::Bool(false));
    eval(&browser, &format!("{button}.click()"));
    assert_eq!(visible(&browser, "series-0"), whole);
    assert_eq!(browser.console_errors().expect("a log"), Vec::<String>::new());
}

#[test]
fn a_wheel_over_a_figure_without_focus_scrolls_the_page() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    open(&browser, "scroll", &fixture::tiny());
    let whole = visible(&browser, "series-0");
    let middle = point(&browser, "series-0", 0.5, 0.5);
    let before = number(&eval(&browser, "return window.scrollY"));
    browser.wheel(middle, 200).expect("the point is visible");
    browser.wait_until(&format!("window.scrollY > {before}")).expect("the page scrolls");
    assert_eq!(visible(&browser, "series-0"), whole);
}

/// The share of a figure's height that the band fills in the columns around a moment.
fn band_at(browser: &Browser, figure: &str, moment: f64) -> f64 {
    let script = format!(
        "const state = window.truetail.figures['{figure}'];
         const canvas = document.querySelector('#{figure} canvas');
         const hex = getComputedStyle(document.documentElement).getPropertyValue('--band').trim();
         const band = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
         const [low, high] = state.visible;
         const x = Math.round(state.at.left + ({moment} - low) / (high - low) * state.at.width);
         let most = 0;
         for (let c = x - 2; c <= x + 2; c += 1) {{
           const data = canvas.getContext('2d').getImageData(c, state.at.top, 1, state.at.height).data;
           let count = 0;
           for (let i = 0; i < data.length; i += 4) {{
             if (band.every((value, k) => Math.abs(data[i + k] - value) < 12)) count += 1;
           }}
           most = Math.max(most, count);
         }}
         return most / state.at.height"
    );
    number(&eval(browser, &script))
}

#[test]
fn one_extreme_among_thousands_is_drawn_at_every_zoom() {
    let Some(browser) = browser() else { return };
    let (at, took) = fixture::PLANTED;
    for width in [1280, 420] {
        browser.set_size(width, 900).expect("a device can be this large");
        open(&browser, "extreme", &fixture::open_loop());
        settle(&browser);
        for figure in ["series-0", "series-1"] {
            let reach = number(&state(&browser, figure)["reach"][1]);
            assert!((reach / took as f64 - 1.0).abs() < 0.01, "{figure} at {width} px reaches {reach} ns");
            let (there, beside) = (band_at(&browser, figure, at as f64), band_at(&browser, figure, 5.5e9));
            assert!(there > 0.6, "{figure} at {width} px: {there} of the height at the extreme");
            assert!(beside < 0.5, "{figure} at {width} px: {beside} of the height elsewhere");
        }
    }
}

#[test]
fn box_plots_name_all_four_marks_and_no_two_names_touch() {
    let Some(browser) = browser() else { return };
    // The 99th percentile and the maximum of a run without outliers lie close together.
    let mut close = fixture::open_loop();
    for scope in std::iter::once(&mut close.total).chain(&mut close.scopes) {
        for measure in &mut scope.measures {
            let plot = &mut measure.box_plot;
            (plot.p95, plot.p99) = (plot.max * 0.97, plot.max * 0.99);
        }
    }
    for (name, analysis) in [("open", fixture::open_loop()), ("close", close)] {
        for width in [1280, 420] {
            browser.set_size(width, 900).expect("a device can be this large");
            open(&browser, &format!("boxes-{name}"), &analysis);
            settle(&browser);
            let rows = state(&browser, "boxes-0")["labels"].clone();
            let rows = rows.as_array().expect("rows of labels");
            assert!(rows.len() > 3, "{name}: {rows:?}");
            for (index, row) in rows.iter().enumerate() {
                let labels = row.as_array().expect("labels");
                let names: Vec<&str> = labels.iter().filter_map(|l| l[0].as_str()).collect();
                // All requests together carry all of them; a rare operation may not.
                let all = ["100", "99", "95", "0"];
                assert!(index > 0 || names == all, "{name} at {width} px: {names:?}");
                let carried: Vec<&str> = all.into_iter().filter(|label| names.contains(label)).collect();
                assert_eq!(names, carried, "{name} at {width} px");
                for pair in labels.windows(2) {
                    let (right, left) = (number(&pair[0][1]), number(&pair[1][2]));
                    assert!(left < right, "{name} at {width} px: {pair:?}");
                }
                assert!(number(&labels[labels.len() - 1][1]) >= 0.0, "{name} at {width} px: {labels:?}");
            }
        }
    }
}

/// The floor's curves lie in the spectrum, and the tooltip tells their values.
#[test]
fn a_floor_is_drawn_beside_the_results() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    open(&browser, "floor", &fixture::with_floor());
    let drawn = state(&browser, "spectrum-0")["floors"].clone();
    let names: Vec<&str> =
        drawn.as_array().expect("a list").iter().filter_map(|one| one[0].as_str()).collect();
    assert_eq!(names, ["null", "echo", "noop ping", "noop select1", "noop empty+commit"]);
    assert!(drawn.as_array().is_some_and(|all| all.iter().all(|one| number(&one[1]) > 20.0)), "{drawn}");
    let legend = eval(&browser, "return document.querySelector('#spectrum-0 .legend').textContent");
    assert!(legend.as_str().is_some_and(|text| text.contains("floor: echofloor: noop ping")), "{legend}");
    let place = point(&browser, "spectrum-0", 0.3, 0.5);
    browser.hover(place).expect("the pointer can be there");
    let tooltip = eval(&browser, "return document.querySelector('#spectrum-0 .tooltip').textContent");
    assert!(tooltip.as_str().is_some_and(|text| text.contains("floor, echo: ")), "{tooltip}");
    open(&browser, "no-floor", &fixture::open_loop());
    assert_eq!(state(&browser, "spectrum-0")["floors"], serde_json::json!([]));
}

#[test]
fn the_spectrum_is_dotted_where_fewer_than_ten_requests_lie_beyond() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    for (name, analysis) in [("open", fixture::open_loop()), ("tiny", fixture::tiny())] {
        open(&browser, &format!("dotted-{name}"), &analysis);
        let dotted = state(&browser, "spectrum-0")["dotted"].clone();
        let dotted = dotted.as_array().expect("a list of curves");
        assert_eq!(dotted.len(), 2, "{name}");
        for curve in dotted {
            let key = curve[0].as_str().expect("a measure");
            let measure =
                analysis.total.measures.iter().find(|m| m.measure.key() == key).expect("is measured");
            let beyond = |q: f64| measure.n as f64 * (1.0 - q);
            let expected = measure.spectrum.iter().filter(|p| beyond(p.quantile.get()) < 10.0 - 1e-6).count();
            assert_eq!(number(&curve[1]) as usize, expected, "{name} {key}");
            assert!(expected > 1 && expected < measure.spectrum.len(), "{name} {key}: {expected}");
            assert!(beyond(number(&curve[2])) > 10.0 - 1e-6, "{name} {key}: {curve}");
        }
        let legend = eval(&browser, "return document.querySelector('#spectrum-0 .legend').textContent");
        assert!(
            legend.as_str().is_some_and(|text| text.contains("fewer than 10 requests beyond")),
            "{legend}"
        );
    }
}

/// What a script in the page would have to do to reach a server; the number of policies that stood in its way.
const REACH_OUT: &str = "
    const server = 'http://127.0.0.1:PORT/';
    let blocked = 0;
    document.addEventListener('securitypolicyviolation', () => { blocked += 1; });
    const ended = (element) => new Promise((done) => {
      element.onload = done;
      element.onerror = done;
      document.body.append(element);
    });
    const make = (tag, facts) => Object.assign(document.createElement(tag), facts);
    await fetch(server, { mode: 'no-cors' }).catch(() => {});
    await ended(make('img', { src: server + 'a.png' }));
    await ended(make('script', { src: server + 'a.js' }));
    await ended(make('link', { rel: 'stylesheet', href: server + 'a.css' }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return blocked;";

/// Hangs up on everybody who comes, until somebody says `end`: how many came.
fn hang_up(server: &TcpListener) -> u64 {
    let mut came = 0;
    for guest in server.incoming() {
        let mut words = [0; 3];
        let said = guest.and_then(|mut guest| guest.read_exact(&mut words));
        if said.is_ok() && words == *b"end" {
            break;
        }
        came += 1;
    }
    came
}

/// Opens a page and tries to reach a server from it: what the policy refused, and how many requests came.
fn reached(browser: &Browser, name: &str, page: &str) -> (u64, u64) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = server.local_addr().expect("is bound");
    let guests = std::thread::spawn(move || hang_up(&server));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    std::fs::write(&path, page).expect("the test's own directory takes a page");
    browser.open(&path).expect("a file that was just written opens");
    let script = REACH_OUT.replace("PORT", &address.port().to_string());
    let refused = eval(browser, &format!("return (async () => {{ {script} }})()"));
    let mut last = TcpStream::connect(address).expect("the server still listens");
    last.write_all(b"end").expect("it takes three bytes");
    (number(&refused) as u64, guests.join().expect("the server ends"))
}

#[test]
fn the_page_reaches_no_server() {
    let Some(browser) = browser() else { return };
    let page = report::html::page(&fixture::tiny());
    assert_eq!(reached(&browser, "policy", &page), (4, 0), "fetch, image, script and style are refused");
    // The same page without its policy: the test sees who comes.
    let (before, rest) =
        page.split_once("<meta http-equiv=\"Content-Security-Policy\"").expect("has a policy");
    let (_, after) = rest.split_once('>').expect("ends");
    let (refused, came) = reached(&browser, "no-policy", &format!("{before}{after}"));
    assert!(refused == 0 && came >= 4, "{refused} refused, {came} came");
}

#[test]
fn tooltips_tell_values() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    open(&browser, "tooltips", &fixture::open_loop());
    let expected = [
        ("anatomy-0", (0.5, 0.1), "service: "),
        ("series-0", (0.5, 0.8), "from "),
        ("spectrum-0", (0.5, 0.5), "response time: "),
        ("boxes-0", (0.5, 0.1), "median "),
        ("heat-0", (0.3, 0.85), " requests"),
        ("load-0", (0.3, 0.5), "achieved "),
    ];
    for (figure, (across, down), words) in expected {
        browser.hover(point(&browser, figure, across, down)).expect("the point is visible");
        let shown = eval(
            &browser,
            &format!(
                "const tip = document.querySelector('#{figure} .tooltip');
                 return getComputedStyle(tip).display === 'none' ? '' : tip.textContent"
            ),
        );
        assert!(shown.as_str().is_some_and(|text| text.contains(words)), "{figure}: {shown}");
    }
}

/// A page with what the others lack: a bound below the maximum, clients, a configuration with long lines.
fn doubtful() -> Analysis {
    let mut analysis = fixture::open_loop();
    analysis.verdict.state = VerdictState::Suspect;
    analysis.verdict.believable_to = Quantile::new(0.99);
    analysis.verdict.bound_reason = "above it the host's own stalls decide".to_owned();
    let long = "select_a_record_by_its_key = 0.5 # ".repeat(12);
    analysis.recordings[0].header.config = format!("[workload]\nname = \"ycsb-a\"\n{long}\n");
    analysis.recordings[0].header.target_facts.push(("shared_preload_libraries".to_owned(), "x".repeat(200)));
    let other = analysis.recordings[0].clone();
    analysis.recordings.push(other);
    let counts = analysis.total.counts.clone();
    let client = |client| ClientTotals { client, host: format!("load-{client}"), counts: counts.clone() };
    analysis.clients = vec![client(0), client(1)];
    analysis
}

#[test]
fn it_fits_a_phone_and_a_dark_screen() {
    let Some(browser) = browser() else { return };
    let runs = [
        ("open", fixture::open_loop()),
        ("censored", fixture::censored()),
        ("doubtful", doubtful()),
        ("truth", fixture::with_truth()),
        ("join", fixture::with_join()),
    ];
    for (name, analysis) in runs {
        let mut papers = Vec::new();
        for (width, dark) in [(1280, false), (420, false), (1280, true), (420, true)] {
            browser.set_size(width, 900).expect("a device can be this large");
            browser.set_dark(dark).expect("a scheme can be chosen");
            let page = open(&browser, &format!("look-{name}"), &analysis);
            settle(&browser);
            let wide = number(&eval(&browser, "return document.scrollingElement.scrollWidth"));
            assert!(wide <= f64::from(width), "{name} is {wide} wide at {width} px");
            // On a phone tables scroll; on a screen all of the quantiles are seen at once.
            let table = "const box = document.querySelector('#quantiles .scroll');
                         return box.scrollWidth - box.clientWidth";
            let hidden = number(&eval(&browser, table));
            assert!(
                width < 1000 || hidden <= 0.0,
                "{name}: {hidden} px of the quantiles are cut at {width} px"
            );
            let scheme = if dark { "dark" } else { "light" };
            browser.screenshot(&page.with_extension(format!("{width}.{scheme}.png"))).expect("a picture");
            let paper =
                "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]";
            papers.push((dark, number(&eval(&browser, paper))));
        }
        assert!(papers.iter().all(|(dark, red)| (*red < 60.0) == *dark), "{name}: {papers:?}");
    }
}

/// How far each table is wider than its box: caption and pixels.
const CUT: &str = "return [...document.querySelectorAll('.scroll')]
    .map(box => [box.getAttribute('aria-label'), box.scrollWidth - box.clientWidth])";

#[test]
fn the_usual_tables_fit_a_small_screen() {
    let Some(browser) = browser() else { return };
    let runs = [
        ("open", fixture::open_loop()),
        ("closed", fixture::closed_loop()),
        ("censored", fixture::censored()),
        ("statements", fixture::with_statements()),
        ("floor", fixture::with_floor()),
        ("truth", fixture::with_truth()),
        ("runners", fixture::with_runners()),
    ];
    let all_fit = |name: &str, width: u32, picture: &std::path::Path| {
        let cut = eval(&browser, CUT);
        let cut = cut.as_array().expect("a list of tables");
        assert!(!cut.is_empty(), "{name}");
        browser.screenshot(picture).expect("a picture");
        let hidden: Vec<&Value> = cut.iter().filter(|one| number(&one[1]) > 0.0).collect();
        assert!(hidden.is_empty(), "{name} at {width} px hides {hidden:?}");
    };
    browser.set_dark(false).expect("a scheme can be chosen");
    for width in [1100, 1239, 1240, 1280] {
        browser.set_size(width, 900).expect("a device can be this large");
        for (name, analysis) in &runs {
            let page = open(&browser, &format!("fit-{name}"), analysis);
            settle(&browser);
            all_fit(name, width, &page.with_extension(format!("{width}.png")));
        }
        let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fit-the-floor.html");
        std::fs::write(&page, report::floor::html(&fixture::floor())).expect("the directory takes a page");
        browser.open(&page).expect("a file that was just written opens");
        all_fit("the floor", width, &page.with_extension(format!("{width}.png")));
    }
}

#[test]
fn figures_follow_the_screen_when_it_turns_dark() {
    let Some(browser) = browser() else { return };
    browser.set_size(1280, 900).expect("a device can be this large");
    browser.set_dark(false).expect("a scheme can be chosen");
    open(&browser, "dusk", &fixture::tiny());
    let picture = "return document.querySelector('#load-0 canvas').toDataURL()";
    let light = eval(&browser, picture);
    browser.set_dark(true).expect("a scheme can be chosen");
    settle(&browser);
    assert_ne!(eval(&browser, picture), light);
}

#[test]
fn names_and_errors_cannot_run_in_the_page() {
    let Some(browser) = browser() else { return };
    let hostile = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";
    let mut analysis = fixture::open_loop();
    for event in &mut analysis.events {
        event.detail = hostile.to_owned();
        event.subject = hostile.to_owned();
    }
    for scope in &mut analysis.scopes {
        scope.name = hostile.to_owned();
    }
    for reason in &mut analysis.verdict.reasons {
        reason.text = hostile.to_owned();
        reason.hint = hostile.to_owned();
    }
    analysis.verdict.bound_reason = hostile.to_owned();
    let info = &mut analysis.recordings[0];
    info.name = hostile.to_owned();
    info.header.workload = hostile.to_owned();
    info.header.operations = vec![hostile.to_owned(); 6];
    info.header.config = format!("</pre>{hostile}");
    info.header.phases.iter_mut().for_each(|p| p.name = hostile.to_owned());
    info.header.target_facts.iter_mut().for_each(|(name, value)| {
        name.push_str(hostile);
        value.push_str(hostile);
    });
    open(&browser, "hostile", &analysis);
    assert_eq!(eval(&browser, "return window.truetail.trouble"), Value::Null);
    assert_eq!(eval(&browser, "return window.hacked ?? null"), Value::Null);
    assert_eq!(number(&eval(&browser, "return document.images.length")), 0.0);
    assert_eq!(browser.console_errors().expect("a log"), Vec::<String>::new());
}
