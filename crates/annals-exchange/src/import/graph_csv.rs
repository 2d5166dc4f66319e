//! Turns rows of nodes and edges into entities and relationships.

use std::io::BufRead;
use std::sync::Arc;

use annals::{Action, ClassificationContent, Id, Instant, NewEntity, NewRelationship, Result, Value};
use annals_json::{Object, line_with, value_to_json};
use serde_json::{Value as Json, json};

use super::Refused;
use super::csv::{self, Edge, Field, Node, Options, Row, RowReader};
use super::instance_line::{entity_operations, relationship_operations};
use super::loader::Loader;
use super::operation::Operation;
use super::unit::Place;
use crate::Outcome;

/// The type of nodes without a label.
const UNLABELLED: &str = "node";

/// Loads a file. The first label is the type of the entity, further ones are classifications. An id in a group gets
/// the group in front: `:ID(Person)` with the cell `7` is `Person:7`.
pub fn load_csv(
    loader: &mut Loader,
    input: impl BufRead,
    options: Options,
    valid_from: Option<Instant>,
    progress: &mut dyn FnMut(),
) -> Outcome {
    let mut rows = RowReader::new(input, options)?;
    loader.set_header_sum(rows.header_sum());
    while let Some(row) = rows.next() {
        progress();
        match row? {
            Ok(row) => {
                let bytes = properties_of(&row).len() * 32 + 64;
                let place = Place { bytes, ..rows.place() };
                let operations = operations(row).map(|mut operations| {
                    operations.iter_mut().for_each(|one| one.valid_from = one.valid_from.or(valid_from));
                    operations
                });
                loader
                    .take(place, operations.map_err(|error| Refused::new(place.line, error.to_string())))?;
            }
            Err(refused) => loader.refuse(&refused)?,
        }
    }
    Ok(())
}

fn properties_of(row: &Row) -> &[(Arc<str>, Field)] {
    match row {
        Row::Node(node) => &node.properties,
        Row::Edge(edge) => &edge.properties,
    }
}

/// The operations that write the instance of a row. Further fields of an export are read as from a line of JSON.
fn operations(row: Row) -> Result<Vec<Operation>> {
    match row {
        Row::Node(Node { id: key, labels, line_cell: Some(cell), properties: fields, .. }) => {
            let mut labels = labels.into_iter();
            let type_name = labels.next().unwrap_or_else(|| UNLABELLED.to_owned());
            let mut line =
                line_with(&cell, members([("id", id(&key)?.to_string()), ("type", type_name)], fields)?)?;
            // Labels added to the row.
            let carried = line.get("classifications").and_then(Json::as_array).cloned().unwrap_or_default();
            let added = labels.filter(|label| carried.iter().all(|known| known["name"] != label.as_str()));
            let added: Vec<Json> = added.map(|label| json!({ "name": label })).collect();
            if !added.is_empty() {
                line["classifications"] = [carried, added].concat().into();
            }
            entity_operations(&line)
        }
        Row::Edge(Edge { start, end, edge_type, line_cell: Some(cell), properties: fields, .. }) => {
            let ends =
                [("from", id(&start)?.to_string()), ("to", id(&end)?.to_string()), ("type", edge_type)];
            relationship_operations(&line_with(&cell, members(ends, fields)?)?)
        }
        row => {
            let has_fresh_id = matches!(row, Row::Edge(_));
            Ok(vec![Operation { action: action(row)?, valid_from: None, has_fresh_id }])
        }
    }
}

/// Members of a line that have their own columns.
fn members<const N: usize>(texts: [(&str, String); N], fields: Vec<(Arc<str>, Field)>) -> Result<Object> {
    let properties = properties(fields)?;
    let properties = properties.iter().map(|(name, value)| (name.to_string(), value_to_json(value)));
    let properties: Object = properties.collect();
    let texts = texts.into_iter().map(|(name, text)| (name.to_owned(), Json::from(text)));
    Ok(texts.chain([("properties".to_owned(), Json::Object(properties))]).collect())
}

fn action(row: Row) -> Result<Action> {
    Ok(match row {
        Row::Node(node) => {
            let mut labels = node.labels.iter();
            Action::CreateEntity(NewEntity {
                id: id(&node.id)?,
                type_name: labels.next().map_or(UNLABELLED, String::as_str).into(),
                properties: properties(node.properties)?,
                classifications: labels.map(|label| ClassificationContent::new(label)).collect(),
                status: None,
                provenance: None,
            })
        }
        Row::Edge(edge) => Action::CreateRelationship(NewRelationship {
            id: Id::random(),
            type_name: edge.edge_type.as_str().into(),
            from: id(&edge.start)?,
            to: id(&edge.end)?,
            properties: properties(edge.properties)?,
            status: None,
            provenance: None,
        }),
    })
}

fn id(id: &csv::Id) -> Result<Id> {
    if id.group.is_empty() { Id::new(&id.key) } else { Id::new(&format!("{}:{}", id.group, id.key)) }
}

fn properties(fields: Vec<(Arc<str>, Field)>) -> Result<Vec<(Arc<str>, Value)>> {
    fields.into_iter().map(|(name, field)| Ok((name, value(field)?))).collect()
}

fn value(field: Field) -> Result<Value> {
    Ok(match field {
        Field::Boolean(boolean) => Value::Boolean(boolean),
        Field::Integer(number) => Value::Integer(number),
        Field::Float(number) => Value::Float(number),
        Field::Text(text) => Value::from(text.as_str()),
        Field::Date(text) => Value::Date(text.parse()?),
        Field::Timestamp(text) => Value::Timestamp(text.parse()?),
        Field::Duration(text) => Value::Duration(text.parse()?),
        Field::List(fields) => Value::List(fields.into_iter().map(value).collect::<Result<Vec<_>>>()?.into()),
    })
}

/// The row or why it was refused; only for tests of this crate.
#[cfg(test)]
fn read(text: &str) -> Vec<super::Checked<Action>> {
    let rows = RowReader::new(text.as_bytes(), Options::default()).unwrap();
    rows.map(|row| row.unwrap().map(|row| action(row).unwrap())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_type_and_classifications_and_groups_come_first() {
        let rows = read("id:ID(P),:LABEL,n:int[]\n7,person;admin,1;2\n8,,\n");
        let list = Value::List(vec![Value::Integer(1), Value::Integer(2)].into());
        let first = NewEntity::new("person").id("P:7").unwrap().property("id", "7").property("n", list);
        let first = first.classified(ClassificationContent::new("admin"));
        let second = NewEntity::new("node").id("P:8").unwrap().property("id", "8");
        assert_eq!(rows, [Ok(Action::CreateEntity(first)), Ok(Action::CreateEntity(second))]);
    }
}
