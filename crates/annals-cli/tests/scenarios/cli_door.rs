//! Scenarios through the command line: each step is a process of its own, or two if it also counts.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

use crate::support::{Server, program};
use crate::{Door, Outcome, WALK, is_tree_change};

/// A repository of its own, in a folder or behind a server.
pub struct CliDoor {
    folder: PathBuf,
    server: Option<Server>,
}

/// The answer of a command: its lines, and its error if it failed.
struct Done {
    lines: Vec<Json>,
    failure: Option<Failure>,
}

struct Failure {
    kind: String,
    text: String,
}

impl CliDoor {
    /// An empty repository: `apply` creates one.
    pub fn open(folder: &Path) -> CliDoor {
        let door = CliDoor { folder: folder.join("repository"), server: None };
        door.run(&["apply", "-"], "[]").one().unwrap();
        door
    }

    /// The same behind a server: no command has the folder.
    pub fn remote(folder: &Path) -> CliDoor {
        let server = Some(Server::start(&folder.join("served"), &[]));
        CliDoor { folder: folder.join("none"), server }
    }

    /// Runs `annals --json` with these arguments and this input.
    fn run<A: AsRef<str>>(&self, arguments: &[A], input: &str) -> Done {
        let mut child = Command::new(program())
            .arg("--json")
            .env("ANNALS_REPOSITORY", &self.folder)
            .env(
                "ANNALS_SERVER",
                self.server.as_ref().map_or_else(String::new, |one| format!("http://{}", one.address)),
            )
            .args(arguments.iter().map(AsRef::as_ref))
            .env("ANNALS_AUTHOR", "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // A command that refuses at once does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        let lines = String::from_utf8(stdout).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let failure = (!status.success()).then(|| {
            let error: Json = serde_json::from_str(stderr.lines().last().unwrap_or_default())
                .unwrap_or_else(|error| panic!("{error} in {stderr:?}"));
            let text = |name: &str| error["error"][name].as_str().unwrap().to_owned();
            assert_ne!(text("kind"), "usage", "the command line takes what scenarios ask for: {stderr}");
            Failure { kind: text("kind"), text: text("text") }
        });
        Done { lines, failure }
    }

    fn read(&self, arguments: Vec<String>) -> Done {
        self.run(&arguments, "")
    }

    fn commit(&self, step: &Json) -> Outcome {
        let operations = step["operations"].as_array().unwrap();
        let (arguments, input) = match &operations[..] {
            [one] if step["dryRun"] != true && classification(one).is_some() => {
                (classification(one).unwrap(), String::new())
            }
            _ => (words(["apply", "-"]), step["operations"].to_string()),
        };
        let mut arguments = [arguments, options(step, &["author", "message", "validFrom"])].concat();
        if step["dryRun"] == true {
            arguments.push("--dry-run".into());
        }
        self.run(&arguments, &input).one()
    }

    /// A part of the graph, from its lines.
    fn subgraph(&self, arguments: Vec<String>) -> Outcome {
        let lines = self.read(arguments).all()?;
        let (entities, relationships): (Vec<Json>, Vec<Json>) =
            lines.into_iter().partition(|line| line.get("entity").is_some());
        let relationships: Vec<Json> =
            relationships.into_iter().map(|line| line["relationship"].clone()).collect();
        Ok(json!({
            "entitiesCount": entities.len(),
            "relationshipsCount": relationships.len(),
            "entities": entities,
            "relationships": relationships,
        }))
    }

    /// A page, and how many there are on all pages if the step asks for it.
    fn counted_page(&self, step: &Json, arguments: &[String], paging: &[String]) -> Outcome {
        let mut page = self.read([arguments, paging].concat()).page()?;
        if step["count"] == true {
            let counted = self.read([arguments, &words(["--count"])].concat()).one()?;
            page["count"] = counted["count"].clone();
        }
        Ok(page)
    }

    fn change_tree(&self, step: &Json) -> Outcome {
        let text = |name: &str| step[name].as_str().unwrap_or_default();
        let mut arguments = match text("do") {
            "put-tree" => words(["put", text("path")]),
            "replace-tree" => words(["put", text("path"), "--replace"]),
            "merge-tree" => words(["put", text("path"), "--merge"]),
            "create-tree" => words(["put", text("path"), "--create"]),
            "insert-tree" => words(["insert", text("path"), "-"]),
            "delete-tree" => words(["rm", text("path")]),
            "remove-tree" => words(["rm", text("path"), "--force"]),
            "move-tree" => words(["mv", text("from"), text("to")]),
            "copy-tree" => words(["cp", text("from"), text("to")]),
            "revert-tree" => {
                let times =
                    ["to-position", "to", "to-valid-at"].into_iter().zip(["atPosition", "at", "validAt"]);
                let told = times.flat_map(|(option, name)| {
                    texts(&step[name]).into_iter().map(move |text| format!("--{option}={text}"))
                });
                words(["revert", text("path")]).into_iter().chain(told).collect()
            }
            "restore-tree" => [words(["restore", text("path")]), options(step, TIMES)].concat(),
            other => panic!("unknown step {other:?}"),
        };
        match step["insert"].as_str() {
            Some(place @ ("first" | "last")) => arguments.push(format!("--{place}")),
            Some(place) => arguments.push(format!("--{place}={}", text("sibling"))),
            None => {}
        }
        let input = match (step.get("value"), step.get("item")) {
            (Some(value), _) => {
                arguments.push(format!("--value={value}"));
                String::new()
            }
            (_, item) => item.cloned().unwrap_or_else(|| json!({})).to_string(),
        };
        arguments.extend(options(step, &["root"]));
        let done = self.run(&arguments, &input).one()?;
        Ok(json!({ "id": done["ids"][0], "position": done["position"] }))
    }

    fn read_tree(&self, step: &Json) -> Outcome {
        let path = step["path"].as_str().unwrap();
        let told = |names: &[&str]| options(step, &[names, &["root"], TIMES].concat());
        match step["do"].as_str().unwrap() {
            "get-tree" => {
                let ids = (step["ids"] == true).then(|| "--ids".to_owned());
                let arguments: Vec<String> = words(["cat", path]).into_iter().chain(ids).collect();
                match self.read([arguments, told(&["depth"])].concat()).one() {
                    Err(kind) if kind == "not-found" => Ok(Json::Null),
                    other => other.map(|found| json!({ "tree": found })),
                }
            }
            "list-tree" => {
                let back = (step["back"] == true).then(|| "--back".to_owned());
                let paging: Vec<String> = told(&["limit", "after"]).into_iter().chain(back).collect();
                let mut page = self.read([words(["ls", path]), paging].concat()).page()?;
                if step["count"] == true {
                    let counted = self.read([words(["ls", path, "--count"]), told(&[])].concat()).one()?;
                    page["count"] = counted["count"].clone();
                }
                Ok(page)
            }
            "find-tree" => self.read([words(["ls", "--find", path]), told(&["limit"])].concat()).items(),
            "diff-tree" => {
                let names = ["from", "fromPosition", "fromValidAt", "to", "toPosition", "toValidAt", "root"];
                self.read([words(["diff", path]), options(step, &names)].concat()).items()
            }
            "explain-tree" => self.read([words(["ls", "--explain", path]), told(&[])].concat()).one(),
            other => panic!("unknown step {other:?}"),
        }
    }

    fn find(&self, step: &Json) -> Outcome {
        let verb = step["do"].as_str().unwrap();
        let mut arguments = vec!["find".to_owned()];
        let of_text = ["only", "where", "orderBy", "classified", "type"];
        let is_text = |json: &Json| match json {
            Json::Array(parts) => parts.iter().all(Json::is_string),
            part => part.is_null() || part.is_string(),
        };
        if of_text.iter().all(|name| is_text(&step[*name])) && step["q"].is_null() {
            let types = texts(&step["type"]).join(", ");
            let only = texts(&step["only"]).join(", ");
            let types = if types.is_empty() { "*".to_owned() } else { types };
            arguments.push(if only.is_empty() { types } else { format!("{types} only {only}") });
            arguments.extend(texts(&step["where"]));
            arguments.extend(texts(&step["orderBy"]).iter().map(|key| format!("--order-by={key}")));
            arguments.extend(options(step, &["classified"]));
        } else {
            let names = ["q", "type", "only", "classified", "where", "orderBy"];
            let known = names.iter().filter_map(|name| Some(((*name).to_owned(), step.get(*name)?.clone())));
            arguments.push(Json::Object(known.collect()).to_string());
        }
        arguments.extend(texts(&step["status"]).iter().map(|name| format!("--status={name}")));
        arguments.extend(options(step, &["deleted", "limit", "offset", "after"]));
        arguments.extend(options(step, TIMES));
        if step["kind"] == "relationship" {
            arguments.push("--relationships".into());
        }
        if verb == "find" {
            return self.read(arguments).page();
        }
        if verb == "group" {
            let by = texts(&step["groupBy"]);
            arguments.extend((!by.is_empty()).then(|| format!("--group-by={}", by.join(","))));
            for aggregate in texts(&step["aggregate"]) {
                let (function, field) = aggregate.trim_end_matches(')').split_once('(').unwrap();
                arguments.push(format!("--{function}={field}"));
            }
            let mut groups = self.read(arguments).all()?;
            let mut totals = groups.pop().unwrap();
            totals["groups"] = groups.into();
            return Ok(totals);
        }
        arguments.push(format!("--{verb}"));
        self.read(arguments).one()
    }
}

impl Door for CliDoor {
    fn perform(&mut self, step: &Json) -> Outcome {
        let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
        let verb = text("do");
        let of_instance = |command: &str| {
            let mut arguments = words([command, &text("id")]);
            if step["kind"] == "relationship" {
                arguments.push("--relationship".into());
            }
            [arguments, options(step, TIMES)].concat()
        };
        let of_entity = |command: &str, names: &[&str]| {
            [words([command, &text("id")]), options(step, &[names, TIMES].concat())].concat()
        };
        let of_two = |command: &str, names: &[&str]| {
            let arguments = words([command, &text("from"), &text("to")]);
            [arguments, options(step, &[names, TIMES].concat())].concat()
        };
        match verb.as_str() {
            "commit" => self.commit(step),
            "get" => match self.read(of_instance("get")).one() {
                Err(kind) if ["not-found", "deleted"].contains(&kind.as_str()) => Ok(Json::Null),
                other => other,
            },
            "version" => {
                let number = words(["--version", &step["number"].to_string()]);
                self.read([of_instance("get"), number].concat()).one()
            }
            "history" => {
                let flags = [("oldestFirst", "--oldest-first"), ("content", "--content")];
                let flags = flags.iter().filter(|(name, _)| step[*name] == true);
                let mut arguments = of_instance("history");
                arguments.extend(flags.map(|(_, flag)| (*flag).to_owned()));
                arguments.extend(options(step, &["from", "to", "limit"]));
                self.read(arguments).page()
            }
            "difference" => {
                let versions = words([&step["from"].to_string(), &step["to"].to_string()]);
                self.read([of_instance("diff"), versions].concat()).one()
            }
            "changes" => {
                let positions = [step["from"].to_string(), step["to"].to_string()];
                let arguments = words(["diff", "--positions", &positions[0], &positions[1]]);
                self.read([arguments, options(step, TIMES)].concat()).items()
            }
            "neighbors" => {
                let mut arguments = of_entity("neighbors", &["type", "limit", "after"]);
                arguments.extend(words(["--direction", step["direction"].as_str().unwrap_or("out")]));
                self.read(arguments).page()
            }
            "degree" => {
                let mut arguments = of_entity("neighbors", &["type"]);
                arguments.extend(words(["--count", "--direction"]));
                arguments.push(step["direction"].as_str().unwrap_or("out").into());
                self.read(arguments).one().map(|counted| json!({ "degree": counted["count"] }))
            }
            "reach" => self.read(of_entity("reach", WALK)).items(),
            "groups" => {
                let groups = self.read(of_entity("reach", &[WALK, &["groupBy", "limit"]].concat())).all();
                let mut groups = groups?;
                let mut totals = groups.pop().unwrap();
                totals["groups"] = groups.into();
                Ok(totals)
            }
            "path" => match self.read(of_two("path", WALK)).paths()?.pop() {
                Some(mut path) => {
                    path["found"] = true.into();
                    Ok(path)
                }
                None => Ok(json!({ "found": false, "start": null, "steps": [] })),
            },
            "paths" => {
                let mut arguments = of_two("path", &[WALK, &["weight"]].concat());
                arguments.push(format!("--count={}", step["limit"].as_u64().unwrap_or(10)));
                Ok(json!({ "items": self.read(arguments).paths()? }))
            }
            "relationships" => {
                let arguments = of_entity("relationships", &["direction", "types", "statuses", "orderBy"]);
                self.counted_page(step, &arguments, &options(step, &["skip", "limit", "after"]))
            }
            "related" => {
                let arguments = of_entity("related", &[WALK, &["orderBy"]].concat());
                let mut paging = options(step, &["limit"]);
                paging.extend(step.get("after").map(|after| format!("--skip={after}")));
                self.counted_page(step, &arguments, &paging)
            }
            "neighborhood" => self.subgraph(of_entity("neighborhood", WALK)),
            "linking" => self.subgraph(of_two("linking", WALK)),
            "shared" => self.read(of_two("shared", WALK)).items(),
            "types" => {
                let names = [&["typeKind", "externalId"], TIMES].concat();
                self.read([words(["types"]), options(step, &names)].concat()).items()
            }
            "verify-type" => {
                let arguments = [words(["types", "verify", "-"]), options(step, TIMES)].concat();
                let done = self.run(&arguments, &step["definition"].to_string());
                // The command prints missing and conflicting parts, and then fails.
                match done.failure {
                    Some(failure) if done.lines.is_empty() => Err(failure.kind),
                    _ => Ok(done.lines[0].clone()),
                }
            }
            "find" | "count" | "explain" | "group" => self.find(step),
            verb if is_tree_change(verb) => self.change_tree(step),
            verb if verb.ends_with("-tree") => self.read_tree(step),
            other => panic!("unknown step {other:?}"),
        }
    }
}

impl Done {
    /// Its lines, if it did not fail.
    fn all(self) -> Result<Vec<Json>, String> {
        match self.failure {
            Some(failure) => Err(failure.kind),
            None => Ok(self.lines),
        }
    }

    /// Its one line.
    fn one(self) -> Outcome {
        let mut lines = self.all()?;
        assert_eq!(lines.len(), 1, "{lines:?}");
        Ok(lines.remove(0))
    }

    /// Its lines as a list.
    fn items(self) -> Outcome {
        let items = self.all()?;
        Ok(json!({ "count": items.len(), "items": items, "next": null }))
    }

    /// Its lines as a page: the last one may say where the next page begins.
    fn page(self) -> Outcome {
        let mut items = self.all()?;
        let next = items.pop_if(|last| last.get("next").is_some());
        Ok(json!({ "items": items, "next": next.map(|next| next["next"].clone()) }))
    }

    /// Its lines as paths. That there is none is a failure of the command, as of `grep`.
    fn paths(self) -> Result<Vec<Json>, String> {
        match &self.failure {
            Some(failure) if failure.text.starts_with("no path from") => Ok(Vec::new()),
            _ => self.all(),
        }
    }
}

const TIMES: &[&str] = &["atPosition", "at", "validAt"];

/// `annals classify` or `annals declassify`, if that is what the operation does.
fn classification(operation: &Json) -> Option<Vec<String>> {
    let fields = operation.as_object()?;
    let command = match operation["action"].as_str()? {
        "classify" | "reclassify" => "classify",
        "declassify" => "declassify",
        _ => return None,
    };
    let known = ["action", "id", "classification", "properties", "patch"];
    let named = fields.get("properties").or_else(|| fields.get("patch"));
    if fields.keys().any(|name| !known.contains(&name.as_str()))
        || named.is_some_and(|named| !named.is_object())
    {
        return None;
    }
    let mut arguments = words([command, operation["id"].as_str()?, operation["classification"].as_str()?]);
    let pairs = named.and_then(Json::as_object).into_iter().flatten();
    arguments.extend(pairs.map(|(name, value)| format!("{name}={value}")));
    if operation["action"] == "reclassify" {
        arguments.push("--update".into());
    }
    Some(arguments)
}

/// Members of a step as options: `depthMax` as `--depth-max`, lists as repeated options.
fn options(step: &Json, names: &[&str]) -> Vec<String> {
    let mut options = Vec::new();
    for name in names {
        let option = match *name {
            "types" => "type".into(),
            "entityTypes" => "entity-type".into(),
            "statuses" => "status".into(),
            "typeKind" => "kind".into(),
            name => with_hyphens(name),
        };
        options.extend(texts(&step[*name]).iter().map(|text| format!("--{option}={text}")));
    }
    options
}

fn with_hyphens(name: &str) -> String {
    let one = |letter: char| match letter.is_ascii_uppercase() {
        true => format!("-{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    };
    name.chars().map(one).collect()
}

fn texts(json: &Json) -> Vec<String> {
    match json {
        Json::Null => Vec::new(),
        Json::Array(parts) => parts.iter().flat_map(texts).collect(),
        Json::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}
