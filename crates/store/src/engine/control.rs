//! Commands over the wire, while the store runs.

use super::Engine;
use crate::{Draw, Fault, Rules, text};
use std::fmt::Write;
use units::Nanos;

const COMMANDS: &str = "`fault KIND@WHEN`, `faults`, `clear`, `hiccup 500ms`, `restart` or `status`";

impl Engine {
    /// A command over the wire while the store runs; gives what to answer.
    ///
    /// | command | does |
    /// |---|---|
    /// | `fault delay:800ms@next` | arms a [`Fault`], whose numbers and time count from now |
    /// | `faults` | lists those that wait, one a line, and how often each has acted |
    /// | `clear` | forgets them all |
    /// | `hiccup 500ms` | lets the store stand still from now on; what was admitted before keeps its times |
    /// | `restart` | lets the timing model begin anew with the next request: its hiccups, its join, its draws |
    /// | `status` | counts: `requests=1000 queued=12 hiccup=0 … fault=1 faults-waiting=0` |
    ///
    /// # Errors
    /// One line: the word that is not understood and what is expected.
    pub fn control(&mut self, now: Nanos, command: &str) -> Result<String, String> {
        let (word, rest) = match command.trim().split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim()),
            None => (command.trim(), ""),
        };
        match (word, rest) {
            ("fault", rest) => {
                let fault: Fault = rest.parse().map_err(|error: text::TextError| error.to_string())?;
                let answer = format!("armed {fault}");
                self.faults.add(fault, Some(now)).map(|()| answer)
            }
            ("hiccup", rest) => {
                let length = text::duration(rest, Draw::LONGEST).map_err(text::one_line)?;
                self.timing.freeze(now, length);
                Ok(format!("frozen for {}", text::exact(length)))
            }
            ("clear", "") => Ok(format!("forgot {} faults", self.faults.clear())),
            ("faults", "") => {
                let lines = self.faults.list().map(|(fault, acted)| format!("{fault} acted={acted}"));
                Ok(lines.collect::<Vec<_>>().join("\n"))
            }
            ("restart", "") => {
                // What has not begun will never be.
                self.timing.drain_events(now.max(self.timing.last_arrival()), &mut self.events);
                self.timing = self.timing.restarted(&self.model, self.seed);
                Ok("the timing begins anew with the next request".to_owned())
            }
            ("status", "") => Ok(self.status()),
            _ => Err(format!(
                "`{}` is not a command: expected {COMMANDS}",
                text::one_line(text::shown(command))
            )),
        }
    }

    fn status(&self) -> String {
        let mut line = format!("requests={}", self.timing.admitted());
        // Only the server knows which answers wait for earlier ones, or for their client.
        let unknown = [Rules::BEHIND, Rules::CLIENT];
        let known = self.acted.iter().zip(Rules::NAMES).filter(|(_, (rule, _))| !unknown.contains(rule));
        for (count, (_, name)) in known {
            // Writing to a `String` does not fail.
            let _ = write!(line, " {}={count}", name.replace(' ', "-"));
        }
        let (met, waiting) = (self.faults.connections_met, self.faults.waiting());
        let _ = write!(line, " connection-faults={met} faults-waiting={waiting}");
        line
    }
}
