//! What the recording states of itself, judged: the clock's own checks, and where the server ran.
//!
//! These facts are texts, made for people, with the names of [`facts`]. A text that can't be read is no evidence.

use crate::evidence::Evidence;
use crate::input::Input;
use crate::limits::{CLOCK_SKEW_INVALID_NS, CLOCK_SKEW_NS};
use crate::reasons::reason;
use crate::{Reason, ReasonKind, Severity};
use units::{Nanos, format_nanos};

/// Names of facts in a recording that the verdict reads; whoever records them uses these.
pub mod facts {
    /// Clock fact: why the cycle counter was not taken.
    pub const CLOCK_FALLBACK: &str = "not the cycle counter because";
    /// Clock fact of an import: what its tool rounds the moments of requests to, as `1000000 ns`.
    pub const MOMENTS_TOLD_TO: &str = "moments are told to";
    /// Clock fact of an import: what its tool rounds the lengths of requests to, likewise.
    pub const LENGTHS_TOLD_TO: &str = "lengths are told to";
    /// Clock fact: by how much the CPUs' cycle counters differ, as `+12 ns ± 40 ns`.
    pub const CLOCK_SKEW: &str = "skew between CPUs";
    /// Capability: this, and then the list of CPUs that the server was said to run on.
    pub const SERVER_CPUS: &str = "server on CPUs ";
    /// Its value where the server runs there.
    pub const AS_ASKED: &str = "as asked";
    /// How its value begins where that could not be told.
    pub const NOT_VERIFIED: &str = "not verified";
    /// Capability: what watched the host, as `--observers` takes it.
    pub const OBSERVERS: &str = "observers";
    /// Its value where nothing was to.
    pub const OBSERVERS_OFF: &str = "off";
    /// Capability: the CPUs that the load's workers may use, as a list such as `0,2-3`; stalls there are the client's.
    pub const CLIENT_CPUS_WATCHED: &str = "watched for the client: CPUs";
    /// Capability: the CPUs that a server on the same host may use, as such a list; [`NOT_WATCHED`] and a reason where
    /// they are not known. Absent where the server is part of the client, or there is none.
    pub const SERVER_CPUS_WATCHED: &str = "watched for the server: CPUs";
    /// How the value of the latter begins where there is no list.
    pub const NOT_WATCHED: &str = "not watched";
    /// Capability: the CPUs whose stolen time the source `steal` sums, as such a list; where it is absent, it is that of all
    /// CPUs that were online.
    pub const STEAL_CPUS: &str = "stolen time is of CPUs";
    /// Capability: how hiccups are looked for; its value ends with [`HICCUPS_EACH`] and how often.
    pub const HICCUPS: &str = "hiccup threads";
    /// What stands before the threads' period, such as `1.00 ms`: what of a stall lies before one was due is not seen.
    pub const HICCUPS_EACH: &str = ", each ";
    /// Fact of the end: CPU time of all observers' threads, and how long they watched, as `7200000 ns in 1200000000 ns`.
    pub const OBSERVERS_COST: &str = "observers' CPU time";
    /// Capability: this, and then the key of the record that probes of the read-after-write lag wrote and read.
    pub const PROBE_OF: &str = "read-after-write probe of ";
    /// Noise source: the least that a probe's lag can be, ns, from the acknowledgement of its write to when it ended.
    pub const LAG_AT_LEAST: &str = "read-after-write lag, at least";
    /// Noise source: the most that it can be, over the same window; none where the write was never seen.
    pub const LAG_AT_MOST: &str = "read-after-write lag, at most";
    /// Noise source: probes that learnt nothing, one by one, each from its begin to its failure.
    pub const PROBES_FAILED: &str = "read-after-write probes that failed";
    /// Workload of an import for which nobody gave a name.
    pub const NO_WORKLOAD: &str = "a workload that is not named";
    /// Its target, likewise.
    pub const NO_TARGET: &str = "a target that is not named";
    /// Fact of the end of an import: what the tool's output does not tell, and what follows. Makes the verdict suspect.
    /// After [`GAP_HINT`], what to do.
    pub const IMPORT_GAP: &str = "import gap";
    /// The same, worth no more than a note.
    pub const IMPORT_GAP_NOTE: &str = "import gap, note";
    /// What parts a gap from what to do about it.
    pub const GAP_HINT: &str = "; next step: ";
}

/// What a foreign tool's output could not tell, as its importer put it down.
pub(crate) fn import_gaps(e: &Evidence<'_>) -> Vec<Reason> {
    let gap = |(name, value): &(String, String)| {
        let severity = match name.as_str() {
            facts::IMPORT_GAP => Severity::Suspect,
            facts::IMPORT_GAP_NOTE => Severity::Note,
            _ => return None,
        };
        let (text, hint) = value.split_once(facts::GAP_HINT).unwrap_or((value, ""));
        Some(reason(severity, ReasonKind::ImportGap, text.to_owned(), hint))
    };
    e.inputs.iter().filter(|input| input.is_imported()).flat_map(|i| &i.facts).filter_map(gap).collect()
}

fn find<'a>(facts: &'a [(String, String)], name: &str) -> Option<&'a str> {
    facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// The clock's checks at the start of the run.
pub(crate) fn clock_checks(e: &Evidence<'_>) -> Vec<Reason> {
    e.inputs.iter().flat_map(|input| [skewed(input), fallen_back(input)]).flatten().collect()
}

/// Offset and uncertainty, ns, of `+12 ns ± 40 ns`.
fn read_skew(text: &str) -> Option<(f64, f64)> {
    let (offset, uncertainty) = text.split_once('±')?;
    let number = |text: &str| text.trim().strip_suffix("ns")?.trim().parse::<f64>().ok();
    Some((number(offset)?, number(uncertainty)?)).filter(|(a, b)| a.is_finite() && b.is_finite())
}

/// Only what the offset is beyond its own uncertainty is certain.
fn skewed(input: &Input) -> Option<Reason> {
    let stated = find(&input.info.header.clock_facts, facts::CLOCK_SKEW)?;
    let (offset, uncertainty) = read_skew(stated)?;
    let certain = offset.abs() - uncertainty;
    if certain <= CLOCK_SKEW_NS {
        return None;
    }
    let severity = if certain > CLOCK_SKEW_INVALID_NS { Severity::Invalid } else { Severity::Suspect };
    let text = format!(
        "{}: the CPUs' cycle counters differ by {stated} (limit {} beyond what is uncertain)",
        input.info.name,
        format_nanos(Nanos(CLOCK_SKEW_NS as u64))
    );
    Some(reason(severity, ReasonKind::Clock, text, "use `--clock monotonic`"))
}

/// The kernel's clock is sound; its readings cost more. Worth knowing, and no more.
fn fallen_back(input: &Input) -> Option<Reason> {
    let why = find(&input.info.header.clock_facts, facts::CLOCK_FALLBACK)?;
    let name = &input.info.name;
    let text =
        format!("{name}: the cycle counter failed its checks ({why}); the kernel's clock was used instead");
    Some(reason(Severity::Note, ReasonKind::Clock, text, ""))
}

/// Whether the server ran on the CPUs that were stated for it.
pub(crate) fn server_cpus(e: &Evidence<'_>) -> Vec<Reason> {
    let judge = |input: &Input| {
        let capabilities = input.info.header.capabilities.iter();
        let stated = capabilities.filter_map(|(asked, found)| {
            let cpus = asked.strip_prefix(facts::SERVER_CPUS)?;
            elsewhere(&input.info.name, cpus, found)
        });
        stated.collect::<Vec<_>>()
    };
    e.inputs.iter().flat_map(judge).collect()
}

fn elsewhere(name: &str, cpus: &str, found: &str) -> Option<Reason> {
    let kind = ReasonKind::ServerCpus;
    match found {
        facts::AS_ASKED => None,
        _ if found.starts_with(facts::NOT_VERIFIED) => {
            let text = format!("{name}: whether the server ran on the CPUs stated ({cpus}) is {found}");
            Some(reason(Severity::Note, kind, text, ""))
        }
        _ => {
            let found = found.strip_prefix("no: ").unwrap_or(found);
            let text = format!("{name}: the server's CPUs were not the ones stated ({cpus}): {found}");
            let hint = "pin the server (taskset, AllowedCPUs), or state the CPUs that it may use";
            Some(reason(Severity::Suspect, kind, text, hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skews_are_read_as_they_are_written() {
        assert_eq!(read_skew("+12 ns ± 40 ns"), Some((12.0, 40.0)));
        assert_eq!(read_skew("-2500 ns ± 40 ns"), Some((-2500.0, 40.0)));
        for other in ["unknown", "not measured: one CPU", "", "12 ns", "x ns ± 3 ns", "1 ns ± NaN ns"] {
            assert_eq!(read_skew(other), None, "{other}");
        }
    }
}
