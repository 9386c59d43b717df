//! Inputs that nobody wrote, made from some that somebody did.
//!
//! A fuzz target is a test: under `cargo test` it tries a fixed number of inputs from a fixed seed, so that it fails for
//! everybody or for nobody. With `TRUETAIL_FUZZ_SECONDS=N`, which `cargo xtask soak --fuzz` sets, it goes on for N seconds
//! from a new seed. The inputs follow from the seed alone: `TRUETAIL_FUZZ_SEED=S` brings them back.
//!
//! ```
//! use testkit::fuzz::Fuzz;
//! let numbers = Fuzz::new("numbers").from(["17", "-3.5"]).words(["e", "inf"]);
//! numbers.run(100, |input| {
//!     let _ = String::from_utf8_lossy(input).parse::<f64>(); // an answer or an error, never a panic
//! });
//! ```
//!
//! There is no feedback from the code that was reached, which needs a compiler of its own; known inputs and words that
//! matter have to stand in for it. An input that takes longer than 30 s ends the program, since an endless loop has no
//! other end.

use clock::{Clock, ClockChoice, LiveClock};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Nanos, Rng, Seed};

/// How long one input may take.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// Inputs do not grow beyond this many times the longest of the corpus.
const GROWTH_MAX: usize = 4;

/// A named source of inputs.
pub struct Fuzz {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

/// How many inputs to try.
enum Budget {
    Inputs(u64),
    Until(Nanos),
}

impl Fuzz {
    /// Without a corpus it makes inputs of bytes and words.
    pub fn new(name: &'static str) -> Fuzz {
        Fuzz { name, corpus: vec![vec![]], words: Vec::new() }
    }

    /// Adds inputs to start from; each of them is tried as it is, too.
    pub fn from<T: AsRef<[u8]>>(mut self, corpus: impl IntoIterator<Item = T>) -> Fuzz {
        self.corpus.extend(corpus.into_iter().map(|input| input.as_ref().to_vec()));
        self
    }

    /// Adds pieces that matter to whoever reads the inputs: keywords, limits.
    pub fn words<T: AsRef<[u8]>>(mut self, words: impl IntoIterator<Item = T>) -> Fuzz {
        self.words.extend(words.into_iter().map(|word| word.as_ref().to_vec()));
        self
    }

    /// Hands inputs to `check`, which panics if one is not dealt with as it should be: `inputs` of them, or as many as
    /// there is time for.
    ///
    /// # Panics
    /// As `check` does, after the input has been shown and written to a file.
    pub fn run(&self, inputs: u64, mut check: impl FnMut(&[u8])) {
        let clock = clock::calibrate(ClockChoice::Monotonic).expect("a clock").start();
        let (budget, seed) = asked(inputs);
        let watchdog = Watchdog::new(clock, self.name, seed);
        std::thread::scope(|scope| {
            scope.spawn(|| watchdog.run());
            let tried = catch_unwind(AssertUnwindSafe(|| self.try_all(&budget, seed, &watchdog, &mut check)));
            watchdog.input.store(DONE, Ordering::Relaxed);
            match tried {
                Ok(tried) => eprintln!("fuzz {}: {tried} inputs from seed {seed}", self.name),
                Err(panic) => resume_unwind(panic),
            }
        });
    }

    fn try_all(&self, budget: &Budget, seed: u64, dog: &Watchdog, check: &mut impl FnMut(&[u8])) -> u64 {
        let mut rng = Seed(seed).derive(self.name).rng();
        for number in 0.. {
            let more = match budget {
                Budget::Inputs(inputs) => number < *inputs,
                Budget::Until(end) => dog.age() < *end,
            };
            if !more {
                return number;
            }
            dog.begins(number);
            let input = match usize::try_from(number).ok().and_then(|index| self.corpus.get(index)) {
                Some(known) => known.clone(),
                None => self.input(&mut rng),
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&input))) {
                self.show(seed, number, &input);
                resume_unwind(panic);
            }
        }
        u64::MAX
    }

    /// A known input with one to eight changes.
    fn input(&self, rng: &mut Rng) -> Vec<u8> {
        let mut input = self.known(rng).to_vec();
        for _ in 0..=rng.below(8) {
            self.change(rng, &mut input);
        }
        let longest = self.corpus.iter().map(Vec::len).max().unwrap_or(0).max(64);
        input.truncate(GROWTH_MAX * longest);
        input
    }

    fn known(&self, rng: &mut Rng) -> &[u8] {
        &self.corpus[index(rng, self.corpus.len())]
    }

    fn change(&self, rng: &mut Rng, input: &mut Vec<u8>) {
        let at = index(rng, input.len() + 1);
        let to = at + index(rng, (input.len() - at).min(32) + 1);
        match rng.below(9) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..to)),
            2 => drop(input.splice(at..at, input[at..to].to_vec())),
            3 => drop(input.splice(at..at, [rng.below(256) as u8])),
            4 if !self.words.is_empty() => {
                let word = &self.words[index(rng, self.words.len())];
                drop(input.splice(at..to, word.iter().copied()));
            }
            5 => {
                let other = self.known(rng);
                let from = index(rng, other.len() + 1);
                drop(input.splice(at..to, other[from..].iter().copied().take(64)));
            }
            6 => input[at..to].fill([0, 0xFF, 0x80, 0x7F, b'9'][index(rng, 5)]),
            7 if at < input.len() => input[at] ^= 1 << rng.below(8),
            _ if at < input.len() => input[at] = rng.below(256) as u8,
            _ => input.push(rng.below(256) as u8),
        }
    }

    fn show(&self, seed: u64, number: u64, input: &[u8]) {
        let file = PathBuf::from(format!("truetail-fuzz-{}-{seed}-{number}", self.name));
        let file = std::env::temp_dir().join(file);
        let kept = std::fs::write(&file, input).map_or("nowhere".to_owned(), |()| file.display().to_string());
        eprintln!("fuzz {}: input {number} of TRUETAIL_FUZZ_SEED={seed}, kept in {kept}:", self.name);
        eprintln!("b\"{}\"", input[..input.len().min(2_000)].escape_ascii());
    }
}

/// Below `bound`, which is above 0.
fn index(rng: &mut Rng, bound: usize) -> usize {
    rng.below(bound as u64) as usize
}

/// What the environment asks for.
fn asked(inputs: u64) -> (Budget, u64) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seed = number("TRUETAIL_FUZZ_SEED");
    match number("TRUETAIL_FUZZ_SECONDS") {
        Some(seconds) => (Budget::Until(Nanos::from_secs(seconds)), seed.unwrap_or_else(clock::wall_time_ns)),
        None => (Budget::Inputs(inputs), seed.unwrap_or(1)),
    }
}

const DONE: u64 = u64::MAX;

/// Ends the program if an input takes too long.
struct Watchdog {
    clock: LiveClock,
    begin: u64,
    name: &'static str,
    seed: u64,
    /// The number of the current input; relaxed, since nothing is read through it.
    input: AtomicU64,
}

impl Watchdog {
    fn new(clock: LiveClock, name: &'static str, seed: u64) -> Watchdog {
        Watchdog { clock, begin: clock.now().0, name, seed, input: AtomicU64::new(0) }
    }

    fn age(&self) -> Nanos {
        self.clock.nanos_in(self.clock.now().0.saturating_sub(self.begin))
    }

    fn begins(&self, number: u64) {
        self.input.store(number, Ordering::Relaxed);
    }

    fn run(&self) {
        let (mut seen, mut since) = (0, self.age());
        loop {
            let now = self.input.load(Ordering::Relaxed);
            if now == DONE {
                return;
            }
            if now != seen {
                (seen, since) = (now, self.age());
            }
            if self.age().0 - since.0 > PATIENCE.0 {
                let (name, seed) = (self.name, self.seed);
                eprintln!("fuzz {name}: input {seen} of TRUETAIL_FUZZ_SEED={seed} takes for ever");
                std::process::abort();
            }
            clock::pause(Nanos::from_millis(1));
        }
    }
}
