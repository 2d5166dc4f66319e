//! Searches as JSON. `docs/search.md` describes them together with the text form.

use annals::{
    Condition, Deleted, Explanation, Expression, Field, Find, Header, LinkDirection, Operator, Order,
    OrderBy, Result, Value,
};
use serde_json::{Value as Json, json};

use super::{
    Object, array, boolean, invalid, json_from_str, kind, number, object, only, optional_text, text,
    value_from_json,
};

/// The members of a search in JSON.
pub const FIELDS: [&str; 12] = [
    "q",
    "type",
    "only",
    "classified",
    "where",
    "status",
    "deleted",
    "proxies",
    "orderBy",
    "limit",
    "offset",
    "after",
];

/// The order from a text: `size`, or `-size` for largest first; `@createdAt` for a header field.
pub fn order_from_text(text: &str) -> Result<OrderBy> {
    let (name, order) = match text.strip_prefix('-') {
        Some(name) => (name, Order::Descending),
        None => (text, Order::Ascending),
    };
    Ok(OrderBy { field: field_from_text(name)?, order })
}

/// A property, or a header such as `@type`.
///
/// Errors: `InvalidArgument` for an unknown header, or an empty name.
pub fn field_from_text(name: &str) -> Result<Field> {
    match name.strip_prefix('@') {
        Some("text") => Ok(Field::AnyText),
        Some(header) => header_from_text(header),
        None if name.is_empty() => Err(invalid("field: expected a property or a @header, found nothing")),
        None => Ok(Field::Property(name.into())),
    }
}

fn header_from_text(name: &str) -> Result<Field> {
    Header::named(name).map(Field::Header).ok_or_else(|| {
        let known: Vec<&str> = Header::ALL.iter().map(|known| known.name()).collect();
        invalid(format!("header {name:?}: expected one of {}", known.join(", ")))
    })
}

/// A search from its JSON form; every field is optional. `q` is a text form to begin with.
pub fn find_from_json(fields: &Object) -> Result<Find> {
    let what = "search";
    only(fields, what, &FIELDS)?;
    let mut find = optional_text(fields, what, "q")?.map_or_else(|| Ok(Find::all()), Find::parse)?;
    find.types.extend(names(fields, what, "type")?);
    find.subtypes.extend(names(fields, what, "only")?);
    for name in names(fields, what, "classified")? {
        find = find.classified(&name);
    }
    match fields.get("where") {
        None | Some(Json::Null) => {}
        Some(Json::Array(parts)) => {
            for part in parts {
                find = find.filter(expression_from_json(part)?);
            }
        }
        Some(one) => find = find.filter(expression_from_json(one)?),
    }
    find.statuses.extend(names(fields, what, "status")?);
    match optional_text(fields, what, "deleted")? {
        None => {}
        Some(name) => find.deleted = deleted_from_text(name)?,
    }
    if let Some(name) = optional_text(fields, what, "proxies")? {
        find.with_proxies = proxies_from_text(name)?;
    }
    match fields.get("orderBy") {
        None | Some(Json::Null) => {}
        Some(Json::Array(keys)) => find.order = keys.iter().map(order_from_json).collect::<Result<_>>()?,
        Some(one) => find.order = vec![order_from_json(one)?],
    }
    if let Some(limit) = number(fields, what, "limit")? {
        find.limit = limit;
    }
    if let Some(offset) = number(fields, what, "offset")? {
        find.offset = offset;
    }
    if let Some(after) = optional_text(fields, what, "after")? {
        find.after = Some(after.to_owned());
    }
    Ok(find)
}

/// A condition in its text form, or as JSON if it begins with `{`.
pub fn condition_from_text(condition: &str) -> Result<Expression> {
    if !condition.starts_with('{') {
        return Expression::parse(condition);
    }
    let json = json_from_str(condition)
        .map_err(|error| invalid(format!("search: expected JSON behind {{, found {error}")))?;
    expression_from_json(&json)
}

/// Whether to find deleted instances: `without`, `with` or `only`.
pub fn deleted_from_text(name: &str) -> Result<Deleted> {
    Ok(match name {
        "without" => Deleted::Without,
        "with" => Deleted::With,
        "only" => Deleted::Only,
        other => return Err(invalid(format!("deleted: expected without, with or only, found {other:?}"))),
    })
}

/// Whether to find entities that the repository holds only as proxies: `without` or `with`.
pub fn proxies_from_text(name: &str) -> Result<bool> {
    match name {
        "without" => Ok(false),
        "with" => Ok(true),
        other => Err(invalid(format!("proxies: expected without or with, found {other:?}"))),
    }
}

// One name or several.
fn names(fields: &Object, what: &str, key: &str) -> Result<Vec<std::sync::Arc<str>>> {
    match fields.get(key) {
        Some(Json::Array(names)) => names
            .iter()
            .map(|name| {
                let name = name.as_str();
                name.map(Into::into).ok_or_else(|| invalid(format!("{what}: expected strings in {key:?}")))
            })
            .collect(),
        _ => Ok(optional_text(fields, what, key)?.map(Into::into).into_iter().collect()),
    }
}

/// An expression: a text form, or an object.
pub fn expression_from_json(json: &Json) -> Result<Expression> {
    if let Json::String(text) = json {
        return Expression::parse(text);
    }
    let fields = object(json, "expression")?;
    let parts = |name: &str| -> Result<Vec<Expression>> {
        only(fields, "expression", &[name])?;
        array(fields, "expression", name)?.iter().map(expression_from_json).collect()
    };
    let inner = |name: &str| -> Result<Option<Box<Expression>>> {
        let inner = fields.get(name).filter(|inner| !inner.is_null());
        Ok(inner.map(expression_from_json).transpose()?.map(Box::new))
    };
    Ok(match () {
        () if fields.contains_key("all") => Expression::All(parts("all")?),
        () if fields.contains_key("any") => Expression::Any(parts("any")?),
        () if fields.contains_key("none") => Expression::None(parts("none")?),
        () if fields.contains_key("is") => {
            only(fields, "expression", &["is"])?;
            Expression::Type(text(fields, "expression", "is")?.into())
        }
        () if fields.contains_key("classified") => {
            only(fields, "expression", &["classified", "where"])?;
            let name = text(fields, "expression", "classified")?.into();
            Expression::Classified { name, matching: inner("where")? }
        }
        () if fields.contains_key("has") => {
            only(fields, "expression", &["has", "type", "where", "to"])?;
            Expression::Linked {
                direction: match text(fields, "expression", "has")? {
                    "out" => LinkDirection::Out,
                    "in" => LinkDirection::In,
                    "any" => LinkDirection::Any,
                    other => return Err(invalid(format!("has: expected out, in or any, found {other:?}"))),
                },
                type_name: optional_text(fields, "expression", "type")?.map(Into::into),
                matching: inner("where")?,
                other: inner("to")?,
            }
        }
        () => condition_from_json(fields)?.into(),
    })
}

fn condition_from_json(fields: &Object) -> Result<Condition> {
    let what = "condition";
    only(fields, what, &["property", "header", "text", "operator", "value", "values", "nocase"])?;
    let is_text = boolean(fields, what, "text", false)?;
    let field = match (
        optional_text(fields, what, "property")?,
        optional_text(fields, what, "header")?,
        is_text,
    ) {
        (Some(name), None, false) => Field::Property(name.into()),
        (None, Some(name), false) => header_from_text(name)?,
        (None, None, true) => Field::AnyText,
        _ => {
            return Err(invalid(
                "condition: expected one of \"property\", \"header\" or \"text\": true; or all, any, none, is, \
                 classified or has",
            ));
        }
    };
    let name = optional_text(fields, what, "operator")?.unwrap_or("=");
    let operator = Operator::named(name).ok_or_else(|| {
        let known: Vec<String> =
            Operator::ALL.iter().flat_map(|known| [known.sign(), known.word()]).map(str::to_owned).collect();
        invalid(format!("condition: unknown operator {name:?}; expected one of {}", known.join(", ")))
    })?;
    let mut values: Vec<Value> =
        array(fields, what, "values")?.iter().map(value_from_json).collect::<Result<_>>()?;
    if let Some(value) = fields.get("value") {
        values.push(value_from_json(value)?);
    }
    match operator.values_count() {
        Some(0) => values.clear(),
        Some(count) if values.len() != count => {
            let expected = if count == 1 { "a \"value\"" } else { "two \"values\"" };
            return Err(invalid(format!("condition {name}: expected {expected}, found {}", values.len())));
        }
        _ => {}
    }
    Ok(Condition { field, operator, values, ignores_case: boolean(fields, what, "nocase", false)? })
}

fn order_from_json(json: &Json) -> Result<OrderBy> {
    match json {
        Json::String(text) => order_from_text(text),
        Json::Object(fields) => {
            only(fields, "orderBy", &["property", "header", "descending"])?;
            let field = match optional_text(fields, "orderBy", "header")? {
                Some(name) => header_from_text(name)?,
                None => Field::Property(text(fields, "orderBy", "property")?.into()),
            };
            let is_descending = boolean(fields, "orderBy", "descending", false)?;
            Ok(OrderBy { field, order: if is_descending { Order::Descending } else { Order::Ascending } })
        }
        other => Err(invalid(format!("orderBy: expected a string or an object, found {}", kind(other)))),
    }
}

/// How a page was found.
pub fn explanation_to_json(told: &Explanation) -> Json {
    json!({
        "search": told.search,
        "order": told.order,
        "plans": told.plans,
        "domain": told.domain,
        "candidates": told.candidates,
        "verified": told.verified,
        "visited": told.visited,
        "branchesSkipped": told.branches_skipped,
        "found": told.found,
        "hints": told.hints,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_say_in_json_what_texts_say() {
        for (text, json) in [
            ("a=b", json!({"property": "a", "value": "b"})),
            ("a>=10", json!({"property": "a", "operator": ">=", "value": 10})),
            ("a!=\"5\"", json!({"property": "a", "operator": "!=", "value": "5"})),
            ("a^='x=y'", json!({"property": "a", "operator": "prefix", "value": "x=y"})),
            ("a~=x nocase", json!({"property": "a", "operator": "contains", "value": "x", "nocase": true})),
            ("a is null", json!({"property": "a", "operator": "missing"})),
            ("a exists", json!({"property": "a", "operator": "exists"})),
            ("a in (1, 2)", json!({"property": "a", "operator": "in", "values": [1, 2]})),
            ("a between 1 and 2", json!({"property": "a", "operator": "between", "values": [1, 2]})),
            ("@version > 1", json!({"header": "version", "operator": ">", "value": 1})),
            ("@text =~ /x.*/", json!({"text": true, "operator": "matches", "value": "x.*"})),
            ("a = 1 or none(b = 2)", json!({"any": ["a = 1", {"none": ["b = 2"]}]})),
            ("is package", json!({"is": "package"})),
            ("classified c (level = 1)", json!({"classified": "c", "where": "level = 1"})),
            (
                "has out flow (x = 1) to (is store)",
                json!({"has": "out", "type": "flow", "where": "x = 1", "to": {"is": "store"}}),
            ),
        ] {
            let (text, json) = (json!(text), json);
            assert_eq!(expression_from_json(&text).unwrap(), expression_from_json(&json).unwrap(), "{text}");
        }
        for bad in [
            json!("a"),
            json!({"property": "a", "operator": "<"}),
            json!({"operator": "exists"}),
            json!({"property": "a", "header": "id", "value": 1}),
            json!({"has": "up"}),
            json!({"all": [], "any": []}),
            json!(1),
        ] {
            assert!(expression_from_json(&bad).is_err(), "{bad}");
        }
    }
}
