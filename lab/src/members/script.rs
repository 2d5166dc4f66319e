//! The six scripts of the page: the requests of each, the retrieval, and the text that it counts.

use md5::{Digest, Md5};

use crate::outcome::Outcome;
use crate::run::{Client, Place, Request};

const PREFIXES: &str = "@prefix ldp: <http://www.w3.org/ns/ldp#> .\n@prefix pcdm: <http://pcdm.org/models#> .\n\
                        @prefix ore: <http://www.openarchives.org/ore/terms/> .\n";
const UPDATE_PREFIXES: &str =
    "prefix dc: <http://purl.org/dc/elements/1.1/>\nprefix pcdm: <http://pcdm.org/models#>\n";
const INBOUND: &str = "http://fedora.info/definitions/v4/repository#InboundReferences";
const INBOUND_IN_FEDORA6: &str = "http://fedora.info/definitions/fcrepo#PreferInboundReferences";
const INDIRECT: &str = "<http://www.w3.org/ns/ldp#IndirectContainer>; rel=\"type\"";

/// A script of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Children of one container.
    Children,
    /// Members of one collection, through proxies in an indirect container.
    Members,
    /// Objects that each are a member of one collection, through an indirect container of their own.
    MemberOf,
    /// Links of one resource, each by a PATCH.
    Uris,
    /// Values of one resource, each by a PATCH.
    Properties,
    /// Binaries in one container, each with its digest.
    Binaries,
}

/// All, in the order of the page.
pub const SCRIPTS: [Script; 6] =
    [Script::Children, Script::Members, Script::MemberOf, Script::Uris, Script::Properties, Script::Binaries];

/// How the requests are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// As the page's scripts have them.
    #[default]
    Page,
    /// With the least changes that Fedora 6 needs: an object is posted as Turtle and not as an update, an indirect
    /// container is one by its header `Link` and not by its `rdf:type`, and `Prefer` has the newer IRI of inbound
    /// references.
    Fedora6,
}

/// A script at work below one path.
pub struct Work {
    pub script: Script,
    pub wording: Wording,
    /// Below it is everything that the script makes.
    pub base: String,
    /// Bytes of a binary before its number.
    pub binary_bytes: usize,
    place: Place,
}

impl Script {
    /// As the page has it.
    pub fn name(self) -> &'static str {
        match self {
            Script::Children => "n-children",
            Script::Members => "n-members",
            Script::MemberOf => "n-memberof",
            Script::Uris => "n-uris",
            Script::Properties => "n-properties",
            Script::Binaries => "n-binaries",
        }
    }

    /// Whether every item changes the same resource.
    pub fn is_patch(self) -> bool {
        matches!(self, Script::Uris | Script::Properties)
    }
}

impl Work {
    /// A script below `base`, a path of the server that is not there yet.
    pub fn new(script: Script, wording: Wording, place: &Place, base: String, binary_bytes: usize) -> Work {
        Work { script, wording, base, binary_bytes, place: place.clone() }
    }

    /// Makes what the items need.
    pub fn prepare(&self, client: &mut Client) -> Outcome<()> {
        let base = &self.base;
        let make: Vec<String> = match self.script {
            Script::Children | Script::Binaries => vec![base.clone()],
            Script::Members => vec![format!("{base}/objects"), self.target()],
            Script::MemberOf => vec![format!("{base}/objects"), self.target()],
            Script::Uris | Script::Properties => vec![self.target()],
        };
        for path in make {
            client.send(&Request { method: "PUT", path, ..Request::default() })?;
        }
        if self.script == Script::Members {
            let collection = self.place.url(&self.target());
            let path = format!("{}/members", self.target());
            client.send(&self.indirect(path, "pcdm:hasMember", "ore:proxyFor", &collection))?;
        }
        Ok(())
    }

    /// Adds the item with this number, which begins at 1. Returns the path of what the last request made, if it made
    /// something.
    pub fn add(&self, client: &mut Client, number: usize) -> Outcome<Option<String>> {
        let base = &self.base;
        let objects = || match self.wording {
            Wording::Page => {
                update("POST", format!("{base}/objects"), "insert { <> a pcdm:Object } where { }")
            }
            Wording::Fedora6 => turtle("POST", format!("{base}/objects"), "<> a pcdm:Object .\n"),
        };
        let collection = self.place.url(&self.target());
        let proxy = |object: &str| {
            format!("<> a ore:Proxy ; ore:proxyFor <{object}> ; ore:proxyIn <{collection}> .\n")
        };
        let request = match self.script {
            Script::Children => {
                turtle("POST", format!("{base}/"), "<> a <http://example.org/test#Container> .\n")
            }
            Script::Members => {
                let object = self.place.url(&client.make(&objects())?);
                turtle("POST", format!("{}/members", self.target()), &proxy(&object))
            }
            Script::MemberOf => {
                let path = client.make(&objects())?;
                let (object, membership) = (self.place.url(&path), format!("{path}/membership"));
                client.send(&self.indirect(membership.clone(), "pcdm:memberOf", "ore:proxyIn", &object))?;
                turtle("POST", membership, &proxy(&object))
            }
            Script::Uris => {
                let text =
                    format!("insert {{ <> dc:relation <http://example.org/uri/{number}> }} where {{ }}");
                update("PATCH", self.target(), &text)
            }
            Script::Properties => {
                let text = format!("insert {{ <> dc:title \"this is object # {number}\" }} where {{ }}");
                update("PATCH", self.target(), &text)
            }
            Script::Binaries => {
                let body = self.binary(number);
                let digest = format!("md5={}", hexadecimal(&Md5::digest(&body)));
                let kind = "application/x-www-form-urlencoded".to_owned();
                let headers = vec![("Digest", digest), ("Content-Type", kind)];
                Request { method: "POST", path: base.clone(), headers, body }
            }
        };
        if self.script.is_patch() {
            client.send(&request).map(|_| None)
        } else {
            client.make(&request).map(Some)
        }
    }

    /// The text that the script counts in the lines of the last retrieval; `None` for binaries, which it does not list.
    pub fn pattern(&self) -> Option<&'static str> {
        match (self.script, self.wording) {
            (Script::Children, _) => Some("ldp#contains"),
            (Script::Members, _) => Some("hasMember"),
            (Script::MemberOf, Wording::Page) => Some("memberOf"),
            (Script::MemberOf, Wording::Fedora6) => Some("proxyIn"),
            (Script::Uris, _) => Some("relation"),
            (Script::Properties, _) => Some("title"),
            (Script::Binaries, _) => None,
        }
    }

    /// The retrieval that the script times; `last` is what the last item made.
    pub fn retrieval(&self, last: Option<&str>) -> Request {
        let mut headers = vec![("Accept", "application/n-triples".to_owned())];
        let path = match (self.script, last) {
            (Script::Binaries, Some(last)) => {
                headers.clear();
                last.to_owned()
            }
            _ => self.target(),
        };
        if self.script == Script::MemberOf {
            let inbound = match self.wording {
                Wording::Page => INBOUND,
                Wording::Fedora6 => INBOUND_IN_FEDORA6,
            };
            headers.push(("Prefer", format!("return=representation; include=\"{inbound}\"")));
        }
        Request { method: "GET", path, headers, body: Vec::new() }
    }

    /// The PUT of an indirect container.
    fn indirect(&self, path: String, relation: &str, inserted: &str, resource: &str) -> Request {
        let model = match self.wording {
            Wording::Page => "a ldp:IndirectContainer ; ",
            Wording::Fedora6 => "",
        };
        let text = format!(
            "<> {model}ldp:hasMemberRelation {relation} ;\n  ldp:insertedContentRelation {inserted} ; \
             ldp:membershipResource <{resource}> .\n"
        );
        let mut request = turtle("PUT", path, &text);
        if self.wording == Wording::Fedora6 {
            request.headers.push(("Link", INDIRECT.to_owned()));
        }
        request
    }

    /// The bytes of the binary with this number: zeros, then the number and a line feed.
    pub fn binary(&self, number: usize) -> Vec<u8> {
        let mut body = vec![0; self.binary_bytes];
        body.extend_from_slice(format!("{number}\n").as_bytes());
        body
    }

    /// The resource that the script retrieves.
    fn target(&self) -> String {
        let name = match self.script {
            Script::Children | Script::Binaries => return self.base.clone(),
            Script::Members => "memberCollection",
            Script::MemberOf => "collection",
            Script::Uris => "uriCollection",
            Script::Properties => "propsCollection",
        };
        format!("{}/{name}", self.base)
    }
}

fn turtle(method: &'static str, path: String, text: &str) -> Request {
    let headers = vec![("Content-Type", "text/turtle".to_owned())];
    Request { method, path, headers, body: format!("{PREFIXES}{text}").into_bytes() }
}

fn update(method: &'static str, path: String, text: &str) -> Request {
    let headers = vec![("Content-Type", "application/sparql-update".to_owned())];
    Request { method, path, headers, body: format!("{UPDATE_PREFIXES}{text}\n").into_bytes() }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_zeros_and_its_number_and_has_its_digest() {
        let place = Place::parse("http://h/r").unwrap();
        let work = Work::new(Script::Binaries, Wording::Page, &place, "/r/1".into(), 3);
        assert_eq!(work.binary(12), b"\0\0\x0012\n");
        assert_eq!(hexadecimal(&Md5::digest(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(work.retrieval(Some("/r/1/x")).path, "/r/1/x");
    }

    #[test]
    fn only_inlinks_need_a_preference() {
        let place = Place::parse("http://h/r").unwrap();
        for script in SCRIPTS {
            let request = Work::new(script, Wording::Page, &place, "/r/1".into(), 3).retrieval(None);
            let is_preferred = request.headers.iter().any(|(name, _)| *name == "Prefer");
            assert_eq!(is_preferred, script == Script::MemberOf, "{}", script.name());
        }
    }
}
