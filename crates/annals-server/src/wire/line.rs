//! The lines of answers in `application/x-ndjson`.

use annals_json::named_forms;
use annals_json::wire::{
    Entity, FoundGroup, FoundPath, Group, InstanceChange, Neighbor, Reached, Relationship, RestOfGroups,
    Shared, TreeChange, TreeEntry, Version, entity_example, form, found_path_example,
    instance_change_example, neighbor_example, one_of, reached_example, relationship_example, shared_example,
    tree_change_example, tree_entry_example, version_example,
};
use serde_json::json;

use super::{Problem, problem_example};

named_forms![
    Crossed,
    NextLine,
    ErrorLine,
    InstanceLine,
    VersionLine,
    ReachedLine,
    GroupTotals,
    GroupLine,
    FoundGroupLine,
    SubgraphLine,
    TreeLine,
    RelationshipLine,
    NeighborLine,
    SharedLine,
    PathLine,
    ChangeLine,
    TreeChangeLine,
];

/// A relationship on a walk.
#[form]
#[schemars(example = json!({ "relationship": relationship_example() }))]
pub struct Crossed {
    pub relationship: Relationship,
}

/// The last line if there is more: how to get the rest.
#[form]
#[schemars(example = json!({ "next": "0a1b" }))]
pub struct NextLine {
    /// The value of `after` for the next request.
    pub next: String,
}

/// The last line if an error occurred after the answer had begun.
#[form]
#[schemars(example = json!({ "error": problem_example() }))]
pub struct ErrorLine {
    pub error: Problem,
}

// One line: an item; or at the end the way to get the rest, or the error.
#[form(inline)]
#[schemars(transform = one_of)]
pub enum Line<T> {
    Item(Box<T>),
    Next(NextLine),
    Error(Box<ErrorLine>),
}

// The same for items of two forms.
#[form(inline)]
#[schemars(transform = one_of)]
pub enum LineOfTwo<A, B> {
    One(Box<A>),
    Other(Box<B>),
    Next(NextLine),
    Error(Box<ErrorLine>),
}

// An instance, or a group.
#[form(inline)]
#[schemars(transform = one_of)]
pub enum LineOfFound {
    Entity(Box<Entity>),
    Relationship(Box<Relationship>),
    Group(Box<FoundGroup>),
    Totals(GroupTotals),
    Next(NextLine),
    Error(Box<ErrorLine>),
}

/// The last line of groups: the number of entities, and the groups without a line.
#[form]
#[schemars(example = json!({ "count": 4, "rest": { "groups": 0, "count": 0 } }))]
pub struct GroupTotals {
    pub count: u64,
    pub rest: RestOfGroups,
}

/// Lines with different items.
macro_rules! lines {
    ($($name:ident($line:ty), $example:expr;)*) => {$(
        /// One of these per line. The last line may have the cursor for the rest, or an error.
        #[form]
        #[schemars(example = $example)]
        pub struct $name(pub $line);
    )*};
}

lines! {
    InstanceLine(LineOfFound), entity_example();
    VersionLine(Line<Version>), version_example();
    ReachedLine(Line<Reached>), reached_example();
    GroupLine(LineOfTwo<Group, GroupTotals>), json!({ "value": "finance", "count": 3 });
    FoundGroupLine(LineOfTwo<FoundGroup, GroupTotals>), json!({ "values": { "owner": "finance" }, "count": 3 });
    SubgraphLine(LineOfTwo<Reached, Crossed>), json!({ "relationship": relationship_example() });
    TreeLine(Line<TreeEntry>), tree_entry_example();
    RelationshipLine(Line<Relationship>), relationship_example();
    NeighborLine(Line<Neighbor>), neighbor_example();
    SharedLine(Line<Shared>), shared_example();
    PathLine(Line<FoundPath>), found_path_example();
    ChangeLine(Line<InstanceChange>), instance_change_example();
    TreeChangeLine(Line<TreeChange>), tree_change_example();
}
