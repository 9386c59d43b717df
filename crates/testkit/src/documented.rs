//! `docs/json.md`, with the page on experiments, against the documents that are printed, both ways: a field that it does
//! not name, and a name that no document has.

use serde_json::Value;
use std::collections::BTreeSet;

const DOCS: &str =
    concat!(include_str!("../../../docs/json.md"), include_str!("../../../docs/json-experiments.md"));

/// Objects whose keys are data and not fields.
const MAPS: [&str; 8] = [
    "quantiles",
    "by_class",
    "by_outcome",
    "workload_facts",
    "target_facts",
    "clock_facts",
    "capabilities",
    "config",
];

/// The schemas that the page lists, in its order.
pub fn schemas() -> Vec<&'static str> {
    DOCS.lines()
        .filter_map(|l| Some(l.strip_prefix("| `")?.split_once('`')?.0))
        .filter(|n| is_schema(n))
        .collect()
}

fn is_schema(name: &str) -> bool {
    name.starts_with("truetail.") && name.ends_with("/1") && DOCS.contains(&format!("\n## `{name}`\n"))
}

/// The text below a heading of the second level.
///
/// # Panics
/// When the page has no such section.
fn section(heading: &str) -> &'static str {
    let start = DOCS.find(&format!("\n## {heading}\n"));
    let start = start.unwrap_or_else(|| panic!("docs/json.md has no section {heading}"));
    let body = &DOCS[start + 4..];
    &body[..body.find("\n## ").unwrap_or(body.len())]
}

/// The last parts of the paths in the tables' first columns: `verdict.reasons[].kind` names `kind`.
fn named(section: &'static str) -> BTreeSet<&'static str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(path, _)| path.rsplit('.').next().unwrap_or(path)).collect()
}

/// What the page says of one schema.
#[derive(Debug)]
pub struct Schema {
    name: String,
    own: BTreeSet<&'static str>,
    shared: BTreeSet<&'static str>,
}

impl Schema {
    /// Reads its section and that of the shared objects.
    ///
    /// # Panics
    /// When the page has no such section.
    pub fn new(name: &str) -> Schema {
        let own = named(section(&format!("`{name}`")));
        Schema { name: name.to_owned(), own, shared: named(section("Shared objects")) }
    }

    /// Line by line, what these documents have and the page does not name, and what it names and none of them
    /// has; a document of another schema, too. Documents of other schemas that are part of one are not looked
    /// into. Empty is good.
    pub fn differences(&self, documents: &[Value]) -> Vec<String> {
        let mut used = BTreeSet::new();
        let mut found = Vec::new();
        for document in documents {
            if document["schema"] != self.name.as_str() {
                found.push(format!("a document of {} is not of {}", document["schema"], self.name));
            }
            self.fields(document, &mut used);
        }
        let unnamed = used.iter().filter(|k| !self.names(k));
        found.extend(unnamed.map(|k| format!("docs/json.md does not name `{k}` of {}", self.name)));
        let unused = self.own.iter().filter(|k| !used.contains(**k));
        found.extend(unused.map(|k| format!("docs/json.md names `{k}`, which no {} has", self.name)));
        found
    }

    /// Names of the shared objects' fields that none of the documents has.
    pub fn unused_shared(documents: &[Value]) -> Vec<&'static str> {
        let mut used = BTreeSet::new();
        documents.iter().for_each(|d| keys(d, &|_| true, &mut used));
        named(section("Shared objects")).into_iter().filter(|k| !used.contains(*k)).collect()
    }

    fn names(&self, key: &str) -> bool {
        self.own.contains(key) || self.shared.contains(key)
    }

    fn fields(&self, document: &Value, used: &mut BTreeSet<String>) {
        keys(document, &|part| part.get("schema").is_none_or(|s| *s == self.name.as_str()), used);
    }
}

fn keys(value: &Value, wanted: &dyn Fn(&Value) -> bool, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if wanted(value) => {
            for (name, field) in fields {
                found.insert(name.clone());
                match field {
                    // What a map holds may have fields again.
                    Value::Object(entries) if MAPS.contains(&name.as_str()) => {
                        entries.values().for_each(|entry| keys(entry, wanted, found));
                    }
                    _ => keys(field, wanted, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|entry| keys(entry, wanted, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_on_either_side_is_found() {
        let schema = Schema::new("truetail.config/1");
        let good = json!({"schema": "truetail.config/1", "config": {"any": {"thing": 1}}});
        assert_eq!(schema.differences(&[good]), ["docs/json.md does not name `thing` of truetail.config/1"]);
        let good = json!({"schema": "truetail.config/1", "config": {"any": 1}});
        assert_eq!(schema.differences(std::slice::from_ref(&good)), Vec::<String>::new());
        let mut more = good.clone();
        more["new"] = json!(1);
        assert_eq!(schema.differences(&[more]).len(), 1);
        let less = json!({"schema": "truetail.config/1"});
        assert_eq!(
            schema.differences(&[less]),
            ["docs/json.md names `config`, which no truetail.config/1 has"]
        );
        let other = schema.differences(&[json!({"schema": "other", "config": {}})]);
        assert_eq!(other[0], "a document of \"other\" is not of truetail.config/1");
    }
}
