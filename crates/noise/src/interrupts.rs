//! Interrupts and softirqs of each observed CPU.

use crate::counter::Growth;
use crate::text::{SharedTable, Table, value_of};
use crate::{Description, Kind, NoiseSource, Pace, Watch};
use std::collections::BTreeMap;

/// Sum of each CPU's column.
type Sums = BTreeMap<usize, u64>;

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let kinds = [
        ("interrupts", "interrupts that this CPU served"),
        ("softirqs", "softirqs that this CPU served: network, block layer, timers, RCU"),
    ];
    let mut all: Vec<Box<dyn NoiseSource>> = Vec::new();
    for (file, summary) in kinds {
        let table = Table::shared(watch.places.proc.join(file), parse, watch.clock);
        for &cpu in &watch.cpus {
            let about = Description {
                name: format!("{file} cpu {cpu}").into(),
                kind: Kind::Count,
                pace: Pace::Slow,
                quantum: "1",
                summary,
            };
            all.push(Box::new(column(about, SharedTable::clone(&table), cpu)));
        }
    }
    all
}

fn column(about: Description, table: SharedTable<Sums>, cpu: usize) -> Growth {
    let what = format!("column of CPU {cpu}");
    Growth::new(about, 1.0, move || value_of(&table, |sums: &Sums| sums.get(&cpu).copied(), &what))
}

/// Rows that count no CPU's interrupts, and have one number.
const OF_NO_CPU: [&str; 2] = ["ERR:", "MIS:"];

/// A line `CPU0 CPU1 …` of the CPUs that are online, then rows `name: count count … words`.
fn parse(text: &str) -> Option<Sums> {
    let mut lines = text.lines();
    let head = lines.next()?.split_whitespace();
    let cpus: Vec<usize> =
        head.map(|word| word.strip_prefix("CPU")?.parse().ok()).collect::<Option<Vec<usize>>>()?;
    let mut sums: Sums = cpus.iter().map(|&cpu| (cpu, 0)).collect();
    let mut counts = Vec::with_capacity(cpus.len());
    for line in lines {
        let mut words = line.split_whitespace();
        if words.next().is_none_or(|name| OF_NO_CPU.contains(&name) || !name.ends_with(':')) {
            continue;
        }
        counts.clear();
        counts.extend(words.take(cpus.len()).map_while(|word| word.parse::<u64>().ok()));
        if counts.len() < cpus.len() {
            continue; // a row of another form
        }
        for (cpu, count) in cpus.iter().zip(&counts) {
            let sum = sums.entry(*cpu).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    (!sums.is_empty()).then_some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    const INTERRUPTS: &str = "           CPU0       CPU2\n\
        \x20 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n\
        \x20 36:          0    3405588 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n\
        NMI:          0          0   Non-maskable interrupts\n\
        LOC:   13581944   13888558   Local timer interrupts\n\
        ERR:          7\n\
        MIS:          0\n";
    const SOFTIRQS: &str = "                    CPU0       CPU2\n          HI:          5          6\n       TIMER:        100        200\n";

    #[test]
    fn columns_are_summed_by_the_cpu_that_they_name() {
        assert_eq!(parse(INTERRUPTS), Some([(0, 13_581_945), (2, 17_294_146)].into()));
        assert_eq!(parse(SOFTIRQS), Some([(0, 105), (2, 206)].into()));
        // With one CPU, a row of errors looks like any other.
        assert_eq!(parse("CPU0\nLOC: 3 x\nERR: 7\n"), Some([(0, 3)].into()));
        assert_eq!((parse(""), parse("CPU0 x\n")), (None, None));
    }

    #[test]
    fn planted_interrupts_are_seen_on_their_cpu_alone() {
        let planted = Planted::new("interrupts");
        planted.write("proc/interrupts", INTERRUPTS);
        let mut watch = planted.watch();
        watch.cpus = vec![0, 1, 2];
        let mut sources = sources(&watch);
        let names: Vec<String> = sources.iter().map(|s| s.describe().name.into_owned()).collect();
        assert_eq!(names[2..4], ["interrupts cpu 2", "softirqs cpu 0"]);
        (sources[0].open().unwrap(), sources[2].open().unwrap());
        assert!(sources[1].open().unwrap_err().0.contains("no column of CPU 1"));
        assert!(sources[3].open().unwrap_err().0.contains("softirqs: No such file"));
        planted.write("proc/interrupts", &INTERRUPTS.replace("3405588", "3405688"));
        assert_eq!((sources[0].read(1), sources[2].read(1)), (Some(0.0), Some(100.0)));
    }

    #[test]
    fn fuzz_interrupts() {
        let words = ["CPU0", "CPU", ":", "18446744073709551615", "\n"];
        testkit::fuzz::Fuzz::new("interrupts").from([INTERRUPTS, SOFTIRQS]).words(words).run(
            2_000,
            |input| {
                let _ = parse(&String::from_utf8_lossy(input));
            },
        );
    }
}
