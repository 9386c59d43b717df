//! `compare`: two sets of recordings, or two commands run in turn.

use super::runs::runs;
use crate::cli::CompareArguments;
use crate::{Ended, interrupt, output, run, search};
use analysis::{Analysis, CompareOptions, ComparedRow, Comparison, VerdictState, compare};
use anyhow::{Context, anyhow, bail};
use prove::invocations::split_words;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::{Bound, Quantile, parse_quantile};

/// A change that must not be: `p99 > +5%`.
#[derive(Clone, PartialEq, Debug)]
struct Limit {
    text: String,
    row: String,
    above: f64,
}

impl Limit {
    fn parse(text: &str) -> anyhow::Result<Limit> {
        let expected =
            || anyhow!("--fail-if '{text}': expected a limit such as 'p99 > +5%' or 'mean > +10%'");
        let (row, change) = text.split_once('>').ok_or_else(expected)?;
        let change = change.trim().strip_suffix('%').ok_or_else(expected)?.trim();
        let percent: f64 = change.trim_start_matches('+').parse().map_err(|_| expected())?;
        if !percent.is_finite() || percent <= -100.0 {
            return Err(expected());
        }
        Ok(Limit { text: text.to_owned(), row: row.trim().to_owned(), above: 1.0 + percent / 100.0 })
    }

    /// What the recordings must be asked for besides the usual quantiles.
    fn quantile(&self) -> Option<Quantile> {
        parse_quantile(&self.row).ok().filter(|_| self.row.starts_with('p'))
    }

    /// Whether the whole interval of the ratio lies above the limit; an error where that can't be told: a gate
    /// that can't close must not look like one that did not have to.
    fn is_broken(&self, rows: &[ComparedRow]) -> anyhow::Result<bool> {
        let row = self.row(rows)?;
        let Some(ratio) = &row.ratio else {
            return Err(self.undecided("a side is zero, so there is no ratio"));
        };
        if ratio.interval.is_none() {
            let why = format!("the ratio {:.3} of `{}` has no interval", ratio.point, row.name);
            return Err(self.undecided(&why));
        }
        let broken = ratio.low() > self.above;
        if row.base.bound == Bound::AtLeast || (row.new.bound == Bound::AtLeast && !broken) {
            return Err(self.undecided("timeouts hide how long the requests would have taken"));
        }
        Ok(broken)
    }

    fn row<'a>(&self, rows: &'a [ComparedRow]) -> anyhow::Result<&'a ComparedRow> {
        rows.iter().find(|r| r.name == self.row).ok_or_else(|| {
            let names: Vec<&str> = rows.iter().map(|r| r.name.as_str()).collect();
            anyhow!(
                "--fail-if '{}': there is no `{}` on both sides; there are {}",
                self.text,
                self.row,
                names.join(", ")
            )
        })
    }

    fn undecided(&self, why: &str) -> anyhow::Error {
        anyhow!(
            "--fail-if '{}' can't be decided: {why}; make longer runs, or three or more on each side \
             (--repeat 3 with --run and --vs)",
            self.text
        )
    }
}

pub(crate) fn run(arguments: CompareArguments, json: bool) -> anyhow::Result<Ended> {
    let limits: Vec<Limit> = arguments.fail_if.iter().map(|t| Limit::parse(t)).collect::<Result<_, _>>()?;
    let margin = match &arguments.equivalent_within {
        Some(text) => Some(search::percentage(text).map_err(|e| anyhow!("--equivalent-within {e}"))?),
        None => None,
    };
    let quantiles: Vec<Quantile> = limits.iter().filter_map(Limit::quantile).collect();
    let (base, new) = match (&arguments.base, &arguments.new, &arguments.run, &arguments.vs) {
        (Some(base), Some(new), None, None) => (analyses(base, &quantiles)?, analyses(new, &quantiles)?),
        (None, None, Some(base), Some(new)) => interleave(base, new, &arguments, &quantiles)?,
        _ => bail!("compare: name two recordings, or two commands with --run and --vs"),
    };
    let options =
        CompareOptions { margin, allow_different_loads: arguments.force, ..CompareOptions::default() };
    if base.iter().chain(&new).any(Analysis::is_stated_alone) {
        return show_stated(&base, &new, &limits, json);
    }
    let base: Vec<&Analysis> = base.iter().collect();
    let new: Vec<&Analysis> = new.iter().collect();
    let comparison = compare(&base, &new, &options)?;
    show(&comparison, &limits, arguments.force, json)
}

/// Statements beside each other: no more can be said without requests.
fn show_stated(base: &[Analysis], new: &[Analysis], limits: &[Limit], json: bool) -> anyhow::Result<Ended> {
    if let Some(limit) = limits.first() {
        bail!("--fail-if '{}' can't be decided: {}", limit.text, analysis::STATED_LIMIT);
    }
    let ([base], [new]) = (base, new) else {
        bail!("figures that tools stated can be compared run by run alone: name one recording on each side");
    };
    let pairs = analysis::stated_pairs(base, new, &output::analysis_options().quantiles);
    if json {
        output::json(&report::json::stated_comparison(&pairs))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        output::result(&report::text::stated_comparison_page(&pairs, &options))?;
    }
    Ok(Ended::Well)
}

/// One analysis for each run: its clients are merged from their samples.
fn analyses(path: &Path, quantiles: &[Quantile]) -> anyhow::Result<Vec<Analysis>> {
    let options = output::analysis_options_with(quantiles);
    runs(path)?.into_iter().map(|clients| Ok(analysis::analyse(&clients, &options)?)).collect()
}

fn show(comparison: &Comparison, limits: &[Limit], force: bool, json: bool) -> anyhow::Result<Ended> {
    for limit in limits {
        limit.row(&comparison.rows)?;
    }
    let decided: Vec<anyhow::Result<bool>> = limits.iter().map(|l| l.is_broken(&comparison.rows)).collect();
    let is_broken = |(limit, broken): (&Limit, &anyhow::Result<bool>)| {
        matches!(broken, Ok(true)).then(|| limit.text.clone())
    };
    let broken: Vec<String> = limits.iter().zip(&decided).filter_map(is_broken).collect();
    if json {
        output::json(&report::json::comparison(comparison, &broken))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let mut page = report::text::comparison_page(comparison, &options);
        for text in &broken {
            page += &format!("limit broken: {text}\n");
        }
        output::result(&page)?;
    }
    ended((comparison.base.1, comparison.new.1), force, decided)
}

/// Invalid numbers decide nothing; an undecided limit outweighs a broken one, as it can't be told.
fn ended(
    verdicts: (VerdictState, VerdictState),
    force: bool,
    limits: Vec<anyhow::Result<bool>>,
) -> anyhow::Result<Ended> {
    if verdicts.0.max(verdicts.1) == VerdictState::Invalid && !force {
        return Ok(Ended::Invalid);
    }
    let broken = limits.into_iter().collect::<anyhow::Result<Vec<bool>>>()?;
    Ok(if broken.contains(&true) { Ended::LimitBroken } else { Ended::Well })
}

/// Runs both commands `--repeat` times in turn, each in a fresh process; which goes first alternates.
fn interleave(
    base: &str,
    new: &str,
    arguments: &CompareArguments,
    quantiles: &[Quantile],
) -> anyhow::Result<(Vec<Analysis>, Vec<Analysis>)> {
    let repeats = arguments.repeat;
    if !(1..=1000).contains(&repeats) {
        bail!("--repeat {repeats}: must be in 1..1000");
    }
    let stamp = run::timestamp(clock::wall_time_ns());
    let parent =
        arguments.out.clone().unwrap_or_else(|| PathBuf::from("recordings").join(format!("{stamp}-compare")));
    // The run that goes on gets the signal, too, and ends in order; then it is ours to stop.
    interrupt::flag();
    let sides = [(split_words(base)?, parent.join("base")), (split_words(new)?, parent.join("new"))];
    for number in 1..=repeats {
        let order = if number % 2 == 1 { [0, 1] } else { [1, 0] };
        for side in order {
            if interrupt::requested() {
                bail!(
                    "interrupted after {} of {repeats} rounds; recordings: {}",
                    number - 1,
                    parent.display()
                );
            }
            let (flags, directory) = &sides[side];
            let name = if side == 0 { "base" } else { "new" };
            output::note(&format!("round {number} of {repeats}: {name}"));
            run_process(flags, &directory.join(format!("run-{number:03}")))?;
        }
    }
    Ok((analyses(&sides[0].1, quantiles)?, analyses(&sides[1].1, quantiles)?))
}

fn run_process(words: &[String], directory: &Path) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("can't find this program again")?;
    let words = words.strip_prefix(&["run".to_owned()]).unwrap_or(words);
    let status = Command::new(program)
        .arg("run")
        .args(words)
        .arg("--out")
        .arg(directory)
        .arg("--json")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .context("can't start truetail again")?;
    match status.code() {
        // An invalid run is a result, too: the comparison says so.
        Some(0 | 3) => Ok(()),
        Some(code) => {
            bail!("the run into {} ended with exit code {code}; its reason stands above", directory.display())
        }
        None => bail!("the run into {} was ended by a signal", directory.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Estimate;

    fn row(name: &str, low: f64, high: f64) -> ComparedRow {
        let one = Estimate { interval: Some((1.0, 1.0)), ..Estimate::exact(1.0, 10) };
        let ratio = Estimate { interval: Some((low, high)), ..Estimate::exact((low + high) / 2.0, 10) };
        let difference = stats_difference(&ratio);
        ComparedRow {
            name: name.into(),
            unit: analysis::Unit::Nanos,
            base: one.clone(),
            new: one,
            ratio: Some(ratio),
            difference,
            equivalent: None,
        }
    }

    fn stats_difference(ratio: &Estimate) -> stats::Difference {
        stats::Difference::of(ratio)
    }

    #[test]
    fn a_limit_is_broken_only_beyond_doubt() {
        let limit = Limit::parse("p99 > +5%").expect("a limit");
        assert!(limit.is_broken(&[row("p99", 1.06, 1.2)]).expect("a row"));
        assert!(!limit.is_broken(&[row("p99", 1.04, 1.2)]).expect("a row"));
        let missing = limit.is_broken(&[row("p50", 1.0, 1.0)]).expect_err("no row").to_string();
        assert!(missing.contains("there are p50"), "{missing}");
        for bad in ["p99", "p99 > 5", "p99 < 5%", "p99 > x%", "p99 > -100%"] {
            assert!(Limit::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_that_can_not_be_decided_is_an_error() {
        let limit = Limit::parse("max > +5%").expect("a limit");
        let decided = |row: ComparedRow| limit.is_broken(&[row]).map_err(|e| e.to_string());
        let sure = || row("max", 2.0, 3.0);
        assert_eq!(decided(sure()), Ok(true));

        let point = Estimate { interval: None, ..Estimate::exact(2.0, 10) };
        let unsure = decided(ComparedRow { ratio: Some(point), ..sure() }).expect_err("no interval");
        assert!(unsure.contains("'max > +5%' can't be decided") && unsure.contains("--repeat"), "{unsure}");
        assert!(!unsure.contains('\n'));
        assert!(decided(ComparedRow { ratio: None, ..sure() }).expect_err("no ratio").contains("zero"));

        // Timeouts: the new side is slower still, the base may be.
        let hidden = || Estimate { bound: Bound::AtLeast, ..sure().base };
        assert_eq!(decided(ComparedRow { new: hidden(), ..sure() }), Ok(true));
        assert!(decided(ComparedRow { new: hidden(), ..row("max", 0.9, 1.0) }).is_err());
        assert!(decided(ComparedRow { base: hidden(), ..sure() }).is_err());
    }

    #[test]
    fn an_invalid_side_ends_as_such_unless_forced() {
        use VerdictState::{Invalid, Suspect, Valid};
        let end = |verdicts, force, limits: &[bool]| {
            ended(verdicts, force, limits.iter().copied().map(Ok).collect()).expect("decided")
        };
        assert!(matches!(end((Valid, Invalid), false, &[true]), Ended::Invalid));
        assert!(matches!(end((Invalid, Valid), false, &[]), Ended::Invalid));
        assert!(matches!(end((Invalid, Valid), true, &[false, true]), Ended::LimitBroken));
        assert!(matches!(end((Suspect, Valid), false, &[false]), Ended::Well));
        assert!(ended((Valid, Valid), false, vec![Ok(true), Err(anyhow!("unknown"))]).is_err());
    }
}
