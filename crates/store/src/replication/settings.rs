//! What is said of the nodes, in text.

use crate::{Draw, NodeId, TextError};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use units::Nanos;

/// The most nodes that a store can pretend to be.
pub const NODES_MAX: u8 = 64;

/// How long replication takes: `20ms` between all pairs of nodes, `0>2=50ms` from node 0 to node 2 only.
#[derive(Clone, PartialEq, Debug)]
pub struct DelayRule {
    /// From and to; all pairs that no other rule names if there is none.
    pub pair: Option<(NodeId, NodeId)>,
    /// One way.
    pub delay: Draw,
}

impl FromStr for DelayRule {
    type Err = TextError;

    fn from_str(text: &str) -> Result<DelayRule, TextError> {
        delay_rule(text).map_err(|why| TextError::new("replication delay", text, &why))
    }
}

fn delay_rule(text: &str) -> Result<DelayRule, String> {
    let delay = |text: &str| text.trim().parse::<Draw>().map_err(|error| error.to_string());
    let Some((from, rest)) = text.split_once('>') else {
        return Ok(DelayRule { pair: None, delay: delay(text)? });
    };
    let (to, rest) = rest.split_once('=').ok_or("expected FROM>TO=DELAY")?;
    let (from, to) = (node(from)?, node(to)?);
    if from == to {
        return Err(format!("node {} is at no distance from itself", from.0));
    }
    Ok(DelayRule { pair: Some((from, to)), delay: delay(rest)? })
}

impl fmt::Display for DelayRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((from, to)) = self.pair {
            write!(f, "{}>{}=", from.0, to.0)?;
        }
        write!(f, "{}", self.delay)
    }
}

fn node(text: &str) -> Result<NodeId, String> {
    match text.trim().parse() {
        Ok(number) if number < NODES_MAX => Ok(NodeId(number)),
        _ => Err(format!("`{text}` is no node: expected a number from 0 to {}", NODES_MAX - 1)),
    }
}

/// A name that a node bears, such as its data centre's; a node may bear several.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tag {
    /// Who bears it.
    pub node: NodeId,
    /// Neither empty nor with `=`, `,` or blanks.
    pub name: String,
}

impl Tag {
    /// Reads `0=dc1,1=dc1,2=dc2`.
    ///
    /// # Errors
    /// Names the part at fault and what is expected.
    pub fn parse_list(text: &str) -> Result<Vec<Tag>, TextError> {
        text.split(',').map(str::parse).collect()
    }
}

impl FromStr for Tag {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Tag, TextError> {
        tag(text).map_err(|why| TextError::new("tag", text, &why))
    }
}

fn tag(text: &str) -> Result<Tag, String> {
    let (number, name) = text.split_once('=').ok_or("expected NODE=NAME")?;
    Ok(Tag { node: node(number)?, name: tag_name(name)? })
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.node.0, self.name)
    }
}

fn tag_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.contains(|c: char| "=,".contains(c) || c.is_whitespace() || c.is_control()) {
        return Err(format!("`{text}` is no name: expected a word without `=` and `,`"));
    }
    Ok(name.to_owned())
}

/// How many nodes that bear a tag must have a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagCount {
    /// The tag.
    pub name: String,
    /// At least 1; the receiver counts if it bears the tag.
    pub nodes: u8,
}

/// Which nodes must have a write before it is acknowledged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acknowledgement {
    /// So many, the receiver among them; 1 waits for nobody.
    Nodes(u8),
    /// More than half of them: ⌊N/2⌋ + 1.
    Quorum,
    /// All.
    All,
    /// So many of each tag; they are waited for side by side.
    Tags(Vec<TagCount>),
}

impl FromStr for Acknowledgement {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Acknowledgement, TextError> {
        acknowledgement(text.trim()).map_err(|why| TextError::new("way to acknowledge", text, &why))
    }
}

fn acknowledgement(text: &str) -> Result<Acknowledgement, String> {
    match text {
        "quorum" => return Ok(Acknowledgement::Quorum),
        "all" => return Ok(Acknowledgement::All),
        _ => {}
    }
    match text.strip_prefix("tags:") {
        Some(list) => list.split(',').map(tag_count).collect::<Result<_, _>>().map(Acknowledgement::Tags),
        None => count(text).map(Acknowledgement::Nodes).map_err(|_| {
            format!("expected a number of nodes from 1 to {NODES_MAX}, quorum, all or tags:NAME=NUMBER,…")
        }),
    }
}

fn tag_count(text: &str) -> Result<TagCount, String> {
    let (name, nodes) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=NUMBER"))?;
    Ok(TagCount { name: tag_name(name)?, nodes: count(nodes)? })
}

fn count(text: &str) -> Result<u8, String> {
    match text.trim().parse() {
        Ok(nodes) if (1..=NODES_MAX).contains(&nodes) => Ok(nodes),
        _ => Err(format!("`{text}` is not a number of nodes from 1 to {NODES_MAX}")),
    }
}

impl fmt::Display for Acknowledgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Acknowledgement::Nodes(nodes) => write!(f, "{nodes}"),
            Acknowledgement::Quorum => f.write_str("quorum"),
            Acknowledgement::All => f.write_str("all"),
            Acknowledgement::Tags(list) => {
                for (index, TagCount { name, nodes }) in list.iter().enumerate() {
                    write!(f, "{}{name}={nodes}", if index == 0 { "tags:" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

/// Which node serves a read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReadPreference {
    /// The one that takes the writes: its reads are never stale.
    Primary,
    /// One of the others, at random for each request; the primary where it is alone.
    Secondary,
    /// That other node to which the delay from the node whose port the request came to is smallest on average; of
    /// equals the one with the lowest number. A node is at no distance from itself, so that it can't be meant.
    Nearest,
    /// The one whose port the request came to.
    Own,
}

impl ReadPreference {
    /// All of them.
    pub const ALL: [ReadPreference; 4] =
        [ReadPreference::Primary, ReadPreference::Secondary, ReadPreference::Nearest, ReadPreference::Own];

    /// The name in flags.
    pub fn name(self) -> &'static str {
        match self {
            ReadPreference::Primary => "primary",
            ReadPreference::Secondary => "secondary",
            ReadPreference::Nearest => "nearest",
            ReadPreference::Own => "own",
        }
    }
}

impl FromStr for ReadPreference {
    type Err = TextError;

    fn from_str(text: &str) -> Result<ReadPreference, TextError> {
        let found = ReadPreference::ALL.into_iter().find(|preference| preference.name() == text.trim());
        let expected = "expected primary, secondary, nearest or own";
        found.ok_or_else(|| TextError::new("read preference", text, expected))
    }
}

impl fmt::Display for ReadPreference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// All that is said of the nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicationSettings {
    /// How many nodes, the primary among them; in [1, [`NODES_MAX`]].
    pub replicas: u8,
    /// At most one without a pair, at most one for each pair; none means no time.
    pub delays: Vec<DelayRule>,
    /// What writes wait for.
    pub acknowledgement: Acknowledgement,
    /// Where reads go.
    pub preference: ReadPreference,
    /// Who bears which.
    pub tags: Vec<Tag>,
    /// How often the journal is committed; zero means that nobody waits for it.
    pub journal: Nanos,
}

impl Default for ReplicationSettings {
    /// One node, that waits for nothing.
    fn default() -> ReplicationSettings {
        ReplicationSettings {
            replicas: 1,
            delays: Vec::new(),
            acknowledgement: Acknowledgement::Nodes(1),
            preference: ReadPreference::Primary,
            tags: Vec::new(),
            journal: Nanos::ZERO,
        }
    }
}

impl ReplicationSettings {
    /// Name and text of each setting that is not the default, for headers and pages.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let standard = ReplicationSettings::default();
        let mut settings: Vec<(&'static str, String)> = Vec::new();
        if self.replicas != standard.replicas {
            settings.push(("replicas", self.replicas.to_string()));
        }
        settings.extend(self.delays.iter().map(|delay| ("replication delay", delay.to_string())));
        if self.acknowledgement != standard.acknowledgement {
            settings.push(("acknowledgement", self.acknowledgement.to_string()));
        }
        if self.preference != standard.preference {
            settings.push(("read preference", self.preference.to_string()));
        }
        settings.extend(self.tags.iter().map(|tag| ("tag", tag.to_string())));
        if self.journal != standard.journal {
            settings.push(("journal", format!("each {}", units::format_nanos(self.journal))));
        }
        settings
    }

    /// Whether they fit each other.
    ///
    /// # Errors
    /// One line: what does not fit, and what would.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=NODES_MAX).contains(&self.replicas) {
            return Err(format!("replicas {}: expected 1 to {NODES_MAX}", self.replicas));
        }
        self.check_delays()?;
        for tag in &self.tags {
            self.check_node(tag.node, &format!("tag `{tag}`"))?;
        }
        match &self.acknowledgement {
            Acknowledgement::Nodes(nodes) => self.check_count(*nodes, self.replicas, "nodes"),
            Acknowledgement::Quorum | Acknowledgement::All => Ok(()),
            Acknowledgement::Tags(list) => list.iter().try_for_each(|TagCount { name, nodes }| {
                let bearers = self.bearers(name);
                self.check_count(*nodes, bearers, &format!("nodes with the tag `{name}`"))
            }),
        }
    }

    fn check_delays(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for rule in &self.delays {
            let about = format!("replication delay `{rule}`");
            for node in rule.pair.into_iter().flat_map(|(from, to)| [from, to]) {
                self.check_node(node, &about)?;
            }
            if !seen.insert(rule.pair) {
                return Err(format!("{about}: there is another delay for the same nodes; keep one"));
            }
        }
        Ok(())
    }

    fn check_node(&self, node: NodeId, about: &str) -> Result<(), String> {
        if node.0 < self.replicas {
            return Ok(());
        }
        let last = self.replicas - 1;
        Err(format!("{about}: there is no node {}; the last one is {last}: see --replicas", node.0))
    }

    fn check_count(&self, asked: u8, there: u8, whose: &str) -> Result<(), String> {
        if asked <= there {
            return Ok(());
        }
        let acknowledgement = &self.acknowledgement;
        Err(format!(
            "acknowledgement `{acknowledgement}`: asks for {asked} of {there} {whose}; ask for fewer"
        ))
    }

    /// How many nodes bear a tag.
    fn bearers(&self, name: &str) -> u8 {
        let nodes: BTreeSet<NodeId> =
            self.tags.iter().filter(|tag| tag.name == name).map(|tag| tag.node).collect();
        // Nodes are fewer than NODES_MAX.
        u8::try_from(nodes.len()).unwrap_or(u8::MAX)
    }
}
