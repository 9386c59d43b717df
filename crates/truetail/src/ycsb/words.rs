//! The words of YCSB's command line: `load|run <db> [-P file]… [-p name=value]… [-s] [-target n] [-threads n] …`.

use super::properties;
use anyhow::{Context, anyhow, bail};
use workload::names::{nearest, suggestion};

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    /// Insert the records.
    Load,
    /// Make the load.
    Run,
}

impl Verb {
    pub(super) fn name(self) -> &'static str {
        match self {
            Verb::Load => "load",
            Verb::Run => "run",
        }
    }
}

/// A command line, with all files read.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) verb: Verb,
    /// Name of the database, or a URL.
    pub(super) db: String,
    pub(super) properties: Properties,
    /// What was said and has no meaning here.
    pub(super) notes: Vec<String>,
}

/// All properties: those of the command line over those of files, later files over earlier ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Properties(pub(super) Vec<(String, String)>);

impl Properties {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value without blanks around it; `None` where it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty())
    }

    fn set(&mut self, name: String, value: String) {
        match self.0.iter_mut().find(|(found, _)| *found == name) {
            Some(slot) => slot.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// A truth value as Java reads it: anything but `true` is false; here, anything but the two is refused.
    pub(super) fn flag(&self, name: &str, default: bool) -> anyhow::Result<bool> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => bail!("{name}={other}: expected `true` or `false`"),
        }
    }

    /// A whole number in [least, most].
    pub(super) fn whole(&self, name: &str, default: u64, least: u64, most: u64) -> anyhow::Result<u64> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| anyhow!("{name}={text}: expected a whole number in [{least}, {most}]"))
    }
}

/// What the tool's wrapper takes, with the number of words that follow.
const FLAGS: [(&str, usize); 12] = [
    ("-P", 1),
    ("-p", 1),
    ("-s", 0),
    ("-target", 1),
    ("-threads", 1),
    ("-cp", 1),
    ("-jvm-args", 1),
    ("-l", 1),
    ("-db", 1),
    ("-t", 0),
    ("-load", 0),
    ("-help", 0),
];

/// Reads the words behind `truetail ycsb`, and the files that they name.
pub(super) fn read(words: &[String]) -> anyhow::Result<Words> {
    let (verb, rest) = match words.split_first() {
        Some((word, rest)) => (verb(word)?, rest),
        None => bail!("expected `load` or `run`, such as `truetail ycsb run redis -P workloada -s`"),
    };
    let (mut db, mut rest) = match rest.split_first() {
        Some((word, rest)) if !word.starts_with('-') => (Some(word.clone()), rest),
        _ => (None, rest),
    };
    let (mut files, mut given, mut notes) = (Properties::default(), Properties::default(), Vec::new());
    while let Some((word, after)) = rest.split_first() {
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag == "-jvm-args" => (flag, Some(value)),
            _ => (word.as_str(), None),
        };
        let Some((_, follow)) = FLAGS.iter().find(|(name, _)| *name == flag) else {
            return Err(unknown(word));
        };
        rest = after;
        let value = match (follow, joined) {
            (0, _) => "",
            (_, Some(value)) => value,
            _ => {
                let (value, after) =
                    after.split_first().ok_or_else(|| anyhow!("{flag}: a value is missing behind it"))?;
                rest = after;
                value
            }
        };
        match flag {
            "-P" => read_file(value)?.into_iter().for_each(|(name, value)| files.set(modern(name), value)),
            "-p" => {
                let (name, value) = value.split_once('=').ok_or_else(|| {
                    anyhow!("-p {value}: expected name=value, such as `-p recordcount=1000`")
                })?;
                given.set(modern(name.to_owned()), value.to_owned());
            }
            "-s" => given.set("status".to_owned(), "true".to_owned()),
            "-target" => given.set("target".to_owned(), value.to_owned()),
            "-threads" => given.set("threadcount".to_owned(), value.to_owned()),
            "-l" => given.set("label".to_owned(), value.to_owned()),
            "-db" => db = Some(value.to_owned()),
            "-cp" | "-jvm-args" => {
                notes.push(format!("{flag} {value}: there is no JVM here, so it changes nothing"))
            }
            // Which of the two, the verb says.
            "-t" | "-load" => {}
            _ => bail!("`truetail ycsb --help` shows what there is"),
        }
    }
    given.0.into_iter().for_each(|(name, value)| files.set(name, value));
    let db = db.or_else(|| files.text("db").map(str::to_owned)).or_else(|| {
        let has_url = files.text("truetail.url").is_some();
        has_url.then(|| "truetail.url".to_owned())
    });
    let db = db.ok_or_else(|| {
        anyhow!(
            "ycsb {}: the database is missing: jdbc, redis, basic, or a URL such as postgres://app@db1/shop",
            verb.name()
        )
    })?;
    Ok(Words { verb, db, properties: files, notes })
}

fn verb(word: &str) -> anyhow::Result<Verb> {
    match word {
        "load" => Ok(Verb::Load),
        "run" => Ok(Verb::Run),
        "shell" => bail!("ycsb shell: there is none; `load` and `run` are offered"),
        other => bail!("ycsb {other}: expected `load` or `run`{}", did_you_mean(other, &["load", "run"])),
    }
}

fn unknown(word: &str) -> anyhow::Error {
    let names: Vec<&str> = FLAGS.iter().map(|(name, _)| *name).collect();
    if word.starts_with('-') {
        let plain = format!("-{}", word.trim_start_matches('-'));
        return anyhow!("{word}: no such flag{}", suggestion(&plain, &names));
    }
    anyhow!("`{word}`: a word that no flag takes; properties are written `-p {word}=…`")
}

fn did_you_mean(word: &str, valid: &[&str]) -> String {
    nearest(word, valid).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Names of classes as they were before the project moved.
fn modern(name: String) -> String {
    match name.strip_prefix("com.yahoo.ycsb.") {
        Some(rest) => format!("site.ycsb.{rest}"),
        None => name,
    }
}

fn read_file(path: &str) -> anyhow::Result<Vec<(String, String)>> {
    let bytes = std::fs::read(path).with_context(|| format!("-P {path}: can't be read"))?;
    properties::parse(&properties::decoded(&bytes)).map_err(|problem| anyhow!("-P {path}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(line: &str) -> anyhow::Result<Words> {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn refused(line: &str) -> String {
        format!("{:#}", read_words(line).unwrap_err())
    }

    #[test]
    fn words_are_those_of_ycsb() {
        let words = read_words(
            "run jdbc -p recordcount=10 -s -target 500 -threads 4 -p recordcount=20 -cp a.jar -jvm-args=-Xmx1g -l first",
        )
        .unwrap();
        assert_eq!((words.verb, words.db.as_str()), (Verb::Run, "jdbc"));
        for (name, value) in [
            ("recordcount", "20"),
            ("status", "true"),
            ("target", "500"),
            ("threadcount", "4"),
            ("label", "first"),
        ] {
            assert_eq!(words.properties.get(name), Some(value), "{name}");
        }
        assert_eq!(words.notes.len(), 2, "{:?}", words.notes);
        assert_eq!(read_words("load -db site.ycsb.BasicDB -load").unwrap().db, "site.ycsb.BasicDB");
        assert_eq!(read_words("load -p db=redis").unwrap().db, "redis");
    }

    #[test]
    fn what_is_given_beats_files_and_later_files_earlier_ones() {
        let directory = std::env::temp_dir().join(format!("truetail-words-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (first, second) = (directory.join("a"), directory.join("b"));
        std::fs::write(&first, "recordcount=1\nfieldcount=1\ntable=a\n").unwrap();
        std::fs::write(&second, "recordcount=2\nfieldcount=2\n").unwrap();
        let line = format!("run basic -p recordcount=3 -P {} -P {}", first.display(), second.display());
        let words = read_words(&line).unwrap();
        let found = ["recordcount", "fieldcount", "table"].map(|name| words.properties.get(name));
        assert_eq!(found, [Some("3"), Some("2"), Some("a")]);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named_with_the_next_step() {
        assert!(refused("").contains("`load` or `run`"));
        assert!(refused("rnu jdbc").contains("did you mean `run`?"));
        assert!(refused("shell jdbc").contains("`load` and `run` are offered"));
        assert!(refused("run").contains("the database is missing"));
        assert!(refused("run jdbc -thread 4").contains("did you mean `-threads`?"));
        assert!(refused("run jdbc --target 4").contains("did you mean `-target`?"));
        assert!(refused("run jdbc -threads").contains("a value is missing"));
        assert!(refused("run jdbc -p recordcount").contains("expected name=value"));
        assert!(refused("run jdbc recordcount=5").contains("`recordcount=5`: a word that no flag takes"));
        assert!(refused("run jdbc -P /no/such/file").contains("-P /no/such/file: can't be read"));
    }
}
