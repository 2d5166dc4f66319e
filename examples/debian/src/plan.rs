//! Decides, before anything is written, which releases of Debian are loaded: in the order of time, each once, and
//! none that would delete most of what is there.
//!
//! The log marks each import: a record without changes before the first change of a release, whose message
//! ends with `[release 2023-06-10T00:00:00Z crc32 1a2b3c4d bytes 123 begun]`, and one behind the last change, which
//! says `finished` and how many stanzas were refused.

use annals::action;
use std::collections::HashSet;

use annals::{Action, Error, ErrorKind, Find, Instant, Position, Repository, Result, Snapshot};
use annals_exchange::text::count;
use annals_exchange::{Outcome, Progress, Stop};

use crate::survey::{Content, Names, Survey};

const START: &str = "[release ";
const PACKAGES_PAGE: usize = 10_000;

/// A release on the command line.
pub struct Candidate<'s> {
    /// The file, for messages.
    pub name: String,
    /// Its date; `None` is now.
    pub date: Option<Instant>,
    /// Its packages and content, by one reading of its file.
    pub survey: &'s Survey,
}

/// The step for a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is imported already.
    Skip {
        /// How many stanzas were refused.
        refused_count: u64,
    },
    /// It is loaded.
    Load {
        /// True if a mark says already that it was begun, and no other release was since.
        is_begun: bool,
    },
}

/// The mark of a release in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its date.
    pub date: Instant,
    /// Its content.
    pub content: Content,
    /// How many stanzas were refused, if it was loaded to its end.
    pub finished: Option<u64>,
}

impl Mark {
    /// The message of the record, behind what the user has to say.
    pub fn message(&self, message: &str) -> String {
        let gap = if message.is_empty() { "" } else { " " };
        let Content { crc32, bytes } = self.content;
        let state = match self.finished {
            None => "begun".to_owned(),
            Some(refused_count) => format!("finished refused {refused_count}"),
        };
        format!("{message}{gap}{START}{} crc32 {crc32:08x} bytes {bytes} {state}]", self.date)
    }

    fn read(message: &str) -> Option<Mark> {
        let (_, mark) = message.strip_suffix(']')?.rsplit_once(START)?;
        let words: Vec<&str> = mark.split(' ').collect();
        let [date, "crc32", crc32, "bytes", bytes, state @ ..] = &words[..] else { return None };
        let finished = match state {
            ["begun"] => None,
            ["finished", "refused", number] => Some(number.parse().ok()?),
            _ => return None,
        };
        let content = Content { crc32: u32::from_str_radix(crc32, 16).ok()?, bytes: bytes.parse().ok()? };
        Some(Mark { date: date.parse().ok()?, content, finished })
    }
}

/// Checks the dates of one command line.
///
/// Errors: `FutureInstant`; `InvalidArgument` if they do not rise.
pub fn check_dates(releases: &[(String, Option<Instant>)]) -> Result<()> {
    let now = Instant::now();
    let mut latest: Option<(&str, Instant)> = None;
    for (name, date) in releases {
        let date = date.unwrap_or(now);
        if date > now {
            let text = format!("{name}: expected a release date that is not in the future, found {date}");
            return Err(Error::new(ErrorKind::FutureInstant, text));
        }
        if let Some((before, latest)) = latest.filter(|(_, latest)| date <= *latest) {
            let text = format!(
                "{name}: expected releases in the order of their dates as DATE=FILE, found {date} behind {latest} \
                 of {before}"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        latest = Some((name, date));
    }
    Ok(())
}

/// The steps for all releases, in their order.
///
/// Errors: a date before that of a release that is there; a release that would delete more than half of the packages,
/// unless `is_shrinking` allows it.
pub fn plan(
    repository: &Repository,
    releases: &[Candidate],
    is_shrinking: bool,
    progress: &dyn Progress,
) -> Outcome<Vec<Step>> {
    let marks = read_marks(repository, progress)?;
    let mut steps = Vec::new();
    let mut live: Option<HashSet<Box<str>>> = None;
    for release in releases {
        let step = step(&marks, release)?;
        steps.push(step);
        if let Step::Skip { .. } = step {
            continue;
        }
        let held = match live.take() {
            Some(held) => held,
            None => live_packages(&repository.snapshot())?,
        };
        live = Some(packages_after(release, held, is_shrinking)?);
    }
    Ok(steps)
}

fn step(marks: &[Mark], release: &Candidate) -> Result<Step> {
    let content = release.survey.content;
    let Some(last) = marks.last() else { return Ok(Step::Load { is_begun: false }) };
    let Some(date) = release.date else {
        let is_there = last.content == content && last.finished == Some(0);
        return Ok(if is_there { Step::Skip { refused_count: 0 } } else { Step::Load { is_begun: false } });
    };
    let latest = marks.iter().map(|mark| mark.date).max().unwrap_or(date);
    let is_same = |mark: &&Mark| mark.date == date && mark.content == content;
    let finished = marks.iter().rev().filter(is_same).find_map(|mark| mark.finished);
    match finished {
        Some(refused_count) if date < latest => Ok(Step::Skip { refused_count }),
        // Stanzas that were refused may be accepted now, so the latest release is tried again.
        Some(0) if is_same(&last) => Ok(Step::Skip { refused_count: 0 }),
        _ if date < latest => {
            let text = format!(
                "{}: expected a release not older than the latest that is there, of {latest}; found {date}",
                release.name
            );
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
        _ => Ok(Step::Load { is_begun: is_same(&last) }),
    }
}

/// The packages that are live behind a release.
fn packages_after(
    release: &Candidate,
    mut held: HashSet<Box<str>>,
    is_shrinking: bool,
) -> Outcome<HashSet<Box<str>>> {
    let names: &Names = &release.survey.names;
    if release.survey.refused_count > 0 {
        held.extend(names.keys().cloned());
        return Ok(held);
    }
    let gone_count = held.iter().filter(|name| !names.contains_key(&**name)).count();
    if gone_count * 2 > held.len() && !is_shrinking {
        let text = format!(
            "{}: it would delete {} of {} packages; if that is right, say --allow-shrink; nothing was written",
            release.name,
            count(gone_count as u64),
            count(held.len() as u64),
        );
        return Err(Stop::Refused(Error::new(ErrorKind::InvalidArgument, text)));
    }
    Ok(names.keys().cloned().collect())
}

fn live_packages(snapshot: &Snapshot) -> Result<HashSet<Box<str>>> {
    let mut held = HashSet::new();
    let mut find = Find::of("package").limit(PACKAGES_PAGE);
    loop {
        let page = snapshot.find_entities(&find)?;
        let names = page.items.iter().map(|entity| entity.id().to_string());
        held.extend(names.map(|id| id.strip_prefix("package:").unwrap_or(&id).into()));
        match page.next {
            Some(next) => find.after = Some(next),
            None => return Ok(held),
        }
    }
}

/// The marks in the order of the log, which is read as a whole.
fn read_marks(repository: &Repository, progress: &dyn Progress) -> Result<Vec<Mark>> {
    let tail = repository.snapshot().position();
    let mut marks = Vec::new();
    let mut follow = repository.follow(Position(0));
    while let Some((position, record)) = follow.poll()? {
        // The message of a record with changes is from a user, and no mark.
        if record.changes.iter().all(|change| change.action == Action::Void(action::Void)) {
            marks.extend(Mark::read(&record.message));
        }
        progress.set(position.0, Some(tail.0));
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_as_written() {
        for finished in [None, Some(0), Some(7)] {
            let content = Content { crc32: 0xabc, bytes: 12 };
            let mark = Mark { date: "2023-06-10".parse().unwrap(), content, finished };
            for message in ["", "why [release x]"] {
                assert_eq!(Mark::read(&mark.message(message)), Some(mark));
            }
        }
        assert_eq!(Mark::read("[release 2023-06-10T00:00:00Z crc32 0 bytes 1 begun more]"), None);
    }
}
