//! Reading all samples, in parallel.

use crate::parts::Part;
use crate::sealed;
use crate::table::SampleReader;
use crate::{Columns, RecordError, Recording, SampleBatch};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of a batch at most: its columns then fit into a core's own cache, more or less.
const BATCH_ROWS: usize = 64 << 10;

impl Recording {
    /// Folds all samples into one accumulator for each thread: `init` makes one, `fold` adds a batch of up
    /// to 65,536 samples of one client to it. Merge the accumulators afterwards.
    ///
    /// Batches come in no particular order and to no particular thread, so the fold must be associative;
    /// inside of a batch the order is the file's. Parts that turn out to be damaged are left out from the
    /// damaged batch on and named by [`Recording::unreadable`].
    ///
    /// # Errors
    /// None today; the signature leaves room for recordings that can't be scanned at all.
    pub fn scan<A: Send>(
        &self,
        threads: usize,
        init: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, &SampleBatch) + Sync,
    ) -> Result<Vec<A>, RecordError> {
        self.scan_columns(Columns::ALL, threads, init, fold)
    }

    /// As [`Recording::scan`], decoding only some columns; the others are empty.
    ///
    /// # Errors
    /// As [`Recording::scan`].
    pub fn scan_columns<A: Send>(
        &self,
        columns: Columns,
        threads: usize,
        init: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, &SampleBatch) + Sync,
    ) -> Result<Vec<A>, RecordError> {
        let columns = columns | Columns::COMPLETED;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut accumulator = init();
            let mut batch = SampleBatch::default();
            // Relaxed: the counter hands out indices and orders nothing else.
            while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(why) = scan_part(part, columns, &mut batch, |batch| fold(&mut accumulator, batch))
                {
                    self.note_unreadable_path(&part.path, why);
                }
            }
            accumulator
        };
        Ok(std::thread::scope(|scope| {
            let helpers: Vec<_> =
                (1..threads.clamp(1, self.parts.len().max(1))).map(|_| scope.spawn(work)).collect();
            let mut all = vec![work()];
            for helper in helpers {
                match helper.join() {
                    Ok(accumulator) => all.push(accumulator),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        }))
    }
}

fn scan_part(
    part: &Part,
    columns: Columns,
    batch: &mut SampleBatch,
    mut fold: impl FnMut(&SampleBatch),
) -> Result<(), String> {
    let file = sealed::open(&part.path)?;
    if file.facts != part.facts || file.rows != part.rows {
        return Err("it changed while it was read".to_owned());
    }
    let mut reader = SampleReader::new(&file, columns)?;
    loop {
        batch.clear();
        if reader.append(columns, BATCH_ROWS, batch)? == 0 {
            return Ok(());
        }
        fold(batch);
    }
}
