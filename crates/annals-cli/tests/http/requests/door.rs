//! A server, the parameters that were sent to it, its answers, and where they differ from what a table says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::NAMES;
use super::table::document;
use crate::support::described::{check_described, operation_at, parameters};
use crate::support::{Answer, Server, try_request};

/// A request that can be sent again with other parameters.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
}

impl Request {
    pub fn new(method: &str, target: &str, body: Option<&str>) -> Request {
        let body = body.map(str::to_owned);
        Request { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body }
    }

    pub fn get(target: &str) -> Request {
        Request::new("GET", target, None)
    }

    /// A request with JSON, or with no body for `null`.
    pub fn tell(method: &str, target: &str, body: Json) -> Request {
        let body = (!body.is_null()).then(|| body.to_string());
        Request::new(method, target, body.as_deref())
    }

    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a parameter of the query, in place of an earlier value.
    pub fn query(mut self, name: &str, value: &str) -> Request {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let is_other = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some(name);
        let mut pairs: Vec<String> = query.split('&').filter(is_other).map(str::to_owned).collect();
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => (byte as char).to_string(),
            byte => format!("%{byte:02X}"),
        };
        pairs.push(format!("{name}={}", value.bytes().map(encode).collect::<String>()));
        self.target = format!("{path}?{}", pairs.join("&"));
        self
    }

    pub fn operation(&self) -> String {
        operation_at(&self.method, &self.target)
    }

    pub fn send_to(&self, server: &Server) -> Answer {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let body = self.body.as_deref();
        try_request(server.address, &self.method, &self.target, &headers, body).expect("the server answers")
    }
}

pub struct Door {
    _folder: tempfile::TempDir,
    pub server: Server,
    /// Shape: `[(operation, parameter)]`.
    pub tried: BTreeSet<(String, String)>,
    /// Shape: `[(operation, status, media type)]`.
    pub seen: BTreeSet<(String, u16, String)>,
    pub wrong: Vec<String>,
    /// By name, what a line of a table can say as `{name}`.
    values: BTreeMap<String, String>,
    ids: usize,
}

impl Door {
    pub fn open(arguments: &[&str]) -> Door {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["--visible-time-ms", "20"], arguments].concat();
        let server = Server::start(&folder.path().join("repository"), &arguments);
        let mut door = Door {
            _folder: folder,
            server,
            tried: BTreeSet::new(),
            seen: BTreeSet::new(),
            wrong: Vec::new(),
            values: BTreeMap::new(),
            ids: 0,
        };
        NAMES.iter().for_each(|(name, value)| door.know(name, value));
        door
    }

    /// Does the same on another server, and keeps the outcome.
    pub fn on_another(&mut self, check: impl FnOnce(&mut Door)) {
        let mut other = Door::open(&[]);
        check(&mut other);
        self.tried.append(&mut other.tried);
        self.seen.append(&mut other.seen);
        self.wrong.append(&mut other.wrong);
    }

    /// An id that was not given yet.
    pub fn id(&mut self) -> String {
        self.ids += 1;
        format!("i{}", self.ids)
    }

    /// Gives a value a name.
    pub fn know(&mut self, name: &str, value: &str) {
        self.values.insert(format!("{{{name}}}"), value.to_owned());
    }

    /// A text with the values of its names.
    pub fn filled(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// Sends a request, and checks that the answer is as it is described.
    pub fn ask(&mut self, request: &Request) -> Answer {
        let answer = request.send_to(&self.server);
        let body = request.body.as_deref();
        self.seen.extend(check_described(&request.method, &request.target, body, &answer));
        answer
    }

    /// Sends a request that must be accepted.
    pub fn send(&mut self, request: &Request) -> Answer {
        let answer = self.ask(request);
        assert!(answer.status < 300, "{request:?}: {answer:?}");
        answer
    }

    pub fn tell(&mut self, method: &str, target: &str, body: Json) -> Answer {
        self.send(&Request::tell(method, target, body))
    }

    /// Sends a request with a parameter, at the place that the description names.
    pub fn send_with(&mut self, request: &Request, name: &str, value: &str) -> Answer {
        let operation = request.operation();
        let listed = places(&operation);
        let is_header = listed.iter().any(|(known, place)| known == name && place == "header");
        let request = request.clone();
        let request = if is_header { request.header(name, value) } else { request.query(name, value) };
        self.tried.insert((operation, name.to_owned()));
        self.ask(&request)
    }

    /// Notes a parameter that has another effect than stated.
    pub fn note(&mut self, request: &Request, name: &str, is_as_stated: bool, answers: &[&Answer]) {
        if !is_as_stated {
            let found: Vec<String> =
                answers.iter().map(|answer| format!("{} {:.400}", answer.status, answer.body)).collect();
            self.wrong.push(format!("{name} of {} {}: {found:#?}", request.method, request.target));
        }
    }

    /// Sends a request without a parameter and with it. `differs` states the difference.
    pub fn compare(
        &mut self,
        request: &Request,
        name: &str,
        value: &str,
        differs: impl FnOnce(&Answer, &Answer) -> bool,
    ) {
        let without = self.ask(request);
        let with = self.send_with(request, name, value);
        let is_as_stated = differs(&without, &with);
        self.note(request, name, is_as_stated, &[&without, &with]);
    }

    /// The statuses without the parameter and with it.
    pub fn statuses(&mut self, request: &Request, name: &str, value: &str, expected: [u16; 2]) {
        self.compare(request, name, value, |without, with| [without.status, with.status] == expected);
    }

    /// The read waits for a position that never comes, and does not wait for one that is there.
    pub fn waits(&mut self, request: &Request) {
        let name = "annals-wait-position";
        let late = self.send_with(request, name, "999999999");
        let known = self.send_with(request, name, "0");
        let is_as_stated = late.status == 503 && late.problem() == "not-visible" && known.status < 400;
        self.note(request, name, is_as_stated, &[&late, &known]);
    }

    /// A page of one item, and the page after it.
    pub fn pages(&mut self, request: &Request) {
        self.compare(request, "limit", "1", |without, with| {
            items(without).len() > 1 && items(with).len() == 1
        });
        let first = request.clone().query("limit", "1");
        let page = self.ask(&first);
        let next = page.json()["next"].as_str().map(str::to_owned).unwrap_or_default();
        self.compare(&first, "after", &next, |first, second| {
            [first, second].iter().all(|page| items(page).len() == 1) && items(first) != items(second)
        });
    }

    /// The last position.
    pub fn position(&self) -> u64 {
        self.server.get("/health/ready").json()["position"].as_u64().unwrap()
    }

    /// The records after a position.
    pub fn records_after(&self, position: u64) -> Vec<Json> {
        let count = self.position() - position;
        if count == 0 {
            return Vec::new();
        }
        let feed = self.server.get(&format!("/v1/feed?after={position}&limit={count}")).body;
        let data = feed.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str::<Json>(data).unwrap()["data"].clone()).collect()
    }
}

/// The parameters of an operation in query and headers.
pub fn places(operation: &str) -> Vec<(String, String)> {
    let all = parameters().into_iter();
    all.filter(|(known, _)| known == operation).flat_map(|(_, places)| places).collect()
}

/// True if an operation lists a parameter.
pub fn lists(operation: &str, name: &str) -> bool {
    places(operation).iter().any(|(known, _)| known == name)
}

/// The items of a page: of `items`, or entities and then relationships; or the lines, or the events.
pub fn items(answer: &Answer) -> Vec<Json> {
    let json = document(answer);
    let of = |json: &Json| json.as_array().cloned().unwrap_or_default();
    [of(&json), of(&json["items"]), of(&json["entities"]), of(&json["relationships"])].concat()
}

/// The ids of the items of a page, in order.
pub fn ids(answer: &Answer) -> Vec<String> {
    items(answer).iter().map(|item| item["id"].as_str().unwrap_or_default().to_owned()).collect()
}
