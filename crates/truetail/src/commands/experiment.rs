//! `experiment`: the papers' claims that can be re-run.

use crate::cli::{Experiment, ExperimentArguments};
use crate::{Ended, output, tell_tale};
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
const CLAIMS: &[Claim] = &[
    Claim {
        paper: NOSQLMARK,
        figure: "mean response time at 80 % load, 1 s hiccup, open loop (NoSQLMark)",
        command: "truetail prove --experiment nosqlmark",
        published: "29 ms",
        ours: "27.78 ms, the closed form; 1.2 ms more are the published rig's own",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "mean that a closed loop of N threads reports (YCSB)",
        command: "truetail prove --experiment nosqlmark",
        published: "2, 6, 19 ms; N is not stated",
        ours: "2, 6, 19 ms at N = 37, 115, 438",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "the same, 49 ms",
        command: "truetail prove --experiment nosqlmark",
        published: "49 ms",
        ours: "at most 27.77 ms at any N",
        verdict: "fails: no ideal store gives more than the open mean",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "mean of the closed loop from the intended start (YCSB intended)",
        command: "truetail prove --experiment nosqlmark",
        published: "180, 49, 44, 54 ms",
        ours: "27.78 ms at every N",
        verdict: "fails: needs a rig that catches up more slowly than the store",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", hiccup: mean, p99, max",
        command: "truetail prove --experiment nosqlmark",
        published: "17.43, 603.647, 903.679 ms",
        ours: "17.45, 603.93, 903.93 ms with n = 30,000, a hiccup of 900 ms and 3.93 ms for all else",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", hiccup as YCSB sees it: mean",
        command: "truetail prove --experiment nosqlmark",
        published: "4.39 ms",
        ours: "4.41 ms with 16 threads",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", p90 of both hiccup rows",
        command: "truetail prove --experiment nosqlmark",
        published: "7.539, 4.711 ms",
        ours: "3.93 ms",
        verdict: "fails: an ideal store delays 3 % of the operations",
    },
];

const NOSQLMARK: &str = "Friedrich et al., BTW 2017 (slides)";

pub(super) fn run(arguments: &ExperimentArguments, json: bool) -> anyhow::Result<Ended> {
    if let Some(Experiment::TellTale(arguments)) = &arguments.experiment {
        return tell_tale::run(arguments, json);
    }
    if !arguments.list {
        bail!(
            "experiment: nothing to do; try `truetail experiment --list`, or `truetail experiment tell-tale --list`"
        );
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
