//! Requests to try, and how to write them down.

use units::Rng;

/// A request as an array of bulk strings.
pub(crate) fn encoded<T: AsRef<[u8]>>(words: &[T]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Words between blanks; `""` is an empty one.
pub(crate) fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| if word == "\"\"" { Vec::new() } else { word.as_bytes().to_vec() }).collect()
}

/// Requests whose answers depend on nothing but the requests before them.
pub(crate) const SCRIPT: &str = include_str!("script.txt");

/// Commands for which any words will do.
const NAMES: [&str; 64] = [
    "append",
    "dbsize",
    "decr",
    "decrby",
    "del",
    "echo",
    "exists",
    "get",
    "getdel",
    "getset",
    "hdel",
    "hexists",
    "hget",
    "hgetall",
    "hincrby",
    "hkeys",
    "hlen",
    "hmget",
    "hmset",
    "hset",
    "hsetnx",
    "hvals",
    "incr",
    "incrby",
    "keys",
    "lindex",
    "llen",
    "lpop",
    "lpush",
    "lrange",
    "mget",
    "mset",
    "msetnx",
    "ping",
    "rpop",
    "rpush",
    "sadd",
    "scard",
    "set",
    "setnx",
    "sismember",
    "smembers",
    "srem",
    "strlen",
    "ttl",
    "type",
    "unlink",
    "zadd",
    "zcard",
    "zcount",
    "zincrby",
    "zpopmax",
    "zpopmin",
    "zrange",
    "zrangebyscore",
    "zrem",
    "zrevrange",
    "zrevrangebyscore",
    "zscore",
    "multi",
    "exec",
    "discard",
    "watch",
    "nosuch",
];

const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", ""];
const VALUES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "3.5",
    "10",
    "1e3",
    "(1",
    "(2.5",
    "inf",
    "-inf",
    "+inf",
    "(-inf",
    "abc",
    "",
    "01",
    " 1",
    "9223372036854775807",
    "-9223372036854775808",
    "m",
    "n",
    "o",
    "*",
];
const OPTIONS: [&str; 14] = [
    "nx",
    "XX",
    "gt",
    "LT",
    "ch",
    "INCR",
    "get",
    "keepttl",
    "withscores",
    "LIMIT",
    "rev",
    "BYSCORE",
    "[ab]",
    "?",
];

/// A command with words of which some make sense. Mostly as many as it takes.
pub(crate) fn random(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut pick = |from: &[&str]| from[rng.below(from.len() as u64) as usize].as_bytes().to_vec();
    let name = pick(&NAMES);
    let mut words = vec![name, pick(&KEYS)];
    let count: usize = String::from_utf8_lossy(&pick(&["0", "0", "1", "1", "2", "2", "2", "3", "4", "6"]))
        .parse()
        .expect("a digit");
    for _ in 0..count {
        let kind = pick(&["k", "v", "v", "v", "o"]);
        words.push(match &kind[..] {
            b"k" => pick(&KEYS),
            b"v" => pick(&VALUES),
            _ => pick(&OPTIONS),
        });
    }
    let alone = matches!(&words[0][..], b"multi" | b"exec" | b"discard" | b"dbsize");
    words.truncate(if alone { 1 } else { usize::MAX });
    words
}

/// An answer, taken apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Answer {
    /// Anything in one line.
    Line(String),
    /// A bulk string, with what its header says.
    Bulk(String, Vec<u8>),
    /// Arrays, maps and sets: the header's kind, and the elements.
    Many(char, Vec<Answer>),
}

/// The answer at the front, and its length; `None` if it is not complete.
pub(crate) fn take(bytes: &[u8]) -> Option<(Answer, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut used = end + 2;
    let number = line[1..].parse::<usize>().ok();
    match (line.as_bytes()[0], number) {
        (b'$' | b'=', Some(length)) => {
            let body = bytes.get(used..used + length + 2)?;
            Some((Answer::Bulk(line, body[..length].to_vec()), used + length + 2))
        }
        (kind @ (b'*' | b'~' | b'%'), Some(count)) => {
            let count = if kind == b'%' { 2 * count } else { count };
            let mut elements = Vec::new();
            for _ in 0..count {
                let (element, length) = take(&bytes[used..])?;
                elements.push(element);
                used += length;
            }
            Some((Answer::Many(char::from(kind), elements), used))
        }
        _ => Some((Answer::Line(line), used)),
    }
}
