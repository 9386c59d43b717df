//! What a format can't tell, and what follows.

/// How much a gap weighs against the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
    /// Worth knowing.
    Note,
    /// The numbers may be other than they seem.
    Suspect,
}

/// One thing that a tool's output does not tell, and what follows, in a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// How much it weighs.
    pub weight: Weight,
    /// What is not known, and the consequence.
    pub text: String,
    /// What to do about it; may be empty.
    pub hint: &'static str,
}

impl Gap {
    /// One that is worth knowing.
    pub fn note(text: impl Into<String>) -> Gap {
        Gap { weight: Weight::Note, text: text.into(), hint: "" }
    }

    pub(crate) fn suspect(text: impl Into<String>, hint: &'static str) -> Gap {
        Gap { weight: Weight::Suspect, text: text.into(), hint }
    }
}
