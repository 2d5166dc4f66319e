//! Searches as JSON.

use annals::{Condition, Find, Operator, Order, Result, Value};
use serde_json::Value as Json;

use super::{Object, array, boolean, invalid, kind, object, only, optional_text, text, value_from_json};
use crate::condition::parse_condition;

/// Operators by their signs and names.
const OPERATORS: [(&str, Operator); 12] = [
    ("=", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterOrEqual),
    ("^=", Operator::Prefix),
    ("prefix", Operator::Prefix),
    ("~=", Operator::Contains),
    ("contains", Operator::Contains),
    ("exists", Operator::Exists),
    ("missing", Operator::Missing),
];

/// The order from a text: `size`, or `-size` for largest first.
pub fn order_from_text(text: &str) -> (std::sync::Arc<str>, Order) {
    match text.strip_prefix('-') {
        Some(property) => (property.into(), Order::Descending),
        None => (text.into(), Order::Ascending),
    }
}

/// A search from its JSON form: `{"type", "classified", "where": [{"property", "operator", "value"}], "orderBy", "limit",
/// "after"}`, each field optional. A condition may also be a text, as on the command line.
pub fn find_from_json(fields: &Object) -> Result<Find> {
    let what = "search";
    only(fields, what, &["type", "classified", "where", "orderBy", "limit", "after"])?;
    let mut find = Find::all();
    find.type_name = optional_text(fields, what, "type")?.map(Into::into);
    find.classification = optional_text(fields, what, "classified")?.map(Into::into);
    find.after = optional_text(fields, what, "after")?.map(str::to_owned);
    find.conditions = array(fields, what, "where")?.iter().map(condition_from_json).collect::<Result<_>>()?;
    find.order = fields.get("orderBy").map(order_from_json).transpose()?;
    if let Some(limit) = fields.get("limit") {
        find.limit = limit
            .as_u64()
            .and_then(|limit| usize::try_from(limit).ok())
            .ok_or_else(|| invalid(format!("search: expected a whole number as limit, found {limit}")))?;
    }
    Ok(find)
}

fn condition_from_json(json: &Json) -> Result<Condition> {
    let what = "condition";
    if let Json::String(text) = json {
        return parse_condition(text);
    }
    let fields = object(json, what)?;
    only(fields, what, &["property", "operator", "value"])?;
    let name = optional_text(fields, what, "operator")?.unwrap_or("=");
    let operator = OPERATORS.into_iter().find(|(known, _)| *known == name).map(|(_, operator)| operator);
    let operator = operator.ok_or_else(|| {
        let known: Vec<&str> = OPERATORS.iter().map(|(known, _)| *known).collect();
        invalid(format!("condition: unknown operator {name:?}; expected one of {}", known.join(", ")))
    })?;
    let needs_value = !matches!(operator, Operator::Exists | Operator::Missing);
    let value = match fields.get("value") {
        Some(value) => value_from_json(value)?,
        None if needs_value => return Err(invalid(format!("condition {name}: expected a \"value\""))),
        None => Value::Boolean(true),
    };
    Ok(Condition { property: text(fields, what, "property")?.into(), operator, value })
}

fn order_from_json(json: &Json) -> Result<(std::sync::Arc<str>, Order)> {
    match json {
        Json::String(text) => Ok(order_from_text(text)),
        Json::Object(fields) => {
            only(fields, "orderBy", &["property", "descending"])?;
            let is_descending = boolean(fields, "orderBy", "descending", false)?;
            let order = if is_descending { Order::Descending } else { Order::Ascending };
            Ok((text(fields, "orderBy", "property")?.into(), order))
        }
        other => Err(invalid(format!("orderBy: expected a string or an object, found {}", kind(other)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_say_in_json_what_short_texts_say() {
        for (text, json) in [
            ("a=b", json!({"property": "a", "value": "b"})),
            ("a>=10", json!({"property": "a", "operator": ">=", "value": 10})),
            ("a!=\"5\"", json!({"property": "a", "operator": "!=", "value": "5"})),
            ("a^=x=y", json!({"property": "a", "operator": "prefix", "value": "x=y"})),
            ("a~=x", json!({"property": "a", "operator": "contains", "value": "x"})),
            ("!a", json!({"property": "a", "operator": "missing"})),
            ("a?", json!({"property": "a", "operator": "exists"})),
        ] {
            assert_eq!(
                condition_from_json(&text.into()).unwrap(),
                condition_from_json(&json).unwrap(),
                "{text}"
            );
        }
        for bad in
            [json!("a"), json!({"property": "a", "operator": "<"}), json!({"operator": "exists"}), json!(1)]
        {
            assert!(condition_from_json(&bad).is_err(), "{bad}");
        }
    }
}
