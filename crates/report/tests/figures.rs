//! Figures: well-formed, small, honest.

mod fixture;

use analysis::Analysis;

/// The figures of all fixtures, also written to `target/tmp/figures` for people to look at.
fn all() -> Vec<(String, String, Analysis)> {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&directory).expect("target is writable");
    let fixtures = [
        ("open", fixture::open_loop()),
        ("closed", fixture::closed_loop()),
        ("tiny", fixture::tiny()),
        ("censored", fixture::censored()),
    ];
    let mut all = Vec::new();
    for (fixture, analysis) in fixtures {
        for (figure, svg) in report::svg::figures(&analysis) {
            let name = format!("{fixture}-{figure}");
            std::fs::write(directory.join(format!("{name}.svg")), &svg).expect("target is writable");
            all.push((name, svg, analysis.clone()));
        }
    }
    all
}

#[test]
fn sizes() {
    for (name, svg, _) in all() {
        assert!(svg.len() <= 300_000, "{name} has {} bytes", svg.len());
        println!("{name} {}", svg.len());
    }
}
