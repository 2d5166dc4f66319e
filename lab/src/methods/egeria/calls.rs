//! The calls of Egeria's Performance Test Suite, and the row that each belongs to.

use std::path::Path;

use serde::Deserialize;

use super::super::row::{ROWS, Row};
use crate::outcome::Outcome;

/// The first line of the file of calls.
const HEADER: [&str; 6] = ["seq", "test", "method", "ns", "results", "outcome"];

/// One call of the suite to a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Call {
    /// Number of the call, from 0.
    pub seq: u64,
    /// The class of the suite that made it, or `-`.
    pub test: String,
    pub method: String,
    /// Units: nanoseconds.
    pub ns: u64,
    /// Returned elements; 0 if there is no result.
    pub results: u64,
    /// `ok`, or the name of the exception.
    pub outcome: String,
}

/// A test class of the suite.
struct Test {
    /// Tests of one phase take turns, type by type; a phase ends before the next one begins.
    phase: usize,
    name: &'static str,
    /// The profile of the published tables that its own calls belong to.
    profile: &'static str,
}

const fn test(phase: usize, name: &'static str, profile: &'static str) -> Test {
    Test { phase, name, profile }
}

/// In the place of the profile of a test that only searches for the input of others.
const LOOK_UPS: &str = "";

/// The tests in the order of the suite.
///
/// Source: `PerformanceWorkbench` of open-metadata-conformance-suite-server 3.5.
const TESTS: &[Test] = &[
    test(1, "TestEntityCreation", "Entity creation"),
    test(2, "TestEntitySearch", "Entity search"),
    test(3, "TestRelationshipCreation", "Relationship creation"),
    test(4, "TestRelationshipSearch", "Relationship search"),
    test(5, "TestEntityClassification", "Entity classification"),
    test(6, "TestClassificationSearch", "Classification search"),
    test(7, "TestEntityUpdate", "Entity update"),
    test(8, "TestRelationshipUpdate", "Relationship update"),
    test(9, "TestClassificationUpdate", "Classification update"),
    test(10, "TestEntityUndo", "Entity undo"),
    test(11, "TestRelationshipUndo", "Relationship undo"),
    test(12, "TestEntityRetrieval", "Entity retrieval"),
    test(12, "TestEntityHistoryRetrieval", "Entity history retrieval"),
    test(13, "TestRelationshipRetrieval", "Relationship retrieval"),
    test(13, "TestRelationshipHistoryRetrieval", "Relationship history retrieval"),
    test(14, "TestEntityHistorySearch", "Entity history search"),
    test(15, "TestRelationshipHistorySearch", "Relationship history search"),
    test(16, "TestGraphQueries", "Graph queries"),
    test(16, "TestGraphHistoryQueries", "Graph history queries"),
    test(17, "TestEntityReHome", "Entity re-home"),
    test(18, "TestRelationshipReHome", "Relationship re-home"),
    test(19, "TestEntityDeclassification", "Entity declassify"),
    // The base of the next three, which only looks up their input.
    test(20, "TestEntityRetype", LOOK_UPS),
    test(20, "TestEntityRetypeNullProperties", "Entity update"),
    test(21, "TestEntityRetypeSub", "Entity re-type"),
    test(22, "TestEntityRetypeSuper", "Entity re-type"),
    test(23, "TestRelationshipRetype", "Relationship re-type"),
    test(24, "TestEntityReIdentify", "Entity re-identify"),
    test(25, "TestRelationshipReIdentify", "Relationship re-identify"),
    test(26, "TestRelationshipDelete", "Relationship delete"),
    test(27, "TestEntityDelete", "Entity delete"),
    test(28, "TestEntityRestore", "Entity restore"),
    test(29, "TestRelationshipRestore", "Relationship restore"),
    // The purges delete what they purge, and their bases look it up.
    test(30, "TestRelationshipPurge", LOOK_UPS),
    test(30, "TestRelationshipPurgeSoft", "Relationship delete"),
    test(31, "TestRelationshipPurgeHard", "Relationship purge"),
    test(32, "TestEntityPurge", LOOK_UPS),
    test(32, "TestEntityPurgeSoft", "Entity delete"),
    test(33, "TestEntityPurgeHard", "Entity purge"),
];

impl Call {
    /// True if its time counts: it succeeded, and it is not a search without a result, which the suite leaves out.
    pub fn counts(&self) -> bool {
        let is_search = self.method.starts_with("find") || self.method == "getRelationshipsForEntity";
        self.outcome == "ok" && (self.results > 0 || !is_search)
    }

    /// True if the repository has no such method.
    pub fn is_unsupported(&self) -> bool {
        self.outcome == "FunctionNotSupportedException"
    }

    /// The number of its row; `None` if the published tables have none.
    pub fn row(&self) -> Option<usize> {
        row_of(&self.test, &self.method)
    }

    /// The phase of the suite that made it.
    pub fn phase(&self) -> Option<usize> {
        TESTS.iter().find(|test| test.name == self.test).map(|test| test.phase)
    }
}

/// The phase that makes the calls of this row; other phases may add some. `None` if the suite has no such row.
pub fn phase_of(number: usize) -> Option<usize> {
    let called = match ROWS[number].method {
        "nullPropertiesForEntities" => "updateEntityProperties",
        "reTypeEntitySub" | "reTypeEntitySuper" => "reTypeEntity",
        method => method,
    };
    let own =
        |test: &&Test| test.profile == ROWS[number].profile && row_of(test.name, called) == Some(number);
    TESTS.iter().find(own).map(|test| test.phase)
}

/// The number of the row with this profile and method, by the suite's names.
pub fn row_named(profile: &str, method: &str) -> Option<usize> {
    let profile = profile_named(profile);
    ROWS.iter().position(|row| row.profile == profile && row.method == method)
}

/// The rows of this profile, by the suite's name.
pub fn rows_of(profile: &str) -> impl Iterator<Item = usize> {
    let is_of = move |row: &Row| row.profile == profile_named(profile);
    (0..ROWS.len()).filter(move |number| is_of(&ROWS[*number]))
}

/// The published tables spell one profile in another way.
fn profile_named(profile: &str) -> &str {
    if profile == "Entity retype" { "Entity re-type" } else { profile }
}

fn row_of(test: &str, method: &str) -> Option<usize> {
    let (profile, method) = match (test, method) {
        // Searches for the input of a test belong to the searches.
        (_, "findEntitiesByClassification") => ("Classification search", method),
        (test, _) if method.starts_with("findEntities") && test.contains("History") => {
            ("Entity history search", method)
        }
        (_, _) if method.starts_with("findEntities") => ("Entity search", method),
        (test, _) if method.starts_with("findRelationships") && test.contains("History") => {
            ("Relationship history search", method)
        }
        (_, _) if method.starts_with("findRelationships") => ("Relationship search", method),
        ("TestEntityRetypeNullProperties", "updateEntityProperties") => {
            ("Entity update", "nullPropertiesForEntities")
        }
        ("TestEntityRetypeSub", "reTypeEntity") => ("Entity re-type", "reTypeEntitySub"),
        ("TestEntityRetypeSuper", "reTypeEntity") => ("Entity re-type", "reTypeEntitySuper"),
        _ => (TESTS.iter().find(|one| one.name == test)?.profile, method),
    };
    row_named(profile, method)
}

/// Reads the calls that a run of the suite has written.
///
/// Errors: name the file and the line.
pub fn read(path: &Path) -> Outcome<Vec<Call>> {
    let at = |line: u64, text: String| format!("{} line {line}: {text}", path.display());
    let reader = csv::Reader::from_path(path);
    let mut reader = reader.map_err(|error| format!("{}: {error}", path.display()))?;
    let header = reader.headers().map_err(|error| at(1, error.to_string()))?;
    if header != HEADER.as_slice() {
        let found: Vec<&str> = header.iter().collect();
        return Err(at(1, format!("expected {:?}, found {:?}", HEADER.join(","), found.join(","))).into());
    }
    let mut calls: Vec<Call> = Vec::new();
    for (line, call) in (2..).zip(reader.deserialize()) {
        let call: Call = call.map_err(|error| at(line, error.to_string()))?;
        if call.seq != calls.len() as u64 {
            return Err(at(line, format!("expected call {}, found call {}", calls.len(), call.seq)).into());
        }
        calls.push(call);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/methods/egeria/samples.csv")
    }

    fn number(name: &str) -> usize {
        ROWS.iter().position(|row| row.name() == name).unwrap()
    }

    #[test]
    fn each_row_has_a_phase_of_the_suite_except_annals_own() {
        let without: Vec<&str> =
            (0..ROWS.len()).filter(|row| phase_of(*row).is_none()).map(|row| ROWS[row].profile).collect();
        assert_eq!(without, ["Annals"]);
        let phases = [
            ("entity-creation-add-entity", 1),
            ("entity-update-update-entity-properties", 7),
            ("entity-update-null-properties-for-entities", 20),
            ("entity-re-type-re-type-entity-sub", 21),
            ("relationship-delete-delete-relationship", 26),
            ("relationship-purge-purge-relationship", 31),
            ("entity-purge-purge-entity-reference-copy", 33),
        ];
        for (name, phase) in phases {
            assert_eq!(phase_of(number(name)), Some(phase), "{name}");
        }
    }

    #[test]
    fn calls_of_a_real_run_belong_to_the_rows_that_the_suite_files_them_under() {
        let calls = read(&fixture()).unwrap();
        let rows = calls.iter().map(|call| {
            let row = call.row().map_or("-".to_owned(), |row| ROWS[row].name());
            format!(
                "{} {} {} {row}",
                call.test,
                call.method,
                if call.counts() { "counts" } else { "left out" }
            )
        });
        let rows: Vec<String> = rows.collect();
        for expected in EXPECTED {
            assert!(rows.iter().any(|row| row == expected), "{expected}: found {rows:#?}");
        }
        let mut seen: Vec<usize> = calls.iter().filter_map(Call::row).collect();
        seen.sort_unstable();
        seen.dedup();
        // The repository of this run has no updates to undo, and no related entities to link.
        let unseen: Vec<&str> =
            (0..ROWS.len()).filter(|row| !seen.contains(row)).map(|row| ROWS[row].method).collect();
        let expected =
            ["undoEntityUpdate", "undoRelationshipUpdate", "getLinkingEntities", "getLinkingEntities"];
        assert_eq!(unseen[..4], expected);
        assert_eq!(unseen.len(), 5, "{unseen:?}");
    }

    const EXPECTED: [&str; 9] = [
        "- findTypeDefsByCategory counts -",
        "TestRelationshipCreation findEntities counts entity-search-find-entities",
        "TestEntityUndo findEntities left out entity-search-find-entities",
        "TestEntityHistoryRetrieval findEntities counts entity-history-search-find-entities",
        "TestEntityHistoryRetrieval getEntityDetailHistory left out entity-history-retrieval-get-entity-detail-history",
        "TestGraphQueries getRelationshipsForEntity left out graph-queries-get-relationships-for-entity",
        "TestEntityRetypeNullProperties updateEntityProperties counts entity-update-null-properties-for-entities",
        "TestRelationshipRetype reTypeRelationship counts -",
        "TestEntityPurgeSoft deleteEntity counts entity-delete-delete-entity",
    ];

    #[test]
    fn a_bad_file_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples_ns.csv");
        let good = "seq,test,method,ns,results,outcome\n0,TestEntityCreation,addEntity,25000,1,ok\n";
        let bad = [
            ("seq,test,ns\n".to_owned(), "line 1: expected \"seq,test,method,ns,results,outcome\""),
            (format!("{good}1,TestEntityCreation,addEntity,fast,1,ok\n"), "line 3: "),
            (format!("{good}1,TestEntityCreation,addEn"), "line 3: "),
            (
                format!("{good}2,TestEntityCreation,addEntity,1,1,ok\n"),
                "line 3: expected call 1, found call 2",
            ),
        ];
        for (text, expected) in bad {
            std::fs::write(&path, &text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            let expected = format!("{} {expected}", path.display());
            assert!(error.starts_with(&expected), "{text:?}: {error}");
        }
        let missing = read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("none: "), "{missing}");
    }
}
