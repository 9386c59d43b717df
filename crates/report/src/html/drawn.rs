//! SVG files as figures of a page, in the page's colours.

use super::STYLE as OF_ALL;

/// The style sheet for them.
pub(super) const STYLE: &str = include_str!("../../assets/drawn.css");

/// The figures' colours and the style's names for them: on paper they are the same, in the dark they are not.
const COLOURS: [(&str, &str); 16] = [
    ("#ffffff", "--paper"),
    ("#1A1A1A", "--ink"),
    ("#555555", "--muted"),
    ("#7A7A7A", "--point"),
    ("#E4E4E4", "--grid"),
    ("#0072B2", "--blue"),
    ("#D55E00", "--vermilion"),
    ("#E69F00", "--orange"),
    ("#CC79A7", "--purple"),
    ("#009E73", "--green"),
    ("#56B4E9", "--sky"),
    ("#C9DFEE", "--pale-blue"),
    ("#FBEFD0", "--pale-orange"),
    ("#C8102E", "--red"),
    ("#F0F0F0", "--shade"),
    ("#000000", "--pause"),
];

/// An SVG file as a figure of the page, in the page's colours.
pub(super) fn inline(name: &str, svg: &str) -> String {
    // Within a page of HTML the name space is known.
    let bare = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    format!("<figure id=\"{name}\" class=\"drawn\">\n{}</figure>\n", themed(bare))
}

/// Elements in the page's colours.
pub(super) fn themed(svg: String) -> String {
    COLOURS
        .iter()
        .fold(svg, |svg, (colour, name)| svg.replace(&format!("\"{colour}\""), &format!("\"var({name})\"")))
}

/// A whole page without scripts, which reaches for nothing; `style` is what it has besides the style of all pages.
pub(super) fn still_page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:; base-uri 'none'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title} – truetail</title>\n\
         <style>\n{OF_ALL}{STYLE}{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}
