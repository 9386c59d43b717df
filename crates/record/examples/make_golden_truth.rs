//! Writes the golden truth log of the present format: `cargo run -p record --example make_golden_truth -- DIR`.
//!
//! As with `make_golden`: once for a new format, and never again.

#[path = "../tests/golden/truth_content.rs"]
mod content;

use record::{RecordError, TruthEnd, TruthWriter};

fn main() -> Result<(), RecordError> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "golden-truth".to_owned());
    let mut writer = TruthWriter::create(&dir, &content::header())?;
    content::events().into_iter().for_each(|event| writer.event(event));
    content::anchors().into_iter().for_each(|anchor| writer.anchor(anchor));
    writer.write_rows(&content::rows())?;
    writer.finish(TruthEnd::new(content::facts())).map(drop)
}
