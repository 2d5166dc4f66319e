//! Groups of what a search or a walk finds: counts, sums, and least and greatest values.

use annals::Result;
use annals_exchange::text::{count, counted};
use annals_json::Object;
use clap::Args;
use serde_json::Value as Json;

use super::listing::json_of_line;
use crate::columns::{AnswerColumn, Shows, names_of};
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::rows::{AnswerRows, Printed, RowsArguments};
use crate::shown::Shown;
use crate::stop::Outcome;

/// How to group what a search finds.
#[derive(Args, Clone, Debug)]
pub struct GroupingArguments {
    /// Count by the values of these properties and @headers, such as @type,owner, repeatable; each member of a set counts. A name with a comma is in double quotes
    #[arg(long, value_name = "FIELD,…", help_heading = "Groups", conflicts_with_all = NO_GROUPS)]
    group_by: Vec<String>,
    /// Print the sum of these properties for each group; for all instances without --group-by
    #[arg(long, value_name = "FIELD,…", help_heading = "Groups", conflicts_with_all = NO_GROUPS)]
    sum: Vec<String>,
    /// Print the least value of these properties and @headers
    #[arg(long, value_name = "FIELD,…", help_heading = "Groups", conflicts_with_all = NO_GROUPS)]
    min: Vec<String>,
    /// Print the greatest value of these properties and @headers
    #[arg(long, value_name = "FIELD,…", help_heading = "Groups", conflicts_with_all = NO_GROUPS)]
    max: Vec<String>,
}

/// Arguments of pages, which groups do not have: the largest come first.
const NO_GROUPS: [&str; 4] = ["order_by", "offset", "after", "is_explained"];

/// The member of a group with its values.
const VALUES: &str = "values";

impl GroupingArguments {
    /// True if an argument is given.
    pub fn is_given(&self) -> bool {
        [&self.group_by, &self.sum, &self.min, &self.max].into_iter().any(|fields| !fields.is_empty())
    }

    /// Prints the groups of a search in JSON, as rows, and how many instances it finds.
    pub fn print(
        &self,
        context: &mut Context,
        rows: &RowsArguments,
        mut search: Object,
        time: &AsOfArguments,
    ) -> Outcome {
        let printed = rows.columns.printed_groups(context, rows.format)?;
        let columns = self.columns()?;
        let is_value =
            |column: &&AnswerColumn| matches!(&column.shows, Shows::Property(path, _) if path == VALUES);
        let is_computed =
            |column: &&AnswerColumn| matches!(&column.shows, Shows::Property(path, _) if path != VALUES);
        let titles = |columns: Vec<&AnswerColumn>| -> Vec<Json> {
            columns.into_iter().map(|column| column.title.as_str().into()).collect()
        };
        search.insert("groupBy".to_owned(), titles(columns.iter().filter(is_value).collect()).into());
        search.insert("aggregate".to_owned(), titles(columns.iter().filter(is_computed).collect()).into());
        context.warn_of_emptiness(time)?;
        let request = context.of_candidate(Request::post("/v1/groups", &Json::Object(search)));
        let rest = print_groups(context, request, columns, printed)?;
        if let Printed::Table = printed {
            return context.output.line(format!("{} found", count(Shown(&rest).number("count"))));
        }
        Ok(())
    }

    /// The columns of the groups: their values, their count, and what is computed of them.
    fn columns(&self) -> Result<Vec<AnswerColumn>> {
        let of = |argument, texts: &[String]| -> Result<Vec<String>> {
            let names: Result<Vec<Vec<String>>> = texts.iter().map(|text| names_of(argument, text)).collect();
            Ok(names?.concat())
        };
        let by = of("--group-by", &self.group_by)?.into_iter();
        let mut columns: Vec<AnswerColumn> = by
            .map(|name| AnswerColumn { title: name.clone(), shows: Shows::Property(VALUES.to_owned(), name) })
            .collect();
        columns.push(count_column());
        for (function, argument, text) in
            [("sum", "--sum", &self.sum), ("min", "--min", &self.min), ("max", "--max", &self.max)]
        {
            columns.extend(of(argument, text)?.into_iter().map(|name| AnswerColumn {
                title: format!("{function}({name})"),
                shows: Shows::Property(function.to_owned(), name),
            }));
        }
        Ok(columns)
    }
}

/// The number of instances of each group.
pub fn count_column() -> AnswerColumn {
    AnswerColumn { title: "count".to_owned(), shows: Shows::Member("count".to_owned()) }
}

/// Prints the groups that answer a request; returns the totals, which are the last line of the answer. Groups that are not
/// listed are counted below a table, or else on standard error.
pub fn print_groups(
    context: &mut Context,
    request: Request,
    columns: Vec<AnswerColumn>,
    printed: Printed,
) -> Outcome<Json> {
    let mut answer = context.ask(request.lines())?;
    let mut rows = AnswerRows::new(context, columns, printed).with_missing("null");
    let mut totals = Json::Null;
    while let Some(AnswerLine::Item(line)) = answer.line()? {
        let json = json_of_line(&line)?;
        let is_totals = json.get("rest").is_some();
        if rows.is_json() {
            context.output.json_line(&line)?;
        } else if !is_totals {
            rows.item(context, &json)?;
        }
        if is_totals {
            totals = json;
        }
    }
    if rows.is_json() {
        return Ok(totals);
    }
    let is_table = rows.is_table();
    rows.end(context, "", None)?;
    match rest_text(Shown(&totals).of("rest")) {
        Some(text) if is_table => context.output.line(text)?,
        Some(text) => tell!("{text}"),
        None => {}
    }
    Ok(totals)
}

/// The groups that are not listed, if there are any.
pub fn rest_text(rest: Shown) -> Option<String> {
    let groups = rest.number("groups");
    (groups > 0).then(|| {
        let (groups, rest) = (counted(groups, "more value"), count(rest.number("count")));
        format!("and {groups}, together {rest}")
    })
}
