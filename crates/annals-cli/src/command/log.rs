//! `annals log`: who changed what, when and why, with the values before and after.

use annals::{
    Action, ClassificationDifference, Error, ErrorKind, Id, Instant, LogPlace, LogQuery, LoggedChange,
    LoggedInstance, LoggedRecord, Position, PropertyDifference, Result, TypeKind, Value,
};
use annals_exchange::text::{count, one_line, value_to_text};
use annals_json::logged_record_to_json;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::diff::header_differences;
use super::listing::{BATCH_ITEMS_MAX, print_next};
use crate::context::Context;
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
}

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

/// Prints the records.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = repository.snapshot();
    let kind = |name: &String| TypeKind::ALL.into_iter().find(|kind| kind.name() == name);
    let mut query = LogQuery {
        author: arguments.author.as_deref().map(Into::into),
        type_name: arguments.type_name.as_deref().map(Into::into),
        id: arguments.id.clone(),
        kind: arguments.kind.as_ref().and_then(kind),
        verb: arguments.verb.as_deref().map(Into::into),
        since: arguments.since,
        until: arguments.until,
        is_oldest_first: arguments.oldest_first,
        after: arguments.after,
        ..LogQuery::default()
    };
    let is_short = !arguments.all && !context.output.is_json();
    let hides_candidates = is_short && arguments.hides_candidates();
    let mut shown = Shown::default();
    // The page before printed the head of this record with its first changes.
    if let Some(LogPlace { position, changes: Some(_) }) = query.after {
        shown.position = position;
    }
    let (mut left, mut is_unfinished) = (arguments.limit, false);
    // A page may end early, because it looks at a bounded number of records, or within a record; so the command prints
    // pages until the end.
    loop {
        let limit = match hides_candidates {
            true => BATCH_ITEMS_MAX,
            false => left.max(usize::from(is_unfinished)).min(BATCH_ITEMS_MAX),
        };
        let page = snapshot.log(&LogQuery { limit, ..query.clone() })?;
        for record in &page.records {
            let is_seen = |change: &&LoggedChange| !hides_candidates || !is_of_candidate(change);
            let changes: Vec<&LoggedChange> = record.changes.iter().filter(is_seen).collect();
            // A record without changes, because all that it changed is purged, is shown.
            if changes.is_empty() && !record.changes.is_empty() {
                continue;
            }
            if shown.position != record.position {
                shown.end(context)?;
                if left == 0 {
                    let next = LogPlace { position: shown.position, changes: None };
                    context.output.end_list();
                    return print_next(context, "--after", Some(next.to_string()));
                }
                left -= 1;
                shown = Shown { position: record.position, ..Shown::default() };
                if !context.output.is_json() {
                    print_head(context, record)?;
                }
            }
            if context.output.is_json() {
                context.output.json(&logged_record_to_json(record))?;
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
        query.after = page.next;
        is_unfinished =
            page.next.is_some_and(|next| next.changes.is_some() && next.position == shown.position);
        if is_unfinished && is_short && shown.shown == CHANGES_SHOWN_MAX {
            // Nobody reads the rest.
            (shown.is_cut, is_unfinished) = (true, false);
            query.after = Some(LogPlace { position: shown.position, changes: None });
        }
        if page.next.is_none() || (left == 0 && !is_unfinished && !hides_candidates) {
            shown.end(context)?;
            context.output.end_list();
            return print_next(context, "--after", query.after.map(|next| next.to_string()));
        }
        context.output.flush()?;
    }
}

fn is_of_candidate(change: &LoggedChange) -> bool {
    matches!(change, LoggedChange::Instance(instance) if &*instance.type_name == CANDIDATE_TYPE)
}

fn print_head(context: &mut Context, record: &LoggedRecord) -> Outcome {
    let part = |mark: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{mark}{}", one_line(text)),
    };
    let (by, why) = (part(" by ", &record.author), part(": ", &record.message));
    context.output.line(format!("{}  {}{by}{why}", record.position, record.instant))
}

fn print(context: &mut Context, record: &LoggedRecord, change: &LoggedChange) -> Outcome {
    let (what, parts) = match change {
        LoggedChange::Instance(instance) => (instance_text(instance), parts(instance, record.instant)),
        LoggedChange::Type(definition) => {
            (format!("{} {}", definition.kind.name(), one_line(&definition.name)), Vec::new())
        }
        LoggedChange::Collection(name) => (one_line(name), Vec::new()),
    };
    filled(&format!("    {} {what}", change.verb()), &parts)
        .into_iter()
        .try_for_each(|line| context.output.line(line))
}

/// The instance: type, id, ends, classification.
fn instance_text(instance: &LoggedInstance) -> String {
    let ends = instance.ends.as_ref().map(|[from, to]| format!(" ({from} -> {to})")).unwrap_or_default();
    let name = instance.classification.as_ref().map(|name| format!(" as {}", one_line(name)));
    let id = match &instance.path {
        Some(path) => format!("{} ({})", one_line(&path.to_string()), instance.id.id()),
        None => instance.id.id().to_string(),
    };
    format!("{} {id}{ends}{}", one_line(&instance.type_name), name.unwrap_or_default())
}

/// The changes, one part for each value.
fn parts(instance: &LoggedInstance, committed: Instant) -> Vec<String> {
    let difference = &instance.difference;
    let mut parts = Vec::new();
    if instance.base == 0 && &*instance.status != "active" {
        parts.push(format!("@status = {}", one_line(&instance.status)));
    }
    // The verb says the status.
    let says_status =
        instance.verb == "delete" || instance.verb == "restore" && &*instance.status == "active";
    let header = header_differences(difference).into_iter();
    let header = header.filter(|(name, _)| !(says_status && name == "@status"));
    parts.extend(header.map(|(name, [before, after])| {
        side_text(&name, Some(before).filter(|text| text != "(none)"), Some(after))
    }));
    parts.extend(difference.properties.iter().map(property_text));
    for known in &difference.classifications {
        if instance.classification.as_ref() == Some(&known.name) {
            parts.extend(known.properties.iter().map(property_text));
        } else {
            parts.push(classification_text(known));
        }
    }
    parts.extend(taken_text(instance));
    if instance.valid_from != committed {
        parts.push(format!("valid from {}", instance.valid_from));
    }
    parts
}

/// The instances that were deleted or restored with it.
fn taken_text(instance: &LoggedInstance) -> Option<String> {
    let counted = |number: usize, one: &str, several: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{} {several}", count(number as u64))),
    };
    let items = counted(instance.contained_count, "item below it", "items below it");
    let relationships = counted(instance.relationships_count, "relationship", "relationships");
    let taken: Vec<String> = items.into_iter().chain(relationships).collect();
    (!taken.is_empty()).then(|| format!("with {}", taken.join(" and ")))
}

fn property_text(property: &PropertyDifference) -> String {
    let side = |value: &Option<Value>| value.as_ref().map(value_to_text);
    side_text(&one_line(&property.name), side(&property.before), side(&property.after))
}

fn side_text(name: &str, before: Option<String>, after: Option<String>) -> String {
    let after = after.map_or_else(|| "(none)".to_owned(), |text| cut(&text));
    match before {
        Some(before) => format!("{name} {} -> {after}", cut(&before)),
        None => format!("{name} = {after}"),
    }
}

fn classification_text(known: &ClassificationDifference) -> String {
    let name = one_line(&known.name);
    let properties: Vec<String> = known.properties.iter().map(property_text).collect();
    match (known.is_there, properties.is_empty()) {
        (false, _) => format!("-{name}"),
        (true, _) if known.was_there => format!("{name} ({})", properties.join(", ")),
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
