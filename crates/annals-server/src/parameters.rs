//! The parameters that endpoints share, each described in one place.

use annals_json::schema::type_kinds;
use serde_json::{Value as Json, json};

use super::names::{AUTHOR, MESSAGE, WAIT_POSITION};
use super::parameter::{Parameter, Place};

fn parameter(
    name: &'static str,
    place: Place,
    schema: Json,
    example: impl Into<Json>,
    description: &'static str,
) -> Parameter {
    let example = example.into();
    Parameter { name, place, schema, description, example, is_many: false, is_required: place == Place::Path }
}

/// A query parameter.
pub fn query(
    name: &'static str,
    schema: Json,
    example: impl Into<Json>,
    description: &'static str,
) -> Parameter {
    parameter(name, Place::Query, schema, example, description)
}

/// A required query parameter.
pub fn required(
    name: &'static str,
    schema: Json,
    example: impl Into<Json>,
    description: &'static str,
) -> Parameter {
    Parameter { is_required: true, ..query(name, schema, example, description) }
}

fn header(name: &'static str, example: &str, description: &'static str) -> Parameter {
    parameter(name, Place::Header, text(), example, description)
}

/// The path parameter with this name.
pub fn path(name: &str) -> Parameter {
    match name {
        "id" => parameter(
            "id",
            Place::Path,
            json!({ "type": "string", "maxLength": 255 }),
            "bash",
            "Id of the instance: a UUID or any text of at most 255 bytes, percent-encoded.",
        ),
        "number" => parameter("number", Place::Path, count(), 1, "Number of the version, from 1."),
        "name" => parameter("name", Place::Path, text(), "package", "Name of the classification or type."),
        "kind" => parameter("kind", Place::Path, type_kinds(), "entity", "What the type describes."),
        "position" => parameter("position", Place::Path, count(), 88, "Position of the record."),
        "lease" => parameter("lease", Place::Path, text(), "driver", "Name of the lease."),
        "candidate" => parameter("candidate", Place::Path, text(), "maintenance", "Name of the candidate."),
        "steps" => parameter(
            "steps",
            Place::Path,
            text(),
            "config/system",
            "Path of the tree (docs/trees.md), such as `interfaces/interface[name='eth0']/mtu`. It may have slashes, or be percent-encoded as a whole.",
        ),
        unknown => panic!("path parameter {unknown} has no description"),
    }
}

/// The versions of an instance: which, in which order, and whether with content.
pub fn history() -> Vec<Parameter> {
    vec![
        query("from", instant(), "2025-01-01", "Begin with the version that was current at this instant."),
        query("to", instant(), "2026-01-01T00:00:00Z", "Only versions written before this instant."),
        query("oldestFirst", flag(), false, "Show the oldest first."),
        query("content", flag(), true, "Show the instance in each version as `content`."),
    ]
}

/// The home of a copy.
pub fn home() -> Parameter {
    required("home", text(), "there", "Name of the collection that it belongs to.")
}

/// Only types of one kind.
pub fn type_kind() -> Parameter {
    query("kind", type_kinds(), "entity", "Only types of this kind.")
}

/// Only the type with an external id.
pub fn external_id() -> Parameter {
    query("externalId", text(), "283a127d", "Only the type with this id of another system.")
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

fn flag() -> Json {
    json!({ "type": "boolean", "default": false })
}

/// Parameters of every read.
pub fn reading() -> Vec<Parameter> {
    vec![
        query("atPosition", count(), 1, "Read what the repository knew at this position."),
        query("at", instant(), "2025-08-09T00:00:00Z", "Read what the repository knew at this instant."),
        query("validAt", instant(), "2025-08-09T00:00:00Z", "Read what was true at this instant."),
        candidate("Read the repository as this candidate would change it."),
        wait_position(),
    ]
}

/// The position to wait for.
pub fn wait_position() -> Parameter {
    header(
        WAIT_POSITION.as_str(),
        "1",
        "Wait (bounded) until this position is visible: read your own writes.",
    )
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
    query("always", flag(), true, "Make a version even if the change changes nothing.")
}

/// Parameters of every write of one instance.
pub fn writing() -> Vec<Parameter> {
    vec![
        query("validFrom", instant(), "2025-08-09", "Valid time of the change; now if left out."),
        candidate(
            "Make the change an edit of this candidate; nobody else sees it before that is committed. A write of an instance is \
             answered with a Receipt then.",
        ),
        header(AUTHOR.as_str(), "ada", "Who commits; percent-encode what is not ASCII."),
        message(),
        header(WAIT_POSITION.as_str(), "1", "Wait (bounded) until this position is visible before writing."),
    ]
}

fn candidate(description: &'static str) -> Parameter {
    query("candidate", text(), "maintenance", description)
}

/// The reason of a commit.
pub fn message() -> Parameter {
    header(MESSAGE.as_str(), "new release", "Why; percent-encode what is not ASCII.")
}

/// Author, message, and the position to wait for.
pub fn signing() -> Vec<Parameter> {
    let is_header = |parameter: &Parameter| parameter.place == Place::Header;
    writing().into_iter().filter(is_header).collect()
}

/// Author, and the position to wait for: for a write with a message of its own, or without a record.
pub fn signing_author() -> Vec<Parameter> {
    signing().into_iter().filter(|known| known.name != MESSAGE.as_str()).collect()
}

/// Parameters of an import. It commits what it loads, so it takes no candidate.
pub fn importing() -> Vec<Parameter> {
    let signed = writing().into_iter().filter(|parameter| parameter.name != "candidate");
    let own = vec![
        query(
            "merge",
            flag(),
            true,
            "Compare each line with the repository: write new and changed instances, and skip equal ones.",
        ),
        many(query(
            "key",
            text(),
            "column",
            "With merge: a property that identifies relationships without ids, together with type and ends; repeatable.",
        )),
        query(
            "deleteMissing",
            flag(),
            false,
            "With merge: delete instances that no line names, of the types that occur in the lines; delete nothing if a line is refused.",
        ),
        query(
            "deleteMissingMax",
            json!({ "type": "integer", "minimum": 0, "maximum": 100, "default": 10 }),
            10,
            "Delete nothing if more than this share of the instances of these types, in per cent, would go.",
        ),
        query(
            "batch",
            json!({ "type": "integer", "minimum": 1, "default": 5_000 }),
            5_000,
            "Changes in one batch.",
        ),
        query("stopOnError", flag(), false, "End the import at the first line that is refused."),
        query(
            "replace",
            flag(),
            false,
            "With merge: a line holds all properties of its instance; those that it does not name are removed.",
        ),
        query(
            "mergeValidTimes",
            flag(),
            false,
            "With merge: a changed instance is valid from the valid time of its line, which must not be before the version in \
             force; otherwise from now, or from validFrom.",
        ),
        query(
            "id",
            text(),
            "Name",
            "The lines are plain objects, the entities, and this member is their id; MEMBER(GROUP) puts GROUP: in front of it.",
        ),
        query(
            "from",
            text(),
            "Job",
            "The lines are plain objects, the relationships, and this is the id they lead from.",
        ),
        query("to", text(), "Table", "With from: the member with the id they lead to."),
        query("type", text(), "car", "With id, or with from and to: the type of the instances."),
    ];
    own.into_iter().chain(signed).collect()
}

/// Parameters of an export.
pub fn exporting() -> Vec<Parameter> {
    vec![
        many(query("type", text(), "package", "Only this type and its subtypes; repeatable: any of them.")),
        query(
            "history",
            flag(),
            false,
            "Every record as committed, for `annals import` into an empty repository.",
        ),
    ]
}

/// Parameters of every request on a tree of containers.
pub fn in_tree() -> Vec<Parameter> {
    vec![
        query(
            "path",
            text(),
            "/interfaces/interface[name='eth0']/mtu",
            "The path of the tree, for clients that cannot put it into the path of the request; that path is then `/v1/tree/`.",
        ),
        query("root", text(), "root", "Id of the entity that paths start from."),
    ]
}

/// The part of a tree to read.
pub fn tree_extent() -> Vec<Parameter> {
    vec![
        query("depth", count(), 1, "Most levels below the item; all if left out."),
        query("ids", flag(), false, "Include the id and the type of each item, as `@id` and `@type`."),
    ]
}

/// Whether a page goes backwards.
pub fn back() -> Parameter {
    query("back", flag(), false, "List the last one first.")
}

/// The parameter for changes of missing items.
pub fn missing(other: &'static str) -> Parameter {
    let (usual, description) = match other {
        "ok" => ("refuse", "`ok`: a missing item is no error."),
        _ => ("create", "`refuse`: a missing item is the error not-found."),
    };
    query(
        "missing",
        json!({ "type": "string", "enum": [usual, other], "default": usual }),
        other,
        description,
    )
}

/// A place in an ordered list.
pub fn insert() -> Vec<Parameter> {
    let places = json!({ "type": "string", "enum": ["first", "last", "before", "after"] });
    vec![
        query("insert", places, "before", "Put the item at this place of its list, which users order."),
        query(
            "sibling",
            text(),
            "rule[id=7]",
            "The item to put it before or after: the last step of that item's path.",
        ),
    ]
}

/// Parameters of a page.
pub fn paging() -> Vec<Parameter> {
    vec![
        query("limit", json!({ "type": "integer", "minimum": 1, "default": 100 }), 100, "Items on a page."),
        query("after", text(), "0a1b", "Continue after this cursor: `next` of the page before."),
    ]
}

/// Parameters of a search.
pub fn finding() -> Vec<Parameter> {
    vec![
        query(
            "q",
            text(),
            "package where size >= 10 order by size desc",
            "A search in its text form, which docs/search.md describes. The other parameters add to it.",
        ),
        many(query("type", text(), "package", "Only this type and its subtypes; repeatable: any of them.")),
        many(query(
            "where",
            text(),
            "size >= 10",
            "A condition in the text form, repeatable, all must hold: name = v, name != v, name < v, name ^= prefix, \
                 name $= suffix, name ~= part, name =~ /regex/, name in (a, b), name is null, and others.",
        )),
        status(),
        query(
            "deleted",
            json!({ "type": "string", "enum": ["without", "with", "only"], "default": "without" }),
            "only",
            "Whether to find deleted instances.",
        ),
        many(query(
            "orderBy",
            text(),
            "-size",
            "Order by this property, or a header such as @createdAt; with a minus sign, largest first. Repeatable.",
        )),
        query("offset", count(), 10, "Skip this many instances. For later pages, `after` is faster."),
    ]
}

/// Further parameters of a search of entities.
pub fn finding_entities() -> Vec<Parameter> {
    vec![
        query(
            "classified",
            text(),
            "essential",
            "Only entities with this classification or a subtype of it.",
        ),
        query(
            "proxies",
            json!({ "type": "string", "enum": ["without", "with"], "default": "without" }),
            "with",
            "Whether to find entities that the repository holds only as proxies.",
        ),
    ]
}

/// Parameters of a walk to a given end, which no entity on the way is too near for.
pub fn walking_between(direction: &'static str) -> Vec<Parameter> {
    walking(direction).into_iter().filter(|known| known.name != "depthMin").collect()
}

/// Parameters of a walk.
pub fn walking(direction: &'static str) -> Vec<Parameter> {
    let names = |name, example, description| many(query(name, text(), example, description));
    vec![
        directions(direction),
        walked_type(),
        names("entityType", "package", "Walk only through this entity type and its subtypes; repeatable."),
        names(
            "classified",
            "essential",
            "Walk only through entities with one of these classifications; repeatable.",
        ),
        names(
            "entityWhere",
            "owner != archive",
            "Walk only through entities that fulfil this condition in the text form of searches; repeatable, all must hold.",
        ),
        names(
            "relationshipWhere",
            "since > 2005",
            "Walk only along relationships that fulfil this condition in the text form of searches; repeatable, all must hold.",
        ),
        status(),
        query("depthMin", count(), 0, "Leave out entities nearer to the start than this."),
        query("depthMax", count(), 5, "Most steps from the start."),
        query("visitedMax", count(), 100_000, "Most entities to visit before giving up with too-large."),
    ]
}

fn many(parameter: Parameter) -> Parameter {
    Parameter { is_many: true, ..parameter }
}

/// The directions of a walk.
pub fn directions(default: &'static str) -> Parameter {
    query(
        "direction",
        json!({ "type": "string", "enum": ["out", "in", "both"], "default": default }),
        default,
        "Direction along relationships.",
    )
}

/// The relationship types of a list.
pub fn listed_type() -> Parameter {
    many(query("type", text(), "depends", "Only relationships of this type and its subtypes; repeatable."))
}

/// The relationship types of a walk.
fn walked_type() -> Parameter {
    many(query(
        "type",
        text(),
        "reads:in",
        "Only relationships of this type and its subtypes; repeatable. With `:in`, `:out` or `:both` after the name, in \
         that direction instead of `direction`. If a name itself ends so, add a direction, or a colon.",
    ))
}

/// By which field a walk is grouped.
pub fn group_by() -> Parameter {
    required(
        "groupBy",
        text(),
        "owner",
        "Count by the values of this property, or of a header such as @type.",
    )
}

/// How many groups are shown.
pub fn groups_limit() -> Parameter {
    query("limit", json!({ "type": "integer", "minimum": 1, "default": 100 }), 100, "Groups to show.")
}

/// The format of a graph.
pub fn graph_format() -> Parameter {
    query(
        "format",
        json!({ "type": "string", "enum": ["json", "graphml", "dot"], "default": "json" }),
        "dot",
        "Format of the graph; by default the one that `Accept` names. GraphML and DOT are sent as one document.",
    )
}

/// Statuses.
pub fn status() -> Parameter {
    many(query(
        "status",
        text(),
        "active",
        "Only instances with this status; repeatable: any of them. All but deleted if left out.",
    ))
}

/// An order by header fields and properties.
pub fn order() -> Parameter {
    many(query(
        "orderBy",
        text(),
        "-@createdAt",
        "Order by this property or a header such as @createdAt; with a minus sign, largest first. Instances without the property come last. Repeatable.",
    ))
}

/// Whether to count all items.
pub fn counted() -> Parameter {
    query("count", flag(), true, "Count all of them.")
}

/// The number of items to skip.
pub fn skip() -> Parameter {
    query("skip", count(), 0, "Skip this many items, counted from `after` if it is given.")
}

/// The greatest number of items.
pub fn limit() -> Parameter {
    query("limit", json!({ "type": "integer", "minimum": 1, "default": 10 }), 10, "Greatest number of items.")
}

/// The property to sum up along a path.
pub fn weight() -> Parameter {
    query("weight", text(), "km", "A numeric property of relationships to sum up instead of counting steps.")
}

/// One direction.
pub fn direction() -> Parameter {
    query(
        "direction",
        json!({ "type": "string", "enum": ["out", "in"], "default": "out" }),
        "out",
        "Relationships that start at the entity, or that end at it.",
    )
}

/// One relationship type.
pub fn relationship_type() -> Parameter {
    query("type", text(), "depends", "Only this relationship type and its subtypes.")
}

/// Purge instead of delete.
pub fn purge() -> Parameter {
    query("purge", flag(), false, "Delete permanently, with the whole history.")
}

/// Restore without relationships.
pub fn alone() -> Parameter {
    query("alone", flag(), false, "Restore the entity without the relationships that were deleted with it.")
}

/// The side that stays in a conflict.
pub fn keep() -> Parameter {
    let sides = json!({ "type": "string", "enum": ["mine", "theirs"] });
    query(
        "keep",
        sides,
        "theirs",
        "The side that stays in a conflict; without it, the server refuses a conflict.",
    )
}

/// A condition on the version before a write.
pub fn if_match() -> Parameter {
    header("if-match", "\"17.3\"", "Write only if this is the tag of the instance, else 412.")
}

/// The property that holds a content.
pub fn content() -> Vec<Parameter> {
    vec![query("property", text(), "content", "The property that holds the content; `content` if left out.")]
}

/// The type of an entity that a write creates.
pub fn new_type() -> Parameter {
    query("type", text(), "scan", "Create the entity with this type if it does not exist.")
}

/// A condition on the version, for reads and creations.
pub fn if_none_match() -> Parameter {
    header("if-none-match", "\"3\"", "Reads: 304 if this is still the latest version. PUT: `*` only creates.")
}

/// The position after which the feed continues.
pub fn last_event_id() -> Parameter {
    header("last-event-id", "17", "Send records after this position, if `after` is not given.")
}
