//! The names of clients as ACLs write them: WebIDs.

use std::str::FromStr;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::access::Principal;

/// Everything but the unreserved characters of RFC 3986.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Settings of Web Access Control.
#[derive(Clone, Debug, Default)]
pub struct WebAc {
    /// The beginning of the WebIDs of clients. Without it, ACLs name clients by their names.
    pub prefix: Option<WebIdPrefix>,
}

/// The beginning of the WebIDs of clients: the name of a client follows, percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebIdPrefix(Arc<str>);

impl FromStr for WebIdPrefix {
    type Err = String;

    /// Reads the beginning of an absolute IRI.
    fn from_str(text: &str) -> Result<WebIdPrefix, String> {
        match annals::is_iri(text) && text.contains("://") {
            true => Ok(WebIdPrefix(text.into())),
            false => Err(format!(
                "expected the beginning of IRIs, such as https://people.example/, found {text:?}"
            )),
        }
    }
}

impl WebAc {
    /// All by which an ACL may name a client: its name, and its WebID. Empty for a client without a name.
    pub fn names(&self, principal: &Principal) -> Vec<String> {
        if !principal.is_named() {
            return Vec::new();
        }
        let name = &*principal.name;
        // A name that is an IRI, for instance of a certificate, is a WebID itself.
        let has_own = name.contains("://");
        let prefixed = self.prefix.as_ref().filter(|_| !has_own);
        let web_id =
            prefixed.map(|WebIdPrefix(prefix)| format!("{prefix}{}", utf8_percent_encode(name, NAME)));
        std::iter::once(name.to_owned()).chain(web_id).collect()
    }
}
