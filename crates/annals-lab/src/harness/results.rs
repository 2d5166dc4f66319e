//! The folder of a run: `run.json`, `records.jsonl`, and the logs of the cells.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::record::{Record, Run};
use crate::outcome::Outcome;

/// What a run has measured so far.
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
        fs::write(&path, serde_json::to_string_pretty(&run)?).map_err(at(&path))?;
        let records = folder.join("records.jsonl");
        File::create_new(&records).map_err(at(&records))?;
        Ok(Results { folder: folder.to_owned(), run, records: Vec::new() })
    }

    /// Reads a run. A line that was cut off at the end is left out.
    pub fn read(folder: &Path) -> Outcome<Results> {
        let path = folder.join("run.json");
        let run = fs::read_to_string(&path).map_err(at(&path))?;
        let run = serde_json::from_str(&run).map_err(|error| format!("{}: {error}", path.display()))?;
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

    /// Keeps only figures of cells that have ended, in the file too, so that the others can be measured again.
    pub fn drop_unfinished(&mut self) -> Outcome<()> {
        let ended: HashSet<(String, String, usize)> = self.ended().collect();
        self.records.retain(|record| match record {
            Record::Figure(figure) => {
                ended.contains(&(figure.target.clone(), figure.part.clone(), figure.repeat))
            }
            _ => true,
        });
        let path = self.folder.join("records.jsonl");
        let new = self.folder.join("records.new");
        let mut text = String::new();
        for record in &self.records {
            text += &serde_json::to_string(record)?;
            text.push('\n');
        }
        fs::write(&new, text).map_err(at(&new))?;
        fs::rename(&new, &path).map_err(at(&path))?;
        Ok(())
    }

    /// The cells that have ended: target, part and repeat.
    pub fn ended(&self) -> impl Iterator<Item = (String, String, usize)> {
        self.records.iter().filter_map(|record| match record {
            Record::Cell(cell) => Some((cell.target.clone(), cell.part.clone(), cell.repeat)),
            _ => None,
        })
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

/// The newest run of each suite below a folder, by the names of the runs, which begin with the suite and its start.
pub fn newest_runs(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut newest: std::collections::BTreeMap<String, PathBuf> = std::collections::BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((suite, _)) = name.split_once('-')
            && path.join("run.json").is_file()
        {
            let kept = newest.entry(suite.to_owned()).or_insert_with(|| path.clone());
            if *kept < path {
                *kept = path;
            }
        }
    }
    Ok(newest.into_values().collect())
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}
