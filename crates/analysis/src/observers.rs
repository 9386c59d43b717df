//! What watched the hosts, and what that cost.

use crate::attribution::is_of_runners;
use crate::evidence::Evidence;
use crate::input::Input;
use crate::reasons::reason;
use crate::stated::facts;
use crate::{Observers, Reason, ReasonKind, Severity, staleness};
use units::{Nanos, format_nanos};

impl Observers {
    pub(crate) fn of(inputs: &[Input]) -> Observers {
        let sources = inputs.iter().flat_map(|input| &input.noise_sources);
        let (open, closed): (Vec<_>, Vec<_>) =
            sources.filter(watches_a_host).partition(|source| source.available.is_ok());
        Observers {
            sources: open.len(),
            unavailable: closed.len(),
            core_share: inputs.iter().filter_map(core_share).reduce(f64::max),
            off: inputs.iter().any(is_off),
        }
    }
}

/// Whether a noise source watches a host: neither a probe's, nor one that tells what another one found.
pub(crate) fn watches_a_host(source: &&record::NoiseSourceFacts) -> bool {
    !staleness::is_of_probes(source) && !is_of_runners(source)
}

/// Whether nobody was to watch.
pub(crate) fn is_off(input: &Input) -> bool {
    let capabilities = &input.info.header.capabilities;
    capabilities.iter().any(|(name, value)| name == facts::OBSERVERS && value == facts::OBSERVERS_OFF)
}

/// Of `7200000 ns in 1200000000 ns`.
fn core_share(input: &Input) -> Option<f64> {
    let (_, text) = input.facts.iter().find(|(name, _)| name == facts::OBSERVERS_COST)?;
    let (spent, watched) = text.split_once(" in ")?;
    let nanos = |text: &str| text.trim().strip_suffix(" ns")?.parse::<u64>().ok();
    let (spent, watched) = (nanos(spent)?, nanos(watched)?);
    (watched > 0).then(|| spent as f64 / watched as f64)
}

/// Worth knowing and no more: that nothing was seen is no evidence of a quiet host. Of another tool's run it is more: there
/// nothing tells of the measuring side at all.
pub(crate) fn not_watched(e: &Evidence<'_>) -> Vec<Reason> {
    let foreign = e.inputs.iter().any(Input::is_imported) && e.total.counts.total > 0;
    let foreign = foreign.then(|| {
        let text = "nothing watched the tool: how much of its times is its own delay or its host's stalls is not known";
        let hint = "lay the log of its JVM over it (--jvm-log), or measure with `truetail run`";
        reason(Severity::Suspect, ReasonKind::NotWatched, text.to_owned(), hint)
    });
    let off = e.inputs.iter().filter(|input| is_off(input));
    let note = |input: &Input| {
        let text = format!("{}: the host was not watched (`--observers off`)", input.info.name);
        reason(
            Severity::Note,
            ReasonKind::NotWatched,
            text,
            "leave the flag out to see the host's own stalls",
        )
    };
    let unseen = |(name, time): &(String, f64)| {
        let time = format_nanos(Nanos(*time as u64));
        let text = format!(
            "{name}: hiccup threads did not account for {time}, and no stall was told: one may be missing"
        );
        reason(Severity::Note, ReasonKind::NotWatched, text, "")
    };
    foreign.into_iter().chain(off.map(note)).chain(e.host.unseen.iter().map(unseen)).collect()
}
