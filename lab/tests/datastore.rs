//! Tests the output of `datastore` for other programs: every row at every size on every target.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::Value as Json;

fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals-lab"));
    command.arg("datastore").args(arguments).arg("--folder").arg(folder.path()).output().unwrap()
}

#[test]
fn a_quick_run_has_an_object_for_each_row_size_and_target() {
    let output = run(&["--quick", "--json", "--target", "embedded,file", "--items", "10,30"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let objects: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 22 * 2 * 2);
    let what = |object: &Json| ["target", "row", "items"].map(|name| object[name].to_string());
    assert_eq!(objects.iter().map(what).collect::<BTreeSet<_>>().len(), objects.len());
    for object in &objects {
        assert!(object["medianUs"].as_f64().is_some_and(|median| median > 0.0), "{object}");
    }
}

#[test]
fn a_row_that_is_not_there_is_refused_with_those_that_are() {
    let output = run(&["--quick", "--row", "get three"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && errors.contains("--row get three: expected one of get tree, get item")
    );
    let output = run(&["--items", "3"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 is not in 10..=1000000"));
}
