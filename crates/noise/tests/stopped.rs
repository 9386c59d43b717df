//! A stop of the whole process, planted from outside: hiccup threads must see it, and all of it but a period.

#![cfg(target_os = "linux")]

mod itself;

use clock::Clock;
use itself::{again, clock, first_cpu, line};
use noise::{Observer, ObserverSink, Places, Selection, Watch, registry};
use std::io::BufReader;
use std::sync::mpsc::{Sender, channel};
use units::{Nanos, Ticks};

/// Set for the process that is stopped.
const STOPPED: &str = "TRUETAIL_NOISE_STOPPED";
const PERIOD: Nanos = Nanos::from_millis(1);

struct Told(Sender<(usize, f64, Ticks, Ticks)>);

impl ObserverSink for Told {
    fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks) {
        let _ = self.0.send((source, value, begin, end));
    }

    fn observe_named(&mut self, _: &str, _: f64, _: Ticks, _: Ticks) {}
}

/// In the process that is stopped: says that it watches, goes on until its input ends, then tells the longest hiccup.
fn watch_until_end_of_input() {
    let clock = clock();
    let watch = Watch {
        clock,
        cpus: vec![first_cpu()],
        process_cpus: 1,
        load_threads: "load-",
        load_count: 1,
        load_cpus: 1,
        hiccup_period: PERIOD,
        places: Places::default(),
    };
    let selection = Selection::parse("hiccup").expect("a family");
    let (tell, told) = channel();
    let sources = registry(&selection, &watch);
    let (observer, facts) = Observer::start(sources, Nanos::from_millis(5), clock, Told(tell));
    assert!(facts.iter().all(|source| source.available.is_ok()), "{facts:?}");
    println!("\nwatching");
    let _ = std::io::stdin().read_line(&mut String::new());
    let spent = observer.stop().expect("it has watched");
    assert!(spent.cpu > Nanos::ZERO && spent.watched > spent.cpu, "{spent:?}");
    let longest = told.iter().filter(|o| o.0 == 0).max_by(|a, b| a.1.total_cmp(&b.1)).expect("a hiccup");
    let length = clock.nanos_in(longest.3.0 - longest.2.0).0;
    println!("\nlongest {} of {length}", longest.1 as u64);
}

#[test]
fn a_stopped_process_sees_its_stop() {
    if std::env::var_os(STOPPED).is_some() {
        return watch_until_end_of_input();
    }
    let mut child = again("a_stopped_process_sees_its_stop", STOPPED, "1");
    let mut said = BufReader::new(child.0.stdout.take().expect("a pipe"));
    line(&mut said, "watching");
    let pid = libc::pid_t::try_from(child.0.id()).expect("a process id");
    let signal = |signal| {
        // SAFETY: the child has not been waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    };
    signal(libc::SIGSTOP);
    let mut status = 0;
    // SAFETY: `status` is there to be written; WUNTRACED returns when the child has stopped.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, libc::WUNTRACED) }, pid);
    assert!(libc::WIFSTOPPED(status));
    let clock = clock();
    let begin = clock.now();
    while clock.nanos_in(clock.now().0 - begin.0) < Nanos::from_millis(50) {
        std::hint::spin_loop();
    }
    let stopped = clock.nanos_in(clock.now().0 - begin.0);
    signal(libc::SIGCONT);
    drop(child.0.stdin.take());
    let told = line(&mut said, "longest ");
    let mut numbers = told.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u64>().ok());
    let (value, length) = (numbers.next().expect("a value"), numbers.next().expect("a length"));
    // What lay before the thread was due is not in it: a period at most.
    assert!(value + PERIOD.0 >= stopped.0, "{told} of {stopped}");
    assert!(value.abs_diff(length) <= 1, "the value is the length of its interval: {told}");
}
