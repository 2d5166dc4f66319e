//! Proves that what was acknowledged survives `kill -9`.
//!
//! `acknowledged write FOLDER` commits from eight threads for ever and prints the id of every entity whose commit was
//! acknowledged. Kill it whenever you like. `acknowledged verify FOLDER LIST` opens the repository again and looks
//! for every id of the list.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use annals::{Id, NewEntity, NewRelationship, Repository, Result};

const THREADS: usize = 8;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", folder] => write(folder),
        ["verify", folder, list] => verify(folder, list),
        _ => {
            eprintln!("usage: acknowledged write FOLDER | acknowledged verify FOLDER LIST");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &str) -> Result<()> {
    let repository = Repository::open(folder)?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| grow_chain(&repository))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })
}

/// Each commit adds an entity and links it to the one before; only then is its id printed.
fn grow_chain(repository: &Repository) -> Result<()> {
    let mut before: Option<Id> = None;
    loop {
        let (id, _receipt) = repository.transact(|t| {
            let id = t.create_entity(NewEntity::new("link"))?;
            if let Some(before) = &before {
                t.create_relationship(NewRelationship::new("follows", id.clone(), before.clone()))?;
            }
            Ok(id)
        })?;
        // One write for the whole line, so that a kill cannot leave half an id followed by another.
        if std::io::stdout().write_all(format!("{id}\n").as_bytes()).is_err() {
            return Ok(());
        }
        before = Some(id);
    }
}

fn verify(folder: &str, list: &str) -> Result<()> {
    let repository = Repository::open(folder)?;
    let snapshot = repository.snapshot();
    let file = std::fs::File::open(list).map_err(|source| annals::Error::io("open the list", source))?;
    let (mut found, mut missing) = (0, 0);
    for line in std::io::BufReader::new(file).lines() {
        let line = line.map_err(|source| annals::Error::io("read the list", source))?;
        // The last line may be cut by the kill.
        if line.len() == 36 {
            match snapshot.entity(&Id::new(&line)?)? {
                Some(_) => found += 1,
                None => missing += 1,
            }
        }
    }
    let report = repository.check()?;
    println!(
        "{found} acknowledged commits found, {missing} missing; {} entities and {} relationships in {} records; \
         check found {} differences",
        report.entities_count,
        report.relationships_count,
        report.records_count,
        report.differences.len()
    );
    if missing > 0 || found == 0 || !report.is_clean() {
        return Err(annals::Error::new(annals::ErrorKind::Corrupted, "something acknowledged was lost"));
    }
    Ok(())
}
