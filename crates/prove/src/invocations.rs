//! Command lines of foreign load tools, ready-made or given as a template.
//!
//! A template is split into words as a shell does, and then `{host}`, `{port}`, `{rate}` and so on are replaced within the
//! words: what is filled in never becomes a word of its own, and no shell ever sees it.

use import::{Format, StatedFrom};
use load::arrivals::Process;
use std::path::{Path, PathBuf};

/// The protocol that a tool speaks to the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// Redis's.
    Resp,
    /// PostgreSQL's.
    Postgres,
}

impl Protocol {
    /// `resp` or `postgres`.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Resp => "resp",
            Protocol::Postgres => "postgres",
        }
    }
}

/// What makes a tool offer its load.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pacing {
    /// It is given a rate.
    Rate,
    /// Each session sends when it has its answer; the rate does not reach it.
    Closed,
}

/// A tool, how it is called, and what is known of it beforehand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Invocation {
    /// As tables show it: `pgbench -R`.
    pub name: &'static str,
    /// How its output is read.
    pub format: Format,
    /// What it speaks.
    pub protocol: Protocol,
    /// Whether it takes a rate.
    pub pacing: Pacing,
    /// Which of its rows is graded, where its output has several or does not say what they count from.
    pub counted_from: StatedFrom,
    /// Run before, to its end, if there is one: it fills the store.
    pub prepare: Option<&'static str>,
    /// The load itself.
    pub command: &'static str,
    /// What must lie in `{dir}` before: name and text.
    pub setup: &'static [(&'static str, &'static str)],
    /// How the names of the files begin that it writes to `{dir}`; empty if it only prints.
    pub writes: &'static str,
    /// Programs that must be there.
    pub needs: &'static [&'static str],
    /// How to get them.
    pub install: &'static str,
}

const INSTALL_YCSB: &str = "apt-get install maven openjdk-17-jdk-headless, then `mvn package` in bindings/ycsb of truetail's sources";

/// A run of YCSB with one operation, so that its quantiles are those of all requests.
macro_rules! ycsb {
    ($database:literal, $($options:literal),+) => {
        concat!(
            "java -Xmx256m -cp {class_path} site.ycsb.Client -threads {sessions} ",
            "-p workload=site.ycsb.workloads.CoreWorkload -p recordcount=100 -p fieldcount=1 -p fieldlength=10 ",
            "-p readproportion=1 -p updateproportion=0 -p requestdistribution=uniform ",
            $database,
            $(" ", $options),+
        )
    };
}

macro_rules! ycsb_resp {
    ($($options:literal),+) => {
        ycsb!(
            "-db truetail.ycsb.RespClient -p resp.host={host} -p resp.port={port} -p resp.index=false",
            $($options),+
        )
    };
}

macro_rules! ycsb_postgres {
    ($($options:literal),+) => {
        ycsb!(
            "-db truetail.ycsb.PostgresClient -p postgres.url=jdbc:postgresql://{host}:{port}/postgres?sslmode=disable",
            $($options),+
        )
    };
}

macro_rules! ycsb_measured {
    ($of:ident, $interval:literal) => {
        $of!(
            "-t -target {rate} -p operationcount={requests} -p hdrhistogram.percentiles=50,95,99,99.9",
            $interval
        )
    };
}

/// YCSB's client with its default measurement; the others differ in few fields.
const YCSB: Invocation = Invocation {
    name: "YCSB op",
    format: Format::Ycsb,
    protocol: Protocol::Resp,
    pacing: Pacing::Rate,
    counted_from: StatedFrom::Unsaid,
    prepare: Some(ycsb_resp!("-load")),
    command: ycsb_measured!(ycsb_resp, "-p measurement.interval=op"),
    setup: &[],
    writes: "",
    needs: &["java"],
    install: INSTALL_YCSB,
};

const YCSB_POSTGRES: Invocation = Invocation {
    protocol: Protocol::Postgres,
    prepare: Some(ycsb_postgres!("-load", "-p postgres.create=true")),
    command: ycsb_measured!(ycsb_postgres, "-p measurement.interval=op"),
    ..YCSB
};

/// The ready-made invocations.
pub const INVOCATIONS: [Invocation; 7] = [
    Invocation {
        name: "pgbench -R",
        format: Format::PgbenchLog,
        protocol: Protocol::Postgres,
        pacing: Pacing::Rate,
        counted_from: StatedFrom::Schedule,
        prepare: None,
        command: "pgbench -n -f {dir}/select1.sql -R {rate} -T {seconds} -c {sessions} -l \
            --log-prefix={dir}/pgbench_log -h {host} -p {port} -U postgres postgres",
        setup: &[("select1.sql", include_str!("../assets/select1.sql"))],
        writes: "pgbench_log.",
        needs: &["pgbench"],
        install: "apt-get install postgresql",
    },
    Invocation {
        name: "sysbench --rate",
        format: Format::Sysbench,
        protocol: Protocol::Postgres,
        pacing: Pacing::Rate,
        counted_from: StatedFrom::Schedule,
        prepare: None,
        command: "sysbench {dir}/select1.lua --db-driver=pgsql --pgsql-host={host} --pgsql-port={port} \
            --pgsql-user=postgres --pgsql-db=postgres --threads={sessions} --time={seconds} --events=0 --rate={rate} \
            --histogram=on --percentile=99 run",
        setup: &[("select1.lua", include_str!("../assets/select1.lua"))],
        writes: "",
        needs: &["sysbench"],
        install: "apt-get install sysbench",
    },
    Invocation {
        name: "redis-benchmark",
        format: Format::RedisBenchmark,
        protocol: Protocol::Resp,
        pacing: Pacing::Closed,
        counted_from: StatedFrom::Send,
        prepare: None,
        command: "redis-benchmark -h {host} -p {port} -c {sessions} -n {requests} -t get --precision 3",
        setup: &[],
        writes: "",
        needs: &["redis-benchmark"],
        install: "apt-get install redis-tools",
    },
    YCSB,
    Invocation {
        name: "YCSB intended",
        command: ycsb_measured!(ycsb_resp, "-p measurement.interval=intended"),
        ..YCSB
    },
    YCSB_POSTGRES,
    Invocation {
        name: "YCSB intended",
        command: ycsb_measured!(ycsb_postgres, "-p measurement.interval=intended"),
        ..YCSB_POSTGRES
    },
];

impl Invocation {
    /// What the tool draws its intended starts from: `pgbench -R` and `sysbench --rate` exponential gaps, the others
    /// equal ones.
    pub fn arrivals(&self) -> Process {
        let drawn = ["pgbench", "sysbench"].contains(&self.needs[0]);
        if drawn { Process::Poisson } else { Process::Constant }
    }

    /// Writes what the tool needs into its directory.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn set_up(&self, directory: &Path) -> Result<(), (PathBuf, std::io::Error)> {
        self.setup.iter().try_for_each(|(name, text)| {
            let path = directory.join(name);
            std::fs::write(&path, text).map_err(|error| (path, error))
        })
    }
}

/// What a template's names stand for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Values<'a> {
    /// `{host}`
    pub host: &'a str,
    /// `{port}`
    pub port: u16,
    /// `{rate}`, 1/s, at least 1; whole, since not every tool takes another.
    pub rate: u64,
    /// `{seconds}`, at least 1.
    pub seconds: u64,
    /// `{sessions}`, at least 1.
    pub sessions: u32,
    /// `{dir}`: a directory of its own for each run.
    pub directory: &'a Path,
    /// `{class_path}`: that of `bindings/ycsb`.
    pub class_path: Option<&'a str>,
}

impl Values<'_> {
    /// The names of [`expand`]; `{requests}` is rate times seconds.
    pub const NAMES: [&'static str; 8] =
        ["host", "port", "rate", "seconds", "sessions", "requests", "dir", "class_path"];

    fn of(&self, name: &str) -> Option<Result<String, TemplateError>> {
        let value = match name {
            "host" => self.host.to_owned(),
            "port" => self.port.to_string(),
            "rate" => self.rate.to_string(),
            "seconds" => self.seconds.to_string(),
            "sessions" => self.sessions.to_string(),
            "requests" => self.rate.saturating_mul(self.seconds).to_string(),
            "dir" => self.directory.to_string_lossy().into_owned(),
            "class_path" => {
                return Some(self.class_path.map(str::to_owned).ok_or(TemplateError::NoClassPath));
            }
            _ => return None,
        };
        Some(Ok(value))
    }
}

/// Why a template makes no command line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TemplateError {
    /// It holds no word.
    #[error("the command is empty")]
    Empty,
    /// A quote is not closed.
    #[error("`{0}`: a quote is not closed")]
    Quote(String),
    /// A name in braces that stands for nothing.
    #[error("`{{{name}}}` stands for nothing: there are {known}; write `{{{{` for a brace")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// `{class_path}` is asked for and not known.
    #[error("`{{class_path}}` is not known: {INSTALL_YCSB}")]
    NoClassPath,
}

/// Program and arguments of a template.
///
/// Names are lower-case letters and `_` in braces; other braces stay as they are, and `{{` is a brace.
///
/// # Errors
/// See [`TemplateError`].
pub fn expand(template: &str, values: &Values) -> Result<Vec<String>, TemplateError> {
    let words = split_words(template)?;
    if words.is_empty() {
        return Err(TemplateError::Empty);
    }
    words.iter().map(|word| fill_in(word, values)).collect()
}

fn fill_in(word: &str, values: &Values) -> Result<String, TemplateError> {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        if let Some(after) = after.strip_prefix('{') {
            filled.push('{');
            rest = after;
            continue;
        }
        let end = after.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        match behind.strip_prefix('}').filter(|_| !name.is_empty()) {
            Some(behind) => {
                let unknown = || TemplateError::Unknown { name: name.to_owned(), known: known_names() };
                filled.push_str(&values.of(name).ok_or_else(unknown)??);
                rest = behind;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn known_names() -> String {
    Values::NAMES.map(|name| format!("`{{{name}}}`")).join(", ")
}

/// Splits as a shell does, with single and double quotes and without anything else.
///
/// # Errors
/// [`TemplateError::Quote`].
pub fn split_words(text: &str) -> Result<Vec<String>, TemplateError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(TemplateError::Quote(text.to_owned()));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values<'static> {
        Values {
            host: "127.0.0.1",
            port: 7000,
            rate: 1000,
            seconds: 9,
            sessions: 4,
            directory: Path::new("/a b/it's"),
            class_path: Some("a.jar:lib/*"),
        }
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = split_words("sqlite:a.db --mix 'A=1, B=2' -d \"10 s\" ''").unwrap();
        assert_eq!(words, ["sqlite:a.db", "--mix", "A=1, B=2", "-d", "10 s", ""]);
        assert_eq!(split_words("'open"), Err(TemplateError::Quote("'open".to_owned())));
    }

    #[test]
    fn what_is_filled_in_is_never_split_or_run() {
        let words =
            expand("tool -o {dir}/x --at={host}:{port} -n {requests} $(reboot) ;", &values()).unwrap();
        assert_eq!(
            words,
            ["tool", "-o", "/a b/it's/x", "--at=127.0.0.1:7000", "-n", "9000", "$(reboot)", ";"]
        );
        let host = Values { host: "{port}", ..values() };
        assert_eq!(expand("{host}", &host).unwrap(), ["{port}"], "filled in once");
    }

    #[test]
    fn other_braces_stay_and_unknown_names_are_errors() {
        assert_eq!(
            expand("{ {} {1} {A} {{rate} }{", &values()).unwrap(),
            ["{", "{}", "{1}", "{A}", "{rate}", "}{"]
        );
        let unknown = expand("t {speed}", &values()).unwrap_err().to_string();
        assert!(
            unknown.starts_with("`{speed}` stands for nothing: there are `{host}`, `{port}`"),
            "{unknown}"
        );
        assert!(unknown.ends_with("write `{{` for a brace"), "{unknown}");
        assert_eq!(expand("  ", &values()), Err(TemplateError::Empty));
        let without = Values { class_path: None, ..values() };
        assert!(expand("{class_path}", &without).unwrap_err().to_string().contains("mvn package"));
    }

    #[test]
    fn every_name_is_known() {
        for name in Values::NAMES {
            assert!(expand(&format!("{{{name}}}"), &values()).is_ok(), "{name}");
        }
    }

    #[test]
    fn ready_made_invocations_are_whole() {
        for (at, one) in INVOCATIONS.iter().enumerate() {
            let words = expand(one.command, &values()).unwrap();
            assert_eq!(words[0], one.needs[0], "{}", one.name);
            let text = words.join(" ");
            assert!(text.contains("7000") && text.contains("127.0.0.1"), "{text}");
            assert_eq!(one.pacing == Pacing::Rate, one.command.contains("{rate}"), "{text}");
            assert!(words.iter().all(|word| !word.contains("  ") && !word.is_empty()), "{words:?}");
            for (file, _) in one.setup {
                assert!(one.command.contains(&format!("{{dir}}/{file}")), "{text}");
            }
            if let Some(prepare) = one.prepare {
                assert_eq!(expand(prepare, &values()).unwrap()[0], one.needs[0]);
            }
            let same = |other: &Invocation| (other.name, other.protocol) == (one.name, one.protocol);
            assert!(!INVOCATIONS[at + 1..].iter().any(same), "{} twice", one.name);
        }
    }
}
