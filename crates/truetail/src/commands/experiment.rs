//! `experiment`: the papers' claims that can be re-run.

use crate::cli::ExperimentArguments;
use crate::{Ended, output};
use anyhow::bail;
use serde_json::{Value, json};

/// A claim of a paper, re-run here.
struct Claim {
    paper: &'static str,
    figure: &'static str,
    command: &'static str,
    published: &'static str,
    ours: &'static str,
    verdict: &'static str,
}

/// The claims that this version can re-run. Each comes with the command that does.
const CLAIMS: &[Claim] = &[];

pub(super) fn run(arguments: &ExperimentArguments, json: bool) -> anyhow::Result<Ended> {
    if !arguments.list {
        bail!("experiment: nothing to do; try `truetail experiment --list`");
    }
    if json {
        output::json(&document(CLAIMS))?;
        return Ok(Ended::Well);
    }
    output::result(&claims_table())?;
    Ok(Ended::Well)
}

fn document(claims: &[Claim]) -> Value {
    let rows: Vec<Value> = claims
        .iter()
        .map(|c| {
            json!({"paper": c.paper, "figure": c.figure, "command": c.command,
                   "published": c.published, "ours": c.ours, "verdict": c.verdict})
        })
        .collect();
    json!({"schema": "truetail.experiments/1", "claims": rows})
}

/// The table as Markdown; `docs/papers.md` is this text.
fn claims_table() -> String {
    let mut text = String::from(
        "| paper | figure | command | published | ours | verdict |\n|---|---|---|---|---|---|\n",
    );
    for c in CLAIMS {
        let row = [c.paper, c.figure, c.command, c.published, c.ours, c.verdict];
        text += &format!("| {} |\n", row.join(" | "));
    }
    if CLAIMS.is_empty() {
        text += "\nNo claim can be re-run by this version.\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_the_papers_is_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers.md");
        let text = std::fs::read_to_string(page).expect("docs/papers.md");
        assert!(
            text.ends_with(&claims_table()),
            "docs/papers.md does not end with what `truetail experiment --list` prints; `cargo xtask docs` writes it"
        );
    }

    #[test]
    fn claims_are_described() {
        let word = "x";
        let claim =
            Claim { paper: word, figure: word, command: word, published: word, ours: word, verdict: word };
        let schema = testkit::documented::Schema::new("truetail.experiments/1");
        assert_eq!(schema.differences(&[document(&[claim])]), Vec::<String>::new());
    }
}
