//! A document's elements, each with the names that may stand in it.

use crate::ConfigurationError;
use roxmltree::{Document, Node, ParsingOptions};
use workload::names::{nearest, suggestion};

/// The longest text that is taken for a configuration.
const LONGEST: usize = 4 << 20;
/// Elements, attributes, texts and comments.
const NODES_MOST: u32 = 200_000;

/// Reads a document. Document types are refused, and with them all entities but XML's own: what is read can't grow.
///
/// # Errors
/// One line that says where it stops to be XML.
pub(crate) fn document(text: &str) -> Result<Document<'_>, ConfigurationError> {
    if text.len() > LONGEST {
        let problem = format!("it has {} bytes; a configuration has at most {LONGEST}", text.len());
        return Err(ConfigurationError::whole(problem));
    }
    let options = ParsingOptions { nodes_limit: NODES_MOST, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        if matches!(error, roxmltree::Error::DtdDetected) {
            return ConfigurationError::whole(
                "it has a <!DOCTYPE>, whose entities are not expanded here; take it out",
            );
        }
        ConfigurationError::at(error.pos().row, format!("not XML: {error}"))
    })
}

/// An element whose children are looked at by name.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    node: Node<'a, 'a>,
}

impl<'a> Element<'a> {
    pub(crate) fn root(document: &'a Document<'a>) -> Element<'a> {
        Element { node: document.root_element() }
    }

    pub(crate) fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    /// The line that it begins in, from 1.
    pub(crate) fn line(self) -> u32 {
        self.node.document().text_pos_at(self.node.range().start).row
    }

    pub(crate) fn error(self, problem: impl Into<String>) -> ConfigurationError {
        ConfigurationError::at(self.line(), problem)
    }

    pub(crate) fn children(self) -> impl Iterator<Item = Element<'a>> {
        self.node.children().filter(|node| node.is_element()).map(|node| Element { node })
    }

    pub(crate) fn attribute(self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    /// Its text without the white space around it, and without comments.
    ///
    /// # Errors
    /// Where there are elements in it.
    pub(crate) fn text(self) -> Result<String, ConfigurationError> {
        if let Some(inner) = self.children().next() {
            return Err(inner.error(format!(
                "<{}> in <{}>, where a value should be",
                inner.name(),
                self.name()
            )));
        }
        let texts = self.node.children().filter(|node| node.is_text()).filter_map(|node| node.text());
        Ok(texts.collect::<String>().trim().to_owned())
    }

    /// Its value; `parse` says what is expected instead.
    pub(crate) fn value<T>(
        self,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ConfigurationError> {
        let text = self.text()?;
        parse(&text).ok_or_else(|| {
            self.error(format!("<{}>{text}</{}>: expected {expected}", self.name(), self.name()))
        })
    }

    pub(crate) fn truth(self) -> Result<bool, ConfigurationError> {
        self.value("`true` or `false`", |text| match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    pub(crate) fn whole(self, least: u64, most: u64) -> Result<u64, ConfigurationError> {
        self.value(&format!("a whole number in {least}..{most}"), |text| {
            text.parse().ok().filter(|number| (least..=most).contains(number))
        })
    }

    /// Checks that nothing stands in it but these elements, with attributes that are known.
    ///
    /// # Errors
    /// Names the first that does not belong there, and the nearest that does.
    pub(crate) fn require_known(
        self,
        children: &[&str],
        attributes_of: impl Fn(&str) -> &'static [&'static str],
    ) -> Result<(), ConfigurationError> {
        for child in self.children() {
            let name = child.name();
            if !children.contains(&name) {
                let hint = renamed(name).map_or_else(
                    || suggestion(name, children),
                    |new| format!("; that is OLTPBench's: BenchBase has <{new}>"),
                );
                return Err(child.error(format!("there is no element <{name}> in <{}>{hint}", self.name())));
            }
            let valid = attributes_of(name);
            for attribute in child.node.attributes() {
                let given = attribute.name();
                if !valid.contains(&given) {
                    let hint = match nearest(given, valid) {
                        Some(near) => format!("; did you mean `{near}`?"),
                        None if valid.is_empty() => "; it has none".to_owned(),
                        None => format!("; it has {}", valid.join(", ")),
                    };
                    return Err(child.error(format!("<{name}> has no attribute `{given}`{hint}")));
                }
            }
        }
        let loose = self
            .node
            .children()
            .find(|node| node.is_text() && node.text().is_some_and(|text| !text.trim().is_empty()));
        match loose {
            Some(node) => {
                let row = node.document().text_pos_at(node.range().start).row;
                let problem = format!("text between the elements of <{}>; take it out", self.name());
                Err(ConfigurationError::at(row, problem))
            }
            None => Ok(()),
        }
    }

    /// The child of this name that is meant for a benchmark: with its attribute `bench`, else without one.
    ///
    /// # Errors
    /// When there are two of them.
    pub(crate) fn of_bench(
        self,
        name: &str,
        benchmark: &str,
    ) -> Result<Option<Element<'a>>, ConfigurationError> {
        let (mut own, mut of_all) = (None, None);
        for child in self.children().filter(|child| child.name() == name) {
            let slot = match child.attribute("bench") {
                Some(bench) if bench.eq_ignore_ascii_case(benchmark) => &mut own,
                Some(_) => continue,
                None => &mut of_all,
            };
            if slot.replace(child).is_some() {
                return Err(child.error(format!("a second <{name}> in <{}>; leave one", self.name())));
            }
        }
        Ok(own.or(of_all))
    }

    /// The only child of this name.
    pub(crate) fn only(self, name: &str) -> Result<Option<Element<'a>>, ConfigurationError> {
        self.of_bench(name, "")
    }
}

/// What elements of OLTPBench's configurations are called today.
fn renamed(name: &str) -> Option<&'static str> {
    match name {
        "dbtype" => Some("type"),
        "DBUrl" => Some("url"),
        "DBName" => Some("url"),
        _ => None,
    }
}
