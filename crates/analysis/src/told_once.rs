//! A checkpoint that the server told when it was asked, and that its log tells, is one.

use crate::input::Input;
use record::{Event, ServerTold};

/// Leaves out what was asked for where the log tells of a checkpoint within that time: of the two the log knows its begin
/// and its end. Whichever client asked, and with whichever the log is: wall time leads from one to the other.
pub(crate) fn told_once(inputs: &mut [Input]) {
    let is_checkpoint = |event: &&Event| ServerTold::of(event) == Some(ServerTold::Checkpoint);
    let wall =
        |epoch: u64, event: &Event| (epoch.saturating_add(event.begin.0), epoch.saturating_add(event.end.0));
    let logged: Vec<(u64, u64)> = (inputs.iter())
        .flat_map(|input| {
            let all = input.events.iter().chain(&input.repeated).filter(is_checkpoint);
            all.filter(|event| ServerTold::is_from_log(event))
                .map(|event| wall(input.info.header.epoch_wall_ns, event))
        })
        .collect();
    if logged.is_empty() {
        return;
    }
    for input in inputs {
        let epoch = input.info.header.epoch_wall_ns;
        let is_told = |event: &Event| {
            let (begin, end) = wall(epoch, event);
            logged.iter().any(|log| log.0 <= end && begin <= log.1)
        };
        input
            .events
            .retain(|event| !is_checkpoint(&event) || ServerTold::is_from_log(event) || !is_told(event));
    }
}
