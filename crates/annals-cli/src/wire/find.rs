//! Searches as JSON, and their conditions as short texts.

use annals::{Condition, Find, Operator, Order, Result, Value};
use serde_json::Value as Json;

use super::{Object, array, boolean, invalid, kind, object, only, optional_text, text, value_from_json};

/// Operators by their signs and names.
const OPERATORS: [(&str, Operator); 12] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("^=", Operator::Prefix),
    ("*=", Operator::Contains),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("prefix", Operator::Prefix),
    ("contains", Operator::Contains),
    ("exists", Operator::Exists),
    ("missing", Operator::Missing),
];
/// How many of them are signs, which may stand in a text.
const SIGNS: usize = 8;

/// A condition from a text: `name=bash`, `size>=10`, `name^=lib` (prefix), `name*=core` (contains), `name` (present),
/// `!name` (absent). A value that is JSON is taken as that, any other as a string; `version="5"` is a string.
pub fn condition_from_text(text: &str) -> Result<Condition> {
    let found = (0..text.len()).filter(|at| text.is_char_boundary(*at)).find_map(|at| {
        let sign = OPERATORS[..SIGNS].iter().find(|(sign, _)| text[at..].starts_with(sign));
        sign.map(|(sign, operator)| (&text[..at], *operator, &text[at + sign.len()..]))
    });
    let (property, operator, value) = match (found, text.strip_prefix('!')) {
        (Some((property, operator, value)), _) => (property, operator, value_from_text(value)?),
        (None, Some(property)) => (property, Operator::Missing, Value::Boolean(true)),
        (None, None) => (text, Operator::Exists, Value::Boolean(true)),
    };
    if property.is_empty() {
        return Err(invalid(format!(
            "condition {text:?}: expected a property, an operator and a value, like size>=10"
        )));
    }
    Ok(Condition { property: property.into(), operator, value })
}

fn value_from_text(text: &str) -> Result<Value> {
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Null) | Err(_) => Ok(Value::from(text)),
        Ok(json) => value_from_json(&json),
    }
}

/// The order from a text: `size`, or `-size` for largest first.
pub fn order_from_text(text: &str) -> (std::sync::Arc<str>, Order) {
    match text.strip_prefix('-') {
        Some(property) => (property.into(), Order::Descending),
        None => (text.into(), Order::Ascending),
    }
}

/// A search from its JSON form: `{"type", "classified", "where": [{"property", "operator", "value"}], "orderBy", "limit",
/// "after"}`, each field optional. A condition may also be a text, as in [`condition_from_text`].
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
        return condition_from_text(text);
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
    fn short_texts_say_the_same_as_json() {
        let condition =
            |property: &str, operator, value: Value| Condition { property: property.into(), operator, value };
        for (text, json, expected) in [
            ("a=b", json!({"property": "a", "value": "b"}), condition("a", Operator::Equal, "b".into())),
            (
                "a>=10",
                json!({"property": "a", "operator": ">=", "value": 10}),
                condition("a", Operator::GreaterOrEqual, 10.into()),
            ),
            (
                "a!=\"5\"",
                json!({"property": "a", "operator": "!=", "value": "5"}),
                condition("a", Operator::NotEqual, "5".into()),
            ),
            (
                "a^=x=y",
                json!({"property": "a", "operator": "prefix", "value": "x=y"}),
                condition("a", Operator::Prefix, "x=y".into()),
            ),
            (
                "!a",
                json!({"property": "a", "operator": "missing"}),
                condition("a", Operator::Missing, true.into()),
            ),
            (
                "a",
                json!({"property": "a", "operator": "exists"}),
                condition("a", Operator::Exists, true.into()),
            ),
            (
                "ü<1.5",
                json!({"property": "ü", "operator": "<", "value": 1.5}),
                condition("ü", Operator::Less, 1.5.into()),
            ),
        ] {
            assert_eq!(condition_from_text(text).unwrap(), expected, "{text}");
            assert_eq!(condition_from_json(&json).unwrap(), expected, "{text}");
        }
        for bad in ["", "=5", "!"] {
            assert!(condition_from_text(bad).is_err(), "{bad}");
        }
    }
}
