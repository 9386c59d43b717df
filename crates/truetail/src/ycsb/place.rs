//! Which target a YCSB binding and its properties stand for.

use super::words::Properties;
use anyhow::{Context, anyhow, bail};
use driver::TargetUrl;
use workload::names::nearest;

/// Names of the database, and the properties that say where it is.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("jdbc", &["jdbc", "site.ycsb.db.JdbcDBClient"]),
    ("redis", &["redis", "site.ycsb.db.RedisClient"]),
    ("basic", &["basic", "site.ycsb.BasicDB", "basicts", "site.ycsb.BasicTSDB"]),
    ("truetail.url", &["truetail.url"]),
];

/// Bindings of YCSB that truetail has no driver for.
const OTHERS: [&str; 28] = [
    "accumulo1.9",
    "aerospike",
    "arangodb",
    "asynchbase",
    "azurecosmos",
    "azuretablestorage",
    "cassandra-cql",
    "cloudspanner",
    "couchbase",
    "couchbase2",
    "crail",
    "dynamodb",
    "elasticsearch",
    "elasticsearch5",
    "foundationdb",
    "geode",
    "googlebigtable",
    "googledatastore",
    "griddb",
    "hbase2",
    "ignite",
    "infinispan",
    "jdbc-postgrenosql",
    "kudu",
    "memcached",
    "mongodb",
    "rocksdb",
    "scylla",
];

/// A target's URL, its password included, and what of the properties has no meaning for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) url: String,
    pub(super) notes: Vec<String>,
}

/// The target of a database's name.
pub(super) fn of(db: &str, properties: &Properties) -> anyhow::Result<Place> {
    let db =
        db.strip_prefix("com.yahoo.ycsb.").map_or_else(|| db.to_owned(), |rest| format!("site.ycsb.{rest}"));
    let plain = |url: &str| Place { url: url.to_owned(), notes: Vec::new() };
    // One of truetail's own, given beside a name, is what is meant.
    if let Some(url) = properties.text("truetail.url") {
        return Ok(plain(url));
    }
    if db.contains(':') {
        return Ok(plain(&db));
    }
    let found = BINDINGS.iter().find(|(_, names)| names.contains(&db.as_str()));
    match found.map(|(binding, _)| *binding) {
        Some("jdbc") => jdbc(properties),
        Some("redis") => redis(properties),
        Some("basic") => Ok(plain("null:")),
        _ => Err(unknown(&db)),
    }
}

fn unknown(db: &str) -> anyhow::Error {
    if OTHERS.contains(&db) {
        return anyhow!(
            "ycsb: no driver for `{db}`; there are jdbc (PostgreSQL, MariaDB, MySQL, SQLite), redis, basic, and URLs"
        );
    }
    let valid: Vec<&str> = ["jdbc", "redis", "basic"].iter().chain(&OTHERS).copied().collect();
    match nearest(db, &valid) {
        Some(name) => anyhow!("ycsb: no database `{db}`; did you mean `{name}`?"),
        None => anyhow!(
            "ycsb: no database `{db}`; there are jdbc, redis, basic, and URLs such as postgres://app@db1/shop"
        ),
    }
}

/// Escaped, so that it can stand in any part of a URL.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// `user:password@`; nothing for an empty user.
fn credentials(user: &str, password: Option<&str>) -> String {
    match (user, password.filter(|password| !password.is_empty())) {
        ("", None) => String::new(),
        (user, None) => format!("{}@", escaped(user)),
        (user, Some(password)) => format!("{}:{}@", escaped(user), escaped(password)),
    }
}

fn redis(properties: &Properties) -> anyhow::Result<Place> {
    if properties.flag("redis.cluster", false)? {
        bail!(
            "redis.cluster=true: sessions are to one server; name it by redis.host and leave the cluster out"
        );
    }
    let host = properties
        .text("redis.host")
        .ok_or_else(|| anyhow!("redis: `redis.host` is missing, such as `-p redis.host=127.0.0.1`"))?;
    let port = properties.whole("redis.port", 6379, 1, 65_535)?;
    let who = credentials("", properties.text("redis.password"));
    let host = if host.contains(':') { format!("[{host}]") } else { escaped(host) };
    let notes = properties.text("redis.timeout").map(|timeout| {
        format!(
            "redis.timeout={timeout}: no answer is given up here; `truetail.timeout` does it, such as 500ms"
        )
    });
    Ok(Place { url: format!("redis://{who}{host}:{port}/0"), notes: notes.into_iter().collect() })
}

fn jdbc(properties: &Properties) -> anyhow::Result<Place> {
    let given = properties.text("db.url").ok_or_else(|| {
        anyhow!("jdbc: `db.url` is missing, such as `-p db.url=jdbc:postgresql://db1/shop`")
    })?;
    let shown = shown(given);
    let Some(rest) = given.strip_prefix("jdbc:") else {
        bail!("db.url={shown}: expected `jdbc:…`; a URL of truetail's own is `-p truetail.url=…`");
    };
    if rest.contains(';') {
        bail!("db.url={shown}: several databases; sessions are to one");
    }
    let (kind, rest) =
        rest.split_once(':').ok_or_else(|| anyhow!("db.url={shown}: no database behind `jdbc:`"))?;
    let scheme = match kind {
        "postgresql" => "postgres",
        "mysql" | "mariadb" => kind,
        "sqlite" => return Ok(Place { url: format!("sqlite:{}", escaped_path(rest)), notes: Vec::new() }),
        other => {
            let valid = ["postgresql", "mysql", "mariadb", "sqlite"];
            bail!(
                "db.url={shown}: no driver for `jdbc:{other}:`{}",
                workload::names::suggestion(other, &valid)
            )
        }
    };
    server(scheme, rest, properties).with_context(|| format!("db.url={shown}"))
}

/// `//host:port/database?name=value&…`, or a database alone.
fn server(scheme: &str, rest: &str, properties: &Properties) -> anyhow::Result<Place> {
    let (location, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, database) = match location.strip_prefix("//") {
        Some(location) => location.split_once('/').unwrap_or((location, "")),
        None => ("", location.trim_start_matches('/')),
    };
    if host.contains(',') {
        bail!("several hosts; sessions are to one");
    }
    if host.contains('@') {
        bail!("a user in the place of the host; write db.user and db.passwd");
    }
    let mut user = properties.get("db.user").unwrap_or_default().to_owned();
    let mut password = properties.get("db.passwd").map(str::to_owned);
    let (mut options, mut notes) = (Vec::new(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // The driver takes the property's, which is given beside the URL.
        let decoded = decoded(value)?;
        match name {
            "user" if user.is_empty() => user = decoded,
            "password" => password = password.or(Some(decoded)),
            "user" => {}
            "sslmode" | "sslMode" => options.push(format!("sslmode={}", escaped(&mode(&decoded)))),
            "useSSL" | "ssl" if decoded == "false" => options.push("sslmode=disable".to_owned()),
            "useSSL" | "ssl" => options.push("sslmode=require".to_owned()),
            "sslrootcert" => options.push(format!("sslrootcert={}", escaped(&decoded))),
            other => notes.push(format!("db.url: `{other}` is of the JDBC driver and changes nothing here")),
        }
    }
    let host = if host.is_empty() && location.starts_with("//") { "" } else { host };
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    let options = if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
    let who = credentials(&user, password.as_deref());
    Ok(Place { url: format!("{scheme}://{who}{host}/{database}{options}"), notes })
}

/// MySQL's words for what others say in lower case.
fn mode(text: &str) -> String {
    match text {
        "DISABLED" => "disable".to_owned(),
        "PREFERRED" => "prefer".to_owned(),
        "REQUIRED" => "require".to_owned(),
        "VERIFY_CA" => "verify-ca".to_owned(),
        "VERIFY_IDENTITY" => "verify-full".to_owned(),
        other => other.to_owned(),
    }
}

/// A text with its percent escapes resolved.
fn decoded(text: &str) -> anyhow::Result<String> {
    // The part behind the colon of a URL is decoded, and nothing else is done to it.
    let url = TargetUrl::parse(&format!("x:{}", text.replace('?', "%3F")))
        .map_err(|_| anyhow!("a bad percent escape"))?;
    Ok(url.path)
}

/// Percent signs and question marks are a file name's own.
fn escaped_path(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F")
}

/// Without what may hold a password.
fn shown(url: &str) -> &str {
    url.split_once('?').map_or(url, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(list: &[(&str, &str)]) -> Properties {
        Properties(list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn url(db: &str, list: &[(&str, &str)]) -> String {
        of(db, &properties(list)).unwrap().url
    }

    fn refused(db: &str, list: &[(&str, &str)]) -> String {
        format!("{:#}", of(db, &properties(list)).unwrap_err())
    }

    #[test]
    fn jdbc_urls_are_mapped() {
        type Pairs<'a> = &'a [(&'a str, &'a str)];
        let cases: [(&str, Pairs<'_>, &str); 9] = [
            ("jdbc:postgresql://db1:5433/shop", &[], "postgres://db1:5433/shop"),
            ("jdbc:postgresql:shop", &[("db.user", "ann")], "postgres://ann@127.0.0.1/shop"),
            ("jdbc:postgresql:///shop", &[("db.user", "")], "postgres://127.0.0.1/shop"),
            (
                "jdbc:postgresql://db1/a%20b?sslmode=disable&prepareThreshold=1",
                &[("db.user", "a@b"), ("db.passwd", "p:/?#%")],
                "postgres://a%40b:p%3A%2F%3F%23%25@db1/a%20b?sslmode=disable",
            ),
            ("jdbc:postgresql://db1/x?user=u%40v&password=s%26t", &[], "postgres://u%40v:s%26t@db1/x"),
            ("jdbc:postgresql://db1/x?user=u", &[("db.user", "ann")], "postgres://ann@db1/x"),
            ("jdbc:mysql://db1:3306/test?useSSL=false", &[], "mysql://db1:3306/test?sslmode=disable"),
            ("jdbc:mariadb://db1/test?sslMode=REQUIRED", &[], "mariadb://db1/test?sslmode=require"),
            ("jdbc:sqlite:/tmp/a b%.db", &[], "sqlite:/tmp/a b%25.db"),
        ];
        for (given, more, expected) in cases {
            let list: Vec<(&str, &str)> = [("db.url", given)].iter().chain(more).copied().collect();
            let found = url("jdbc", &list);
            assert_eq!(found, expected, "{given}");
            let parsed = TargetUrl::parse(&found).unwrap();
            if let Some((_, password)) = more.iter().find(|(name, _)| *name == "db.passwd") {
                assert_eq!(parsed.password.as_deref(), Some(*password));
            }
        }
        let notes =
            of("jdbc", &properties(&[("db.url", "jdbc:postgresql://h/d?prepareThreshold=1")])).unwrap().notes;
        assert!(notes[0].contains("`prepareThreshold`"), "{notes:?}");
    }

    #[test]
    fn other_names_are_mapped() {
        let redis = [("redis.host", "db1"), ("redis.port", "7000"), ("redis.password", "s3:cret")];
        assert_eq!(url("redis", &redis), "redis://:s3%3Acret@db1:7000/0");
        assert_eq!(url("site.ycsb.db.RedisClient", &redis[..1]), "redis://db1:6379/0");
        assert_eq!(url("com.yahoo.ycsb.BasicDB", &[]), "null:");
        assert_eq!(url("postgres://a@b/c", &[]), "postgres://a@b/c");
        assert_eq!(url("jdbc", &[("truetail.url", "sqlite:x.db")]), "sqlite:x.db");
    }

    #[test]
    fn what_can_not_be_reached_is_said_with_what_can() {
        assert!(refused("redsi", &[]).contains("did you mean `redis`?"));
        assert!(refused("mongodb", &[]).contains("no driver for `mongodb`"));
        assert!(refused("mngodb", &[]).contains("did you mean `mongodb`?"));
        assert!(refused("frobnicate", &[]).contains("there are jdbc, redis, basic"));
        assert!(refused("redis", &[]).contains("`redis.host` is missing"));
        assert!(
            refused("redis", &[("redis.host", "h"), ("redis.cluster", "true")]).contains("redis.cluster")
        );
        assert!(refused("redis", &[("redis.host", "h"), ("redis.port", "0")]).contains("redis.port=0"));
        assert!(refused("jdbc", &[]).contains("`db.url` is missing"));
        let jdbc = |given| refused("jdbc", &[("db.url", given)]);
        assert!(jdbc("jdbc:oracle:thin:@h:1521/x").contains("no driver for `jdbc:oracle:`"));
        assert!(jdbc("jdbc:postgersql://h/x").contains("did you mean `postgresql`?"));
        assert!(jdbc("postgres://h/x").contains("truetail.url"));
        assert!(jdbc("jdbc:postgresql://a,b/x").contains("several hosts"));
        assert!(jdbc("jdbc:postgresql://a/x;jdbc:postgresql://b/x").contains("several databases"));
        let secret = jdbc("jdbc:postgresql://a,b/x?password=s3cret");
        assert!(!secret.contains("s3cret"), "{secret}");
    }
}
