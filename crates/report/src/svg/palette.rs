//! Colours.

/// Okabe & Ito's blue.
pub(super) const BLUE: &str = "#0072B2";
/// Their orange.
pub(super) const ORANGE: &str = "#E69F00";
/// Their vermilion.
pub(super) const VERMILION: &str = "#D55E00";
/// Their reddish purple.
pub(super) const PURPLE: &str = "#CC79A7";
/// Their bluish green.
pub(super) const GREEN: &str = "#009E73";
/// Their sky blue.
pub(super) const SKY: &str = "#56B4E9";
/// The sliding mean.
pub(super) const RED: &str = "#C8102E";
/// Bands behind curves.
pub(super) const PALE_BLUE: &str = "#C9DFEE";
/// Titles and extremes.
pub(super) const INK: &str = "#1A1A1A";
/// Captions and labels.
pub(super) const GREY: &str = "#555555";
/// Sampled points.
pub(super) const LIGHT_GREY: &str = "#7A7A7A";
/// Grid lines.
pub(super) const GRID: &str = "#E4E4E4";
/// Warm-up.
pub(super) const SHADE: &str = "#F0F0F0";
/// Pauses of JVMs.
pub(super) const BLACK: &str = "#000000";
/// Events.
pub(super) const EVENT: &str = "#FBEFD0";

/// Viridis (van der Walt & Smith 2015) at ninths, dark end last: equal steps look equally far apart, in
/// black and white, too. Its yellow end is left out, which would not stand out from white.
const VIRIDIS: [(u8, u8, u8); 8] = [
    (0xAD, 0xDC, 0x30),
    (0x5E, 0xC9, 0x62),
    (0x28, 0xAE, 0x80),
    (0x21, 0x91, 0x8C),
    (0x2C, 0x72, 0x8E),
    (0x3B, 0x52, 0x8B),
    (0x47, 0x2D, 0x7B),
    (0x44, 0x01, 0x54),
];

/// The colour at `share` in [0, 1] of the scale, as `#rrggbb`.
pub(super) fn scale(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let index = (place as usize).min(VIRIDIS.len() - 2);
    let (a, b) = (VIRIDIS[index], VIRIDIS[index + 1]);
    let between = |a: u8, b: u8| f64::from(a) + (f64::from(b) - f64::from(a)) * (place - index as f64);
    let channel = |a, b| between(a, b).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(a.0, b.0), channel(a.1, b.1), channel(a.2, b.2))
}
