//! What a command line of YCSB says of its rate.
//!
//! `-target N` and `-p target=N` say the same, and the last that is said counts; both stand above what a property file of `-P`
//! holds, which the line does not show (`parseArguments` of YCSB's `Client`). A rate of zero or below is none.

use units::PerSecond;

/// The requests per second that were asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Target {
    /// A property file may say it, or nobody does.
    Unknown,
    /// None: as fast as it goes.
    Unlimited,
    /// So many.
    Rate(PerSecond),
}

/// A command line, or what is known of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandLine<'a>(pub(crate) &'a str);

impl<'a> CommandLine<'a> {
    /// What the line sets a property to, last.
    fn property(self, name: &str) -> Option<&'a str> {
        let words: Vec<&str> = self.0.split_whitespace().collect();
        let set = |pair: &[&'a str]| match pair {
            ["-target", value] if name == "target" => Some(*value),
            ["-p", setting] => setting.strip_prefix(name)?.strip_prefix('='),
            _ => None,
        };
        words.windows(2).rev().find_map(set)
    }

    /// Whether it names files whose properties it does not show.
    pub(crate) fn has_property_file(self) -> bool {
        self.0.split_whitespace().any(|word| word == "-P")
    }

    /// The rate, as far as the line tells it.
    pub(crate) fn target(self) -> Target {
        let Some(said) = self.property("target") else {
            return if self.has_property_file() { Target::Unknown } else { Target::Unlimited };
        };
        match said.parse::<i32>() {
            Ok(rate) if rate > 0 => PerSecond::new(f64::from(rate)).map_or(Target::Unknown, Target::Rate),
            Ok(_) => Target::Unlimited,
            Err(_) => Target::Unknown,
        }
    }

    /// `op`, `intended` or `both`; `None` where a property file may say it.
    pub(crate) fn interval(self) -> Option<&'a str> {
        let usual = (!self.has_property_file()).then_some("op");
        self.stated_interval().or(usual)
    }

    /// The same where the line itself says it.
    pub(crate) fn stated_interval(self) -> Option<&'a str> {
        self.property("measurement.interval")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_what_the_line_says_last_and_unknown_where_a_file_may_say_it() {
        let rate = |rate: f64| PerSecond::new(rate).map_or(Target::Unknown, Target::Rate);
        for (line, expected) in [
            ("-t -db x", Target::Unlimited),
            ("-t -target 3000", rate(3_000.0)),
            ("-t -p target=3000 -s", rate(3_000.0)),
            ("-t -target 3000 -p target=20", rate(20.0)),
            ("-t -p target=20 -target 3000", rate(3_000.0)),
            ("-t -target 0", Target::Unlimited),
            ("-t -P workloada", Target::Unknown),
            ("-t -P workloada -target 3000", rate(3_000.0)),
            ("-t -target 3000 -P workloada", rate(3_000.0)),
            ("-t -P workloada -p target=0", Target::Unlimited),
            ("-t -target many", Target::Unknown),
            ("-t -p targets=5 -p my.target=5", Target::Unlimited),
        ] {
            assert_eq!(CommandLine(line).target(), expected, "{line}");
        }
    }

    #[test]
    fn what_rows_count_from_is_unknown_where_a_file_may_say_it() {
        assert_eq!(CommandLine("-t").interval(), Some("op"));
        assert_eq!(CommandLine("-P w").interval(), None);
        assert_eq!(CommandLine("-P w -p measurement.interval=intended").interval(), Some("intended"));
        assert_eq!(CommandLine("-P w -p measurement.interval=op").stated_interval(), Some("op"));
        assert_eq!(CommandLine("-t").stated_interval(), None);
    }
}
