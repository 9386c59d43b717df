//! `--check`, `--jvm-log` and `--server-log`: what is measured, or found, beside the load.

use super::RunOptions;
use crate::jvm::JvmLogs;
use crate::logs::Logs;
use crate::server_log::ServerLogs;
use anyhow::bail;
use driver::TargetUrl;

impl RunOptions {
    /// Whether the read-after-write lag is to be probed.
    ///
    /// # Errors
    /// For anything but `staleness`, and for a target that keeps nothing.
    pub(crate) fn probe(&self, target: &TargetUrl) -> anyhow::Result<bool> {
        match self.check.as_deref() {
            None => Ok(false),
            Some("staleness") if ["null", "echo"].contains(&target.scheme.as_str()) => {
                bail!("--check staleness on `{target}`: it keeps nothing that could be read; name a store")
            }
            Some("staleness") => Ok(true),
            Some(other) => bail!("--check {other}: there is only `staleness`"),
        }
    }

    /// The logs that are to be laid over the run.
    ///
    /// # Errors
    /// For a start that is no moment, and a zone that is none.
    pub(crate) fn logs(&self) -> anyhow::Result<Logs> {
        Ok(Logs {
            jvm: JvmLogs::new(&self.jvm_log, self.jvm_start.as_deref())?,
            server: ServerLogs::new(&self.server_log, self.server_log_zone.as_deref())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_check_and_it_needs_a_store() {
        let probe = |check: Option<&str>, target: &str| {
            let options = RunOptions { check: check.map(str::to_owned), ..RunOptions::default() };
            options.probe(&TargetUrl::parse(target).unwrap()).map_err(|error| error.to_string())
        };
        assert_eq!(probe(None, "null:"), Ok(false));
        assert_eq!(probe(Some("staleness"), "redis://localhost"), Ok(true));
        assert!(probe(Some("staleness"), "null:").unwrap_err().contains("on `null:`: it keeps nothing"));
        assert!(probe(Some("staleness"), "echo://h").unwrap_err().contains("it keeps nothing"));
        assert_eq!(probe(Some("stale"), "null:").unwrap_err(), "--check stale: there is only `staleness`");
    }
}
