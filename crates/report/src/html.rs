//! placeholder
/// placeholder
pub fn page(_analysis: &analysis::Analysis) -> String {
    String::new()
}
