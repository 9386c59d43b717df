//! What must not be shown: passwords among the binding's properties, and wherever the binding or the JVM repeats them.

/// Texts that are left out of whatever is shown.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// The longest first, since one may be a part of another.
    texts: Vec<String>,
}

/// Behind these ends a value within a text such as a connection string.
const ENDS: [char; 8] = ['&', ';', ',', ' ', ')', '}', '"', '\''];

impl Secrets {
    /// Those of properties: values whose name says so, and passwords within other values.
    pub(crate) fn of(properties: &[(String, String)]) -> Secrets {
        let mut texts: Vec<String> = Vec::new();
        for (name, value) in properties {
            if driver::names_secret(name) {
                texts.push(value.clone());
            } else if driver::holds_secret(value) {
                texts.extend(within(value));
            }
        }
        texts.retain(|text| !text.is_empty());
        texts.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        texts.dedup();
        Secrets { texts }
    }

    /// A text without them.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |shown, secret| shown.replace(secret.as_str(), "…"))
    }
}

/// The passwords within a connection string: behind the word and `=`, and before `@`.
fn within(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in value.match_indices('=') {
        let before = &value[..at];
        let name = before.rsplit(|c: char| ENDS.contains(&c) || "?{(".contains(c)).next().unwrap_or(before);
        if driver::names_secret(name) {
            let rest = &value[at + 1..];
            found.push(rest.split(ENDS).next().unwrap_or(rest).to_owned());
        }
    }
    if let Some((before, _)) = value.rsplit_once('@') {
        let authority = before.split_once("://").map_or(before, |(_, rest)| rest);
        let password = authority.split_once([':', '/']).map_or("", |(_, rest)| rest);
        found.push(password.to_owned());
        // Oracle writes `jdbc:oracle:thin:user/password@…`.
        found.extend(authority.rsplit([':', '/']).next().map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_left_wherever_it_stood() {
        for (name, value) in [
            ("db.passwd", "s3cret"),
            ("cassandra.Password", "s3cret"),
            ("aws.secretKey", "s3cret"),
            ("db.url", "jdbc:mariadb://h/db?user=ann&password=s3cret&x=y"),
            ("db.url", "jdbc:sqlserver://h;user=ann;Password=s3cret;x=y"),
            ("mongodb.url", "mongodb://ann:s3cret@h/db"),
            ("db.url", "jdbc:oracle:thin:ann/s3cret@h:1521/x"),
        ] {
            let secrets = Secrets::of(&[(name.to_owned(), value.to_owned())]);
            for said in [value.to_owned(), "login of ann with s3cret failed: s3cret".to_owned()] {
                let shown = secrets.hidden_in(&said);
                assert!(!shown.contains("s3cret") && shown.contains('…'), "{name}={value}: {shown}");
            }
            assert_eq!(secrets.hidden_in("connection refused"), "connection refused");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let properties = [("db.url", "jdbc:postgresql://h:5432/db?ssl=true"), ("hosts", "a,b"), ("p", "")];
        let secrets = Secrets::of(&properties.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(secrets.hidden_in("h:5432/db a b"), "h:5432/db a b");
    }
}
