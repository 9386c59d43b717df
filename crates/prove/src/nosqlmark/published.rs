//! What the talk's slides show, and what of it an ideal store can and can't give.

/// One of the four groups of means on the slides, ms. They state neither the number of threads nor the rig's own delays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Published {
    /// YCSB, plain.
    pub plain_ms: f64,
    /// NoSQLMark, open.
    pub open_ms: f64,
    /// YCSB, from the intended start.
    pub intended_ms: f64,
}

/// The slides' means at 1,250/s.
pub const PUBLISHED: [Published; 4] = [
    Published { plain_ms: 2.0, open_ms: 29.0, intended_ms: 180.0 },
    Published { plain_ms: 6.0, open_ms: 29.0, intended_ms: 49.0 },
    Published { plain_ms: 19.0, open_ms: 29.0, intended_ms: 44.0 },
    Published { plain_ms: 49.0, open_ms: 29.0, intended_ms: 54.0 },
];

/// Where the published numbers can and can't come from an ideal store: one paragraph each.
pub fn remarks() -> [&'static str; 5] {
    [
        "The open mean of 29 ms can: the closed form gives 27.78 ms, and about 1.2 ms are the rig's own (round trip, times \
         in whole milliseconds, a sleep that lasts too long).",
        "Plain means of 2, 6 and 19 ms can: they belong to 37, 115 and 438 threads. The slides do not say how many \
         there were.",
        "A plain mean of 49 ms can't: no number of threads gives more than the open mean when starts are staggered. \
         It needs threads that burst into a store that is slower for them than for the open load.",
        "Intended means of 180, 49, 44 and 54 ms can't: from the intended start every number of threads gives the open \
         mean, unless the rig catches up more slowly than the store. That is a second unknown beside the number of \
         threads: a pair of plain and intended means decides neither.",
        "In the table the hiccup row follows from 30,000 operations, a stall of 900 ms, a very fast server and 3.93 ms \
         for everything else; so does the mean of the row that YCSB sees, with 16 threads. Its 3.93 ms beside the 0.92 ms \
         without a hiccup are not explained, and the p90s (7.539 and 4.711 ms) can't come from an ideal store, which \
         delays 3 % of the operations and no more.",
    ]
}
