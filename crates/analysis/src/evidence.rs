//! What the verdict is computed from, and the verdict.

use crate::host::HostEvidence;
use crate::input::Input;
use crate::{Anatomy, Business, Extreme, ScopeSummary, Severity, Verdict, VerdictState, believable, reasons};
use record::{Measure, Provenance};

/// Why no quantile of an import is shown to be the database's.
const FOREIGN: &str = "how much of it is the tool's own delay or its host's, nothing tells";

/// How the schedule was kept.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrivals {
    /// Requests intended in the measured phases; in a throttled closed loop and of another tool that was given a rate, those that
    /// its rate asks for.
    pub(crate) intended: u64,
    /// Of those, completed by their end.
    pub(crate) in_time: u64,
    /// Waiting or in flight at half-time, three quarters and the end of the measured time; `None` in a
    /// throttled closed loop, where requests that are late are never made.
    pub(crate) backlogs: Option<[u64; 3]>,
    /// By how many the schedule of another tool, which may be drawn, can differ from its rate by chance.
    pub(crate) chance: u64,
    /// Sessions of all clients.
    pub(crate) sessions: u32,
}

/// Everything that speaks for or against the numbers.
pub(crate) struct Evidence<'a> {
    pub(crate) inputs: &'a [Input],
    /// What the workload asks of its own run.
    pub(crate) business: Option<&'a Business>,
    pub(crate) total: &'a ScopeSummary,
    pub(crate) anatomy: &'a Anatomy,
    pub(crate) host: &'a HostEvidence,
    /// `None` in a closed loop without a rate.
    pub(crate) arrivals: Option<Arrivals>,
    /// Per steady measured phase: its name, and how its halves differ.
    pub(crate) drifts: Vec<(String, stats::Drift)>,
    /// The longest request.
    pub(crate) largest: Option<Extreme>,
    /// Samples that could not be placed.
    pub(crate) unknown: u64,
}

impl Evidence<'_> {
    pub(crate) fn verdict(&self) -> Verdict {
        let mut reasons = reasons::all(self);
        reasons.sort_by_key(|r| std::cmp::Reverse(r.severity));
        let state = match reasons.first().map(|r| r.severity) {
            Some(Severity::Invalid) => VerdictState::Invalid,
            Some(Severity::Suspect) => VerdictState::Suspect,
            Some(Severity::Note) | None => VerdictState::Valid,
        };
        let provenance = self.inputs.first().map_or(&Provenance::Live, |i| &i.info.header.provenance);
        let pick_up = self.total.measure(Measure::PickUp);
        let largest = self.largest.as_ref();
        let bound = |whole| believable::bound(whole, self.anatomy, self.host, largest, provenance, pick_up);
        if self.inputs.iter().any(Input::is_imported) {
            return Verdict { state, reasons, believable_to: None, bound_reason: FOREIGN.to_owned() };
        }
        let (believable_to, bound_reason) = self.total.whole().map_or((None, String::new()), bound);
        Verdict { state, reasons, believable_to, bound_reason }
    }
}
