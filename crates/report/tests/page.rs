//! The page as text.

mod fixture;

use units::Seed;

#[test]
fn nothing_comes_from_the_network() {
    let page = report::html::page(&fixture::open_loop());
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("@import"));
    for attribute in ["src=", "href=", "url("] {
        for (place, _) in page.match_indices(attribute) {
            let target = page[place + attribute.len()..].trim_start_matches(['"', '\'']);
            assert!(target.starts_with("data:") || target.starts_with('#'), "{attribute}{}", &target[..40]);
        }
    }
}

#[test]
fn the_order_is_load_verdict_numbers_quantiles_figures_tables_facts() {
    let page = report::html::page(&fixture::open_loop());
    let places: Vec<usize> = [
        "<strong>open loop</strong>",
        "class=\"verdict valid\"",
        "class=\"cards\"",
        "id=\"quantiles\"",
        "id=\"anatomy-0\"",
        "id=\"series-0\"",
        "id=\"spectrum-0\"",
        "id=\"boxes-0\"",
        "id=\"heat-0\"",
        "id=\"load-0\"",
        "How the measured requests ended",
        "By operation",
        "<caption>Events",
        "Measuring host",
        "What watched the measuring host",
    ]
    .iter()
    .map(|part| page.find(part).unwrap_or_else(|| panic!("the page has no {part}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn what_is_not_known_is_said() {
    let page = report::html::page(&fixture::tiny());
    assert!(page.contains("needs 10,000 samples"), "p99.9 of thirty requests is withheld");
    let page = report::html::page(&fixture::open_loop());
    assert!(page.contains("/proc/stat has no steal column that moves"), "why a source is not available");
    let page = report::html::page(&fixture::closed_loop());
    assert!(page.contains("<strong>closed loop</strong>"));
    assert!(!page.contains("p99 response time"), "a closed loop has no response time");
    assert!(page.contains("p99 service time"));
    let page = report::html::page(&fixture::censored());
    assert!(page.contains("≥ "), "what censored requests hide is a lower bound");
}

#[test]
fn long_runs_make_no_large_pages() {
    let mut analysis = fixture::open_loop();
    let mut rng = Seed(1).derive("noise").rng();
    for series in &mut analysis.series {
        // Full levels of noise over three decades: the worst that a pyramid can hold.
        let mut buckets = 1 << 16;
        for level in &mut series.pyramid.levels {
            let mut values = || -> Vec<u64> {
                (0..buckets).map(|_| (100e3 * 10f64.powf(1.5 * rng.unit())) as u64).collect()
            };
            level.min = values();
            level.max = values().iter().zip(&level.min).map(|(above, min)| above + min).collect();
            level.first = level.min.clone();
            level.last = level.max.clone();
            buckets /= 4;
        }
    }
    let size = report::html::page(&analysis).len();
    assert!(size < 3_000_000, "{size} bytes");
}

#[test]
fn the_table_of_quantiles_has_the_spreads_of_both_times() {
    let analysis = fixture::open_loop();
    let page = report::html::page(&analysis);
    let (_, table) = page.split_once("<caption>Quantiles of all").expect("has the table");
    let (table, _) = table.split_once("</table>").expect("ends");
    for row in ["standard deviation", "variance", "sd / mean", "p99 / mean", "max / median", "median / min"] {
        let cells = table.split_once(&format!("<th scope=\"row\">{row}</th>"));
        let cells = cells.unwrap_or_else(|| panic!("no row {row}")).1.split("</tr>").next().unwrap_or("");
        // Response time, service time, pool wait, lag, pick-up.
        assert_eq!(cells.matches("<td").count(), 5, "{row}: {cells}");
        // Each with its unit; a column whose spread a few samples decide has no interval.
        let in_units = cells.split("<td").skip(1).filter(|cell| cell.contains("s²")).count();
        assert!(row != "variance" || in_units == 5, "{cells}");
    }
}

#[test]
fn a_box_has_no_mark_for_a_quantile_that_its_samples_do_not_carry() {
    let page = report::html::page(&fixture::tiny());
    assert!(page.contains("\"p95\":null") && page.contains("\"p99\":null"));
    let page = report::html::page(&fixture::open_loop());
    let (_, boxes) = page.split_once("\"boxes\":[{").expect("has boxes");
    let (all, _) = boxes.split_once('}').expect("a box ends");
    assert!(!all.contains("null"), "{all}");
}
