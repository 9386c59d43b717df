//! The password file of libpq: `host:port:database:user:password` per line.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the file gave.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The password of the first line that matches.
    Found(String),
    /// No file, or no line for this connection.
    Nothing,
    /// There is a file that others may read: it is ignored, as libpq does.
    TooOpen,
}

/// Looks for a password. `host` is `localhost` for unix sockets, too.
pub(crate) fn look_up(path: &Path, host: &str, port: u16, database: &str, user: &str) -> Lookup {
    let Ok(metadata) = std::fs::metadata(path) else { return Lookup::Nothing };
    if !metadata.is_file() {
        return Lookup::Nothing;
    }
    if metadata.mode() & 0o077 != 0 {
        return Lookup::TooOpen;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Lookup::Nothing };
    match find(&text, [host, &port.to_string(), database, user]) {
        Some(password) => Lookup::Found(password),
        None => Lookup::Nothing,
    }
}

fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for value in wanted {
            let (field, behind) = split_field(rest)?;
            if field != "*" && unescape(field) != value {
                return None;
            }
            rest = behind;
        }
        // A colon in the password need not be escaped: the field goes on to the end of the line.
        Some(unescape(rest)).filter(|password| !password.is_empty())
    })
}

/// Splits at the first colon that has no backslash before it.
fn split_field(line: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((&line[..at], &line[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        // A backslash stands for the character behind it; alone at the end for itself.
        text.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# comment\n\
        db.example:5433:shop:ann:first\n\
        db.example:*:shop:ann:sec:ond\n\
        *:*:*:a\\:b\\\\c:th\\:ird\\\\\n\
        broken line\n\
        [::1]:5432:*:*:six\n\
        \\:\\:1:5432:*:*:seven";

    #[test]
    fn the_first_line_that_matches_wins() {
        let get = |wanted| find(FILE, wanted);
        assert_eq!(get(["db.example", "5433", "shop", "ann"]).as_deref(), Some("first"));
        assert_eq!(get(["db.example", "1", "shop", "ann"]).as_deref(), Some("sec:ond"));
        assert_eq!(get(["x", "1", "y", "a:b\\c"]).as_deref(), Some("th:ird\\"));
        assert_eq!(get(["::1", "5432", "y", "z"]).as_deref(), Some("seven"));
        assert_eq!(get(["db.example", "1", "shop", "bob"]), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_ignored() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("truetail-pgpass-{}", std::process::id()));
        std::fs::write(&path, "*:*:*:*:secret\n").unwrap();
        let mut seen = Vec::new();
        for mode in [0o600, 0o400, 0o640, 0o604] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            seen.push(look_up(&path, "h", 1, "d", "u"));
        }
        std::fs::remove_file(&path).unwrap();
        let found = || Lookup::Found("secret".to_owned());
        assert!(seen == [found(), found(), Lookup::TooOpen, Lookup::TooOpen]);
        assert!(look_up(&path, "h", 1, "d", "u") == Lookup::Nothing);
    }
}
