//! Turns rows of nodes and edges into entities and relationships.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

use annals::{
    Action, ClassificationContent, Error, ErrorKind, Id, Instant, NewEntity, NewRelationship, Result,
    TypeKind, Value,
};
use annals_json::{Object, line_with, tree_bytes, value_to_json};
use serde_json::{Value as Json, json};

use super::Refused;
use super::csv::{self, CsvField, Edge, Looks, Node, Row, RowReader, Untyped};
use super::declared::DeclaredValues;
use super::instance_line::{entity_operations, relationship_operations};
use super::jsonl::LineBounds;
use super::loader::Loader;
use super::operation::Operation;
use super::plain_object::UNLABELLED;
use super::unit::Place;
use crate::Outcome;

/// The options of an import of rows.
#[derive(Clone, Copy, Debug)]
pub struct CsvLoad {
    /// Valid time of the changes, unless a row names one.
    pub valid_from: Option<Instant>,
    /// Bounds of a row.
    pub line_bounds: LineBounds,
    /// True if the messages of records have sums of their lines, so that the import can be resumed.
    pub is_resumable: bool,
}

impl Default for CsvLoad {
    fn default() -> CsvLoad {
        CsvLoad { valid_from: None, line_bounds: LineBounds::default(), is_resumable: true }
    }
}

/// Loads the rows of a file. The first label is the type of the entity, further ones are classifications. An id in a group
/// gets the group in front: `:ID(Person)` with the cell `7` is `Person:7`. Texts become what the type declares.
pub fn load_csv(
    loader: &mut Loader,
    mut rows: RowReader<impl BufRead>,
    options: CsvLoad,
    progress: &mut dyn FnMut(),
) -> Outcome {
    rows.set_bytes_max(options.line_bounds.bytes_max);
    loader.set_header_sum(rows.header_sum());
    let mut values = DeclaredValues::new(loader.snapshot(), rows.array_delimiter());
    let untyped = Untyped { names: rows.untyped().clone(), array_delimiter: rows.array_delimiter() };
    let untyped = Arc::new(untyped);
    let mut looks = Looks::default();
    while let Some(row) = rows.next() {
        progress();
        match row? {
            Ok(row) => {
                let place = rows.place();
                let bytes = place.bytes + properties_of(&row).len() * 32 + 64;
                let sum = place.sum.filter(|_| options.is_resumable);
                look(&row, &untyped, &mut looks);
                let checked = bounded(&row, options.line_bounds);
                let operations = checked.and_then(|()| operations(row, &mut values)).map(|mut operations| {
                    for operation in &mut operations {
                        operation.valid_from = operation.valid_from.or(options.valid_from);
                        operation.untyped = Some(Arc::clone(&untyped));
                    }
                    operations
                });
                loader.take(
                    Place { bytes, sum, ..place },
                    operations.map_err(|error| Refused::new(place.line, error.to_string())),
                )?;
            }
            Err(refused) => loader.refuse(&refused)?,
        }
    }
    // A column that is declared, or was read as the instances have it, needs no title.
    let is_declared =
        |name: &&Arc<str>| looks.types().any(|(kind, type_name)| values.declares(kind, type_name, name));
    let mut told: BTreeSet<Arc<str>> = untyped.names.iter().filter(is_declared).cloned().collect();
    told.extend(loader.read_as_there().cloned());
    let remark = looks.remark(loader.file(), |name| told.contains(name));
    remark.into_iter().for_each(|remark| loader.report().remark_at_end(remark));
    Ok(())
}

/// Notes the kinds that cells without a type look like.
fn look(row: &Row, untyped: &Untyped, looks: &mut Looks) {
    match row {
        Row::Node(node) => {
            looks.note_type(TypeKind::Entity, node.labels.first().map_or(UNLABELLED, String::as_str));
        }
        Row::Edge(edge) => looks.note_type(TypeKind::Relationship, &edge.edge_type),
    }
    for (name, field) in properties_of(row) {
        if let CsvField::Text(cell) = field
            && untyped.names.contains(name)
        {
            looks.note(name, cell);
        }
    }
}

/// Refuses a row whose cells of JSON would take too much memory.
fn bounded(row: &Row, bounds: LineBounds) -> Result<()> {
    let Some(bytes_max) = bounds.tree_bytes_max else { return Ok(()) };
    let (Row::Node(Node { line_cell, .. }) | Row::Edge(Edge { line_cell, .. })) = row;
    let cells = properties_of(row).iter().filter_map(|(_, field)| match field {
        CsvField::Text(cell) => Some(cell),
        _ => None,
    });
    let is_json = |cell: &&String| cell.trim_start().starts_with(['[', '{']);
    let bytes: usize = cells.filter(is_json).chain(line_cell).map(|cell| tree_bytes(cell.as_bytes())).sum();
    if bytes <= bytes_max {
        return Ok(());
    }
    let text = format!(
        "expected cells that take at most {bytes_max} bytes when they are parsed, found some that take {bytes}"
    );
    Err(Error::new(ErrorKind::TooLarge, text))
}

fn properties_of(row: &Row) -> &[(Arc<str>, CsvField)] {
    match row {
        Row::Node(node) => &node.properties,
        Row::Edge(edge) => &edge.properties,
    }
}

/// The operations that write the instance of a row. The column `LINE_COLUMN` is read like a line of JSON.
fn operations(row: Row, values: &mut DeclaredValues) -> Result<Vec<Operation>> {
    match row {
        Row::Node(Node { id: key, labels, line_cell: Some(cell), properties: fields, empty, .. }) => {
            let mut labels = labels.into_iter();
            let type_name = labels.next().unwrap_or_else(|| UNLABELLED.to_owned());
            let properties = values.properties(TypeKind::Entity, &type_name, fields)?;
            let texts = [("id", id(&key)?.to_string()), ("type", type_name)];
            let mut line = line_with(&cell, members(texts, properties))?;
            // Labels that were added to the row.
            let carried = line.get("classifications").and_then(Json::as_array).cloned().unwrap_or_default();
            let added = labels.filter(|label| carried.iter().all(|known| known["name"] != label.as_str()));
            let added: Vec<Json> = added.map(|label| json!({ "name": label })).collect();
            if !added.is_empty() {
                line["classifications"] = [carried, added].concat().into();
            }
            entity_operations(&line).map(|operations| leaving(operations, empty))
        }
        Row::Edge(Edge {
            start, end, edge_type, line_cell: Some(cell), properties: fields, empty, ..
        }) => {
            let properties = values.properties(TypeKind::Relationship, &edge_type, fields)?;
            let ends =
                [("from", id(&start)?.to_string()), ("to", id(&end)?.to_string()), ("type", edge_type)];
            let operations = relationship_operations(&line_with(&cell, members(ends, properties))?)?;
            Ok(leaving(operations, empty))
        }
        mut row => {
            let (Row::Node(Node { empty, .. }) | Row::Edge(Edge { empty, .. })) = &mut row;
            let removed = std::mem::take(empty);
            let has_fresh_id = matches!(row, Row::Edge(_));
            let states_classifications = matches!(&row, Row::Node(node) if node.labels.len() > 1);
            let operation = Operation::new(action(row, values)?, None);
            Ok(vec![Operation { has_fresh_id, removed, states_classifications, ..operation }])
        }
    }
}

/// The operations of a row that leaves these properties empty.
fn leaving(mut operations: Vec<Operation>, empty: Vec<Arc<str>>) -> Vec<Operation> {
    operations.iter_mut().take(1).for_each(|operation| operation.removed = empty.clone());
    operations
}

/// Members of a line that have columns of their own.
fn members<const N: usize>(texts: [(&str, String); N], properties: Vec<(Arc<str>, Value)>) -> Object {
    let properties = properties.iter().map(|(name, value)| (name.to_string(), value_to_json(value)));
    let properties: Object = properties.collect();
    let texts = texts.into_iter().map(|(name, text)| (name.to_owned(), Json::from(text)));
    texts.chain([("properties".to_owned(), Json::Object(properties))]).collect()
}

fn action(row: Row, values: &mut DeclaredValues) -> Result<Action> {
    Ok(match row {
        Row::Node(node) => {
            let mut labels = node.labels.iter();
            let type_name = labels.next().map_or(UNLABELLED, String::as_str);
            Action::CreateEntity(NewEntity {
                id: id(&node.id)?,
                type_name: type_name.into(),
                properties: values.properties(TypeKind::Entity, type_name, node.properties)?,
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
            properties: values.properties(TypeKind::Relationship, &edge.edge_type, edge.properties)?,
            status: None,
            provenance: None,
        }),
    })
}

fn id(id: &csv::Id) -> Result<Id> {
    if id.group.is_empty() { Id::new(&id.key) } else { Id::new(&format!("{}:{}", id.group, id.key)) }
}

/// The row or why it was refused; only for tests of this crate.
#[cfg(test)]
fn read(text: &str) -> Vec<super::Checked<Action>> {
    let rows = RowReader::new(text.as_bytes(), &csv::Options::default()).unwrap();
    let mut values = DeclaredValues::new(annals::Repository::in_memory().snapshot(), ';');
    rows.map(|row| row.unwrap().map(|row| action(row, &mut values).unwrap())).collect()
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
