//! Follows `ldp:contains` from the root of the source, and copies each resource.

use std::collections::HashSet;
use std::time::Duration;

use annals::{Error, ErrorKind, Result};
use annals_server::digests::WANT_DIGEST;
use annals_server::rdf::{RdfLimits, read};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::answer::{self, LDP};
use super::client::{Ask, Client, Trouble};
use super::graph::{Roots, Statements};
use super::target::{PutOutcome, Stated, TargetServer};
use super::{CopyOptions, CopyReport};

/// How often a resource is tried whose connections fail while its bytes flow.
const ATTEMPTS_MAX: usize = 4;
/// How long it waits in between.
const PAUSE: Duration = Duration::from_millis(500);
/// N-Triples first: servers write them as they go. Fedora refuses a binary of any type that is not here.
const ACCEPTED: &str = "application/n-triples, text/turtle;q=0.9, application/ld+json;q=0.5, \
     application/rdf+xml;q=0.4, */*;q=0.1";
/// In the root of Fedora 4: the places of its blank nodes, which each document describes that has them.
const WELL_KNOWN: &str = "/.well-known";

/// The terms of a document may have so many times its bytes, when prefixes and relative IRIs are resolved.
const EXPANSION_MAX: usize = 4;

/// The bounds of one document of the source: a container names all of its children in it.
fn limits(bytes_max: usize) -> RdfLimits {
    RdfLimits {
        triples_max: 2_000_000,
        bytes_max,
        expanded_bytes_max: bytes_max.saturating_mul(EXPANSION_MAX),
        read_time_max: Duration::from_secs(300),
        ..RdfLimits::default()
    }
}

struct Walk<'c> {
    options: &'c CopyOptions,
    client: &'c Client,
    target: TargetServer<'c>,
    roots: Roots,
    report: &'c mut CopyReport,
    /// Paths behind the root whose children are to be copied, with their depths.
    waiting: Vec<(String, usize)>,
    /// Paths behind the root, without slashes at their ends.
    seen: HashSet<String>,
}

/// Copies everything. `report` counts also before an error; `tell` gets each refused resource with the reason, and
/// `show` the number of resources.
///
/// Errors: `Io` if a server does not answer; `TooLarge` over `resources_max`. An import that is repeated skips what is
/// there.
pub async fn import(
    options: &CopyOptions,
    report: &mut CopyReport,
    tell: &mut dyn FnMut(&str, &str),
    show: &mut dyn FnMut(u64),
) -> Result<()> {
    let client = Client::new(options.time);
    let trimmed = |iri: &str| iri.trim_end_matches('/').to_owned();
    let roots = Roots {
        from: trimmed(&options.from),
        to: trimmed(&options.to),
        are_pairs_short: options.are_pairs_short,
    };
    let target = TargetServer::new(&client, options);
    let waiting = vec![(String::new(), 0)];
    let mut walk = Walk { options, client: &client, target, roots, report, waiting, seen: HashSet::new() };
    walk.seen.insert(String::new());
    while let Some((rest, depth)) = walk.waiting.pop() {
        let iri = format!("{}{rest}", walk.roots.from);
        match walk.copy(&rest, depth, tell).await {
            Ok(PutOutcome::Created) => walk.report.created_count += 1,
            Ok(PutOutcome::Updated) => walk.report.updated_count += 1,
            Ok(PutOutcome::Unchanged) => walk.report.unchanged_count += 1,
            Err(Trouble::Broken(text)) => {
                let text = format!("{text}; repeat the import: it skips what is there");
                return Err(Error::new(ErrorKind::Io, text));
            }
            Err(Trouble::Refused(text) | Trouble::Again(text)) => walk.refuse(&iri, &text, tell),
        }
        show(walk.report.seen_count());
        if walk.seen.len() > options.resources_max {
            let text = format!(
                "expected at most {} resources, found more; allow more with --resources-max",
                options.resources_max
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
    }
    Ok(())
}

impl Walk<'_> {
    fn refuse(&mut self, iri: &str, reason: &str, tell: &mut dyn FnMut(&str, &str)) {
        self.report.refused_count += 1;
        tell(iri, reason);
    }

    /// Copies a resource, and notes its children.
    async fn copy(
        &mut self,
        rest: &str,
        depth: usize,
        tell: &mut dyn FnMut(&str, &str),
    ) -> std::result::Result<PutOutcome, Trouble> {
        let mut attempt = 1;
        loop {
            match self.copy_once(rest, depth, tell).await {
                Err(Trouble::Again(_)) if attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn copy_once(
        &mut self,
        rest: &str,
        depth: usize,
        tell: &mut dyn FnMut(&str, &str),
    ) -> std::result::Result<PutOutcome, Trouble> {
        let iri = if rest.is_empty() {
            format!("{}/", self.roots.from)
        } else {
            format!("{}{rest}", self.roots.from)
        };
        let to = if rest.is_empty() { format!("{}/", self.roots.to) } else { self.roots.target(rest) };
        let response = self.get(&iri).await?;
        let model = answer::stated_model(response.headers());
        let is_binary = model == Some("NonRDFSource") || answer::format(response.headers()).is_none();
        if is_binary {
            return self.copy_binary(&to, response).await;
        }
        let statements = self.statements(&iri, response).await?;
        let model = model.or_else(|| answer::model_of(statements.classes.iter().map(String::as_str)));
        let written = match self.stray_child(rest, model, &statements.children) {
            Some(text) => Err(Trouble::Refused(text)),
            None => self.target.put_graph(&to, &statements.own, model, rest.is_empty()).await,
        };
        if !matches!(written, Err(Trouble::Again(_))) {
            // The children of a refused container may still have a place.
            self.note_children(&statements.children, depth, tell);
        }
        written
    }

    /// Why the target would make other memberships than the source: it takes a container between two resources for a
    /// member.
    fn stray_child(&self, rest: &str, model: Option<&str>, children: &[String]) -> Option<String> {
        if !matches!(model, Some("DirectContainer" | "IndirectContainer")) {
            return None;
        }
        let is_stray =
            |child: &&String| self.roots.rest(child).is_some_and(|child| !self.roots.is_child(child, rest));
        let child = children.iter().find(is_stray)?;
        let remedy = if self.options.are_pairs_short {
            ""
        } else {
            "; if the source is Fedora 4, import into an empty target with --shorten-pairs"
        };
        Some(format!("its members would differ: {child} is in it, but not directly below it{remedy}"))
    }

    /// The answer of the source about a resource.
    async fn get(&self, iri: &str) -> std::result::Result<Response<Incoming>, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        headers.insert(&WANT_DIGEST, HeaderValue::from_static(answer::ALGORITHM));
        let omitted = format!("return=representation; omit=\"{LDP}PreferMembership\"");
        headers.insert("prefer", HeaderValue::try_from(omitted).expect("it is ASCII"));
        if let Some(authorization) = &self.options.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let ask = Ask { method: Method::GET, iri: iri.to_owned(), headers, body: Bytes::new() };
        let response = self.client.send(&ask).await?;
        match response.status() {
            StatusCode::OK => Ok(response),
            _ => Err(self.client.refusal("source", response).await),
        }
    }

    async fn statements(
        &self,
        iri: &str,
        response: Response<Incoming>,
    ) -> std::result::Result<Statements, Trouble> {
        let Some(format) = answer::format(response.headers()) else {
            return Err(Trouble::Refused("expected a format of RDF from the source, found none".to_owned()));
        };
        let limits = limits(self.options.document_bytes_max);
        let read_all = self.client.read(response, limits.bytes_max).await;
        let bytes = read_all.map_err(|trouble| match trouble {
            Trouble::Refused(text) => Trouble::Refused(format!("{text}; allow more with --document-max")),
            trouble => trouble,
        })?;
        let triples = read(&*bytes, format, iri, &limits)
            .map_err(|error| Trouble::Refused(format!("the source: {error}")))?;
        Ok(Statements::of(&triples, iri, &self.roots))
    }

    async fn copy_binary(
        &mut self,
        to: &str,
        response: Response<Incoming>,
    ) -> std::result::Result<PutOutcome, Trouble> {
        let bytes_max = self.options.binary_bytes_max;
        let length =
            answer::text(response.headers(), &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if length.is_some_and(|length| length > bytes_max) {
            let text = format!("expected at most {bytes_max} bytes, found {}", length.unwrap_or_default());
            return Err(Trouble::Refused(format!("{text}; allow more with --binary-max")));
        }
        let mut stated = answer::digests(response.headers());
        let mut file_name = None;
        let mut own = Vec::new();
        if let Some(description) = answer::description(response.headers()) {
            let about = self.get(&description).await?;
            let statements = self.statements(&description, about).await?;
            if stated.is_empty() {
                stated = statements.digests;
            }
            file_name = statements.file_name;
            own = statements.own;
        }
        let is_proven = !stated.is_empty();
        let about = Stated { digests: stated, file_name };
        let (written, bytes) = self.target.put_binary(to, response, about, bytes_max).await?;
        if written != PutOutcome::Unchanged {
            self.report.binaries_count += 1;
            self.report.bytes += bytes;
            self.report.unproven_count += u64::from(!is_proven);
        }
        Ok(match (written, self.target.put_description(to, &own).await?) {
            (PutOutcome::Unchanged, PutOutcome::Created | PutOutcome::Updated) => PutOutcome::Updated,
            (written, _) => written,
        })
    }

    fn note_children(&mut self, children: &[String], depth: usize, tell: &mut dyn FnMut(&str, &str)) {
        let first = self.waiting.len();
        for child in children {
            let rest =
                self.roots.rest(child).filter(|rest| rest.starts_with('/') && !rest.contains(['?', '#']));
            let Some(rest) = rest.map(str::to_owned) else {
                let reason =
                    "it is not below the root of the source; call the source by the name that it uses itself";
                self.refuse(child, reason, tell);
                continue;
            };
            let is_known = !self.seen.insert(rest.trim_end_matches('/').to_owned());
            if is_known || rest.trim_end_matches('/') == WELL_KNOWN {
                continue;
            }
            if depth >= self.options.depth_max {
                let reason = format!(
                    "expected at most {} levels; allow more with --depth-max",
                    self.options.depth_max
                );
                self.refuse(child, &reason, tell);
                continue;
            }
            self.waiting.push((rest, depth + 1));
        }
        // In the order of the document, because the last one is copied first.
        if let Some(new) = self.waiting.get_mut(first..) {
            new.reverse();
        }
    }
}
