//! Writes the elements of one figure.

use super::palette::{GREY, INK};
use crate::words::origin;
use analysis::Analysis;
use std::fmt::Write as _;

/// Width of all figures, in user units.
pub(super) const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
const CAPTION_LINE: f64 = 17.0;
/// Mean width of a character in parts of the font size: near enough to break lines and leave room.
const CHARACTER: f64 = 0.53;

/// Where a text's position lies in it.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// What a legend shows before its text.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Area,
    Line,
    Dashed,
    Dotted,
    Dot,
    Ring,
    Up,
    Down,
    /// A mark of its own: path data around the place.
    Path(&'static str),
}

/// One figure in the making. Coordinates have one decimal; what is not finite is drawn nowhere.
pub(super) struct Canvas {
    title: String,
    caption: String,
    body: String,
    /// Where the room below title, caption and legend begins.
    pub(super) top: f64,
}

impl Canvas {
    /// Begins with the title, what the figure is of and whether to believe it, and the caption. A figure
    /// travels without its page: the load model and the verdict go with it.
    pub(super) fn new(analysis: &Analysis, title: &str, caption: &str) -> Canvas {
        Canvas::of(&origin(analysis), title, caption)
    }

    /// The same for what has no analysis: `origin` says what the figure is of.
    pub(super) fn of(origin: &str, title: &str, caption: &str) -> Canvas {
        let mut canvas =
            Canvas { title: title.to_owned(), caption: caption.to_owned(), body: String::new(), top: 56.0 };
        canvas.sized_text((MARGIN, 32.0), Anchor::Start, 18.0, INK, title);
        canvas.paragraph(INK, origin);
        canvas.top += 3.0;
        canvas.paragraph(GREY, caption);
        canvas
    }

    fn paragraph(&mut self, fill: &str, text: &str) {
        for line in wrap(text, (WIDTH - 2.0 * MARGIN) / (13.0 * 0.56)) {
            let at = (MARGIN, self.top);
            self.sized_text(at, Anchor::Start, 13.0, fill, &line);
            self.top += CAPTION_LINE;
        }
    }

    /// One row of marks and words below the caption.
    pub(super) fn legend(&mut self, entries: &[(Key, &str, &str)]) {
        let (mut x, y) = (MARGIN, self.top + 9.0);
        for (key, colour, text) in entries {
            let wide = match key {
                Key::Area | Key::Line | Key::Dashed | Key::Dotted => 26.0,
                _ => 14.0,
            };
            match key {
                Key::Area => self.rect((x, y - 5.0), (20.0, 10.0), colour),
                Key::Line => self.line((x, y), (x + 20.0, y), colour, 2.2),
                Key::Dashed => self.dashed((x, y), (x + 20.0, y), colour, 1.6),
                Key::Dotted => self.dotted((x, y), (x + 20.0, y), colour, 1.6),
                Key::Dot => self.dot((x + 4.0, y), 3.0, colour),
                Key::Ring => self.ring((x + 4.0, y), colour),
                Key::Up => self.triangle((x + 5.0, y - 4.5), true, colour),
                Key::Down => self.triangle((x + 5.0, y + 4.5), false, colour),
                Key::Path(mark) => {
                    let d = format!("M{} {}{mark}", n(x + 5.0), n(y));
                    self.path(&d, &format!(r#"fill="{colour}""#));
                }
            }
            self.sized_text((x + wide, y + 4.5), Anchor::Start, 13.0, INK, text);
            x += wide + text_width(text, 13.0) + 18.0;
        }
        self.top += 24.0;
    }

    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{fill}"/>"#,
            n(x),
            n(y),
            n(width.max(0.0)),
            n(height.max(0.0)),
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let d = format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1));
        self.path(&d, &format!(r#"fill="none" stroke="{stroke}" stroke-width="{width}""#));
    }

    pub(super) fn dashed(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let d = format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1));
        self.path(
            &d,
            &format!(r#"fill="none" stroke="{stroke}" stroke-width="{width}" stroke-dasharray="5 4""#),
        );
    }

    fn dotted(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let d = format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1));
        let style =
            format!(r#"fill="none" stroke="{stroke}" stroke-width="{width}" stroke-dasharray="1.5 3""#);
        self.path(&d, &style);
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let _ = writeln!(self.body, r#"<circle cx="{}" cy="{}" r="{radius}" fill="{fill}"/>"#, n(x), n(y));
    }

    pub(super) fn ring(&mut self, at: (f64, f64), colour: &str) {
        self.dot(at, 4.2, colour);
        self.dot(at, 2.8, "#ffffff");
    }

    /// Many dots of one kind in one element: a few bytes for each.
    pub(super) fn dots(
        &mut self,
        at: impl Iterator<Item = (f64, f64)>,
        size: f64,
        colour: &str,
        opacity: f64,
    ) {
        let mut d = String::new();
        for (x, y) in at.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let _ = write!(d, "M{} {}h0", n(x), n(y));
        }
        let style = format!(
            r#"fill="none" stroke="{colour}" stroke-width="{size}" stroke-linecap="round" stroke-opacity="{opacity}""#
        );
        self.path(&d, &style);
    }

    /// A triangle that points up, or down, at a place.
    pub(super) fn triangle(&mut self, (x, y): (f64, f64), up: bool, fill: &str) {
        let away = if up { 9.0 } else { -9.0 };
        let d = format!("M{} {}l5 {away}h-10z", n(x), n(y));
        self.path(&d, &format!(r##"fill="{fill}" stroke="#ffffff" stroke-width="0.8""##));
    }

    /// `d` is path data of finite coordinates; nothing is drawn when it is empty.
    pub(super) fn path(&mut self, d: &str, attributes: &str) {
        if !d.is_empty() {
            let _ = writeln!(self.body, r#"<path d="{d}" {attributes}/>"#);
        }
    }

    /// A label of 12 units.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, fill: &str, text: &str) {
        self.sized_text(at, anchor, 12.0, fill, text);
    }

    fn sized_text(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, fill: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if size > 16.0 { r#" font-weight="600""# } else { "" };
        let _ = writeln!(
            self.body,
            r#"<text x="{}" y="{}" font-size="{size}"{weight} text-anchor="{anchor}" fill="{fill}">{}</text>"#,
            n(x),
            n(y),
            escape(text),
        );
    }

    /// The title of a vertical axis, read from below.
    pub(super) fn turned_text(&mut self, (x, y): (f64, f64), fill: &str, text: &str) {
        let (x, y) = (n(x), n(y));
        let _ = writeln!(
            self.body,
            r#"<text transform="translate({x} {y}) rotate(-90)" font-size="12" text-anchor="middle" fill="{fill}">{}</text>"#,
            escape(text),
        );
    }

    /// The file.
    pub(super) fn finish(self, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, \
             'Helvetica Neue', Arial, sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(&self.title),
            escape(&self.caption),
            self.body,
            width = n(WIDTH),
            height = n(height),
        )
    }
}

/// A coordinate with at most one decimal; zero for what is not finite.
pub(super) fn n(x: f64) -> String {
    let rounded = (x * 10.0).round() / 10.0;
    if !rounded.is_finite() || rounded == 0.0 { "0".to_owned() } else { format!("{rounded}") }
}

/// About how wide a text is; words in capitals are wider.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let capitals = text.as_bytes().windows(2).filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    (text.chars().count() as f64 + 0.3 * capitals as f64) * size * CHARACTER
}

/// Text as XML wants it; characters that XML forbids become spaces.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Lines of at most `width` characters where a word allows it.
fn wrap(text: &str, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        let longer = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && longer as f64 > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"\u{1}\n"), "a&lt;b&gt;&amp;&quot;  ");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let shown: Vec<String> = [1.25, -0.01, 3.0, f64::NAN, f64::INFINITY].map(n).to_vec();
        assert_eq!(shown, ["1.3", "0", "3", "0", "0"]);
    }
}
