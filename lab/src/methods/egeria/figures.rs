//! The figure of each row, from the calls of the suite and from how the suite ended.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::super::row::ROWS;
use super::calls::{Call, phase_of, row_named, rows_of};
use crate::harness::Figure;
use crate::outcome::Outcome;

/// Longest text of a failure in a table. Units: characters.
const FAILURE_MAX: usize = 160;

/// How a run of the suite ended: the file `end.json`.
#[derive(Debug, Deserialize)]
pub struct End {
    /// Of Egeria and of Java.
    pub version: String,
    /// Settings that are not the defaults.
    pub settings: BTreeMap<String, String>,
    pub end: How,
    pub failures: Vec<Failure>,
}

/// How far the suite came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Through all its tests.
    All,
    /// As far as the budget allowed.
    Budget,
    /// As far as a failure that the suite does not survive.
    Stopped,
}

/// A failed assertion of the suite.
#[derive(Debug, Deserialize)]
pub struct Failure {
    pub profile: String,
    /// Empty if the suite does not name it.
    pub method: String,
    pub text: String,
}

impl End {
    /// Reads the file.
    ///
    /// Errors: name it.
    pub fn read(path: &Path) -> Outcome<End> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    /// The failures of a row: those of its method, and those of its profile that name no method with a row.
    fn failures_of(&self, number: usize) -> impl Iterator<Item = &Failure> {
        self.failures.iter().filter(move |failure| match row_named(&failure.profile, &failure.method) {
            Some(row) => row == number,
            None => rows_of(&failure.profile).any(|row| row == number),
        })
    }
}

/// The figures of all rows, in their order.
///
/// Units: milliseconds; `budget` counts seconds.
pub fn figures(calls: &[Call], end: &End, budget: u64) -> Outcome<Vec<Figure>> {
    let reached = calls.iter().filter_map(Call::phase).max().unwrap_or(0);
    let mut of_rows: Vec<Vec<&Call>> = ROWS.iter().map(|_| Vec::new()).collect();
    for call in calls {
        if let Some(number) = call.row() {
            of_rows[number].push(call);
        }
    }
    let figure = |(number, calls): (usize, &Vec<&Call>)| match state(number, calls, end, reached, budget) {
        Some(state) => Ok(Figure::state(state)),
        // As for Annals, the median of the calls that count.
        None => {
            let counted = calls.iter().filter(|call| call.counts()).map(|call| call.ns);
            Figure::of_calls(&counted.collect::<Vec<_>>(), 1e6)
        }
    };
    of_rows.iter().enumerate().map(figure).collect()
}

/// The state of a row that has no figure. `None` if its times count.
fn state(number: usize, calls: &[&Call], end: &End, reached: usize, budget: u64) -> Option<String> {
    let Some(phase) = phase_of(number) else {
        return Some("SKIP(not a row of the Performance Test Suite)".into());
    };
    let failed = |call: &&&Call| call.outcome != "ok" && !call.is_unsupported();
    let thrown = calls.iter().filter(failed).count();
    let assertions = end.failures_of(number).count();
    if thrown > 0 || assertions > 0 {
        let text = end.failures_of(number).next().map(|failure| failure.text.as_str());
        let text = text.or_else(|| calls.iter().find(failed).map(|call| call.outcome.as_str()));
        let text = shortened(text.unwrap_or_default());
        return Some(format!("ERR({} of {} calls failed: {text})", thrown.max(assertions), calls.len()));
    }
    // Other phases may have made some of its calls, but not all.
    if phase >= reached {
        match end.end {
            How::Budget => return Some(format!("DNF({budget} s)")),
            How::Stopped => return Some("ERR(the suite stopped before it was through with this row)".into()),
            How::All => {}
        }
    }
    if calls.iter().any(|call| call.counts()) {
        return None;
    }
    let reason = if calls.iter().any(|call| call.is_unsupported()) {
        "the repository does not support it"
    } else if calls.is_empty() {
        "the suite had nothing to call it with"
    } else {
        "no call had a result"
    };
    Some(format!("SKIP({reason})"))
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(FAILURE_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(test: &str, method: &str, ns: u64, results: u64, outcome: &str) -> Call {
        Call { seq: 0, test: test.into(), method: method.into(), ns, results, outcome: outcome.into() }
    }

    fn end(end: How, failures: Vec<Failure>) -> End {
        End { version: "3.5".into(), settings: BTreeMap::new(), end, failures }
    }

    /// The value in milliseconds, or the state.
    fn shown(figures: &[Figure], name: &str) -> String {
        let number = ROWS.iter().position(|row| row.name() == name).unwrap();
        let figure = &figures[number];
        figure
            .state
            .clone()
            .unwrap_or_else(|| format!("{} of {}", figure.value.unwrap(), figure.operations.unwrap()))
    }

    #[test]
    fn empty_searches_are_left_out_and_unsupported_methods_are_skipped() {
        let calls = [
            call("TestEntityCreation", "addEntity", 3_000_000, 1, "ok"),
            call("TestEntityCreation", "addEntity", 1_000_000, 1, "ok"),
            call("TestEntityCreation", "addEntity", 2_000_000, 1, "ok"),
            call("TestEntityCreation", "saveEntityReferenceCopy", 4_000_000, 0, "ok"),
            call("TestEntitySearch", "findEntities", 5_000_000, 2, "ok"),
            call("TestEntitySearch", "findEntities", 1, 0, "ok"),
            call("TestEntityUpdate", "findEntities", 5_000_000, 2, "ok"),
            call("TestRelationshipSearch", "findRelationships", 1, 0, "ok"),
            call(
                "TestEntityHistoryRetrieval",
                "getEntityDetailHistory",
                9,
                0,
                "FunctionNotSupportedException",
            ),
        ];
        let figures = figures(&calls, &end(How::All, Vec::new()), 60).unwrap();
        assert_eq!(figures.len(), ROWS.len());
        let expected = [
            ("entity-creation-add-entity", "2 of 3"),
            ("entity-creation-save-entity-reference-copy", "4 of 1"),
            ("entity-search-find-entities", "5 of 2"),
            ("relationship-search-find-relationships", "SKIP(no call had a result)"),
            (
                "entity-history-retrieval-get-entity-detail-history",
                "SKIP(the repository does not support it)",
            ),
            ("entity-purge-purge-entity", "SKIP(the suite had nothing to call it with)"),
        ];
        for (name, text) in expected {
            assert_eq!(shown(&figures, name), text, "{name}");
        }
        let own = figures.last().unwrap().state.as_deref();
        assert_eq!(own, Some("SKIP(not a row of the Performance Test Suite)"));
    }

    #[test]
    fn rows_that_the_budget_cut_are_no_figures_though_other_phases_called_them() {
        let calls = [
            call("TestEntityCreation", "addEntity", 1_000_000, 1, "ok"),
            call("TestEntitySearch", "findEntities", 2_000_000, 2, "ok"),
            call("TestEntityRetrieval", "isEntityKnown", 3_000_000, 1, "ok"),
            call("TestEntityHistoryRetrieval", "findEntities", 4_000_000, 2, "ok"),
        ];
        let cut = [
            "entity-retrieval-is-entity-known",
            "entity-history-retrieval-get-entity-detail",
            "entity-history-search-find-entities",
            "entity-purge-purge-entity",
        ];
        for (how, state) in [
            (How::Budget, "DNF(60 s)"),
            (How::Stopped, "ERR(the suite stopped before it was through with this row)"),
        ] {
            let figures = figures(&calls, &end(how, Vec::new()), 60).unwrap();
            for name in cut {
                assert_eq!(shown(&figures, name), state, "{name}");
            }
            assert_eq!(shown(&figures, "entity-creation-add-entity"), "1 of 1");
            assert_eq!(shown(&figures, "entity-search-find-entities"), "2 of 1");
        }
        // Nothing at all was called before the budget ended.
        let figures = figures(&[], &end(How::Budget, Vec::new()), 60).unwrap();
        assert_eq!(shown(&figures, "entity-creation-add-entity"), "DNF(60 s)");
    }

    #[test]
    fn a_failed_assertion_takes_the_figure_from_its_row() {
        let calls = [
            call("TestEntityCreation", "addEntity", 1_000_000, 1, "ok"),
            call("TestEntityCreation", "saveEntityReferenceCopy", 1_000_000, 0, "ok"),
            call("TestEntityUpdate", "updateEntityProperties", 1_000_000, 1, "ok"),
            call("TestEntityUpdate", "updateEntityProperties", 1_000_000, 0, "EntityNotKnownException"),
            call("TestEntityRetypeSub", "reTypeEntity", 1_000_000, 1, "ok"),
            call("TestEntityRetypeSuper", "reTypeEntity", 2_000_000, 1, "ok"),
        ];
        let failure = |profile: &str, method: &str, text: &str| Failure {
            profile: profile.into(),
            method: method.into(),
            text: text.into(),
        };
        let failures = vec![
            failure("Entity retype", "reTypeEntitySub", "wrong\ntype"),
            failure("Entity creation", "", &"x".repeat(500)),
        ];
        let figures = figures(&calls, &end(How::All, failures), 60).unwrap();
        let long = format!("ERR(1 of 1 calls failed: {}…)", "x".repeat(FAILURE_MAX));
        let expected = [
            ("entity-creation-add-entity", long.as_str()),
            ("entity-creation-save-entity-reference-copy", &long),
            ("entity-update-update-entity-properties", "ERR(1 of 2 calls failed: EntityNotKnownException)"),
            ("entity-re-type-re-type-entity-sub", "ERR(1 of 1 calls failed: wrong type)"),
            ("entity-re-type-re-type-entity-super", "2 of 1"),
        ];
        for (name, text) in expected {
            assert_eq!(shown(&figures, name), text, "{name}");
        }
    }

    #[test]
    fn an_end_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("end.json");
        let good =
            r#"{"version": "3.5", "settings": {"java flags": "-Xmx6g"}, "end": "budget", "failures": []}"#;
        std::fs::write(&path, good).unwrap();
        assert_eq!(End::read(&path).unwrap().end, How::Budget);
        std::fs::write(&path, good.replace("budget", "tired")).unwrap();
        let error = End::read(&path).unwrap_err().to_string();
        assert!(error.contains("end.json: unknown variant `tired`"), "{error}");
    }
}
