//! `--percentiles`: quantiles to show besides the usual ones.

use super::RunOptions;
use anyhow::anyhow;
use units::{Quantile, parse_quantile};

impl RunOptions {
    /// Quantiles to show besides [`Quantile::PRINTED`].
    pub(crate) fn quantiles(&self) -> anyhow::Result<Vec<Quantile>> {
        self.percentiles.as_deref().map_or(Ok(Vec::new()), parse_percentiles)
    }
}

/// Reads `98,99.5`, `p98,p99.5`.
pub(crate) fn parse_percentiles(text: &str) -> anyhow::Result<Vec<Quantile>> {
    let one = |item: &str| {
        let item = item.trim();
        // Plain numbers are per cent, as the option's name says: 1 is p1, not the maximum.
        let named = if item.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            format!("p{item}")
        } else {
            item.to_owned()
        };
        parse_quantile(&named).map_err(|_| {
            anyhow!("--percentiles {text}: `{item}` is not in 0..100; expected a list such as `98,99.5`")
        })
    };
    text.split(',').map(one).collect()
}
