//! The settings of the store's timing.
//!
//! | setting | text | meaning |
//! |---|---|---|
//! | service | `exp:1ms`, `read=exp:1ms` | how long a request is worked on, see [`crate::Draw`] |
//! | servers | `4` | so many are worked on at a time (G/G/c, FIFO); none: any number |
//! | capacity | `2000/s` | one may begin each 1/μ (D/D/1, FIFO), pure waiting as in SickStore |
//! | hiccup | `1s@30s`, `exp:200ms@10s every exp:5s` | all stands still, see [`Hiccup`] |
//! | slow key | `user1*=50ms` | service takes longer for these keys, see [`SlowKey`] |
//! | delay | `uniform:1ms..2ms` | added to each answer after all else, as a network does |
//! | join | `at=30s streaming=20s dip=60% then=2000/s` | a second node comes, see [`Join`] |
//!
//! Instants count from the first request, as SickStore counts them, in real time: a hiccup that begins at 30 s begins
//! 30 s after the first request (one that is not [`Operation::Other`]), whatever was frozen before. All that is drawn follows from the seed.

mod hiccup;
mod rules;

pub use hiccup::Hiccup;
pub use rules::{Join, Service, SlowKey};

use crate::timing::AHEAD_MAX;
use crate::{Draw, Operation, text};
use units::{Nanos, PerSecond};

/// All settings of the timing. The default answers at once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    /// Service times. The last that fits an operation holds; without one it is zero.
    pub service: Vec<Service>,
    /// How many requests are worked on at a time, in [1, 65536]; `None`: any number.
    pub servers: Option<u32>,
    /// How many may begin in a second, in [0.001, 10⁹]; `None`: any number.
    pub capacity: Option<PerSecond>,
    /// When all stands still. Several are united: the store stands still while any of them lasts.
    pub hiccups: Vec<Hiccup>,
    /// Keys with a longer service. The first that fits a key holds.
    pub slow_keys: Vec<SlowKey>,
    /// Added to each answer, in real time.
    pub delay: Draw,
    /// A node that joins; needs a capacity.
    pub join: Option<Join>,
}

impl Model {
    /// The most servers.
    pub const SERVERS_MAX: u32 = 65_536;
    /// All hiccups together begin no more often in a second, in the mean.
    pub const HICCUPS_EACH_SECOND_MAX: f64 = 100.0;
    /// The most hiccups, slow keys and service times, each.
    pub const RULES_MAX: usize = 1_000;

    /// How long an operation is worked on.
    pub fn service_of(&self, operation: Operation) -> &Draw {
        let fits = |service: &&Service| service.operation.is_none_or(|own| own == operation);
        self.service.iter().rev().find(fits).map_or(&Draw::ZERO, |service| &service.draw)
    }

    /// Whether the settings make sense together.
    ///
    /// # Errors
    /// One line: the setting, its value, the limit.
    pub fn check(&self) -> Result<(), String> {
        if let Some(servers) = self.servers.filter(|n| !(1..=Model::SERVERS_MAX).contains(n)) {
            return Err(format!("{servers} servers: expected 1 to {}", Model::SERVERS_MAX));
        }
        if let Some(rate) = self.capacity.filter(|rate| !in_range(*rate)) {
            return Err(format!("capacity {}: expected 0.001/s to 1000000000/s", text::exact_rate(rate)));
        }
        if let Some(join) = &self.join {
            if self.capacity.is_none() {
                return Err(format!("join `{join}`: needs the capacity before it, such as `1000/s`"));
            }
            if !in_range(join.then) || !(0.0..=100.0).contains(&join.dip_percent) {
                return Err(format!(
                    "join `{join}`: expected a dip of 0% to 100% and 0.001/s to 1000000000/s"
                ));
            }
        }
        self.check_counts()?;
        self.check_hiccups()
    }

    fn check_counts(&self) -> Result<(), String> {
        let counts = [
            ("hiccups", self.hiccups.len()),
            ("slow keys", self.slow_keys.len()),
            ("service times", self.service.len()),
        ];
        match counts.into_iter().find(|(_, count)| *count > Model::RULES_MAX) {
            Some((what, count)) => Err(format!("{count} {what}: at most {} are possible", Model::RULES_MAX)),
            None => Ok(()),
        }
    }

    /// A store that stands still for ever answers nothing, and nobody learns from it.
    fn check_hiccups(&self) -> Result<(), String> {
        let share: f64 = self.hiccups.iter().map(Hiccup::share).sum();
        if share > Hiccup::SHARE_MAX {
            let (share, most) = (share * 100.0, Hiccup::SHARE_MAX * 100.0);
            return Err(format!("the hiccups take {share:.0}% of all time: at most {most:.0}% are possible"));
        }
        let each_second: f64 = self.hiccups.iter().map(Hiccup::each_second).sum();
        // Fractions of a second don't add up exactly.
        if each_second > Model::HICCUPS_EACH_SECOND_MAX * (1.0 + 1e-9) {
            let most = Model::HICCUPS_EACH_SECOND_MAX;
            return Err(format!(
                "the hiccups come {each_second:.0} times a second: at most {most} are possible"
            ));
        }
        let longest = self.longest_request_s() / (1.0 - share) + self.longest_pause_s();
        let (ahead, most) = (each_second * longest, (AHEAD_MAX / 2) as f64);
        if ahead > most {
            return Err(format!(
                "hiccups come {each_second:.3} times a second, and one request may take {longest:.0} s: {ahead:.0} of \
                 them would lie ahead of it, at most {most} are possible"
            ));
        }
        Ok(())
    }

    /// What one request may need of the store's own time, in seconds: its turn and, in the mean, its service.
    fn longest_request_s(&self) -> f64 {
        let seconds = |time: Nanos| time.0 as f64 / 1e9;
        let longest = |draws: &mut dyn Iterator<Item = &Draw>| -> f64 {
            draws.map(|draw| seconds(draw.mean())).fold(0.0, f64::max)
        };
        let service = longest(&mut Operation::ALL.iter().map(|operation| self.service_of(*operation)));
        let slow = longest(&mut self.slow_keys.iter().map(|slow| &slow.extra));
        let rates = self.capacity.into_iter().chain(self.join.as_ref().map(|join| join.then));
        service + slow + rates.map(|rate| 1.0 / rate.get()).fold(0.0, f64::max)
    }

    /// How long nothing may begin because of a join, in seconds of real time.
    fn longest_pause_s(&self) -> f64 {
        self.join.as_ref().map_or(0.0, |join| join.streaming.0 as f64 / 1e9)
    }

    /// Name and text of each setting that is not the default, for headers and pages.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut settings: Vec<(&'static str, String)> = Vec::new();
        settings.extend(self.service.iter().map(|service| ("service", service.to_string())));
        settings.extend(self.servers.map(|servers| ("servers", servers.to_string())));
        settings.extend(self.capacity.map(|rate| ("capacity", text::exact_rate(rate))));
        settings.extend(self.hiccups.iter().map(|hiccup| ("hiccup", hiccup.to_string())));
        settings.extend(self.slow_keys.iter().map(|slow| ("slow key", slow.to_string())));
        if self.delay != Draw::ZERO {
            settings.push(("delay", self.delay.to_string()));
        }
        settings.extend(self.join.iter().map(|join| ("join", join.to_string())));
        settings
    }
}

fn in_range(rate: PerSecond) -> bool {
    (0.001..=1e9).contains(&rate.get())
}

/// The latest instant that a setting may name.
pub(crate) const LATEST: Nanos = Nanos::from_secs(7 * 24 * 3600);

fn read_draw(text: &str) -> Result<Draw, String> {
    text.trim().parse().map_err(|error: text::TextError| error.to_string())
}

pub(crate) fn read_operation(name: &str) -> Result<Operation, String> {
    let known = Operation::ALL.into_iter().find(|operation| operation.name() == name.trim());
    known.ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name).join(", ");
        format!("`{}` is not an operation, expected one of {names}", name.trim())
    })
}
