//! What is there, handed to the analysis, and what it shows written and printed.

use super::document::Document;
use crate::{Ended, output};
use analysis::tell_tale::{LookOptions, TellTale};
use anyhow::Context;
use std::path::Path;

/// Reads an experiment that was run, and makes its outputs anew.
pub(super) fn again(directory: &Path, json: bool) -> anyhow::Result<Ended> {
    let document = Document::open(directory)?;
    if !document.complete {
        output::note("this experiment was interrupted, or is being run; what there is of it is looked at");
    }
    look(directory, &document, json)
}

/// Looks at all cells, writes the page, the document and the figures, and shows the text.
pub(super) fn look(directory: &Path, document: &Document, json: bool) -> anyhow::Result<Ended> {
    let options = LookOptions { analysis: output::analysis_options(), ..LookOptions::default() };
    let found = analysis::tell_tale::look(&document.cells(directory)?, &options)?;
    write(&found, directory)?;
    if json {
        output::json(&report::tell_tale::json(&found))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let mut page = report::tell_tale::text(&found, &options);
        page += &format!("\nexperiment: {}\n", directory.join(PAGE).display());
        output::result(&page)?;
    }
    Ok(Ended::Well)
}

const PAGE: &str = "tell-tale.html";

fn write(found: &TellTale, directory: &Path) -> anyhow::Result<()> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    write(PAGE, &report::tell_tale::html(found))?;
    write("tell-tale.json", &format!("{:#}\n", report::tell_tale::json(found)))?;
    let figures = directory.join("figures");
    std::fs::create_dir_all(&figures).with_context(|| format!("can't create {}", figures.display()))?;
    report::tell_tale::figures(found)
        .iter()
        .try_for_each(|(name, svg)| write(&format!("figures/{name}.svg"), svg))
}
