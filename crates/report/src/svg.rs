//! placeholder
/// placeholder
pub fn figures(_analysis: &analysis::Analysis) -> Vec<(&'static str, String)> {
    Vec::new()
}
