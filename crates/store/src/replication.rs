//! Nodes: who serves what, and how long a write waits for the others.
//!
//! After SickStore (Friedrich et al., BTW 2017; code 1.9.9), with these deviations:
//!
//! - It took the (k−1)-th smallest of the *distinct* round trips, so that two replicas with equal delays counted once and
//!   a quorum of equals waited for nobody further away. Here each replica counts.
//! - Its file for delays said `to, from` in a comment and read `from, to`. Here a pair is written `FROM>TO=DELAY`.
//! - Its times were whole milliseconds. Here they are nanoseconds.
//! - Its clients slept the wait. Here the answer is held back.
//!
//! The wait is added to when the answer would have been due without it, while the write itself is made when the request's
//! turn comes: so when the answer is written, at least as many nodes as were asked for do have the version.

mod delays;
mod settings;

pub use delays::Delays;
pub use settings::{
    Acknowledgement, DelayRule, NODES_MAX, ReadPreference, ReplicationSettings, Tag, TagCount,
};

use crate::{Access, Draw, NodeId};
use std::array;
use units::{Nanos, Seed};

/// The node that takes all writes.
const PRIMARY: NodeId = NodeId(0);

/// The nodes of a store.
#[derive(Clone, Debug)]
pub struct Replication {
    delays: Delays,
    acknowledgement: Acknowledgement,
    preference: ReadPreference,
    tags: Vec<Tag>,
    journal: Nanos,
    seed: Seed,
}

impl Default for Replication {
    /// One node, that waits for nothing.
    fn default() -> Replication {
        Replication::assemble(ReplicationSettings::default(), Seed(0))
    }
}

impl Replication {
    /// The nodes that `settings` describe; `seed` is that of the store.
    ///
    /// # Errors
    /// One line: which settings do not fit each other, and what would.
    pub fn new(settings: ReplicationSettings, seed: Seed) -> Result<Replication, String> {
        settings.check()?;
        Ok(Replication::assemble(settings, seed))
    }

    fn assemble(settings: ReplicationSettings, seed: Seed) -> Replication {
        let rule = |pair| settings.delays.iter().find(|rule| rule.pair == pair);
        let delays = Delays::new(settings.replicas, seed, |from, to| {
            let rule = rule(Some((from, to))).or_else(|| rule(None));
            rule.map_or_else(|| Draw::ZERO, |rule| rule.delay.clone())
        });
        Replication {
            delays,
            acknowledgement: settings.acknowledgement,
            preference: settings.preference,
            tags: settings.tags,
            journal: settings.journal,
            seed: seed.derive("read preference"),
        }
    }

    /// The delays, for [`crate::Data::with_delays`].
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Which node serves request `number`, which came to the port of `own`: reads go where the preference says, all others
    /// to the primary, so that whatever may write in a transaction or a bulk load does it there. Moving from node to
    /// node takes no time.
    pub fn route(&self, access: Access, own: NodeId, number: u64) -> NodeId {
        let own = if own.0 < self.delays.nodes() { own } else { PRIMARY };
        match access {
            Access::None | Access::Write => PRIMARY,
            Access::Read => match self.preference {
                ReadPreference::Primary => PRIMARY,
                ReadPreference::Own => own,
                ReadPreference::Secondary => self.any_secondary(number),
                ReadPreference::Nearest => self.nearest(own),
            },
        }
    }

    fn any_secondary(&self, number: u64) -> NodeId {
        match self.delays.nodes() - 1 {
            0 => PRIMARY,
            // Below the number of nodes, which is a `u8`.
            others => NodeId(1 + self.seed.at(number).below(u64::from(others)) as u8),
        }
    }

    fn nearest(&self, own: NodeId) -> NodeId {
        self.others(own).min_by_key(|&node| self.delays.mean(own, node)).unwrap_or(own)
    }

    fn others(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        (0..self.delays.nodes()).map(NodeId).filter(move |other| *other != node)
    }

    /// How much later the answer of write `number`, which began at `begun` at `receiver`, is due: when the nodes that
    /// must have it have acknowledged it and the journal is on disk; the two are waited for side by side.
    pub fn acknowledgement(&self, receiver: NodeId, number: u64, begun: Nanos) -> Nanos {
        let nodes = self.delays.nodes();
        let all = |_: NodeId| true;
        let replicated = match &self.acknowledgement {
            Acknowledgement::Nodes(count) => self.wait_for(receiver, number, *count, all),
            Acknowledgement::Quorum => self.wait_for(receiver, number, nodes / 2 + 1, all),
            Acknowledgement::All => self.wait_for(receiver, number, nodes, all),
            Acknowledgement::Tags(list) => {
                let wait = |tag: &TagCount| {
                    self.wait_for(receiver, number, tag.nodes, |node| self.bears(node, &tag.name))
                };
                list.iter().map(wait).max().unwrap_or_default()
            }
        };
        replicated.max(self.journal_wait(begun))
    }

    fn bears(&self, node: NodeId, name: &str) -> bool {
        self.tags.iter().any(|tag| tag.node == node && tag.name == name)
    }

    /// Until `count` of the nodes that count have a write and have said so: the k-th smallest round trip, where k is
    /// `count` without the receiver, if it counts.
    fn wait_for(&self, receiver: NodeId, number: u64, count: u8, counts: impl Fn(NodeId) -> bool) -> Nanos {
        let needed = usize::from(count.saturating_sub(u8::from(counts(receiver))));
        let mut trips: [Nanos; NODES_MAX as usize] = array::from_fn(|_| Nanos::ZERO);
        let others = self.others(receiver).filter(|node| counts(*node));
        let mut found = 0;
        for (trip, node) in trips.iter_mut().zip(others) {
            *trip = self.delays.round_trip(receiver, node, number);
            found += 1;
        }
        match needed.min(found) {
            0 => Nanos::ZERO,
            k => *trips[..found].select_nth_unstable(k - 1).1,
        }
    }

    /// Until the journal's next commit as SickStore 1.9.9 has it: J/3 − (uptime mod J/3) for a commit interval of J,
    /// since MongoDB, which it imitates, commits three times as often while somebody waits. In (0, J/3].
    fn journal_wait(&self, uptime: Nanos) -> Nanos {
        match self.journal.0 / 3 {
            0 => Nanos::ZERO,
            third => Nanos(third - uptime.0 % third),
        }
    }
}
