//! Flags of `truetail store`.

use anyhow::{Context, anyhow, bail};
use clap::Args;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use store::{Model, ReplicationSettings, Settings, Tag};
use units::{Nanos, Seed, parse_duration, parse_rate};

/// Where the protocols listen if nothing is said.
const RESP: &str = "127.0.0.1:7379";
const POSTGRES: &str = "127.0.0.1:7432";

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct StoreArguments {
    /// Where to speak RESP: a port, or HOST:PORT; port 0 takes a free one; `none` not at all [default: 127.0.0.1:7379]
    #[arg(long, value_name = "ADDRESS", help_heading = "Listening")]
    pub(crate) resp: Option<String>,

    /// Where to speak PostgreSQL's protocol, likewise [default: 127.0.0.1:7432]
    #[arg(long, value_name = "ADDRESS", help_heading = "Listening")]
    pub(crate) postgres: Option<String>,

    /// Listen for each node: node N at the port that is N above
    #[arg(long, help_heading = "Listening")]
    pub(crate) node_ports: bool,

    /// Ask clients for this password (AUTH; SCRAM-SHA-256) [default: everyone is believed]
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "TRUETAIL_STORE_PASSWORD",
        hide_env_values = true,
        help_heading = "Listening"
    )]
    pub(crate) password: Option<String>,

    /// Connections at a time [default: 20000]
    #[arg(long, value_name = "N", help_heading = "Listening")]
    pub(crate) max_connections: Option<usize>,

    /// Service time, of all operations or of one (`read=exp:1ms`): 1ms, exp:1ms, uniform:1ms..2ms,
    /// lognormal:MEAN,SIGMA, pareto:MIN,ALPHA, or a mix `99% 1ms + 1% 100ms`; may be repeated [default: none]
    #[arg(long, value_name = "TIME", help_heading = "Timing")]
    pub(crate) service: Vec<String>,

    /// Requests that are served at a time; others wait in order [default: all]
    #[arg(long, value_name = "N", help_heading = "Timing")]
    pub(crate) servers: Option<u32>,

    /// Requests that begin per second at most; others wait in order [default: all]
    #[arg(long, value_name = "RATE", help_heading = "Timing")]
    pub(crate) capacity: Option<String>,

    /// Stand still: `1s@30s` once, 30 s after the first request; `200ms@10s every 5s` again and again; lengths and
    /// gaps may be drawn (`exp:200ms@10s every exp:5s`); may be repeated
    #[arg(long, value_name = "HICCUP", help_heading = "Timing")]
    pub(crate) hiccup: Vec<String>,

    /// Keys that take longer, and how much: `user1*=50ms`; may be repeated
    #[arg(long, value_name = "KEY=TIME", help_heading = "Timing")]
    pub(crate) slow_key: Vec<String>,

    /// Added to each answer as a network would, hiccups or not
    #[arg(long, value_name = "TIME", help_heading = "Timing")]
    pub(crate) delay: Option<String>,

    /// A node joins and changes the capacity: `at=30s streaming=20s dip=60% then=2000/s`
    #[arg(long, value_name = "JOIN", help_heading = "Timing")]
    pub(crate) join: Option<String>,

    /// Nodes that the store pretends to be [default: 1]
    #[arg(long, value_name = "N", help_heading = "Nodes")]
    pub(crate) replicas: Option<u8>,

    /// How long replication takes, `20ms`, or from one node to another, `0>2=50ms`; may be repeated
    #[arg(long, value_name = "TIME", help_heading = "Nodes")]
    pub(crate) replication_delay: Vec<String>,

    /// What writes wait for: 1, N, quorum, all, tags:dc1=1,dc2=1 [default: 1]
    #[arg(long, value_name = "NODES", help_heading = "Nodes")]
    pub(crate) ack: Option<String>,

    /// Where reads go: primary, secondary, nearest, own [default: primary]
    #[arg(long, value_name = "NODE", help_heading = "Nodes")]
    pub(crate) read_preference: Option<String>,

    /// Tags of nodes, for --ack: `0=dc1,1=dc1,2=dc2`
    #[arg(long, value_name = "LIST", help_heading = "Nodes")]
    pub(crate) tags: Option<String>,

    /// Writes wait for the journal, which is committed this often
    #[arg(long, value_name = "TIME", help_heading = "Nodes")]
    pub(crate) journal: Option<String>,

    /// A fault, such as `delay:800ms@request=1000`, `error:serialization@every=100`, `drop:mid@p=0.001`; see
    /// docs/store.md; may be repeated, and given over the wire while the store runs
    #[arg(long, value_name = "FAULT", help_heading = "Faults")]
    pub(crate) fault: Vec<String>,

    /// Seed of all that is drawn [default: 1]
    #[arg(long, value_name = "N", help_heading = "Running")]
    pub(crate) seed: Option<u64>,

    /// Log the truth of each request to this directory; `truetail report RUN --truth DIR` lays it over a run
    #[arg(long, value_name = "DIR", help_heading = "Running")]
    pub(crate) truth: Option<PathBuf>,

    /// End after this time [default: when interrupted]
    #[arg(long, short = 'd', value_name = "TIME", help_heading = "Running")]
    pub(crate) duration: Option<String>,

    /// Pin the store's thread to this CPU
    #[arg(long, value_name = "CPU", help_heading = "Running")]
    pub(crate) cpu: Option<usize>,

    /// Take options from this TOML file, section [store]; flags win
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub(crate) config: Option<PathBuf>,
}

/// Where to listen for one protocol: an address, and whether it may be anything but that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListenAt {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Reads a value; the flag stands before the reason.
fn read<T: FromStr>(flag: &str, text: &str) -> anyhow::Result<T>
where
    T::Err: Display,
{
    text.parse().map_err(|error: T::Err| anyhow!("--{flag} {text}: {error}"))
}

fn read_all<T: FromStr>(flag: &str, texts: &[String]) -> anyhow::Result<Vec<T>>
where
    T::Err: Display,
{
    texts.iter().map(|text| read(flag, text)).collect()
}

fn read_duration(flag: &str, text: &str) -> anyhow::Result<Nanos> {
    parse_duration(text).map_err(|error| anyhow!("--{flag}: {error}"))
}

impl StoreArguments {
    /// Where to speak RESP; `None`: not at all.
    pub(crate) fn listen_resp(&self) -> anyhow::Result<Option<ListenAt>> {
        listen_at("resp", self.resp.as_deref().unwrap_or(RESP))
    }

    /// Where to speak PostgreSQL's protocol; `None`: not at all.
    pub(crate) fn listen_postgres(&self) -> anyhow::Result<Option<ListenAt>> {
        listen_at("postgres", self.postgres.as_deref().unwrap_or(POSTGRES))
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    pub(crate) fn duration(&self) -> anyhow::Result<Option<Nanos>> {
        self.duration.as_deref().map(|text| read_duration("duration", text)).transpose()
    }

    /// What the store is to be.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = Settings {
            model: self.model()?,
            replication: self.replication()?,
            faults: read_all("fault", &self.fault)?,
            seed: self.seed(),
        };
        settings.check().map_err(|reason| anyhow!(reason))?;
        Ok(settings)
    }

    fn model(&self) -> anyhow::Result<Model> {
        let capacity = self.capacity.as_deref().map(parse_rate).transpose();
        let mut model = Model {
            service: read_all("service", &self.service)?,
            servers: self.servers,
            capacity: capacity.map_err(|error| anyhow!("--capacity: {error}"))?,
            hiccups: read_all("hiccup", &self.hiccup)?,
            slow_keys: read_all("slow-key", &self.slow_key)?,
            ..Model::default()
        };
        if let Some(delay) = &self.delay {
            model.delay = read("delay", delay)?;
        }
        model.join = self.join.as_deref().map(|text| read("join", text)).transpose()?;
        Ok(model)
    }

    /// Refuses what has no meaning with one node: it would look as if it were in force.
    fn check_nodes(&self) -> anyhow::Result<()> {
        if self.replicas.unwrap_or(1) > 1 {
            return Ok(());
        }
        let given = [
            ("replication-delay", !self.replication_delay.is_empty()),
            ("read-preference", self.read_preference.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => bail!("--{flag} needs more than one node: say how many with --replicas"),
            None => Ok(()),
        }
    }

    fn replication(&self) -> anyhow::Result<ReplicationSettings> {
        self.check_nodes()?;
        let mut replication = ReplicationSettings {
            delays: read_all("replication-delay", &self.replication_delay)?,
            ..ReplicationSettings::default()
        };
        if let Some(replicas) = self.replicas {
            replication.replicas = replicas;
        }
        if let Some(ack) = &self.ack {
            replication.acknowledgement = read("ack", ack)?;
        }
        if let Some(preference) = &self.read_preference {
            replication.preference = read("read-preference", preference)?;
        }
        if let Some(tags) = &self.tags {
            replication.tags = Tag::parse_list(tags).map_err(|error| anyhow!("--tags {tags}: {error}"))?;
        }
        if let Some(journal) = &self.journal {
            replication.journal = read_duration("journal", journal)?;
        }
        Ok(replication)
    }
}

/// `7379`, `HOST:7379`, `[::1]:7379`, `none`.
fn listen_at(flag: &str, text: &str) -> anyhow::Result<Option<ListenAt>> {
    if text == "none" {
        return Ok(None);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host.trim_start_matches('[').trim_end_matches(']'), port),
        None => ("127.0.0.1", text),
    };
    let port = port.parse().ok().with_context(|| {
        format!("--{flag} {text}: `{port}` is no port: expected a number in 0..65535, HOST:PORT, or `none`")
    })?;
    if host.is_empty() {
        bail!("--{flag} {text}: no host before the colon; expected HOST:PORT such as 0.0.0.0:{port}");
    }
    Ok(Some(ListenAt { host: host.to_owned(), port }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ports_or_hosts_with_ports() {
        let at = |host: &str, port| Some(ListenAt { host: host.to_owned(), port });
        assert_eq!(listen_at("resp", "7000").unwrap(), at("127.0.0.1", 7000));
        assert_eq!(listen_at("resp", "0.0.0.0:0").unwrap(), at("0.0.0.0", 0));
        assert_eq!(listen_at("resp", "[::1]:7000").unwrap(), at("::1", 7000));
        assert_eq!(listen_at("resp", "none").unwrap(), None);
        assert!(listen_at("resp", "seven").unwrap_err().to_string().contains("`seven` is no port"));
        assert!(listen_at("resp", ":7").is_err() && listen_at("resp", "70000").is_err());
    }

    #[test]
    fn flags_name_themselves_in_errors() {
        let error = |arguments: StoreArguments| arguments.settings().unwrap_err().to_string();
        let none = StoreArguments::default;
        assert!(error(StoreArguments { capacity: Some("-1".into()), ..none() }).starts_with("--capacity"));
        assert!(error(StoreArguments { hiccup: vec!["x".into()], ..none() }).starts_with("--hiccup x"));
        assert!(error(StoreArguments { fault: vec!["x".into()], ..none() }).starts_with("--fault x"));
        assert!(error(StoreArguments { journal: Some("x".into()), ..none() }).starts_with("--journal"));
        assert!(none().settings().is_ok());
    }
}
