//! A client's messages, and a server's in words.

/// A message with its tag and length.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The first message, for protocol 3.0.
pub(crate) fn start(parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = 196_608_u32.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        body.extend_from_slice(value.as_bytes());
        body.push(0);
    }
    body.push(0);
    untagged(&body)
}

/// A message without a tag.
pub(crate) fn untagged(body: &[u8]) -> Vec<u8> {
    message(0, body)[1..].to_vec()
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

pub(crate) fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &text(sql))
}

pub(crate) fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let mut body = [text(name), text(sql)].concat();
    body.extend_from_slice(&(types.len() as u16).to_be_bytes());
    types.iter().for_each(|kind| body.extend_from_slice(&kind.to_be_bytes()));
    message(b'P', &body)
}

/// Parameters all in one format, results all in one: 0 is text, 1 binary.
pub(crate) fn bind(
    portal: &str,
    statement: &str,
    format: u16,
    parameters: &[Option<&[u8]>],
    results: u16,
) -> Vec<u8> {
    let mut body = [text(portal), text(statement)].concat();
    body.extend_from_slice(&1_u16.to_be_bytes());
    body.extend_from_slice(&format.to_be_bytes());
    body.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
    for parameter in parameters {
        match parameter {
            None => body.extend_from_slice(&u32::MAX.to_be_bytes()),
            Some(bytes) => {
                body.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                body.extend_from_slice(bytes);
            }
        }
    }
    body.extend_from_slice(&1_u16.to_be_bytes());
    body.extend_from_slice(&results.to_be_bytes());
    message(b'B', &body)
}

/// The same with parameters in text.
pub(crate) fn bind_texts(portal: &str, statement: &str, parameters: &[&str]) -> Vec<u8> {
    let parameters: Vec<_> = parameters.iter().map(|text| Some(text.as_bytes())).collect();
    bind(portal, statement, 0, &parameters, 0)
}

/// Of a statement (`S`) or a portal (`P`).
pub(crate) fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[vec![kind], text(name)].concat())
}

pub(crate) fn close(kind: u8, name: &str) -> Vec<u8> {
    message(b'C', &[vec![kind], text(name)].concat())
}

pub(crate) fn execute(portal: &str, most: u32) -> Vec<u8> {
    message(b'E', &[text(portal), most.to_be_bytes().to_vec()].concat())
}

pub(crate) fn sync() -> Vec<u8> {
    message(b'S', b"")
}

pub(crate) fn flush() -> Vec<u8> {
    message(b'H', b"")
}

pub(crate) fn terminate() -> Vec<u8> {
    message(b'X', b"")
}

/// Messages of a server in words, one each; bytes that are no message as such.
pub(crate) fn shown(bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let Some((tag, body, behind)) = split(rest) {
        all.push(in_words(tag, body));
        rest = behind;
    }
    if !rest.is_empty() {
        all.push(format!("bytes {}", rest.escape_ascii()));
    }
    all
}

/// The first message: its tag, its body, and what is behind it.
pub(crate) fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let length = u32::from_be_bytes(*bytes.get(1..)?.first_chunk()?) as usize;
    let body = bytes.get(5..1 + length)?;
    Some((bytes[0], body, &bytes[1 + length..]))
}

fn in_words(tag: u8, body: &[u8]) -> String {
    let mut inside = Inside(body);
    match tag {
        b'1' => "parsed".to_owned(),
        b'2' => "bound".to_owned(),
        b'3' => "closed".to_owned(),
        b'n' => "no data".to_owned(),
        b'I' => "empty".to_owned(),
        b's' => "suspended".to_owned(),
        b'C' => format!("done {}", inside.text()),
        b'Z' => format!("ready {}", char::from(body[0])),
        b'S' => format!("set {}={}", inside.text(), inside.text()),
        b'K' => "key".to_owned(),
        b'R' => format!("authentication {}", inside.u32()),
        b'v' => format!("version 3.{}, {} options unknown", inside.u32(), inside.u32()),
        b'G' => format!("copy {} of {}", inside.take(1)[0], inside.u16()),
        b't' => {
            let kinds: Vec<String> = (0..inside.u16()).map(|_| inside.u32().to_string()).collect();
            format!("parameters {}", kinds.join(","))
        }
        b'T' => format!("columns {}", inside.columns().join(",")),
        b'D' => {
            let values: Vec<String> = (0..inside.u16()).map(|_| inside.value()).collect();
            format!("row {}", values.join("|"))
        }
        b'E' | b'N' => inside.problem(tag),
        _ => format!("message {} {}", char::from(tag), body.escape_ascii()),
    }
}

struct Inside<'a>(&'a [u8]);

impl<'a> Inside<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes(*self.take(2).first_chunk().unwrap())
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(*self.take(4).first_chunk().unwrap())
    }

    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap();
        let text = String::from_utf8_lossy(self.take(end)).into_owned();
        self.take(1);
        text
    }

    fn value(&mut self) -> String {
        match self.u32() {
            u32::MAX => "NULL".to_owned(),
            length => self.take(length as usize).escape_ascii().to_string(),
        }
    }

    /// Name, type and modifier of each column, and its format if it is not text.
    fn columns(&mut self) -> Vec<String> {
        let one = |inside: &mut Self| {
            let name = inside.text();
            inside.take(6);
            let (kind, size, modifier) = (inside.u32(), inside.u16(), inside.u32());
            let modifier = if modifier == u32::MAX { String::new() } else { format!("({modifier})") };
            let format = if inside.u16() == 0 { "" } else { " binary" };
            let _ = size;
            format!("{name} {kind}{modifier}{format}")
        };
        (0..self.u16()).map(|_| one(self)).collect()
    }

    /// Severity and SQLSTATE, of an error with its message.
    fn problem(&mut self, tag: u8) -> String {
        let (mut severity, mut state, mut message) = (String::new(), String::new(), String::new());
        while self.0[0] != 0 {
            let kind = self.take(1)[0];
            let value = self.text();
            match kind {
                b'V' => severity = value,
                b'C' => state = value,
                b'M' => message = value,
                _ => {}
            }
        }
        let word = if tag == b'E' { "error" } else { "notice" };
        format!("{word} {severity} {state} {message}")
    }
}
