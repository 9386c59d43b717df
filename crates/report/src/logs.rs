//! What text and page say of any log that is laid over a run, in the same words.

use units::format_count;

/// A count with its noun.
pub(crate) fn several(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", format_count(count)),
    }
}

/// What a log lacks, as the last clauses on it.
pub(crate) fn lacking(not_understood: u64, examples: &[String], clauses: &mut Vec<String>) {
    if not_understood > 0 {
        let lines = several(not_understood, "line", "lines");
        let first = examples.first().map_or(String::new(), |example| format!(": {example}"));
        clauses.push(format!("{lines} not understood{first}"));
    }
    if clauses.is_empty() {
        clauses.push("nothing of it could be laid over the run".to_owned());
    }
}

/// Where it comes from, and how its lines were placed; what is empty is not known.
pub(crate) fn origin(file: &str, format: &str, aligned_by: &str) -> String {
    let mut words = file.to_owned();
    if !format.is_empty() {
        words += &format!(", {format}");
    }
    if !aligned_by.is_empty() {
        words += &format!(", placed by {aligned_by}");
    }
    words
}
