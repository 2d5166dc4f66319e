//! Trees of containers: items and properties at a path, with their subtree or page by page.

use std::sync::Arc;

use annals::{AsOf, Error, ErrorKind, Id, ListOptions, Snapshot, Tree, TreeItem, TreePath};
use annals_json::{JsonText, LeafForm, Members, ObjectOf, TreeEntry, TreeExtent, tree_of, write_tree};
use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::json;

use crate::answer;
use crate::answer::lines::{self, Lines};
use crate::bounds::heavy::heavy_read;
use crate::bounds::sending;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, flag, query};
use crate::protocol::names::WAIT_POSITION;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::protocol::query::decode_percent;
use crate::request::call::{Call, Weight};
use crate::request::etag::Tag;

/// The server sends a longer tree while it reads it. Units: bytes.
const WHOLE_BYTES_MAX: usize = 256 << 10;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let reads = |endpoint: Endpoint| {
        endpoint.tag("trees").takes(parameters::in_tree()).takes(parameters::reading()).fails(&[
            "not-found",
            "invalid-expression",
            "cancelled",
            "future-instant",
        ])
    };
    let planning = ["path", "candidate", WAIT_POSITION.as_str()];
    let planning = parameters::in_tree()
        .into_iter()
        .chain(parameters::reading())
        .filter(move |known| planning.contains(&known.name));
    vec![
        reads(Endpoint::new(Method::GET, "/v1/tree/{steps}", "Read an item with its subtree", get))
            .describe(
                "The path of the tree follows `/v1/tree`, as in `/v1/tree/interfaces/interface[name='eth0']/mtu`; you may also \
                 percent-encode it as one segment. A path to a property returns the value. A long answer is complete or visibly \
                 cut off. An answer has an `ETag`: that of the entity for a property, and with `depth=0`; without a depth and a time, one that covers everything below the item.",
            )
            .takes(parameters::tree_extent())
            .answers(200, "The item, or the value of the property.", "TreeContent")
            .fails(&["too-large"]),
        reads(Endpoint::new(Method::GET, "/v1/tree-list/{steps}", "List the children of an item, or a list", list))
            .takes(parameters::paging())
            .takes([query("back", flag(), false).says("List the last one first."), parameters::counted()])
            .takes([typed()])
            .answers(200, "A page; `Link: …; rel=\"next\"` leads to the next one.", "TreePage")
            .answers_lines("TreeLine"),
        reads(Endpoint::new(Method::GET, "/v1/tree-find/{steps}", "Find all items that match a path", find))
            .describe("The path may have `*`, `//`, conditions and places.")
            .takes([parameters::limit(), typed()])
            .answers(200, "The items and properties, in the order of the tree.", "TreeMatches")
            .answers_lines("TreeLine"),
        Endpoint::new(Method::GET, "/v1/tree-explain/{steps}", "Explain how the items that match a path are found", explain)
            .describe("The plan depends on the declared types alone: reads of the past have the same one.")
            .tag("trees")
            .takes(planning)
            .fails(&["not-found"])
            .answers(200, "The plan of each step.", "TreePlan"),
    ]
}

fn typed() -> Parameter {
    query("typed", flag(), true)
        .says("Write values as an instance has them, with the kind of each: sets are no arrays then.")
}

fn entry(found: TreeItem<'_>, is_typed: bool) -> annals::Result<TreeEntry<'_>> {
    Ok(TreeEntry::new(found)?.typed(is_typed))
}

/// A path in a tree.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The entity that the path starts from, if it is not the default one.
    pub root: Option<Id>,
    /// The path.
    pub path: TreePath,
}

impl Spot {
    /// The spot that a call names, in its path or as `path`.
    ///
    /// Errors: `invalid-argument` for a malformed path, or for two paths.
    pub fn of(call: &Call) -> Result<Spot, Problem> {
        // The path of the request after its second slash.
        let behind = call.uri.path().strip_prefix("/v1/").unwrap_or_default();
        let behind = &behind[behind.find('/').unwrap_or(behind.len())..];
        let is_encoded = ["/%2F", "/%2f"].iter().any(|start| behind.starts_with(start));
        let told = decode_percent(if is_encoded { &behind[1..] } else { behind }, "path")?;
        let path = match (told.as_str(), call.query.get("path")) {
            ("" | "/", Some(path)) => TreePath::parse(path)?,
            ("" | "/", None) => TreePath::root(),
            (told, None) => TreePath::parse(told)?,
            (_, Some(_)) => {
                let text = "parameter path: expected no path of a tree in the path of the request beside it; give it once";
                return Err(Problem::invalid(text).with("parameter", "path"));
            }
        };
        Ok(Spot { root: call.query.get("root").map(Id::new).transpose()?, path })
    }

    /// The tree.
    pub fn tree<'s>(&self, snapshot: &'s Snapshot) -> Tree<'s> {
        tree_of(snapshot, self.root.as_ref())
    }

    /// The item or property at the path. Errors: `not-found`.
    fn found<'s>(&self, snapshot: &'s Snapshot) -> Result<TreeItem<'s>, Problem> {
        self.tree(snapshot).item(&self.path)?.ok_or_else(|| self.nothing())
    }

    fn nothing(&self) -> Problem {
        Problem::not_found(format!("path {}: there is nothing at this time", self.path))
    }

    /// True if a few look-ups of names find the answer.
    fn is_short(&self, snapshot: &Snapshot, extent: &TreeExtent) -> Result<bool, Problem> {
        let tree = self.tree(snapshot);
        if !tree.explain(&self.path).is_look_up {
            return Ok(false);
        }
        let is_item = |found: TreeItem| found.property_name().is_none();
        Ok(extent.depth == Some(0) || !tree.item(&self.path)?.is_some_and(is_item))
    }

    /// The tag of an answer; `None` if it shows a part of what is below the item, or the past.
    fn tag(&self, snapshot: &Snapshot, extent: &TreeExtent) -> Result<Option<Tag>, Problem> {
        let found = self.found(snapshot)?;
        // Its name may change, and nothing else of it may be told.
        if found.only_leads() {
            return Ok(None);
        }
        if found.property_name().is_some() || extent.depth == Some(0) {
            return Ok(Some(Tag::of_entity(&found.entity)));
        }
        if extent.depth.is_some() || !snapshot.is_present() {
            return Ok(None);
        }
        let state = self.tree(snapshot).state(&found.path()?, |_| {})?;
        Ok(state.map(|state| Tag::of_subtree(&found.entity, &state)))
    }

    /// The whole answer; `None` if it is too long for one part.
    fn whole(
        &self,
        snapshot: &Snapshot,
        extent: &TreeExtent,
        tag: Option<&Tag>,
    ) -> Result<Option<Response<Body>>, Problem> {
        let found = self.found(snapshot)?;
        let position = snapshot.position();
        if let (Some(name), Some(value)) = (found.property_name(), found.value()) {
            let leaf = LeafForm::of(&value, &found.entity, name);
            return Ok(Some(tagged(answer::json(StatusCode::OK, &leaf, position), tag)));
        }
        let mut is_long = false;
        let mut take = |text: &mut JsonText| {
            is_long = text.bytes_count() > WHOLE_BYTES_MAX;
            if is_long { Err(stopped()) } else { Ok(()) }
        };
        let written = write_tree(snapshot, &self.tree(snapshot), &found.path()?, extent, &mut take);
        if is_long {
            return Ok(None);
        }
        let mut response = Response::new(Body::from(written?.ok_or_else(|| self.nothing())?));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response = answer::with_position(response, position);
        Ok(Some(tagged(response, tag)))
    }

    /// Sends the answer while it is made.
    fn send(&self, snapshot: &Snapshot, extent: &TreeExtent, lines: &mut Lines) -> Result<(), Problem> {
        let path = self.found(snapshot)?.path()?;
        let mut problem = None;
        let mut send = |text: &mut JsonText| {
            if text.bytes_count() < lines::CHUNK_BYTES {
                return Ok(());
            }
            lines.part(&text.take()).map_err(|told| {
                problem = Some(told);
                stopped()
            })
        };
        let written = write_tree(snapshot, &self.tree(snapshot), &path, extent, &mut send);
        if let Some(problem) = problem {
            return Err(problem);
        }
        lines.part(&written?.ok_or_else(|| self.nothing())?)
    }
}

fn tagged(response: Response<Body>, tag: Option<&Tag>) -> Response<Body> {
    match tag {
        Some(tag) => answer::with_etag(response, tag),
        None => response,
    }
}

/// Stops a visit whose result is no longer needed.
fn stopped() -> Error {
    Error::new(ErrorKind::Cancelled, "tree: the answer takes no more")
}

async fn get(call: Box<Call>) -> Outcome {
    let spot = Spot::of(&call)?;
    let extent = TreeExtent { depth: call.query.number("depth")?, has_ids: call.query.flag("ids")? };
    let snapshot = call.snapshot().await?;
    let is_present = call.query.as_of()? == AsOf::default();
    let (whole, tag) = if is_present && spot.is_short(&snapshot, &extent)? {
        let tag = spot.tag(&snapshot, &extent)?;
        (spot.whole(&snapshot, &extent, tag.as_ref())?, tag)
    } else {
        let (door, spot, extent) = (Arc::clone(&call.door), spot.clone(), extent.clone());
        heavy_read(&call.door.bounds, snapshot.clone(), move |snapshot| {
            let tag = spot.tag(&snapshot, &extent)?;
            let response = spot.whole(&snapshot, &extent, tag.as_ref())?;
            let response = response.map(|response| sending::admit(&door.bounds, response)).transpose()?;
            Ok((response, tag))
        })
        .await?
    };
    if let Some(response) = whole {
        return Ok(response);
    }
    let send = move |_: &Call, snapshot: &Snapshot, lines: &mut Lines| spot.send(snapshot, &extent, lines);
    let mut response = lines::send_whole(call, snapshot, send).await?;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(tagged(response, tag.as_ref()))
}

async fn list(call: Box<Call>) -> Outcome {
    let spot = Spot::of(&call)?;
    let mut options = ListOptions {
        after: call.after()?,
        is_back: call.query.flag("back")?,
        bytes_max: call.door.bounds.limits.page_bytes_max,
        ..ListOptions::default()
    };
    let (is_counted, is_typed) = (call.query.flag("count")?, call.query.flag("typed")?);
    call.wait_for_page(options.after.as_deref()).await?;
    if lines::are_wanted(&call) {
        let mut left = call.lines_limit()?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |call, snapshot, lines| {
            loop {
                options.limit = left.min(lines::BATCH_ITEMS_MAX);
                let page = spot.tree(snapshot).list(&spot.path, &options)?.ok_or_else(|| spot.nothing())?;
                left -= page.items.len();
                page.items.into_iter().try_for_each(|item| lines.line(&entry(item, is_typed)?))?;
                match page.next {
                    Some(next) if left > 0 => options.after = Some(next),
                    next => return lines.next(call.cursors().seal(next)),
                }
            }
        })
        .await;
    }
    options.limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let tree = spot.tree(&snapshot);
        let page = tree.list(&spot.path, &options)?.ok_or_else(|| spot.nothing())?;
        let count = if is_counted { tree.count(&spot.path)? } else { None };
        let items = page.items.into_iter().map(|item| entry(item, is_typed));
        let items: Vec<TreeEntry> = items.collect::<annals::Result<_>>()?;
        Ok(answer::page(call, &items, count, call.cursors().seal(page.next), snapshot.position()))
    })
    .await
}

async fn find(call: Box<Call>) -> Outcome {
    let spot = Spot::of(&call)?;
    let is_typed = call.query.flag("typed")?;
    if lines::are_wanted(&call) {
        let mut left = call.lines_limit()?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            let mut problem = None;
            let outcome = spot.tree(snapshot).each_match(&spot.path, &mut |found| {
                left -= 1;
                problem =
                    entry(found, is_typed).map_err(Problem::from).and_then(|found| lines.line(&found)).err();
                Ok(left > 0 && problem.is_none())
            });
            problem.map_or_else(|| outcome.map_err(Problem::from), Err)
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let (mut items, mut room, mut has_more) = (Vec::new(), call.room(), false);
        spot.tree(&snapshot).each_match(&spot.path, &mut |found| {
            has_more = items.len() == limit || room.is_full();
            if !has_more {
                items.extend(room.take([entry(found, is_typed)].into_iter())?);
            }
            Ok(!has_more)
        })?;
        let body = ObjectOf(|members: &mut Members| {
            members.add("hasMore", has_more);
            members.add("items", &items);
        });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn explain(call: Box<Call>) -> Outcome {
    let spot = Spot::of(&call)?;
    call.read(Weight::Light, move |_, snapshot| {
        let plan = spot.tree(&snapshot).explain(&spot.path);
        let body = json!({ "isLookUp": plan.is_look_up, "steps": plan.steps });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}
