//! Making a data set, part by part, over several connections.

use super::{DataSet, marker};
use driver::{Administration, ConnectError, Dialect};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a load works with.
#[derive(Clone, Copy)]
pub struct Loader<'a> {
    /// Gives a connection of its own to each thread that fills.
    pub connect: &'a (dyn Fn() -> Result<Box<dyn Administration>, ConnectError> + Sync),
    /// Which SQL it speaks.
    pub dialect: Dialect,
    /// Connections that fill side by side, at least 1.
    pub connections: usize,
    /// Gets the rows written so far, of all parts; from any of the threads.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What a load did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loading {
    /// Rows that an earlier load, which was cut short, had written.
    pub found: u64,
    /// Rows that were written now.
    pub written: u64,
}

impl Loader<'_> {
    /// Makes the data set, replacing what truetail itself made in its place at another scale; goes on with the same one
    /// that was cut short.
    ///
    /// # Errors
    /// A table of the same name that truetail did not make; or the database's words, of the part that failed first. What
    /// other parts have written by then stays, for the next load to go on with.
    pub fn load(&self, dataset: &dyn DataSet) -> Result<Loading, ConnectError> {
        let mut administration = (self.connect)()?;
        let administration = administration.as_mut();
        let has_parts = dataset.parts() > 1;
        let begun = has_parts.then(|| marker::parts_done(administration, dataset)).transpose()?.flatten();
        if begun.is_none() {
            self.begin(administration, dataset)?;
        }
        // The very first part may have been cut short: begun, with nothing done.
        let is_resumed = begun.is_some();
        let done = begun.unwrap_or_default();
        let found = done.values().sum();
        let written = self.fill(dataset, &done, is_resumed, found)?;
        super::complete(administration, dataset, self.dialect)?;
        Ok(Loading { found, written })
    }

    fn begin(
        &self,
        administration: &mut dyn Administration,
        dataset: &dyn DataSet,
    ) -> Result<(), ConnectError> {
        super::begin(administration, dataset, self.dialect)?;
        if dataset.parts() > 1 { marker::note_created(administration, dataset) } else { Ok(()) }
    }

    /// Fills what is not done. Gives the rows that it wrote.
    fn fill(
        &self,
        dataset: &dyn DataSet,
        done: &BTreeMap<u32, u64>,
        is_resumed: bool,
        found: u64,
    ) -> Result<u64, ConnectError> {
        let missing: Vec<u32> = (0..dataset.parts()).filter(|part| !done.contains_key(part)).collect();
        let crew = Crew {
            loader: self,
            dataset,
            is_resumed,
            missing: &missing,
            next: AtomicU32::new(0),
            rows: AtomicU64::new(found),
            is_over: AtomicBool::new(false),
            failure: Mutex::new(None),
        };
        let threads = self.threads(missing.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| crew.work());
            }
            crew.work();
        });
        match crew.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(crew.rows.load(Ordering::Relaxed) - found),
        }
    }

    fn threads(&self, parts: usize) -> usize {
        // Its writers exclude each other: more than one would only wait, and may give up.
        let most = if self.dialect == Dialect::Sqlite { 1 } else { self.connections.max(1) };
        parts.clamp(1, most)
    }
}

/// The threads that fill, and what they share.
struct Crew<'a> {
    loader: &'a Loader<'a>,
    dataset: &'a dyn DataSet,
    /// Parts that are not done may hold rows of a load that was cut short.
    is_resumed: bool,
    missing: &'a [u32],
    next: AtomicU32,
    rows: AtomicU64,
    is_over: AtomicBool,
    failure: Mutex<Option<ConnectError>>,
}

impl Crew<'_> {
    /// Takes parts until there is none left or one has failed.
    fn work(&self) {
        if let Err(error) = self.fill_parts() {
            self.is_over.store(true, Ordering::Relaxed);
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    fn fill_parts(&self) -> Result<(), ConnectError> {
        let mut administration = (self.loader.connect)()?;
        while !self.is_over.load(Ordering::Relaxed) {
            let at = self.next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(part) = self.missing.get(at) else { break };
            self.fill_part(*part, administration.as_mut())?;
        }
        Ok(())
    }

    fn fill_part(&self, part: u32, administration: &mut dyn Administration) -> Result<(), ConnectError> {
        let dialect = self.loader.dialect;
        if self.is_resumed {
            self.dataset.empty(part, administration, dialect)?;
        }
        let mut rows = 0;
        self.dataset.fill(part, administration, dialect, &mut |so_far| {
            let all = self.rows.fetch_add(so_far - rows, Ordering::Relaxed) + so_far - rows;
            rows = so_far;
            (self.loader.progress)(all);
        })?;
        if self.dataset.parts() == 1 {
            return Ok(());
        }
        marker::note_part(administration, self.dataset, part, rows)
    }
}
