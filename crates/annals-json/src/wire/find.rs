//! Searches, and their explanations.

use annals::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Instant, NamedForm, OneOrMany, Value};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![
        Find,
        Order,
        Expression,
        Count,
        Explanation,
        AllExpression,
        AnyExpression,
        NoneExpression,
        IsExpression,
        ClassifiedExpression,
        HasExpression,
        PropertyExpression,
    ]
}

/// A search. All members are optional.
// No `default`: openapi-typescript requires every member that has one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "type": "package",
    "where": [{ "property": "size", "operator": ">=", "value": 5 }, "name ^= ba"],
    "orderBy": ["-size", "@createdAt"],
    "limit": 10,
}))]
pub struct Find {
    /// `entity` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<super::InstanceKind>,
    /// A search in its text form; the other fields add to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Types; their subtypes are found too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<OneOrMany<String>>,
    /// Of the types in `type` only these subtypes, without their own subtypes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<OneOrMany<String>>,
    /// Classifications, all of which an entity must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classified: Option<OneOrMany<String>>,
    /// Conditions, all of which must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#where: Option<OneOrMany<Expression>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<OneOrMany<String>>,
    /// `without` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<DeletedChoice>,
    /// `without` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<ProxiesChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<OneOrMany<OrderBy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Continue after this cursor: `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<Instant>,
}

// Whether to find deleted instances.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum DeletedChoice {
    Without,
    With,
    Only,
}

// Whether to find proxies.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ProxiesChoice {
    Without,
    With,
}

// A key of an order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum OrderBy {
    /// A property, or a header such as `@createdAt`; `-` for largest first.
    Text(String),
    Order(Order),
}

/// A key of an order: a property or a header.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "property": "size", "descending": true }))]
pub struct Order {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Instead of `property`: `createdAt`, `version` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// True for the largest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descending: Option<bool>,
}

/// A condition.
// Each of the objects has a name, as `Value` explains.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "all": ["size >= 5", "name ^= ba"] }))]
pub struct AllExpression {
    pub all: Vec<Expression>,
}

/// At least one of these holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "any": ["size >= 5", "name ^= ba"] }))]
pub struct AnyExpression {
    pub any: Vec<Expression>,
}

/// None of these holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "none": ["section = shells"] }))]
pub struct NoneExpression {
    pub none: Vec<Expression>,
}

/// The instance has this type or a subtype.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "is": "package" }))]
pub struct IsExpression {
    pub is: String,
}

/// The entity has this classification, whose properties fulfil `where`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "classified": "essential", "where": "since < 2000" }))]
pub struct ClassifiedExpression {
    pub classified: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#where: Option<Expression>,
}

/// The instance has a relationship that fulfils `where`, to an entity that fulfils `to`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "has": "out", "type": "depends" }))]
pub struct HasExpression {
    pub has: LinkDirection,
    /// The type of the relationship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#where: Option<Expression>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Expression>,
}

// Direction of the relationship.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LinkDirection {
    Out,
    In,
    Any,
}

/// A comparison of a property or a header with values.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "property": "size", "operator": ">=", "value": 5 }))]
pub struct PropertyExpression {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Instead of `property`: `createdAt`, `version` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Instead of `property`: the text of any property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<bool>,
    /// `=` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// For operators with several values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// Whether upper and lower case are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nocase: Option<bool>,
}

// The sign or the word of an operator.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("enum" = operators()))]
pub struct OperatorName(pub String);

fn operators() -> std::collections::BTreeSet<&'static str> {
    Operator::ALL.iter().flat_map(|known| [known.sign(), known.word()]).collect()
}

/// A count.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "count": 2 }))]
pub struct Count {
    pub count: u64,
}

/// The explanation of a search.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "search": "package where size >= 5 limit 10", "order": "size, then age",
    "plans": ["walk a range of the values of size, smallest first"],
    "domain": 4, "candidates": 2, "verified": 2, "visited": 2, "branchesSkipped": 0, "found": 2,
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
}
