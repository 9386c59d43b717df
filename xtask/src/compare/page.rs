//! `docs/comparison.md`, from the figures of all rounds.

use super::contender::Tool;
use super::effort::{Effort, Kind};
use super::results::{Figure, Ratio, Results};
use super::server::System;
use super::told::SLOW;
use crate::bench::figures::plain;
use std::fmt::{self, Write};

/// What the page says of the host and of the programs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) host: String,
    /// One for each program, with its version.
    pub(crate) versions: Vec<String>,
}

/// Limits that the project has set itself: truetail's user CPU time of a request is to be no larger.
const LIMITS: [(System, Tool); 3] = [
    (System::Postgres, Tool::Sysbench),
    (System::MariaDb, Tool::Sysbench),
    (System::Redis, Tool::RedisBenchmark),
];

/// The whole page.
pub(crate) fn page(results: &Results, facts: &Facts, effort: &Effort) -> String {
    let mut page = Page { results, effort, text: String::new() };
    // Writing to a string can't fail.
    let _ = page.write(facts);
    page.text
}

struct Page<'a> {
    results: &'a Results,
    effort: &'a Effort,
    text: String,
}

impl Page<'_> {
    fn write(&mut self, facts: &Facts) -> fmt::Result {
        self.head(facts)?;
        for system in System::ALL {
            self.section(system)?;
        }
        self.limits()?;
        self.commands()?;
        self.failures()
    }

    fn head(&mut self, facts: &Facts) -> fmt::Result {
        let Effort { rounds, seconds, rate } = *self.effort;
        let slow = SLOW.0 / 1_000_000;
        write!(
            self.text,
            "# Side by side\n\n\
             truetail next to the load tools that people know, on the same servers with the same statements: what a request costs the \
             client,\nwhat each tool reports at a fixed rate, and what it reports of a server that stands still for a second. \
             `cargo xtask compare-peers`\nwrites this page from runs that it makes; nothing on it is typed by hand.\n\n\
             - Host: {}.\n- Programs: {}.\n\
             - {} of {seconds} s loads, all in one session, contenders in turn. A figure is the median of the rounds with \
             [smallest … largest];\n  – is what a tool does not say.\n\
             - Everything goes over TCP on the loopback device. Client and server share the host's CPUs, as they do for everybody \
             here.\n\
             - truetail, pgbench and redis-benchmark serve all sessions with one thread; sysbench and YCSB have a thread for each.\n\
             - Each tool runs in the mode that its authors recommend for the job: statements prepared once, no reports in between, \
             the log or\n  histogram that tells its quantiles where those are asked for. The command lines are at the end.\n\
             - CPU time is that of the whole process, from `/proc`, between its start and its end: truetail's recorder and its \
             observers of the\n  host are in it, a JVM's collector is, and connecting, compiling in the first {} s, analysis and pages \
             are not.\n\
             - The fixed rate is {rate}/s. pgbench, sysbench and truetail draw exponential gaps, YCSB makes equal ones; \
             redis-benchmark has no rate.\n  \
             truetail spins for the last 80 µs before a request is due, so as to send it in time: that is most of its user CPU time at \
             this rate,\n  and `--pacing sleep` leaves it out.\n\
             - What they say unasked is less: pgbench a mean and a standard deviation, sysbench p95 and the maximum, YCSB its times \
             from\n  sending alone.\n\
             - Not here: BenchBase and latte, which no package brings.\n\n\
             How the stall is judged: the server's processes are stopped by a signal for a second in the middle of a load of {} s. \
             At {rate}/s\nthere are {rate} requests in that second. Who is due at its begin waits a second, who is due at its end does \
             not wait; {} of\nthem take longer than {slow} ms, and p99 of the whole load is {} ms. A tool whose sessions do \
             not send while they wait sees one slow\nrequest for each session, and leaves the others out.\n",
            facts.host,
            facts.versions.join(", "),
            if rounds == 1 { "One round".to_owned() } else { format!("{rounds} rounds") },
            Tool::Ycsb.warms_up_s(),
            self.effort.stalled_seconds(),
            plain(self.truly_slow()),
            plain(self.true_p99()),
        )
    }

    fn section(&mut self, system: System) -> fmt::Result {
        let rate = self.effort.rate;
        write!(
            self.text,
            "\n## {}\n\n`{}`, {} sessions.\n\n\
             | CPU time of a request, µs | requests/s | user | system | user at {rate}/s | system at {rate}/s |\n|---|---|---|---|---|---|\n",
            system.name(),
            system.statement(),
            system.sessions()
        )?;
        for tool in Tool::of(system) {
            let cell = |kind, figure| self.results.cell((system, kind, *tool), "", figure);
            let line = format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                tool.name(),
                cell(Kind::Closed, Figure::Rate),
                cell(Kind::Closed, Figure::User),
                cell(Kind::Closed, Figure::System),
                cell(Kind::Paced, Figure::User),
                cell(Kind::Paced, Figure::System),
            );
            self.text.push_str(&line);
        }
        write!(
            self.text,
            "\n| times at {rate}/s, ms | counts from | requests/s | p50 | p99 | max |\n|---|---|---|---|---|---|\n"
        )?;
        self.times(system)?;
        write!(
            self.text,
            "\n| the server stands still for 1 s, ms | counts from | p99 | max | requests above {} ms | hidden of {} |\n\
             |---|---|---|---|---|---|\n| *what is true at {rate}/s* | schedule | {} | {} | {} | |\n",
            SLOW.0 / 1_000_000,
            plain(self.truly_slow()),
            plain(self.true_p99()),
            plain(self.stall_s() * 1e3),
            plain(self.truly_slow()),
        )?;
        self.stalls(system)
    }

    fn times(&mut self, system: System) -> fmt::Result {
        for tool in Tool::of(system).iter().filter(|tool| tool.has_rate()) {
            let whose = (system, Kind::Paced, *tool);
            for from in self.results.measures(whose) {
                let cell = |figure| self.results.cell(whose, from, figure);
                let line = format!(
                    "| {} | {from} | {} | {} | {} | {} |\n",
                    tool.name(),
                    self.results.cell(whose, "", Figure::Rate),
                    cell(Figure::P50),
                    cell(Figure::P99),
                    cell(Figure::Max),
                );
                self.text.push_str(&line);
            }
        }
        Ok(())
    }

    fn stalls(&mut self, system: System) -> fmt::Result {
        for tool in Tool::of(system) {
            let whose = (system, Kind::Stalled, *tool);
            let name = if tool.has_rate() {
                tool.name().to_owned()
            } else {
                format!("{}, closed loop", tool.name())
            };
            for from in self.results.measures(whose) {
                let cell = |figure| self.results.cell(whose, from, figure);
                let hidden = self.results.median(whose, from, Figure::Slow).map_or_else(
                    || "–".to_owned(),
                    |slow| format!("{:.0} %", (1.0 - slow / self.truly_slow()).clamp(0.0, 1.0) * 100.0),
                );
                let line = format!(
                    "| {name} | {from} | {} | {} | {} | {hidden} |\n",
                    cell(Figure::P99),
                    cell(Figure::Max),
                    cell(Figure::Slow),
                );
                self.text.push_str(&line);
            }
        }
        Ok(())
    }

    fn limits(&mut self) -> fmt::Result {
        self.text.push_str(
            "\n## What is aimed at\n\n\
             That truetail takes no more user CPU time for a request in a closed loop than the lean tools do. Ratios are of the same \
             round, theirs\nover truetail's; the interval is that of the sign test for their median.\n\n\
             | user CPU time of a request | theirs / truetail's | interval | |\n|---|---|---|---|\n",
        );
        for (system, tool) in LIMITS {
            let ratio = self.results.ratio(system, Kind::Closed, tool, Figure::User);
            let words = ratio.map_or_else(|| "– | – | not measured".to_owned(), |ratio| shown(&ratio));
            writeln!(self.text, "| {}, {} | {words} |", system.name(), tool.name())?;
        }
        Ok(())
    }

    fn commands(&mut self) -> fmt::Result {
        self.text.push_str("\n## Command lines\n\n```\n");
        let mut last = None;
        for ((system, kind, _), line) in
            self.results.commands.iter().filter(|((_, kind, _), _)| *kind != Kind::Stalled)
        {
            if last != Some((system, kind)) {
                writeln!(self.text, "# {}, {}", system.name(), kind.name())?;
                last = Some((system, kind));
            }
            writeln!(self.text, "{line}")?;
        }
        self.text.push_str("```\n\nWhere a server stalls, they are those of the fixed rate for another time, \
             and redis-benchmark's of the closed loop.\n`DIR` is a directory for what a tool writes, `PORT` the server's. ");
        self.text.push_str(
            "`point-select.sql` and `point-select.toml` hold the statement above with a\nnumber drawn from 1 to 10,000. YCSB's client \
             is from Maven Central; its Redis binding is not there, so that [bindings/ycsb](../bindings/ycsb/README.md)\nstands in \
             for it: the same records, the same command.\n",
        );
        Ok(())
    }

    fn failures(&mut self) -> fmt::Result {
        if self.results.failures.is_empty() {
            return Ok(());
        }
        self.text.push_str("\n## What failed\n\n");
        for words in &self.results.failures {
            writeln!(self.text, "- {}", words.replace('\n', " "))?;
        }
        Ok(())
    }

    /// How long servers stood still, s: the median.
    fn stall_s(&self) -> f64 {
        let mut stalls = self.results.stalls.clone();
        stalls.sort_by(f64::total_cmp);
        stalls.get(stalls.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Requests that the stall makes slow.
    fn truly_slow(&self) -> f64 {
        (f64::from(self.effort.rate) * (self.stall_s() - SLOW.0 as f64 / 1e9)).round()
    }

    /// ms; arrivals at a steady rate, and a server that is fast when it is not stopped.
    fn true_p99(&self) -> f64 {
        (self.stall_s() - 0.01 * f64::from(self.effort.stalled_seconds())) * 1e3
    }
}

fn shown(ratio: &Ratio) -> String {
    let interval = ratio.interval.map_or_else(
        || "one round".to_owned(),
        |i| format!("[{} … {}] at {:.0} %", plain(i.low), plain(i.high), i.level * 100.0),
    );
    format!("{} | {interval} | {}", plain(ratio.median), ratio.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::glances::Used;
    use crate::compare::effort::{QUICK, Step};
    use crate::compare::told::{FROM_SCHEDULE, FROM_SEND, Measure, Told};

    fn planted() -> Results {
        let mut results = Results::default();
        results.stalls = vec![1.0; 3];
        for step in QUICK.steps() {
            for round in 0..3 {
                let step = Step { round, ..step };
                let size = f64::from(round) + 1.0 + step.tool as u8 as f64 * 10.0;
                let from = if step.kind == Kind::Closed || step.tool == Tool::RedisBenchmark {
                    FROM_SEND
                } else {
                    FROM_SCHEDULE
                };
                let stalled = step.kind == Kind::Stalled;
                let measure = |from, hides: bool| Measure {
                    from,
                    p50: Some(0.1 * size),
                    p99: Some(if stalled && !hides { 940.0 } else { 0.2 * size }),
                    max: Some(if stalled { 1000.0 } else { size }),
                    slow: stalled.then_some(if hides { 50 } else { 900 + u64::from(round) }),
                };
                let mut measures = vec![measure(from, from == FROM_SEND)];
                if step.tool == Tool::Ycsb && step.kind != Kind::Closed {
                    measures.insert(0, measure(FROM_SEND, true));
                }
                let used = Used { user: 0.001 * size, system: 0.002 * size };
                results.take(&step, &Told { achieved: 1000.0, measures }, Some(used));
                let whose = (step.system, step.kind, step.tool);
                results.commands.insert(whose, format!("{} --flags", step.tool.name()));
            }
        }
        results.failures.push("pgbench on PostgreSQL, closed loop, round 2: it\nfailed".to_owned());
        results
    }

    #[test]
    fn the_page_shows_what_was_planted() {
        let facts = Facts {
            host: "2 CPUs (a processor), Linux 6".to_owned(),
            versions: vec!["PostgreSQL 15".to_owned(), "pgbench 15".to_owned()],
        };
        let effort = Effort { rounds: 3, ..QUICK };
        insta::assert_snapshot!(page(&planted(), &facts, &effort));
    }

    #[test]
    fn truth_follows_from_rate_and_stall() {
        let mut results = Results::default();
        results.stalls = vec![1.002, 1.001, 1.5];
        let page = Page { results: &results, effort: &QUICK, text: String::new() };
        assert_eq!((page.stall_s(), page.truly_slow()), (1.002, 902.0));
        assert!((page.true_p99() - 942.0).abs() < 1e-9);
    }
}
