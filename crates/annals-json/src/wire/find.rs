//! Searches, and what is told about them.

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

/// A search. All members may be left out.
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
    /// Types, of which more must be told: of those found by `type`, only these and their subtypes.
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
    /// The `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<Instant>,
}

// Whether deleted ones are found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum DeletedChoice {
    Without,
    With,
    Only,
}

// Whether proxies are found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ProxiesChoice {
    Without,
    With,
}

// What is ordered by.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum OrderBy {
    /// A property, or a header such as `@createdAt`; `-` for largest first.
    Text(String),
    Order(Order),
}

/// What is ordered by: a property or a header.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "property": "size", "descending": true }))]
pub struct Order {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// In the place of `property`: `createdAt`, `version` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The largest first.
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

/// One of these holds, or several.
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

/// It is of this type or of a subtype.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "is": "package" }))]
pub struct IsExpression {
    pub is: String,
}

/// It has this classification, of whose properties `where` holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "classified": "essential", "where": "since < 2000" }))]
pub struct ClassifiedExpression {
    pub classified: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#where: Option<Expression>,
}

/// It has a relationship, of which `where` holds, to an entity of which `to` holds.
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

// Which way the relationship leads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LinkDirection {
    Out,
    In,
    Any,
}

/// A property or a header compares with values.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "property": "size", "operator": ">=", "value": 5 }))]
pub struct PropertyExpression {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// In the place of `property`: `createdAt`, `version` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// In the place of `property`: any string property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<bool>,
    /// `=` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Where the operator takes several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// Whether large and small letters are the same.
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

/// How many there are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "count": 2 }))]
pub struct Count {
    pub count: u64,
}

/// How a page of a search is found.
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
    /// How many instances the types have.
    pub domain: u64,
    /// How many instances the indexes offer.
    pub candidates: u64,
    /// How many of them were looked at for conditions that no index decides.
    pub verified: u64,
    /// How many entries of indexes were visited.
    pub visited: u64,
    pub branches_skipped: u64,
    pub found: u64,
}
