//! Pages and documents of the fixtures.

mod fixture;

#[test]
fn print() {
    let o = report::text::TextOptions { width: 100, colour: false };
    for a in [fixture::open_loop(), fixture::closed_loop(), fixture::tiny(), fixture::censored()] {
        println!("{}\n=======", report::text::page(&a, &o));
    }
    println!("{}", report::text::comparison_page(&fixture::comparison(), &o));
}
