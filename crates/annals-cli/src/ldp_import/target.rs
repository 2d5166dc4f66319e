//! Writes resources at the target, unless they are there with equal content.

use annals::Digest;
use annals_server::digests::{DIGEST, WANT_DIGEST};
use annals_server::rdf::{RdfFormat, RdfLimits, read};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MATCH,
};
use hyper::{Method, Response, StatusCode};
use oxrdf::Triple;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::CopyOptions;
use super::answer::{self, LDP};
use super::client::{Ask, Client, Trouble};
use super::equality::is_same;
use super::graph::{Roots, Statements, n_triples};

/// Longest answer of the target that nobody needs. Units: bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    Created,
    Updated,
    Unchanged,
}

/// The statements of the source about the bytes of a binary, besides their headers.
#[derive(Debug, Default)]
pub struct Stated {
    /// The digests that it states.
    pub digests: Vec<Digest>,
    /// It takes precedence over `Content-Disposition`, in which Fedora 4 does not escape quotes.
    pub file_name: Option<String>,
}

/// The target.
pub struct TargetServer<'c> {
    client: &'c Client,
    /// The headers of each write: author and message.
    signature: HeaderMap,
}

impl<'c> TargetServer<'c> {
    pub fn new(client: &'c Client, options: &CopyOptions) -> TargetServer<'c> {
        let mut signature = HeaderMap::new();
        for (name, text) in [("annals-author", &options.author), ("annals-message", &options.message)] {
            let value = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            if let (false, Ok(value)) = (text.is_empty(), HeaderValue::try_from(value)) {
                signature.insert(name, value);
            }
        }
        TargetServer { client, signature }
    }

    async fn ask(
        &self,
        method: Method,
        iri: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, Trouble> {
        self.client.send(&Ask { method, iri: iri.to_owned(), headers, body: Bytes::from(body) }).await
    }

    /// Puts the statements of clients about a resource. `is_kept` leaves other statements that are there alone.
    ///
    /// Errors: `Refused` by the target, or if something else is kept.
    pub async fn put_graph(
        &self,
        iri: &str,
        own: &[Triple],
        model: Option<&str>,
        is_kept: bool,
    ) -> Result<PutOutcome, Trouble> {
        let mut headers = self.signature.clone();
        let known = self.graph(iri).await?;
        if let Some((there, tag)) = &known {
            if is_same(there, own) || (is_kept && own.is_empty()) {
                return Ok(PutOutcome::Unchanged);
            }
            if is_kept && !there.is_empty() {
                let text = "the root of the target has other statements, which stay; the import writes only below it";
                return Err(Trouble::Refused(text.to_owned()));
            }
            if let Some(tag) = tag {
                headers.insert(IF_MATCH, tag.clone());
            }
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(RdfFormat::NTriples.media_type()));
        if let (Some(model), None) = (model, &known) {
            headers.append("link", type_link(model));
        }
        let body = n_triples(own).map_err(|error| Trouble::Refused(error.to_string()))?;
        let response = self.ask(Method::PUT, iri, headers, body).await?;
        self.outcome(response, known.is_some()).await
    }

    async fn outcome(&self, response: Response<Incoming>, was_there: bool) -> Result<PutOutcome, Trouble> {
        if !response.status().is_success() {
            return Err(self.client.refusal("target", response).await);
        }
        // Read, so that the connection serves the next request.
        self.client.read(response, ANSWER_BYTES_MAX).await?;
        Ok(if was_there { PutOutcome::Updated } else { PutOutcome::Created })
    }

    /// The statements of clients about a resource, with its tag; `None` if it is not there.
    async fn graph(&self, iri: &str) -> Result<Option<(Vec<Triple>, Option<HeaderValue>)>, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(RdfFormat::NTriples.media_type()));
        let omitted = format!("return=representation; omit=\"{LDP}PreferMembership {LDP}PreferContainment\"");
        headers.insert("prefer", HeaderValue::try_from(omitted).expect("it is ASCII"));
        let response = self.ask(Method::GET, iri, headers, Vec::new()).await?;
        match response.status() {
            StatusCode::NOT_FOUND => {
                self.client.read(response, ANSWER_BYTES_MAX).await?;
                Ok(None)
            }
            StatusCode::OK if answer::format(response.headers()).is_some() => {
                let tag = response.headers().get(ETAG).cloned();
                let limits = RdfLimits::default();
                let bytes = self.client.read(response, limits.bytes_max).await?;
                let triples = read(&*bytes, RdfFormat::NTriples, iri, &limits)
                    .map_err(|error| Trouble::Refused(format!("the target: {error}")))?;
                let same = Roots { from: String::new(), to: String::new(), are_pairs_short: false };
                Ok(Some((Statements::of(&triples, iri, &same).own, tag)))
            }
            StatusCode::OK => Err(Trouble::Refused("at the target there is a binary".to_owned())),
            _ => Err(self.client.refusal("target", response).await),
        }
    }

    /// Passes on the bytes of a binary. Shape: what was written, and its bytes.
    ///
    /// Errors: `Refused` by the target, also for other digests than the source stated; `Again` if a connection fails.
    pub async fn put_binary(
        &self,
        iri: &str,
        source: Response<Incoming>,
        about: Stated,
        bytes_max: u64,
    ) -> Result<(PutOutcome, u64), Trouble> {
        let stated = about.digests;
        let mut headers = self.signature.clone();
        for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_DISPOSITION] {
            if let Some(value) = source.headers().get(&name) {
                headers.insert(name, value.clone());
            }
        }
        if let Some(name) = about.file_name {
            let name = utf8_percent_encode(&name, NON_ALPHANUMERIC);
            let value = HeaderValue::try_from(format!("attachment; filename*=UTF-8''{name}"));
            headers.insert(CONTENT_DISPOSITION, value.expect("it is ASCII"));
        }
        let mut wanted = HeaderMap::new();
        let algorithms: Vec<&str> = stated.iter().map(|digest| digest.algorithm().name()).collect();
        if let (false, Ok(value)) = (stated.is_empty(), HeaderValue::try_from(algorithms.join(", "))) {
            wanted.insert(&WANT_DIGEST, value);
        }
        let there = self.ask(Method::HEAD, iri, wanted, Vec::new()).await?;
        let was_there = match there.status() {
            StatusCode::NOT_FOUND => false,
            status if status.is_success() => true,
            _ => return Err(self.client.refusal("target", there).await),
        };
        let is_same_type = there.headers().get(CONTENT_TYPE) == source.headers().get(CONTENT_TYPE);
        if was_there && is_same_type && answer::is_equal(&stated, &answer::digests(there.headers())) {
            return Ok((PutOutcome::Unchanged, 0));
        }
        if !stated.is_empty() {
            let value = HeaderValue::try_from(answer::digests_text(&stated)).expect("it is ASCII");
            headers.insert(&DIGEST, value);
        }
        if let (true, Some(tag)) = (was_there, there.headers().get(ETAG)) {
            headers.insert(IF_MATCH, tag.clone());
        }
        headers.append("link", type_link("NonRDFSource"));
        let ask = Ask { method: Method::PUT, iri: iri.to_owned(), headers, body: Bytes::new() };
        let (response, bytes) = self.client.pass_on(&ask, source.into_body(), bytes_max).await?;
        Ok((self.outcome(response, was_there).await?, bytes))
    }

    /// Puts what clients say about a binary into its description.
    pub async fn put_description(&self, iri: &str, own: &[Triple]) -> Result<PutOutcome, Trouble> {
        let there = self.ask(Method::HEAD, iri, HeaderMap::new(), Vec::new()).await?;
        match answer::description(there.headers()) {
            Some(description) => self.put_graph(&description, own, None, false).await,
            None if own.is_empty() => Ok(PutOutcome::Unchanged),
            None => Err(Trouble::Refused("the target has no description of the binary".to_owned())),
        }
    }
}

fn type_link(model: &str) -> HeaderValue {
    HeaderValue::try_from(format!("<{LDP}{model}>; rel=\"type\"")).expect("the models are ASCII")
}
