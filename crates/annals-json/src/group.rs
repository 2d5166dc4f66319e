//! Groups of what a search finds.

use annals::{Aggregate, AggregateFunction, Field, FoundGroup, FoundGroups, Grouping, Result};
use serde_json::Value as Json;

use super::find::field_from_text;
use super::form::{Form, JsonText, Members, ObjectOf};
use super::{Object, invalid, kind};

/// The members of a grouping in JSON, beside those of the search.
pub const GROUPING: [&str; 2] = ["groupBy", "aggregate"];

/// The name of a field: `size`, or `@type`.
pub fn field_to_text(field: &Field) -> String {
    match field {
        Field::Property(name) => name.to_string(),
        Field::Header(header) => format!("@{}", header.name()),
        Field::AnyText => "@text".to_owned(),
    }
}

/// The text of an aggregate: `sum(size)`.
pub fn aggregate_to_text(aggregate: &Aggregate) -> String {
    format!("{}({})", aggregate.function.name(), field_to_text(&aggregate.field))
}

/// An aggregate from its text; `None` for `count`, which every group has.
///
/// Errors: `InvalidArgument`.
fn aggregate_from_text(text: &str) -> Result<Option<Aggregate>> {
    if text == "count" {
        return Ok(None);
    }
    let parts = text.split_once('(').and_then(|(name, field)| Some((name, field.strip_suffix(')')?)));
    let known = parts.and_then(|(name, field)| {
        let function = AggregateFunction::ALL.into_iter().find(|function| function.name() == name)?;
        Some((function, field))
    });
    let Some((function, field)) = known else {
        return Err(invalid(format!(
            "aggregate: expected count, sum(FIELD), min(FIELD) or max(FIELD), found {text:?}"
        )));
    };
    Ok(Some(Aggregate { function, field: field_from_text(field)? }))
}

/// A grouping from the texts of its fields and aggregates.
///
/// Errors: `InvalidArgument` for an unknown header, and for an aggregate that is none.
pub fn grouping_from_texts<'t>(
    by: impl IntoIterator<Item = &'t str>,
    aggregates: impl IntoIterator<Item = &'t str>,
) -> Result<Grouping> {
    let by = by.into_iter().map(field_from_text).collect::<Result<_>>()?;
    let aggregates = aggregates.into_iter().map(aggregate_from_text).filter_map(Result::transpose);
    Ok(Grouping { by, aggregates: aggregates.collect::<Result<_>>()? })
}

/// A grouping from the members `groupBy` and `aggregate` of an object, each a text or an array of texts.
///
/// Errors: as [`grouping_from_texts`].
pub fn grouping_from_json(fields: &Object) -> Result<Grouping> {
    let texts = |name: &str| match fields.get(name) {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::String(text)) => Ok(vec![text.as_str()]),
        Some(Json::Array(texts)) => texts
            .iter()
            .map(|text| {
                text.as_str()
                    .ok_or_else(|| invalid(format!("{name}: expected strings, found {}", kind(text))))
            })
            .collect(),
        Some(other) => {
            Err(invalid(format!("{name}: expected a string or an array of them, found {}", kind(other))))
        }
    };
    grouping_from_texts(texts(GROUPING[0])?, texts(GROUPING[1])?)
}

/// The JSON form of a group: `{"values", "count"}`, and `sum`, `min` and `max` if they are asked for. Their members, as those of
/// `values`, have the names of fields.
pub struct FoundGroupForm<'g> {
    grouping: &'g Grouping,
    group: &'g FoundGroup,
}

impl Form for FoundGroupForm<'_> {
    fn write(&self, to: &mut JsonText) {
        let FoundGroupForm { grouping, group } = self;
        to.object(|members| {
            let by = ObjectOf(|members: &mut Members| {
                for (field, value) in grouping.by.iter().zip(&group.values) {
                    members.entry(&field_to_text(field), value);
                }
            });
            members.add("values", by);
            members.add("count", group.count);
            for function in AggregateFunction::ALL {
                let computed = grouping.aggregates.iter().zip(&group.aggregates);
                let mut computed =
                    computed.filter(|(aggregate, _)| aggregate.function == function).peekable();
                if computed.peek().is_none() {
                    continue;
                }
                let computed: Vec<_> = computed.collect();
                let computed = ObjectOf(|members: &mut Members| {
                    for (aggregate, value) in &computed {
                        members.entry(&field_to_text(&aggregate.field), *value);
                    }
                });
                members.add(function.name(), computed);
            }
        });
    }
}

/// The largest groups, and the counts of the rest: `{"groups", "count", "rest": {"groups", "count"}}`.
pub struct FoundGroupsForm<'g> {
    grouping: &'g Grouping,
    found: &'g FoundGroups,
    limit: usize,
}

impl<'g> FoundGroupsForm<'g> {
    /// With at most this many groups.
    pub fn of(grouping: &'g Grouping, found: &'g FoundGroups, limit: usize) -> FoundGroupsForm<'g> {
        FoundGroupsForm { grouping, found, limit }
    }

    fn listed(&self) -> usize {
        self.limit.min(self.found.groups.len())
    }

    /// The groups that are listed.
    pub fn groups(&self) -> impl Iterator<Item = FoundGroupForm<'g>> {
        let grouping = self.grouping;
        self.found.groups[..self.listed()].iter().map(move |group| FoundGroupForm { grouping, group })
    }

    /// Adds the groups, and the totals.
    pub fn add(&self, members: &mut Members) {
        members.add("groups", self.groups().collect::<Vec<_>>());
        self.add_totals(members);
    }

    /// Adds `count` and `rest`.
    pub fn add_totals(&self, members: &mut Members) {
        let rest = &self.found.groups[self.listed()..];
        members.add("count", self.found.count);
        members.add(
            "rest",
            ObjectOf(|members: &mut Members| {
                members.add("groups", rest.len());
                members.add("count", rest.iter().map(|group| group.count).sum::<usize>());
            }),
        );
    }
}

impl Form for FoundGroupsForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| self.add(members));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::form::tree;

    #[test]
    fn groups_are_named_by_their_fields() {
        let grouping =
            grouping_from_texts(["@type", "a.b, c"], ["count", "sum(rows (all))", "max(@createdAt)"])
                .unwrap();
        let aggregates: Vec<String> = grouping.aggregates.iter().map(aggregate_to_text).collect();
        assert_eq!(aggregates, ["sum(rows (all))", "max(@createdAt)"]);
        let group = FoundGroup {
            values: vec![Some("table".into()), None],
            count: 2,
            aggregates: vec![Some(3.into()), None],
        };
        let found = FoundGroups { groups: vec![group.clone(), FoundGroup { count: 1, ..group }], count: 3 };
        let expected = json!({
            "values": { "@type": "table", "a.b, c": null }, "count": 2,
            "sum": { "rows (all)": 3 }, "max": { "@createdAt": null },
        });
        let form = tree(&FoundGroupsForm::of(&grouping, &found, 1));
        assert_eq!(form, json!({ "groups": [expected], "count": 3, "rest": { "groups": 1, "count": 1 } }));
    }

    #[test]
    fn an_aggregate_that_is_none_is_refused() {
        for text in ["", "sum", "sum(", "avg(rows)", "sum()", "min(@nothing)", "sum(rows) "] {
            assert!(grouping_from_texts([], [text]).is_err(), "{text}");
        }
        let json = json!({ "groupBy": "owner", "aggregate": ["sum(rows)"] });
        let grouping = grouping_from_json(json.as_object().unwrap()).unwrap();
        assert_eq!(grouping, Grouping::default().by("owner").sum("rows"));
        for json in [json!({ "groupBy": 7 }), json!({ "aggregate": [7] })] {
            assert!(grouping_from_json(json.as_object().unwrap()).is_err(), "{json}");
        }
    }
}
