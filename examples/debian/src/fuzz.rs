//! Checks the import of any releases: no panic, every package there or refused by its line, a sound repository.

use std::collections::HashMap;
use std::io::Write;

use annals::{Id, Position, Repository};
use annals_exchange::import::fuzz::{Imported, assert_sound, create, files, import};
use annals_exchange::import::{Loader, Run};

use crate::packages::{PackageReader, compare_versions};
use crate::{Survey, load_debian};

/// Imports the files of a case as releases of Debian, one after the other; then the last one again.
pub fn import_debian(case: &[u8]) {
    let repository = create();
    for file in files(case) {
        let told = import_release(&repository, file);
        if told.ended.is_some() {
            // A file without any package is refused before anything is written.
            continue;
        }
        let mut latest: HashMap<String, String> = HashMap::new();
        for package in PackageReader::new(file) {
            match package.expect("bytes in memory can be read") {
                Err(refused) => assert!(told.refused.contains(&refused.line), "{refused} is not told"),
                Ok(package) => {
                    let held = latest.get(&package.name);
                    if held.is_none_or(|held| compare_versions(&package.version, held).is_gt()) {
                        latest.insert(package.name, package.version);
                    }
                }
            }
        }
        assert!(told.refused.iter().all(|&line| line > 0), "what is gone could not be deleted");
        if told.refused.is_empty() {
            assert_release(&repository, &latest);
            let position = repository.snapshot().position();
            let again = import_release(&repository, file);
            // Only the marks that stand around a release are written again.
            let marked = Position(position.0 + MARKS);
            assert_eq!((again.summary.changes_count, repository.snapshot().position()), (0, marked));
        }
    }
    assert_sound(&repository);
}

/// Records that stand around a release: one at its beginning, one at its end.
const MARKS: u64 = 2;

fn import_release(repository: &Repository, file: &[u8]) -> Imported {
    // A release is read three times, so it has to be a file.
    let mut place = tempfile::NamedTempFile::new().expect("a place for a small file");
    place.write_all(file).expect("room for a small file");
    // Without an empty line behind it the last stanza counts as cut.
    place.write_all(b"\n\n").expect("room for two bytes");
    import(repository, |load, report| {
        let mut loader = Loader::new(repository, load, report, "fuzz", Run::default());
        let survey = Survey::read(place.path(), u64::MAX, &())?;
        load_debian(&mut loader, repository, place.path(), None, survey, false)
    })
}

/// Every package of the release is there in its latest version, and no other.
fn assert_release(repository: &Repository, latest: &HashMap<String, String>) {
    let snapshot = repository.snapshot();
    let found = annals::Find::of("package").limit(latest.len() + 1);
    let found = snapshot.find_entities(&found).expect("packages are found").items;
    assert_eq!(found.len(), latest.len());
    for (name, version) in latest {
        let id = Id::new(&format!("package:{name}")).expect("the release was imported whole");
        let entity = snapshot.entity(&id).expect("it can be read").expect("the package is there");
        assert_eq!(entity.property("version"), Some(annals::Value::from(version.as_str())));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_kept_case_is_imported_or_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let mut cases: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        cases.sort();
        assert!(!cases.is_empty());
        for case in cases {
            eprintln!("{}", case.display());
            import_debian(&std::fs::read(case).unwrap());
        }
    }

    // A tag with a control character was refused while its package was written; looking for the relationships of
    // a package that was not there then ended the import, and what the stanza shared with others was never written.
    #[test]
    fn a_name_that_can_be_no_id_refuses_its_own_stanza_alone() {
        let stanza =
            |name: &str, more: &str| format!("Package: {name}\nVersion: 1\nArchitecture: all\n{more}\n");
        let file = [
            stanza("bad", "Section: admin\nTag: a\u{1f}::b\n"),
            stanza("leaning", "Depends: bad\n"),
            stanza("sharing", "Section: admin\n"),
        ];
        let repository = create();
        let told = import_release(&repository, file.concat().as_bytes());
        assert_eq!((told.ended, told.refused), (None, BTreeSet::from([1])));
        let latest = ["leaning", "sharing"].map(|name| (name.to_owned(), "1".to_owned()));
        assert_release(&repository, &HashMap::from(latest));
    }
}
