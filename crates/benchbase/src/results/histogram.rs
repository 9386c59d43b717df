//! Counts of ends by transaction: BenchBase's page, and the file of `-jh`.

use super::{End, Results};
use serde_json::{Value, json};
use std::fmt::Write;

/// Characters of the longest bar.
const BAR: u64 = 80;

impl Results {
    /// How many of each transaction ended so, in the order of the configuration.
    pub fn counts(&self, end: End) -> Vec<(String, u64)> {
        let mut counts = vec![0; self.transactions.len()];
        for row in self.rows.iter().filter(|row| End::of(row.outcome) == end) {
            counts[usize::from(row.transaction)] += 1;
        }
        let names = self.transactions.iter().map(|t| format!("{}/{:02}", t.name, t.id));
        names.zip(counts).collect()
    }

    /// BenchBase's page at the end: a histogram for each way to end. What completed is shown of all transactions, of the others
    /// only what there is.
    pub fn page(&self) -> String {
        let mut page = String::new();
        for end in End::ALL {
            let counts: Vec<_> =
                self.counts(end).into_iter().filter(|(_, n)| *n > 0 || end == End::Completed).collect();
            let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
            let _ = writeln!(page, "{}", end.heading());
            if counts.is_empty() {
                page += "<EMPTY>\n";
            }
            for (name, count) in counts {
                let bar = "*".repeat(usize::try_from(count * BAR / most).unwrap_or(0));
                let _ = writeln!(page, "{}", format!("{name:<40} [{count:4}] {bar}").trim_end());
            }
            page.push('\n');
        }
        page
    }

    /// The document of `-jh`.
    pub fn histograms(&self) -> Value {
        let of = |end: End| {
            let counts: serde_json::Map<String, Value> = self
                .counts(end)
                .into_iter()
                .filter(|(_, n)| *n > 0 || end == End::Completed)
                .map(|(name, count)| (name, json!(count)))
                .collect();
            let all: u64 = counts.values().filter_map(Value::as_u64).sum();
            json!({"HISTOGRAM": counts, "NUM_SAMPLES": all})
        };
        json!({
            "completed": of(End::Completed),
            "aborted": of(End::Aborted),
            "rejected": of(End::RejectedRetry),
            "unexpected": of(End::UnexpectedError),
        })
    }
}
