//! Looks through an RDF/XML document before it is parsed, and refuses what would cost the parser too much.
//!
//! An entity that stands for other entities makes a small document huge. A namespace or a base is repeated in each term.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{RdfError, RdfErrorKind, RdfLimits};

/// Entities abbreviate namespaces; a longer value abbreviates text.
const ENTITY_BYTES_MAX: usize = 1 << 10;
const ENTITIES_MAX: usize = 256;
/// The parser compares each attribute with all others of its element.
const ATTRIBUTES_MAX: usize = 256;
/// The identifier of an element is repeated for each of its attributes. Units: attributes x bytes of the longest.
const ATTRIBUTES_COST_MAX: usize = 16 << 20;

/// Errors: `TooLarge` and `Unsupported` with the place. Text that is no XML passes: the parser reports it better.
pub(super) fn check(document: &[u8], limits: &RdfLimits) -> Result<(), RdfError> {
    check_entities(document, limits)?;
    let mut reader = Reader::from_reader(document);
    let mut depth = 0_usize;
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let checked = match reader.read_event() {
            Ok(Event::Start(element)) => {
                depth += 1;
                check_element(&element, depth, limits)
            }
            Ok(Event::Empty(element)) => check_element(&element, depth + 1, limits),
            Ok(Event::End(_)) => {
                depth = depth.saturating_sub(1);
                Ok(())
            }
            Ok(Event::Eof) | Err(_) => return Ok(()),
            Ok(_) => Ok(()),
        };
        checked.map_err(|error| error.at_offset(document, start))?;
    }
}

fn check_element(element: &BytesStart<'_>, depth: usize, limits: &RdfLimits) -> Result<(), RdfError> {
    let refuse = |text: String| Err(RdfError::new(RdfErrorKind::TooLarge, text));
    let max = limits.nesting_max;
    if depth > max {
        return refuse(format!(
            "expected at most {max} elements inside each other, found more; give inner nodes an rdf:about and send them flat"
        ));
    }
    let mut count = 0_usize;
    let mut longest = 0;
    for attribute in element.attributes().with_checks(false).flatten() {
        count += 1;
        let name = attribute.key.as_ref();
        let length = attribute.value.len();
        longest = longest.max(length);
        let is_repeated = name == b"xmlns" || name.starts_with(b"xmlns:") || name == b"xml:base";
        if is_repeated && length > limits.iri_bytes_max {
            return refuse(format!(
                "expected a namespace or a base of at most {} bytes, found {length}; use a shorter IRI",
                limits.iri_bytes_max
            ));
        }
        if count > ATTRIBUTES_MAX || count.saturating_mul(longest) > ATTRIBUTES_COST_MAX {
            return refuse(format!(
                "expected at most {ATTRIBUTES_MAX} attributes and {ATTRIBUTES_COST_MAX} bytes (attributes x longest) \
                 in an element, found more; write properties as elements"
            ));
        }
    }
    Ok(())
}

/// Wherever the declaration of an entity stands, even where it is only text. The parser takes a declaration to end at
/// the next `<`, so the value is at most what stands before it.
fn check_entities(document: &[u8], limits: &RdfLimits) -> Result<(), RdfError> {
    let declaration = b"!ENTITY";
    let mut count = 0_usize;
    let mut longest = 0;
    let mut at = 0;
    while let Some(found) = document[at..].windows(declaration.len()).position(|part| part == declaration) {
        at += found + declaration.len();
        count += 1;
        let refuse = |kind, text: String| Err(RdfError::new(kind, text).at_offset(document, at));
        if count > ENTITIES_MAX {
            let text = format!("expected at most {ENTITIES_MAX} entities, found more; write them out");
            return refuse(RdfErrorKind::TooLarge, text);
        }
        let rest = &document[at..];
        let value = &rest[..rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len())];
        if value.contains(&b'&') {
            let text = "expected an entity that stands for plain text, found one that names another entity; write it out";
            return refuse(RdfErrorKind::Unsupported, text.to_owned());
        }
        if value.len() > ENTITY_BYTES_MAX {
            let text = format!(
                "expected an entity of at most {ENTITY_BYTES_MAX} bytes, found {}; write its text where it is used",
                value.len()
            );
            return refuse(RdfErrorKind::TooLarge, text);
        }
        longest = longest.max(value.len());
    }
    let uses = document.iter().filter(|byte| **byte == b'&').count();
    if uses.saturating_mul(longest) > limits.bytes_max {
        let text = format!(
            "expected entities that expand to at most {} bytes, found {uses} uses of up to {longest} bytes; \
             write them out, or send the document as Turtle",
            limits.bytes_max
        );
        return Err(RdfError::new(RdfErrorKind::TooLarge, text));
    }
    Ok(())
}
