//! Columns of answers: the names that a user gives, and what of an item in JSON each of them shows.

use annals::{Error, ErrorKind, Result, nearest_name};
use annals_json::{Object, PROVENANCE_FIELDS};
use serde_json::Value as Json;

/// Most columns of an answer.
pub const COLUMNS_MAX: usize = 1_000;

/// The columns that the items of a list have.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Members beside those of the instance, by their paths.
    pub own: &'static [&'static str],
    /// The member that is the instance; empty if the item itself is the instance.
    pub instance: &'static str,
    /// The headers of the instance.
    pub headers: &'static [&'static [&'static str]],
    /// The path of the object with the properties.
    pub properties: &'static str,
    /// A second instance: columns whose names begin with the name of its member, and a dot, are its own.
    pub beside: Option<(&'static str, &'static Layout)>,
}

/// Headers of every instance, by the paths of their members.
const HEADERS: &[&str] = &[
    "id",
    "type",
    "version",
    "latestVersion",
    "contentVersion",
    "status",
    "statusOnDelete",
    "created.instant",
    "created.author",
    "updated.instant",
    "updated.author",
    "validFrom",
    "position",
    "homeVersion",
    "reidentifiedFrom",
];
/// Headers of entities.
const OF_ENTITIES: &[&str] = &["classifications", "isProxy"];
/// Headers of relationships.
const OF_RELATIONSHIPS: &[&str] = &["from", "to"];
/// Members with members of any name.
const OPEN: [&str; 2] = ["classifications", "mappings"];
/// The names of searches for members.
const OF_SEARCHES: [(&str, &str); 4] = [
    ("createdAt", "created.instant"),
    ("createdBy", "created.author"),
    ("updatedAt", "updated.instant"),
    ("updatedBy", "updated.author"),
];
/// Members of a change in the log that are no headers of its instance.
const OF_CHANGES: &[&str] = &[
    "position",
    "instant",
    "author",
    "message",
    "action",
    "kind",
    "id",
    "type",
    "from",
    "to",
    "path",
    "version",
    "base",
    "status",
    "validFrom",
    "classification",
    "relationshipsCount",
    "containedCount",
    "definition",
    "collection",
];

/// Members of an entry of a history beside its content.
const OF_VERSIONS: &[&str] = &[
    "version",
    "contentVersion",
    "base",
    "position",
    "instant",
    "author",
    "message",
    "validFrom",
    "status",
    "action",
    "inForce",
    "home",
    "formerId",
    "isProxy",
];

/// Entities.
pub const ENTITIES: Layout = Layout {
    own: &[],
    instance: "",
    headers: &[HEADERS, PROVENANCE_FIELDS, OF_ENTITIES],
    properties: "properties",
    beside: None,
};
/// Relationships.
pub const RELATIONSHIPS: Layout =
    Layout { headers: &[HEADERS, PROVENANCE_FIELDS, OF_RELATIONSHIPS], ..ENTITIES };
/// Entities with their distances.
pub const REACHED: Layout =
    Layout { own: &["distance"], instance: "entity", properties: "entity.properties", ..ENTITIES };
/// Relationships with the entities at their other ends.
pub const NEIGHBORS: Layout = Layout {
    own: &["direction"],
    beside: Some(("relationship", &RELATIONSHIPS)),
    instance: "entity",
    properties: "entity.properties",
    ..ENTITIES
};
/// Versions, with the instance in each.
pub const VERSIONS: Layout = Layout {
    own: OF_VERSIONS,
    instance: "content",
    headers: &[HEADERS, PROVENANCE_FIELDS, OF_ENTITIES, OF_RELATIONSHIPS],
    properties: "content.properties",
    beside: None,
};
/// Changes of the log.
pub const CHANGES: Layout =
    Layout { own: OF_CHANGES, headers: &[], properties: "difference.properties", ..ENTITIES };
/// Items of trees.
pub const ITEMS: Layout = Layout {
    own: &["id", "name", "path", "type", "property", "value"],
    headers: &[],
    properties: "value",
    ..ENTITIES
};

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// As the user names it.
    pub title: String,
    /// The part of an item that it shows.
    pub shows: Shows,
}

/// The part of an item that a column shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shows {
    /// A member, by its path.
    Member(String),
    /// A property: the path of the object that has it, and its name.
    Property(String, String),
    /// A side of the change of a property: `before` or `after`.
    Side(&'static str, String),
    /// The value of an item of a tree that is a property.
    Leaf,
    /// A column for each property of the object at this path.
    All(String),
}

/// The content of a cell.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'j> {
    /// A member of an answer.
    Member(&'j Json),
    /// A value of a property.
    Value(&'j Json),
}

/// Reads names of columns, with commas between them. A name with a comma or a quote is in double quotes, in which two quotes
/// stand for one.
///
/// Errors: `InvalidArgument` for an unknown header, an empty name, one that comes twice, and too many.
pub fn columns_of(text: &str, layout: &Layout) -> Result<Vec<AnswerColumn>> {
    let mut columns: Vec<AnswerColumn> = Vec::new();
    for name in names_of("--columns", text)? {
        let column = AnswerColumn { shows: layout.column(&name)?, title: name };
        if columns.contains(&column) {
            return Err(invalid(format!("column {}: expected each once, found it twice", column.title)));
        }
        columns.push(column);
    }
    if columns.len() > COLUMNS_MAX {
        let text = format!("--columns: expected at most {COLUMNS_MAX}, found {}", columns.len());
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    Ok(columns)
}

/// The names in a list of an argument.
///
/// Errors: `InvalidArgument` for an empty name, and for a quote that does not end.
pub fn names_of(argument: &str, text: &str) -> Result<Vec<String>> {
    let mut names = vec![String::new()];
    let (mut is_quoted, mut letters) = (false, text.chars().peekable());
    while let Some(one) = letters.next() {
        let name = names.last_mut().expect("there is always one");
        match one {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => name.push('"'),
            '"' if is_quoted || name.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => names.push(String::new()),
            other => name.push(other),
        }
    }
    if is_quoted {
        return Err(invalid(format!("{argument}: expected a quote at the end of {text:?}, found none")));
    }
    if names.iter().any(String::is_empty) {
        return Err(invalid(format!(
            "{argument}: expected names with commas between them, found an empty one in {text:?}"
        )));
    }
    Ok(names)
}

impl Layout {
    /// The part that the column of this name shows.
    ///
    /// Errors: `InvalidArgument` for an unknown header.
    fn column(&self, name: &str) -> Result<Shows> {
        if name == "*" {
            return Ok(Shows::All(self.properties.to_owned()));
        }
        let Some(header) = name.strip_prefix('@') else {
            return Ok(Shows::Property(self.properties.to_owned(), name.to_owned()));
        };
        if self.properties == CHANGES.properties
            && let Some((side, name)) = header.split_once('.')
            && let Some(side) = ["before", "after"].into_iter().find(|known| *known == side)
        {
            return Ok(Shows::Side(side, name.to_owned()));
        }
        if self.properties == ITEMS.properties && header == "value" {
            return Ok(Shows::Leaf);
        }
        if let Some((member, other)) = self.beside
            && let Some(name) = header.strip_prefix(member).and_then(|rest| rest.strip_prefix('.'))
        {
            let below = |path: String| format!("{member}.{path}");
            return Ok(match other.column(name)? {
                Shows::Member(path) => Shows::Member(below(path)),
                Shows::Property(path, name) => Shows::Property(below(path), name),
                Shows::All(path) => Shows::All(below(path)),
                shows => shows,
            });
        }
        if is_of(header, self.own) {
            return Ok(Shows::Member(header.to_owned()));
        }
        let path = OF_SEARCHES.iter().find(|(name, _)| *name == header).map_or(header, |(_, path)| path);
        if self.headers.iter().any(|headers| is_of(path, headers)) {
            let path = [self.instance, path].join(".");
            return Ok(Shows::Member(path.trim_start_matches('.').to_owned()));
        }
        Err(self.unknown(header))
    }

    #[cold]
    fn unknown(&self, header: &str) -> Error {
        let of_instance = self.headers.iter().copied().flatten().copied();
        let of_searches = OF_SEARCHES.iter().map(|(name, _)| *name).filter(|_| !self.headers.is_empty());
        let known: Vec<&str> = self.own.iter().copied().chain(of_instance).chain(of_searches).collect();
        let meant = nearest_name(header, known.iter().copied());
        let meant = meant.map(|name| format!("; did you mean @{name}?")).unwrap_or_default();
        let other = self.beside.map(|(member, _)| format!(", or @{member}. before a column of that"));
        invalid(format!(
            "column @{header}: expected a property without @, or @ and one of {}{}{meant}",
            known.join(", "),
            other.unwrap_or_default()
        ))
    }
}

/// True for a member, for one that has it, and for one in a member that may have any.
fn is_of(path: &str, known: &[&str]) -> bool {
    let is_below =
        |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
    known
        .iter()
        .any(|known| *known == path || is_below(known, path) || OPEN.contains(known) && is_below(path, known))
}

impl AnswerColumn {
    /// The part of an item that it shows; `None` if the item has nothing there.
    pub fn cell<'j>(&self, item: &'j Json) -> Option<Cell<'j>> {
        let cell = match &self.shows {
            Shows::Member(path) => Cell::Member(located(item, path)?.1),
            Shows::Property(path, name) => {
                let known = properties_at(item, path)?.get(name)?;
                match path == CHANGES.properties {
                    true => Cell::Value(known.get("after")?),
                    false => Cell::Value(known),
                }
            }
            Shows::Side(side, name) => {
                Cell::Value(properties_at(item, CHANGES.properties)?.get(name)?.get(side)?)
            }
            Shows::Leaf => Cell::Value(item.get("property").and(item.get("value"))?),
            Shows::All(_) => return None,
        };
        let (Cell::Member(json) | Cell::Value(json)) = cell;
        (!json.is_null()).then_some(cell)
    }

    /// Copies what it shows of an item to the same place of another object.
    pub fn copy(&self, item: &Json, to: &mut Object) {
        match &self.shows {
            Shows::Member(path) | Shows::All(path) => {
                if let Some((keys, json)) = located(item, path) {
                    put(to, &keys, json);
                }
            }
            Shows::Property(path, name) => copy_member(item, path, &[name], to),
            Shows::Side(side, name) => copy_member(item, CHANGES.properties, &[name, side], to),
            Shows::Leaf => copy_member(item, "", &["value"], to),
        }
    }
}

/// The properties of an item, by name. A property of a tree has none.
pub fn properties_at<'j>(item: &'j Json, path: &str) -> Option<&'j Object> {
    if path == ITEMS.properties && item.get("property").is_some() {
        return None;
    }
    match path {
        "" => item.as_object(),
        path => located(item, path)?.1.as_object(),
    }
}

fn copy_member(item: &Json, path: &str, names: &[&str], to: &mut Object) {
    let Some((mut keys, object)) =
        (if path.is_empty() { Some((Vec::new(), item)) } else { located(item, path) })
    else {
        return;
    };
    if let Some(json) = names.iter().try_fold(object, |json, name| json.get(*name)) {
        keys.extend(names);
        put(to, &keys, json);
    }
}

/// The member at a path, with the names of the members that lead to it: a name may have dots itself.
fn located<'j, 'p>(json: &'j Json, path: &'p str) -> Option<(Vec<&'p str>, &'j Json)> {
    let object = json.as_object()?;
    if let Some(member) = object.get(path) {
        return Some((vec![path], member));
    }
    path.match_indices('.').find_map(|(at, _)| {
        let (mut keys, member) = located(object.get(&path[..at])?, &path[at + 1..])?;
        keys.insert(0, &path[..at]);
        Some((keys, member))
    })
}

fn put(to: &mut Object, keys: &[&str], json: &Json) {
    let Some((first, rest)) = keys.split_first() else { return };
    if rest.is_empty() {
        to.insert((*first).to_owned(), json.clone());
        return;
    }
    let inner = to.entry(*first).or_insert_with(|| Json::Object(Object::new()));
    if let Json::Object(inner) = inner {
        put(inner, rest, json);
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

#[cfg(test)]
mod tests {
    use annals_json::wire::{entity_example, relationship_example, version_example};
    use serde_json::json;

    use super::*;

    #[test]
    fn names_with_commas_and_quotes_stand_in_quotes() {
        let names = |text| names_of("--columns", text).map_err(|error| error.text().to_owned());
        assert_eq!(names("a,@updated.author").unwrap(), ["a", "@updated.author"]);
        assert_eq!(names(r#""a,b","say ""x""",it"s"#).unwrap(), ["a,b", "say \"x\"", "it\"s"]);
        assert!(names("a,,b").unwrap_err().contains("empty"));
        assert!(names("\"a").unwrap_err().contains("quote"));
    }

    #[test]
    fn every_member_of_an_instance_has_a_column() {
        for (layout, example) in [
            (ENTITIES, entity_example()),
            (RELATIONSHIPS, relationship_example()),
            (VERSIONS, version_example()),
        ] {
            for name in example.as_object().unwrap().keys().filter(|name| *name != "properties") {
                let column = columns_of(&format!("@{name}"), &layout).unwrap();
                assert!(column[0].cell(&example).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_header_is_refused_with_the_nearest_and_a_property_is_never_unknown() {
        let refused = |text, layout| columns_of(text, layout).unwrap_err().to_string();
        let text = refused("@udpated.author", &ENTITIES);
        assert!(text.contains("did you mean @updated.author?"), "{text}");
        assert!(refused("@from", &ENTITIES).contains("column @from"));
        assert!(refused("a,a", &ENTITIES).contains("twice"));
        assert!(refused("@relationship.@nothing", &NEIGHBORS).contains("column @nothing"));
        assert!(columns_of("nothing has this,@from,@createdAt", &RELATIONSHIPS).is_ok());
    }

    #[test]
    fn a_column_finds_its_member_whatever_dots_names_have() {
        let item = json!({
            "id": "x", "updated": { "author": "ada" }, "properties": { "a.b": 1, "n": { "$decimal": "1.0" } },
            "classifications": { "ol.Field": { "properties": { "since": 3 } } },
        });
        let columns = columns_of("a.b,@updatedBy,@classifications.ol.Field.properties.since,none", &ENTITIES);
        let columns = columns.unwrap();
        let shown = |column: &AnswerColumn| match column.cell(&item) {
            Some(Cell::Member(json) | Cell::Value(json)) => json.clone(),
            None => Json::Null,
        };
        assert_eq!(
            columns.iter().map(shown).collect::<Vec<_>>(),
            [json!(1), json!("ada"), json!(3), json!(null)]
        );
        let mut copied = Object::new();
        columns.iter().for_each(|column| column.copy(&item, &mut copied));
        let expected = json!({
            "properties": { "a.b": 1 }, "updated": { "author": "ada" },
            "classifications": { "ol.Field": { "properties": { "since": 3 } } },
        });
        assert_eq!(Json::Object(copied), expected);
    }

    #[test]
    fn changes_have_sides_and_neighbours_two_instances() {
        let change = json!({ "difference": { "properties": { "n": { "before": 1, "after": null } } } });
        let columns = columns_of("n,@before.n,@after.n", &CHANGES).unwrap();
        let shown: Vec<bool> = columns.iter().map(|column| column.cell(&change).is_some()).collect();
        assert_eq!(shown, [false, true, false]);
        let neighbor = json!({
            "entity": { "id": "e", "properties": { "n": 1 } },
            "relationship": { "id": "r", "type": "t", "properties": { "n": 2 } },
        });
        let columns = columns_of("@id,n,@relationship.@type,@relationship.n", &NEIGHBORS).unwrap();
        let shown = |column: &AnswerColumn| match column.cell(&neighbor).unwrap() {
            Cell::Member(json) | Cell::Value(json) => json.clone(),
        };
        assert_eq!(
            columns.iter().map(shown).collect::<Vec<_>>(),
            [json!("e"), json!(1), json!("t"), json!(2)]
        );
    }
}
