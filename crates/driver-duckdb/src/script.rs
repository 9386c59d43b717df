//! Takes a script apart into statements, so that an error can show the one that failed.

/// The statements of a script, without their semicolons; those that are empty or only a remark are left out.
pub(crate) fn statements(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at, mut says) = (0, 0, false);
    while at < script.len() {
        let rest = &script[at..];
        if rest.starts_with(';') {
            if says {
                found.push(script[start..at].trim());
            }
            (start, says) = (at + 1, false);
            at += 1;
            continue;
        }
        let (length, is_remark) = token(rest);
        says |= !is_remark && !rest[..length].trim().is_empty();
        at += length;
    }
    if says {
        found.push(script[start..].trim());
    }
    found
}

/// Bytes of what stands first, in which a semicolon is none, and whether it is a remark. Never 0.
fn token(rest: &str) -> (usize, bool) {
    let until = |opening: usize, closing: &str| {
        rest[opening..].find(closing).map_or(rest.len(), |length| opening + length + closing.len())
    };
    if rest.starts_with("--") {
        return (until(2, "\n"), true);
    }
    if rest.starts_with("/*") {
        return (until(2, "*/"), true);
    }
    for quote in ["'", "\"", "$$"] {
        if rest.starts_with(quote) {
            // A doubled quote closes and opens again.
            return (until(quote.len(), quote), false);
        }
    }
    (rest.chars().next().map_or(1, char::len_utf8), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_quotes_and_remarks_end_nothing() {
        let script = "CREATE TABLE a (b int); -- one; two\n;; INSERT INTO a VALUES ('x;''y;');/* ; */ \
                      SELECT \";\", $$;$$; -- the end";
        let expected = [
            "CREATE TABLE a (b int)",
            "-- one; two",
            "INSERT INTO a VALUES ('x;''y;')",
            "/* ; */ SELECT \";\", $$;$$",
        ];
        let found = statements(script);
        assert_eq!(found, [expected[0], expected[2], expected[3]]);
        assert_eq!(statements(" -- only a remark\n;;"), Vec::<&str>::new());
        assert_eq!(statements("SELECT 'grüße;"), ["SELECT 'grüße;"]);
        assert_eq!(statements("SELECT 1; /* open ;"), ["SELECT 1"]);
    }

    #[test]
    fn fuzz_nothing_is_lost() {
        let known = ["SELECT ';'; -- x;\n/* ; */ SELECT $$;$$;"];
        let words = ["'", "\"", ";", "$$", "--", "/*", "*/", "\n", "ü", "a"];
        testkit::fuzz::Fuzz::new("duckdb-script").from(known).words(words).run(5_000, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for statement in statements(&text) {
                assert!(text.contains(statement) && !statement.is_empty());
            }
        });
    }
}
