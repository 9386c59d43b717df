//! What text and page say of a workload's own rules, in the same words.

use crate::text::time;
use analysis::{Asked, Business, BusinessRate, Rule, RuleState};
use record::Measure;
use units::{Bound, format_count, format_nanos};

/// The section's title.
pub(crate) const TITLE: &str = "By the workload’s own rules";

/// A rate with what it counts, and its ceiling.
pub(crate) fn rate(rate: &BusinessRate) -> String {
    let BusinessRate { name, operation, per_minute, committed_per_minute, .. } = rate;
    let mut words = format!(
        "{name} {per_minute:.1}: completed {operation} a minute, those rolled back by design among them; \
         {committed_per_minute:.1} without them"
    );
    match (rate.ceiling, rate.share_of_ceiling()) {
        (Some(ceiling), Some(share)) => {
            words += &format!(
                "; {:.1} % of the {ceiling:.1} that these terminals can reach at most",
                share * 100.0
            );
        }
        (Some(ceiling), None) => {
            words += &format!(
                "; no figure to compare with published ones: the load has no terminals with think times, whose most \
                 here is {ceiling:.1}"
            );
        }
        (None, _) => {}
    }
    words
}

/// (operation, what is asked, what was found, whether it is kept) of a rule.
pub(crate) fn rule(rule: &Rule) -> [String; 4] {
    let (asked, found) = match &rule.asked {
        Asked::AtMost { quantile, limit, measure, found } => {
            let of = match measure {
                Measure::Response => "response time",
                _ => "service time, as there is no response time",
            };
            let asked = format!("{} of the {of} ≤ {}", quantile.name(), format_nanos(*limit));
            let least = |bound| if bound == Bound::AtLeast { "≥ " } else { "" };
            let found = found.as_ref().map_or_else(
                || format!("needs {} requests", format_count(quantile.samples_needed())),
                |found| format!("{}{}", least(found.bound), time(found.point)),
            );
            (asked, found)
        }
        Asked::AtLeast { limit, found } => {
            let percent = |share: f64| format!("{:.2} %", share * 100.0);
            let found = found.map_or_else(|| "no request".to_owned(), percent);
            (format!("share of the mix ≥ {}", percent(*limit)), found)
        }
    };
    [rule.operation.clone(), asked, found, state(rule.state).to_owned()]
}

fn state(state: RuleState) -> &'static str {
    match state {
        RuleState::Held => "held",
        RuleState::WithinChance => "short by chance: the mix is drawn",
        RuleState::Broken => "BROKEN",
        RuleState::Unknown => "not known",
    }
}

/// What the workload counted itself; empty where that is nothing.
pub(crate) fn counts(business: &Business) -> String {
    let counts: Vec<String> =
        business.counts.iter().map(|(name, count)| format!("{} {name}", format_count(*count))).collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!("counted since the begin, warm-up included: {}", counts.join(", ")),
    }
}
