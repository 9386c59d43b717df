//! How long a write takes from one node to another.

use crate::{Draw, NodeId};
use units::{Nanos, Seed};

/// The delays of each ordered pair of nodes.
///
/// A drawn delay is a pure function of the seed, the pair and the request's number: whoever asks, and whenever, is told
/// the same. So what decides when a node sees a version also decides when its acknowledgement can come back.
#[derive(Clone, Debug)]
pub struct Delays {
    nodes: u8,
    /// Row by row: from node 0 to each, then from node 1, …; no time from a node to itself.
    pairs: Vec<Pair>,
    constant: bool,
}

#[derive(Clone, Debug)]
struct Pair {
    law: Draw,
    seed: Seed,
}

impl Default for Delays {
    /// Those of one node, which has none.
    fn default() -> Delays {
        Delays::new(1, Seed(0), |_, _| Draw::ZERO)
    }
}

impl Delays {
    /// `law` gives the law from one node to another one.
    pub(super) fn new(nodes: u8, seed: Seed, law: impl Fn(NodeId, NodeId) -> Draw) -> Delays {
        let seed = seed.derive("replication");
        let all = || (0..nodes).map(NodeId);
        let pairs: Vec<Pair> = all()
            .flat_map(|from| all().map(move |to| (from, to)))
            .map(|(from, to)| Pair {
                law: if from == to { Draw::ZERO } else { law(from, to) },
                seed: seed.derive(&format!("{}>{}", from.0, to.0)),
            })
            .collect();
        let constant = pairs.iter().all(|pair| pair.law.as_constant().is_some());
        Delays { nodes, pairs, constant }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u8 {
        self.nodes
    }

    /// Whether no delay is drawn.
    pub fn are_constant(&self) -> bool {
        self.constant
    }

    fn pair(&self, from: NodeId, to: NodeId) -> Option<&Pair> {
        let inside = from.0 < self.nodes && to.0 < self.nodes;
        inside.then(|| &self.pairs[usize::from(from.0) * usize::from(self.nodes) + usize::from(to.0)])
    }

    /// How long what request `number` sends takes between two nodes; no time at a node itself, or where there is no
    /// such node. Cost ≈ 1 ns, or that of a draw.
    pub fn between(&self, from: NodeId, to: NodeId, number: u64) -> Nanos {
        match self.pair(from, to) {
            Some(Pair { law, seed }) => law.at(*seed, number),
            None => Nanos::ZERO,
        }
    }

    /// How long it takes until all nodes have it.
    pub fn to_all(&self, from: NodeId, number: u64) -> Nanos {
        (0..self.nodes).map(|to| self.between(from, NodeId(to), number)).max().unwrap_or_default()
    }

    /// How long it takes to a node and back.
    pub fn round_trip(&self, from: NodeId, to: NodeId, number: u64) -> Nanos {
        self.between(from, to, number) + self.between(to, from, number)
    }

    /// The mean between two nodes.
    pub fn mean(&self, from: NodeId, to: NodeId) -> Nanos {
        self.pair(from, to).map_or(Nanos::ZERO, |pair| pair.law.mean())
    }
}
