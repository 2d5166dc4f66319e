//! Columns without a type: the kinds that their cells look like, and how a merge reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use annals::{ErrorKind, Find, Result, Snapshot, TypeKind, Value, ValueType};

use super::CellType;
use crate::import::declared::parse;

/// So many instances of a type show of which kinds its properties are.
const SAMPLE_MAX: usize = 100;
/// A remark names at most so many columns.
const NAMED_MAX: usize = 20;
/// Longer names are those of no property. Units: bytes.
const NAME_BYTES_MAX: usize = 255;
/// Most types of a file that are remembered.
const TYPES_MAX: usize = 100;

/// The columns of a file whose titles say no type, and how its lists are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Untyped {
    /// The properties that they are.
    pub names: BTreeSet<Arc<str>>,
    /// Between the values of a list.
    pub array_delimiter: char,
}

impl Untyped {
    /// A cell as a value of the kind of another one; `None` if it is none.
    pub fn read_like(&self, other: &Value, cell: &str) -> Option<Value> {
        let like = |other: &Value, cell: &str| match other.value_type() {
            ValueType::String => Some(Value::from(cell)),
            ValueType::Integer => {
                parse(ValueType::Integer, cell).or_else(|_| parse(ValueType::Float, cell)).ok()
            }
            value_type => parse(value_type, cell).ok(),
        };
        let items = |first: Option<Value>| {
            let first = first.unwrap_or_else(|| Value::from(""));
            cell.split(self.array_delimiter).map(|item| like(&first, item)).collect::<Option<Vec<Value>>>()
        };
        match other {
            Value::List(values) if !cell.trim_start().starts_with('[') => {
                Some(Value::List(items(values.first().cloned())?.into()))
            }
            Value::Set(values) => Value::set(items(values.iter().next())?).ok(),
            other => like(other, cell),
        }
    }
}

/// The kinds that properties have in a repository: for each type, short values as some of its instances have them.
#[derive(Debug, Default)]
pub struct Samples {
    types: HashMap<(TypeKind, Arc<str>), HashMap<Arc<str>, Value>>,
}

impl Samples {
    /// A value of the property in the first instances of the type; `None` if none of them has it.
    ///
    /// Errors: those of reading.
    pub fn value(
        &mut self,
        snapshot: &Snapshot,
        kind: TypeKind,
        type_name: &Arc<str>,
        name: &str,
    ) -> Result<Option<&Value>> {
        let key = (kind, Arc::clone(type_name));
        if !self.types.contains_key(&key) {
            if self.types.len() >= TYPES_MAX {
                self.types.clear();
            }
            let values = match sampled(snapshot, kind, type_name) {
                // The row is the first of its type.
                Err(error) if error.kind() == ErrorKind::NotFound => HashMap::new(),
                values => values?,
            };
            self.types.insert(key.clone(), values);
        }
        Ok(self.types.get(&key).and_then(|values| values.get(name)))
    }
}

/// A short value of each property that the first instances of a type have.
fn sampled(snapshot: &Snapshot, kind: TypeKind, type_name: &str) -> Result<HashMap<Arc<str>, Value>> {
    let mut values = HashMap::new();
    let mut note = |(name, value): (&str, Value)| {
        if let Some(sample) = sample_of(&value) {
            values.entry(Arc::from(name)).or_insert(sample);
        }
    };
    let find = Find::of(type_name).limit(SAMPLE_MAX);
    if kind == TypeKind::Relationship {
        let page = snapshot.find_relationships(&find)?;
        page.items.iter().flat_map(|one| one.properties()).for_each(&mut note);
    } else {
        let page = snapshot.find_entities(&find)?;
        page.items.iter().flat_map(|one| one.properties()).for_each(&mut note);
    }
    Ok(values)
}

/// A short value of the same kind; `None` for kinds that no cell of text is read as.
fn sample_of(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(_) => Value::from(""),
        Value::Iri(_) => Value::Iri("urn:x".into()),
        Value::List(values) => Value::List(values.first().and_then(sample_of).into_iter().collect()),
        Value::Set(values) => Value::set(values.iter().next().and_then(|first| sample_of(&first))).ok()?,
        Value::Bytes(_) | Value::Map(_) | Value::Literal(_) | Value::Content(_) => return None,
        short => short.clone(),
    })
}

/// The kinds as which cells can be read, in the order in which titles are proposed.
const LOOKS: [(CellType, &str); 5] = [
    (CellType::Long, "long"),
    (CellType::Double, "float"),
    (CellType::Boolean, "boolean"),
    (CellType::Date, "date"),
    (CellType::DateTime, "datetime"),
];

/// The kinds of values that the texts of a file look like.
#[derive(Debug, Default)]
pub struct Looks {
    /// For each column, as which of [`LOOKS`] all its cells so far can be read.
    columns: BTreeMap<Arc<str>, [bool; LOOKS.len()]>,
    types: BTreeSet<(TypeKind, Arc<str>)>,
}

impl Looks {
    /// Notes the type of a row.
    pub fn note_type(&mut self, kind: TypeKind, type_name: &str) {
        let is_known = self.types.iter().any(|(known, name)| *known == kind && **name == *type_name);
        if !is_known && self.types.len() < TYPES_MAX {
            self.types.insert((kind, type_name.into()));
        }
    }

    /// The types of the rows.
    pub fn types(&self) -> impl Iterator<Item = (TypeKind, &str)> {
        self.types.iter().map(|(kind, name)| (*kind, &**name))
    }

    /// Notes a cell that is not empty.
    pub fn note(&mut self, name: &Arc<str>, cell: &str) {
        let possible = match self.columns.get_mut(name) {
            Some(possible) => possible,
            None => self.columns.entry(Arc::clone(name)).or_insert([true; LOOKS.len()]),
        };
        for (possible, (cell_type, _)) in possible.iter_mut().zip(LOOKS) {
            *possible = *possible && looks_like(cell_type, cell.trim());
        }
    }

    /// The remark about columns that look like other values than texts, without those for which `is_told`; `None` if there
    /// are none.
    pub fn remark(&self, file: &str, is_told: impl Fn(&str) -> bool) -> Option<String> {
        let found: Vec<(&str, &str)> = self
            .columns
            .iter()
            .filter(|(name, _)| name.len() <= NAME_BYTES_MAX && !is_told(name))
            .filter_map(|(name, possible)| {
                let at = possible.iter().position(|possible| *possible)?;
                Some((&**name, LOOKS[at].1))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        let named = found.iter().take(NAMED_MAX);
        let titles: Vec<String> = named.map(|(name, title)| format!("{name}:{title}")).collect();
        let more = if found.len() > NAMED_MAX { ", …" } else { "" };
        Some(format!(
            "{file}: texts that look like numbers, dates or booleans; to import them as these, title their columns {}{more}; \
             `annals types convert` converts what is there",
            titles.join(", ")
        ))
    }
}

/// True if a cell can be read so, and if nothing is lost then: `007` stays a text.
fn looks_like(cell_type: CellType, cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
        && !(digits.starts_with('0') && digits[1..].starts_with(|second: char| second.is_ascii_digit()));
    let is_shaped = match cell_type {
        CellType::Long | CellType::Double => is_number,
        CellType::Date => cell.len() == 10 && cell.as_bytes()[4] == b'-',
        CellType::DateTime => cell.len() > 10 && cell.as_bytes()[4] == b'-',
        _ => true,
    };
    is_shaped && cell_type.decode(cell).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(cells: &[&str]) -> Option<String> {
        let mut looks = Looks::default();
        cells.iter().for_each(|cell| looks.note(&"x".into(), cell));
        let remark = looks.remark("f", |name| name != "x")?;
        Some(remark.split_once("x:")?.1.split_once(';')?.0.to_owned())
    }

    #[test]
    fn columns_look_like_what_all_their_cells_are() {
        for (cells, expected) in [
            (&["1", "-2", "0"][..], Some("long")),
            (&["1", "2.5"], Some("float")),
            (&["-0.5e3"], Some("float")),
            (&["true", "FALSE"], Some("boolean")),
            (&["2024-01-31"], Some("date")),
            (&["2024-01-31T12:00:00Z"], Some("datetime")),
            (&["20240131"], Some("long")),
            (&["1", "n/a"], None),
            (&["007"], None),
            (&["-00.5"], None),
            (&["+49"], None),
            (&["nan", "inf"], None),
            (&["1,5"], None),
            (&["ä-2024-01"], None),
            (&["yes"], None),
            (&["2024-01-31", "1"], None),
            (&[], None),
        ] {
            assert_eq!(look(cells).as_deref(), expected, "{cells:?}");
        }
        let mut looks = Looks::default();
        (0..30).for_each(|number| looks.note(&format!("c{number}").as_str().into(), "1"));
        assert!(looks.remark("f", |_| false).unwrap().contains(", …;"));
        assert_eq!(looks.remark("f", |_| true), None);
    }

    #[test]
    fn a_cell_is_read_as_the_kind_of_another_value() {
        let untyped = Untyped { names: BTreeSet::new(), array_delimiter: ';' };
        let read = |other: Value, cell: &str| untyped.read_like(&other, cell);
        assert_eq!(read(Value::Integer(1), "1357"), Some(Value::Integer(1357)));
        assert_eq!(read(Value::Integer(1), "1.5"), Some(Value::Float(1.5)));
        assert_eq!(read(Value::Float(1.0), "1357"), Some(Value::Float(1357.0)));
        assert_eq!(read(Value::Float(1.0), "n/a"), None);
        assert_eq!(read(Value::Boolean(true), "false"), Some(Value::Boolean(false)));
        assert_eq!(read(Value::from("x"), "007"), Some(Value::from("007")));
        assert_eq!(read("2024-01-31".parse().map(Value::Date).unwrap(), "soon"), None);
        let numbers = |numbers: &[i64]| Value::List(numbers.iter().map(|one| Value::Integer(*one)).collect());
        assert_eq!(read(numbers(&[7]), "1;2"), Some(numbers(&[1, 2])));
        assert_eq!(read(numbers(&[7]), "[1, 2]"), Some(numbers(&[1, 2])));
        assert_eq!(read(numbers(&[7]), "a;b"), None);
        let texts = |texts: &[&str]| Value::set(texts.iter().map(|one| Value::from(*one))).unwrap();
        assert_eq!(read(texts(&["x"]), "b;a"), Some(texts(&["a", "b"])));
    }
}
