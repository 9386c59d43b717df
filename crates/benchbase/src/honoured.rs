//! What truetail can't do of what BenchBase can, and what has no effect.

use crate::{Configuration, ConfigurationError, Support};

/// What has no effect here, each in a few words that say why.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unhonoured {
    /// One line each.
    pub notes: Vec<String>,
}

impl Configuration {
    /// Checks that all that decides a measurement can be honoured, and says what has no effect.
    ///
    /// # Errors
    /// Names the first element that can't be.
    pub fn require_honoured(&self) -> Result<Unhonoured, ConfigurationError> {
        if self.benchmark.support == Support::None {
            return Err(ConfigurationError::whole(format!(
                "truetail has no workload {}; it has {}",
                self.benchmark.name,
                crate::Benchmark::supported().map(|b| b.name).collect::<Vec<_>>().join(", ")
            )));
        }
        let mut found = Unhonoured::default();
        for (name, value) in &self.others {
            if let Some(note) = other(name, value)? {
                found.notes.push(note);
            }
        }
        self.require_works(&mut found)?;
        if self.batch_size.is_some() {
            found
                .notes
                .push("<batchsize> has no effect: loaders use what the database takes best".to_owned());
        }
        let dropped = &self.target.without_effect;
        if !dropped.is_empty() {
            found.notes.push(format!("of <url> {} have no effect", dropped.join(", ")));
        }
        Ok(found)
    }

    fn require_works(&self, found: &mut Unhonoured) -> Result<(), ConfigurationError> {
        for (index, work) in self.works.iter().enumerate() {
            if work.serial {
                return Err(ConfigurationError::at(
                    work.line,
                    "<serial>true</serial>: truetail draws transactions and makes none in order; take it out, and \
                     give a <time>",
                ));
            }
            let sum: f64 = work.weights.iter().sum();
            if sum.round() != 100.0 {
                found.notes.push(format!("<weights> of work {} sum up to {sum}, not to 100", index + 1));
            }
            if index > 0 && work.warmup_seconds > 0 {
                found.notes.push(format!(
                    "work {} has a warm-up of its own, which is made; BenchBase makes the first work's alone",
                    index + 1
                ));
            }
        }
        Ok(())
    }
}

/// What becomes of an element that has no place in [`Configuration`]: a note, nothing, or a refusal.
fn other(name: &str, value: &str) -> Result<Option<String>, ConfigurationError> {
    let truth = value.eq_ignore_ascii_case("true");
    let refuse = |why: &str| Err(ConfigurationError::whole(format!("<{name}>{value}</{name}>: {why}")));
    let note = |why: &str| Ok(Some(format!("<{name}> has no effect: {why}")));
    match name {
        "driver" => note("there is no JVM"),
        "reconnectOnConnectionFailure" if truth => Ok(None),
        "reconnectOnConnectionFailure" => {
            note("a session that is lost is always replaced, and that is recorded")
        }
        "newConnectionPerTxn" | "useStoredProcedures" if !truth => Ok(None),
        "newConnectionPerTxn" => refuse("sessions stay connected; take it out"),
        "useStoredProcedures" => refuse("transactions are made of statements; take it out"),
        "sessionsetupfile" | "afterload" => {
            refuse("no statements of yours are run; take it out, or run them yourself")
        }
        "ddlpath" => refuse("tables are made as the workload has them; take it out"),
        "datadir" | "selectivity" => note("this benchmark does not use it"),
        _ => refuse("this benchmark has no such element; take it out"),
    }
}
