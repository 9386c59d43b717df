//! What text and page say of a workload's own rules, in the same words.

use crate::text::time;
use analysis::{Asked, Business, BusinessRate, Rule, RuleState};
use record::Measure;
use units::{Bound, PerSecond, format_count, format_nanos, format_rate};

/// The section's title.
pub(crate) const TITLE: &str = "By the workload’s own rules";

/// A rate with what it counts, and its ceiling.
pub(crate) fn rate(rate: &BusinessRate) -> String {
    let BusinessRate { name, operation, per_minute, committed_per_minute, .. } = rate;
    let [per_minute, committed] = [*per_minute, *committed_per_minute].map(plain);
    let mut words = format!(
        "{name} {per_minute}: completed {operation} a minute, those rolled back by design among them; \
         {committed} without them"
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

/// Three digits at least, and no more decimals than that; whole numbers from 100 on.
fn plain(value: f64) -> String {
    let rate = PerSecond::new(value).map_or_else(|| "–".to_owned(), format_rate);
    rate.strip_suffix("/s").unwrap_or(&rate).to_owned()
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
                || NOT_FOUND.to_owned(),
                |found| format!("{}{}", least(found.bound), time(found.point)),
            );
            (asked, found)
        }
        Asked::AtLeast { limit, found } => {
            let percent = |share: f64| format!("{:.2} %", share * 100.0);
            let found = found.map_or_else(|| "no request".to_owned(), percent);
            (format!("share of the mix ≥ {}", percent(*limit)), found)
        }
        Asked::Succeeds { limits, .. } => (succeeding(*limits), succeeded(&rule.asked)),
    };
    [rule.operation.clone(), asked, found, state(rule)]
}

/// `62.5 % of them succeed`; of a share that may be any, that there is none.
fn succeeding((low, high): (f64, f64)) -> String {
    let plain = |share: f64| {
        let text = format!("{:.2}", share * 100.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if (low, high) == (0.0, 1.0) {
        "no share of success: none follows from this mix and data".to_owned()
    } else if low == high {
        format!("{} % of them succeed", plain(low))
    } else {
        format!("{:.1} … {:.1} % of them succeed", low * 100.0, high * 100.0)
    }
}

/// The share with as many digits as so many requests can carry.
fn succeeded(asked: &Asked) -> String {
    let Asked::Succeeds { needed, .. } = asked else { return String::new() };
    let n = asked.judged_by_success();
    match asked.success() {
        Some(found) if n >= *needed => {
            let deviation = (found * (1.0 - found) / n as f64).sqrt() + 1.0 / n as f64;
            // The last digit is worth no less than two standard deviations.
            let digits = (-(200.0 * deviation).log10()).floor().clamp(0.0, 3.0) as usize;
            format!("{:.digits$} %", found * 100.0)
        }
        _ => NOT_FOUND.to_owned(),
    }
}

/// In place of a figure that too few requests can carry.
const NOT_FOUND: &str = "–";

fn state(rule: &Rule) -> String {
    let state = match rule.state {
        RuleState::Held => "held",
        RuleState::WithinChance if rule.asked.success().is_some() => "held, within chance",
        RuleState::WithinChance => "short by chance: the mix is drawn",
        RuleState::Broken => "BROKEN",
        RuleState::Unknown => "not known",
    };
    match lacking(&rule.asked) {
        Some(needed) => format!("{state}: needs {} requests", format_count(needed)),
        None => state.to_owned(),
    }
}

/// How many requests it takes, where there were too few.
fn lacking(asked: &Asked) -> Option<u64> {
    match asked {
        Asked::AtMost { quantile, found: None, .. } => Some(quantile.samples_needed()),
        Asked::Succeeds { needed, .. } if succeeded(asked) == NOT_FOUND => Some(*needed),
        _ => None,
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
