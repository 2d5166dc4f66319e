//! Runs every file of `scenarios/` through the Rust API, through HTTP and through the command line. `scenarios/README.md` describes the format.

mod support;

mod scenarios {
    pub mod cli_door;
    pub mod http_door;
    pub mod matching;
    pub mod rust_door;
}

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use scenarios::cli_door::CliDoor;
use scenarios::http_door::HttpDoor;
use scenarios::matching::check;
use scenarios::rust_door::RustDoor;
use serde_json::{Value as Json, json};

/// The members of a step that walks.
pub const WALK: &[&str] = &[
    "direction",
    "types",
    "entityTypes",
    "classified",
    "entityWhere",
    "relationshipWhere",
    "statuses",
    "depthMin",
    "depthMax",
    "visitedMax",
];

/// The outcome of a step: a JSON result, or the kind of an error.
pub type Outcome = Result<Json, String>;

/// Something that scenarios can be run through.
pub trait Door {
    /// Does one step. A get of what is not there gives `null`.
    fn perform(&mut self, step: &Json) -> Outcome;
}

/// True for the steps that change a tree: each is called as the action of its operation.
pub fn is_tree_change(verb: &str) -> bool {
    verb.ends_with("-tree")
        && !["get-tree", "list-tree", "find-tree", "explain-tree", "diff-tree"].contains(&verb)
}

/// The operation of a step that changes a tree.
pub fn tree_operation(step: &Json) -> Json {
    let names =
        ["path", "item", "value", "from", "to", "insert", "sibling", "root", "atPosition", "at", "validAt"];
    let mut operation = json!({ "action": step["do"] });
    for name in names {
        if let Some(member) = step.get(name) {
            operation[name] = member.clone();
        }
    }
    operation
}

#[test]
fn every_scenario_holds_through_the_rust_api() {
    for (path, scenario) in scenario_files() {
        let folder = tempfile::tempdir().unwrap();
        run(&path, &scenario, &mut RustDoor::open(folder.path()));
    }
}

#[test]
fn every_scenario_holds_through_http() {
    for (path, scenario) in scenario_files() {
        let folder = tempfile::tempdir().unwrap();
        run(&path, &scenario, &mut HttpDoor::open(folder.path()));
    }
}

#[test]
fn every_scenario_holds_through_the_command_line() {
    for (path, scenario) in part_of_scenario_files() {
        let folder = tempfile::tempdir().unwrap();
        run(&path, &scenario, &mut CliDoor::open(folder.path()));
    }
}

#[test]
fn every_scenario_holds_through_the_command_line_and_a_server() {
    for (path, scenario) in part_of_scenario_files() {
        let folder = tempfile::tempdir().unwrap();
        run(&path, &scenario, &mut CliDoor::remote(folder.path()));
        assert!(!folder.path().join("none").exists(), "{}: a command wrote a folder", path.display());
    }
}

fn scenario_files() -> Vec<(PathBuf, Json)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 15, "expected at least 15 scenarios, found {}", paths.len());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, json)
    };
    paths.into_iter().map(read).collect()
}

/// The part that `ANNALS_PART` says, such as `1/4`: each fourth file, from the second one on. All of them without it.
fn part_of_scenario_files() -> Vec<(PathBuf, Json)> {
    let text = std::env::var("ANNALS_PART").unwrap_or_else(|_| String::from("0/1"));
    let numbers =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    let (part, parts): (usize, usize) = numbers
        .filter(|(part, parts)| part < parts)
        .unwrap_or_else(|| panic!("ANNALS_PART={text}: expected 1/4"));
    scenario_files().into_iter().skip(part).step_by(parts).collect()
}

fn run(path: &Path, scenario: &Json, door: &mut dyn Door) {
    let mut saved: BTreeMap<String, Json> = BTreeMap::new();
    for (index, step) in scenario["steps"].as_array().expect("a scenario has steps").iter().enumerate() {
        let place = format!("{} step {} {step}", path.display(), index + 1);
        let step = filled(step, &saved);
        if let Some(pages) = step.get("pages") {
            assert_eq!(&read_pages(door, &step, &place), pages, "{place}");
            continue;
        }
        let outcome = door.perform(&step);
        match (&outcome, step.get("error"), step.get("absent")) {
            (Err(kind), Some(expected), _) => assert_eq!(kind, expected, "{place}"),
            (Ok(Json::Null), None, Some(_)) => {}
            (Ok(result), None, None) => {
                if let Err(difference) = check(step.get("expect").unwrap_or(&json!({})), result) {
                    panic!("{place}: {difference} in {result}");
                }
            }
            _ => panic!("{place}: found {outcome:?}"),
        }
        for (name, member) in step.get("save").and_then(Json::as_object).into_iter().flatten() {
            let value = &outcome.as_ref().expect("only results are saved")[member.as_str().unwrap()];
            saved.insert(name.clone(), value.clone());
        }
    }
}

/// The step with saved values in the place of texts like `{name}`.
fn filled(json: &Json, saved: &BTreeMap<String, Json>) -> Json {
    match json {
        Json::String(text) => {
            let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            name.and_then(|name| saved.get(name)).cloned().unwrap_or_else(|| json.clone())
        }
        Json::Array(items) => items.iter().map(|item| filled(item, saved)).collect(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), filled(value, saved))).collect()
        }
        other => other.clone(),
    }
}

/// Follows `next` to the end.
///
/// Shape: the ids on each page.
fn read_pages(door: &mut dyn Door, step: &Json, place: &str) -> Json {
    let mut pages = Vec::new();
    let mut step = step.clone();
    loop {
        let page = door.perform(&step).unwrap_or_else(|kind| panic!("{place}: {kind}"));
        let id = |item: &Json| match item {
            neighbor if neighbor.get("relationship").is_some() => neighbor["relationship"]["id"].clone(),
            reached if reached.get("entity").is_some() => reached["entity"]["id"].clone(),
            item => item["id"].clone(),
        };
        pages.push(page["items"].as_array().unwrap().iter().map(id).collect::<Json>());
        match &page["next"] {
            Json::Null => return pages.into(),
            next => step["after"] = next.clone(),
        }
    }
}
