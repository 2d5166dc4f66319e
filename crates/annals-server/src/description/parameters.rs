//! The parameters that endpoints share, each described in one place.

use annals_json::schema::type_kinds;
use serde_json::{Value as Json, json};

use crate::access::PROOF_DIGITS;
use crate::protocol::names::{AUTHOR, IDEMPOTENCY_KEY, MESSAGE, WAIT_POSITION};
use crate::protocol::parameter::{Parameter, Place};

fn parameter(name: &'static str, place: Place, schema: Json, example: impl Into<Json>) -> Parameter {
    let (description, example, is_required) = ("", example.into(), place == Place::Path);
    Parameter { name, place, schema, description, example, is_many: false, is_required }
}

/// A query parameter.
pub fn query(name: &'static str, schema: Json, example: impl Into<Json>) -> Parameter {
    parameter(name, Place::Query, schema, example)
}

/// A required query parameter.
pub fn required(name: &'static str, schema: Json, example: impl Into<Json>) -> Parameter {
    Parameter { is_required: true, ..query(name, schema, example) }
}

fn header(name: &'static str, example: &str) -> Parameter {
    parameter(name, Place::Header, text(), example)
}

fn in_path(name: &'static str, schema: Json, example: impl Into<Json>) -> Parameter {
    parameter(name, Place::Path, schema, example)
}

/// The path parameter with this name.
pub fn path(name: &str) -> Parameter {
    match name {
        "id" => in_path("id", json!({ "type": "string", "maxLength": 255 }), "bash")
            .says("Id of the instance: a UUID or any text of at most 255 bytes, percent-encoded."),
        "number" => in_path("number", count(), 1).says("Number of the version, from 1."),
        "name" => in_path("name", text(), "package").says("Name of the classification or type."),
        "kind" => in_path("kind", type_kinds(), "entity").says("What the type describes."),
        "position" => in_path("position", count(), 88).says("Position of the record."),
        "error" => in_path("error", text(), "not-found").says("Kind of the error."),
        "lease" => in_path("lease", text(), "driver").says("Name of the lease."),
        "candidate" => in_path("candidate", text(), "maintenance").says("Name of the candidate."),
        "steps" => in_path("steps", text(), "config/system").says(
            "Path of the tree (docs/trees.md), such as `interfaces/interface[name='eth0']/mtu`. It may \
             have slashes, or be percent-encoded as a whole.",
        ),
        unknown => panic!("path parameter {unknown} has no description"),
    }
}

/// The versions of an instance: which, in which order, and whether with content.
pub fn history() -> Vec<Parameter> {
    vec![
        query("from", instant(), "2025-01-01")
            .says("Begin with the version that was current at this instant."),
        query("to", instant(), "2026-01-01T00:00:00Z").says("Only versions written before this instant."),
        query("oldestFirst", flag(), false).says("Show the oldest first."),
        query("content", flag(), true).says("Show the instance in each version as `content`."),
    ]
}

/// A challenge to the server.
pub fn challenge() -> Parameter {
    let example = "5f".repeat(PROOF_DIGITS / 2);
    query(
        "challenge",
        json!({ "type": "string", "pattern": format!("^[0-9a-fA-F]{{{PROOF_DIGITS}}}$") }),
        example,
    )
    .says("Random digits, for which the server proves that it knows the secret in the folder, or in the lease of its log.")
}

/// The home of a copy.
pub fn home() -> Parameter {
    required("home", text(), "there").says("Name of the collection that it belongs to.")
}

/// The schema of a text.
pub fn text() -> Json {
    json!({ "type": "string" })
}

/// The schema of a number from 0 on.
pub fn count() -> Json {
    json!({ "type": "integer", "minimum": 0 })
}

/// The schema of an instant.
pub fn instant() -> Json {
    json!({ "type": "string", "format": "date-time" })
}

/// The schema of a flag, false if left out.
pub fn flag() -> Json {
    json!({ "type": "boolean", "default": false })
}

/// Parameters of every read.
pub fn reading() -> Vec<Parameter> {
    vec![
        query("atPosition", count(), 1).says("Read what the repository knew at this position."),
        query("at", instant(), "2025-08-09T00:00:00Z").says("Read what the repository knew at this instant."),
        query("validAt", instant(), "2025-08-09T00:00:00Z").says("Read what was true at this instant."),
        candidate("Read the repository as this candidate would change it."),
        wait_position(),
    ]
}

/// The position to wait for.
pub fn wait_position() -> Parameter {
    header(WAIT_POSITION.as_str(), "1")
        .says("Wait (bounded) until this position is visible: read your own writes.")
}

/// Parameters of every read that no valid time concerns: types and numbered versions have none.
pub fn reading_timeless() -> Vec<Parameter> {
    reading().into_iter().filter(|known| known.name != "validAt").collect()
}

/// Parameters of every write that no valid time concerns.
pub fn writing_timeless() -> Vec<Parameter> {
    writing().into_iter().filter(|known| known.name != "validFrom").collect()
}

/// Whether a write that can change nothing makes a version all the same.
pub fn always() -> Parameter {
    query("always", flag(), true).says("Make a version even if the change changes nothing.")
}

/// Parameters of every write of one instance.
pub fn writing() -> Vec<Parameter> {
    vec![
        query("validFrom", instant(), "2025-08-09").says("Valid time of the change; now if left out."),
        candidate(
            "Make the change an edit of this candidate; nobody else sees it before that is committed. A write of an instance is \
             answered with a Receipt then.",
        ),
        header(AUTHOR.as_str(), "ada").says("Who commits; percent-encode what is not ASCII."),
        message(),
        header(WAIT_POSITION.as_str(), "1")
            .says("Wait (bounded) until this position is visible before writing."),
        idempotency_key(),
    ]
}

/// The key of a request that its client may send again.
pub fn idempotency_key() -> Parameter {
    header(IDEMPOTENCY_KEY.as_str(), "8e03978e-40d5-43dd-bc93-6894a57f9324").says(
        "A new text for each request, such as a UUID: if the request comes again with it, at this server or at another one of the \
         same log, it is committed once, and each repeat gets the Receipt of the first. Not for edits of candidates.",
    )
}

/// The candidate to read or to edit.
pub fn candidate(description: &'static str) -> Parameter {
    query("candidate", text(), "maintenance").says(description)
}

/// The reason of a commit.
pub fn message() -> Parameter {
    header(MESSAGE.as_str(), "new release").says("Why; percent-encode what is not ASCII.")
}

/// Author, message, and the position to wait for.
pub fn signing() -> Vec<Parameter> {
    let is_header = |parameter: &Parameter| {
        parameter.place == Place::Header && parameter.name != IDEMPOTENCY_KEY.as_str()
    };
    writing().into_iter().filter(is_header).collect()
}

/// Author, and the position to wait for: for a write with a message of its own, or without a record.
pub fn signing_author() -> Vec<Parameter> {
    signing().into_iter().filter(|known| known.name != MESSAGE.as_str()).collect()
}

/// Parameters of an import. It commits what it loads, so it takes no candidate.
pub fn importing() -> Vec<Parameter> {
    let others = ["candidate", IDEMPOTENCY_KEY.as_str()];
    let signed = writing().into_iter().filter(|parameter| !others.contains(&parameter.name));
    let own = vec![
        query("merge", flag(), true).says(
            "Compare each line with the repository: write new and changed instances, and skip equal ones.",
        ),
        query("key", text(), "column").many().says(
            "With merge: a property that identifies relationships without ids, together with type and \
             ends; repeatable.",
        ),
        query("deleteMissing", flag(), false).says(
            "With merge: delete instances that no line names, of the types that occur in the lines; \
             delete nothing if a line is refused.",
        ),
        query(
            "deleteMissingMax",
            json!({ "type": "integer", "minimum": 0, "maximum": 100, "default": 10 }),
            10,
        )
        .says(
            "Delete nothing if more than this share of the instances of these types, in per cent, would \
             go.",
        ),
        query("batch", json!({ "type": "integer", "minimum": 1, "default": 5_000 }), 5_000)
            .says("Changes in one batch."),
        query("stopOnError", flag(), false).says("End the import at the first line that is refused."),
        query("name", text(), "crawl.jsonl").says(
            "The name of the file that the body is. The messages of records name it, with sums of its lines, so that the import can \
             be resumed.",
        ),
        query("resume", flag(), false).says(
            "With name: skip the lines that the latest import of this file has committed. Send the same lines; annals import compares \
             them with the sums before.",
        ),
        query("replace", flag(), false).says(
            "With merge: a line holds all properties of its instance; those that it does not name are \
             removed.",
        ),
        query("mergeValidTimes", flag(), false).says(
            "With merge: a changed instance is valid from the valid time of its line, which must not be \
             before the version in force; otherwise from now, or from validFrom.",
        ),
        query("id", text(), "Name").says(
            "The lines are plain objects, the entities, and this member is their id; MEMBER(GROUP) puts \
             GROUP: in front of it. For CSV the same with a plain header and its column.",
        ),
        query("from", text(), "Job").says(
            "The lines are plain objects, the relationships, and this is the id they lead from. For CSV the same with a plain \
             header and its column.",
        ),
        query("to", text(), "Table").says("With from: the member, or the column, with the id they lead to."),
        query("type", text(), "car").says(
            "With id, or with from and to: the type of the instances. For CSV also the type of relationships that have none.",
        ),
        query("label", text(), "person")
            .many()
            .says("For CSV: a label of all entities, before those of the rows; repeatable."),
        query("delimiter", text(), ";").says(
            "For CSV: the character between the cells: , ; | or tab. If left out, the one that stands most often in the header.",
        ),
        query("arrayDelimiter", text(), "/").says(
            "For CSV: the character between the values of a list, and between labels; ; if left out, or , where ; stands between \
             the cells.",
        ),
        query("header", text(), "name:ID,age:int")
            .says("For CSV: the header of the rows, which then have none."),
    ];
    own.into_iter().chain(signed).collect()
}

/// Parameters of an export.
pub fn exporting() -> Vec<Parameter> {
    vec![
        query("type", text(), "package")
            .many()
            .says("Only this type and its subtypes; repeatable: any of them."),
        query("history", flag(), false)
            .says("Every record as committed, for `annals import` into an empty repository."),
        query("kind", json!({ "type": "string", "enum": ["entity", "relationship"] }), "relationship").says(
            "For CSV: what the type is of. If left out, entities, unless only relationships are of it.",
        ),
        query("spreadsheet", flag(), false).says(
            "For CSV: for people who open it in a spreadsheet. A text that begins like a formula gets an apostrophe before it, and \
             control characters are escaped.",
        ),
        query(
            "format",
            json!({ "type": "string", "enum": ["json", "csv", "graphml", "dot"], "default": "json" }),
            "csv",
        )
        .says(
            "Format of the export; by default the one that `Accept` names. CSV has the instances of one type; \
             GraphML and DOT are sent as one document.",
        ),
    ]
}

/// Parameters of every request on a tree of containers.
pub fn in_tree() -> Vec<Parameter> {
    vec![
        query("path", text(), "/interfaces/interface[name='eth0']/mtu").says(
            "The path of the tree, for clients that cannot put it into the path of the request; that \
             path is then `/v1/tree/`.",
        ),
        query("root", text(), "root").says("Id of the entity that paths start from."),
    ]
}

/// The part of a tree to read.
pub fn tree_extent() -> Vec<Parameter> {
    vec![
        query("depth", count(), 1).says("Most levels below the item; all if left out."),
        query("ids", flag(), false).says("Include the id and the type of each item, as `@id` and `@type`."),
    ]
}

/// The parameter for changes of missing items.
pub fn missing(other: &'static str) -> Parameter {
    let (usual, description) = match other {
        "ok" => ("refuse", "`ok`: a missing item is no error."),
        _ => ("create", "`refuse`: a missing item is the error not-found."),
    };
    query("missing", json!({ "type": "string", "enum": [usual, other], "default": usual }), other)
        .says(description)
}

/// A place in an ordered list.
pub fn insert() -> Vec<Parameter> {
    let places = json!({ "type": "string", "enum": ["first", "last", "before", "after"] });
    vec![
        query("insert", places, "before").says("Put the item at this place of its list, which users order."),
        query("sibling", text(), "rule[id=7]")
            .says("The item to put it before or after: the last step of that item's path."),
    ]
}

/// Parameters of a page.
pub fn paging() -> Vec<Parameter> {
    vec![
        query("limit", json!({ "type": "integer", "minimum": 1, "default": 100 }), 100)
            .says("Items on a page."),
        query("after", text(), "0a1b").says("Continue after this cursor: `next` of the page before."),
    ]
}

/// Parameters of a search.
pub fn finding() -> Vec<Parameter> {
    let deleted = json!({ "type": "string", "enum": ["without", "with", "only"], "default": "without" });
    vec![
        query("q", text(), "package where size >= 10 order by size desc").says(
            "A search in its text form, which docs/search.md describes. The other parameters add to it.",
        ),
        query("type", text(), "package")
            .many()
            .says("Only this type and its subtypes; repeatable: any of them."),
        query("where", text(), "size >= 10").many().says(
            "A condition in the text form, repeatable, all must hold: name = v, name != v, name < v, name ^= prefix, \
             name $= suffix, name ~= part, name =~ /regex/, name in (a, b), name is null, and others.",
        ),
        status(),
        query("deleted", deleted, "only").says("Whether to find deleted instances."),
        query("orderBy", text(), "-size").many().says(
            "Order by this property, or a header such as @createdAt; with a minus sign, largest first. Repeatable.",
        ),
        query("offset", count(), 10).says("Skip this many instances. For later pages, `after` is faster."),
    ]
}

/// How to group what a search finds.
pub fn grouping() -> Vec<Parameter> {
    vec![
        query("groupBy", text(), "owner").many().says(
            "Group by the values of this property, or of a header such as @type; repeatable. Each member of a set counts.",
        ),
        query("aggregate", text(), "sum(size)").many().says(
            "What to compute of each group: sum(FIELD), min(FIELD) or max(FIELD); repeatable. Each group has its count in any case, \
             and `count` says so. Without groupBy all instances are one group.",
        ),
    ]
}

/// Further parameters of a search of entities.
pub fn finding_entities() -> Vec<Parameter> {
    vec![
        query("classified", text(), "essential")
            .says("Only entities with this classification or a subtype of it."),
        query(
            "proxies",
            json!({ "type": "string", "enum": ["without", "with"], "default": "without" }),
            "with",
        )
        .says("Whether to find entities that the repository holds only as proxies."),
    ]
}

/// Parameters of a walk to a given end, which no entity on the way is too near for.
pub fn walking_between(direction: &'static str) -> Vec<Parameter> {
    walking(direction).into_iter().filter(|known| known.name != "depthMin").collect()
}

/// Parameters of a walk.
pub fn walking(direction: &'static str) -> Vec<Parameter> {
    let names = |name, example| query(name, text(), example).many();
    vec![
        directions(direction),
        walked_type(),
        names("entityType", "package")
            .says("Walk only through this entity type and its subtypes; repeatable."),
        names("classified", "essential")
            .says("Walk only through entities with one of these classifications; repeatable."),
        names("entityWhere", "owner != archive").says(
            "Walk only through entities that fulfil this condition in the text form of searches; \
             repeatable, all must hold.",
        ),
        names("relationshipWhere", "since > 2005").says(
            "Walk only along relationships that fulfil this condition in the text form of searches; \
             repeatable, all must hold.",
        ),
        status(),
        query("depthMin", count(), 0).says("Leave out entities nearer to the start than this."),
        query("depthMax", count(), 5).says("Most steps from the start."),
        query("visitedMax", count(), 100_000).says("Most entities to visit before giving up with too-large."),
    ]
}

/// The directions of a walk.
pub fn directions(default: &'static str) -> Parameter {
    query(
        "direction",
        json!({ "type": "string", "enum": ["out", "in", "both"], "default": default }),
        default,
    )
    .says("Direction along relationships.")
}

/// The relationship types of a walk.
fn walked_type() -> Parameter {
    query("type", text(), "reads:in").many().says(
        "Only relationships of this type and its subtypes; repeatable. With `:in`, `:out` or \
             `:both` after the name, in that direction instead of `direction`. If a name itself ends \
             so, add a direction, or a colon.",
    )
}

/// The format of a graph.
pub fn graph_format() -> Parameter {
    query("format", json!({ "type": "string", "enum": ["json", "graphml", "dot"], "default": "json" }), "dot")
        .says(
            "Format of the graph; by default the one that `Accept` names. GraphML and DOT are sent as \
             one document.",
        )
}

/// Statuses.
pub fn status() -> Parameter {
    query("status", text(), "active")
        .many()
        .says("Only instances with this status; repeatable: any of them. All but deleted if left out.")
}

/// An order by header fields and properties.
pub fn order() -> Parameter {
    query("orderBy", text(), "-@createdAt").many().says(
        "Order by this property or a header such as @createdAt; with a minus sign, largest first. \
             Instances without the property come last. Repeatable.",
    )
}

/// Whether to count all items.
pub fn counted() -> Parameter {
    query("count", flag(), true).says("Count all of them.")
}

/// The greatest number of items.
pub fn limit() -> Parameter {
    query("limit", json!({ "type": "integer", "minimum": 1, "default": 10 }), 10)
        .says("Greatest number of items.")
}

/// The side that stays in a conflict.
pub fn keep() -> Parameter {
    let sides = json!({ "type": "string", "enum": ["mine", "theirs"] });
    query("keep", sides, "theirs")
        .says("The side that stays in a conflict; without it, the server refuses a conflict.")
}

/// A condition on the version before a write.
pub fn if_match() -> Parameter {
    header("if-match", "\"17.3@3f2a9c01\"").says("Write only if this is the tag of the instance, else 412.")
}

/// The property that holds a content.
pub fn content() -> Vec<Parameter> {
    vec![
        query("property", text(), "content")
            .says("The property that holds the content; `content` if left out."),
    ]
}

/// A condition on the version, for reads and creations.
pub fn if_none_match() -> Parameter {
    header("if-none-match", "\"3\"")
        .says("Reads: 304 if this is still the latest version. PUT: `*` only creates.")
}

/// The position after which the feed continues.
pub fn last_event_id() -> Parameter {
    header("last-event-id", "17").says("Send records after this position, if `after` is not given.")
}
