//! From a target URL to what a connection needs, with libpq's defaults.

use crate::pgpass::{self, Lookup};
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
    /// The directory of a unix socket.
    Unix(PathBuf),
}

/// Everything that a connection needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) database: String,
    pub(crate) application_name: String,
    /// The server's command-line options for the session, e.g. `-c synchronous_commit=off`.
    pub(crate) options: Option<String>,
    pub(crate) tls: TlsMode,
    pub(crate) root_certificate: Option<PathBuf>,
    pub(crate) connect_timeout: Nanos,
    /// The target in messages and recordings.
    pub(crate) address: String,
    /// Set when a password file was there and others may read it.
    pub(crate) password_file_ignored: Option<PathBuf>,
}

const OPTIONS: [&str; 11] = [
    "sslmode",
    "sslrootcert",
    "application_name",
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "connect_timeout",
    "options",
    "passfile",
];

/// What the process knows of its surroundings; a seam for tests.
pub(crate) struct Surroundings<'a> {
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) login_name: Option<String>,
    /// Directories in which a server's unix socket may be.
    pub(crate) socket_directories: &'a [&'a str],
}

impl Config {
    /// Reads a URL; what it leaves out comes from libpq's environment variables and defaults.
    pub(crate) fn new(url: &TargetUrl, around: &Surroundings<'_>) -> Result<Config, UrlError> {
        for (name, _) in &url.options {
            if !OPTIONS.contains(&name.as_str()) {
                return Err(url.error(format!("unknown option `{name}`; known are {}", OPTIONS.join(", "))));
            }
        }
        let given = |part: &str, option: &str, variable: &str| {
            let part = (!part.is_empty()).then(|| part.to_owned());
            let option = || url.option(option).filter(|o| !o.is_empty()).map(str::to_owned);
            let variable = || (around.variable)(variable).filter(|v| !v.is_empty());
            part.or_else(option).or_else(variable)
        };
        let port = match url.port {
            Some(port) => port,
            None => match given("", "port", "PGPORT") {
                Some(text) => text
                    .parse()
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| url.error(format!("port `{text}` is not a number in 1..65535")))?,
                None => 5432,
            },
        };
        let user =
            given(&url.user, "user", "PGUSER").or_else(|| around.login_name.clone()).ok_or_else(|| {
                url.error("no user: this process has no login name; write postgres://USER@host/database")
            })?;
        let database = given(&url.path, "dbname", "PGDATABASE").unwrap_or_else(|| user.clone());
        let host = match given(&url.host, "host", "PGHOST") {
            Some(host) if host.starts_with('/') => Host::Unix(host.into()),
            Some(host) => Host::Tcp(host),
            None => default_host(around.socket_directories, port),
        };
        let mode = given("", "sslmode", "PGSSLMODE").unwrap_or_else(|| "prefer".to_owned());
        let mut tls =
            TlsMode::NAMES.into_iter().find(|(name, _)| *name == mode).map(|(_, mode)| mode).ok_or_else(
                || {
                    let known = TlsMode::NAMES.map(|(name, _)| name).join(", ");
                    url.error(format!("sslmode `{mode}` is unknown; known are {known}"))
                },
            )?;
        let root = given("", "sslrootcert", "PGSSLROOTCERT").map(PathBuf::from);
        // libpq: a root certificate turns `require` into `verify-ca`.
        if tls == TlsMode::Require && root.is_some() {
            tls = TlsMode::VerifyCa;
        }
        let connect_timeout = timeout(url, given("", "connect_timeout", "PGCONNECT_TIMEOUT"))?;
        let mut config = Config {
            address: String::new(),
            password: None,
            password_file_ignored: None,
            root_certificate: root.or_else(|| home(around).map(|home| home.join(".postgresql/root.crt"))),
            application_name: given("", "application_name", "PGAPPNAME")
                .unwrap_or_else(|| "truetail".to_owned()),
            options: given("", "options", "PGOPTIONS"),
            host,
            port,
            user,
            database,
            tls,
            connect_timeout,
        };
        config.address = config.shown();
        let password = url.password.clone().filter(|p| !p.is_empty());
        match password.or_else(|| given("", "password", "PGPASSWORD")) {
            Some(password) => config.password = Some(Secret(password)),
            None => config.look_up_password(given("", "passfile", "PGPASSFILE").map(PathBuf::from), around),
        }
        Ok(config)
    }

    fn look_up_password(&mut self, file: Option<PathBuf>, around: &Surroundings<'_>) {
        let Some(file) = file.or_else(|| home(around).map(|home| home.join(".pgpass"))) else { return };
        let host = match &self.host {
            Host::Tcp(host) => host,
            Host::Unix(_) => "localhost",
        };
        match pgpass::look_up(&file, host, self.port, &self.database, &self.user) {
            Lookup::Found(password) => self.password = Some(Secret(password)),
            Lookup::Nothing => {}
            Lookup::TooOpen => self.password_file_ignored = Some(file),
        }
    }

    /// The URL that says the same, without a password.
    fn shown(&self) -> String {
        let (user, database, port) = (&self.user, &self.database, self.port);
        match &self.host {
            Host::Tcp(host) if host.contains(':') => format!("postgres://{user}@[{host}]:{port}/{database}"),
            Host::Tcp(host) => format!("postgres://{user}@{host}:{port}/{database}"),
            Host::Unix(path) => {
                let path = path.to_string_lossy().replace('/', "%2F");
                format!("postgres://{user}@{path}:{port}/{database}")
            }
        }
    }

    /// The path of the unix socket in its directory.
    pub(crate) fn socket_path(directory: &Path, port: u16) -> PathBuf {
        directory.join(format!(".s.PGSQL.{port}"))
    }
}

fn timeout(url: &TargetUrl, text: Option<String>) -> Result<Nanos, UrlError> {
    const LIMIT: Nanos = Nanos::from_secs(10);
    let Some(text) = text else { return Ok(LIMIT) };
    match text.parse() {
        // Zero means "no limit" to libpq; a run can't wait forever for a session.
        Ok(0) => Ok(LIMIT),
        Ok(seconds @ 1..=3600) => Ok(Nanos::from_secs(seconds)),
        _ => Err(url.error(format!("connect_timeout `{text}` is not a number of seconds in 1..3600"))),
    }
}

fn home(around: &Surroundings<'_>) -> Option<PathBuf> {
    (around.variable)("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn default_host(directories: &[&str], port: u16) -> Host {
    directories
        .iter()
        .map(Path::new)
        .find(|directory| Config::socket_path(directory, port).exists())
        .map_or_else(|| Host::Tcp("localhost".to_owned()), |directory| Host::Unix(directory.to_owned()))
}

/// The name of the user that this process runs as.
pub(crate) fn login_name() -> Option<String> {
    let mut buffer = vec![0; 16 * 1024];
    // SAFETY: `entry` is plain data that the call fills; `buffer` outlives the use of the name in it, which
    // the call has ended with a zero byte.
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

    fn config(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let around = Surroundings {
            variable: &variable,
            login_name: Some("login".to_owned()),
            socket_directories: &["/nonexistent"],
        };
        Config::new(&TargetUrl::parse(text).unwrap(), &around).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_libpqs() {
        let plain = config("postgres://", &[]).unwrap();
        assert_eq!(plain.address, "postgres://login@localhost:5432/login");
        assert_eq!((plain.tls, plain.connect_timeout), (TlsMode::Prefer, Nanos::from_secs(10)));
        let variables = [
            ("PGHOST", "/run/pg"),
            ("PGPORT", "5433"),
            ("PGUSER", "ann"),
            ("PGDATABASE", "shop"),
            ("PGPASSWORD", "pw"),
            ("PGSSLMODE", "disable"),
        ];
        let around = config("postgres://", &variables).unwrap();
        assert_eq!(around.address, "postgres://ann@%2Frun%2Fpg:5433/shop");
        assert_eq!(around.host, Host::Unix("/run/pg".into()));
        assert_eq!((around.password, around.tls), (Some(Secret("pw".to_owned())), TlsMode::Disable));
        let url = config("postgres://bob:x%40@h:1/db?application_name=me", &variables).unwrap();
        assert_eq!(url.address, "postgres://bob@h:1/db");
        assert_eq!((url.password, url.application_name.as_str()), (Some(Secret("x@".to_owned())), "me"));
    }

    #[test]
    fn a_host_option_and_the_path_agree_on_sockets() {
        for text in ["postgres://%2Ftmp%2Fpg:99/db", "postgres:///db?host=/tmp/pg&port=99"] {
            let config = config(text, &[]).unwrap();
            assert_eq!((config.host, config.port), (Host::Unix("/tmp/pg".into()), 99), "{text}");
        }
    }

    #[test]
    fn tls_modes_follow_libpq() {
        let mode = |options: &str| config(&format!("postgres://h/d?{options}"), &[]).map(|c| c.tls);
        assert_eq!(mode("sslmode=require"), Ok(TlsMode::Require));
        assert_eq!(mode("sslmode=require&sslrootcert=/a"), Ok(TlsMode::VerifyCa));
        assert_eq!(mode("sslmode=verify-full&sslrootcert=/a"), Ok(TlsMode::VerifyFull));
        assert!(mode("sslmode=maybe").unwrap_err().contains("known are disable, prefer"));
    }

    #[test]
    fn passwords_come_from_the_url_the_environment_or_the_file_and_are_never_shown() {
        use std::os::unix::fs::PermissionsExt;
        let file = std::env::temp_dir().join(format!("truetail-passfile-{}", std::process::id()));
        std::fs::write(&file, "h:5432:d:u:from-file\nlocalhost:*:*:*:from-socket\n").unwrap();
        let get = |text: &str| config(text, &[("PGPASSFILE", file.to_str().unwrap())]).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(get("postgres://u@h/d").password, Some(Secret("from-file".to_owned())));
        assert_eq!(get("postgres://u@%2Ftmp/d").password, Some(Secret("from-socket".to_owned())));
        let given = get("postgres://u:given@h/d");
        assert_eq!(given.password, Some(Secret("given".to_owned())));
        assert!(!format!("{given:?}").contains("given"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let open = get("postgres://u@h/d");
        std::fs::remove_file(&file).unwrap();
        assert_eq!((open.password, open.password_file_ignored), (None, Some(file)));
    }

    #[test]
    fn mistakes_are_named() {
        let problem = |text: &str| config(text, &[("PGPASSFILE", "/nonexistent")]).unwrap_err();
        assert!(problem("postgres://h/d?sslmod=require").contains("unknown option `sslmod`"));
        assert!(problem("postgres:///d?port=x").contains("port `x`"));
        assert!(problem("postgres:///d?connect_timeout=never").contains("connect_timeout `never`"));
    }
}
