//! Pages, and the pages of instances and of the past.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{
    Difference, Entity, FoundGroup, Instance, InstanceKind, OrNull, Relationship, RestOfGroups, Version,
    entity_example, relationship_example, version_example,
};

named_forms![EntityPage, RelationshipPage, InstancePage, VersionPage, ChangePage, InstanceChange];

// A page.
#[form(inline)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor (`after`) of the next page; null on the last one.
    pub next: OrNull<String>,
}

// A page of what a search finds, or groups of it.
#[form(inline)]
pub struct FoundPage<T> {
    /// None if the search groups what it finds.
    pub items: Vec<T>,
    /// The cursor (`after`) of the next page; null on the last one.
    pub next: OrNull<String>,
    /// The largest groups, largest first, if the search groups what it finds (`groupBy`, `aggregate`).
    pub groups: Option<Vec<FoundGroup>>,
    /// Number of instances in all groups.
    pub count: Option<u64>,
    /// The groups that are not listed.
    pub rest: Option<RestOfGroups>,
}

// A page with the count of all pages.
#[form(inline)]
pub struct CountedPage<T> {
    pub items: Vec<T>,
    /// The cursor (`after`) of the next page; null on the last one.
    pub next: OrNull<String>,
    /// Number of items on all pages.
    pub count: u64,
}

// A page with the count of all pages, if it was requested.
#[form(inline)]
pub struct CountablePage<T> {
    pub items: Vec<T>,
    /// The cursor (`after`) of the next page; null on the last one.
    pub next: OrNull<String>,
    /// Number of items on all pages, if it was requested.
    pub count: Option<u64>,
}

// A list without pages.
#[form(inline)]
pub struct Listed<T> {
    pub items: Vec<T>,
}

/// A page of entities.
#[form]
#[schemars(example = page_example(entity_example()))]
pub struct EntityPage(pub FoundPage<Entity>);

/// A page of relationships.
#[form]
#[schemars(example = page_example(relationship_example()))]
pub struct RelationshipPage(pub FoundPage<Relationship>);

/// A page of entities or of relationships.
#[form]
#[schemars(example = page_example(entity_example()))]
pub struct InstancePage(pub Page<Instance>);

/// A page of a history.
#[form]
#[schemars(example = page_example(version_example()))]
pub struct VersionPage(pub Page<Version>);

/// A page of changes of instances between two positions.
#[form]
#[schemars(example = counted_example(instance_change_example()))]
pub struct ChangePage(pub CountedPage<InstanceChange>);

/// The change of an instance between two positions.
#[form]
#[schemars(example = instance_change_example())]
pub struct InstanceChange {
    pub change: InstanceChangeKind,
    pub kind: InstanceKind,
    /// The id at the later position; for an instance that disappeared, at the earlier one.
    pub id: String,
    /// For a changed instance.
    pub difference: Option<Difference>,
}

// The kind of change.
#[form(inline)]
pub enum InstanceChangeKind {
    Appeared,
    Disappeared,
    Changed,
}

/// A page with one item.
pub(super) fn page_example(item: Json) -> Json {
    json!({ "items": [item], "next": "0a1b" })
}

/// A page with one item of many.
pub(super) fn counted_example(item: Json) -> Json {
    json!({ "items": [item], "next": "42-100", "count": 117 })
}

/// An instance that is live at the later position only.
pub fn instance_change_example() -> Json {
    json!({ "change": "appeared", "kind": "entity", "id": "bash" })
}
