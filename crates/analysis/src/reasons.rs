//! Each kind of evidence, looked at by a function of its own.

use crate::believable::harness_share;
use crate::business::rolled_back_by_design;
use crate::evidence::Evidence;
use crate::input::{Input, measured_span};
use crate::limits::*;
use crate::{Asked, Reason, ReasonKind, Rule, RuleState, Severity};
use crate::{carried, observers, stated};
use record::{Ending, Event, EventKind, Measure, Provenance};
use units::{Instant, Nanos, OutcomeClass, format_count, format_counted, format_nanos};

/// `1.25 %`
fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = if value >= 9.95 {
        0
    } else if value >= 0.095 {
        1
    } else {
        3
    };
    format!("{value:.digits$} %")
}

pub(crate) fn reason(severity: Severity, kind: ReasonKind, text: String, hint: &str) -> Reason {
    Reason { severity, kind, text, hint: hint.to_owned() }
}

/// All checks in the order of the verdict's list.
pub(crate) fn all(evidence: &Evidence<'_>) -> Vec<Reason> {
    let checks: [fn(&Evidence<'_>) -> Vec<Reason>; 19] = [
        outages,
        completeness,
        stated::import_gaps,
        dropped,
        rate,
        clock,
        stated::clock_checks,
        client,
        stolen,
        observers::not_watched,
        stated::server_cpus,
        harness,
        late_stamps,
        failures,
        successes,
        censored,
        invariants,
        carried::samples,
        drift,
    ];
    checks.iter().flat_map(|check| check(evidence)).collect()
}

/// A target that is away explains most of what is said after it, so it comes first.
fn outages(e: &Evidence<'_>) -> Vec<Reason> {
    e.inputs.iter().filter_map(outage).collect()
}

fn outage(input: &Input) -> Option<Reason> {
    let (begin, end) = measured_span(input);
    let within = |event: &&Event| event.kind == EventKind::Outage && event.begin < end && event.end > begin;
    let outages: Vec<&Event> = input.events.iter().filter(within).collect();
    let first = outages.first()?;
    let at = |instant: Instant| format!("{:.1} s", instant.0 as f64 / 1e9);
    let last_word = if outages.iter().any(|outage| outage.end >= end) {
        "it did not come back before the end of the measured time"
    } else {
        "it came back"
    };
    let away = outages.iter().map(|o| o.end.0.min(end.0) - o.begin.0.max(begin.0)).sum();
    let text = format!(
        "the target was away from {} on, for {} in all: no session was connected; {last_word}",
        at(first.begin),
        format_nanos(Nanos(away))
    );
    let hint = "look at the server's log: what is said below is of a load that had no target for a while";
    Some(reason(Severity::Invalid, ReasonKind::Outage, text, hint))
}

fn completeness(e: &Evidence<'_>) -> Vec<Reason> {
    let mut found: Vec<Reason> = e.inputs.iter().flat_map(incomplete).collect();
    if e.unknown > 0 {
        let samples = format_counted(e.unknown, "sample has", "samples have");
        let text = format!("{samples} an operation, phase or outcome that the header lacks");
        found.push(reason(
            Severity::Suspect,
            ReasonKind::Incomplete,
            text,
            "read them with a later truetail",
        ));
    }
    found
}

fn incomplete(input: &Input) -> Vec<Reason> {
    let name = &input.info.name;
    let mut found = Vec::new();
    let mut add = |severity, kind, text: String, hint| found.push(reason(severity, kind, text, hint));
    match &input.ending {
        Some(Ending::Failed(why)) => {
            let text = format!("{name}: the run failed: {why}");
            add(Severity::Invalid, ReasonKind::Incomplete, text, "repeat the run");
        }
        Some(Ending::Interrupted(why)) => {
            let text = format!("{name}: the run was stopped early: {why}");
            add(Severity::Note, ReasonKind::Incomplete, text, "");
        }
        _ if !input.info.complete && input.is_imported() => {
            let text = format!("{name}: the import was cut short: what is missing is not known");
            let hint = "the run may be whole: import again, into another directory";
            add(Severity::Invalid, ReasonKind::Incomplete, text, hint);
        }
        _ if !input.info.complete => {
            let text = format!("{name} has no end: it was cut short, and up to its last second is missing");
            add(Severity::Suspect, ReasonKind::Incomplete, text, "repeat the run");
        }
        _ => {}
    }
    if let Some((file, why)) = input.info.unreadable.first() {
        let count = input.info.unreadable.len() as u64;
        let files =
            format_counted(count, "part file can't be read", "part files can't be read, the first is");
        let join = if count == 1 { ":" } else { "" };
        let text = format!("{name}: {files}{join} {file}: {why}");
        add(Severity::Suspect, ReasonKind::Incomplete, text, "the samples in them are missing");
    }
    if let Provenance::Imported { tool } = &input.info.header.provenance {
        let text = format!("{name} was imported from {tool}: lag, pick-up and noise are not known");
        add(Severity::Note, ReasonKind::ImportGap, text, "");
    }
    found
}

fn dropped(e: &Evidence<'_>) -> Vec<Reason> {
    let lost: u64 = e.inputs.iter().map(|i| i.info.dropped + i.unwritable).sum();
    if lost == 0 {
        return Vec::new();
    }
    let lost = format_counted(lost, "sample was", "samples were");
    let text = format!("{lost} dropped: the recorder could not keep up, or the disk took no more");
    let hint = "record to a faster disk, or lower the rate";
    vec![reason(Severity::Invalid, ReasonKind::SamplesDropped, text, hint)]
}

fn rate(e: &Evidence<'_>) -> Vec<Reason> {
    let Some(arrivals) = e.arrivals else { return Vec::new() };
    let hint = match arrivals.backlogs {
        Some(_) => "lower the rate, or add sessions if pool wait is what grows",
        None => "lower the rate, or add sessions",
    };
    let reached = arrivals.in_time as f64 / arrivals.intended.max(1) as f64;
    let missing = arrivals.intended.saturating_sub(arrivals.in_time);
    // What the sessions can have in flight at the end says nothing.
    let in_flight = u64::from(arrivals.sessions) + 1;
    if reached < RATE_REACHED && missing > in_flight + arrivals.chance {
        let severity = if reached < RATE_HOPELESS { Severity::Invalid } else { Severity::Suspect };
        let what = match arrivals.backlogs {
            Some(_) => "offered rate was not reached: {} of the arrivals",
            None => "asked rate was not reached: {} of the requests that it asks for",
        };
        let text = format!(
            "the {} completed in the measured time (limit {})",
            what.replace("{}", &percent(reached)),
            percent(RATE_REACHED)
        );
        return vec![reason(severity, ReasonKind::RateNotReached, text, hint)];
    }
    let Some([half, later, end]) = arrivals.backlogs else { return Vec::new() };
    let least = (arrivals.intended as f64 * BACKLOG_SHARE).max(in_flight as f64);
    let grew = half < later && later < end && end as f64 > BACKLOG_GROWTH * half as f64;
    if end as f64 > least && grew {
        let text = format!(
            "the backlog grew: {} waiting or in flight at half-time, {} at the end",
            format_counted(half, "request was", "requests were"),
            format_count(end)
        );
        return vec![reason(Severity::Suspect, ReasonKind::RateNotReached, text, hint)];
    }
    Vec::new()
}

fn clock(e: &Evidence<'_>) -> Vec<Reason> {
    let steps: Vec<_> =
        e.inputs.iter().flat_map(|i| &i.events).filter(|v| v.kind == EventKind::ClockStep).collect();
    let Some(first) = steps.first() else { return Vec::new() };
    let times = match steps.len() {
        1 => "once".to_owned(),
        n => format!("{} times, first", format_count(n as u64)),
    };
    let text = format!("the clock stepped {times}: {}", first.detail);
    let hint = "stop time synchronisation from stepping during runs; kernel stamps are missing around a step";
    vec![reason(Severity::Suspect, ReasonKind::Clock, text, hint)]
}

fn client(e: &Evidence<'_>) -> Vec<Reason> {
    let is_high = |mean: f64, high: f64| mean >= CLIENT_CPU_MEAN || high >= CLIENT_CPU_HIGH_TIME;
    let words = |mean: f64, high: f64| {
        format!("{} busy on average, at their limit in {} of the time", percent(mean), percent(high))
    };
    if let Some((mean, high)) = e.host.client_cpu.filter(|(mean, high)| is_high(*mean, *high)) {
        let text = format!("the client's CPUs were saturated: {}", words(mean, high));
        let hint = "use fewer workers, `--pacing sleep`, or a client with more CPUs";
        return vec![reason(Severity::Suspect, ReasonKind::ClientSaturated, text, hint)];
    }
    let Some((mean, high, spins)) = e.host.load_cpu.filter(|(mean, high, _)| is_high(*mean, *high)) else {
        return Vec::new();
    };
    let words = words(mean, high);
    let found = if spins {
        // Spinning is no work: whoever has nothing to do until the next request is due looks as busy.
        let text = format!(
            "the threads of the load were {words}: they spin before a request is due, so whether they were saturated is not known"
        );
        reason(Severity::Note, ReasonKind::ClientSaturated, text, "`--pacing sleep` tells")
    } else {
        let text = format!("the threads of the load were saturated: {words}");
        let hint = "use more workers (`-T`), or more CPUs for them (`--cpus`)";
        reason(Severity::Suspect, ReasonKind::ClientSaturated, text, hint)
    };
    vec![found]
}

fn stolen(e: &Evidence<'_>) -> Vec<Reason> {
    let mut found = Vec::new();
    let mut look = |share: f64, limit: f64, what: &str, hint: &str| {
        if share > 0.0 {
            let severity = if share > limit { Severity::Suspect } else { Severity::Note };
            let text = format!("{what} in {} of the CPUs' time (limit {})", percent(share), percent(limit));
            found.push(reason(severity, ReasonKind::Steal, text, hint));
        }
    };
    look(e.host.steal_share, STEAL_SHARE, "the hypervisor took CPU time away", "use a machine of its own");
    look(
        e.host.throttled_share,
        THROTTLED_SHARE,
        "the cgroup's CPU limit stopped the client",
        "raise the container's CPU limit",
    );
    found
}

fn harness(e: &Evidence<'_>) -> Vec<Reason> {
    let Some(whole) = e.total.whole() else { return Vec::new() };
    let shares = whole.quantiles.iter().filter_map(|(q, estimate)| {
        let row = e.anatomy.rows.iter().find(|r| r.quantile == *q)?;
        Some((row, estimate.low(), harness_share(row, estimate.low())))
    });
    let over: Vec<_> = shares.filter(|(_, _, share)| *share > HARNESS_SHARE).collect();
    let Some((row, low, share)) = over.iter().max_by(|a, b| a.2.total_cmp(&b.2)) else { return Vec::new() };
    let text = format!(
        "the harness's own delay (lag and pick-up) of requests around {} is {}, {} of that quantile's lower limit of {} (limit {}), and \
         above its limit at {}",
        row.quantile,
        format_nanos(Nanos(row.harness_ns().round() as u64)),
        percent(*share),
        format_nanos(Nanos(low.round() as u64)),
        percent(HARNESS_SHARE),
        over.iter().map(|(row, _, _)| row.quantile.name()).collect::<Vec<_>>().join(", ")
    );
    let hint = "give the client CPUs of its own, fewer sessions for each worker, or measure slower requests";
    vec![reason(Severity::Suspect, ReasonKind::HarnessShare, text, hint)]
}

/// Stamps of records or answers that end later than what was waited for: under TLS, and of pipelined answers.
fn late_stamps(e: &Evidence<'_>) -> Vec<Reason> {
    let Some(late) = e.total.measure(Measure::PickUp).filter(|m| m.censored > 0) else { return Vec::new() };
    let text = format!(
        "pick-up is a lower bound for {} of {}: the kernel's stamp (of TLS, or of several answers in one read) may \
         be later than the arrival",
        format_count(late.censored),
        format_counted(late.n, "stamped request", "stamped requests")
    );
    let hint = "compare with a run without TLS to see what pick-up really is";
    vec![reason(Severity::Note, ReasonKind::PickUpBound, text, hint)]
}

fn failures(e: &Evidence<'_>) -> Vec<Reason> {
    let counts = &e.total.counts;
    let share = |class: OutcomeClass| {
        let n: u64 = counts.outcomes.iter().filter(|(o, _)| o.class() == class).map(|(_, n)| n).sum();
        n.saturating_sub(judged_by_rules(e, class)) as f64 / counts.total.max(1) as f64
    };
    // What a workload rolls back by design was asked for.
    let headers = e.inputs.iter().map(|input| &input.info.header);
    let by_design = headers.map(rolled_back_by_design).fold(0.0, f64::max);
    let looks = [
        (
            OutcomeClass::Miss,
            ReasonKind::Misses,
            MISSES_SUSPECT,
            "misses (no row was touched)",
            "reload the data set",
        ),
        (OutcomeClass::Abort, ReasonKind::Aborts, ABORTS_SUSPECT + by_design, "aborts", ""),
        (
            OutcomeClass::Error,
            ReasonKind::Errors,
            ERRORS_SUSPECT,
            "errors",
            "see the first errors in the events",
        ),
    ];
    let judge = |(class, kind, limit, what, hint): &(OutcomeClass, ReasonKind, f64, &str, &str)| {
        let share = share(*class);
        let severity = if share > FAILURES_INVALID { Severity::Invalid } else { Severity::Suspect };
        let text = format!("{} of the requests are {what} (limit {})", percent(share), percent(*limit));
        (share > *limit).then(|| reason(severity, *kind, text, hint))
    };
    looks.iter().filter_map(judge).collect()
}

fn rules<'a>(e: &Evidence<'a>) -> impl Iterator<Item = &'a Rule> {
    e.business.into_iter().flat_map(|business| &business.rules)
}

/// Requests of operations whose success the workload has rules for: what these do not succeed in is no failure.
fn judged_by_rules(e: &Evidence<'_>, class: OutcomeClass) -> u64 {
    let of_rule = |rule: &Rule| match (&rule.asked, class) {
        (Asked::Succeeds { missed, .. }, OutcomeClass::Miss) => *missed,
        (Asked::Succeeds { aborted, .. }, OutcomeClass::Abort) => *aborted,
        _ => 0,
    };
    rules(e).map(of_rule).sum()
}

/// Operations that do their work more or less often than the workload's population has it.
fn successes(e: &Evidence<'_>) -> Vec<Reason> {
    let judge = |rule: &Rule| {
        let Asked::Succeeds { limits: (low, high), .. } = &rule.asked else { return None };
        let found = rule.asked.success().filter(|_| rule.state == RuleState::Broken)?;
        let limits =
            if low == high { percent(*low) } else { format!("{} … {}", percent(*low), percent(*high)) };
        let text =
            format!("{} of the {} succeed, where the workload has {limits}", percent(found), rule.operation);
        let hint = "reload the data set: its rows are not those that the workload expects";
        Some(reason(Severity::Suspect, ReasonKind::Misses, text, hint))
    };
    rules(e).filter_map(judge).collect()
}

fn censored(e: &Evidence<'_>) -> Vec<Reason> {
    let Some(whole) = e.total.whole().filter(|w| w.censored > 0) else { return Vec::new() };
    let requests = format_counted(whole.n, "request", "requests");
    let was = if whole.censored == 1 { "was" } else { "were" };
    let what = format!("{} of {requests} timed out or {was} unfinished", format_count(whole.censored));
    let found = match whole.bounded().next() {
        Some(first) => reason(
            Severity::Suspect,
            ReasonKind::Censored,
            format!("{what}: from {first} on only lower bounds are known"),
            "raise the timeout, or let the run drain",
        ),
        None => {
            reason(Severity::Note, ReasonKind::Censored, format!("{what}; no printed quantile is moved"), "")
        }
    };
    vec![found]
}

fn invariants(e: &Evidence<'_>) -> Vec<Reason> {
    let facts = e.inputs.iter().flat_map(|i| &i.facts).filter(|(name, _)| name.starts_with("invariant"));
    let broken = facts.filter(|(_, value)| !value.starts_with("ok") && !value.starts_with("holds"));
    let judge = |(name, value): &(String, String)| {
        let text = format!("the data set is not what it should be after the run: {name}: {value}");
        reason(
            Severity::Invalid,
            ReasonKind::Invariants,
            text,
            "reload the data set and look for lost writes",
        )
    };
    broken.map(judge).collect()
}

/// Three digits at most: a factor is no count.
fn factor(ratio: f64) -> String {
    match ratio {
        r if r >= 1_000.0 => "more than 1,000".to_owned(),
        r if r >= 99.95 => format!("{r:.0}"),
        r if r >= 9.995 => format!("{r:.1}"),
        r if r >= 0.0995 => format!("{r:.2}"),
        r if r >= 0.001 => format!("{r:.4}"),
        _ => "less than 0.001".to_owned(),
    }
}

fn drift(e: &Evidence<'_>) -> Vec<Reason> {
    let matters = |p: f64, ratio: f64| p < DRIFT_P_VALUE && (ratio - 1.0).abs() > DRIFT_CHANGE;
    let found = e.drifts.iter().filter(|(_, d)| matters(d.p_value, d.median_ratio));
    let measure = e.total.whole().map_or(Measure::Service, |w| w.measure).name();
    let judge = |(phase, d): &(String, stats::Drift)| {
        let text = format!(
            "the median {measure} of phase {phase} changed by a factor of {} from its first half to its second",
            factor(d.median_ratio)
        );
        reason(Severity::Suspect, ReasonKind::NotStationary, text, "warm up for longer, or run for longer")
    };
    found.map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_three_digits_at_most() {
        let shown = [228_935.23, 999.4, 99.96, 12.34, 9.996, 1.234, 0.58, 0.0123, 0.0004, 0.0].map(factor);
        let expected = ["more than 1,000", "999", "100", "12.3", "10.0", "1.23", "0.58", "0.0123"];
        assert_eq!(shown[..8], expected);
        assert_eq!(shown[8..], ["less than 0.001", "less than 0.001"]);
    }
}
