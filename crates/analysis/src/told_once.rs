//! A checkpoint that the server told when it was asked, and that its log tells, is one; so is one that two of its logs tell of.

use crate::input::Input;
use record::{Event, ServerTold};

/// Leaves out what was asked for where the log tells of a checkpoint within that time: of the two the log knows its begin
/// and its end. Whichever client asked, and with whichever the log is: wall time leads from one to the other.
///
/// A checkpoint that had not ended when its log was read replaces nothing, since what was asked for has ended. It is left out
/// itself if it has ended in another log: one that the server began meanwhile, and that has no begin of it.
pub(crate) fn told_once(inputs: &mut [Input]) {
    let is_ended = |event: &Event| ServerTold::is_from_log(event) && !ServerTold::is_unfinished(event);
    let ended = walls(inputs, is_ended);
    let begun_before = walls(inputs, ServerTold::is_begun_before);
    for input in inputs {
        let epoch = input.info.header.epoch_wall_ns;
        let is_left_out = |event: &Event| {
            let (begin, end) = wall(epoch, event);
            if !ServerTold::is_from_log(event) {
                return ended.iter().any(|log| log.0 <= end && begin <= log.1);
            }
            let is_same = |log: &(u64, u64)| log.0 <= begin.saturating_add(ROUNDED_NS) && begin <= log.1;
            ServerTold::is_unfinished(event) && begun_before.iter().any(is_same)
        };
        for events in [&mut input.events, &mut input.repeated] {
            events.retain(|event| !is_checkpoint(event) || !is_left_out(event));
        }
    }
}

/// Some logs have times in whole seconds.
const ROUNDED_NS: u64 = 1_000_000_000;

fn is_checkpoint(event: &Event) -> bool {
    ServerTold::of(event) == Some(ServerTold::Checkpoint)
}

fn wall(epoch: u64, event: &Event) -> (u64, u64) {
    (epoch.saturating_add(event.begin.0), epoch.saturating_add(event.end.0))
}

/// Begins and ends of all checkpoints of a kind.
fn walls(inputs: &[Input], is_it: impl Fn(&Event) -> bool) -> Vec<(u64, u64)> {
    let of = |input: &Input| -> Vec<(u64, u64)> {
        let all =
            input.events.iter().chain(&input.repeated).filter(|event| is_checkpoint(event) && is_it(event));
        all.map(|event| wall(input.info.header.epoch_wall_ns, event)).collect()
    };
    inputs.iter().flat_map(of).collect()
}
