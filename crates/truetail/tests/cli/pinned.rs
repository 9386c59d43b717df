//! Which CPUs threads and servers run on, as asked and as found.

use crate::program::{Scratch, brief};
use testkit::postgres::{Options, server};

/// The CPUs of this process as the kernel lists them.
fn cpus_of_this_process() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("procfs");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    list.trim().to_owned()
}

/// The first CPU of a list, and the list without it.
fn split_off_first(list: &str) -> (String, String) {
    let (range, rest) = list.split_once(',').unwrap_or((list, ""));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u32, u32) = (first.parse().expect("a CPU"), last.parse().expect("a CPU"));
    let left = match last - first {
        0 => String::new(),
        1 => last.to_string(),
        _ => format!("{}-{last}", first + 1),
    };
    let parts: Vec<&str> = [left.as_str(), rest].into_iter().filter(|part| !part.is_empty()).collect();
    (first.to_string(), parts.join(","))
}

#[test]
fn only_workers_run_on_the_workers_cpus() {
    let all = cpus_of_this_process();
    let (workers, spare) = split_off_first(&all);
    let scratch = Scratch::new("pinned");
    let long = ["run", "null:", "-r", "200/s", "-d", "300s", "--warmup", "0s", "-o", "a", "--threads", "2"];
    let mut running =
        scratch.start(&[&long[..], &["--report-interval", "100ms", "--cpus", &workers]].concat());
    running.wait_for_views(1);
    let threads = running.threads();
    running.signal(libc::SIGINT);
    running.wait().judged();

    let names = |wanted: &str| threads.iter().filter(|(name, _)| name.starts_with(wanted)).count();
    assert_eq!(
        (names("load-"), names("recorder"), names("observe"), names("view")),
        (2, 1, 1, 1),
        "{threads:?}"
    );
    let others = if spare.is_empty() { &all } else { &spare };
    for (name, cpus) in &threads {
        let wanted = match (name.starts_with("load-"), name.strip_prefix("hiccup-")) {
            (true, _) => workers.as_str(),
            // What watches a CPU is there, whoever else is.
            (_, Some(cpu)) => cpu,
            _ => others.as_str(),
        };
        assert_eq!(cpus, wanted, "{name}, of {threads:?}");
    }
    assert_eq!(names(&format!("hiccup-{workers}")), 1, "the workers' CPU is watched: {threads:?}");
    let facts = scratch.recording("a").header().capabilities.clone();
    let found = |asked: String| facts.iter().find(|(a, _)| *a == asked).map(|(_, found)| found.clone());
    assert_eq!(found(format!("workers on CPUs {workers}")).as_deref(), Some("granted"), "{facts:?}");
    let stated = found(format!("other threads off CPUs {workers}")).expect("a finding");
    let wanted = if spare.is_empty() { "no: on".to_owned() } else { format!("on {spare}") };
    assert!(stated.starts_with(&wanted), "{facts:?}");
}

#[test]
fn a_server_outside_of_its_cpus_is_told_on_the_page() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("server-cpus");
    let url = server.tcp_url();
    for (name, list, found) in [("right", "0-1023", "as asked"), ("wrong", "1023", "may use")] {
        let run = brief(&[&url, "-w", "noop", "-c", "2", "--server-cpus", list, "-o", name]);
        scratch.truetail(&run).judged();
        let asked = format!("server on CPUs {list}");
        let facts = scratch.recording(name).header().capabilities.clone();
        let stated = facts.iter().find(|(a, _)| *a == asked).expect("a finding");
        assert!(stated.1.contains(found), "{facts:?}");
        let page = std::fs::read_to_string(scratch.path(name).join("report.html")).expect("a page");
        assert!(page.contains(&asked) && page.contains(found), "not on the page");
    }
}
