//! Groups of what a search finds, as JSON, as lines and as CSV.

use std::sync::Arc;

use annals::{Find, FoundGroup, FoundGroups, Grouping, Snapshot, TypeKind};
use annals_exchange::export::{CellText, RowFormat, RowText, cell_of};
use annals_json::{
    FoundGroupsForm, Members, ObjectOf, aggregate_to_text, field_to_text, grouping_from_texts,
};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};

use crate::answer;
use crate::answer::lines;
use crate::bounds::heavy::heavy_answer;
use crate::protocol::names::CSV;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;

/// The rows for programs.
const ROWS: RowText = RowText { format: RowFormat::Csv, text: CellText::Exact };

/// The grouping of a query string, if it has one.
pub(super) fn grouping_of(call: &Call) -> Result<Option<Grouping>, Problem> {
    let grouping = grouping_from_texts(call.query.all("groupBy"), call.query.all("aggregate"))?;
    let is_asked = ["groupBy", "aggregate"].into_iter().any(|name| call.query.get(name).is_some());
    Ok(is_asked.then_some(grouping))
}

/// A search whose hits are grouped. Its limit is that of the groups.
pub(super) struct Grouped {
    pub(super) kind: TypeKind,
    pub(super) find: Find,
    pub(super) grouping: Grouping,
    /// True if the answer has the members of a page, too.
    pub(super) is_page: bool,
}

impl Grouped {
    /// Answers.
    pub(super) async fn answer(mut self, call: Box<Call>, snapshot: Snapshot) -> Outcome {
        let Find { order, offset, after, .. } = &self.find;
        if !order.is_empty() || *offset > 0 || after.is_some() {
            let text = "groupBy: expected no order, offset and cursor beside it, because the largest groups come first on one page, \
                        found one; leave it out, or take more groups with limit";
            return Err(Problem::invalid(text).with("parameter", "groupBy"));
        }
        let limit = std::mem::replace(&mut self.find.limit, Find::all().limit);
        if lines::are_wanted(&call) {
            return lines::send(call, snapshot, move |_, snapshot, lines| {
                let found = self.found(snapshot)?;
                let form = FoundGroupsForm::of(&self.grouping, &found, limit);
                form.groups().try_for_each(|group| lines.line(&group))?;
                lines.line(&ObjectOf(|members: &mut Members| form.add_totals(members)))
            })
            .await;
        }
        if lines::accepts(&call, CSV) {
            let answer = lines::send_whole(call, snapshot, move |_, snapshot, lines| {
                let found = self.found(snapshot)?;
                lines.part(&ROWS.line(self.titles()))?;
                found.groups.iter().take(limit).try_for_each(|group| lines.part(&ROWS.line(cells(group))))
            });
            let mut answer = answer.await?;
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(CSV));
            return Ok(answer);
        }
        let door = Arc::clone(&call.door);
        heavy_answer(&door.bounds, snapshot, move |snapshot| {
            let found = self.found(&snapshot)?;
            let form = FoundGroupsForm::of(&self.grouping, &found, limit);
            let body = ObjectOf(|members: &mut Members| {
                form.add(members);
                if self.is_page {
                    members.add("items", Vec::<&str>::new());
                    members.add("next", None::<&str>);
                }
            });
            Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
        })
        .await
    }

    fn found(&self, snapshot: &Snapshot) -> annals::Result<FoundGroups> {
        match self.kind {
            TypeKind::Relationship => snapshot.group_relationships(&self.find, &self.grouping),
            _ => snapshot.group_entities(&self.find, &self.grouping),
        }
    }

    fn titles(&self) -> impl Iterator<Item = String> {
        let by = self.grouping.by.iter().map(field_to_text);
        by.chain(["count".to_owned()]).chain(self.grouping.aggregates.iter().map(aggregate_to_text))
    }
}

/// The cells of a row. A value that is missing leaves its cell empty.
fn cells(group: &FoundGroup) -> impl Iterator<Item = String> {
    let cell = |value: &Option<annals::Value>| value.as_ref().map(cell_of).unwrap_or_default();
    group.values.iter().map(cell).chain([group.count.to_string()]).chain(group.aggregates.iter().map(cell))
}
