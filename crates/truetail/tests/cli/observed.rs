//! What watches the host during a run, and what is said of it.

use crate::program::{Scratch, brief};
use analysis::facts;

#[test]
fn a_run_tells_what_watched_it_and_what_that_cost() {
    let scratch = Scratch::new("observed");
    let ended = scratch.truetail(&[&brief(&["null:", "-o", "a"])[..], &["--json"]].concat()).judged();
    let observers = &ended.json()["observers"];
    assert!(observers["sources"].as_u64() > Some(5) && observers["off"] == false, "{observers}");
    let share = observers["core_share"].as_f64().expect("a cost");
    assert!(share > 0.0 && share < 1.0, "{share}");

    let recording = scratch.recording("a");
    let told = |name: &str| {
        let found = recording.header().capabilities.iter().find(|(asked, _)| asked == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert_eq!(told(facts::OBSERVERS), "default");
    let cpus = load::parse_cpu_list(&told(facts::CLIENT_CPUS_WATCHED)).expect("a list");
    assert_eq!(cpus, load::available_cpus());
    assert!(
        told("hiccup threads").starts_with("wakes later than 100 µs are told, each "),
        "{:?}",
        recording.header()
    );
    // Each of these CPUs was watched, and a hiccup is as long as its interval.
    let sources = recording.noise_sources();
    let number = |name: &str| sources.iter().position(|s| s.name == name && s.available.is_ok());
    assert!(cpus.iter().all(|cpu| number(&format!("hiccup cpu {cpu}")).is_some()), "{sources:?}");
    let noise = recording.noise().expect("its noise");
    let of = |name: &str| {
        let source = number(name);
        noise.iter().filter(move |o| Some(usize::from(o.source)) == source)
    };
    assert!(of("hiccup watched").any(|window| window.value > 0.5), "{sources:?}");
    for hiccup in cpus.iter().flat_map(|cpu| of(&format!("hiccup cpu {cpu}")).collect::<Vec<_>>()) {
        let length = (hiccup.end.0 - hiccup.begin.0) as f64;
        assert!(
            hiccup.value > 99_000.0 && (hiccup.value - length).abs() <= 0.01 * length + 100.0,
            "{hiccup:?}"
        );
    }
    assert!(of("run-queue-wait").count() > 0, "the load's threads are found by their names: {sources:?}");

    let page = scratch.truetail(&["report", "a"]).judged().stdout;
    let line = page.lines().find(|line| line.starts_with("observers ")).expect("a line");
    assert!(line.contains(" sources, ") && line.ends_with(" % of one core"), "{line}");
}

#[test]
fn observers_are_chosen_and_a_run_without_them_says_so() {
    let scratch = Scratch::new("unobserved");
    scratch.truetail(&brief(&["null:", "-o", "some", "--observers", "steal,hiccup=5ms"])).judged();
    let some = scratch.recording("some");
    assert!(some.noise_sources().iter().all(|s| s.name == "steal" || s.name.starts_with("hiccup ")));
    assert!(some.header().capabilities.iter().any(|(_, value)| value.ends_with("each 5.00 ms")));

    let ended = scratch.truetail(&brief(&["null:", "-o", "none", "--observers", "off"])).judged();
    let none = scratch.recording("none");
    assert!(none.noise_sources().is_empty() && none.noise().expect("its noise").is_empty());
    assert!(none.header().config.contains("observers = \"off\""), "{}", none.header().config);
    assert!(ended.stdout.contains("the host was not watched"), "{}", ended.stdout);
    assert!(ended.stdout.contains("no source saw the host's stalls"), "{}", ended.stdout);
}

/// Who is asked for and can't watch says why; who can says it, and its sources are not counted as watchers.
#[test]
fn who_watches_or_says_why_not() {
    let scratch = Scratch::new("observed-who");
    let arguments = [&brief(&["null:", "-o", "a"])[..], &["--observers", "default,who", "--json"]].concat();
    let document = scratch.truetail(&arguments).judged().json();
    let recording = scratch.recording("a");
    let who = recording.noise_sources().iter().find(|source| source.name == "who").expect("it was asked for");
    // SAFETY: it takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    match &who.available {
        Ok(_) => {}
        Err(why) if !is_root => assert!(why.contains("it needs") || why.contains("no bpf(2)"), "{why}"),
        Err(why) => panic!("as root it must work: {why}"),
    }
    let watchers = recording.noise_sources().iter().filter(|source| !source.name.starts_with("ran cpu "));
    let counted = |of: &str| document["observers"][of].as_u64().expect("a number");
    assert_eq!(counted("sources") + counted("unavailable"), watchers.count() as u64);
}

/// The spin mode is no observer of a run, and says where it is.
#[test]
fn gaps_are_looked_at_before_a_run() {
    let scratch = Scratch::new("observed-gaps");
    let cpu = load::available_cpus().first().expect("a CPU").to_string();
    let page = scratch.truetail(&["gaps", "--cpus", &cpu, "--time", "20ms"]).well().stdout;
    assert!(page.contains("≥ 1 µs") && page.contains(&format!("\n{cpu} alone ")), "{page}");
    assert!(!page.contains("with all"), "one CPU is all of them");
    let refused = scratch.truetail(&["run", "null:", "--observers", "spin"]).with_code(2);
    assert!(refused.stderr.contains("`truetail gaps`"), "{refused:?}");
    let absent = scratch.truetail(&["gaps", "--cpus", "1023", "--time", "10ms"]).with_code(2);
    assert!(absent.stderr.contains("this process may not use CPU 1023"), "{absent:?}");
    for time in ["0s", "9ms"] {
        scratch.truetail(&["gaps", "--time", time]).refused(&["too short to see anything; at least 10.0 ms"]);
    }
}

/// One name for what one crate writes and another reads.
#[test]
fn who_ran_is_found_by_its_names() {
    use analysis::attribution::names;
    assert_eq!(
        (names::WHO, names::RAN, names::RAN_NAME),
        (noise::who::SOURCE, noise::who::RAN, noise::who::NAME)
    );
}
