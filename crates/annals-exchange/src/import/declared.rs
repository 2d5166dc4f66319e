//! Values of cells, as the types of the repository declare them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use annals::{
    AttributeDefinition, Error, ErrorKind, Result, Snapshot, TypeDefinition, TypeKind, Value, ValueType,
};
use annals_json::{json_from_str, value_from_json};
use serde_json::json;

use super::csv::{CellType, CsvField};
use super::refused::quote;

/// Turns the cells of a file into values. Texts and lists become what the type of their row declares.
pub struct DeclaredValues {
    snapshot: Snapshot,
    /// Between the values of a list or set.
    array_delimiter: char,
    /// Declared attributes. Shape: one map for each declared type of rows.
    types: HashMap<(TypeKind, Arc<str>), Arc<Attributes>>,
}

const LITERAL_EXAMPLE: &str = r#"{"$literal": "chat", "language": "fr"}"#;
const CONTENT_EXAMPLE: &str =
    r#"{"$content": "64 hexadecimal digits", "size": 123, "mediaType": "image/tiff"}"#;

type Attributes = HashMap<Arc<str>, AttributeDefinition>;

impl DeclaredValues {
    /// The types are those of the snapshot.
    pub fn new(snapshot: Snapshot, array_delimiter: char) -> DeclaredValues {
        DeclaredValues { snapshot, array_delimiter, types: HashMap::new() }
    }

    /// The properties of a row of this type.
    ///
    /// Errors: `InvalidArgument` that names a property whose cell is not what is declared.
    pub fn properties(
        &mut self,
        kind: TypeKind,
        type_name: &str,
        fields: Vec<(Arc<str>, CsvField)>,
    ) -> Result<Vec<(Arc<str>, Value)>> {
        let attributes = self.attributes(kind, type_name);
        fields
            .into_iter()
            .map(|(name, field)| {
                let attribute = attributes.as_ref().and_then(|attributes| attributes.get(&name));
                let attribute = attribute.filter(|attribute| !is_any_text(attribute));
                let value = match (attribute, field) {
                    (Some(attribute), CsvField::Text(cell)) => self.declared(attribute, &cell)?,
                    (Some(attribute), CsvField::List(fields)) if attribute.is_many => {
                        Value::set(fields.into_iter().map(value).collect::<Result<Vec<_>>>()?)?
                    }
                    (_, field) => value(field)?,
                };
                Ok((name, value))
            })
            .collect()
    }

    /// True if the type, or a supertype, declares the attribute.
    pub fn declares(&self, kind: TypeKind, type_name: &str, name: &str) -> bool {
        let definition = self.snapshot.type_definition(kind, type_name);
        definition.is_some_and(|definition| self.declared_by(definition).contains_key(name))
    }

    /// The attributes of a declared type, inherited ones included.
    fn attributes(&mut self, kind: TypeKind, type_name: &str) -> Option<Arc<Attributes>> {
        let key = (kind, Arc::from(type_name));
        if let Some(known) = self.types.get(&key) {
            return Some(Arc::clone(known));
        }
        let attributes = Arc::new(self.declared_by(self.snapshot.type_definition(kind, type_name)?));
        self.types.insert(key, Arc::clone(&attributes));
        Some(attributes)
    }

    fn declared_by(&self, definition: Arc<TypeDefinition>) -> Attributes {
        let mut attributes = Attributes::new();
        // Several ways lead to a type that several supertypes have in common: it is looked at once.
        let mut seen = HashSet::from([Arc::clone(&definition.name)]);
        let mut open = VecDeque::from([definition]);
        while let Some(definition) = open.pop_front() {
            for attribute in &definition.attributes {
                attributes.entry(Arc::clone(&attribute.name)).or_insert_with(|| attribute.clone());
            }
            let above = definition.supertypes.iter().filter(|name| seen.insert(Arc::clone(name)));
            open.extend(above.filter_map(|name| self.snapshot.type_definition(definition.kind, name)));
        }
        attributes
    }

    fn declared(&self, attribute: &AttributeDefinition, cell: &str) -> Result<Value> {
        let refused = |reason: String| {
            let text = format!("property {}: {reason}, found {}", quote(&attribute.name), quote(cell));
            Error::new(ErrorKind::InvalidArgument, text)
        };
        if cell.trim_start().starts_with(['[', '{']) && attribute.value_type != ValueType::String {
            // So an export writes what is no list of plain values.
            return from_json(cell).map_err(refused);
        }
        let items = |value_type| {
            let items = cell.split(self.array_delimiter).map(|item| parse(value_type, item));
            items.collect::<std::result::Result<Vec<_>, _>>().map_err(refused)
        };
        match attribute.value_type {
            value_type if attribute.is_many => Value::set(items(value_type)?),
            ValueType::List => Ok(Value::List(items(attribute.item_type.unwrap_or_default())?.into())),
            value_type => parse(value_type, cell).map_err(refused),
        }
    }
}

/// True if every cell is a value of the attribute.
fn is_any_text(attribute: &AttributeDefinition) -> bool {
    matches!(attribute.value_type, ValueType::String | ValueType::Any) && !attribute.is_many
}

/// A text as a value of a type, as a cell of CSV is read.
///
/// Errors: the reason.
pub fn parse(value_type: ValueType, cell: &str) -> std::result::Result<Value, String> {
    let known = match value_type {
        ValueType::Boolean => CellType::Boolean,
        ValueType::Integer => CellType::Long,
        ValueType::Float => CellType::Double,
        ValueType::Date => CellType::Date,
        ValueType::Timestamp => CellType::DateTime,
        ValueType::Duration => CellType::Duration,
        ValueType::Decimal => return tagged("$decimal", cell),
        ValueType::Bytes => return tagged("$bytes", cell),
        ValueType::Uuid => return tagged("$uuid", cell),
        ValueType::Iri => return tagged("$iri", cell),
        ValueType::List | ValueType::Map => return from_json(cell),
        // Their JSON begins with a brace, so another cell is none. A plain text names no language, and no bytes.
        ValueType::Literal => return Err(format!("expected JSON such as {LITERAL_EXAMPLE}")),
        ValueType::Content => return Err(format!("expected JSON such as {CONTENT_EXAMPLE}")),
        _ => return Ok(Value::from(cell)),
    };
    let field = known.decode(cell).ok_or_else(|| format!("expected {}", known.expected()))?;
    value(field).map_err(|error| error.to_string())
}

fn tagged(tag: &str, cell: &str) -> std::result::Result<Value, String> {
    value_from_json(&json!({ tag: cell.trim() })).map_err(|error| error.to_string())
}

fn from_json(cell: &str) -> std::result::Result<Value, String> {
    let json = json_from_str(cell).map_err(|error| format!("expected JSON ({error})"))?;
    value_from_json(&json).map_err(|error| error.to_string())
}

/// A cell as its header says.
fn value(field: CsvField) -> Result<Value> {
    Ok(match field {
        CsvField::Boolean(boolean) => Value::Boolean(boolean),
        CsvField::Integer(number) => Value::Integer(number),
        CsvField::Float(number) => Value::Float(number),
        CsvField::Text(text) => Value::from(text.as_str()),
        CsvField::Date(text) => Value::Date(text.parse()?),
        CsvField::Timestamp(text) => Value::Timestamp(text.parse()?),
        CsvField::Duration(text) => Value::Duration(text.parse()?),
        CsvField::List(fields) => {
            Value::List(fields.into_iter().map(value).collect::<Result<Vec<_>>>()?.into())
        }
    })
}

#[cfg(test)]
mod tests {
    use annals::Repository;

    use super::*;

    fn repository() -> Repository {
        let repository = Repository::in_memory();
        let types =
            [ValueType::Boolean, ValueType::Integer, ValueType::Float, ValueType::Decimal, ValueType::Date];
        let types = types.into_iter().chain([ValueType::Timestamp, ValueType::Duration, ValueType::Uuid]);
        let types = types.chain([ValueType::Bytes, ValueType::Iri, ValueType::Map, ValueType::String]);
        let types = types.chain([ValueType::Literal, ValueType::Content]);
        let thing = types.fold(TypeDefinition::entity("thing"), |thing, known| {
            thing.attribute(AttributeDefinition::new(known.name(), known))
        });
        let list = AttributeDefinition::new("list", ValueType::List).items(ValueType::Integer);
        let thing =
            thing.attribute(list).attribute(AttributeDefinition::new("tags", ValueType::String).many());
        repository
            .transact(|t| {
                t.define_type(thing.clone())?;
                t.define_type(TypeDefinition::entity("part").supertype("thing"))
            })
            .unwrap();
        repository
    }

    fn read(type_name: &str, name: &str, field: CsvField) -> std::result::Result<Value, String> {
        let mut values = DeclaredValues::new(repository().snapshot(), ';');
        let read = values.properties(TypeKind::Entity, type_name, vec![(name.into(), field)]);
        read.map(|properties| properties[0].1.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn cells_become_what_the_type_or_its_supertype_declares() {
        const FRENCH: &str = r#"{"$literal": "chat", "language": "fr"}"#;
        let content = CONTENT_EXAMPLE.replace("64 hexadecimal digits", &"0".repeat(64));
        let text = |cell: &str| CsvField::Text(cell.to_owned());
        for (name, cell, expected) in [
            ("boolean", "true", json!(true)),
            ("integer", " 007 ", json!(7)),
            ("float", "1.5", json!(1.5)),
            ("decimal", "1.50", json!({"$decimal": "1.50"})),
            ("date", "2024-02-29", json!({"$date": "2024-02-29"})),
            ("timestamp", "2024-02-29T12:00:00Z", json!({"$timestamp": "2024-02-29T12:00:00Z"})),
            ("duration", "PT5S", json!({"$duration": "PT5S"})),
            (
                "uuid",
                "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                json!({"$uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}),
            ),
            ("bytes", "AAE=", json!({"$bytes": "AAE="})),
            ("iri", "urn:x", json!({"$iri": "urn:x"})),
            ("map", "{\"a\": 1}", json!({"a": 1})),
            ("literal", FRENCH, serde_json::from_str(FRENCH).unwrap()),
            ("content", &content, serde_json::from_str(&content).unwrap()),
            ("string", " 007 ", json!(" 007 ")),
            ("list", "1; 2", json!([1, 2])),
            ("list", "[1, 2]", json!([1, 2])),
            ("tags", "b;a;b", json!({"$set": ["a", "b"]})),
            ("other", "007", json!("007")),
        ] {
            let expected = value_from_json(&expected).unwrap();
            for type_name in ["thing", "part"] {
                assert_eq!(read(type_name, name, text(cell)), Ok(expected.clone()), "{name}");
            }
            assert_eq!(read("unknown", name, text(cell)), Ok(Value::from(cell)), "{name}");
        }
        let list = CsvField::List(vec![text("b"), text("a")]);
        assert_eq!(read("part", "tags", list), read("part", "tags", text("a;b")));
    }

    // Each level doubled the ways to the types above it.
    #[test]
    fn a_type_that_is_inherited_in_many_ways_is_looked_at_once() {
        let repository = Repository::in_memory();
        let above = |level: u32, side: &str| format!("{side}{level}");
        repository
            .transact(|t| {
                let number = AttributeDefinition::new("n", ValueType::Integer);
                t.define_type(TypeDefinition::entity("a0").attribute(number))?;
                t.define_type(TypeDefinition::entity("b0"))?;
                (1..30).try_for_each(|level| {
                    ["a", "b"].into_iter().try_for_each(|side| {
                        let of = TypeDefinition::entity(&above(level, side));
                        let of = of.supertype(&above(level - 1, "a")).supertype(&above(level - 1, "b"));
                        t.define_type(of)
                    })
                })
            })
            .unwrap();
        let mut values = DeclaredValues::new(repository.snapshot(), ';');
        let fields = vec![("n".into(), CsvField::Text("7".to_owned()))];
        let read = values.properties(TypeKind::Entity, "b29", fields).unwrap();
        let expected: Vec<(Arc<str>, Value)> = vec![("n".into(), Value::Integer(7))];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_cell_that_is_not_what_is_declared_is_refused_with_its_property() {
        let problem = |name, cell: &str| read("part", name, CsvField::Text(cell.to_owned())).unwrap_err();
        assert_eq!(problem("boolean", "yes"), "property `boolean`: expected `true` or `false`, found `yes`");
        let expected = format!("property `literal`: expected JSON such as {LITERAL_EXAMPLE}, found `chat`");
        assert_eq!(problem("literal", "chat"), expected);
        assert!(problem("literal", "{\"$literal\": \"chat\"}").contains("found neither"));
        assert!(problem("content", "scan.tif").starts_with("property `content`: expected JSON such as "));
        let problem = problem("decimal", "1,5");
        assert!(problem.starts_with("property `decimal`: ") && problem.ends_with("found `1,5`"), "{problem}");
    }
}
