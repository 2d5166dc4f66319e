//! Reads plain headers, as spreadsheets have them: each title is the name of a property, and a user says which columns hold ids.

use std::sync::Arc;

use super::header::{Column, Role, parse_role};
use super::value::CellType;
use crate::import::refused::quote;

/// A message names at most so many titles.
const TITLES_MAX: usize = 20;

/// Which columns of a plain header are special. Shape: each is named by its title, or by `TITLE(GROUP)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    /// The rows are nodes.
    Nodes {
        /// The column of their ids; it is a property, too.
        id: String,
    },
    /// The rows are edges.
    Edges {
        /// The column of the ids of the nodes they start at.
        from: String,
        /// The column of the ids of the nodes they end at.
        to: String,
    },
}

impl Plain {
    /// The role of the column with this title. A type behind a colon is taken as such (`rows:int`); any other title is
    /// a name as a whole.
    pub(super) fn role(&self, title: &str) -> Role {
        match self {
            Plain::Nodes { id } => {
                if let Some(group) = group(id, title) {
                    return Role::Id { group, property: Some(title.into()) };
                }
            }
            Plain::Edges { from, to } => {
                if let Some(group) = group(from, title) {
                    return Role::Start { group };
                }
                if let Some(group) = group(to, title) {
                    return Role::End { group };
                }
            }
        }
        match parse_role(title) {
            _ if title.is_empty() => Role::Untitled,
            Ok(role @ (Role::Property { .. } | Role::Labels | Role::Type | Role::Ignored | Role::Line)) => {
                role
            }
            _ => Role::Property { name: title.into(), cell_type: CellType::String, is_list: false },
        }
    }

    /// A problem for each named column that the header does not have.
    pub(super) fn missing(&self, columns: &[Column]) -> Vec<String> {
        let problem = |option: &str, named: &str, is_it: fn(&Role) -> bool| {
            if columns.iter().any(|column| is_it(&column.role)) {
                return None;
            }
            let titles: Vec<_> =
                columns.iter().take(TITLES_MAX).map(|column| quote(&column.title).to_string()).collect();
            let more = if columns.len() > TITLES_MAX { ", …" } else { "" };
            Some(format!(
                "{option}: expected the title of a column ({}{more}), found {}",
                titles.join(", "),
                quote(named)
            ))
        };
        let problems = match self {
            Plain::Nodes { id } => vec![problem("--id", id, |role| matches!(role, Role::Id { .. }))],
            Plain::Edges { from, to } => vec![
                problem("--from", from, |role| matches!(role, Role::Start { .. })),
                problem("--to", to, |role| matches!(role, Role::End { .. })),
            ],
        };
        problems.into_iter().flatten().collect()
    }
}

/// The group of the column with this title, if it is the one that is named: the title alone has none.
fn group(named: &str, title: &str) -> Option<Arc<str>> {
    if title.is_empty() {
        return None;
    }
    if named.trim() == title {
        return Some("".into());
    }
    let (column, group) = named.trim().strip_suffix(')')?.rsplit_once('(')?;
    (column.trim() == title).then(|| group.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::csv::header::CsvHeader;

    fn roles(plain: &Plain, line: &str) -> Vec<Role> {
        let header = CsvHeader::parse(line.split(';'), true, Some(plain)).unwrap();
        header.columns.into_iter().map(|column| column.role).collect()
    }

    fn problem(plain: &Plain, line: &str) -> String {
        let error = CsvHeader::parse(line.split(';'), false, Some(plain)).unwrap_err();
        error.text().strip_prefix("csv header: ").unwrap().to_string()
    }

    fn property(name: &str, cell_type: CellType) -> Role {
        Role::Property { name: name.into(), cell_type, is_list: false }
    }

    fn nodes(id: &str) -> Plain {
        Plain::Nodes { id: id.into() }
    }

    #[test]
    fn titles_are_names_of_properties() {
        let id = Role::Id { group: "".into(), property: Some("Table Name".into()) };
        let expected = [
            id,
            property("Owner (team)", CellType::String),
            property("rows", CellType::Long),
            property("Time: start", CellType::String),
            property("x:ID", CellType::String),
            Role::Ignored,
            Role::Untitled,
        ];
        let line = " Table Name ;Owner (team);rows:long;Time: start;x:ID;note:IGNORE;";
        assert_eq!(roles(&nodes("Table Name"), line), expected);
    }

    #[test]
    fn ends_are_named_and_may_be_of_groups() {
        let plain = Plain::Edges { from: "a(b)".into(), to: "c(people)".into() };
        let expected = [Role::Start { group: "".into() }, Role::End { group: "people".into() }];
        assert_eq!(roles(&plain, "a(b);c"), expected);
        let expected = [Role::Start { group: "b".into() }, Role::End { group: "people".into() }];
        assert_eq!(roles(&plain, "a;c"), expected);
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_those_that_are() {
        assert_eq!(
            problem(&nodes("Nr"), "Table Name;Owner"),
            "--id: expected the title of a column (`Table Name`, `Owner`), found `Nr`"
        );
        let plain = Plain::Edges { from: "a".into(), to: "a".into() };
        assert_eq!(problem(&plain, "a;b"), "--to: expected the title of a column (`a`, `b`), found `a`");
        let plain = Plain::Edges { from: "a".into(), to: "b".into() };
        assert_eq!(
            problem(&plain, "a;b;c;c"),
            "expected a :TYPE column or a type given with --type, found neither; expected one column for property `c`, found 2"
        );
        assert_eq!(
            problem(&nodes("a"), "a;b;a"),
            "expected at most one :ID column, found 2; expected one column for property `a`, found 2"
        );
    }
}
