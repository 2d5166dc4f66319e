//! The folder of a run: `run.json`, `records.jsonl`, and the logs of the cells.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::record::{CellRecord, Record, Run};
use crate::outcome::Outcome;
use crate::run::WRONG_ANSWER;

/// The records of a run so far.
pub struct Results {
    pub folder: PathBuf,
    pub run: Run,
    pub records: Vec<Record>,
}

impl Results {
    /// Begins a run in a new folder.
    ///
    /// Errors: if the folder holds a run already.
    pub fn create(folder: &Path, run: Run) -> Outcome<Results> {
        let path = folder.join("run.json");
        fs::create_dir_all(folder.join("logs")).map_err(at(folder))?;
        if path.exists() {
            let text = format!("{}: holds a run already; go on with it by --resume", folder.display());
            return Err(text.into());
        }
        replace(&path, &serde_json::to_string_pretty(&run)?)?;
        let records = folder.join("records.jsonl");
        File::create_new(&records).map_err(at(&records))?;
        Ok(Results { folder: folder.to_owned(), run, records: Vec::new() })
    }

    /// Reads a run from its folder, or a kept one from its file. A line that was cut off at the end is left out.
    pub fn read(folder: &Path) -> Outcome<Results> {
        if folder.is_file() {
            return super::kept::read(folder);
        }
        let run = read_run(folder)?;
        let path = folder.join("records.jsonl");
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |(number, line): (usize, &str)| {
            let place = || format!("{}, line {}", path.display(), number + 1);
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", place()))
        };
        let records = whole.lines().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Results { folder: folder.to_owned(), run, records })
    }

    /// Adds repeats to a run; [`Results::go_on`] writes it down.
    ///
    /// Errors: if the run has more repeats already.
    pub fn set_repeats(&mut self, repeats: usize) -> Outcome<()> {
        if repeats < self.run.repeats {
            let (folder, before) = (self.folder.display(), self.run.repeats);
            return Err(format!("{folder}: has {before} repeats; --repeat can only add to them").into());
        }
        self.run.repeats = repeats;
        Ok(())
    }

    /// Drops what the run has of a target; [`Results::go_on`] does it in the file.
    ///
    /// Errors: if the target is none of the run, or is measured beside another one.
    pub fn forget(&mut self, target: &str) -> Outcome<()> {
        let names: Vec<&str> = self
            .run
            .targets
            .iter()
            .filter(|known| known.beside.is_none())
            .map(|known| known.name.as_str())
            .collect();
        if !names.contains(&target) {
            return Err(format!("target {target:?} of the run: expected one of {}", names.join(", ")).into());
        }
        let beside = |name: &str| self.run.targets.iter().find(|known| known.name == name)?.beside.clone();
        let is_other = |name: &str| name != target && beside(name).is_none_or(|host| host != target);
        self.records.retain(|record| match record {
            Record::Target(told) => is_other(&told.target),
            Record::Skip(skip) => is_other(&skip.target),
            Record::Figure(figure) => is_other(&figure.target),
            Record::Cell(cell) => is_other(&cell.target),
        });
        Ok(())
    }

    /// Goes on with a run: keeps the figures of cells that have ended, so that the others can be measured again, and the
    /// doubts about what is measured from now on. In the files too. `installed` are targets that are no longer skipped.
    pub fn go_on(&mut self, doubts: Vec<String>, installed: &[&str]) -> Outcome<()> {
        self.run.doubts.extend(doubts);
        self.records.retain(|record| match record {
            Record::Skip(skip) => !(skip.rows.is_empty() && installed.contains(&skip.target.as_str())),
            _ => true,
        });
        replace(&self.folder.join("run.json"), &serde_json::to_string_pretty(&self.run)?)?;
        self.drop_unfinished()
    }

    fn drop_unfinished(&mut self) -> Outcome<()> {
        let ended: HashSet<(String, String, usize)> = self.ended().collect();
        let beside = |name: &str| self.run.targets.iter().find(|target| target.name == name)?.beside.as_ref();
        self.records.retain(|record| match record {
            Record::Figure(figure) => {
                let host = beside(&figure.target).unwrap_or(&figure.target);
                ended.contains(&(host.clone(), figure.part.clone(), figure.repeat))
            }
            _ => true,
        });
        let mut text = String::new();
        for record in &self.records {
            text += &serde_json::to_string(record)?;
            text.push('\n');
        }
        replace(&self.folder.join("records.jsonl"), &text)
    }

    /// The cells that have ended: target, part and repeat.
    pub fn ended(&self) -> impl Iterator<Item = (String, String, usize)> {
        self.cells().map(|cell| (cell.target.clone(), cell.part.clone(), cell.repeat))
    }

    /// The ends of all cells.
    pub fn cells(&self) -> impl Iterator<Item = &CellRecord> {
        self.records.iter().filter_map(|record| match record {
            Record::Cell(cell) => Some(cell),
            _ => None,
        })
    }

    /// The targets of which an answer was wrong.
    pub fn wrong(&self) -> BTreeSet<String> {
        let is_wrong = |text: &str| text.contains(WRONG_ANSWER);
        let of = |record: &Record| match record {
            Record::Cell(cell) if is_wrong(&cell.outcome) => Some(cell.target.clone()),
            Record::Figure(figure) if figure.state.as_deref().is_some_and(is_wrong) => {
                Some(figure.target.clone())
            }
            _ => None,
        };
        self.records.iter().filter_map(of).collect()
    }

    /// Adds a record unless it is there. Of what a target says of itself, the first stays: each cell says it again.
    pub fn add_once(&mut self, record: Record) -> Outcome<()> {
        let is_there = self.records.iter().any(|known| match (known, &record) {
            (Record::Target(known), Record::Target(told)) => known.target == told.target,
            _ => *known == record,
        });
        if is_there { Ok(()) } else { self.add(record) }
    }

    /// Adds a record, to the file at once.
    pub fn add(&mut self, record: Record) -> Outcome<()> {
        let path = self.folder.join("records.jsonl");
        let mut file = OpenOptions::new().append(true).open(&path).map_err(at(&path))?;
        let line = serde_json::to_string(&record)? + "\n";
        file.write_all(line.as_bytes()).map_err(at(&path))?;
        self.records.push(record);
        Ok(())
    }
}

/// Replaces a file in one step, so that a crash leaves the old one or the new one.
fn replace(path: &Path, text: &str) -> Outcome<()> {
    let new = path.with_extension("new");
    fs::write(&new, text).map_err(at(&new))?;
    fs::rename(&new, path).map_err(at(path))?;
    Ok(())
}

/// The newest run of each suite below a folder. One that cannot be read is named on standard error.
pub fn newest_runs(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut newest: BTreeMap<String, (String, PathBuf)> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry?.path();
        if !path.join("run.json").is_file() {
            continue;
        }
        match read_run(&path) {
            Ok(Run { suite, started, .. }) => {
                let found = (started, path);
                let kept = newest.entry(suite).or_insert_with(|| found.clone());
                if *kept < found {
                    *kept = found;
                }
            }
            Err(error) => eprintln!("left out: {error}"),
        }
    }
    Ok(newest.into_values().map(|(_, path)| path).collect())
}

/// The run in a folder.
fn read_run(folder: &Path) -> Outcome<Run> {
    let path = folder.join("run.json");
    let text = fs::read_to_string(&path).map_err(at(&path))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::super::record::{Figure, Form, TargetName};
    use super::super::target::Kind;
    use super::*;

    #[test]
    fn a_figure_stays_if_the_cell_that_measured_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str, beside: Option<&str>| TargetName {
            name: name.into(),
            title: name.into(),
            target_kind: Kind::Ours,
            beside: beside.map(str::to_owned),
            against: None,
        };
        let run = Run {
            suite: "limits".into(),
            title: String::new(),
            text: String::new(),
            subject: None,
            rows: Vec::new(),
            form: Form::RowsDown,
            targets: vec![target("annals", None), target("limit", Some("annals")), target("disk", None)],
            volumes: Vec::new(),
            parts: Vec::new(),
            repeats: 2,
            is_quick: true,
            started: String::new(),
            command: String::new(),
            environment: Vec::new(),
            sync_us: None,
            doubts: Vec::new(),
            unfair: Vec::new(),
        };
        let mut results = Results::create(&folder.path().join("run"), run).unwrap();
        let figure = |target: &str, repeat| {
            let (target, part) = (target.to_owned(), "get".to_owned());
            Record::Figure(Box::new(Figure { target, part, repeat, ..Figure::of(1.0) }))
        };
        let end = CellRecord {
            target: "annals".into(),
            part: "get".into(),
            repeat: 0,
            outcome: "ok".into(),
            seconds: 1.0,
            cpu_seconds: 1.0,
            memory_bytes_max: 1,
            disk_bytes: 1,
        };
        for record in [figure("annals", 0), figure("limit", 0), Record::Cell(end), figure("disk", 0)] {
            results.add(record).unwrap();
        }
        results.add(figure("limit", 1)).unwrap();
        let error = results.set_repeats(1).unwrap_err().to_string();
        assert!(error.contains("has 2 repeats; --repeat can only add"), "{error}");
        results.set_repeats(3).unwrap();
        results.go_on(vec!["later".into()], &[]).unwrap();
        let read = Results::read(&results.folder).unwrap();
        assert_eq!((read.run.repeats, read.run.doubts), (3, vec!["later".to_owned()]));
        let kept: Vec<(String, usize)> = read
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Figure(figure) => Some((figure.target.clone(), figure.repeat)),
                _ => None,
            })
            .collect();
        assert_eq!(kept, [("annals".to_owned(), 0), ("limit".to_owned(), 0)]);
        let error = results.forget("limit").unwrap_err().to_string();
        assert!(error.contains("expected one of annals, disk"), "{error}");
        results.forget("annals").unwrap();
        assert_eq!(results.records, [], "what is measured beside a target goes with it");
    }
}
