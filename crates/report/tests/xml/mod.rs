//! Enough of XML to tell that a figure is well-formed.
#![allow(dead_code, reason = "each test file uses its share")]

/// One element's tag or one run of text.
enum Piece<'a> {
    Tag(&'a str),
    Text(&'a str),
}

fn pieces(xml: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = xml;
    while let Some(open) = rest.find('<') {
        found.push(Piece::Text(&rest[..open]));
        let close = rest[open..].find('>').ok_or("a tag without end")? + open;
        found.push(Piece::Tag(&rest[open + 1..close]));
        rest = &rest[close + 1..];
    }
    found.push(Piece::Text(rest));
    Ok(found)
}

/// Tags match, there is one root, attributes are quoted and told apart, text and values are escaped.
pub fn check(xml: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    for piece in pieces(xml)? {
        match piece {
            Piece::Text(text) => {
                if open.is_empty() && !text.trim().is_empty() {
                    return Err(format!("text outside of the root: {text}"));
                }
                escaped(text)?;
            }
            Piece::Tag(tag) => {
                if let Some(name) = tag.strip_prefix('/') {
                    let last = open.pop();
                    if last != Some(name) {
                        return Err(format!("</{name}> closes {last:?}"));
                    }
                    continue;
                }
                let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |t| (t, true));
                let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic()) {
                    return Err(format!("a tag named `{name}`"));
                }
                roots += u32::from(open.is_empty());
                let mut names = Vec::new();
                for (attribute, value) in in_tag(rest)? {
                    escaped(value)?;
                    if names.contains(&attribute) {
                        return Err(format!("{attribute} twice in <{tag}>"));
                    }
                    names.push(attribute);
                }
                if !is_empty {
                    open.push(name);
                }
            }
        }
    }
    match (open.is_empty(), roots) {
        (true, 1) => Ok(()),
        (true, n) => Err(format!("{n} roots")),
        (false, _) => Err(format!("never closed: {open:?}")),
    }
}

fn escaped(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        if !known.iter().any(|e| text[at..].starts_with(e)) {
            return Err(format!("a bare & in `{text}`"));
        }
    }
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t') || *c == '<') {
        Some(c) => Err(format!("{c:?} in `{text}`")),
        None => Ok(()),
    }
}

fn in_tag(mut rest: &str) -> Result<Vec<(&str, &str)>, String> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(found);
        }
        let (name, after) = rest.split_once("=\"").ok_or_else(|| format!("no value: `{rest}`"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("no end: `{after}`"))?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("an attribute named `{name}`"));
        }
        found.push((name, value));
        rest = after;
    }
}

/// All (attribute, value) pairs of a well-formed document.
pub fn attributes(xml: &str) -> impl Iterator<Item = (&str, &str)> {
    let tags = pieces(xml).unwrap_or_default().into_iter().filter_map(|piece| match piece {
        Piece::Tag(tag) if !tag.starts_with('/') => Some(tag.trim_end_matches('/')),
        _ => None,
    });
    tags.flat_map(|tag| in_tag(tag.split_once(' ').map_or("", |(_, rest)| rest)).unwrap_or_default())
}

/// The texts that a reader sees.
pub fn texts(xml: &str) -> impl Iterator<Item = String> {
    xml.split("<text ").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once('>')?;
        let (text, _) = rest.split_once('<')?;
        Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
    })
}
