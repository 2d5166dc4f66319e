//! Reopening with a checkpoint and from the log alone, beside reading the same files.

use std::path::Path;

use annals::Repository;

use crate::dataset::Dataset;
use crate::report::{Line, Report, time};
use crate::{Limits, Outcome};

pub fn measure(limits: &Limits, dataset: Dataset, report: &mut Report) -> Outcome<()> {
    if !limits.wants("reopen") {
        return Ok(());
    }
    let Dataset { repository, path, ids, edges } = dataset;
    let elements = (ids.len() + edges.len()) as f64;
    let expected = (repository.snapshot().entities_count(), repository.snapshot().relationships_count());
    let (taken, elapsed) = time(|| repository.checkpoint());
    taken?;
    let mut add = |name: &str, value: f64, unit, limit, limit_name, bar| {
        report.add(Line { name: name.into(), value, unit, limit, limit_name, bar });
    };
    add("reopen-checkpoint-taken", elapsed.as_secs_f64(), "s", None, "", None);
    repository.close()?;

    let checkpoints = path.join("checkpoints");
    let (read, limit) = time(|| read_all(&checkpoints));
    let bytes = read?;
    add("reopen-checkpoint-bytes", bytes as f64 / elements, "bytes/element", None, "", None);
    let seconds = reopen(&path, expected)?;
    let bar = (!limits.quick).then(|| ("at most 5 s".into(), seconds <= 5.0));
    add("reopen-checkpoint", seconds, "s", Some(limit.as_secs_f64()), "reading the same files", bar);

    std::fs::remove_dir_all(&checkpoints)?;
    let (read, limit) = time(|| read_all(&path.join("log")));
    read?;
    let seconds = reopen(&path, expected)?;
    add("reopen-log", seconds, "s", Some(limit.as_secs_f64()), "reading the same files", None);
    add("reopen-log-rate", elements / seconds, "elements/s", None, "", None);
    Ok(())
}

fn reopen(path: &Path, expected: (u64, u64)) -> Outcome<f64> {
    let (repository, elapsed) = time(|| Repository::open(path));
    let repository = repository?;
    let snapshot = repository.snapshot();
    assert_eq!(repository.warnings(), Vec::<String>::new());
    assert_eq!((snapshot.entities_count(), snapshot.relationships_count()), expected, "nothing is lost");
    drop(snapshot);
    repository.close()?;
    Ok(elapsed.as_secs_f64())
}

fn read_all(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += std::fs::read(entry?.path())?.len() as u64;
    }
    Ok(bytes)
}
