//! The fields of a line, as RFC 4180 has them but for line breaks within quotes.

use std::borrow::Cow;

/// Splits a line at its commas, but for those in quotes; a quote within quotes is doubled. Blanks around a field that has no
/// quotes do not count. `Err` for a quote that does not end.
pub(crate) fn fields(line: &str) -> Result<Vec<Cow<'_, str>>, &'static str> {
    if !line.contains('"') {
        return Ok(line.split(',').map(|field| Cow::Borrowed(field.trim())).collect());
    }
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = first(rest)?;
        found.push(field);
        match after {
            Some(after) => rest = after,
            None => return Ok(found),
        }
    }
}

/// What parts the fields of a line instead of commas, of which it has none.
pub(crate) fn other_separator(line: &str) -> Option<&'static str> {
    let known = [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")];
    let found = known.into_iter().find(|(sign, _)| line.contains(*sign)).map(|(_, name)| name);
    found.filter(|_| !line.contains(','))
}

/// The first field, and what comes after its comma.
fn first(text: &str) -> Result<(Cow<'_, str>, Option<&str>), &'static str> {
    let Some(quoted) = text.trim_start().strip_prefix('"') else {
        return Ok(match text.split_once(',') {
            Some((field, after)) => (Cow::Borrowed(field.trim()), Some(after)),
            None => (Cow::Borrowed(text.trim()), None),
        });
    };
    let mut field = String::new();
    let mut rest = quoted;
    loop {
        let (before, after) = rest.split_once('"').ok_or("a quote does not end")?;
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => {
                return match after.trim_start().split_once(',') {
                    Some(("", after)) => Ok((Cow::Owned(field), Some(after))),
                    None if after.trim().is_empty() => Ok((Cow::Owned(field), None)),
                    _ => Err("there is text behind a quote that ended"),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_and_quotes() {
        let cases: [(&str, &[&str]); 6] = [
            ("a, b ,c", &["a", "b", "c"]),
            ("\"a, b\",c", &["a, b", "c"]),
            ("x,\"say \"\"hi\"\"\"", &["x", "say \"hi\""]),
            ("\"\",", &["", ""]),
            (" \"a\" ,b", &["a", "b"]),
            ("", &[""]),
        ];
        for (line, expected) in cases {
            assert_eq!(fields(line).expect("fields"), expected, "{line}");
        }
        assert!(fields("a,\"b").is_err() && fields("\"a\"b,c").is_err());
    }
}
