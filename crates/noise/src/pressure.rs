//! Pressure stall information: time in which some task of the host had to wait for a resource.

use crate::counter::Growth;
use crate::text::{Text, unavailable};
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::path::PathBuf;

/// The kernel counts in µs.
const NANOS: f64 = 1e3;

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let named = [
        ("cpu", "pressure cpu", "time in which some task of the host waited for a CPU"),
        ("io", "pressure io", "time in which some task of the host waited for a disk"),
        ("memory", "pressure memory", "time in which some task of the host waited for memory"),
    ];
    let make = |(file, name, summary): (&str, &'static str, &'static str)| -> Box<dyn NoiseSource> {
        let about = Description {
            name: name.into(),
            kind: Kind::Time,
            pace: Pace::Slow,
            quantum: "1 µs, updated each 2 s or when read",
            summary,
        };
        Box::new(source(about, watch.places.proc.join("pressure").join(file)))
    };
    named.into_iter().map(make).collect()
}

fn source(about: Description, path: PathBuf) -> Growth {
    let mut text = None;
    Growth::new(about, NANOS, move || {
        let text = match &mut text {
            Some(text) => text,
            none => none.insert(Text::open(&path).map_err(|Unavailable(why)| {
                Unavailable(format!(
                    "{why}: this kernel has no pressure stall information (CONFIG_PSI, psi=1)"
                ))
            })?),
        };
        parse(text.read()?).ok_or_else(|| unavailable(&path, "no total of `some` in it"))
    })
}

/// `total` of the line `some`, µs.
fn parse(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    const TEXT: &str = "some avg10=9.11 avg60=8.54 avg300=4.57 total=12902756908\n\
                        full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";

    #[test]
    fn the_total_of_some_is_read() {
        assert_eq!(parse(TEXT), Some(12_902_756_908));
        assert_eq!(parse("full avg10=0.00 total=7\n"), None);
        assert_eq!(parse("some avg10=0.00 total=x\n"), None);
    }

    #[test]
    fn planted_pressure_is_seen_in_nanoseconds() {
        let planted = Planted::new("pressure");
        planted.write("proc/pressure/io", TEXT);
        let mut sources = sources(&planted.watch());
        assert!(sources[0].open().unwrap_err().0.contains("CONFIG_PSI"));
        sources[1].open().unwrap();
        planted.write("proc/pressure/io", &TEXT.replace("6908", "6958"));
        assert_eq!(sources[1].read(1), Some(50_000.0));
        assert_eq!(sources[1].read(1), Some(0.0));
    }

    #[test]
    fn fuzz_pressure() {
        testkit::fuzz::Fuzz::new("pressure").from([TEXT]).words(["some", "total="]).run(2_000, |input| {
            let _ = parse(&String::from_utf8_lossy(input));
        });
    }
}
