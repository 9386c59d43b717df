//! Which recordings are one run: the clients of a run are merged, runs are repeats.

use anyhow::bail;
use record::Recording;
use std::path::Path;

/// The recordings of `path`, run by run.
///
/// Load machines of one run work at the same time, and each has a number of its own; repeats follow each
/// other. Two recordings of one client at the same time are neither: one of them was copied, or disturbed the
/// other.
///
/// # Errors
/// When a recording can't be opened, or recordings of one client overlap.
pub(super) fn runs(path: &Path) -> anyhow::Result<Vec<Vec<Recording>>> {
    let mut recordings = super::open_recordings(path)?;
    recordings.sort_by_key(|r| span(r).0);
    let mut runs: Vec<(u64, Vec<Recording>)> = Vec::new();
    for recording in recordings {
        let (begin, end) = span(&recording);
        match runs.last_mut() {
            Some((last, run)) if begin < *last => {
                *last = end.max(*last);
                run.push(recording);
            }
            _ => runs.push((end, vec![recording])),
        }
    }
    let runs: Vec<Vec<Recording>> = runs.into_iter().map(|(_, run)| run).collect();
    runs.iter().try_for_each(|run| apart(run))?;
    Ok(runs)
}

fn apart(run: &[Recording]) -> anyhow::Result<()> {
    for (index, second) in run.iter().enumerate() {
        let client = second.header().client;
        if let Some(first) = run[..index].iter().find(|r| r.header().client == client) {
            bail!(
                "{} and {} are both of client {client} and were made at the same time: they are neither repeats \
                 nor clients of one run; compare a directory without one of them, or make each client with a \
                 --client of its own",
                first.path().display(),
                second.path().display()
            );
        }
    }
    Ok(())
}

/// From the start line to the end of the last phase, ns since 1970.
fn span(recording: &Recording) -> (u64, u64) {
    let header = recording.header();
    let length = header.phases.iter().filter_map(|p| p.end.get()).map(|end| end.0).max().unwrap_or(0);
    (header.epoch_wall_ns, header.epoch_wall_ns.saturating_add(length))
}
