//! From what the kernel told to who kept threads of ours from a CPU.

use super::program::{Told, event};
use std::collections::VecDeque;

/// Turns at one CPU that are kept until a wait asks for them: 1.6 s of nothing but turns of 50 µs.
const TURNS_MAX: usize = 1 << 15;
/// Pieces of the same runner are one where no more than this lies between them, ns.
const GAP: u64 = 50_000;
/// An interrupt that takes longer stops whatever runs, and is told whether a thread of ours waits or not, ns.
const LONG_INTERRUPT: u64 = super::program::WAITED.0;

/// Who had a CPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Runner {
    /// A thread, as the kernel knows it.
    Task {
        thread: u32,
        process: u32,
        /// What it is called: bytes up to the first zero.
        name: [u8; 16],
        is_kernel: bool,
    },
    /// Several, each too short to be told.
    Short,
    /// A signal had stopped the thread of ours: it did not want a CPU.
    Stopped,
    /// A device's interrupt, by its number.
    Irq(u32),
    /// What an interrupt had put off, by its number.
    Softirq(u32),
    /// An interrupt of the CPU itself, by its place in the list of those.
    Vector(u32),
}

/// What the kernel told, ns of its monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) cpu: usize,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Of that, how long it ran.
    pub(super) ran: u64,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Somebody had the CPU.
    Turn(Runner),
    /// This thread of ours waited for it.
    Wait(u32),
}

/// `PF_KTHREAD`.
const KERNEL_THREAD: u32 = 0x0020_0000;

impl Event {
    /// As the programs write it; `None` for what they don't.
    pub(super) fn read(bytes: &[u8]) -> Option<Event> {
        let four = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let eight = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let kind = four(event::KIND)?;
        let id = four(event::ID)?;
        let what = match Told::ALL.into_iter().find(|told| *told as u32 == kind)? {
            Told::Wait => What::Wait(id),
            Told::Task => What::Turn(Runner::Task {
                thread: id,
                process: four(event::PROCESS)?,
                name: bytes.get(event::NAME..event::NAME + 16)?.try_into().ok()?,
                is_kernel: four(event::FLAGS)? & KERNEL_THREAD != 0,
            }),
            Told::Short => What::Turn(Runner::Short),
            Told::Stop => What::Turn(Runner::Stopped),
            Told::Irq => What::Turn(Runner::Irq(id)),
            Told::Softirq => What::Turn(Runner::Softirq(id)),
            Told::Vector => What::Turn(Runner::Vector(id)),
        };
        let (begin, end, ran) = (eight(event::BEGIN)?, eight(event::END)?, eight(event::RAN)?);
        (begin < end && ran <= end - begin).then_some(Event {
            cpu: four(event::CPU)? as usize,
            begin,
            end,
            ran,
            what,
        })
    }
}

/// A time in which somebody had a CPU that a thread of ours wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) cpu: usize,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// How long of it the runner ran.
    pub(super) ran: u64,
    pub(super) runner: Runner,
}

/// What one CPU did lately.
#[derive(Default)]
pub(super) struct Lately {
    turns: VecDeque<Turn>,
    interrupts: VecDeque<(u64, u64)>,
    /// Until when a stop of ours has been told.
    stopped_until: u64,
    /// Until when turns were forgotten that no wait had asked for.
    forgotten: u64,
}

#[derive(Clone, Copy)]
struct Turn {
    begin: u64,
    end: u64,
    ran: u64,
    runner: Runner,
    /// From here on it has been told: by waits that end with it, one after another.
    told_from: u64,
}

impl Lately {
    /// Takes an event of this CPU; gives what is to be told. Events of a CPU come in the order of their ends. The
    /// second is true where a wait began before what is still known.
    pub(super) fn take(&mut self, event: Event, mut tell: impl FnMut(Kept)) -> bool {
        let Event { cpu, begin, end, ran, what } = event;
        let runner = match what {
            What::Wait(_) => {
                self.waited(cpu, begin, &mut tell);
                return begin < self.forgotten;
            }
            What::Turn(runner) => runner,
        };
        match runner {
            Runner::Stopped => {
                // All threads were stopped; those that run here again follow each other.
                let begin = begin.max(self.stopped_until);
                if begin < end {
                    self.stopped_until = end;
                    tell(Kept { cpu, begin, end, ran: end - begin, runner });
                }
            }
            Runner::Irq(_) | Runner::Softirq(_) | Runner::Vector(_) => {
                self.interrupts.push_back((begin, end));
                if self.interrupts.len() > TURNS_MAX {
                    self.interrupts.pop_front();
                }
                if end - begin > LONG_INTERRUPT {
                    tell(Kept { cpu, begin, end, ran, runner });
                }
            }
            Runner::Task { .. } | Runner::Short => {
                self.turns.push_back(Turn { begin, end, ran, runner, told_from: end });
                if self.turns.len() > TURNS_MAX {
                    self.forgotten = self.turns.pop_front().map_or(0, |turn| turn.end);
                }
            }
        }
        false
    }

    /// Whoever had the CPU from `begin` on, as far as that was not told for another wait.
    fn waited(&mut self, cpu: usize, begin: u64, tell: &mut impl FnMut(Kept)) {
        let first = self.turns.partition_point(|turn| turn.end <= begin);
        let interrupts = &self.interrupts;
        let mut last: Option<Kept> = None;
        for turn in self.turns.range_mut(first..) {
            let (from, to) = (turn.begin.max(begin), turn.told_from);
            if from >= to {
                continue;
            }
            turn.told_from = from;
            let share = turn.ran as f64 / (turn.end - turn.begin) as f64;
            for (begin, end) in without(interrupts, from, to) {
                let ran = ((end - begin) as f64 * share) as u64;
                let next = Kept { cpu, begin, end, ran, runner: turn.runner };
                match &mut last {
                    Some(last) if last.runner == next.runner && next.begin <= last.end + GAP => {
                        last.end = next.end;
                        last.ran += next.ran;
                    }
                    _ => last.replace(next).into_iter().for_each(&mut *tell),
                }
            }
        }
        last.into_iter().for_each(tell);
    }
}

/// What of [from, to) is in none of the long interrupts, which are told themselves.
fn without(interrupts: &VecDeque<(u64, u64)>, from: u64, to: u64) -> Vec<(u64, u64)> {
    let mut pieces = Vec::new();
    let mut at = from;
    // They come in the order of their ends; one within another begins later and ends first.
    for (begin, end) in interrupts.iter().skip(interrupts.partition_point(|i| i.1 <= from)) {
        if *begin >= to {
            break;
        }
        if end - begin > LONG_INTERRUPT {
            if at < *begin {
                pieces.push((at, *begin));
            }
            at = at.max(*end);
        }
    }
    if at < to {
        pieces.push((at, to));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str) -> Runner {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        Runner::Task { thread: 7, process: 7, name: bytes, is_kernel: false }
    }

    fn turn(runner: Runner, begin: u64, end: u64) -> Event {
        Event { cpu: 1, begin, end, ran: end - begin, what: What::Turn(runner) }
    }

    fn wait(begin: u64, end: u64) -> Event {
        Event { cpu: 1, begin, end, ran: end - begin, what: What::Wait(7) }
    }

    fn told(events: &[Event]) -> Vec<(Runner, u64, u64, u64)> {
        let (mut lately, mut all) = (Lately::default(), Vec::new());
        for event in events {
            lately.take(*event, |kept| all.push((kept.runner, kept.begin, kept.end, kept.ran)));
        }
        all
    }

    #[test]
    fn whoever_ran_while_ours_waited_is_told_and_nobody_else() {
        let (a, b) = (task("a"), task("b"));
        let found = told(&[
            turn(a, 0, 1_000_000),
            turn(a, 2_000_000, 3_000_000),
            turn(b, 3_000_000, 4_000_000),
            wait(2_500_000, 4_000_000),
        ]);
        assert_eq!(found, [(a, 2_500_000, 3_000_000, 500_000), (b, 3_000_000, 4_000_000, 1_000_000)]);
    }

    #[test]
    fn what_two_of_ours_waited_for_is_told_once() {
        let a = task("a");
        let found = told(&[turn(a, 0, 1_000_000), wait(600_000, 1_000_000), wait(200_000, 1_100_000)]);
        assert_eq!(found, [(a, 600_000, 1_000_000, 400_000), (a, 200_000, 600_000, 400_000)]);
    }

    #[test]
    fn turns_in_a_row_are_one_and_the_time_between_them_is_not_counted() {
        let a = task("a");
        let found = told(&[
            turn(a, 0, 100_000),
            turn(a, 140_000, 200_000),
            turn(a, 300_000, 400_000),
            wait(0, 400_000),
        ]);
        assert_eq!(found, [(a, 0, 200_000, 160_000), (a, 300_000, 400_000, 100_000)]);
    }

    #[test]
    fn a_long_interrupt_is_told_instead_of_the_task_that_it_stopped() {
        let (a, irq) = (task("a"), Runner::Softirq(3));
        let found = told(&[turn(irq, 300_000, 700_000), turn(a, 0, 1_000_000), wait(100_000, 1_000_000)]);
        assert_eq!(
            found,
            [
                (irq, 300_000, 700_000, 400_000),
                (a, 100_000, 300_000, 200_000),
                (a, 700_000, 1_000_000, 300_000)
            ]
        );
        assert_eq!(told(&[turn(irq, 0, 100_000)]), [], "one that is short");
    }

    #[test]
    fn a_stop_of_all_threads_is_told_once() {
        let stop = |begin, end| turn(Runner::Stopped, begin, end);
        let found = told(&[stop(100, 900), stop(105, 950), stop(102, 940), stop(2_000, 2_100)]);
        let expected = [(100, 900, 800), (900, 950, 50), (2_000, 2_100, 100)];
        assert_eq!(found, expected.map(|(begin, end, ran)| (Runner::Stopped, begin, end, ran)));
    }

    #[test]
    fn of_short_ones_the_part_that_ran_is_told() {
        let event = Event { ran: 300_000, ..turn(Runner::Short, 0, 600_000) };
        assert_eq!(told(&[event, wait(200_000, 600_000)]), [(Runner::Short, 200_000, 600_000, 200_000)]);
    }

    #[test]
    fn what_was_forgotten_is_no_silence() {
        let mut lately = Lately::default();
        for at in 0..=TURNS_MAX as u64 {
            assert!(!lately.take(turn(task("a"), at * 100, at * 100 + 90), |_| ()));
        }
        assert!(lately.take(wait(50, 100), |_| ()));
        assert!(!lately.take(wait(90, 200), |_| ()));
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        let mut bytes = vec![0u8; event::SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(event::BEGIN, &5u64.to_ne_bytes());
        put(event::END, &9u64.to_ne_bytes());
        put(event::RAN, &4u64.to_ne_bytes());
        put(event::CPU, &3u32.to_ne_bytes());
        put(event::ID, &7u32.to_ne_bytes());
        put(event::PROCESS, &7u32.to_ne_bytes());
        put(event::NAME, b"a");
        let expected = Event { cpu: 3, ..turn(task("a"), 5, 9) };
        assert_eq!(Event::read(&bytes), Some(expected));
        bytes[event::KIND] = 2;
        assert_eq!(Event::read(&bytes).map(|event| event.what), Some(What::Wait(7)));
        bytes[event::KIND] = 99;
        assert_eq!((Event::read(&bytes), Event::read(&bytes[..40])), (None, None));
    }

    #[test]
    fn fuzz_who_events() {
        testkit::fuzz::Fuzz::new("who-events").from([[0u8; event::SIZE]]).run(2_000, |input| {
            let mut lately = Lately::default();
            for bytes in input.chunks(event::SIZE) {
                if let Some(event) = Event::read(bytes) {
                    lately.take(event, |kept| {
                        assert!(kept.begin < kept.end && kept.ran <= kept.end - kept.begin)
                    });
                }
            }
        });
    }
}
