//! Files of Java properties, as `java.util.Properties` reads them.

/// The pairs of a file in their order; a later one of the same name beats an earlier one.
///
/// Lines that begin with `#` or `!` are comments, a backslash at the end continues a line, a name ends at the first `=`, `:` or
/// blank, and `\t \n \r \f \uXXXX` are escapes; a backslash before anything else is left out.
///
/// # Errors
/// One line: an escape that is none, with its line.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut lines = text.split(['\n', '\r']).enumerate();
    while let Some((at, first)) = lines.next() {
        let first = first.trim_start_matches(is_blank);
        if first.is_empty() || first.starts_with(['#', '!']) {
            continue;
        }
        let mut line = first.to_owned();
        while continues(&line) {
            line.pop();
            match lines.next() {
                // Of `\r\n` the first half ended the line.
                Some((_, next)) if next.is_empty() && text_had_both(text) => match lines.next() {
                    Some((_, next)) => line += next.trim_start_matches(is_blank),
                    None => break,
                },
                Some((_, next)) => line += next.trim_start_matches(is_blank),
                None => break,
            }
        }
        pairs.push(pair(&line).map_err(|problem| format!("line {}: {problem}", at + 1))?);
    }
    Ok(pairs)
}

/// A file's bytes as text: UTF-8 or, as Java has it, Latin 1.
pub(super) fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0C')
}

fn text_had_both(text: &str) -> bool {
    text.contains("\r\n")
}

/// Whether an odd number of backslashes ends it.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn pair(line: &str) -> Result<(String, String), String> {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (is_blank(c) || c == '=' || c == ':');
        escaped = !escaped && c == '\\';
        ends
    });
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start_matches(is_blank);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(is_blank);
    Ok((unescaped(name)?, unescaped(value)?))
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    // Java's characters are UTF-16: two escapes may make one.
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text.chars();
    loop {
        let next = rest.next();
        let unit = match next {
            Some('\\') => match rest.next() {
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    let unit = (digits.len() == 4).then(|| u16::from_str_radix(&digits, 16).ok()).flatten();
                    Some(unit.ok_or_else(|| format!("`\\u{digits}` is no escape: expected four hex digits"))?)
                }
                escape => {
                    flush(&mut units, &mut plain);
                    plain.extend(escape.map(|c| match c {
                        't' => '\t',
                        'n' => '\n',
                        'r' => '\r',
                        'f' => '\x0C',
                        other => other,
                    }));
                    continue;
                }
            },
            _ => None,
        };
        match (unit, next) {
            (Some(unit), _) => units.push(unit),
            (None, Some(c)) => {
                flush(&mut units, &mut plain);
                plain.push(c);
            }
            (None, None) => {
                flush(&mut units, &mut plain);
                return Ok(plain);
            }
        }
    }
}

fn flush(units: &mut Vec<u16>, plain: &mut String) {
    plain.push_str(&String::from_utf16_lossy(units));
    units.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap()
    }

    fn owned(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn files_are_read_as_java_reads_them() {
        let text = "# a comment\n! another\n\n  recordcount=1000\noperationcount : 5\nworkload site.ycsb\n\
                    spaced  =  a value with blanks  \nempty=\nlone\nkey\\ with\\=signs=v\\:w\n";
        let expected = [
            ("recordcount", "1000"),
            ("operationcount", "5"),
            ("workload", "site.ycsb"),
            ("spaced", "a value with blanks  "),
            ("empty", ""),
            ("lone", ""),
            ("key with=signs", "v:w"),
        ];
        assert_eq!(pairs(text), owned(&expected));
    }

    #[test]
    fn lines_go_on_after_a_backslash() {
        for end in ["\n", "\r\n"] {
            let text = ["list=a,\\", "   b,\\", "\tc", "two\\\\", "# no comment \\", "next=1"].join(end);
            assert_eq!(pairs(&text), owned(&[("list", "a,b,c"), ("two\\", ""), ("next", "1")]), "{end:?}");
        }
        assert_eq!(pairs("a=1\\"), owned(&[("a", "1")]));
        assert_eq!(pairs("a=1\\\n"), owned(&[("a", "1")]));
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(
            pairs("a=\\t\\n\\u00e9\\q\\\\\nb=\\ud83e\\udd80!"),
            owned(&[("a", "\t\né"), ("b", "🦀!")])
                .into_iter()
                .map(|(name, value)| if name == "a" { (name, value + "q\\") } else { (name, value) })
                .collect::<Vec<_>>()
        );
        for text in ["a=\\u12", "x=1\na=\\u12g4"] {
            assert!(parse(text).unwrap_err().contains("four hex digits"), "{text}");
        }
        assert!(parse("x=1\na=\\uzzzz").unwrap_err().starts_with("line 2: "));
    }

    #[test]
    fn old_files_are_latin_1() {
        assert_eq!(decoded(b"p=\xE9"), "p=é");
        assert_eq!(decoded("p=é".as_bytes()), "p=é");
    }

    #[test]
    fn fuzz_properties() {
        const KNOWN: [&[u8]; 3] = [b"a=1\nb : 2\\\n  3\n", b"# c\n\\u0041\\n=x", b"!\r\n\\\r\n"];
        const WORDS: [&[u8]; 8] = [b"\\", b"\n", b"\r", b"=", b":", b"\\u", b"\\ud800", b" "];
        testkit::fuzz::Fuzz::new("properties").from(KNOWN).words(WORDS).run(4_000, |input| {
            let _ = parse(&decoded(input));
        });
    }
}
