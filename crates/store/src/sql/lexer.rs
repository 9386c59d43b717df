//! Words, numbers, texts and signs of a statement, one at a time.
//!
//! Lazily, since a statement of the greatest length would make a million tokens.

use super::error::{SqlError, state};

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind<'a> {
    /// A name or keyword without quotes, as written.
    Word(&'a str),
    /// A name in quotes.
    Quoted(String),
    /// Digits, with a fraction and an exponent perhaps.
    Number(&'a str),
    /// A text constant, without its quotes and escapes.
    Text(String),
    /// `$n`, n from 1.
    Parameter(usize),
    /// An operator or a punctuation mark.
    Sign(&'a str),
    /// Behind the last token.
    End,
}

/// A token and its place in the text, in bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Reads tokens from the front of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// Characters of operators; PostgreSQL takes as many as there are.
const OPERATORS: &[u8] = b"+-*/<>=~!@#%^&|`?";
/// The greatest number of a parameter: the protocol counts them in 16 bits.
const PARAMETER_MAX: usize = 65_535;

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next token.
    pub(crate) fn token(&mut self) -> Result<Token<'a>, SqlError> {
        self.skip_space()?;
        let start = self.at;
        let kind = self.kind()?;
        Ok(Token { kind, start, end: self.at })
    }

    fn kind(&mut self) -> Result<Kind<'a>, SqlError> {
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Ok(Kind::End) };
        match first {
            b'\'' => self.quoted_text().map(Kind::Text),
            b'"' => self.quoted_name(),
            b'0'..=b'9' => self.number(),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            b'$' => self.dollar(),
            b'(' | b')' | b',' | b';' | b'.' | b'[' | b']' => Ok(self.sign(1)),
            b':' => Ok(self.sign(if rest.starts_with(b"::") { 2 } else { 1 })),
            _ if OPERATORS.contains(&first) => Ok(self.sign(operator_length(rest))),
            _ if is_word_start(first) => self.word(),
            _ => Err(self.error("syntax error at or near", self.at)),
        }
    }

    fn sign(&mut self, length: usize) -> Kind<'a> {
        let sign = &self.text[self.at..self.at + length];
        self.at += length;
        Kind::Sign(sign)
    }

    fn error(&self, what: &str, at: usize) -> SqlError {
        let near: String = self.text[at..].chars().take(40).collect();
        SqlError::new(state::SYNTAX, format!("{what} \"{near}\"")).at(self.text, at)
    }

    fn skip_space(&mut self) -> Result<(), SqlError> {
        loop {
            let rest = self.rest();
            if rest.starts_with(b"--") {
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.skip_comment()?;
            } else {
                match rest.first() {
                    Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c') => self.at += 1,
                    _ => return Ok(()),
                }
            }
        }
    }

    /// Comments of this form nest.
    fn skip_comment(&mut self) -> Result<(), SqlError> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with(b"/*") {
                open += 1;
                self.at += 2;
            } else if rest.starts_with(b"*/") {
                open -= 1;
                self.at += 2;
            } else if rest.is_empty() {
                return Err(self.error("unterminated /* comment at or near", start));
            } else {
                self.at += 1;
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Result<Kind<'a>, SqlError> {
        let rest = self.rest();
        let length = rest.iter().position(|b| !is_word_part(*b)).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        if rest.get(length) == Some(&b'\'') {
            match word {
                "E" | "e" => {
                    self.at += length;
                    return self.escaped_text().map(Kind::Text);
                }
                "B" | "b" | "X" | "x" => return Err(SqlError::unsupported("bit string constants")),
                "N" | "n" => {
                    self.at += length;
                    return self.quoted_text().map(Kind::Text);
                }
                _ => {}
            }
        }
        self.at += length;
        Ok(Kind::Word(word))
    }

    fn number(&mut self) -> Result<Kind<'a>, SqlError> {
        let start = self.at;
        let digits = |lexer: &mut Lexer<'a>| {
            let rest = lexer.rest();
            lexer.at += rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        };
        digits(self);
        if self.rest().first() == Some(&b'.') {
            self.at += 1;
            digits(self);
        }
        if let [b'e' | b'E', tail @ ..] = self.rest() {
            let sign = usize::from(matches!(tail.first(), Some(b'+' | b'-')));
            if tail.get(sign).is_some_and(u8::is_ascii_digit) {
                self.at += 1 + sign;
                digits(self);
            }
        }
        if self.rest().first().is_some_and(|b| is_word_part(*b)) {
            return Err(self.error("trailing junk after numeric literal at or near", start));
        }
        Ok(Kind::Number(&self.text[start..self.at]))
    }

    fn quoted_text(&mut self) -> Result<String, SqlError> {
        self.until_quote(b'\'', "unterminated quoted string at or near")
    }

    fn quoted_name(&mut self) -> Result<Kind<'a>, SqlError> {
        let start = self.at;
        let name = self.until_quote(b'"', "unterminated quoted identifier at or near")?;
        if name.is_empty() {
            return Err(self.error("zero-length delimited identifier at or near", start));
        }
        Ok(Kind::Quoted(name))
    }

    /// What is between quotes of this kind; two of them are one that belongs to it.
    fn until_quote(&mut self, quote: u8, unterminated: &str) -> Result<String, SqlError> {
        let start = self.at;
        self.at += 1;
        let mut content = String::new();
        loop {
            let rest = self.rest();
            let Some(length) = rest.iter().position(|b| *b == quote) else {
                return Err(self.error(unterminated, start));
            };
            content.push_str(&self.text[self.at..self.at + length]);
            self.at += length + 1;
            if self.rest().first() != Some(&quote) {
                return Ok(content);
            }
            content.push(char::from(quote));
            self.at += 1;
        }
    }

    /// `E'…'`, from its quote on.
    fn escaped_text(&mut self) -> Result<String, SqlError> {
        let start = self.at;
        self.at += 1;
        let mut content = Vec::new();
        loop {
            match self.rest() {
                [] => return Err(self.error("unterminated quoted string at or near", start)),
                [b'\'', b'\'', ..] => {
                    content.push(b'\'');
                    self.at += 2;
                }
                [b'\'', ..] => {
                    self.at += 1;
                    break;
                }
                [b'\\', escaped @ ..] => {
                    let (bytes, length) = unescape(escaped);
                    content.extend_from_slice(&bytes);
                    self.at += 1 + length;
                    // Behind a backslash a character of several bytes may have begun.
                    while !self.text.is_char_boundary(self.at) {
                        content.push(self.text.as_bytes()[self.at]);
                        self.at += 1;
                    }
                }
                [byte, ..] => {
                    content.push(*byte);
                    self.at += 1;
                }
            }
        }
        let valid = String::from_utf8(content).ok().filter(|text| !text.contains('\0'));
        valid.ok_or_else(|| {
            SqlError::new(
                state::CHARACTER_NOT_IN_REPERTOIRE,
                "invalid byte sequence for encoding \"UTF8\" in an escaped text",
            )
        })
    }

    /// `$1`, or a text between `$tag$` and `$tag$`.
    fn dollar(&mut self) -> Result<Kind<'a>, SqlError> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let digits = rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            self.at += 1 + digits;
            let number: usize = rest[..digits].parse().unwrap_or(0);
            if number == 0 || number > PARAMETER_MAX {
                let message = format!("there is no parameter ${}", &rest[..digits]);
                return Err(SqlError::new(state::UNDEFINED_PARAMETER, message).at(self.text, start));
            }
            return Ok(Kind::Parameter(number));
        }
        let tag_length = rest.bytes().position(|b| !is_word_part(b) || b == b'$').unwrap_or(rest.len());
        if rest.as_bytes().get(tag_length) != Some(&b'$') {
            return Err(self.error("syntax error at or near", start));
        }
        let tag = &self.text[start..start + tag_length + 2];
        let body = start + tag.len();
        let Some(length) = self.text[body..].find(tag) else {
            return Err(self.error("unterminated dollar-quoted string at or near", start));
        };
        self.at = body + length + tag.len();
        Ok(Kind::Text(self.text[body..body + length].to_owned()))
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word_part(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

/// As PostgreSQL cuts operators: as long as possible, not into a comment, and not ending in a sign that begins a number
/// (`=-1`), unless the operator has a character that no operator of standard SQL has.
fn operator_length(rest: &[u8]) -> usize {
    let mut length = rest.iter().position(|b| !OPERATORS.contains(b)).unwrap_or(rest.len());
    for comment in [b"--", b"/*"] {
        if let Some(at) = rest[..length].windows(2).position(|pair| pair == comment) {
            length = length.min(at.max(1));
        }
    }
    let unusual = rest[..length].iter().any(|b| b"~!@#%^&|`?".contains(b));
    while length > 1 && !unusual && matches!(rest[length - 1], b'+' | b'-') {
        length -= 1;
    }
    length
}

/// What stands for the escape whose backslash is gone, and how many bytes it takes.
fn unescape(rest: &[u8]) -> (Vec<u8>, usize) {
    let number = |digits: &[u8], radix: u32| {
        std::str::from_utf8(digits).ok().and_then(|d| u32::from_str_radix(d, radix).ok())
    };
    let run = |from: usize, most: usize, is_digit: fn(&u8) -> bool| {
        rest.iter().skip(from).take(most).take_while(|b| is_digit(b)).count()
    };
    let Some(&first) = rest.first() else { return (vec![b'\\'], 0) };
    let plain = match first {
        b'b' => Some(b'\x08'),
        b'f' => Some(b'\x0c'),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    };
    if let Some(byte) = plain {
        return (vec![byte], 1);
    }
    match first {
        b'0'..=b'7' => {
            let length = run(0, 3, |b| matches!(b, b'0'..=b'7'));
            let value = number(&rest[..length], 8).unwrap_or(0);
            (vec![(value & 0xff) as u8], length)
        }
        b'x' => match run(1, 2, u8::is_ascii_hexdigit) {
            0 => (vec![b'x'], 1),
            length => {
                let value = number(&rest[1..=length], 16).unwrap_or(0);
                (vec![(value & 0xff) as u8], 1 + length)
            }
        },
        b'u' | b'U' => {
            let length = if first == b'u' { 4 } else { 8 };
            let digits = rest.get(1..=length).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
            match digits.and_then(|d| number(d, 16)).and_then(char::from_u32) {
                Some(character) => (character.to_string().into_bytes(), 1 + length),
                None => (vec![0xff], 1), // not UTF-8: refused by the caller
            }
        }
        _ => (vec![first], 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Result<Vec<Kind<'_>>, SqlError> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        loop {
            match lexer.token()?.kind {
                Kind::End => return Ok(all),
                kind => all.push(kind),
            }
        }
    }

    fn text(content: &str) -> Kind<'static> {
        Kind::Text(content.to_owned())
    }

    #[test]
    fn tokens_of_a_statement() {
        let found =
            kinds("SELECT \"A\"\"b\", c.d -- x\n FROM/* a /* b */ */t WHERE k>=$12 and e=-1.5e3;").unwrap();
        use Kind::{Number, Parameter, Quoted, Sign, Word};
        let expected = [
            Word("SELECT"),
            Quoted("A\"b".to_owned()),
            Sign(","),
            Word("c"),
            Sign("."),
            Word("d"),
            Word("FROM"),
            Word("t"),
            Word("WHERE"),
            Word("k"),
            Sign(">="),
            Parameter(12),
            Word("and"),
            Word("e"),
            Sign("="),
            Sign("-"),
            Number("1.5e3"),
            Sign(";"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_and_their_escapes() {
        let found = kinds(r"'it''s' '' E'a\n\'b\\ \x41\101\u00e9' $$x'y$$ $t$ $$ $t$ 'a\n'").unwrap();
        let expected = ["it's", "", "a\n'b\\ AAé", "x'y", " $$ ", "a\\n"].map(text);
        assert_eq!(found, expected);
        assert_eq!(kinds("E'\\é'").unwrap(), [text("é")]);
    }

    #[test]
    fn what_is_not_a_token_is_an_error() {
        for (wrong, state) in [
            ("'abc", "42601"),
            ("\"abc", "42601"),
            ("\"\"", "42601"),
            ("/* /* */", "42601"),
            ("$a$ $b$", "42601"),
            ("E'abc\\'", "42601"),
            ("12abc", "42601"),
            ("\u{1}", "42601"),
            ("$0", "42P02"),
            ("$65536", "42P02"),
            ("E'\\xff'", "22021"),
            ("E'\\u0000'", "22021"),
            ("B'01'", "0A000"),
        ] {
            assert_eq!(kinds(wrong).unwrap_err().state, state, "{wrong}");
        }
        assert_eq!(kinds("é = 'abc").unwrap_err().position, Some(5));
    }

    #[test]
    fn operators_end_where_numbers_and_comments_begin() {
        assert_eq!(kinds("a<-1").unwrap()[1], Kind::Sign("<"));
        assert_eq!(kinds("a||--x").unwrap()[1], Kind::Sign("||"));
        assert_eq!(kinds("a<>b::int").unwrap()[1], Kind::Sign("<>"));
        assert_eq!(kinds("a@-1").unwrap()[1], Kind::Sign("@-"));
        assert_eq!(kinds("2*/*x*/3").unwrap()[1], Kind::Sign("*"));
    }
}
