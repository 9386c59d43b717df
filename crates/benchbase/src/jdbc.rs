//! JDBC's URLs as truetail's.

use crate::Dbms;
use std::fmt::Write;

/// Where a database is.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// As `truetail run` takes it, with user and password.
    pub url: String,
    /// Names of options of the JDBC driver that have no effect here.
    pub without_effect: Vec<String>,
}

impl std::fmt::Debug for Target {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("without_effect", &self.without_effect).finish_non_exhaustive()
    }
}

/// A JDBC URL's options, taken one by one.
struct Options {
    pairs: Vec<(String, String)>,
}

impl Options {
    fn parse(text: &str) -> Result<Options, String> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decoded(name)?, decoded(value)?));
        }
        Ok(Options { pairs })
    }

    /// The last value of any of these names; case does not matter.
    fn take(&mut self, names: &[&str]) -> Option<String> {
        let is_one = |name: &String| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let found = self.pairs.iter().rfind(|(name, _)| is_one(name)).map(|(_, value)| value.clone());
        self.pairs.retain(|(name, _)| !is_one(name));
        found.filter(|value| !value.is_empty())
    }

    fn rest(self) -> Vec<String> {
        self.pairs.into_iter().map(|(name, _)| name).collect()
    }
}

/// The target of a JDBC URL, with the user and the password that stand in elements of their own.
///
/// # Errors
/// One line that does not repeat the URL, which may hold a password.
pub(crate) fn target(dbms: Dbms, url: &str, user: &str, password: &str) -> Result<Target, String> {
    let (scheme, rest) = url
        .strip_prefix("jdbc:")
        .and_then(|rest| rest.split_once(':'))
        .ok_or("it is no JDBC URL; it begins like jdbc:postgresql://host:5432/database")?;
    let fits = match dbms {
        Dbms::Postgres => scheme == "postgresql",
        Dbms::MySql | Dbms::MariaDb => scheme == "mysql" || scheme == "mariadb",
        Dbms::Sqlite => scheme == "sqlite",
    };
    if !fits {
        let wanted = match dbms {
            Dbms::Postgres => "jdbc:postgresql:",
            Dbms::MySql => "jdbc:mysql:",
            Dbms::MariaDb => "jdbc:mariadb:",
            Dbms::Sqlite => "jdbc:sqlite:",
        };
        return Err(format!(
            "it begins with `jdbc:{scheme}:`, and <type>{}</type> has {wanted}",
            dbms.name()
        ));
    }
    let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
    let options = Options::parse(options)?;
    match dbms {
        Dbms::Sqlite => sqlite(place, options),
        _ => server(dbms, place, options, (user, password)),
    }
}

fn sqlite(place: &str, mut options: Options) -> Result<Target, String> {
    let path = place.strip_prefix("file:").unwrap_or(place);
    if path.is_empty() || path.contains(":memory:") || path.starts_with(":resource:") {
        return Err("it names no file; write jdbc:sqlite:PATH".to_owned());
    }
    let mut url = format!("sqlite:{}", encoded(path, "/"));
    let known =
        [("journal_mode", "journal"), ("synchronous", "synchronous"), ("busy_timeout", "busy_timeout_ms")];
    let given: Vec<(&str, String)> = known
        .into_iter()
        .filter_map(|(jdbc, ours)| Some((ours, options.take(&[jdbc])?.to_lowercase())))
        .collect();
    push_options(&mut url, &given);
    Ok(Target { url, without_effect: options.rest() })
}

fn server(
    dbms: Dbms,
    place: &str,
    mut options: Options,
    (user, password): (&str, &str),
) -> Result<Target, String> {
    let (authority, database) = match place.strip_prefix("//") {
        Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
        None if place.contains('/') => {
            return Err(
                "it has neither `//host/` nor a database alone; write //host:port/database".to_owned()
            );
        }
        None => ("", place),
    };
    let (login, host) = authority.rsplit_once('@').map_or(("", authority), |(login, host)| (login, host));
    if host.contains([',', '(']) {
        return Err("it names several hosts; a run has one".to_owned());
    }
    let (login_user, login_password) = login.split_once(':').unwrap_or((login, ""));
    let (option_user, option_password) = (options.take(&["user"]), options.take(&["password"]));
    let first = |element: &str, login: &str, option: Option<String>| -> Result<String, String> {
        if !element.is_empty() {
            return Ok(element.to_owned());
        }
        let login = decoded(login)?;
        Ok(if login.is_empty() { option.unwrap_or_default() } else { login })
    };
    let user = first(user, login_user, option_user)?;
    let password = first(password, login_password, option_password)?;

    let scheme = match dbms {
        Dbms::Postgres => "postgres",
        Dbms::MariaDb => "mariadb",
        _ => "mysql",
    };
    let mut given = match dbms {
        Dbms::Postgres => postgres_options(&mut options)?,
        _ => mysql_options(&mut options),
    };
    let mut url = format!("{scheme}://");
    if !user.is_empty() {
        url += &encoded(&user, "");
        if !password.is_empty() {
            url += &format!(":{}", encoded(&password, ""));
        }
        url.push('@');
    } else if !password.is_empty() {
        // Who there is no user for is whom the driver takes for him.
        given.push(("password", password));
    }
    let local = given.iter().any(|(name, _)| *name == "socket");
    url += match host {
        "" if !local => "localhost",
        host => host,
    };
    let _ = write!(url, "/{}", encoded(&decoded(database)?, ""));
    push_options(&mut url, &given);
    Ok(Target { url, without_effect: options.rest() })
}

fn postgres_options(options: &mut Options) -> Result<Vec<(&'static str, String)>, String> {
    let mut given = Vec::new();
    let ssl = options.take(&["ssl"]).filter(|ssl| ssl != "false").map(|_| "verify-full".to_owned());
    if let Some(mode) = options.take(&["sslmode"]).or(ssl) {
        given.push(("sslmode", mode));
    }
    let known = [("sslrootcert", "sslrootcert"), ("ApplicationName", "application_name")];
    for (jdbc, ours) in known {
        given.extend(options.take(&[jdbc]).map(|value| (ours, value)));
    }
    let schema = options.take(&["currentSchema"]);
    if schema.is_some() {
        return Err("currentSchema is not set here; write options=-c%20search_path=… instead".to_owned());
    }
    given.extend(options.take(&["options"]).map(|value| ("options", value)));
    Ok(given)
}

fn mysql_options(options: &mut Options) -> Vec<(&'static str, String)> {
    let mut given = Vec::new();
    let mode = options.take(&["sslMode", "ssl-mode"]).map(|mode| match mode.to_ascii_lowercase().as_str() {
        // MariaDB's driver.
        "trust" => "require".to_owned(),
        mode => mode.to_owned(),
    });
    let required = options.take(&["requireSSL"]).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let use_ssl = options.take(&["useSSL", "useSsl"]).map(|text| match text.to_ascii_lowercase().as_str() {
        "true" if required => "require".to_owned(),
        "true" => "prefer".to_owned(),
        _ => "disable".to_owned(),
    });
    given.extend(mode.or(use_ssl).map(|mode| ("sslmode", mode)));
    given.extend(options.take(&["serverSslCert"]).map(|path| ("sslrootcert", path)));
    given.extend(options.take(&["localSocket"]).map(|path| ("socket", path)));
    given
}

fn push_options(url: &mut String, options: &[(&str, String)]) {
    for (index, (name, value)) in options.iter().enumerate() {
        let separator = if index == 0 { '?' } else { '&' };
        let _ = write!(url, "{separator}{name}={}", encoded(value, "/"));
    }
}

/// With all but letters, digits, `-._~` and what is `kept` as percent escapes.
fn encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain =
            byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte);
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decoded(text: &str) -> Result<String, String> {
    let bad = || "it has a bad percent escape; a `%` of its own is written %25".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return Err(bad()) };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else { return Err(bad()) };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn made(dbms: Dbms, url: &str, user: &str, password: &str) -> (String, String) {
        let target = target(dbms, url, user, password).expect("a target");
        (target.url, target.without_effect.join(","))
    }

    #[test]
    fn urls_are_turned_into_ours() {
        let postgres = "jdbc:postgresql://db1:5433/my%20db?sslmode=disable&ApplicationName=tpcc&reWriteBatchedInserts=true";
        assert_eq!(
            made(Dbms::Postgres, postgres, "admin", "p@ss/w:rd%"),
            (
                "postgres://admin:p%40ss%2Fw%3Ard%25@db1:5433/my%20db?sslmode=disable&application_name=tpcc"
                    .into(),
                "reWriteBatchedInserts".into()
            )
        );
        let none = String::new;
        for (dbms, url, user, password, ours) in [
            (Dbms::Postgres, "jdbc:postgresql:bench", "", "", "postgres://localhost/bench"),
            (
                Dbms::Postgres,
                "jdbc:postgresql://[::1]:5432/b?user=u&password=x",
                "",
                "",
                "postgres://u:x@[::1]:5432/b",
            ),
            (Dbms::Postgres, "jdbc:postgresql://h/b?user=u&password=x", "v", "y", "postgres://v:y@h/b"),
            (Dbms::Postgres, "jdbc:postgresql://h/b?ssl=true", "", "", "postgres://h/b?sslmode=verify-full"),
            (Dbms::Postgres, "jdbc:postgresql://h/b", "", "only", "postgres://h/b?password=only"),
            (
                Dbms::MySql,
                "jdbc:mysql://u%40x:p@h:3306/b?useSSL=false",
                "",
                "",
                "mysql://u%40x:p@h:3306/b?sslmode=disable",
            ),
            (
                Dbms::MariaDb,
                "jdbc:mariadb://h/b?sslMode=VERIFY_CA",
                "",
                "",
                "mariadb://h/b?sslmode=verify_ca",
            ),
            (
                Dbms::MariaDb,
                "jdbc:mariadb:///b?localSocket=/run/m.sock",
                "u",
                "",
                "mariadb://u@/b?socket=/run/m.sock",
            ),
            (Dbms::Sqlite, "jdbc:sqlite:dir/a%b.db", "u", "p", "sqlite:dir/a%25b.db"),
            (Dbms::Sqlite, "jdbc:sqlite:a.db?journal_mode=WAL", "", "", "sqlite:a.db?journal=wal"),
        ] {
            assert_eq!(made(dbms, url, user, password), (ours.to_owned(), none()), "{url}");
        }
        let dropped = made(Dbms::MariaDb, "jdbc:mariadb://h/b?useServerPrepStmts&x=secret", "", "").1;
        assert_eq!(dropped, "useServerPrepStmts,x", "names alone");
    }

    #[test]
    fn what_is_no_target_is_refused_without_its_secrets() {
        for (dbms, url, part) in [
            (Dbms::Postgres, "postgresql://u:secret@h/b", "no JDBC URL"),
            (
                Dbms::Postgres,
                "jdbc:mysql://u:secret@h/b",
                "`jdbc:mysql:`, and <type>POSTGRES</type> has jdbc:postgresql:",
            ),
            (Dbms::Postgres, "jdbc:postgresql://h1,h2/b?password=secret", "several hosts"),
            (Dbms::Postgres, "jdbc:postgresql:a/b", "neither `//host/`"),
            (Dbms::Postgres, "jdbc:postgresql://h/b?password=secret%4", "bad percent escape"),
            (Dbms::Postgres, "jdbc:postgresql://h/b?currentSchema=x", "search_path"),
            (Dbms::Sqlite, "jdbc:sqlite::memory:", "names no file"),
            (Dbms::Sqlite, "jdbc:sqlite:", "names no file"),
        ] {
            let problem = target(dbms, url, "", "").expect_err(url);
            assert!(problem.contains(part) && !problem.contains("secret"), "{url}: {problem}");
        }
    }
}
