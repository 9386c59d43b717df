//! A configuration without its passwords, for the copy beside the results.
//!
//! The document is written anew from what was read: texts and attributes keep their words, `CDATA` becomes plain text. Then there
//! is no place left in which a password could hide by its notation; what is looked for is in [`without_secrets`].

use crate::ConfigurationError;
use crate::element::document;
use roxmltree::{Node, NodeType};

/// What stands where something was taken out.
const HIDDEN: &str = "***";

/// The document with passwords taken out: of elements and attributes that are named for one, of URLs, and of comments.
///
/// # Errors
/// Where it is not XML.
pub fn redacted(text: &str) -> Result<String, ConfigurationError> {
    let document = document(text)?;
    let mut out = String::with_capacity(text.len() + 64);
    out += "<?xml version=\"1.0\"?>\n";
    // Elements around that are named for a password: nothing within them is copied.
    let mut secrets = 0_usize;
    // Not by calls that nest as elements do: somebody else decides how deep.
    for edge in edges(document.root()) {
        match edge {
            Edge::Open(node) => {
                if secrets == 0 {
                    open(&mut out, node);
                }
                secrets += usize::from(is_secret_element(node));
            }
            Edge::Close(node) => {
                secrets -= usize::from(is_secret_element(node));
                if secrets == 0 && node.is_element() && !is_empty(node) {
                    out += &format!("</{}>", node.tag_name().name());
                }
            }
        }
    }
    out.push('\n');
    Ok(out)
}

enum Edge<'a> {
    Open(Node<'a, 'a>),
    Close(Node<'a, 'a>),
}

/// Where nodes begin and end, in the order of the text.
fn edges<'a>(root: Node<'a, 'a>) -> impl Iterator<Item = Edge<'a>> {
    let mut next = Some(Edge::Open(root));
    std::iter::from_fn(move || {
        let edge = next.take()?;
        next = match edge {
            Edge::Open(node) => Some(node.first_child().map_or(Edge::Close(node), Edge::Open)),
            Edge::Close(node) if node == root => None,
            Edge::Close(node) => {
                node.next_sibling().map(Edge::Open).or_else(|| node.parent().map(Edge::Close))
            }
        };
        Some(edge)
    })
}

fn is_secret_element(node: Node<'_, '_>) -> bool {
    node.is_element() && is_secret(node.tag_name().name())
}

/// Whether nothing stands in its copy.
fn is_empty(node: Node<'_, '_>) -> bool {
    is_secret_element(node) || !node.has_children()
}

fn open(out: &mut String, node: Node<'_, '_>) {
    match node.node_type() {
        NodeType::Root => {}
        NodeType::Element => {
            *out += &format!("<{}", node.tag_name().name());
            for attribute in node.attributes() {
                let hidden = is_secret_element(node) || is_secret(attribute.name());
                let value = if hidden { HIDDEN.to_owned() } else { without_secrets(attribute.value()) };
                *out += &format!(" {}=\"{}\"", attribute.name(), escaped(&value).replace('"', "&quot;"));
            }
            *out += if is_empty(node) { "/>" } else { ">" };
        }
        NodeType::Text => *out += &escaped(&without_secrets(node.text().unwrap_or(""))),
        NodeType::Comment => *out += &format!("<!--{}-->", without_secrets(node.text().unwrap_or(""))),
        NodeType::PI => {}
    }
    // What stands outside of the root element has no white space of its own.
    if node.is_comment() && node.parent().is_some_and(|above| above.is_root()) {
        out.push('\n');
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether a name is that of a password: `password`, `sslPassword`, `passwd`, `PWD`, `passphrase`.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["passw", "passphrase", "pwd", "secret"].iter().any(|part| name.contains(part))
}

/// Text without the values of `password=…`, `password: …`, `<password>…<`, and without what stands between `:` and `@` of an
/// authority. The names may be in any case, and percent-encoded.
fn without_secrets(text: &str) -> String {
    without_logins(&without_values(text))
}

/// The characters of a name, percent escapes included.
fn in_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.%".contains(c)
}

fn without_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(in_name) {
        let after = &rest[begin..];
        let end = after.find(|c: char| !in_name(c)).unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        out += &rest[..begin];
        out += name;
        rest = behind;
        let closes = text[..text.len() - after.len()].ends_with("</");
        if !closes && is_secret(&percent_decoded(name)) {
            let (kept, value) = separator(behind);
            if value > 0 {
                out += &behind[..kept];
                out += HIDDEN;
                rest = &behind[kept + value..];
            }
        }
    }
    out + rest
}

/// Behind the name of a password: how many bytes separate it from its value, and how many the value has.
fn separator(behind: &str) -> (usize, usize) {
    let spaces = behind.len() - behind.trim_start().len();
    let mark = behind[spaces..].chars().next();
    match mark {
        Some('=' | ':') => {
            let value = &behind[spaces + 1..];
            let lead = value.len() - value.trim_start().len();
            let kept = spaces + 1 + lead;
            let value = &behind[kept..];
            let length = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].find(quote).map_or(value.len(), |at| at + 2),
                _ => value.find(|c: char| c.is_whitespace() || "&;\"'<>".contains(c)).unwrap_or(value.len()),
            };
            (kept, length)
        }
        // An element within a comment: up to where the next tag begins.
        Some('>') => {
            let value = &behind[spaces + 1..];
            (spaces + 1, value.find('<').unwrap_or(value.len()))
        }
        // Attributes may stand between.
        Some(_)
            if spaces > 0 && behind.find('>').is_some_and(|at| behind.find('<').is_none_or(|lt| at < lt)) =>
        {
            let kept = behind.find('>').unwrap_or(0) + 1;
            let value = &behind[kept..];
            (kept, value.find('<').unwrap_or(value.len()))
        }
        _ => (0, 0),
    }
}

/// `//user:secret@host` without the secret.
fn without_logins(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//") {
        let (before, authority) = rest.split_at(at + 2);
        out += before;
        let end =
            authority.find(|c: char| c.is_whitespace() || "<\"'".contains(c)).unwrap_or(authority.len());
        let (word, behind) = authority.split_at(end);
        match (word.find(':'), word.rfind('@')) {
            (Some(colon), Some(sign)) if colon + 1 < sign => {
                out += &word[..=colon];
                out += HIDDEN;
                out += &word[sign..];
            }
            _ => out += word,
        }
        rest = behind;
    }
    out + rest
}

/// For comparing names: what is no escape stays as it is.
fn percent_decoded(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        let code = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if code.is_ascii() => {
                out.push(char::from(code));
                rest = &rest[at + 3..];
            }
            _ => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}
