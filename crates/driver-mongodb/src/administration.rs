//! Set-up and facts.

use crate::bson::{Item, array, boolean, embedded, int, text};
use crate::client::{self, Client};
use crate::config::{Config, Durability, Host, Nodes};
use driver::{Administration, BulkRows, ConnectError, Records, TargetFacts};

/// A connection for set-up.
pub(crate) struct MongoAdministration {
    pub(crate) client: Client,
    pub(crate) config: Config,
}

impl MongoAdministration {
    pub(crate) fn connect(config: &Config) -> Result<MongoAdministration, ConnectError> {
        Ok(MongoAdministration { client: client::connect(config)?, config: config.clone() })
    }

    fn without_sql(&self) -> ConnectError {
        self.client.unfit("a document store has no SQL")
    }

    /// What a command says of the server; nothing where it is refused, for want of a right for instance.
    fn told(&mut self, command: &str, wanted: &[&str]) -> Result<Vec<(String, String)>, ConnectError> {
        let Ok(answer) = self.client.try_ask("admin", &|out| int(out, command, 1))? else {
            return Ok(Vec::new());
        };
        let value = |path: &&str| {
            let mut item = None;
            let mut inside = Some(answer.document());
            for name in path.split('.') {
                item = inside.and_then(|document| document.find(name).ok().flatten());
                inside = item.and_then(Item::inside);
            }
            item.and_then(shown).map(|value| ((*path).to_owned(), value))
        };
        Ok(wanted.iter().filter_map(value).collect())
    }

    fn is_local(&self) -> bool {
        match (&self.config.host, self.client.socket.peer()) {
            (Host::Unix(_), _) => true,
            (Host::Tcp(_), peer) => peer.is_some_and(|address| address.is_loopback()),
        }
    }
}

fn shown(item: Item<'_>) -> Option<String> {
    match item {
        Item::Text(_) => item.shown(),
        Item::Boolean(truth) => Some(truth.to_string()),
        Item::Int(_) | Item::Long(_) | Item::Double(_) => item.whole().map(|number| number.to_string()),
        _ => None,
    }
}

/// What a write waits for, as facts of a run.
fn waits_for(durability: &Durability) -> [(String, String); 2] {
    let nodes = match &durability.nodes {
        Some(Nodes::Number(number)) => number.to_string(),
        Some(Nodes::Named(name)) => name.clone(),
        None => "the server's default".to_owned(),
    };
    let journal = durability.journal.map_or("the server's default".to_owned(), |journal| journal.to_string());
    [("writeConcern.w".to_owned(), nodes), ("writeConcern.j".to_owned(), journal)]
}

impl Administration for MongoAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let build = self.told("buildInfo", &["version", "ferretdbVersion", "ferretdb.version"])?;
        let find = |list: &[(String, String)], name: &str| {
            list.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let ferret = find(&build, "ferretdbVersion").or_else(|| find(&build, "ferretdb.version"));
        let plain = find(&build, "version").unwrap_or_else(|| "unknown".to_owned());
        let (product, version) = match ferret {
            Some(version) => ("FerretDB".to_owned(), version.trim_start_matches('v').to_owned()),
            None => ("MongoDB".to_owned(), plain),
        };
        let status = self.told("serverStatus", &["pid", "storageEngine.name", "repl.setName"])?;
        let pid = find(&status, "pid").and_then(|pid| pid.parse().ok()).filter(|pid| *pid > 1);
        let mut settings = self.told("hello", &["setName", "msg", "maxWireVersion"])?;
        settings.extend(status.into_iter().filter(|(name, _)| name != "pid"));
        settings.extend(waits_for(&self.config.durability));
        let transport = if matches!(self.config.host, Host::Unix(_)) { "unix" } else { "tcp" };
        Ok(TargetFacts {
            product,
            version,
            address: self.config.address.clone(),
            transport: transport.to_owned(),
            settings,
            native: true,
            kernel_stamps: self.client.socket.has_stamps(),
            server_pids: pid.filter(|_| self.is_local()).into_iter().collect(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Err(self.without_sql())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Err(self.without_sql())
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        let answer = self.client.ask(&self.config.database, &|out| {
            int(out, "listCollections", 1);
            embedded(out, "filter", |out| text(out, "name", table));
            boolean(out, "nameOnly", true);
            embedded(out, "cursor", |_| ());
        })?;
        let cursor = answer.find("cursor").and_then(Item::inside);
        let batch = cursor.and_then(|cursor| cursor.find("firstBatch").ok().flatten()).and_then(Item::inside);
        Ok(batch.is_some_and(|mut batch| matches!(batch.next(), Ok(Some(_)))))
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.insert_all(table, columns, rows)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(self)
    }
}

/// Appends `_id: {$in: keys}`.
pub(crate) fn any_of(out: &mut Vec<u8>, keys: &[&str]) {
    embedded(out, "_id", |out| {
        array(out, "$in", |out| {
            keys.iter().enumerate().for_each(|(at, key)| text(out, &at.to_string(), key))
        });
    });
}
