//! Exports, merges of earlier exports, and copies of the whole history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::storage::Store;
use annals::{ErrorKind, Instant, Options, Repository};
use annals_exchange::export::{Selection, export_history, export_jsonl};
use annals_exchange::import::{
    JsonlOptions, LineBounds, LoadOptions, Merge, MergeOptions, Missing, Report, Run, Summary, load_jsonl,
};
use annals_exchange::{Outcome, Stop};

use crate::rules::Rules;
use crate::see::{Name, Seen, of_snapshot};

/// The source of commit instants.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// An export, and the instances that it names.
pub struct Exported {
    text: Vec<u8>,
    /// By kind and id.
    pub named: BTreeMap<(bool, String), Seen>,
}

impl Exported {
    pub fn of(repository: &Repository) -> Exported {
        let snapshot = repository.snapshot();
        let mut text = Vec::new();
        export_jsonl(&snapshot, &Selection::default(), &mut text, &()).expect("it can be exported");
        let all = of_snapshot(repository, &snapshot);
        let named = all.into_iter().map(|((is_link, _, id), seen)| ((is_link, id), seen)).collect();
        Exported { text, named }
    }

    /// Merges it. A rule may refuse a deletion, and then the merge ends.
    pub fn merge(&self, repository: &Repository, is_deleting: bool) -> Result<Summary, ErrorKind> {
        let merge = Merge::new(MergeOptions { is_deleting, ..MergeOptions::default() });
        let run = Run::begin(repository);
        let missing = Missing {
            began_at: run.began_at,
            delete_max: "100%".parse().expect("a share"),
            option: "--delete-missing-max",
        };
        load(repository, ("export", false), &self.text, run, Some(merge), Some(missing)).map_err(|stop| {
            match stop {
                Stop::Failed(error) => error.kind(),
                stop => panic!("{stop:?}"),
            }
        })
    }

    /// Fails if the merge, which refused `refused_count` lines, did what it must not do.
    pub fn check(
        &self,
        before: &BTreeMap<Name, Seen>,
        after: &BTreeMap<Name, Seen>,
        summary: Summary,
        is_deleting: bool,
    ) -> Result<(), String> {
        for ((is_link, birth, id), seen) in before {
            let name = (*is_link, id.clone());
            let now = after.get(&(*is_link, *birth, id.clone()));
            match (now, self.named.contains_key(&name)) {
                (None, true) => return Err(format!("{name:?} is named and gone: {seen:?}")),
                (None, false) if !is_deleting => return Err(format!("{name:?} is gone")),
                (Some(now), false) if now != seen => {
                    return Err(format!("{name:?} is not named, and was {seen:?}, is {now:?}"));
                }
                _ => {}
            }
        }
        let known: BTreeSet<(bool, String)> =
            before.keys().map(|(is_link, _, id)| (*is_link, id.clone())).collect();
        for ((is_link, birth, id), seen) in after {
            let name = (*is_link, id.clone());
            // With a container, or a child, that is named, the relationship between the two returns.
            let places = seen.type_name == "contains"
                && seen.ends.iter().flatten().any(|(_, end)| self.named.contains_key(&(false, end.clone())));
            if !known.contains(&name) && !self.named.contains_key(&name) && !places {
                return Err(format!("{name:?} is not named, and is there again, born at {birth}: {seen:?}"));
            }
        }
        if summary.refused_count > 0 {
            return Ok(());
        }
        // Births of ends may be others: an end may be a new instance with the id.
        let ids = |seen: &Seen| seen.ends.as_ref().map(|ends| ends.each_ref().map(|(_, id)| id.clone()));
        for (name, seen) in &self.named {
            let now = after.iter().find(|((is_link, _, id), _)| (*is_link, id) == (name.0, &name.1));
            let Some((_, now)) = now else { return Err(format!("{name:?} is named and not there")) };
            // A merge leaves the properties that a line does not have as they are.
            let given = [(seen.fields.n, now.fields.n), (seen.fields.code, now.fields.code)];
            let has_numbers = given.iter().all(|(given, now)| given.is_none() || given == now);
            let has_bytes = seen.fields.stored.is_none_or(|byte| now.fields.stored == Some(byte));
            let has_name = seen.name.is_none() || seen.name == now.name;
            let is_same = now.type_name == seen.type_name && ids(now) == ids(seen);
            if !(is_same && has_numbers && has_bytes && has_name) {
                return Err(format!("{name:?} is named as {seen:?}, and is {now:?}"));
            }
        }
        Ok(())
    }
}

/// Loads lines of a file, from the beginning or as a run that goes on.
pub fn load(
    repository: &Repository,
    (name, is_resuming): (&str, bool),
    text: &[u8],
    run: Run,
    merge: Option<Merge>,
    missing: Option<Missing>,
) -> Outcome<Summary> {
    let options = LoadOptions {
        batch_changes: 5,
        batch_bytes_max: 1 << 20,
        author: String::new(),
        message: String::new(),
        check: None,
    };
    let mut report = Report::new(Arc::new(()), false);
    report.merge = merge;
    let file = JsonlOptions {
        load: &options,
        name,
        is_resuming,
        run,
        set_aside: Default::default(),
        valid_from: None,
        line_bounds: LineBounds::default(),
        plain: None,
        is_shared: false,
        is_resumable: true,
    };
    load_jsonl(repository, &mut report, text, file, &mut || {})?;
    if let Some(missing) = missing {
        missing.delete(repository, &options, &mut report)?;
    }
    report.finish();
    Ok(report.summary)
}

/// The live instances of a new repository with the whole history of this one.
pub fn copied(repository: &Repository, store: Arc<dyn Store>, clock: Clock) -> (BTreeMap<Name, Seen>, Rules) {
    let mut text = Vec::new();
    export_history(repository, repository.snapshot().position(), &mut text, &()).expect("it can be exported");
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { contents: Some(store), clock, ..Options::default() };
    let copy = Repository::open_with(folder.path().join("copy"), options).expect("it opens");
    let run = Run::begin(&copy);
    let summary = load(&copy, ("export", false), &text, run, None, None).expect("it loads");
    assert_eq!(summary.refused_count, 0);
    let snapshot = copy.snapshot();
    (of_snapshot(&copy, &snapshot), Rules::of(&snapshot))
}
