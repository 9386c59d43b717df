//! `docs`: writes the pages that the program itself prints.

use anyhow::{Context, bail};
use std::process::{Command, Stdio};

const PAPERS: &str = "docs/papers.md";
/// Where the written part begins; what stands before it is kept.
const TABLE: &str = "| paper |";

/// Writes the table of `docs/papers.md` as `truetail experiment --list` prints it.
pub(crate) fn run() -> anyhow::Result<bool> {
    let old = std::fs::read_to_string(PAPERS).with_context(|| format!("can't read {PAPERS}"))?;
    let new = with_table(&old, &listed()?)?;
    if new == old {
        println!("{PAPERS}: nothing to change");
        return Ok(true);
    }
    std::fs::write(PAPERS, new).with_context(|| format!("can't write {PAPERS}"))?;
    println!("{PAPERS}: written");
    Ok(true)
}

fn listed() -> anyhow::Result<String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "-q", "-p", "truetail", "--", "experiment", "--list"]);
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("can't start cargo")?;
    if !output.status.success() {
        bail!("`truetail experiment --list` ended with {}; its reason stands above", output.status);
    }
    String::from_utf8(output.stdout).context("`truetail experiment --list` printed what is not UTF-8")
}

fn with_table(page: &str, table: &str) -> anyhow::Result<String> {
    let Some(begin) = page.find(&format!("\n{TABLE}")) else {
        bail!("{PAPERS} has no line that begins with `{TABLE}`: nothing says where the table goes");
    };
    if !table.starts_with(TABLE) {
        bail!("`truetail experiment --list` printed no table that begins with `{TABLE}`");
    }
    Ok(format!("{}\n{table}", &page[..begin]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_replaced_and_the_text_before_it_kept() {
        let page = "# Title\n\nwords\n\n| paper | old |\n|---|---|\n| a | b |\n";
        let table = "| paper | new |\n|---|---|\n";
        assert_eq!(with_table(page, table).expect("a page"), format!("# Title\n\nwords\n\n{table}"));
        assert!(with_table("# Title\n", table).is_err());
        assert!(with_table(page, "error").is_err());
    }
}
