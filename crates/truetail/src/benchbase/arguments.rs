//! BenchBase's flags.

use anyhow::bail;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// What BenchBase takes; flags of truetail's own come last.
#[derive(Args, Debug)]
pub(crate) struct BenchbaseArguments {
    /// The benchmark: tpcc, ycsb, seats, epinions, tatp, smallbank, noop
    #[arg(long, short = 'b', value_name = "BENCH")]
    pub(crate) bench: String,

    /// BenchBase's XML
    // Another name than that of the files of options, which are read before all else.
    #[arg(long = "config", id = "benchbase_configuration", short = 'c', value_name = "FILE")]
    pub(crate) configuration: PathBuf,

    /// Make the tables; they must not be there yet. Rows come with them, by --load
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) create: Option<bool>,

    /// Drop the data set that is there
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) clear: Option<bool>,

    /// Fill the tables
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) load: Option<bool>,

    /// Measure, and write the results
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) execute: Option<bool>,

    /// Seconds of a line of results.csv
    #[arg(long, short = 's', value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) sample: u64,

    /// Where the results go, and the recording
    #[arg(long, short = 'd', value_name = "DIR", default_value = "results")]
    pub(crate) directory: PathBuf,

    /// Tell the rate each so many milliseconds, from 50 on; 0 is never (also -im)
    #[arg(long, value_name = "MS")]
    pub(crate) interval_monitor: Option<u64>,

    /// What is told then: throughput (also -mt)
    #[arg(long, value_name = "WHAT")]
    pub(crate) monitor_type: Option<String>,

    /// Write the counts of ends to this file (also -jh)
    #[arg(long, value_name = "FILE")]
    pub(crate) json_histograms: Option<PathBuf>,

    /// BenchBase's; truetail has no dialects to export
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) dialects_export: Option<bool>,

    /// BenchBase's; truetail anonymizes nothing
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", value_parser = truth)]
    pub(crate) anonymize: Option<bool>,

    /// Behave as BenchBase's benchmark does, faults included (benchbase), or correctly (none) [default: benchbase]
    #[arg(long, value_name = "HOW")]
    pub(crate) compat: Option<String>,
}

fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("there are `true` and `false`".to_owned()),
    }
}

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Wish {
    pub(super) create: bool,
    pub(super) clear: bool,
    pub(super) load: bool,
    pub(super) execute: bool,
    pub(super) report_interval: Option<String>,
    /// Flags that have no effect.
    pub(super) notes: Vec<String>,
}

impl BenchbaseArguments {
    /// # Errors
    /// Names a flag that can't be honoured.
    pub(super) fn wish(&self) -> anyhow::Result<Wish> {
        let is = |flag: Option<bool>| flag == Some(true);
        if is(self.dialects_export) {
            bail!("--dialects-export: truetail's statements are in its workloads; leave it out");
        }
        if is(self.anonymize) {
            bail!("--anonymize: truetail anonymizes nothing; leave it out");
        }
        let mut wish = Wish {
            create: is(self.create),
            clear: is(self.clear),
            load: is(self.load),
            execute: is(self.execute),
            ..Wish::default()
        };
        if !(wish.create || wish.clear || wish.load || wish.execute) {
            bail!("nothing is to be done; give --create=true --load=true, --execute=true, or --clear=true");
        }
        match self.interval_monitor {
            None | Some(0) => {}
            Some(least @ 50..) => wish.report_interval = Some(format!("{least}ms")),
            Some(short) => bail!("-im {short}: must be 0, or at least 50 ms"),
        }
        match self.monitor_type.as_deref() {
            None | Some("throughput") => {}
            Some("advanced") => wish.notes.push(
                "-mt advanced has no effect: the server's counters are not collected; --server-log and `truetail \
                 run`'s observers look at it otherwise"
                    .to_owned(),
            ),
            Some(other) => bail!("-mt {other}: there are `throughput` and `advanced`"),
        }
        Ok(wish)
    }
}

/// BenchBase's flags of two letters behind one dash, spelt as clap takes them.
pub(crate) fn spelt_out(words: Vec<OsString>) -> Vec<OsString> {
    const LONG: [(&str, &str); 3] =
        [("-im", "--interval-monitor"), ("-mt", "--monitor-type"), ("-jh", "--json-histograms")];
    let is_ours = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'));
    if is_ours.is_none_or(|word| word != "benchbase") {
        return words;
    }
    let spell = |word: OsString| {
        let Some(text) = word.to_str() else { return word };
        let (flag, value) = text.split_once('=').map_or((text, None), |(flag, value)| (flag, Some(value)));
        let Some((_, long)) = LONG.into_iter().find(|(short, _)| *short == flag) else { return word };
        value.map_or_else(|| long.into(), |value| format!("{long}={value}").into())
    };
    words.into_iter().map(spell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_two_letters_are_spelt_out_for_this_command_alone() {
        let spelt = |line: &str| {
            let words = spelt_out(line.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            spelt("truetail --json benchbase -im 1000 -mt=throughput -jh a.json -d im"),
            "truetail --json benchbase --interval-monitor 1000 --monitor-type=throughput --json-histograms a.json -d im"
        );
        assert_eq!(spelt("truetail run -im"), "truetail run -im");
    }
}
