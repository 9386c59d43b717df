//! The tags of an XML text, one after the other, whatever becomes of the document.
//!
//! OpenJ9 writes its log as it goes on: the root is not closed until the end, not at all after a crash, and a file that is
//! written again holds several documents. An XML library refuses all of that. Texts between tags hold nothing of interest.

/// One tag. Attributes are taken as they stand: OpenJ9 escapes nothing in those that are used here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    attributes: &'a str,
    pub(super) is_close: bool,
    /// Of its first character, from 1.
    pub(super) line: usize,
    /// As it stands.
    pub(super) text: &'a str,
    /// False for a tag that the text ends in.
    pub(super) is_whole: bool,
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, behind) = after[1..].split_once(quote)?;
            if before.trim() == name {
                return Some(value);
            }
            rest = behind;
        }
        None
    }
}

/// Walks through a text; time is proportional to it.
pub(super) struct Tags<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Tags<'a> {
    pub(super) fn new(text: &'a str) -> Tags<'a> {
        Tags { text, at: 0, line: 1 }
    }

    fn advance(&mut self, to: usize) {
        self.line += self.text[self.at..to].bytes().filter(|b| *b == b'\n').count();
        self.at = to;
    }

    /// The end of the tag that begins at `self.at`: behind its `>`, or the end of the text, and whether it is whole. Within
    /// quotes a `>` ends nothing; a `<` outside of them begins another tag.
    fn end(&self) -> (usize, bool) {
        let mut quote = None;
        for (offset, byte) in self.text.bytes().enumerate().skip(self.at + 1) {
            match (quote, byte) {
                (None, b'>') => return (offset + 1, true),
                (None, b'<') => return (offset, false),
                (None, b'"' | b'\'') => quote = Some(byte),
                // No attribute goes over several lines: the quote was never closed.
                (Some(_), b'\n') => return (offset, false),
                (Some(open), _) if open == byte => quote = None,
                _ => {}
            }
        }
        (self.text.len(), false)
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let begin = self.at + self.text[self.at..].find('<')?;
            self.advance(begin);
            let rest = &self.text[begin..];
            if rest.starts_with("<!--") {
                let end = rest.find("-->").map_or(self.text.len(), |end| begin + end + 3);
                self.advance(end);
                continue;
            }
            let line = self.line;
            let (end, is_whole) = self.end();
            self.advance(end);
            let text = self.text[begin..end].trim_end();
            if text.starts_with("<?") || text.starts_with("<!") {
                continue;
            }
            let inner = text.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
            let is_close = inner.starts_with('/');
            let inner = inner.trim_start_matches('/');
            let name_end = inner.find(char::is_whitespace).unwrap_or(inner.len());
            let (name, attributes) = inner.split_at(name_end);
            return Some(Tag { name, attributes, is_close, line, text, is_whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_a_document_that_never_ends() {
        let text = "<?xml version=\"1.0\" ?>\n<verbosegc xmlns=\"http://x/\">\n<!-- <no tag> -->\n<a x=\"1 > 0\" \
                    y='2'/>\n</a >text\n<b\n z=\"3\">\n<cut off=\"4";
        let tags: Vec<Tag> = Tags::new(text).collect();
        let names: Vec<(&str, bool, usize)> = tags.iter().map(|t| (t.name, t.is_close, t.line)).collect();
        assert_eq!(
            names,
            [("verbosegc", false, 2), ("a", false, 4), ("a", true, 5), ("b", false, 6), ("cut", false, 8)]
        );
        assert_eq!((tags[1].get("x"), tags[1].get("y"), tags[1].get("z")), (Some("1 > 0"), Some("2"), None));
        assert_eq!((tags[3].get("z"), tags[3].is_whole), (Some("3"), true));
        assert_eq!((tags[4].is_whole, tags[4].get("off")), (false, None));
    }

    #[test]
    fn a_torn_tag_ends_where_the_next_one_begins() {
        let tags: Vec<Tag> = Tags::new("<a x=1 <b y=\"2\n<c/><").collect();
        let names: Vec<(&str, bool)> = tags.iter().map(|t| (t.name, t.is_whole)).collect();
        assert_eq!(names, [("a", false), ("b", false), ("c", true), ("", false)]);
    }
}
