//! Reads requests and answers as the types that the description of the server names.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use annals_json::wire::NamedForm;
use serde_json::Value as Json;

use super::Answer;

/// An endpoint, as the description has it.
struct Operation {
    /// Such as `GET`.
    method: String,
    path: String,
    /// The schema of its JSON body.
    body: Option<String>,
    /// Shape: `[(name, place)]`; a place is `path`, `query` or `header`.
    parameters: Vec<(String, String)>,
    /// Shape: `[(status, media type, schema)]`.
    answers: Vec<(u16, String, String)>,
    /// By status, as the description has them.
    responses: &'static Json,
}

static FORMS: LazyLock<BTreeMap<String, NamedForm>> = LazyLock::new(|| {
    let forms = annals_server::wire::forms().into_iter();
    forms.map(|form| (form.name().to_owned(), form)).collect()
});

/// The document of `/openapi.json`.
pub static DESCRIPTION: LazyLock<Json> = LazyLock::new(annals_server::description);

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let items = DESCRIPTION["paths"].as_object().unwrap();
    let operations = items.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| Operation::of(method, path, operation))
    });
    operations.collect()
});

impl Operation {
    fn of(method: &str, path: &str, operation: &'static Json) -> Operation {
        let responses = operation["responses"].as_object().unwrap().iter();
        let answers = responses.flat_map(|(status, response)| {
            let media = response["content"].as_object().into_iter().flatten();
            media.map(|(name, media)| (status.parse().unwrap(), name.clone(), schema_of(media)))
        });
        let parameters = operation["parameters"].as_array().unwrap().iter();
        let text = |parameter: &Json, member: &str| parameter[member].as_str().unwrap().to_owned();
        Operation {
            method: method.to_uppercase(),
            path: path.to_owned(),
            parameters: parameters.map(|known| (text(known, "name"), text(known, "in"))).collect(),
            body: operation["requestBody"]["content"].get("application/json").map(schema_of),
            answers: answers.collect(),
            responses: &operation["responses"],
        }
    }

    /// True if it is what answers requests for this path.
    fn is_at(&self, method: &str, path: &str) -> bool {
        let fits =
            |(known, found): (&str, &str)| known == found || known.starts_with('{') && !found.is_empty();
        self.method == method
            && match self.path.strip_suffix("/{steps}") {
                // Slashes are part of the last parameter.
                Some(before) => {
                    path.strip_prefix(before).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                }
                None => {
                    self.path.split('/').count() == path.split('/').count()
                        && self.path.split('/').zip(path.split('/')).all(fits)
                }
            }
    }
}

/// Stands for the schema of a body of any bytes, which may have any media type.
const BYTES: &str = "";

/// The name of the schema of a body, or of each of its lines.
fn schema_of(media: &Json) -> String {
    let schema = &media["schema"];
    if schema["format"] == "binary" && schema.get("contentSchema").is_none() {
        return BYTES.to_owned();
    }
    let reference = schema.get("$ref").or(schema["contentSchema"]["items"].get("$ref"));
    let reference =
        reference.and_then(Json::as_str).unwrap_or_else(|| panic!("no name of a schema in {media}"));
    reference.rsplit('/').next().unwrap().to_owned()
}

fn check(what: &str, schema: &str, json: &Json) {
    let form = FORMS.get(schema).unwrap_or_else(|| panic!("schema {schema} has no type"));
    form.check(json).unwrap_or_else(|error| panic!("{what}: expected {schema}: {error}"));
}

/// Checks JSON against a schema of the description, as far as its schemas go.
pub fn fits(schema: &Json, found: &Json) -> bool {
    let all = |key: &str, holds: &dyn Fn(&Json) -> bool| schema.get(key).is_none_or(holds);
    let is_of_type = |name: &str| match name {
        "integer" => found.is_u64() || found.is_i64(),
        "number" => found.is_number(),
        "string" => found.is_string(),
        "boolean" => found.is_boolean(),
        "null" => found.is_null(),
        "array" => found.is_array(),
        "object" => found.is_object(),
        other => panic!("type {other}"),
    };
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let members = found.as_object();
    all("$ref", &|name| fits(DESCRIPTION.pointer(&text(name)[1..]).unwrap(), found))
        && all("const", &|constant| constant == found)
        && all("enum", &|known| known.as_array().unwrap().contains(found))
        && all("oneOf", &|any| any.as_array().unwrap().iter().filter(|one| fits(one, found)).count() == 1)
        && all("anyOf", &|any| any.as_array().unwrap().iter().any(|one| fits(one, found)))
        && all("type", &|names| match names {
            Json::Array(names) => names.iter().any(|name| is_of_type(name.as_str().unwrap())),
            name => is_of_type(&text(name)),
        })
        && all("required", &|names| {
            names.as_array().unwrap().iter().all(|name| found.get(name.as_str().unwrap()).is_some())
        })
        && all("propertyNames", &|_| members.is_none_or(|all| all.keys().all(|name| !name.starts_with('$'))))
        && all("items", &|items| found.as_array().is_none_or(|all| all.iter().all(|one| fits(items, one))))
        && members.into_iter().flatten().all(|(name, member)| {
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(known), _) => fits(known, member),
                (None, Some(Json::Bool(is_allowed))) => *is_allowed,
                (None, Some(others)) => fits(others, member),
                (None, None) => true,
            }
        })
}

/// Reads the description, which takes longer than some tests wait.
pub fn prepare() {
    LazyLock::force(&FORMS);
    LazyLock::force(&OPERATIONS);
}

/// Every answer that is described, but for problems.
///
/// Shape: `[(operation, status, media type)]`.
pub fn answers() -> Vec<(String, u16, String)> {
    let is_good = |(status, _, _): &&(u16, String, String)| *status < 400;
    let named = |known: &'static Operation| {
        let name = format!("{} {}", known.method, known.path);
        let good = known.answers.iter().filter(is_good);
        good.map(move |(status, media, _)| (name.clone(), *status, media.clone()))
    };
    OPERATIONS.iter().flat_map(named).collect()
}

/// Every operation with its parameters in query and headers.
///
/// Shape: `[(operation, [(name, place)])]`.
pub fn parameters() -> Vec<(String, Vec<(String, String)>)> {
    let named = |known: &Operation| {
        let sent = known.parameters.iter().filter(|(_, place)| place != "path");
        (format!("{} {}", known.method, known.path), sent.cloned().collect())
    };
    OPERATIONS.iter().map(named).collect()
}

/// The operation that answers a request, such as `GET /v1/entities/{id}`.
pub fn operation_at(method: &str, target: &str) -> String {
    let path = target.split('?').next().unwrap();
    let operation = OPERATIONS.iter().find(|known| known.is_at(method, path));
    operation.map_or_else(
        || panic!("{method} {target} is not described"),
        |known| format!("{method} {}", known.path),
    )
}

/// Checks that an answer, and the body that led to it, are what the description says of them.
///
/// Gives which one of [`answers`] it is; `None` for a problem and for an answer without body.
pub fn check_described(
    method: &str,
    target: &str,
    sent: Option<&str>,
    answer: &Answer,
) -> Option<(String, u16, String)> {
    let what = format!("{method} {target}");
    let media_type = answer.header("content-type").unwrap_or_default();
    let json =
        |text: &str| -> Json { serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}")) };
    if answer.body.is_empty() {
        return None;
    }
    let path = target.split('?').next().unwrap();
    let operation = OPERATIONS.iter().find(|known| known.is_at(method, path));
    if media_type == "application/problem+json" {
        let problem = json(&answer.body);
        check(&what, "Problem", &problem);
        if let Some(operation) = operation {
            let content = &operation.responses[answer.status.to_string()]["content"][media_type];
            let kind = problem["kind"].as_str().unwrap();
            assert!(content["examples"][kind].is_object(), "{what}: {kind} is not described");
            assert!(fits(&content["schema"], &problem), "{what}: {problem} is no {content}");
        }
        return None;
    }
    let operation = operation.unwrap_or_else(|| panic!("{what} is not described, and answers {answer:?}"));
    if answer.header("idempotent-replayed").is_some() {
        assert!(operation.parameters.iter().any(|(name, _)| name == "idempotency-key"), "{what}: {answer:?}");
        check(
            &what,
            if path == "/v1/transactions" { "TransactionReceipt" } else { "Receipt" },
            &json(&answer.body),
        );
        return None;
    }
    let declared = operation
        .answers
        .iter()
        .find(|(status, media, schema)| *status == answer.status && (media == media_type || schema == BYTES));
    let Some((status, media, schema)) = declared else {
        panic!("{what}: an answer {} of {media_type:?} is not described", answer.status)
    };
    let whole = &operation.responses[status.to_string()]["content"][media]["schema"];
    let fit = |schema: &Json, json: &Json| assert!(fits(schema, json), "{what}: {json} is no {schema}");
    match media_type {
        _ if schema == BYTES => {}
        "application/x-ndjson" => answer.body.lines().for_each(|line| {
            check(&what, schema, &json(line));
            fit(&whole["contentSchema"]["items"], &json(line));
        }),
        "text/event-stream" => {
            for data in answer.body.lines().filter_map(|line| line.strip_prefix("data: ")) {
                let event = json(data);
                let schema = match event["type"].as_str() {
                    Some("annals.record") => "FeedEvent",
                    Some("annals.change") => "ChangeEvent",
                    _ => "Problem",
                };
                check(&what, schema, &event);
                let feed = DESCRIPTION.pointer(&whole["$ref"].as_str().unwrap()[1..]).unwrap();
                let data = &feed["contentSchema"]["items"]["properties"]["data"];
                if schema != "Problem" {
                    fit(&data["contentSchema"], &event);
                }
            }
        }
        "application/json" => {
            // A write of an instance gets a receipt only, if it edits a candidate or there is no room to show the instance.
            let is_write = method != "GET" && ["Entity", "Relationship"].contains(&&**schema);
            let json = json(&answer.body);
            let is_receipt = is_write && json.get("id").is_none();
            check(&what, if is_receipt { "Receipt" } else { schema }, &json);
            fit(if is_receipt { &DESCRIPTION["components"]["schemas"]["Receipt"] } else { whole }, &json);
        }
        _ => check(&what, schema, &answer.body.as_str().into()),
    }
    if let (Some(schema), Some(sent)) = (&operation.body, sent) {
        check(&format!("body of {what}"), schema, &json(sent));
    }
    Some((format!("{} {}", operation.method, operation.path), *status, media.clone()))
}
