//! Who ran instead: a process with a name of its own burns an observed CPU, planted from outside.
//!
//! Needs root (CAP_BPF and CAP_PERFMON) and a real-time priority. As root it must work; elsewhere it is skipped, loudly.

#![cfg(target_os = "linux")]

mod itself;

use clock::{Clock, LiveClock};
use itself::{again, clock, first_cpu, line};
use noise::who::{NAME, RAN, STOPPED};
use noise::{Observer, ObserverSink, Places, Selection, Watch, registry};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{Nanos, Ticks};

/// Set for the process that burns a CPU: which one.
const BURNS: &str = "TRUETAIL_NOISE_BURNS";
/// Set for the process that watches while it is stopped.
const WATCHES: &str = "TRUETAIL_NOISE_WATCHES";
/// What the burner calls itself.
const BURNER: &str = "planted-burner";
const LENGTH: Nanos = Nanos::from_millis(20);
const TIMES: usize = 8;

/// One at a time: they burn and watch the same CPU.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where it may work, it must.
fn is_privileged() -> bool {
    // SAFETY: it takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        eprintln!("\n*** SKIPPED: a test that needs root, for bpf(2) and a real-time priority ***\n");
    }
    is_root
}

/// A named interval: source, ns, from, until.
type Named = (String, f64, Ticks, Ticks);

#[derive(Debug)]
enum Seen {
    Value(usize, f64),
    Named(Named),
}

struct Told(Sender<Seen>);

impl ObserverSink for Told {
    fn observe(&mut self, source: usize, value: f64, _: Ticks, _: Ticks) {
        let _ = self.0.send(Seen::Value(source, value));
    }

    fn observe_named(&mut self, source: &str, value: f64, begin: Ticks, end: Ticks) {
        let _ = self.0.send(Seen::Named((source.to_owned(), value, begin, end)));
    }
}

/// Watches the CPU with the families named.
fn observe(families: &str, cpu: usize, clock: LiveClock) -> (Observer, Receiver<Seen>) {
    let watch = Watch {
        clock,
        cpus: vec![cpu],
        process_cpus: 1,
        load_threads: "load-",
        load_count: 1,
        load_cpus: 1,
        hiccup_period: Nanos::from_millis(1),
        places: Places::default(),
    };
    let selection = Selection::parse(families).expect("families");
    let (tell, told) = channel();
    let sources = registry(&selection, &watch);
    let (observer, facts) = Observer::start(sources, Nanos::from_millis(50), clock, Told(tell));
    assert!(facts.iter().all(|source| source.available.is_ok()), "{facts:?}");
    (observer, told)
}

/// In the process that burns: for each line of its input, [`LENGTH`] with a priority that nobody else has; then says so.
fn burn(cpu: usize) {
    assert!(clock::pin_to(cpu));
    let name = std::ffi::CString::new(BURNER).expect("no zero");
    // SAFETY: the name is a string that outlives the call.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) }, 0);
    let priority = libc::sched_param { sched_priority: 50 };
    // SAFETY: the call reads one valid structure; 0 is the calling thread alone.
    assert_eq!(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) }, 0);
    let clock = clock();
    println!("\nready");
    for _ in std::io::stdin().lines() {
        let begin = clock.now();
        while clock.nanos_in(clock.now().0 - begin.0) < LENGTH {
            std::hint::spin_loop();
        }
        println!("\nburnt");
    }
}

/// The windows in which the planted process burnt the CPU, and all that was seen meanwhile.
fn watch_a_burner(families: &str, test: &str) -> (u32, Vec<(Ticks, Ticks)>, Vec<Seen>) {
    let (cpu, clock) = (first_cpu(), clock());
    let mut child = again(test, BURNS, &cpu.to_string());
    let mut said = BufReader::new(child.0.stdout.take().expect("a pipe"));
    let mut input = child.0.stdin.take().expect("a pipe");
    line(&mut said, "ready");
    let (observer, told) = observe(families, cpu, clock);
    let windows = (0..TIMES).map(|_| {
        clock::pause(Nanos::from_millis(60));
        let begin = clock.now();
        input.write_all(b"\n").expect("a pipe");
        line(&mut said, "burnt");
        (begin, clock.now())
    });
    let windows = windows.collect();
    observer.stop().expect("it has watched");
    (child.0.id(), windows, told.iter().collect())
}

#[test]
fn a_burner_is_named_with_its_time_and_its_moments() {
    if let Ok(cpu) = std::env::var(BURNS) {
        return burn(cpu.parse().expect("a CPU"));
    }
    if !is_privileged() {
        return;
    }
    let _alone = alone();
    let (pid, windows, seen) =
        watch_a_burner("hiccup,who", "a_burner_is_named_with_its_time_and_its_moments");
    let expected = format!("{RAN}{}{NAME}{BURNER} (pid {pid})", first_cpu());
    let named: Vec<&Named> = seen
        .iter()
        .filter_map(|seen| match seen {
            Seen::Named(named) if named.0 == expected => Some(named),
            _ => None,
        })
        .collect();
    let sum: f64 = named.iter().map(|named| named.1).sum();
    // The hiccup thread is due within a period of the begin, so that much of each is nobody's wait.
    let (least, most) =
        (0.85 * (TIMES as u64 * LENGTH.0) as f64, windows.iter().map(|w| w.1.0 - w.0.0).sum::<u64>());
    assert!(sum > least && sum <= most as f64, "{sum} ns of {named:?}");
    for (name, ran, begin, end) in &named {
        let slack = 1_000_000;
        let is_in = |w: &(Ticks, Ticks)| w.0.0 <= begin.0 + slack && end.0 <= w.1.0 + slack;
        assert!(windows.iter().any(is_in), "{name}: {begin:?} to {end:?} in {windows:?}");
        assert!(*ran <= (end.0 - begin.0) as f64 + 1.0, "{ran}");
    }
    let touched = windows.iter().filter(|w| named.iter().any(|n| n.2.0 < w.1.0 && n.3.0 > w.0.0)).count();
    assert_eq!(touched, TIMES, "each of them");
    let lost = seen.iter().filter(|seen| matches!(seen, Seen::Value(2, lost) if *lost > 0.0)).count();
    assert_eq!(lost, 0, "nothing was lost");
}

/// Without the programs nobody is named: what the other test sees comes from them.
#[test]
fn without_who_nobody_is_named() {
    if let Ok(cpu) = std::env::var(BURNS) {
        return burn(cpu.parse().expect("a CPU"));
    }
    if !is_privileged() {
        return;
    }
    let _alone = alone();
    let (_, _, seen) = watch_a_burner("hiccup", "without_who_nobody_is_named");
    assert!(
        seen.iter().any(|seen| matches!(seen, Seen::Value(0, late) if *late > 5e6)),
        "the hiccups are there"
    );
    assert!(!seen.iter().any(|seen| matches!(seen, Seen::Named(_))));
}

/// In the process that is stopped.
fn watch_until_end_of_input() {
    let (observer, told) = observe("hiccup,who", first_cpu(), clock());
    println!("\nwatching");
    let _ = std::io::stdin().read_line(&mut String::new());
    clock::pause(Nanos::from_millis(20));
    observer.stop().expect("it has watched");
    for seen in told {
        match seen {
            Seen::Named((name, ran, ..)) if ran > 20e6 => println!("\nran {ran:.0} {name}"),
            _ => {}
        }
    }
    println!("\nend");
}

/// A signal stops the process: nobody had its CPU instead, and that is what is said.
#[test]
fn who_is_stopped_names_nobody() {
    if std::env::var_os(WATCHES).is_some() {
        return watch_until_end_of_input();
    }
    if !is_privileged() {
        return;
    }
    let _alone = alone();
    let mut child = again("who_is_stopped_names_nobody", WATCHES, "1");
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
    clock::pause(Nanos::from_millis(50));
    signal(libc::SIGCONT);
    drop(child.0.stdin.take());
    let mut told = Vec::new();
    loop {
        let mut text = String::new();
        assert!(said.read_line(&mut text).expect("a pipe") > 0, "the child has ended");
        match text.trim() {
            "end" => break,
            text if text.starts_with("ran ") => told.push(text.to_owned()),
            _ => {}
        }
    }
    assert!(!told.is_empty(), "the stop is told");
    assert!(told.iter().all(|told| told.ends_with(STOPPED)), "{told:?}");
}
/// Without the privilege it is unavailable, with the reason and what it needs: never silent.
#[test]
fn without_the_privilege_it_says_so() {
    let asked = || {
        // SAFETY: plain numbers; the raw call changes the calling thread alone. Where it is refused, that thread has no
        // privilege as it is.
        unsafe { libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534) };
        let watch = Watch {
            clock: clock(),
            cpus: vec![0],
            process_cpus: 1,
            load_threads: "load-",
            load_count: 1,
            load_cpus: 1,
            hiccup_period: Nanos::from_millis(1),
            places: Places::default(),
        };
        let mut sources = registry(&Selection::parse("who").expect("a family"), &watch);
        sources[0].open()
    };
    let Err(why) = std::thread::spawn(asked).join().expect("it is asked") else { panic!("nobody may") };
    let is_said = ["it needs root, or CAP_BPF", "CONFIG_DEBUG_INFO_BTF", "no bpf(2)"];
    assert!(is_said.iter().any(|reason| why.0.contains(reason)), "{why}");
}
