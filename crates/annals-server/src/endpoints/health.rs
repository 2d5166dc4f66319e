//! Endpoints for operators: health, metrics, and the description of the interface.

use std::time::Duration;

use annals::{Error, ErrorKind, Following, Repository, Standing};
use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::access::{PROOF_DIGITS, Verb, is_digits};
use crate::bounds::limits::IMPORTS_MAX;
use crate::description::endpoint::Endpoint;
use crate::description::{openapi, parameters};
use crate::protocol::problem::{Outcome, Problem, kind_named};
use crate::reporting::metrics::{OPENMETRICS, Readings};
use crate::request::call::Call;

/// A server that has not reached its log for longer is not ready.
const AGE_MAX: Duration = Duration::from_secs(10);

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/", "Read the start page", index).answers(200, "Addresses to start from.", "Index"),
        Endpoint::new(Method::GET, "/health/live", "Is the process alive", live)
            .describe(
                "With a challenge, a server that has opened a repository for writing adds `proof`: HMAC-SHA-256, under the secret in \
                 the file server.json of the folder, or in the lease of its log, of its id, the challenge, and the address that the request came to.",
            )
            .takes(vec![parameters::challenge()])
            .answers(200, "Yes.", "Live"),
        Endpoint::new(Method::GET, "/health/ready", "Is the repository open", ready)
            .describe(
                "503 while the repository is being opened, while the server stops, while the repository refuses writes \
                 (unless it is read-only), and while a server that only reads has not read its log for 10 s. The members `refusal`, a kind of error, and `detail` give the reason. Clients without the \
                 verb `operate` get only `ready`.",
            )
            .answers(200, "Yes.", "Ready")
            .fails(&["stopping", "writes-refused"]),
        Endpoint::new(Method::GET, "/metrics", "Metrics for Prometheus", read_metrics).answers_as(
            200,
            "Metrics in the text format of OpenMetrics.",
            OPENMETRICS,
            "Metrics",
        ),
        Endpoint::new(Method::GET, "/v1/whoami", "Which client the server takes you for", whoami)
            .describe("Name, roles, and verbs of the client, and how they were proven. Without credentials of the server: anyone.")
            .answers(200, "The client.", "Whoami"),
        Endpoint::new(Method::GET, "/errors/{error}", "What a kind of error means", read_error)
            .describe("The `type` of each problem is the address of its kind here.")
            .answers(200, "The kind.", "ErrorMeaning")
            .fails(&["not-found"]),
        Endpoint::new(Method::GET, "/openapi.json", "This description", read_openapi).answers(
            200,
            "OpenAPI 3.1.",
            "OpenApi",
        ),
    ]
    .into_iter()
    .map(Endpoint::operational)
    .collect()
}

fn json_answer(body: &Json) -> Outcome {
    text_answer(body.to_string(), "application/json")
}

fn text_answer(body: String, media_type: &'static str) -> Outcome {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok(response)
}

async fn index(call: Box<Call>) -> Outcome {
    json_answer(&json!({
        "name": "annals",
        "version": env!("CARGO_PKG_VERSION"),
        "ready": call.door.opened().is_some(),
        "openapi": "/openapi.json",
        "entities": "/v1/entities",
        "relationships": "/v1/relationships",
        "types": "/v1/types",
        "transactions": "/v1/transactions",
        "import": "/v1/import",
        "export": "/v1/export",
        "feed": "/v1/feed",
        "health": "/health/ready",
        "metrics": "/metrics",
    }))
}

async fn read_error(call: Box<Call>) -> Outcome {
    let name = call.path("error");
    let Some((kind, status, title, is_retryable)) = kind_named(name) else {
        return Err(Problem::not_found(format!(
            "kind of error {name:?}: there is none; docs/errors.md lists them"
        )));
    };
    json_answer(&json!({
        "kind": kind, "title": title, "status": status.as_u16(), "retryable": is_retryable,
        "documentation": "docs/errors.md",
    }))
}

async fn live(call: Box<Call>) -> Outcome {
    let door = &call.door;
    let mut answer = json!({ "live": true, "id": door.id });
    if let Some(challenge) = call.query.get("challenge") {
        if !is_digits(challenge) {
            let text =
                format!("parameter challenge: expected {PROOF_DIGITS} hexadecimal digits, found other text");
            return Err(Problem::invalid(text).with("parameter", "challenge"));
        }
        if let (Some(proof), Some(address)) = (door.proof.get(), call.reached) {
            answer["proof"] = proof.answer(&door.id, challenge, address).into();
        }
    }
    json_answer(&answer)
}

async fn ready(call: Box<Call>) -> Outcome {
    if call.door.is_stopping() {
        return Err(Problem::door("stopping", "server: it was asked to stop; use another one"));
    }
    let repository = call.door.repository()?;
    let refusal = find_refusal(Some(repository)).await;
    let position = repository.try_snapshot()?.position().0;
    let following = repository.following();
    if let Some(stale) = following.as_ref().filter(|following| is_stale(following)) {
        return Err(stale_problem(&call, stale));
    }
    let warnings = repository.warnings();
    if !call.principal.may(Verb::Operate) {
        return match refusal {
            None => json_answer(&json!({ "ready": true, "writeFailure": null })),
            Some(_) => {
                Err(Problem::door("writes-refused", "repository: it refuses writes now").with("ready", false))
            }
        };
    }
    match refusal {
        None => {
            let mut answer = json!({
                "ready": true,
                "position": position,
                "readOnly": repository.is_read_only(),
                "writeFailure": null,
                "warnings": warnings,
            });
            add_standing(&mut answer, repository, following);
            json_answer(&answer)
        }
        Some(error) => Err(Problem::door("writes-refused", error.to_string())
            .with("ready", false)
            .with("position", position)
            .with("readOnly", false)
            .with("refusal", error.kind().name())
            .with("warnings", warnings)),
    }
}

/// Adds how the server stands to a log that others write.
fn add_standing(answer: &mut Json, repository: &Repository, following: Option<Following>) {
    let position = repository.snapshot().position().0;
    if let Some(following) = following {
        answer["ageSeconds"] = following.age.as_secs_f64().into();
        if let Some(problem) = following.problem {
            answer["problem"] = problem.to_string().into();
        }
    }
    let Some(standing) = repository.standing() else { return };
    answer["role"] = role(repository, &standing).into();
    answer["term"] = standing.term.0.into();
    answer["lag"] = standing.position.0.saturating_sub(position).into();
    if !standing.writer.is_empty() {
        answer["writer"] = standing.writer.into();
    }
    if let Some(problem) = standing.problem {
        answer["leaseProblem"] = problem.into();
    }
}

fn role(repository: &Repository, standing: &Standing) -> &'static str {
    match (standing.is_writer, repository.is_standby()) {
        (true, _) => "writer",
        (false, true) => "standby",
        (false, false) => "follower",
    }
}

/// True for a server that does not reach the log that others write.
fn is_stale(following: &Following) -> bool {
    following.problem.is_some() && following.age > AGE_MAX
}

fn stale_problem(call: &Call, following: &Following) -> Problem {
    let age = following.age.as_secs_f64();
    let text = format!("repository: it has not read its log for {age:.0} s");
    let stale = Problem::from(Error::new(ErrorKind::Unavailable, text)).with("ready", false);
    match &following.problem {
        Some(problem) if call.principal.may(Verb::Operate) => {
            stale.with("ageSeconds", age).with("problem", problem.to_string())
        }
        _ => stale,
    }
}

/// Why the repository refuses writes now. On another thread: checking for room asks the disk, which may be slow.
async fn find_refusal(repository: Option<&Repository>) -> Option<Error> {
    let repository = repository.filter(|known| !known.is_read_only())?.clone();
    let found = tokio::task::spawn_blocking(move || repository.refusal());
    found.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn whoami(call: Box<Call>) -> Outcome {
    json_answer(&call.principal.to_json())
}

async fn read_metrics(call: Box<Call>) -> Outcome {
    let door = &call.door;
    let refusal = find_refusal(door.opened()).await;
    let readings = Readings {
        repository: door.opened(),
        refusal: refusal.as_ref(),
        replayed: door.replayed()[0],
        uptime: door.start.elapsed(),
        imports: IMPORTS_MAX - door.bounds.gates.imports.available_permits(),
    };
    text_answer(door.metrics.render(&readings), OPENMETRICS)
}

async fn read_openapi(_: Box<Call>) -> Outcome {
    json_answer(&openapi::document(&super::endpoints()))
}
