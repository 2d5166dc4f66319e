//! Parses the header of CSV: titles in the style of neo4j-admin (`id:ID(Person)`, `:LABEL`, `:START_ID`, `name:int[]`, …), or
//! plain ones.
//!
//! Source: <https://neo4j.com/docs/operations-manual/current/import/#import-tool-header-format>.

use std::sync::Arc;

use annals::{Error, ErrorKind, Result};
use annals_json::LINE_COLUMN;

use super::plain::Plain;
use super::value::CellType;
use crate::import::refused::quote;

/// The columns that say what the rows are.
const KINDS: &str = ":ID (nodes) or :START_ID and :END_ID (edges), found neither; if the header is plain, \
                     name its columns with --id, or with --from and --to";

/// The meaning of the columns of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvHeader {
    pub(super) columns: Vec<Column>,
    pub(super) kind: CsvKind,
}

/// The kind of the rows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvKind {
    /// Nodes: there is a column of ids.
    Nodes,
    /// Edges: there are columns of both ends.
    Edges,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// As the header writes it, for messages.
    pub title: String,
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The id of a node; it is also kept as a property if the column has a name.
    Id {
        group: Arc<str>,
        property: Option<Arc<str>>,
    },
    Labels,
    Start {
        group: Arc<str>,
    },
    End {
        group: Arc<str>,
    },
    Type,
    Property {
        name: Arc<str>,
        cell_type: CellType,
        is_list: bool,
    },
    /// Everything else about an instance, as an export of Annals writes it in JSON.
    Line,
    Ignored,
    /// A column of a plain header that has no title: its cells must be empty.
    Untitled,
}

impl Column {
    /// Its property, if the title is the name alone. An id stays a text.
    pub(super) fn untyped(&self) -> Option<&Arc<str>> {
        match &self.role {
            Role::Property { name, .. } if **name == *self.title => Some(name),
            _ => None,
        }
    }
}

impl CsvHeader {
    /// Parses the titles of all columns. `has_type` says that the type of edges is known without a column; `plain` which
    /// columns of a plain header are special.
    /// Errors: `InvalidArgument` that names every problem of the header at once.
    pub fn parse<'a>(
        titles: impl IntoIterator<Item = &'a str>,
        has_type: bool,
        plain: Option<&Plain>,
    ) -> Result<CsvHeader> {
        let mut problems = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for title in titles.into_iter().map(str::trim) {
            match plain.map_or_else(|| parse_role(title), |plain| Ok(plain.role(title))) {
                Ok(role) => columns.push(Column { title: title.to_string(), role }),
                Err(problem) => problems.push(format!("column {}: {problem}", quote(title))),
            }
        }
        let missing = plain.map(|plain| plain.missing(&columns)).unwrap_or_default();
        if !missing.is_empty() {
            return Err(invalid(&missing));
        }
        let kind = find_kind(&columns, has_type, &mut problems);
        find_duplicates(&columns, &mut problems);
        match kind {
            Some(kind) if problems.is_empty() => Ok(CsvHeader { columns, kind }),
            _ => Err(invalid(&problems)),
        }
    }

    /// The kind of the rows.
    #[cfg(test)]
    pub fn kind(&self) -> CsvKind {
        self.kind
    }
}

fn invalid(problems: &[String]) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("csv header: {}", problems.join("; ")))
}

/// The role of a column whose title is in the style of neo4j-admin.
pub(super) fn parse_role(title: &str) -> std::result::Result<Role, String> {
    if title == LINE_COLUMN {
        return Ok(Role::Line);
    }
    if title.contains('{') {
        return Err("options in braces are not supported; remove them".to_string());
    }
    // A group may hold a colon, so it is cut off first.
    let (front, group) = match title.strip_suffix(')').and_then(|title| title.rsplit_once('(')) {
        Some((front, group)) if front.contains(':') => (front, Some(group)),
        _ => (title, None),
    };
    let (name, keyword) = front.rsplit_once(':').unwrap_or((front, "string"));
    let takes_group = matches!(keyword, "ID" | "START_ID" | "END_ID");
    if group.is_some() && !takes_group {
        return Err("only ID, START_ID and END_ID take a group in parentheses".to_string());
    }
    let group: Arc<str> = group.unwrap_or_default().into();
    match keyword {
        "ID" => Ok(Role::Id { group, property: (!name.is_empty()).then(|| name.into()) }),
        "START_ID" => Ok(Role::Start { group }),
        "END_ID" => Ok(Role::End { group }),
        "LABEL" => Ok(Role::Labels),
        "TYPE" => Ok(Role::Type),
        "IGNORE" => Ok(Role::Ignored),
        _ => parse_property(name, keyword),
    }
}

fn parse_property(name: &str, keyword: &str) -> std::result::Result<Role, String> {
    let (keyword, is_list) = match keyword.strip_suffix("[]") {
        Some(keyword) => (keyword, true),
        None => (keyword, false),
    };
    let cell_type = CellType::parse(keyword)?;
    if name.is_empty() {
        return Err("expected a name before the type; mark a column to be skipped with `:IGNORE`".to_string());
    }
    Ok(Role::Property { name: name.into(), cell_type, is_list })
}

/// Tells nodes from edges, and what misses or does not belong.
fn find_kind(columns: &[Column], has_type: bool, problems: &mut Vec<String>) -> Option<CsvKind> {
    let count =
        |is_wanted: fn(&Role) -> bool| columns.iter().filter(|column| is_wanted(&column.role)).count();
    let ids = count(|role| matches!(role, Role::Id { .. }));
    let starts = count(|role| matches!(role, Role::Start { .. }));
    let ends = count(|role| matches!(role, Role::End { .. }));
    let types = count(|role| *role == Role::Type);
    let labels = count(|role| *role == Role::Labels);
    let lines = count(|role| *role == Role::Line);
    for (name, found) in [
        (":ID", ids),
        (":START_ID", starts),
        (":END_ID", ends),
        (":TYPE", types),
        (":LABEL", labels),
        (LINE_COLUMN, lines),
    ] {
        if found > 1 {
            problems.push(format!("expected at most one {name} column, found {found}"));
        }
    }
    if ids > 0 {
        for (name, found) in [(":START_ID", starts), (":END_ID", ends), (":TYPE", types)] {
            if found > 0 {
                problems.push(format!(
                    "a file of nodes (it has :ID) has no {name} column; split it into two files"
                ));
            }
        }
        return Some(CsvKind::Nodes);
    }
    if starts + ends == 0 {
        problems.push(format!("expected {KINDS}"));
        return None;
    }
    if starts == 0 {
        problems.push("expected :START_ID beside :END_ID, found none".to_string());
    }
    if ends == 0 {
        problems.push("expected :END_ID beside :START_ID, found none".to_string());
    }
    if types == 0 && !has_type {
        problems.push("expected a :TYPE column or a type given with --type, found neither".to_string());
    }
    if labels > 0 {
        problems.push(
            "a file of edges (it has :START_ID or :END_ID) has no :LABEL column; use :TYPE".to_string(),
        );
    }
    Some(CsvKind::Edges)
}

fn find_duplicates(columns: &[Column], problems: &mut Vec<String>) {
    let mut names: Vec<&str> = columns.iter().filter_map(|column| column.role.property()).collect();
    names.sort_unstable();
    for group in names.chunk_by(|one, other| one == other).filter(|group| group.len() > 1) {
        problems.push(format!("expected one column for property {}, found {}", quote(group[0]), group.len()));
    }
}

impl Role {
    /// The property that a column sets.
    fn property(&self) -> Option<&str> {
        match self {
            Role::Id { property, .. } => property.as_deref(),
            Role::Property { name, .. } => Some(name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CsvHeader {
        CsvHeader::parse(line.split(','), false, None).unwrap()
    }

    fn roles(line: &str) -> Vec<Role> {
        parse(line).columns.into_iter().map(|column| column.role).collect()
    }

    fn problem(line: &str) -> String {
        let error = CsvHeader::parse(line.split(','), false, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.text().strip_prefix("csv header: ").unwrap().to_string()
    }

    fn id(group: &str, property: Option<&str>) -> Role {
        Role::Id { group: group.into(), property: property.map(Into::into) }
    }

    fn property(name: &str, cell_type: CellType, is_list: bool) -> Role {
        Role::Property { name: name.into(), cell_type, is_list }
    }

    #[test]
    fn a_header_of_nodes_is_read() {
        let header = "id:ID(Person),:LABEL,name,age:int,scores:double[],note:IGNORE,a:b:boolean";
        let expected = [
            id("Person", Some("id")),
            Role::Labels,
            property("name", CellType::String, false),
            property("age", CellType::Int, false),
            property("scores", CellType::Double, true),
            Role::Ignored,
            property("a:b", CellType::Boolean, false),
        ];
        assert_eq!((parse(header).kind(), roles(header)), (CsvKind::Nodes, expected.to_vec()));
    }

    #[test]
    fn a_header_of_edges_is_read() {
        let header = ":START_ID(Person),since:date,:END_ID(a:b),:TYPE";
        let expected = [
            Role::Start { group: "Person".into() },
            property("since", CellType::Date, false),
            Role::End { group: "a:b".into() },
            Role::Type,
        ];
        assert_eq!((parse(header).kind(), roles(header)), (CsvKind::Edges, expected.to_vec()));
    }

    #[test]
    fn parentheses_without_a_keyword_belong_to_the_name() {
        let expected = [id("", None), property("size (mm)", CellType::String, false)];
        assert_eq!(roles(":ID, size (mm) "), expected);
    }

    #[test]
    fn the_type_of_edges_may_be_known_without_a_column() {
        let titles = [":START_ID", ":END_ID"];
        assert_eq!(CsvHeader::parse(titles, true, None).unwrap().kind(), CsvKind::Edges);
        assert_eq!(
            problem(":START_ID,:END_ID"),
            "expected a :TYPE column or a type given with --type, found neither"
        );
    }

    #[test]
    fn a_wrong_header_is_refused_with_every_problem() {
        for (header, expected) in [
            (
                "name",
                "expected :ID (nodes) or :START_ID and :END_ID (edges), found neither; if the header is plain, name its columns with --id, or with --from and --to",
            ),
            (":ID,a:ID", "expected at most one :ID column, found 2"),
            (":END_ID,:TYPE", "expected :START_ID beside :END_ID, found none"),
            (":START_ID,:TYPE", "expected :END_ID beside :START_ID, found none"),
            (
                ":START_ID,:END_ID,:TYPE,:LABEL",
                "a file of edges (it has :START_ID or :END_ID) has no :LABEL column; use :TYPE",
            ),
            (":ID,:TYPE", "a file of nodes (it has :ID) has no :TYPE column; split it into two files"),
            (":ID,a,a:int", "expected one column for property `a`, found 2"),
            ("a:ID,a", "expected one column for property `a`, found 2"),
            (
                ":ID,:int",
                "column `:int`: expected a name before the type; mark a column to be skipped with `:IGNORE`",
            ),
            (
                ":ID,",
                "column ``: expected a name before the type; mark a column to be skipped with `:IGNORE`",
            ),
            (":ID,a:int(x)", "column `a:int(x)`: only ID, START_ID and END_ID take a group in parentheses"),
            (
                ":ID{id-type:long}",
                "column `:ID{id-type:long}`: options in braces are not supported; remove them; expected :ID (nodes) or :START_ID and :END_ID (edges), found neither; if the header is plain, name its columns with --id, or with --from and --to",
            ),
            (
                ":ID,p:point",
                "column `p:point`: points are not supported; split them into two columns of type double",
            ),
            (
                ":ID,:id,a:LABEL[]",
                "column `:id`: expected a type such as int, double, boolean, string or date, found `id`; column `a:LABEL[]`: expected a type such as int, double, boolean, string or date, found `LABEL`",
            ),
        ] {
            assert_eq!(problem(header), expected, "{header}");
        }
    }
}
