//! Reads the headers of an answer about a resource: its interaction model, its description and its digests.

use annals::{Digest, DigestAlgorithm};
use annals_server::digests::{DIGEST, read, to_text};
use annals_server::link;
use annals_server::rdf::RdfFormat;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, LINK};

/// The namespace of LDP.
pub const LDP: &str = "http://www.w3.org/ns/ldp#";
/// The algorithm that the source is asked for. For any other one, a server may have to read all bytes again.
pub const ALGORITHM: &str = "sha-256";

/// The models of LDP, the most special first.
const MODELS: [&str; 6] =
    ["NonRDFSource", "IndirectContainer", "DirectContainer", "BasicContainer", "Container", "RDFSource"];

/// The most special of some classes of LDP; without the namespace.
pub fn model_of<'c>(classes: impl Iterator<Item = &'c str> + Clone) -> Option<&'static str> {
    MODELS.into_iter().find(|model| classes.clone().any(|class| class.strip_prefix(LDP) == Some(model)))
}

fn links(headers: &HeaderMap) -> impl Iterator<Item = link::Link<'_>> + Clone {
    let values: Vec<_> = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()).collect();
    let links: Vec<_> = values.into_iter().flat_map(link::parse).collect();
    links.into_iter()
}

/// The interaction model that the links state.
pub fn stated_model(headers: &HeaderMap) -> Option<&'static str> {
    let types: Vec<_> = links(headers).filter(|link| link.is_rel("type")).map(|link| link.target).collect();
    model_of(types.iter().copied())
}

/// The address of the description of a binary.
pub fn description(headers: &HeaderMap) -> Option<String> {
    links(headers).find(|link| link.is_rel("describedby")).map(|link| link.target.to_owned())
}

/// The value of a header.
pub fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The format of an answer in RDF.
pub fn format(headers: &HeaderMap) -> Option<RdfFormat> {
    text(headers, &CONTENT_TYPE).and_then(RdfFormat::of_content_type)
}

/// The digests that a server states; leaves out what is malformed, and algorithms that Annals does not know.
pub fn digests(headers: &HeaderMap) -> Vec<Digest> {
    let values = headers.get_all(&DIGEST).iter().filter_map(|value| value.to_str().ok());
    let parts = values.flat_map(|value| value.split(','));
    parts.filter_map(|part| part.trim().split_once('=')).filter_map(digest).collect()
}

/// The digest in the object of `premis:hasMessageDigest`, such as `urn:sha1:…`.
pub fn digest_of_urn(urn: &str) -> Option<Digest> {
    digest(urn.strip_prefix("urn:")?.split_once(':')?)
}

fn digest((algorithm, text): (&str, &str)) -> Option<Digest> {
    read(DigestAlgorithm::named(algorithm)?, text)
}

/// The digests as the value of a header.
pub fn digests_text(digests: &[Digest]) -> String {
    digests.iter().map(to_text).collect::<Vec<_>>().join(", ")
}

/// True if the servers state a digest of one algorithm both, and all such digests are equal.
pub fn is_equal(a: &[Digest], b: &[Digest]) -> bool {
    let others = || b.iter().filter(|other| a.iter().any(|one| one.algorithm() == other.algorithm()));
    others().next().is_some()
        && others().all(|other| a.iter().all(|one| one.algorithm() != other.algorithm() || one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        let pair = |value: &&'static str| (HeaderName::from_static(name), value.parse().unwrap());
        values.iter().map(pair).collect()
    }

    #[test]
    fn the_most_special_model_and_the_description_are_found() {
        let found = headers(
            "link",
            &[
                "<http://www.w3.org/ns/ldp#Resource>; rel=\"type\", <http://www.w3.org/ns/ldp#Container>;rel=\"type\"",
                "<http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"",
                "<http://a/b/fcr:metadata>; rel=\"describedby\"",
            ],
        );
        assert_eq!(stated_model(&found), Some("DirectContainer"));
        assert_eq!(description(&found).as_deref(), Some("http://a/b/fcr:metadata"));
        assert_eq!(stated_model(&HeaderMap::new()), None);
    }

    #[test]
    fn a_urn_has_a_digest_of_a_known_algorithm() {
        let found = digest_of_urn("urn:sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709").unwrap();
        assert_eq!(digests_text(&[found]), "sha=2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
        for unknown in
            ["urn:sha-512/256:00", "urn:sha1:00", "info:sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"]
        {
            assert_eq!(digest_of_urn(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn digests_are_compared_in_either_form() {
        let hexadecimal =
            digests(&headers("digest", &["md5=d41d8cd98f00b204e9800998ecf8427e, sha-512/256=x"]));
        let base64 = digests(&headers("digest", &["MD5=1B2M2Y8AsgTpgAmY7PhCfg=="]));
        let other = digests(&headers("digest", &["md5=00000000000000000000000000000000"]));
        assert_eq!(hexadecimal.len(), 1);
        assert!(is_equal(&hexadecimal, &base64));
        assert!(!is_equal(&hexadecimal, &other));
        assert!(!is_equal(&hexadecimal, &[]));
        assert_eq!(digests_text(&hexadecimal), "md5=1B2M2Y8AsgTpgAmY7PhCfg==");
    }
}
