//! `annals find`: entities or relationships by a search.

use annals::{Error, ErrorKind, Field, Find, Order, OrderBy, Result};
use annals_exchange::text::one_line;
use annals_json::{Object, find_from_json, json_from_str, object, order_from_text};
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use super::grouping::GroupingArguments;
use super::listing::{Listing, json_of_line};
use super::tree_times::as_of_to_json;
use crate::columns::{ENTITIES, RELATIONSHIPS};
use crate::context::{AsOfArguments, Context};
use crate::request::Request;
use crate::rows::RowsArguments;
use crate::shown::Shown;
use crate::stop::Outcome;

/// Find entities, or relationships, by type, properties, classifications and links
#[derive(Args, Debug)]
#[command(after_help = "\
A search is a type, then conditions, an order and a page; you may leave out each of them:
  package where size >= 10 and not section = shells order by size desc, @updatedAt limit 20
Conditions:
  name = bash    name != bash   size < 10 (<= > >=)   size between 1 and 5   name in (bash, dash)
  name ^= lib    starts with    name $= sh   ends with    name ~= foo   contains   … nocase
  name =~ /l.b\\d+/   regular expression for the whole text       @text ~= foo   in any text
  name is null   name is not null   tags has red   @createdAt > 2025-01-01   @version > 1
  is package     classified essential (since > 1996)     has out depends to (name = libc6)
joined by and, or, not, all(…), any(…), none(…). Quote texts with blanks or signs: name = 'a b'.
Instead of one text, you can give a type and conditions one by one; all of them must hold. An argument that begins
with { is JSON: the first argument is a whole search, a later one a condition.

Examples:
  annals find package                                  every package, page by page
  annals find package 'installed_size_kib >= 500000' --order-by -installed_size_kib
  annals find 'package where classified essential and @text ~= shell' --count
  annals find depends 'constraint is not null' --relationships --limit 10
  annals find package --columns name,installed_size_kib,@updated.author
  annals find package --format csv --limit 100000 > packages.csv
  annals find package --group-by section,@status --sum installed_size_kib
docs/search.md has the whole language. With --json each line is one instance; a last line {\"next\": …} has the cursor
for --after if there is more.")]
pub struct Arguments {
    /// A search; or a type (subtypes are found too), then conditions
    #[arg(value_name = "SEARCH|TYPE|CONDITION", allow_hyphen_values = false)]
    terms: Vec<String>,
    /// Order by this property or @header, smallest first; -PROPERTY for largest first. Repeatable
    #[arg(long, value_name = "PROPERTY", allow_hyphen_values = true)]
    order_by: Vec<String>,
    /// Only entities that carry this classification
    #[arg(long, value_name = "NAME", conflicts_with = "is_relationships")]
    classified: Option<String>,
    /// Find relationships
    #[arg(long = "relationships")]
    is_relationships: bool,
    /// Only with this status; deleted instances are found if you name the status deleted. Repeatable
    #[arg(long = "status", value_name = "STATUS")]
    statuses: Vec<String>,
    /// Whether to find deleted instances
    #[arg(long, value_name = "WHICH")]
    deleted: Option<DeletedArgument>,
    /// Also find entities of which the repository holds only a proxy
    #[arg(long)]
    with_proxies: bool,
    /// Page size; 100 unless the search says otherwise
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Skip this many instances
    #[arg(long, value_name = "N")]
    offset: Option<usize>,
    /// Continue after the page that ended with this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Also print the count on all pages
    #[arg(long = "count", conflicts_with = "is_explained")]
    is_counted: bool,
    /// Print how the search was answered: by which index, with how many candidates
    #[arg(long = "explain")]
    is_explained: bool,
    #[command(flatten)]
    grouping: GroupingArguments,
    #[command(flatten)]
    rows: RowsArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Whether live or deleted instances are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DeletedArgument {
    /// Only live ones
    Without,
    /// Both
    With,
    /// Only deleted ones
    Only,
}

/// Prints one page, in parts if it is long.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut body = search(arguments)?;
    body.extend(as_of_to_json(&arguments.as_of.as_of()));
    if arguments.grouping.is_given() {
        // All groups are printed, unless the user or the text of the search has a limit.
        let is_usual = |limit: &Json| {
            arguments.limit.is_none() && limit.as_u64() == u64::try_from(Find::all().limit).ok()
        };
        body.retain(|name, member| name != "limit" || !is_usual(member));
        return arguments.grouping.print(context, &arguments.rows, body, &arguments.as_of);
    }
    let body = Json::Object(body);
    let path = match (arguments.is_counted, arguments.is_explained) {
        (true, _) => "/v1/count",
        (_, true) => "/v1/explain",
        _ => "/v1/find",
    };
    let (layout, usual) = match arguments.is_relationships {
        true => (&RELATIONSHIPS, "@id,@from,@type,@to,*"),
        false => (&ENTITIES, "@id,@type,*"),
    };
    let rows = arguments.rows.rows(context, layout, usual)?;
    if path != "/v1/find" {
        arguments.rows.refuse_beside(if arguments.is_counted { "--count" } else { "--explain" })?;
    }
    context.warn_of_emptiness(&arguments.as_of)?;
    let request = context.of_candidate(Request::post(path, &body));
    if path != "/v1/find" {
        let told = context.ask(request)?.whole()?;
        if context.output.is_json() {
            return context.output.json_line(&told);
        }
        let told = json_of_line(&told)?;
        if !arguments.is_counted {
            return explain(context, Shown(&told));
        }
        let count = Shown(&told).number("count");
        context.output.line(count)?;
        if count == 0 {
            print_hints(context, &body);
        }
        return Ok(());
    }
    let mut answer = context.ask(request.lines())?;
    if let Some(mut rows) = rows {
        let next = rows.take(context, &mut answer)?;
        let is_empty = rows.is_empty() && next.is_none();
        rows.end(context, "--after", next.map(Json::from))?;
        if is_empty && !context.output.is_json() {
            print_hints(context, &body);
        }
        return Ok(());
    }
    let mut listing =
        if arguments.is_relationships { Listing::of_relationships() } else { Listing::of_entities() };
    let next = listing.take(context, &mut answer)?;
    let is_empty = !context.output.has_lines() && next.is_none() && listing.is_empty();
    listing.end_page(context, "--after", next)?;
    if is_empty && !context.output.is_json() {
        print_hints(context, &body);
    }
    Ok(())
}

/// Says why a search may have found nothing. A client that may not ask gets no hint.
fn print_hints(context: &mut Context, body: &Json) {
    let request = context.of_candidate(Request::post("/v1/explain", body));
    let told = context.ask(request).and_then(|mut answer| answer.whole());
    let told = told.ok().and_then(|told| json_of_line(&told).ok()).unwrap_or_default();
    for hint in Shown(&told).all("hints").filter_map(|hint| hint.0.as_str()) {
        tell!("hint: {}", one_line(hint));
    }
}

fn explain(context: &mut Context, told: Shown) -> Outcome {
    context.output.line(format!("search      {}", told.text("search")))?;
    context.output.line(format!("order       {}", told.text("order")))?;
    for plan in told.of("plans").0.as_array().into_iter().flatten().filter_map(Json::as_str) {
        context.output.line(format!("plan        {plan}"))?;
    }
    for (name, member) in [
        ("domain", "domain"),
        ("candidates", "candidates"),
        ("verified", "verified"),
        ("visited", "visited"),
        ("skipped", "branchesSkipped"),
        ("found", "found"),
    ] {
        context.output.line(format!("{name:<11} {}", told.number(member)))?;
    }
    for hint in told.all("hints").filter_map(|hint| hint.0.as_str()) {
        context.output.line(format!("hint        {}", one_line(hint)))?;
    }
    Ok(())
}

/// Words that continue a search: the terms around them are joined into one text.
const CLAUSES: [&str; 9] = ["where", "only", "order", "limit", "offset", "after", "and", "or", "status"];

/// The search in JSON. It has a limit, and its texts read.
fn search(arguments: &Arguments) -> Result<Object> {
    let terms = &arguments.terms;
    let is_json = |term: &String| term.starts_with('{');
    let is_one = !terms.iter().any(is_json) && terms.iter().any(|term| CLAUSES.contains(&term.as_str()));
    let mut body = Object::new();
    if is_one {
        body.insert("q".into(), terms.join(" ").into());
    } else if let Some((first, conditions)) = terms.split_first() {
        if is_json(first) {
            body = object(&json_from_text(first)?, "search")?.clone();
        } else {
            body.insert("q".into(), first.as_str().into());
        }
        for condition in conditions {
            let condition =
                if is_json(condition) { json_from_text(condition)? } else { condition.as_str().into() };
            push(&mut body, "where", condition);
        }
    }
    if let Some(name) = &arguments.classified {
        push(&mut body, "classified", name.as_str().into());
    }
    // In a search, the keys of the member replace those of the text.
    let find = find_from_json(&body).map_err(|error| of_other_language(terms, error))?;
    if !arguments.order_by.is_empty() {
        let mut order: Vec<Json> = find.order.iter().map(order_to_json).collect::<Result<_>>()?;
        for key in &arguments.order_by {
            order_from_text(key)?;
            order.push(key.as_str().into());
        }
        body.insert("orderBy".into(), order.into());
    }
    for name in &arguments.statuses {
        push(&mut body, "status", name.as_str().into());
    }
    if let Some(deleted) = arguments.deleted {
        let name = match deleted {
            DeletedArgument::Without => "without",
            DeletedArgument::With => "with",
            DeletedArgument::Only => "only",
        };
        body.insert("deleted".into(), name.into());
    }
    if arguments.with_proxies {
        body.insert("proxies".into(), "with".into());
    }
    body.insert("limit".into(), arguments.limit.unwrap_or(find.limit).into());
    if let Some(offset) = arguments.offset {
        body.insert("offset".into(), offset.into());
    }
    if let Some(after) = &arguments.after {
        body.insert("after".into(), after.as_str().into());
    }
    if arguments.is_relationships {
        body.insert("kind".into(), "relationship".into());
    }
    Ok(body)
}

/// The error of a search in another language, which has pieces that are none: that of the whole text, which says so.
fn of_other_language(terms: &[String], error: Error) -> Error {
    match terms.first().map(|first| Find::is_foreign(first)) {
        Some(true) => Find::parse(&terms.join(" ")).err().unwrap_or(error),
        _ => error,
    }
}

/// Adds a value to a member that is one value or several.
fn push(body: &mut Object, name: &str, value: Json) {
    let member = body.entry(name).or_insert_with(|| json!([]));
    if !member.is_array() {
        *member = json!([member.take()]);
    }
    if let Json::Array(values) = member {
        values.push(value);
    }
}

/// A key of an order in JSON.
fn order_to_json(key: &OrderBy) -> Result<Json> {
    let is_descending = key.order == Order::Descending;
    match &key.field {
        Field::Property(name) => Ok(json!({ "property": &**name, "descending": is_descending })),
        Field::Header(header) => Ok(json!({ "header": header.name(), "descending": is_descending })),
        other => {
            let text = format!("--order-by: expected a search with an order of properties, found {other:?}");
            Err(Error::new(ErrorKind::InvalidExpression, text))
        }
    }
}

fn json_from_text(text: &str) -> Result<Json> {
    json_from_str(text).map_err(|error| {
        Error::new(ErrorKind::InvalidArgument, format!("search: expected JSON behind {{, found {error}"))
    })
}
