//! The four formats of RDF, and the choice of one by media type and by `Accept`.

use crate::protocol::header_text::split;

/// A format that the door reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RdfFormat {
    /// <https://www.w3.org/TR/turtle/>
    Turtle,
    /// <https://www.w3.org/TR/n-triples/>
    NTriples,
    /// <https://www.w3.org/TR/json-ld11/>
    JsonLd,
    /// <https://www.w3.org/TR/rdf-syntax-grammar/>
    RdfXml,
}

impl RdfFormat {
    /// All formats, the one for requests without `Accept` first.
    pub const ALL: [RdfFormat; 4] =
        [RdfFormat::Turtle, RdfFormat::NTriples, RdfFormat::JsonLd, RdfFormat::RdfXml];

    /// The format of a `Content-Type`. Parameters such as `; charset=ISO-8859-1` are ignored: RDF is always UTF-8.
    /// N3 is read as Turtle, a part of it; the rest of N3 is then an error of syntax.
    pub fn of_content_type(text: &str) -> Option<RdfFormat> {
        let media_type = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media_type.as_str() {
            "text/turtle" | "application/x-turtle" | "text/n3" | "text/rdf+n3" => Some(RdfFormat::Turtle),
            "application/n-triples" => Some(RdfFormat::NTriples),
            "application/ld+json" => Some(RdfFormat::JsonLd),
            "application/rdf+xml" => Some(RdfFormat::RdfXml),
            _ => None,
        }
    }

    /// The media type without parameters: some clients compare it as a whole.
    pub fn media_type(self) -> &'static str {
        match self {
            RdfFormat::Turtle => "text/turtle",
            RdfFormat::NTriples => "application/n-triples",
            RdfFormat::JsonLd => "application/ld+json",
            RdfFormat::RdfXml => "application/rdf+xml",
        }
    }
}

/// How well a media range fits an offer. `Exact` is stronger than any wildcard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    All,
    Type,
    Exact,
}

/// A part of `Accept`. Shape: `range` in lower case, without parameters; `quality` in thousandths.
struct Accepted {
    range: String,
    quality: u16,
}

/// The offer that `accept` prefers: by quality, then by the order of the offers.
/// Without `Accept`, and if no part of it is well-formed, the first offer. `None` if every offer is excluded.
/// Source: RFC 9110, section 12.5.1. Parameters of a range other than `q` are ignored.
pub fn negotiate(accept: Option<&str>, offers: &[&'static str]) -> Option<&'static str> {
    let accepted: Vec<Accepted> = split(accept.unwrap_or_default(), ',').filter_map(parse_part).collect();
    if accepted.is_empty() {
        return offers.first().copied();
    }
    let mut best: Option<(u16, &'static str)> = None;
    for offer in offers {
        let quality = quality_of(offer, &accepted);
        if quality > best.map_or(0, |(quality, _)| quality) {
            best = Some((quality, offer));
        }
    }
    best.map(|(_, offer)| offer)
}

/// The quality of the most specific range that fits; 0 if none does.
fn quality_of(offer: &str, accepted: &[Accepted]) -> u16 {
    let mut found: Option<(Fit, u16)> = None;
    for part in accepted {
        let Some(fit) = fit(&part.range, offer) else { continue };
        let is_better =
            found.is_none_or(|(before, quality)| fit > before || (fit == before && part.quality > quality));
        if is_better {
            found = Some((fit, part.quality));
        }
    }
    found.map_or(0, |(_, quality)| quality)
}

fn fit(range: &str, offer: &str) -> Option<Fit> {
    let offer = offer.split(';').next().unwrap_or_default().trim();
    if range == "*/*" {
        return Some(Fit::All);
    }
    if range.eq_ignore_ascii_case(offer) {
        return Some(Fit::Exact);
    }
    let main = range.strip_suffix("/*")?;
    offer.split('/').next().is_some_and(|found| found.eq_ignore_ascii_case(main)).then_some(Fit::Type)
}

/// `None` for a malformed part.
fn parse_part(part: &str) -> Option<Accepted> {
    let mut pieces = split(part, ';').map(str::trim);
    let range = pieces.next()?.to_ascii_lowercase();
    let (main, sub) = range.split_once('/')?;
    let is_well_formed = is_token(main) && is_token(sub) && (main != "*" || sub == "*");
    if !is_well_formed {
        return None;
    }
    let mut quality = 1_000;
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("q") {
            quality = parse_quality(value.trim())?;
        }
    }
    Some(Accepted { range, quality })
}

fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// Shape: `0`, `0.5`, `1.000`: at most three digits after the point, at most 1. Units of the result: thousandths.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_well_formed = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths: u16 =
        if is_well_formed { format!("{fraction:0<3}").parse().ok()? } else { return None };
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1_000),
        _ => None,
    }
}
