//! The rings between the load's workers and the recorder.

use driver::Execution;
use load::{LoadSpec, Rings};
use record::Consumers;

/// (samples, exchanges inside of them) that the rings of a polled worker hold: four seconds of 65,000/s, and two exchanges
/// of each of them.
const POLLED: (usize, usize) = (1 << 18, 1 << 19);
/// The same of a blocking session, which has a worker of its own.
const BLOCKING: (usize, usize) = (1 << 15, 1 << 16);

/// One for each worker, and one for what was never sent, which has nothing inside.
pub(super) fn rings(spec: &LoadSpec, execution: Execution, timed: bool) -> (Vec<Rings>, Consumers) {
    let (samples, statements) = match execution {
        Execution::Polled => POLLED,
        Execution::Blocking => BLOCKING,
    };
    let count = load::rings_needed(spec, execution);
    let mut consumers = Consumers::from(Vec::with_capacity(count));
    let rings = (0..count).map(|index| {
        let (producer, consumer) = record::ring(samples);
        consumers.samples.push(consumer);
        let statements = (timed && index + 1 < count).then(|| {
            let (producer, consumer) = record::statement_ring(statements);
            consumers.statements.push(consumer);
            producer
        });
        Rings { samples: producer, statements }
    });
    (rings.collect(), consumers)
}
