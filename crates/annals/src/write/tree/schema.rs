//! The kind of a child: its type, its name, and the relationship that contains it.

use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::structures::symbols::{Recent, Symbol};
use crate::model::{EndDefinition, TypeKind, Value};
use crate::read::ChildName;
use crate::tree::{Item, coerced_leaf};
use crate::write::build::noted::Containing;
use crate::{Error, ErrorKind, Result};

/// Type of an item whose name is not an entity type.
pub(super) const CONTAINER: &str = "container";
/// Type of the containing relationships in a repository that declares none.
pub(super) const CONTAINS: &str = "contains";

/// The kind of a new child.
pub(super) struct ChildKind {
    pub(super) type_name: Arc<str>,
    pub(super) name: ChildName,
    /// Its own name, if its keys do not form its name.
    pub(super) own_name: Option<Arc<str>>,
    pub(super) properties: Vec<(Arc<str>, Value)>,
}

/// The kind of the child `name`. `is_listed` means that its keys name it. `known` has the names that were looked up
/// before: the items of a list have the same few.
///
/// Errors: `InvalidArgument` if a key is missing, or if it is not an item of a list; `WrongType`.
pub(super) fn kind_of(
    graph: &Graph,
    known: &mut Recent,
    name: &Arc<str>,
    is_listed: bool,
    item: &Item,
) -> Result<ChildKind> {
    let symbol = known.find(&graph.names, name);
    let declared = |symbol: Symbol| graph.types.get(TypeKind::Entity, symbol);
    let type_name = match (&item.type_name, symbol.and_then(declared)) {
        (Some(told), _) => Arc::clone(told),
        (None, _) if is_listed => Arc::clone(symbol.map_or(name, |symbol| graph.names.name(symbol))),
        (None, Some(declared)) => Arc::clone(&declared.definition.name),
        (None, None) => CONTAINER.into(),
    };
    let type_symbol = known.find(&graph.names, &type_name);
    let attributes = type_symbol.and_then(declared).map(|declared| &declared.attributes);
    let properties = item.properties.iter().map(|(name, value)| {
        let symbol = known.find(&graph.names, name);
        let value = match symbol.and_then(|symbol| attributes?.get(&symbol)) {
            Some(attribute) => coerced_leaf(value, &attribute.definition),
            None => value.clone(),
        };
        // Each item may have a copy of its own: one for all is compared faster.
        let name = symbol.map_or(name, |symbol| graph.names.name(symbol));
        (Arc::clone(name), value)
    });
    let properties: Vec<_> = properties.collect();
    let has_keys = type_symbol.is_some_and(|symbol| !graph.keys_of(symbol).is_empty());
    if has_keys != is_listed {
        let text = match has_keys {
            true => {
                format!("{name}: its type {type_name} has keys; expected items of a list, found one item")
            }
            false => {
                let key = properties.first().map_or("name", |(name, _)| &**name);
                format!(
                    "{name}: expected a type with keys for the items of a list; declare the keys of {type_name}, such as \
                     {{\"kind\": \"entity\", \"name\": {type_name:?}, \"attributes\": [{{\"name\": {key:?}, \"type\": \"string\", \
                     \"key\": true}}]}}"
                )
            }
        };
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let Some(symbol) = type_symbol.filter(|_| is_listed) else {
        let own_name = Some(Arc::clone(name));
        return Ok(ChildKind { type_name, name: Graph::own_name(name), own_name, properties });
    };
    let find =
        |key: &Arc<str>| properties.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let Some(child_name) = graph.listed_name(symbol, find) else {
        let keys: Vec<&str> = graph.keys_of(symbol).iter().map(|key| &**graph.names.name(*key)).collect();
        let text =
            format!("item of {name}: expected its keys {}, found {:?}", keys.join(", "), names(&properties));
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    };
    Ok(ChildKind { type_name, name: child_name, own_name: None, properties })
}

fn names(properties: &[(Arc<str>, Value)]) -> Vec<&str> {
    properties.iter().map(|(name, _)| &**name).collect()
}

/// The relationship type that contains a child of one type in a parent of another: the one with the most specific ends.
///
/// Errors: `InvalidEnds` if none fits, or several do equally well.
pub(super) fn containing(graph: &Graph, parent: &str, child: &str) -> Result<Containing> {
    let fits = |end: &EndDefinition, type_name: &str| {
        let Some(expected) = &end.type_name else { return true };
        let symbols = (graph.names.find(type_name), graph.names.find(expected));
        **expected == *type_name
            || matches!(symbols, (Some(name), Some(expected)) if graph.types.is_a(TypeKind::Entity, name, expected))
    };
    let mut best: Vec<(usize, Containing)> = Vec::new();
    let declared = |symbol: &Symbol| graph.types.get(TypeKind::Relationship, *symbol);
    for declared in graph.types.containments.iter().filter_map(declared) {
        let Some(rule) = declared.containment else { continue };
        let ends = || declared.ends.iter().map(|(_, ends)| ends);
        if !ends().all(|[from, to]| fits(from, parent) && fits(to, child)) {
            continue;
        }
        let says = |side: usize| ends().any(|ends| ends[side].type_name.is_some());
        let weight = 2 * usize::from(says(1)) + usize::from(says(0));
        let type_name = Arc::clone(&declared.definition.name);
        let [name, order] = [rule.name, rule.order].map(|name| Arc::clone(graph.names.name(name)));
        best.push((weight, Containing { type_name, is_ordered: rule.is_ordered, name, order }));
    }
    let most = best.iter().map(|(weight, _)| *weight).max();
    best.retain(|(weight, _)| Some(*weight) == most);
    match &best[..] {
        [(_, one)] => Ok(one.clone()),
        [] => {
            let text = format!(
                "child of type \"{child}\" in a \"{parent}\": expected a declared relationship type that leads from containers to children \
                 between the two, found none; declare one"
            );
            Err(Error::new(ErrorKind::InvalidEnds, text))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(_, known)| &*known.type_name).collect();
            let text = format!(
                "child of type \"{child}\" in a \"{parent}\": expected one relationship type that contains it, found {}; declare the types of \
                 their ends",
                names.join(", ")
            );
            Err(Error::new(ErrorKind::InvalidEnds, text))
        }
    }
}
