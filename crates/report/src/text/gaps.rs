//! Gaps between two looks at the clock, CPU by CPU.

use super::paint::{Paint, wrap};
use super::table::Table;
use super::{TextOptions, count};
use crate::attribution::share;
use crate::gaps::{CpuGaps, FROM};
use units::format_nanos;

const WHAT: &str = "gaps between two looks at the clock, by a thread that is pinned to the CPU and never sleeps: \
    what interrupts, other threads and the hypervisor took; per second, from a length on";

pub(crate) fn gaps_table(seen: &[CpuGaps], options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let text = wrap("", "  ", WHAT, options.width).join("\n") + "\n\n";
    let head = ["CPU".to_owned()].into_iter().chain(FROM.map(|from| format!("≥ {}", length(from.0))));
    let mut table = Table::new(head.chain(["longest".to_owned(), "time lost".to_owned()]).collect());
    for gaps in seen {
        let with = if gaps.together { "with all" } else { "alone" };
        let mut cells = vec![format!("{} {with}", gaps.cpu)];
        cells.extend(gaps.counted.iter().map(|counted| rate(counted.per_second)));
        cells.push(gaps.longest.map_or_else(|| "none".to_owned(), format_nanos));
        cells.push(share(gaps.lost()));
        table.row(cells);
    }
    text + &table.render(&paint, options.width)
}

/// `1 µs` for a round length.
fn length(nanos: u64) -> String {
    if nanos >= 1_000_000 { format!("{} ms", nanos / 1_000_000) } else { format!("{} µs", nanos / 1_000) }
}

/// Nothing is zero only if it is.
fn rate(per_second: f64) -> String {
    match per_second {
        0.0 => "0".to_owned(),
        r if r < 9.95 => format!("{r:.1}"),
        r => count(r.round() as u64),
    }
}
