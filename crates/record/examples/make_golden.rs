//! Writes the golden recording of the present format: `cargo run -p record --example make_golden -- DIR`.
//!
//! Run it once when a format is new, and check the directory in under `tests/golden`. Never again afterwards:
//! the point of a golden file is that it stays.

#[path = "../tests/golden/content.rs"]
mod content;

use record::{RecordError, RecordedVerdict, RecordingWriter};

fn main() -> Result<(), RecordError> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "golden".to_owned());
    let mut writer = RecordingWriter::create(&dir, &content::header())?;
    for facts in content::noise_sources() {
        writer.noise_source(facts);
    }
    content::events().into_iter().for_each(|event| writer.event(event));
    content::noise().into_iter().for_each(|observation| writer.noise(observation));
    writer.write_samples(&content::samples())?;
    writer.finish(content::end())?;
    let verdict = RecordedVerdict { state: "suspect".into(), reasons: vec!["3 samples were dropped".into()] };
    record::conclude(&dir, &verdict, content::SUMMARY)
}
