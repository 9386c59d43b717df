//! The page in a real browser.

mod fixture;

use std::path::PathBuf;
use testkit::browser::Browser;

#[test]
fn pictures() {
    let Some(browser) = testkit::browser::browser() else { return };
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, analysis) in [
        ("open", fixture::open_loop()),
        ("closed", fixture::closed_loop()),
        ("tiny", fixture::tiny()),
        ("censored", fixture::censored()),
    ] {
        let path = directory.join(format!("{name}.html"));
        let page = report::html::page(&analysis);
        eprintln!("{} {}", path.display(), page.len());
        std::fs::write(&path, page).unwrap();
        for (width, dark) in [(1280, false), (420, false), (1280, true), (420, true)] {
            browser.set_size(width, 900).unwrap();
            browser.set_dark(dark).unwrap();
            browser.open(&path).unwrap();
            browser.wait_until("window.truetail && window.truetail.ready").unwrap();
            let _ = browser
                .eval("return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
            eprintln!(
                "{:?} {:?}",
                browser.eval("return window.truetail").unwrap(),
                browser.console_errors().unwrap()
            );
            browser
                .screenshot(
                    &directory.join(format!("{name}-{width}-{}.png", if dark { "dark" } else { "light" })),
                )
                .unwrap();
        }
    }
}
