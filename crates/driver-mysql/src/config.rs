//! From a target URL to what a connection needs.

use driver::{TargetUrl, UrlError};
use socket::tls::TlsMode;
use std::path::{Path, PathBuf};
use units::Nanos;

/// A password. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where the server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    /// A name or an address.
    Tcp(String),
    /// A unix socket.
    Unix(PathBuf),
}

/// Everything that a connection needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    /// Empty: none is chosen.
    pub(crate) database: String,
    pub(crate) tls: TlsMode,
    pub(crate) root_certificate: Option<PathBuf>,
    pub(crate) connect_timeout: Nanos,
    /// The target in messages and recordings.
    pub(crate) address: String,
}

/// What the process knows of its surroundings; a seam for tests.
pub(crate) struct Surroundings<'a> {
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) login_name: Option<String>,
    /// Where a server's unix socket may be.
    pub(crate) sockets: &'a [&'a str],
}

const OPTIONS: [&str; 8] =
    ["socket", "sslmode", "ssl-mode", "sslrootcert", "ssl-ca", "connect_timeout", "user", "password"];

const PORT: u16 = 3306;

/// Hold the password where the URL has none; the first is the one of both databases' own programs.
const PASSWORDS: [&str; 2] = ["MYSQL_PWD", "TRUETAIL_PASSWORD"];

impl Config {
    /// Reads a URL; what it leaves out comes from the environment variables of the databases' own programs.
    pub(crate) fn new(url: &TargetUrl, around: &Surroundings<'_>) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            return Err(url.error(format!("unknown option `{name}`; known are {}", OPTIONS.join(", "))));
        }
        let option = |name: &str| url.option(name).filter(|o| !o.is_empty()).map(str::to_owned);
        let variable = |name: &str| (around.variable)(name).filter(|v| !v.is_empty());
        let port =
            match (url.port, variable("MYSQL_TCP_PORT")) {
                (Some(port), _) => port,
                (None, Some(text)) => text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
                    url.error(format!("MYSQL_TCP_PORT `{text}` is not a number in 1..65535"))
                })?,
                (None, None) => PORT,
            };
        let host = host(url, option("socket"), variable("MYSQL_UNIX_PORT"), around)?;
        let user = (!url.user.is_empty())
            .then(|| url.user.clone())
            .or_else(|| option("user"))
            .or_else(|| around.login_name.clone())
            .ok_or_else(|| {
                url.error("no user: this process has no login name; write mysql://USER@host/database")
            })?;
        let password = url.password.clone().filter(|p| !p.is_empty()).or_else(|| option("password"));
        let (tls, root_certificate) = trust(url)?;
        let mut config = Config {
            password: password.or_else(|| PASSWORDS.into_iter().find_map(variable)).map(Secret),
            database: url.path.clone(),
            connect_timeout: limit(url)?,
            address: String::new(),
            host,
            port,
            user,
            tls,
            root_certificate,
        };
        config.address = config.shown(&url.scheme);
        Ok(config)
    }

    /// The URL that says the same, without a password.
    fn shown(&self, scheme: &str) -> String {
        let (host, port, socket) = match &self.host {
            Host::Tcp(host) => (host.clone(), Some(self.port), None),
            Host::Unix(path) => (String::new(), None, Some(path.to_string_lossy().into_owned())),
        };
        let options = socket.map(|path| ("socket".to_owned(), path)).into_iter().collect();
        let (user, path) = (self.user.clone(), self.database.clone());
        TargetUrl { scheme: scheme.to_owned(), user, password: None, host, port, path, options }.to_string()
    }
}

fn host(
    url: &TargetUrl,
    socket: Option<String>,
    variable: Option<String>,
    around: &Surroundings<'_>,
) -> Result<Host, UrlError> {
    match (socket, url.host.as_str()) {
        (Some(_), host) if !host.is_empty() => Err(url.error("a host and a `socket`; name one of them")),
        (Some(path), _) => Ok(Host::Unix(path.into())),
        (None, path) if path.starts_with('/') => Ok(Host::Unix(path.into())),
        (None, host) if !host.is_empty() => Ok(Host::Tcp(host.to_owned())),
        (None, _) if url.port.is_some() => Ok(Host::Tcp("localhost".to_owned())),
        (None, _) => {
            let there = around.sockets.iter().find(|path| Path::new(path).exists());
            let path = variable.map(PathBuf::from).or_else(|| there.map(PathBuf::from));
            Ok(path.map_or_else(|| Host::Tcp("localhost".to_owned()), Host::Unix))
        }
    }
}

/// How much the server is trusted: `sslmode` as libpq has it, or `ssl-mode` as MySQL has it. Upper case and underscores are
/// MySQL's.
fn trust(url: &TargetUrl) -> Result<(TlsMode, Option<PathBuf>), UrlError> {
    let given =
        |names: [&str; 2]| names.into_iter().find_map(|name| url.option(name)).filter(|v| !v.is_empty());
    let root = given(["sslrootcert", "ssl-ca"]).map(PathBuf::from);
    let text = given(["sslmode", "ssl-mode"]).unwrap_or("prefer");
    let name = match text.to_ascii_lowercase().replace('_', "-").as_str() {
        "disabled" => "disable".to_owned(),
        "preferred" => "prefer".to_owned(),
        "required" => "require".to_owned(),
        "verify-identity" => "verify-full".to_owned(),
        name => name.to_owned(),
    };
    let known = TlsMode::NAMES.into_iter().find(|(known, _)| *known == name);
    let (_, mode) = known.ok_or_else(|| {
        let known = TlsMode::NAMES.map(|(name, _)| name).join(", ");
        url.error(format!("sslmode `{text}` is unknown; known are {known}"))
    })?;
    // A root certificate is given to be used.
    let verifies = matches!(mode, TlsMode::Require) && root.is_some();
    Ok((if verifies { TlsMode::VerifyCa } else { mode }, root))
}

fn limit(url: &TargetUrl) -> Result<Nanos, UrlError> {
    // As long as a target may take to give up.
    const SECONDS: u64 = 10;
    let Some(text) = url.option("connect_timeout") else { return Ok(Nanos::from_secs(SECONDS)) };
    let seconds = text.parse().ok().filter(|seconds| (1..=SECONDS).contains(seconds));
    seconds.map(Nanos::from_secs).ok_or_else(|| {
        url.error(format!("connect_timeout `{text}` is not a whole number of seconds in 1..{SECONDS}"))
    })
}

/// The name of the user that this process runs as.
pub(crate) fn login_name() -> Option<String> {
    let mut buffer = vec![0; 16 * 1024];
    // SAFETY: `entry` is plain data that the call fills; `buffer` outlives the use of the name in it, which the call has
    // ended with a zero byte.
    unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let id = libc::geteuid();
        let result = libc::getpwuid_r(id, &mut entry, buffer.as_mut_ptr(), buffer.len(), &mut found);
        if result != 0 || found.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr(entry.pw_name).to_str().ok().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_with(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let around = Surroundings {
            variable: &variable,
            login_name: Some("login".to_owned()),
            sockets: &["/nonexistent"],
        };
        Config::new(&TargetUrl::parse(text).unwrap(), &around).map_err(|e| e.to_string())
    }

    fn config(text: &str) -> Result<Config, String> {
        config_with(text, &[])
    }

    #[test]
    fn urls_say_where_and_who() {
        let all = config("mysql://ann:s3cret@db1:7000/shop").unwrap();
        assert_eq!((&all.host, all.port), (&Host::Tcp("db1".to_owned()), 7000));
        assert_eq!((all.user.as_str(), all.database.as_str()), ("ann", "shop"));
        assert_eq!(all.address, "mysql://ann@db1:7000/shop");
        assert_eq!(all.password, Some(Secret("s3cret".to_owned())));
        assert!(!format!("{all:?}").contains("s3cret"));
        let least = config("mariadb:").unwrap();
        assert_eq!(least.address, "mariadb://login@localhost:3306/");
        assert_eq!((least.tls, least.password), (TlsMode::Prefer, None));
        for text in ["mysql://u@/db?socket=/run/x.sock", "mysql://u@%2Frun%2Fx.sock/db"] {
            let unix = config(text).unwrap();
            assert_eq!(unix.host, Host::Unix("/run/x.sock".into()), "{text}");
            assert_eq!(unix.address, "mysql://u@/db?socket=/run/x.sock");
        }
        assert_eq!(config("mysql://u@[::1]/db").unwrap().address, "mysql://u@[::1]:3306/db");
    }

    #[test]
    fn what_is_left_out_comes_from_the_environment() {
        let variables = [("MYSQL_TCP_PORT", "3307"), ("MYSQL_UNIX_PORT", "/s"), ("MYSQL_PWD", "pw")];
        let around = |text: &str| config_with(text, &variables).unwrap();
        assert_eq!(around("mysql:").host, Host::Unix("/s".into()));
        assert_eq!(around("mysql://h").address, "mysql://login@h:3307/");
        assert_eq!(around("mysql://h").password, Some(Secret("pw".to_owned())));
        assert_eq!(around("mysql://u:own@h").password, Some(Secret("own".to_owned())));
        let general = config_with("mysql://h", &[("TRUETAIL_PASSWORD", "pw")]).unwrap();
        assert_eq!(general.password, Some(Secret("pw".to_owned())));
    }

    #[test]
    fn ways_to_encrypt_have_two_names() {
        let mode = |options: &str| config(&format!("mysql://h/d?{options}")).map(|c| c.tls);
        assert_eq!(mode("ssl-mode=DISABLED"), Ok(TlsMode::Disable));
        assert_eq!(mode("ssl-mode=VERIFY_IDENTITY&ssl-ca=/a"), Ok(TlsMode::VerifyFull));
        assert_eq!(mode("sslmode=verify-ca&sslrootcert=/a"), Ok(TlsMode::VerifyCa));
        assert_eq!(mode("sslmode=require&ssl-ca=/a"), Ok(TlsMode::VerifyCa));
        assert_eq!(mode("sslmode=require"), Ok(TlsMode::Require));
        assert!(mode("sslmode=maybe").unwrap_err().contains("known are disable, prefer"));
    }

    #[test]
    fn mistakes_are_named() {
        let problem = |text: &str| config(text).unwrap_err();
        assert!(problem("mysql://h/d?sslmod=require").contains("unknown option `sslmod`"));
        assert!(problem("mysql://h/d?connect_timeout=never").contains("connect_timeout `never`"));
        assert!(problem("mysql://h/?socket=/x").contains("name one of them"));
        let port = config_with("mysql://h", &[("MYSQL_TCP_PORT", "x")]).unwrap_err();
        assert!(port.contains("MYSQL_TCP_PORT `x`"), "{port}");
    }
}
