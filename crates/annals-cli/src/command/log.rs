//! `annals log`: who changed what, when and why, with the values before and after.

use annals::{Action, Error, ErrorKind, Id, Instant, LogPlace, Position, Result, TypeKind};
use annals_exchange::text::{count, one_line};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value as Json;

use super::diff::header_differences;
use super::listing::{BATCH_ITEMS_MAX, json_of_line, print_next};
use crate::columns::CHANGES;
use crate::context::Context;
use crate::request::Request;
use crate::rows::{AnswerRows, RowsArguments, json_line};
use crate::shown::{Shown as Part, value_sides};
use crate::stop::Outcome;

/// Values are cut here. Units: characters.
const VALUE_LENGTH_MAX: usize = 40;
/// A longer list of changes continues on another line. Units: characters.
const LINE_LENGTH_MAX: usize = 80;

/// Changes shown of one record, without `--all`.
const CHANGES_SHOWN_MAX: usize = 20;
/// Type of the entities that hold candidates.
const CANDIDATE_TYPE: &str = "annals-candidate";

/// Show who changed what, with the values before and after, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals log --author bob --since 7d                what Bob changed in the last seven days
  annals log ada                                    everything that happened to the instance ada
  annals log --type person --verb delete --limit 5  the last five commits that deleted persons
  annals --json log --oldest-first                  for programs: one record on each line
  annals log ada --columns @instant,@author,@before.rows,@after.rows    a row for each change
It shows changes that match every filter, and the first 20 of a commit. Purged instances do not appear, and edits of
candidates only if you ask for them. --all, and --json, show everything.
WHEN is an instant (2025-08-09T12:00:00Z), a date (2025-08-09), or a time before now (90m, 12h, 7d, 2w).")]
pub struct Arguments {
    /// Only changes of the entity or relationship that has or had this id
    id: Option<Id>,
    /// Only commits of this author
    #[arg(long)]
    author: Option<String>,
    /// Only changes of instances of this type and its subtypes, or of classifications of this name
    #[arg(long = "type", value_name = "TYPE")]
    type_name: Option<String>,
    /// Only changes of entities, of relationships or of classifications
    #[arg(long, value_parser = PossibleValuesParser::new(TypeKind::ALL.map(TypeKind::name)))]
    kind: Option<String>,
    /// Only changes of this kind, such as create, update or delete
    #[arg(long, value_parser = PossibleValuesParser::new(Action::verbs()), hide_possible_values = true)]
    verb: Option<String>,
    /// Only commits at this time or later
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<Instant>,
    /// Only commits before this time
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<Instant>,
    /// Show at most this many commits
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Continue after this place: the value of `more` in the page before, or any position
    #[arg(long, value_name = "PLACE")]
    after: Option<LogPlace>,
    /// Show the oldest first
    #[arg(long)]
    oldest_first: bool,
    /// Show all changes of each commit, and edits of candidates
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    rows: RowsArguments,
}

/// The columns of rows, if the user names none.
const USUAL_COLUMNS: &str =
    "@position,@instant,@author,@message,@action,@kind,@type,@id,@version,@classification";
/// The members of a record that each of its rows has.
const OF_RECORDS: [&str; 4] = ["position", "instant", "author", "message"];

impl Arguments {
    /// True if the edits of candidates are hidden: a record of them says nothing about the repository.
    fn hides_candidates(&self) -> bool {
        let is_asked = self.type_name.as_deref() == Some(CANDIDATE_TYPE)
            || self.id.as_ref().is_some_and(|id| id.to_string().starts_with(CANDIDATE_TYPE));
        !self.all && !is_asked
    }
}

/// The changes of the last printed record that its lines showed, and those that they did not.
#[derive(Default)]
struct Shown {
    position: Position,
    shown: usize,
    hidden: usize,
    /// True if nobody counted the hidden ones.
    is_cut: bool,
}

impl Shown {
    /// Says how many changes of the last record were not shown.
    fn end(&mut self, context: &mut Context) -> Outcome {
        match std::mem::take(&mut self.hidden) {
            _ if self.is_cut => context.output.line("    … more changes; --all shows them"),
            0 => Ok(()),
            1 => context.output.line("    … 1 more change; --all shows it"),
            hidden => {
                context.output.line(format!("    … {} more changes; --all shows them", count(hidden as u64)))
            }
        }
    }
}

/// The records that are asked for, without a page.
fn request(arguments: &Arguments) -> Request {
    let order = if arguments.oldest_first { "oldest-first" } else { "newest-first" };
    Request::get("/v1/log")
        .with_all("author", &arguments.author)
        .with_all("type", &arguments.type_name)
        .with_all("id", &arguments.id)
        .with_all("kind", &arguments.kind)
        .with_all("verb", &arguments.verb)
        .with_all("since", arguments.since)
        .with_all("until", arguments.until)
        .with("order", order)
}

/// Prints the records.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut rows = arguments.rows.rows(context, &CHANGES, USUAL_COLUMNS)?;
    let request = request(arguments);
    let mut after = arguments.after;
    let is_short = !arguments.all && !context.output.is_json() && rows.is_none();
    let hides_candidates = is_short && arguments.hides_candidates();
    let mut shown = Shown::default();
    // The page before printed the head of this record with its first changes.
    if let Some(LogPlace { position, changes: Some(_) }) = after {
        shown.position = position;
    }
    let (mut left, mut is_unfinished) = (arguments.limit, false);
    // A page may end early, because it looks at a bounded number of records, or within a record; so the command prints
    // pages until the end.
    loop {
        let limit = match hides_candidates {
            true => BATCH_ITEMS_MAX,
            false => left.max(usize::from(is_unfinished)).clamp(1, BATCH_ITEMS_MAX),
        };
        let request = request.clone().with("limit", limit).with_all("after", after);
        let page = json_of_line(&context.ask(request)?.whole()?)?;
        for record in Part(&page).all("items") {
            let changes: Vec<Part> = record
                .all("changes")
                .filter(|change| !hides_candidates || change.text("type") != CANDIDATE_TYPE)
                .collect();
            // A record without changes, because all that it changed is purged, is shown.
            if changes.is_empty() && record.all("changes").next().is_some() {
                continue;
            }
            let position = Position(record.number("position"));
            if shown.position != position {
                shown.end(context)?;
                if left == 0 {
                    let next = LogPlace { position: shown.position, changes: None };
                    return end(context, rows, Some(next));
                }
                left -= 1;
                shown = Shown { position, ..Shown::default() };
                if !context.output.is_json() && rows.is_none() {
                    print_head(context, record)?;
                }
            }
            if let Some(rows) = &mut rows {
                print_rows(context, rows, record)?;
                continue;
            }
            if context.output.is_json() {
                context.output.json(record.0)?;
                continue;
            }
            for change in changes {
                if is_short && shown.shown == CHANGES_SHOWN_MAX {
                    shown.hidden += 1;
                    continue;
                }
                shown.shown += 1;
                print(context, record, change)?;
            }
        }
        let next: Option<LogPlace> = Part(&page).optional("next").map(str::parse).transpose()?;
        after = next;
        is_unfinished = next.is_some_and(|next| next.changes.is_some() && next.position == shown.position);
        if is_unfinished && is_short && shown.shown == CHANGES_SHOWN_MAX {
            // Nobody reads the rest.
            (shown.is_cut, is_unfinished) = (true, false);
            after = Some(LogPlace { position: shown.position, changes: None });
        }
        if next.is_none() || (left == 0 && !is_unfinished && !hides_candidates) {
            shown.end(context)?;
            return end(context, rows, after);
        }
        context.output.flush()?;
    }
}

/// Prints how to get the next page.
fn end(context: &mut Context, rows: Option<AnswerRows>, after: Option<LogPlace>) -> Outcome {
    let after = after.map(|place| place.to_string());
    if let Some(rows) = rows {
        return rows.end(context, "--after", after.map(Json::from));
    }
    context.output.end_list();
    print_next(context, "--after", after)
}

/// Prints a row for each change of a record; one without changes has a row, too. In JSON a line is a record.
fn print_rows(context: &mut Context, rows: &mut AnswerRows, record: Part) -> Outcome {
    let is_of_record = |path: &str| OF_RECORDS.contains(&path);
    if rows.is_json() {
        let mut line = rows.copied(record.0, is_of_record);
        let changes = record.all("changes").map(|change| rows.copied(change.0, |path| !is_of_record(path)));
        let changes: Vec<Json> = changes.map(Json::Object).collect();
        if changes.iter().any(|change| change.as_object().is_some_and(|members| !members.is_empty())) {
            line.insert("changes".to_owned(), changes.into());
        }
        return json_line(context, &Json::Object(line));
    }
    let head = OF_RECORDS.map(|name| (name.to_owned(), record.of(name).0.clone()));
    let mut changes = record.all("changes").peekable();
    if changes.peek().is_none() {
        return rows.item(context, &Json::Object(head.into_iter().collect()));
    }
    for change in changes {
        let mut item = change.0.clone();
        if let Json::Object(members) = &mut item {
            members.extend(head.clone());
        }
        rows.item(context, &item)?;
    }
    Ok(())
}

fn print_head(context: &mut Context, record: Part) -> Outcome {
    let part = |mark: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{mark}{}", one_line(text)),
    };
    let (by, why) = (part(" by ", record.text("author")), part(": ", record.text("message")));
    context.output.line(format!("{}  {}{by}{why}", record.number("position"), record.text("instant")))
}

fn print(context: &mut Context, record: Part, change: Part) -> Outcome {
    let definition = change.of("definition");
    let (what, parts) = if change.optional("id").is_some() {
        (instance_text(change), parts(change, record.text("instant")))
    } else if let Some(name) = change.optional("collection") {
        (one_line(name), Vec::new())
    } else {
        (format!("{} {}", definition.text("kind"), one_line(definition.text("name"))), Vec::new())
    };
    filled(&format!("    {} {what}", change.text("action")), &parts)
        .into_iter()
        .try_for_each(|line| context.output.line(line))
}

/// The instance: type, id, ends, classification.
fn instance_text(instance: Part) -> String {
    let ends = instance.optional("from").zip(instance.optional("to"));
    let ends = ends.map(|(from, to)| format!(" ({from} -> {to})")).unwrap_or_default();
    let name = instance.optional("classification").map(|name| format!(" as {}", one_line(name)));
    let id = match instance.optional("path") {
        Some(path) => format!("{} ({})", one_line(path), instance.text("id")),
        None => instance.text("id").to_owned(),
    };
    format!("{} {id}{ends}{}", one_line(instance.text("type")), name.unwrap_or_default())
}

/// The changes, one part for each value.
fn parts(instance: Part, committed: &str) -> Vec<String> {
    let difference = instance.of("difference");
    let (verb, status) = (instance.text("action"), instance.text("status"));
    let mut parts = Vec::new();
    if instance.number("base") == 0 && status != "active" {
        parts.push(format!("@status = {}", one_line(status)));
    }
    // The verb says the status.
    let says_status = verb == "delete" || verb == "restore" && status == "active";
    let header = header_differences(difference).into_iter();
    let header = header.filter(|(name, _)| !(says_status && name == "@status"));
    parts.extend(header.map(|(name, [before, after])| {
        side_text(&name, Some(before).filter(|text| text != "(none)"), Some(after))
    }));
    parts.extend(property_texts(difference));
    for known in difference.all("classifications") {
        if instance.optional("classification") == Some(known.text("name")) {
            parts.extend(property_texts(known));
        } else {
            parts.push(classification_text(known));
        }
    }
    parts.extend(taken_text(instance));
    if instance.text("validFrom") != committed {
        parts.push(format!("valid from {}", instance.text("validFrom")));
    }
    parts
}

/// The instances that were deleted or restored with it.
fn taken_text(instance: Part) -> Option<String> {
    let counted = |number: u64, one: &str, several: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{} {several}", count(number))),
    };
    let items = counted(instance.number("containedCount"), "item below it", "items below it");
    let relationships = counted(instance.number("relationshipsCount"), "relationship", "relationships");
    let taken: Vec<String> = items.into_iter().chain(relationships).collect();
    (!taken.is_empty()).then(|| format!("with {}", taken.join(" and ")))
}

fn property_texts<'j>(difference: Part<'j>) -> impl Iterator<Item = String> + use<'j> {
    difference.of("properties").members().map(|(name, sides)| {
        let [before, after] = value_sides(Part(sides));
        side_text(&one_line(name), before, after)
    })
}

fn side_text(name: &str, before: Option<String>, after: Option<String>) -> String {
    let after = after.map_or_else(|| "(none)".to_owned(), |text| cut(&text));
    match before {
        Some(before) => format!("{name} {} -> {after}", cut(&before)),
        None => format!("{name} = {after}"),
    }
}

fn classification_text(known: Part) -> String {
    let name = one_line(known.text("name"));
    let properties: Vec<String> = property_texts(known).collect();
    match (known.is("isThere"), properties.is_empty()) {
        (false, _) => format!("-{name}"),
        (true, _) if known.is("wasThere") => format!("{name} ({})", properties.join(", ")),
        (true, true) => format!("+{name}"),
        (true, false) => format!("+{name} ({})", properties.join(", ")),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Fills lines with the start and the parts; a part that does not fit starts a new line.
fn filled(start: &str, parts: &[String]) -> Vec<String> {
    let mut lines = vec![start.to_owned()];
    for (index, part) in parts.iter().enumerate() {
        let (mark, comma) =
            (if index == 0 { ": " } else { " " }, if index + 1 < parts.len() { "," } else { "" });
        let line = lines.last_mut().expect("there is one");
        let length = [&**line, mark, part, comma].map(|text| text.chars().count()).iter().sum::<usize>();
        if length <= LINE_LENGTH_MAX {
            line.extend([mark, part, comma]);
            continue;
        }
        line.push_str(mark.trim_end());
        lines.push(format!("        {part}{comma}"));
    }
    lines
}

/// An instant, or a duration before now.
fn when(text: &str) -> Result<Instant> {
    let minutes = text.char_indices().next_back().and_then(|(end, unit)| {
        let number: i64 = text[..end].parse().ok().filter(|number| *number >= 0)?;
        let unit = match unit {
            'm' => 1,
            'h' => 60,
            'd' => 24 * 60,
            'w' => 7 * 24 * 60,
            _ => return None,
        };
        number.checked_mul(unit)
    });
    let instant = match minutes {
        Some(minutes) => minutes
            .checked_mul(60_000_000)
            .and_then(|micros| Instant::now().micros().checked_sub(micros))
            .and_then(|micros| Instant::from_micros(micros).ok()),
        None => text.parse().ok(),
    };
    instant.ok_or_else(|| {
        let text = format!(
            "{text:?}: expected an instant (2025-08-09T12:00:00Z), a date (2025-08-09), or how long ago (90m, 12h, 7d, 2w)"
        );
        Error::new(ErrorKind::InvalidArgument, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_go_to_the_next_line() {
        let start = "    update person ada";
        assert_eq!(filled(start, &[]), [start]);
        assert_eq!(filled(start, &["n 5 -> 9".into()]), ["    update person ada: n 5 -> 9"]);
        let part = |letter: &str| letter.repeat(30);
        let lines = filled(start, &["a", "b", "c"].map(part));
        let expected = [format!("{start}: {},", part("a")), format!("        {}, {}", part("b"), part("c"))];
        assert_eq!(lines, expected);
        assert_eq!(
            filled(start, &["d".repeat(90)]),
            [format!("{start}:"), format!("        {}", "d".repeat(90))]
        );
    }

    #[test]
    fn when_is_an_instant_a_date_or_how_long_ago() {
        assert_eq!(when("2025-08-09").unwrap(), when("2025-08-09T00:00:00Z").unwrap());
        let ago = |text: &str| {
            let then = when(text).unwrap();
            (Instant::now().micros() - then.micros()) / 60_000_000
        };
        assert_eq!(["90m", "12h", "7d", "2w"].map(ago), [90, 720, 10_080, 20_160]);
        for text in ["", "d", "-1d", "7x", "yesterday", "99999999999999w", "9999999999w", "7é"] {
            assert!(when(text).unwrap_err().to_string().contains("how long ago"), "{text}");
        }
    }
}
