//! Questions about the server and the connection: PING, ECHO, TIME, CLIENT, CONFIG, COMMAND, INFO; and TRUETAIL.

use super::call::{Call, Outcome, is};
use super::handshake::rename;
use super::instance::VERSION;
use super::pattern::matches;
use super::refusal::{Refusal, SYNTAX};
use super::reply::Version;
use super::table::COMMANDS;
use std::fmt::Write;

pub(super) fn ping(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    match words[1..] {
        [] => call.reply.simple("PONG"),
        [word] => call.reply.bulk(word),
        _ => return Err(Refusal::arity("ping")),
    }
    Ok(())
}

pub(super) fn echo(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    call.reply.bulk(words[1]);
    Ok(())
}

/// The moment of execution as wall time: seconds and microseconds.
pub(super) fn time(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    let epoch = i128::from(call.connection.instance.settings().epoch_wall_ns);
    let now_us = (epoch + i128::from(call.store.now().0)) / 1_000;
    call.reply.array(2);
    call.reply.bulk((now_us / 1_000_000).to_string().as_bytes());
    call.reply.bulk((now_us % 1_000_000).to_string().as_bytes());
    Ok(())
}

/// Hands the words to the engine.
pub(super) fn truetail(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let words: Vec<_> = words[1..].iter().map(|word| String::from_utf8_lossy(word)).collect();
    let answer = call.store.control(&words.join(" ")).map_err(|e| Refusal::quoting(format!("ERR {e}")))?;
    call.reply.verbatim(&answer);
    Ok(())
}

pub(super) fn client(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let name = String::from_utf8_lossy(words[1]).to_ascii_lowercase();
    let switch = |word: &[u8]| if is(word, "on") || is(word, "off") { Ok(()) } else { Err(SYNTAX) };
    match (&*name, &words[2..]) {
        ("id", []) => call.reply.integer(i64::try_from(call.connection.id).unwrap_or(i64::MAX)),
        ("getname", []) if call.connection.name.is_empty() => call.reply.null(),
        ("getname", []) => call.reply.bulk(&call.connection.name),
        ("setname", [name]) => {
            rename(call.connection, name)?;
            call.reply.simple("OK");
        }
        // What a client library says of itself is of no use here.
        ("setinfo", [_, _]) => call.reply.simple("OK"),
        ("no-evict" | "no-touch", [word]) => {
            switch(word)?;
            call.reply.simple("OK");
        }
        ("info", []) | ("list", _) => {
            let line = describe(call);
            call.reply.verbatim(&line);
        }
        ("id" | "getname" | "setname" | "setinfo" | "no-evict" | "no-touch" | "info", _) => {
            return Err(Refusal::arity(&format!("client|{name}")));
        }
        _ => return Err(Refusal::unknown_subcommand("client", words[1])),
    }
    Ok(())
}

/// This connection in a line; of others there is nothing to tell.
fn describe(call: &Call<'_>) -> String {
    let connection = &call.connection;
    let name = String::from_utf8_lossy(&connection.name);
    let resp = if connection.version == Version::Three { 3 } else { 2 };
    format!("id={} name={name} db=0 flags=N user=default resp={resp}\n", connection.id)
}

/// What clients ask before they begin: nothing is kept on disk, and nothing is evicted.
const PARAMETERS: [(&str, &str); 10] = [
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("databases", "1"),
    ("io-threads", "1"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("proto-max-bulk-len", "524288"),
    ("save", ""),
    ("tcp-keepalive", "60"),
    ("timeout", "0"),
];

pub(super) fn config(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let name = String::from_utf8_lossy(words[1]).to_ascii_lowercase();
    match (&*name, &words[2..]) {
        ("get", patterns) if !patterns.is_empty() => {
            let found: Vec<_> = PARAMETERS
                .iter()
                .filter_map(|(name, value)| Some((asked_for(name, patterns)?, value)))
                .collect();
            call.reply.map(found.len());
            for (name, value) in found {
                call.reply.bulk(name);
                call.reply.bulk(value.as_bytes());
            }
        }
        ("resetstat", []) => call.reply.simple("OK"),
        ("set", [_, _, ..]) => {
            return Err(Refusal::new("ERR this store has no settings of Redis's: see `TRUETAIL status`"));
        }
        ("get" | "set" | "resetstat", _) => return Err(Refusal::arity(&format!("config|{name}"))),
        _ => return Err(Refusal::unknown_subcommand("config", words[1])),
    }
    Ok(())
}

/// A parameter's name as it was asked for, if it was: by its name in whatever case, or by a pattern.
fn asked_for<'a>(name: &'static str, patterns: &[&'a [u8]]) -> Option<&'a [u8]> {
    let literal = patterns.iter().find(|pattern| is(pattern, name));
    let matched = || {
        let mut lower = patterns.iter().map(|pattern| pattern.to_ascii_lowercase());
        lower.any(|pattern| matches(&pattern, name.as_bytes())).then_some(name.as_bytes())
    };
    literal.copied().or_else(matched)
}

/// There are names and no descriptions; clients that ask for those can do without.
pub(super) fn command(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let Some(subcommand) = words.get(1) else {
        call.reply.array(0);
        return Ok(());
    };
    let name = String::from_utf8_lossy(subcommand).to_ascii_lowercase();
    match (&*name, &words[2..]) {
        ("count", []) => call.reply.count(COMMANDS.len()),
        ("docs", _) => call.reply.map(0),
        ("info", names) => {
            call.reply.array(names.len());
            names.iter().for_each(|_| call.reply.null_array());
        }
        ("list", []) => {
            call.reply.array(COMMANDS.len());
            COMMANDS.iter().for_each(|command| call.reply.bulk(command.name.as_bytes()));
        }
        ("count", _) => return Err(Refusal::arity("command|count")),
        _ => return Err(Refusal::unknown_subcommand("command", subcommand)),
    }
    Ok(())
}

/// Sections of `INFO`, and which of them are given unasked. There is no section on the key space: counting it would keep
/// others waiting; `DBSIZE` counts, and its time is simulated.
type Section = (&'static str, fn(&Call<'_>, &mut String) -> std::fmt::Result);
const SECTIONS: [Section; 5] = [
    ("Server", |call, text| {
        let settings = call.connection.instance.settings();
        let own = env!("CARGO_PKG_VERSION");
        write!(text, "redis_version:{VERSION}\r\nredis_mode:standalone\r\ntruetail_store_version:{own}\r\n")?;
        write!(
            text,
            "tcp_port:{}\r\nuptime_in_seconds:{}\r\n",
            settings.port,
            call.store.now().0 / 1_000_000_000
        )
    }),
    ("Clients", |call, text| write!(text, "connected_clients:{}\r\n", call.connection.instance.clients())),
    ("Persistence", |_, text| write!(text, "loading:0\r\naof_enabled:0\r\n")),
    ("Stats", |call, text| {
        let instance = &call.connection.instance;
        write!(text, "total_connections_received:{}\r\n", instance.connections())?;
        write!(text, "total_commands_processed:{}\r\n", instance.commands())
    }),
    ("Replication", |_, text| write!(text, "role:master\r\nconnected_slaves:0\r\n")),
];

pub(super) fn info(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let asked = |name: &str| {
        let all = |word: &[u8]| ["all", "default", "everything"].iter().any(|name| is(word, name));
        words.len() == 1 || words[1..].iter().any(|word| is(word, name) || all(word))
    };
    let mut text = String::new();
    for (name, section) in SECTIONS.iter().filter(|(name, _)| asked(name)) {
        let between = if text.is_empty() { "" } else { "\r\n" };
        // Writing to a string can't fail.
        let _ = write!(text, "{between}# {name}\r\n");
        let _ = section(call, &mut text);
    }
    call.reply.verbatim(&text);
    Ok(())
}
