//! Target URLs: `scheme:rest`, e.g. `sqlite:PATH`, `postgres://user@host:port/db?sslmode=require`.

use std::fmt;

/// A URL taken apart; what its parts mean is the driver's business.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// Before the colon, in lower case.
    pub scheme: String,
    /// Percent-decoded user; empty when absent.
    pub user: String,
    /// Percent-decoded password; never shown or written.
    pub password: Option<String>,
    /// Host name, address, or a socket directory (starts with `/`); empty when absent.
    pub host: String,
    /// Port when given.
    pub port: Option<u16>,
    /// Percent-decoded path without its leading slash (after `//`), or all that follows the colon.
    pub path: String,
    /// Percent-decoded `?name=value` pairs in order.
    pub options: Vec<(String, String)>,
}

/// A URL that can't be taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UrlError {
    text: String,
    problem: String,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "target `{}`: {}", self.text, self.problem)
    }
}

impl std::error::Error for UrlError {}

impl TargetUrl {
    /// Takes `text` apart.
    ///
    /// # Errors
    /// [`UrlError`] names the part that is wrong; a password in the text is not repeated.
    pub fn parse(text: &str) -> Result<TargetUrl, UrlError> {
        let fail = |problem: &str| UrlError { text: hide_password(text), problem: problem.to_owned() };
        let (scheme, rest) = text.split_once(':').ok_or_else(|| {
            fail("no scheme; expected something like `sqlite:`, `postgres://user@host/db` or `null:`")
        })?;
        if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-".contains(c)) {
            return Err(fail("the scheme before `:` is not a name"));
        }
        let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
        let decode = |part: &str| percent_decode(part).ok_or_else(|| fail("bad percent escape"));
        let mut url = TargetUrl {
            scheme: scheme.to_ascii_lowercase(),
            user: String::new(),
            password: None,
            host: String::new(),
            port: None,
            path: String::new(),
            options: Vec::new(),
        };
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| fail("an option after `?` has no `=value`"))?;
            url.options.push((decode(name)?, decode(value)?));
        }
        let Some(hierarchical) = body.strip_prefix("//") else {
            url.path = decode(body)?;
            return Ok(url);
        };
        let (authority, path) = hierarchical.split_once('/').unwrap_or((hierarchical, ""));
        // Else the rest of a password would be shown as a path or an option.
        if path.contains('@') || query.contains('@') {
            return Err(fail("an `@` after `/` or `?`: in a user, password or option write %2F, %3F, %40"));
        }
        url.path = decode(path)?;
        let (credentials, location) = match authority.rsplit_once('@') {
            Some((credentials, location)) => (Some(credentials), location),
            None => (None, authority),
        };
        if let Some(credentials) = credentials {
            let (user, password) = match credentials.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (credentials, None),
            };
            url.user = decode(user)?;
            url.password = password.map(decode).transpose()?;
        }
        let (host, port) = match location.strip_prefix('[') {
            Some(v6) => {
                let (host, after) = v6.split_once(']').ok_or_else(|| fail("`[` without `]`"))?;
                (host, after.strip_prefix(':'))
            }
            None => match location.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (location, None),
            },
        };
        url.host = decode(host)?;
        if let Some(port) = port.filter(|p| !p.is_empty()) {
            url.port = Some(port.parse().map_err(|_| fail("the port is not a number in 1..65535"))?);
        }
        Ok(url)
    }

    /// The last value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// An error about this URL.
    pub fn error(&self, problem: impl Into<String>) -> UrlError {
        UrlError { text: self.to_string(), problem: problem.into() }
    }
}

impl fmt::Display for TargetUrl {
    /// Without the password: safe to print and to record. In one line, and read back as the same target.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        let located = !self.host.is_empty() || !self.user.is_empty() || self.port.is_some();
        if located || self.scheme == "postgres" {
            f.write_str("//")?;
            if !self.user.is_empty() {
                write!(f, "{}@", escaped(&self.user, ":/?@"))?;
            }
            match self.host.contains(':') && !self.host.starts_with('/') {
                true => write!(f, "[{}]", escaped(&self.host, "/?@[]"))?,
                false => f.write_str(&escaped(&self.host, ":/?@[]"))?,
            }
            if let Some(port) = self.port {
                write!(f, ":{port}")?;
            }
            write!(f, "/{}", escaped(&self.path, "?@"))?;
        } else if let Some(rest) = self.path.strip_prefix("//") {
            // Two plain slashes would announce a host.
            write!(f, "%2F/{}", escaped(rest, "?"))?;
        } else {
            f.write_str(&escaped(&self.path, "?"))?;
        }
        let mut separator = '?';
        for (name, value) in self.options.iter().filter(|(name, value)| !is_secret(name, value)) {
            write!(f, "{separator}{}={}", escaped(name, "&=@"), escaped(value, "&@"))?;
            separator = '&';
        }
        Ok(())
    }
}

/// With percent escapes for `special`, the percent sign, and what would break a line.
fn escaped(text: &str, special: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '%' || c.is_control() || special.contains(c) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| shown.push_str(&format!("%{byte:02X}")));
        } else {
            shown.push(c);
        }
    }
    shown
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({self})")
    }
}

/// A text that could not be taken apart, without what may be a password in it.
///
/// Where its parts begin is not certain, so that all before the last `@` counts as credentials, and of these
/// only a user name that can't be anything else is shown; of what follows, everything after the first mention
/// of a password is left out.
fn hide_password(text: &str) -> String {
    let is_name = |scheme: &str| !scheme.contains(['/', '@', '?', ':']);
    let (lead, rest) = match text.split_once("://").filter(|(scheme, _)| is_name(scheme)) {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let (credentials, location) = match rest.rsplit_once('@') {
        // The `@` may lie within the option's value.
        Some((before, _)) if before.split(['?', '&']).skip(1).any(tells_secret) => return lead + "…",
        Some((credentials, location)) => (format!("{}@", plain_user(credentials)), location),
        None => (String::new(), rest),
    };
    let (body, options) = location.split_once('?').unwrap_or((location, ""));
    let shown: Vec<&str> = options.split('&').take_while(|o| !tells_secret(o)).collect();
    let shown = shown.join("&");
    let separator = if shown.is_empty() { "" } else { "?" };
    format!("{lead}{credentials}{body}{separator}{shown}")
}

/// The user of `user:password`; `…` where the text may be something else.
fn plain_user(credentials: &str) -> &str {
    let user = credentials.split(':').next().unwrap_or("");
    if user.contains(['@', '/', '?', '&', '=']) { "…" } else { user }
}

/// Whether an option as it stands in a URL, escapes and all, is or holds a secret.
fn tells_secret(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let plain = |text: &str| percent_decode(text).unwrap_or_else(|| text.to_owned());
    is_secret(&plain(name), &plain(value))
}

fn is_secret(name: &str, value: &str) -> bool {
    names_secret(name) || holds_secret(value)
}

/// What names of secrets hold.
const SECRET: [&str; 8] =
    ["password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "apikey"];

/// Whether the name of an option or a property says that its value must not be shown.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|word| name.contains(word))
}

/// Whether a value may have a secret in it: a connection string with a password, or with somebody before an `@`.
pub fn holds_secret(value: &str) -> bool {
    let names = value.match_indices('=').any(|(at, _)| {
        let before = &value[..at];
        names_secret(before.rsplit(['?', '&', ';', ',', ' ', '{', '(']).next().unwrap_or(before))
    });
    names || value.rsplit_once('@').is_some_and(|(before, _)| before.contains([':', '/']))
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let hex = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_and_shown_without_their_password() {
        let url = TargetUrl::parse("postgres://ann:s%40cret@[::1]:5433/shop?sslmode=require").unwrap();
        assert_eq!((url.user.as_str(), url.password.as_deref()), ("ann", Some("s@cret")));
        assert_eq!((url.host.as_str(), url.port, url.path.as_str()), ("::1", Some(5433), "shop"));
        assert_eq!(url.option("sslmode"), Some("require"));
        assert_eq!(url.to_string(), "postgres://ann@[::1]:5433/shop?sslmode=require");
        let socket = TargetUrl::parse("postgres://%2Ftmp%2Fpg/db").unwrap();
        assert_eq!(socket.host, "/tmp/pg");
        assert_eq!(socket.to_string(), "postgres://%2Ftmp%2Fpg/db");
        assert_eq!(TargetUrl::parse("sqlite:/a/b.db?sync=full").unwrap().path, "/a/b.db");
        assert_eq!(TargetUrl::parse("null:").unwrap().to_string(), "null:");
    }

    #[test]
    fn escapes_are_shown_as_escapes() {
        for text in [
            "postgres://a%40b%3Ac@h/d%3Fe%0Af?x%26y=1%2F2%25",
            "postgres://u@%2Ftmp%3A1/db",
            "sqlite:/tmp/a%25b@c.db",
            "sqlite:%2F/host/a.db",
            "null://:80/",
        ] {
            let url = TargetUrl::parse(text).unwrap();
            let shown = url.to_string();
            assert_eq!(shown, text.replace("1%2F2", "1/2"));
            assert!(TargetUrl::parse(&shown).unwrap() == url, "{shown}");
        }
    }

    #[test]
    fn bad_urls_name_the_part_and_keep_the_secret() {
        let message = |text: &str| TargetUrl::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("postgres://a:secret@h:99999/x"),
            "target `postgres://a@h:99999/x`: the port is not a number in 1..65535"
        );
        assert_eq!(
            message("postgres://h:x/d?password=secret&sslmode=require"),
            "target `postgres://h:x/d`: the port is not a number in 1..65535"
        );
        assert_eq!(
            message("postgres://h:x/d?sslmode=require&Pass%77ord=sec&ret=1"),
            "target `postgres://h:x/d?sslmode=require`: the port is not a number in 1..65535"
        );
        assert!(message("nonsense").contains("no scheme"));
        assert!(message("p%://x").contains("scheme"));
        assert!(message("postgres://h/%zz").contains("percent"));
        assert!(message("sqlite:x?y").contains("no `=value`"));
    }

    #[test]
    fn what_another_program_is_told_is_shown_without_its_secrets() {
        let text = "ycsb-db:a.B?jar=x&p.db.passwd=cret&p.AWS.secretKey=cret&p.db.url=jdbc:m://h/d%3Fuser=u%26password=cret&\
                    p.mongodb.url=mongodb://u:cret@h/d&p.oracle=jdbc:oracle:thin:u/cret@h&p.hosts=a,b";
        let url = TargetUrl::parse(text).unwrap();
        assert_eq!(url.to_string(), "ycsb-db:a.B?jar=x&p.hosts=a,b");
        assert_eq!(format!("{url:?}"), "TargetUrl(ycsb-db:a.B?jar=x&p.hosts=a,b)");
        for broken in [format!("{text}&x"), format!("{text}&y=%zz"), text.replace("a.B", "%zz")] {
            let message = TargetUrl::parse(&broken).unwrap_err().to_string();
            assert!(!message.contains("cret"), "{message}");
        }
    }

    #[test]
    fn a_password_with_signs_of_its_own_is_not_shown() {
        for (text, shown) in [
            ("postgres://app:se?cret@127.0.0.1/db", "postgres://app@127.0.0.1/db"),
            ("postgres://app:se?cr=et@127.0.0.1/db", "postgres://app@127.0.0.1/db"),
            ("postgres://app:12?cr=et@127.0.0.1/db", "postgres://app@127.0.0.1/db"),
            ("postgres://app:12/cret@127.0.0.1/db", "postgres://app@127.0.0.1/db"),
            ("postgres://app:p@cret@127.0.0.1:x/db", "postgres://app@127.0.0.1:x/db"),
            ("postgres://app:cret?p@cret@127.0.0.1:x/db", "postgres://app@127.0.0.1:x/db"),
            ("postgres://a/cret:p@127.0.0.1:x/db", "postgres://…@127.0.0.1:x/db"),
            ("postgres://h:x/db?password=cret&cret", "postgres://h:x/db"),
            ("postgres://h:x/db?password=a@cret", "postgres://…"),
            ("pg sql:app:cret@127.0.0.1//db", "pg sql@127.0.0.1//db"),
        ] {
            let message = TargetUrl::parse(text).expect_err(text).to_string();
            assert!(message.starts_with(&format!("target `{shown}`: ")), "{text}: {message}");
        }
    }
}
