//! Searches, and their explanations.

use annals::Operator;
use annals_json_form::form;
use serde_json::json;

use super::{Instant, OneOrMany, Value};

named_forms![
    Find,
    GroupedFind,
    Order,
    Expression,
    Count,
    Explanation,
    Completions,
    CompletionItem,
    AllExpression,
    AnyExpression,
    NoneExpression,
    IsExpression,
    ClassifiedExpression,
    HasExpression,
    PropertyExpression,
];

/// A search. All members are optional.
// No `default`: openapi-typescript requires every member that has one.
#[form]
#[schemars(example = json!({
    "type": "package",
    "where": [{ "property": "size", "operator": ">=", "value": 5 }, "name ^= ba"],
    "orderBy": ["-size", "@createdAt"],
    "limit": 10,
}))]
pub struct Find {
    #[serde(flatten)]
    pub members: FindMembers,
}

/// A search, and how to group what it finds.
#[form]
#[schemars(example = json!({ "type": "table", "groupBy": ["@type", "owner"], "aggregate": ["sum(rows)"] }))]
pub struct GroupedFind {
    #[serde(flatten)]
    pub members: FindMembers,
    /// Properties, or headers such as `@type`; all instances are one group if left out.
    pub group_by: Option<OneOrMany<String>>,
    /// `sum(FIELD)`, `min(FIELD)` or `max(FIELD)`; each group has its count in any case, and `count` says so.
    pub aggregate: Option<OneOrMany<String>>,
}

// The members of a search.
#[form(part)]
pub struct FindMembers {
    /// `entity` if left out.
    pub kind: Option<super::InstanceKind>,
    /// A search in its text form; the other fields add to it.
    pub q: Option<String>,
    /// Types; their subtypes are found too.
    pub r#type: Option<OneOrMany<String>>,
    /// Of the types in `type` only these subtypes, without their own subtypes.
    pub only: Option<OneOrMany<String>>,
    /// Classifications, all of which an entity must have.
    pub classified: Option<OneOrMany<String>>,
    /// Conditions, all of which must hold.
    pub r#where: Option<OneOrMany<Expression>>,
    pub status: Option<OneOrMany<String>>,
    /// `without` if left out.
    pub deleted: Option<DeletedChoice>,
    /// `without` if left out.
    pub proxies: Option<ProxiesChoice>,
    pub order_by: Option<OneOrMany<OrderBy>>,
    pub limit: Option<u64>,
    pub offset: Option<u64>,
    /// Continue after this cursor: `next` of the page before.
    pub after: Option<String>,
    pub at_position: Option<u64>,
    pub at: Option<Instant>,
    pub valid_at: Option<Instant>,
}

// Whether to find deleted instances.
#[form(inline)]
pub enum DeletedChoice {
    Without,
    With,
    Only,
}

// Whether to find proxies.
#[form(inline)]
pub enum ProxiesChoice {
    Without,
    With,
}

// A key of an order.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum OrderBy {
    /// A property, or a header such as `@createdAt`; `-` for largest first.
    Text(String),
    Order(Order),
}

/// A key of an order: a property or a header.
#[form]
#[schemars(example = json!({ "property": "size", "descending": true }))]
pub struct Order {
    pub property: Option<String>,
    /// Instead of `property`: `createdAt`, `version` and others.
    pub header: Option<String>,
    /// True for the largest first.
    pub descending: Option<bool>,
}

/// A condition.
// Each of the objects has a name, as `Value` explains.
#[form]
#[schemars(transform = super::one_of, example = json!({ "all": [
    { "property": "size", "operator": ">=", "value": 5 },
    { "none": ["section = shells"] },
    { "has": "out", "type": "depends", "to": { "property": "name", "value": "libc6" } },
] }))]
pub enum Expression {
    /// The text form.
    Text(String),
    All(AllExpression),
    Any(AnyExpression),
    None(NoneExpression),
    Is(IsExpression),
    Classified(Box<ClassifiedExpression>),
    Has(Box<HasExpression>),
    Property(PropertyExpression),
}

/// All of these hold.
#[form]
#[schemars(example = json!({ "all": ["size >= 5", "name ^= ba"] }))]
pub struct AllExpression {
    pub all: Vec<Expression>,
}

/// At least one of these holds.
#[form]
#[schemars(example = json!({ "any": ["size >= 5", "name ^= ba"] }))]
pub struct AnyExpression {
    pub any: Vec<Expression>,
}

/// None of these holds.
#[form]
#[schemars(example = json!({ "none": ["section = shells"] }))]
pub struct NoneExpression {
    pub none: Vec<Expression>,
}

/// The instance has this type or a subtype.
#[form]
#[schemars(example = json!({ "is": "package" }))]
pub struct IsExpression {
    pub is: String,
}

/// The entity has this classification, whose properties fulfil `where`.
#[form]
#[schemars(example = json!({ "classified": "essential", "where": "since < 2000" }))]
pub struct ClassifiedExpression {
    pub classified: String,
    pub r#where: Option<Expression>,
}

/// The instance has a relationship that fulfils `where`, to an entity that fulfils `to`.
#[form]
#[schemars(example = json!({ "has": "out", "type": "depends" }))]
pub struct HasExpression {
    pub has: LinkDirection,
    /// The type of the relationship.
    pub r#type: Option<String>,
    pub r#where: Option<Expression>,
    pub to: Option<Expression>,
}

// Direction of the relationship.
#[form(inline)]
pub enum LinkDirection {
    Out,
    In,
    Any,
}

/// A comparison of a property or a header with values.
#[form]
#[schemars(example = json!({ "property": "size", "operator": ">=", "value": 5 }))]
pub struct PropertyExpression {
    pub property: Option<String>,
    /// Instead of `property`: `createdAt`, `version` and others.
    pub header: Option<String>,
    /// Instead of `property`: the text of any property.
    pub text: Option<bool>,
    /// `=` if left out.
    pub operator: Option<OperatorName>,
    pub value: Option<Value>,
    /// For operators with several values.
    pub values: Option<Vec<Value>>,
    /// Whether upper and lower case are equal.
    pub nocase: Option<bool>,
}

// The sign or the word of an operator.
#[form(inline)]
#[schemars(extend("enum" = operators()))]
pub struct OperatorName(pub String);

fn operators() -> std::collections::BTreeSet<&'static str> {
    Operator::ALL.iter().flat_map(|known| [known.sign(), known.word()]).collect()
}

/// A count.
#[form]
#[schemars(example = json!({ "count": 2 }))]
pub struct Count {
    pub count: u64,
}

/// The explanation of a search.
#[form]
#[schemars(example = json!({
    "search": "package where size >= 5 limit 10", "order": "size, then age",
    "plans": ["walk a range of the values of size, smallest first"],
    "domain": 4, "candidates": 2, "verified": 2, "visited": 2, "branchesSkipped": 0, "found": 2, "hints": [],
}))]
pub struct Explanation {
    /// The search in its text form.
    pub search: String,
    pub order: String,
    pub plans: Vec<String>,
    /// Number of instances with the types and classifications of the search.
    pub domain: u64,
    /// Number of candidates from indexes.
    pub candidates: u64,
    /// Number of candidates checked for conditions that no index decides.
    pub verified: u64,
    /// Number of visited entries of indexes.
    pub visited: u64,
    pub branches_skipped: u64,
    pub found: u64,
    /// For a search that finds nothing: why that may be, for people.
    pub hints: Vec<String>,
}

/// The completions at the cursor of a search.
#[form]
#[schemars(example = json!({
    "from": 14, "to": 17, "items": [{ "kind": "property", "text": "section" }], "hasMore": false,
}))]
pub struct Completions {
    /// Where the text begins that a completion replaces. Units: characters of the text.
    pub from: u64,
    /// Where it ends: the cursor.
    pub to: u64,
    pub items: Vec<CompletionItem>,
    /// True if there are more of them.
    pub has_more: bool,
}

/// A completion.
#[form]
#[schemars(example = json!({ "kind": "property", "text": "section" }))]
pub struct CompletionItem {
    /// `type`, `classification`, `status`, `property`, `header`, `value`, or `word` for those of the language.
    pub kind: String,
    /// The text as it is written in a search, with quotes where it needs them.
    pub text: String,
}
