//! All commands: how many words they take, what they are to the engine, and what runs them.

use super::call::{Call, Outcome};
use super::{handshake, hashes, keys, lists, members, ranges, scores, server, strings, transaction};
use crate::Operation;

/// Executes a command whose number of words is right; the name is the first word.
pub(super) type Run = fn(&mut Call<'_>, &[&[u8]]) -> Outcome;

/// One command.
pub(super) struct Command {
    /// In lower case.
    pub(super) name: &'static str,
    /// Words with the name: exactly so many, or at least so many if negative. Redis's convention.
    arity: i64,
    timing: Timing,
    /// The word that is the first key; 0 where there is none.
    key: usize,
    in_transaction: InTransaction,
    pub(super) run: Run,
}

/// Whether the engine admits it, and as what.
#[derive(Clone, Copy)]
enum Timing {
    /// Answered at once and not logged.
    Untimed,
    /// The same, and also for clients that have not proven who they are.
    Greeting,
    Timed(Operation),
    /// With one key a read; with more a scan.
    ReadOrScan,
    /// An update, and with `NX` an insert.
    UpdateOrInsert,
}

/// What `MULTI` does to a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InTransaction {
    Queued,
    Runs,
    /// `EXEC` itself.
    Executes,
    Refused,
}

impl Command {
    /// Whether so many words, with the name, are right.
    pub(super) fn takes(&self, words: usize) -> bool {
        let words = i64::try_from(words).unwrap_or(i64::MAX);
        if self.arity < 0 { words >= -self.arity } else { words == self.arity }
    }

    /// What it is to the engine; `None`: it is answered at once.
    pub(super) fn operation(&self, words: &[&[u8]]) -> Option<Operation> {
        match self.timing {
            Timing::Untimed | Timing::Greeting => None,
            Timing::Timed(operation) => Some(operation),
            Timing::ReadOrScan if words.len() > 2 => Some(Operation::Scan),
            Timing::ReadOrScan => Some(Operation::Read),
            Timing::UpdateOrInsert => {
                let inserts = words.iter().skip(3).any(|word| word.eq_ignore_ascii_case(b"nx"));
                Some(if inserts { Operation::Insert } else { Operation::Update })
            }
        }
    }

    /// The first key; empty where there is none.
    pub(super) fn key<'a>(&self, words: &[&'a [u8]]) -> &'a [u8] {
        match self.key {
            0 => b"",
            place => words.get(place).copied().unwrap_or_default(),
        }
    }

    pub(super) fn is_for_strangers(&self) -> bool {
        matches!(self.timing, Timing::Greeting)
    }

    pub(super) fn in_transaction(&self) -> InTransaction {
        self.in_transaction
    }

    const fn new(name: &'static str, arity: i64, timing: Timing, key: usize, run: Run) -> Command {
        Command { name, arity, timing, key, in_transaction: InTransaction::Queued, run }
    }

    const fn inside(mut self, in_transaction: InTransaction) -> Command {
        self.in_transaction = in_transaction;
        self
    }
}

/// The command of this name, in whatever case.
pub(super) fn find(name: &[u8]) -> Option<&'static Command> {
    let mut lower = [0; NAME_MAX];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let place = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(lower)).ok()?;
    COMMANDS.get(place)
}

const NAME_MAX: usize = 16;

const fn about(name: &'static str, arity: i64, run: Run) -> Command {
    Command::new(name, arity, Timing::Untimed, 0, run)
}

const fn greeting(name: &'static str, arity: i64, run: Run) -> Command {
    Command::new(name, arity, Timing::Greeting, 0, run)
}

/// Without a key.
const fn plain(name: &'static str, arity: i64, operation: Operation, run: Run) -> Command {
    Command::new(name, arity, Timing::Timed(operation), 0, run)
}

/// With a key as its first word.
const fn keyed(name: &'static str, arity: i64, operation: Operation, run: Run) -> Command {
    Command::new(name, arity, Timing::Timed(operation), 1, run)
}

use InTransaction::{Executes, Refused, Runs};
use Operation::{Delete, Insert, Other, Ping, Read, Scan, Transaction, Update};

/// In the order of their names.
pub(super) static COMMANDS: [Command; 87] = [
    keyed("append", 3, Update, strings::append),
    greeting("auth", -2, handshake::auth),
    about("client", -2, server::client),
    about("command", -1, server::command),
    about("config", -2, server::config),
    plain("dbsize", 1, Scan, keys::dbsize),
    keyed("decr", 2, Update, strings::decr),
    keyed("decrby", 3, Update, strings::decrby),
    keyed("del", -2, Delete, keys::del),
    plain("discard", 1, Transaction, transaction::discard).inside(Runs),
    plain("echo", 2, Ping, server::echo),
    plain("exec", 1, Transaction, transaction::exec).inside(Executes),
    Command::new("exists", -2, Timing::ReadOrScan, 1, keys::exists),
    keyed("expire", -3, Update, keys::expire),
    keyed("expireat", -3, Update, keys::expire),
    plain("flushall", -1, Other, keys::flush),
    plain("flushdb", -1, Other, keys::flush),
    keyed("get", 2, Read, strings::get),
    keyed("getdel", 2, Delete, strings::getdel),
    keyed("getset", 3, Update, strings::getset),
    keyed("hdel", -3, Update, hashes::hdel),
    greeting("hello", -1, handshake::hello),
    keyed("hexists", 3, Read, hashes::hexists),
    keyed("hget", 3, Read, hashes::hget),
    keyed("hgetall", 2, Read, hashes::hgetall),
    keyed("hincrby", 4, Update, hashes::hincrby),
    keyed("hkeys", 2, Read, hashes::hkeys),
    keyed("hlen", 2, Read, hashes::hlen),
    keyed("hmget", -3, Read, hashes::hmget),
    keyed("hmset", -4, Update, hashes::hmset),
    keyed("hset", -4, Update, hashes::hset),
    keyed("hsetnx", 4, Insert, hashes::hsetnx),
    keyed("hvals", 2, Read, hashes::hvals),
    keyed("incr", 2, Update, strings::incr),
    keyed("incrby", 3, Update, strings::incrby),
    about("info", -1, server::info),
    plain("keys", 2, Scan, keys::keys),
    keyed("lindex", 3, Read, lists::lindex),
    keyed("llen", 2, Read, lists::llen),
    keyed("lpop", -2, Update, lists::lpop),
    keyed("lpush", -3, Update, lists::lpush),
    keyed("lrange", 4, Read, lists::lrange),
    Command::new("mget", -2, Timing::ReadOrScan, 1, strings::mget),
    keyed("mset", -3, Update, strings::mset),
    keyed("msetnx", -3, Insert, strings::msetnx),
    plain("multi", 1, Transaction, transaction::multi).inside(Runs),
    keyed("persist", 2, Read, keys::persist),
    keyed("pexpire", -3, Update, keys::expire),
    keyed("pexpireat", -3, Update, keys::expire),
    plain("ping", -1, Ping, server::ping),
    keyed("psetex", 4, Update, strings::setex),
    keyed("pttl", 2, Read, keys::ttl),
    greeting("quit", -1, handshake::quit).inside(Runs),
    greeting("reset", 1, handshake::reset).inside(Runs),
    keyed("rpop", -2, Update, lists::rpop),
    keyed("rpush", -3, Update, lists::rpush),
    keyed("sadd", -3, Update, members::sadd),
    plain("scan", -2, Scan, keys::scan),
    keyed("scard", 2, Read, members::scard),
    about("select", 2, handshake::select),
    Command::new("set", -3, Timing::UpdateOrInsert, 1, strings::set),
    keyed("setex", 4, Update, strings::setex),
    keyed("setnx", 3, Insert, strings::setnx),
    keyed("sismember", 3, Read, members::sismember),
    keyed("smembers", 2, Read, members::smembers),
    keyed("spop", -2, Update, members::spop),
    keyed("srem", -3, Update, members::srem),
    keyed("strlen", 2, Read, strings::strlen),
    plain("time", 1, Other, server::time),
    about("truetail", -2, server::truetail).inside(Refused),
    keyed("ttl", 2, Read, keys::ttl),
    keyed("type", 2, Read, keys::kind),
    keyed("unlink", -2, Delete, keys::del),
    plain("unwatch", 1, Transaction, transaction::unwatch),
    plain("watch", -2, Transaction, transaction::watch).inside(Runs),
    keyed("zadd", -4, Update, scores::zadd),
    keyed("zcard", 2, Read, scores::zcard),
    keyed("zcount", 4, Read, ranges::zcount),
    keyed("zincrby", 4, Update, scores::zincrby),
    keyed("zpopmax", -2, Update, scores::zpopmax),
    keyed("zpopmin", -2, Update, scores::zpopmin),
    keyed("zrange", -4, Scan, ranges::zrange),
    keyed("zrangebyscore", -4, Scan, ranges::zrangebyscore),
    keyed("zrem", -3, Update, scores::zrem),
    keyed("zrevrange", -4, Scan, ranges::zrevrange),
    keyed("zrevrangebyscore", -4, Scan, ranges::zrevrangebyscore),
    keyed("zscore", 3, Read, scores::zscore),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found_in_any_case() {
        assert!(COMMANDS.is_sorted_by(|a, b| a.name < b.name));
        for command in &COMMANDS {
            assert!(command.name.len() <= NAME_MAX && find(command.name.as_bytes()).is_some());
        }
        assert_eq!(find(b"HgEtAlL").map(|command| command.name), Some("hgetall"));
        assert!(find(b"").is_none() && find(b"gett").is_none() && find(&[b'a'; 1_000]).is_none());
    }

    #[test]
    fn commands_are_what_rules_can_tell_apart() {
        let operation = |words: &[&[u8]]| find(words[0]).and_then(|command| command.operation(words));
        assert_eq!(operation(&[b"set", b"k", b"v"]), Some(Update));
        assert_eq!(operation(&[b"set", b"k", b"v", b"NX"]), Some(Insert));
        assert_eq!(operation(&[b"set", b"nx", b"nx"]), Some(Update));
        assert_eq!(operation(&[b"mget", b"k"]), Some(Read));
        assert_eq!(operation(&[b"mget", b"k", b"l"]), Some(Scan));
        assert_eq!(operation(&[b"exec"]), Some(Transaction));
        assert_eq!(operation(&[b"info"]), None);
    }

    /// The rows of the page's table of commands: commands in backquotes, and the operation.
    fn documented() -> Vec<(Vec<String>, &'static str)> {
        let page = include_str!("../../../../docs/store.md");
        let chapter =
            page.split("\n### Commands\n").nth(1).unwrap().split("\n\nEach command").next().unwrap();
        let rows = chapter
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.rsplit_once(" | "));
        let named = |cell: &str| {
            format!("`{cell}").split('`').skip(1).step_by(2).map(str::to_ascii_lowercase).collect()
        };
        rows.map(|(commands, operation)| (named(commands), operation)).collect()
    }

    #[test]
    fn the_page_has_every_command_in_its_row() {
        let rows = documented();
        assert_eq!(rows.len(), Operation::ALL.len() + 1);
        let mut without_words = rows.iter().flat_map(|(names, _)| names).filter(|name| *name != "nx");
        assert!(without_words.all(|name| find(name.as_bytes()).is_some()), "{rows:?}");
        for command in &COMMANDS {
            // The key alone: no option changes what it is.
            let operation = command.operation(&[b"", b"key"]).map_or("answered at once", Operation::name);
            let row = rows.iter().find(|(_, what)| what.starts_with(operation));
            let (names, _) = row.expect("a row for each operation");
            assert!(
                names.iter().any(|name| name == command.name),
                "{} is missing: {operation}",
                command.name
            );
        }
    }
}
