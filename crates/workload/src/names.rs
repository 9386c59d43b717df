//! "Did you mean …?": the valid name nearest to one that was mistyped.

/// The valid name with the fewest edits from `unknown`, if that is at most a third of its length.
///
/// An edit inserts, removes, replaces or swaps neighbouring characters (Damerau 1964, restricted form); case is
/// ignored. For messages, not for hot paths.
pub fn nearest<'a>(unknown: &str, valid: &[&'a str]) -> Option<&'a str> {
    let limit = |name: &str| name.chars().count().max(3) / 3;
    valid
        .iter()
        .map(|name| (edits(&unknown.to_lowercase(), &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= limit(name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `; did you mean …?`, or the list of valid names when none is near.
pub fn suggestion(unknown: &str, valid: &[&str]) -> String {
    match nearest(unknown, valid) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; valid are {}", valid.join(", ")),
    }
}

fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in
            [("", "", 0), ("abc", "", 3), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "ba", 1)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (n, n), "{a} {b}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let valid = ["fieldcount", "fieldlength", "recordcount"];
        assert_eq!(nearest("feildcount", &valid), Some("fieldcount"));
        assert_eq!(nearest("RecordCount", &valid), Some("recordcount"));
        assert_eq!(nearest("threads", &valid), None);
        assert_eq!(suggestion("x", &valid), "; valid are fieldcount, fieldlength, recordcount");
    }
}
