//! Trees of containers from JSON, in the usual form of configurations. `tree_text.rs` writes it.
//!
//! Among the members of an object, objects are children with names of their own, arrays of objects are lists, and all
//! others are properties. `docs/trees.md` describes it for users.

use annals::{Branch, Error, Id, Insert, Item, Result, TreePath, TreeStep, Value};
use serde_json::Value as Json;

use super::value::is_tagged;
use super::{Object, array, invalid, kind, object, optional_text, value_from_json};

/// Member: the id of the entity.
pub(crate) const ID: &str = "@id";
/// Member: its type.
pub(crate) const TYPE: &str = "@type";
/// Member: properties whose names would have another meaning among the other members. Their values are as everywhere.
pub(crate) const PROPERTIES: &str = "@properties";
/// Member: children with names of their own, for the same reason.
pub(crate) const CHILDREN: &str = "@children";
/// Member: lists, for the same reason.
pub(crate) const LISTS: &str = "@lists";

/// The target of a path of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeContent {
    /// An item with its subtree.
    Item(Item),
    /// The value of a property.
    Value(Value),
}

/// An item, or the value of a property. Errors: those of [`item_from_json`] and of values.
pub fn tree_content_from_json(json: &Json) -> Result<TreeContent> {
    if is_tree_item(json) {
        item_from_json(json).map(TreeContent::Item)
    } else {
        leaf_from_json(json).map(TreeContent::Value)
    }
}

/// An item with its subtree.
///
/// Errors: `InvalidArgument`, with the names that lead to the error as `member`.
pub fn item_from_json(json: &Json) -> Result<Item> {
    let mut item = Item::new();
    for (name, member) in object(json, "item")? {
        add_member(&mut item, name, member).map_err(|error| below(name, error))?;
    }
    Ok(item)
}

fn add_member(item: &mut Item, name: &str, member: &Json) -> Result<()> {
    match name {
        ID => item.id = Some(Id::new(text_of(member)?)?),
        TYPE => item.type_name = Some(text_of(member)?.into()),
        PROPERTIES => {
            for (name, value) in object(member, PROPERTIES)? {
                let value = value_from_json(value).map_err(|error| below(name, error))?;
                add_property(item, name, value)?;
            }
        }
        CHILDREN => {
            for (name, child) in object(member, CHILDREN)? {
                add_child(item, name, child).map_err(|error| below(name, error))?;
            }
        }
        LISTS => {
            let lists: &Object = object(member, LISTS)?;
            for name in lists.keys() {
                add_list(item, name, array(lists, LISTS, name)?).map_err(|error| below(name, error))?;
            }
        }
        unknown if unknown.starts_with('@') => {
            let text = format!(
                "item: unknown member {unknown:?}; expected {ID}, {TYPE}, {PROPERTIES}, {CHILDREN} or {LISTS}, or such a name in one \
                 of the last three"
            );
            return Err(invalid(text));
        }
        name => match member {
            Json::Array(items) if items.iter().all(is_tree_item) => add_list(item, name, items)?,
            member if is_tree_item(member) => add_child(item, name, member)?,
            value => add_property(item, name, leaf_from_json(value)?)?,
        },
    }
    Ok(())
}

fn add_property(item: &mut Item, name: &str, value: Value) -> Result<()> {
    if item.get(name).is_some() {
        return Err(invalid(format!("item: property {name} occurs twice; give it once")));
    }
    item.properties.push((name.into(), value));
    Ok(())
}

fn add_child(item: &mut Item, name: &str, child: &Json) -> Result<()> {
    let child = item_from_json(child)?;
    item.children.push(Branch { name: name.into(), is_listed: false, item: child });
    Ok(())
}

fn add_list(item: &mut Item, name: &str, items: &[Json]) -> Result<()> {
    item.children.reserve(items.len());
    for (index, listed) in items.iter().enumerate() {
        let listed = item_from_json(listed).map_err(|error| below(&index.to_string(), error))?;
        item.children.push(Branch { name: name.into(), is_listed: true, item: listed });
    }
    Ok(())
}

/// True for an object that is an item: it is not a value of a kind that JSON lacks.
pub fn is_tree_item(json: &Json) -> bool {
    json.as_object().is_some_and(|members| !is_tagged(members))
}

/// The value of a property: an array of scalars is a list of values, or a set if its attribute has many values.
fn leaf_from_json(json: &Json) -> Result<Value> {
    let Json::Array(values) = json else { return value_from_json(json) };
    let is_scalar = |value: &Json| !value.is_array() && !is_tree_item(value);
    if values.is_empty() || !values.iter().all(is_scalar) {
        let text = "value: expected an array of objects, which is a list of items, or one of scalars, which are the values of a \
                    property, found another one; write {\"$list\": […]} or {\"$set\": []}";
        return Err(invalid(text));
    }
    value_from_json(json)
}

fn text_of(json: &Json) -> Result<&str> {
    json.as_str().ok_or_else(|| invalid(format!("item: expected a string, found {}", kind(json))))
}

/// The same error, with the name added to its place.
fn below(name: &str, error: Error) -> Error {
    let known = error.context().iter().find(|(known, _)| *known == "member").map(|(_, path)| path.clone());
    let mut outer = Error::new(error.kind(), error.text());
    for (known, value) in error.context().iter().filter(|(known, _)| *known != "member") {
        outer = outer.with(known, value);
    }
    outer.with("member", known.map_or_else(|| name.to_owned(), |path| format!("{name}/{path}")))
}

/// A place in an ordered list, if one is given: `first`, `last`, or `before` or `after` the sibling that a step names.
///
/// Errors: `InvalidArgument`.
pub fn insert_from_texts(place: Option<&str>, sibling: Option<&str>) -> Result<Option<Insert>> {
    let Some(place) = place else {
        return match sibling {
            Some(_) => Err(invalid("sibling: expected \"insert\" beside it, found none")),
            None => Ok(None),
        };
    };
    let step = || {
        sibling
            .ok_or_else(|| invalid(format!("insert {place}: expected a sibling, found none")))
            .and_then(step_from_text)
    };
    match place {
        "before" => step().map(|step| Some(Insert::Before(step))),
        "after" => step().map(|step| Some(Insert::After(step))),
        "first" | "last" if sibling.is_some() => {
            Err(invalid(format!("insert {place}: expected no sibling, found one; leave it out")))
        }
        "first" => Ok(Some(Insert::First)),
        "last" => Ok(Some(Insert::Last)),
        other => Err(invalid(format!("insert: expected first, last, before or after, found {other:?}"))),
    }
}

/// A step of a path, as in `interface[name='eth0']`.
fn step_from_text(text: &str) -> Result<TreeStep> {
    let path =
        if text.starts_with('/') { TreePath::parse(text)? } else { TreePath::parse(&format!("/{text}"))? };
    match &path.steps[..] {
        [step] => Ok(step.clone()),
        _ => Err(invalid(format!(
            "sibling: expected one step, such as interface[name='eth0'], found {text:?}"
        ))),
    }
}

/// The place in members of an object, if they have one. Errors: those of [`insert_from_texts`].
pub(crate) fn insert_from_json(fields: &Object, what: &str) -> Result<Option<Insert>> {
    insert_from_texts(optional_text(fields, what, "insert")?, optional_text(fields, what, "sibling")?)
}
