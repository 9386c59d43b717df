//! Patterns of `KEYS`, `SCAN` and `CONFIG GET`.

/// Whether `text` matches: `*`, `?`, `[a-z]`, `[^a]`, and `\` before what stands for itself, as Redis's
/// `stringmatchlen`. Only the last `*` is ever tried again, so that the cost is at most pattern × text.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            last_star = Some((at + 1, seen));
            at += 1;
            continue;
        }
        if let Some(width) = one(&pattern[at..], text[seen]) {
            at += width;
            seen += 1;
            continue;
        }
        let Some((behind, from)) = last_star else { return false };
        (at, seen) = (behind, from + 1);
        last_star = Some((behind, from + 1));
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// How much of the pattern's front stands for `byte`, if it does.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => {
            let (found, width) = in_class(class, byte);
            found.then_some(1 + width)
        }
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
    }
}

/// Whether `byte` is in the class whose `[` is behind us, and how long the class is with its `]`. One without an end
/// ends with the pattern.
fn in_class(class: &[u8], byte: u8) -> (bool, usize) {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    loop {
        match &class[at..] {
            [] => return (found != negated, at),
            [b']', ..] => return (found != negated, at + 1),
            [b'\\', escaped, ..] => {
                found |= *escaped == byte;
                at += 2;
            }
            [a, b'-', b, ..] => {
                found |= (*a.min(b)..=*a.max(b)).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                found |= *literal == byte;
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("user*", "user1", true),
            ("u*r?", "user1", true),
            ("u*r", "user1", false),
            ("h[ae]llo", "hello", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("h\\*llo", "h*llo", true),
            ("h\\*llo", "hello", false),
            ("[abc", "c", true),
            ("a*b*c", "axxbyybzc", true),
            ("a*b*c", "axxbyybz", false),
            ("\\", "\\", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        let pattern = b"a*".repeat(1_000);
        let text = b"a".repeat(20_000);
        assert!(!matches(&[&pattern[..], b"b"].concat(), &text));
    }
}
