//! Walks tables of requests: sends each one, and compares its answers without a parameter and with it.
//!
//! A paragraph is requests in order, one a line: `METHOD target (header: value) body`. Indented lines are about the
//! request above them. In all of them `{name}` stands for a value that is known by this name, and `{id}` for an id that
//! each paragraph, or each trial of a case, has for itself. A line that ends with `\` goes on in the next one.
//!
//! | line | what it says |
//! |---|---|
//! | `define name` | a line `name` in later paragraphs stands for the lines of this paragraph |
//! | `for name: a \| b` | the paragraph holds for each value; of several such lines the values go together |
//! | `case` | each trial makes the requests again; the last one is tried |
//! | `anew` | a case, and each trial has a server of its own |
//! | `write` | a case, with the parameters of every write that the operation lists |
//! | `name := /pointer` | the value at a JSON pointer of the answer gets this name |
//! | `waits` | the read waits for a position |
//! | `pages` | the answer has pages, by `limit` and `after` |
//! | `lines` | the answer can be read as lines, too |
//! | `selector  a` | what [`Door::select`] finds in the answer |
//! | `parameter=value  selector  a \| b` | it is `a` without the parameter, and `b` with it |
//! | `parameter=value  target  selector  a \| b` | the same in the answer of a later `GET` |
//! | `parameter=value  selector  b` | the request is sent with the parameter only |

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::door::{Door, Request, ids, items};
use super::writing::check_write;
use crate::support::Answer;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Once,
    Case,
    Anew,
    Write,
}

struct Step<'t> {
    request: &'t str,
    checks: Vec<&'t str>,
}

impl Door {
    /// Walks a table. Shape of `values`: `[(name, value)]`, known to all of it.
    pub fn walk(&mut self, table: &str, values: &[(&str, &str)]) {
        for (name, value) in values {
            self.know(name, value);
        }
        let table = table.replace("\\\n", "");
        let mut defined: Vec<(&str, Vec<&str>)> = Vec::new();
        for paragraph in table.split("\n\n") {
            let mut lines: Vec<&str> = Vec::new();
            for line in paragraph.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                match defined.iter().find(|(name, _)| *name == line) {
                    Some((_, known)) => lines.extend(known),
                    None => lines.push(line),
                }
            }
            match lines.first().and_then(|line| line.strip_prefix("define ")) {
                Some(name) => defined.push((name, lines[1..].to_vec())),
                None => self.repeat(&lines),
            }
        }
    }

    /// Walks a paragraph once, or once for each value of its first lines.
    fn repeat(&mut self, lines: &[&str]) {
        let repeated = lines.iter().map_while(|line| line.strip_prefix("for ")?.split_once(':'));
        let repeated: Vec<(&str, Vec<&str>)> =
            repeated.map(|(name, values)| (name, values.split('|').map(str::trim).collect())).collect();
        let lines = &lines[repeated.len()..];
        let counts: BTreeSet<usize> = repeated.iter().map(|(_, values)| values.len()).collect();
        assert!(counts.len() <= 1, "expected as many values in each line, found {repeated:?}");
        for index in 0..repeated.first().map_or(1, |(_, values)| values.len()) {
            for (name, values) in &repeated {
                self.know(name, values[index]);
            }
            self.walk_lines(lines);
        }
    }

    fn walk_lines(&mut self, lines: &[&str]) {
        let mut kind = Kind::Once;
        let mut steps: Vec<Step> = Vec::new();
        for line in lines {
            match *line {
                "case" => kind = Kind::Case,
                "anew" => kind = Kind::Anew,
                "write" => kind = Kind::Write,
                line if line.starts_with(' ') => steps.last_mut().unwrap().checks.push(line.trim()),
                request => steps.push(Step { request, checks: Vec::new() }),
            }
        }
        if kind == Kind::Once {
            let id = self.id();
            self.know("id", &id);
            steps.iter().for_each(|step| self.step(step));
            return;
        }
        let Some((last, before)) = steps.split_last() else { return };
        let prepare = |door: &mut Door, id: &str| {
            door.know("id", id);
            before.iter().for_each(|step| door.step(step));
            door.request(last.request)
        };
        if kind == Kind::Write {
            check_write(self, &prepare);
        } else {
            assert!(!last.checks.is_empty(), "expected a line with a parameter below {}", last.request);
        }
        for check in &last.checks {
            self.check(check, kind == Kind::Anew, &|door| {
                let id = door.id();
                prepare(door, &id)
            });
        }
    }

    /// A request that is made once, and its checks. Without checks it must be accepted.
    fn step(&mut self, step: &Step) {
        let request = self.request(step.request);
        let is_of_answer = |check: &&&str| check.contains(" := ") || columns(check).len() == 2;
        let (of_answer, of_parameters): (Vec<&str>, Vec<&str>) =
            step.checks.iter().partition(|check| is_of_answer(check));
        assert!(of_answer.is_empty() || of_parameters.is_empty(), "{:?}: {:?}", step.request, step.checks);
        if of_parameters.is_empty() {
            let answer = self.ask(&request);
            let is_compared = of_answer.iter().any(|check| !check.contains(" := "));
            assert!(is_compared || answer.status < 300, "{request:?}: {answer:?}");
            for check in of_answer {
                match check.split_once(" := ") {
                    Some((name, pointer)) => {
                        let value = self.select(&answer, pointer);
                        self.know(name, &value);
                    }
                    None => self.compare_answer(&request, &answer, columns(check)[0], columns(check)[1]),
                }
            }
        }
        for check in of_parameters {
            match check {
                "waits" => self.waits(&request),
                "pages" => self.pages(&request),
                "lines" => drop(self.send(&request.clone().header("accept", "application/x-ndjson"))),
                check => self.check(check, false, &|_| request.clone()),
            }
        }
    }

    /// One line with a parameter.
    fn check(&mut self, check: &str, is_anew: bool, prepare: &dyn Fn(&mut Door) -> Request) {
        let (parameter, target, selector, expected) = match columns(check)[..] {
            [parameter, selector, expected] => (parameter, None, selector, expected),
            [parameter, target, selector, expected] => (parameter, Some(target), selector, expected),
            _ => panic!("expected a parameter, a selector and two outcomes, found {check}"),
        };
        let expected = match expected.split_once('|') {
            Some((without, with)) => vec![(false, without.trim()), (true, with.trim())],
            None => vec![(true, expected)],
        };
        for (is_sent, expected) in expected {
            let trial = |door: &mut Door| {
                let mut request = prepare(door);
                let parameter = door.filled(parameter);
                let (name, value) = parameter.split_once('=').expect("name=value");
                let mut answer = if is_sent {
                    let answer = door.send_with(&request, name, value);
                    request.target = format!("{} with {parameter}", request.target);
                    answer
                } else {
                    door.ask(&request)
                };
                if let Some(target) = target {
                    answer = door.ask(&Request::get(&door.filled(target)));
                }
                door.compare_answer(&request, &answer, selector, expected);
            };
            if is_anew { self.on_another(trial) } else { trial(self) }
        }
    }

    fn compare_answer(&mut self, request: &Request, answer: &Answer, selector: &str, expected: &str) {
        let (found, mut expected) = (self.select(answer, selector), self.filled(expected));
        if expected == "nothing" {
            expected.clear();
        }
        if found != expected {
            let Request { method, target, .. } = request;
            let body = &answer.body;
            self.wrong.push(format!(
                "{method} {target}: {selector}: expected `{expected}`, found `{found}` in {body:.400}"
            ));
        }
    }

    /// The request of a line.
    fn request(&self, line: &str) -> Request {
        let line = self.filled(line);
        let (method, rest) = line.split_once(' ').expect("a method and a target");
        let (target, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
        assert!(!target.contains('{'), "expected a name that is known, found {target}");
        let mut request = Request::new(method, target, None);
        while let Some((header, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            let (name, value) = header.split_once(": ").expect("name: value");
            request = request.header(name, value);
            rest = after.trim_start();
        }
        request.body = (!rest.is_empty()).then(|| rest.replace("\\n", "\n"));
        request
    }

    /// A part of an answer as text, or the status of an answer that is refused.
    ///
    /// | selector | what it finds |
    /// |---|---|
    /// | `status` | the status |
    /// | `says a text` | `yes` or `no` |
    /// | `ids`, `count` | the ids of the items of a page, and their number |
    /// | `count of lines` | the number of lines |
    /// | `body` | all of it |
    /// | `begin` | the word, or the sign, with which the body begins |
    /// | `has a b` | those of these names that are an id, or the value of a group |
    /// | `same /v1/…` | `same`, if a `GET` there has the same answer, or else `other` |
    /// | `each /pointer` | the values at a pointer, in which `*` is each element; each value once, in order |
    /// | `/pointer /pointer` | the values at these pointers; at `/` all of it |
    fn select(&mut self, answer: &Answer, selector: &str) -> String {
        let (name, rest) = selector.split_once(' ').unwrap_or((selector, ""));
        match (name, rest) {
            ("says", text) => if answer.body.contains(text) { "yes" } else { "no" }.to_owned(),
            _ if name == "status" || answer.status >= 300 => answer.status.to_string(),
            ("ids", _) => ids(answer).join(" "),
            ("count", "") => items(answer).len().to_string(),
            ("count", _) => answer.body.lines().count().to_string(),
            ("body", _) => answer.body.clone(),
            ("begin", _) => {
                let end = answer.body.find(|found: char| !found.is_alphabetic()).unwrap_or(answer.body.len());
                answer.body[..end.max(1)].to_owned()
            }
            ("has", names) => {
                let shown = names.split(' ').filter(|name| {
                    ["id", "value"]
                        .iter()
                        .any(|member| answer.body.contains(&format!("\"{member}\":\"{name}\"")))
                });
                shown.collect::<Vec<_>>().join(" ")
            }
            ("same", target) => {
                let other = self.ask(&Request::get(&self.filled(target)));
                if other.body == answer.body { "same" } else { "other" }.to_owned()
            }
            ("each", pointer) => {
                let found: BTreeSet<String> = values(&document(answer), pointer).into_iter().collect();
                Vec::from_iter(found).join(" ")
            }
            _ => {
                let pointers = selector.split(' ').map(|pointer| pointer.trim_end_matches('/'));
                pointers.flat_map(|pointer| values(&document(answer), pointer)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// The parts of a line, which have two blanks between them.
fn columns(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect()
}

/// The JSON of an answer, or the array of its lines or events.
pub fn document(answer: &Answer) -> Json {
    let parse = |text: &str| serde_json::from_str::<Json>(text).unwrap_or_default();
    match answer.header("content-type").unwrap_or_default() {
        "application/x-ndjson" => answer.body.lines().map(parse).collect(),
        "text/event-stream" => {
            answer.body.lines().filter_map(|line| line.strip_prefix("data: ")).map(parse).collect()
        }
        _ => parse(&answer.body),
    }
}

/// The values at a pointer, in which `*` is each element. Texts are without quotes, and `null` is as nothing.
fn values(json: &Json, pointer: &str) -> Vec<String> {
    let Some(rest) = pointer.strip_prefix('/') else {
        return match json {
            Json::Null => Vec::new(),
            Json::String(text) => vec![text.clone()],
            other => vec![other.to_string()],
        };
    };
    let (member, rest) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    if member == "*" {
        return json.as_array().into_iter().flatten().flat_map(|one| values(one, rest)).collect();
    }
    json.pointer(&format!("/{member}")).map(|found| values(found, rest)).unwrap_or_default()
}
