//! `annals find`: entities or relationships by a search.

use annals::{Deleted, Error, ErrorKind, Expression, Find, Result};
use annals_json::{
    explanation_to_json, expression_from_json, find_from_json, json_from_str, object, order_from_text,
};
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use super::listing::{BATCH_ITEMS_MAX, Listing};
use crate::context::{AsOfArguments, Context};
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
    let mut find = search(arguments)?;
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let is_json = context.output.is_json();
    if arguments.is_counted {
        let count = match arguments.is_relationships {
            true => snapshot.count_relationships(&find)?,
            false => snapshot.count_entities(&find)?,
        };
        return if is_json {
            context.output.json(&json!({ "count": count }))
        } else {
            context.output.line(count)
        };
    }
    if arguments.is_explained {
        let told = match arguments.is_relationships {
            true => snapshot.explain_relationships(&find)?,
            false => snapshot.explain_entities(&find)?,
        };
        return explain(context, &told);
    }
    let mut left = find.limit;
    let mut listing =
        if arguments.is_relationships { Listing::of_relationships() } else { Listing::of_entities() };
    loop {
        find.limit = left.min(BATCH_ITEMS_MAX);
        let next = if arguments.is_relationships {
            let page = snapshot.find_relationships(&find)?;
            left -= page.items.len();
            page.items.iter().try_for_each(|relationship| listing.relationship(context, relationship))?;
            page.next
        } else {
            let page = snapshot.find_entities(&find)?;
            left -= page.items.len();
            page.items.iter().try_for_each(|entity| listing.entity(context, entity))?;
            page.next
        };
        match next {
            Some(next) if left > 0 => (find.after, find.offset) = (Some(next), 0),
            next => return listing.end_page(context, "--after", next),
        }
    }
}

fn explain(context: &mut Context, told: &annals::Explanation) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&explanation_to_json(told));
    }
    context.output.line(format!("search      {}", told.search))?;
    context.output.line(format!("order       {}", told.order))?;
    for plan in &told.plans {
        context.output.line(format!("plan        {plan}"))?;
    }
    for (name, count) in [
        ("domain", told.domain),
        ("candidates", told.candidates),
        ("verified", told.verified),
        ("visited", told.visited),
        ("skipped", told.branches_skipped),
        ("found", told.found),
    ] {
        context.output.line(format!("{name:<11} {count}"))?;
    }
    Ok(())
}

/// Words that continue a search: the terms around them are joined into one text.
const CLAUSES: [&str; 9] = ["where", "only", "order", "limit", "offset", "after", "and", "or", "status"];

fn search(arguments: &Arguments) -> Result<Find> {
    let terms = &arguments.terms;
    let is_json = |term: &String| term.starts_with('{');
    let is_one = !terms.iter().any(is_json) && terms.iter().any(|term| CLAUSES.contains(&term.as_str()));
    let mut find = if is_one { Find::parse(&terms.join(" "))? } else { Find::all() };
    if !is_one && let Some((first, conditions)) = terms.split_first() {
        find = match is_json(first) {
            true => find_from_json(object(&json_from_text(first)?, "search")?)?,
            false => Find::parse(first)?,
        };
        for condition in conditions {
            find = find.filter(condition_from_text(condition)?);
        }
    }
    if let Some(name) = &arguments.classified {
        find = find.classified(name);
    }
    for key in &arguments.order_by {
        find.order.push(order_from_text(key)?);
    }
    find.statuses.extend(arguments.statuses.iter().map(|name| name.as_str().into()));
    if let Some(deleted) = arguments.deleted {
        find.deleted = match deleted {
            DeletedArgument::Without => Deleted::Without,
            DeletedArgument::With => Deleted::With,
            DeletedArgument::Only => Deleted::Only,
        };
    }
    find.with_proxies |= arguments.with_proxies;
    find.limit = arguments.limit.unwrap_or(find.limit);
    find.offset = arguments.offset.unwrap_or(find.offset);
    if arguments.after.is_some() {
        find.after.clone_from(&arguments.after);
    }
    Ok(find)
}

/// A condition in its text form, or as JSON if it begins with `{`.
pub fn condition_from_text(condition: &str) -> Result<Expression> {
    match condition.starts_with('{') {
        true => expression_from_json(&json_from_text(condition)?),
        false => Expression::parse(condition),
    }
}

fn json_from_text(text: &str) -> Result<Json> {
    json_from_str(text).map_err(|error| {
        Error::new(ErrorKind::InvalidArgument, format!("search: expected JSON behind {{, found {error}"))
    })
}
