//! `--check` and `--jvm-log`: what is measured, or found, beside the load.

use super::RunOptions;
use crate::jvm::JvmLogs;
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
            Some("staleness") if target.scheme == "null" => {
                bail!("--check staleness on `{target}`: it keeps nothing that could be read; name a store")
            }
            Some("staleness") => Ok(true),
            Some(other) => bail!("--check {other}: there is only `staleness`"),
        }
    }

    /// The logs that are to be laid over the run.
    ///
    /// # Errors
    /// For a start that is no moment.
    pub(crate) fn jvm_logs(&self) -> anyhow::Result<JvmLogs> {
        JvmLogs::new(&self.jvm_log, self.jvm_start.as_deref())
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
        assert_eq!(probe(Some("stale"), "null:").unwrap_err(), "--check stale: there is only `staleness`");
    }
}
