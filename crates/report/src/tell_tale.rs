//! What text, page and document say of the tell-tale experiment, in the same words: what was tested, and nothing else.

mod claims;
mod names;
mod sentences;
mod words;

pub use crate::html::tell_tale_page as html;
pub use crate::json::tell_tale as json;
pub use crate::svg::tell_tale_figures as figures;
pub use crate::text::tell_tale_page as text;

pub(crate) use claims::{claim_sentences, log_sentence};
pub(crate) use names::{cell_name, group_name, label, measure_name, not_run, ran};
pub(crate) use sentences::sentence;
pub(crate) use words::{
    METHOD, bound_sign, correlation_words, few, finding_mark, finding_words, no_pauses, p_words, ratio_words,
    rounds_words, spread_words, time_spread,
};
