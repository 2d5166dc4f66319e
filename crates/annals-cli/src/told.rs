//! A refusal that the door tells: a problem of HTTP, as an error of a command.

use annals::ErrorKind;
use hyper::StatusCode;
use serde_json::Value as Json;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Members that every problem has. A parameter is the name of HTTP for an argument.
const COMMON: [&str; 6] = ["type", "title", "status", "detail", "kind", "parameter"];

/// A refusal.
#[derive(Clone, Debug)]
pub struct Told {
    /// The kind of the error, as in `docs/errors.md`; those of the HTTP door, too.
    pub kind: String,
    /// Expected, found, and what to do.
    pub text: String,
    /// Facts. Shape: `[(name, value)]`.
    pub context: Vec<(String, String)>,
}

impl Told {
    /// From a problem.
    pub fn from_problem(problem: &Json) -> Told {
        let text = |name: &str| problem.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let members = problem.as_object().into_iter().flatten();
        let context: Vec<(String, String)> = members
            .filter(|(name, _)| !COMMON.contains(&name.as_str()))
            .map(|(name, value)| {
                (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        let (kind, mut detail) = (text("kind"), text("detail"));
        // The command line names its own argument.
        if let Some((_, instant)) = context.iter().find(|(name, _)| name == "validAt") {
            let hint = format!("; try validAt={instant} or later");
            detail = detail.strip_suffix(&hint).map(str::to_owned).unwrap_or(detail);
        }
        Told { kind, text: detail, context }
    }

    /// From an answer that is no success.
    pub fn from_answer(status: StatusCode, body: &[u8]) -> Told {
        let problem = serde_json::from_slice::<Json>(body).ok().filter(|problem| problem["kind"].is_string());
        let Some(problem) = problem else {
            let (kind, text) = match status {
                StatusCode::UNAUTHORIZED => (
                    "unauthenticated",
                    "server: expected an answer of Annals, found a refusal (401) of something in front of it, such as a proxy that \
                     asks for a password; give a token that it lets through with --token-file (docs/operations.md)"
                        .to_owned(),
                ),
                _ => (
                    ErrorKind::Io.name(),
                    format!("server: expected an answer of Annals, found one with status {status}; is it one?"),
                ),
            };
            return Told { kind: kind.to_owned(), text, context: Vec::new() };
        };
        let mut told = Told::from_problem(&problem);
        let is_unknown = told.kind == "method-not-allowed"
            || told.kind == ErrorKind::NotFound.name()
                && told.text.ends_with("see /openapi.json for all paths");
        if is_unknown {
            told.text = format!(
                "server: it does not have what this command asks; it needs a server of version {VERSION} or later"
            );
            told.kind = ErrorKind::InvalidArgument.name().to_owned();
        }
        told
    }

    /// The kind, if the engine has it.
    pub fn kind(&self) -> Option<ErrorKind> {
        ErrorKind::ALL.into_iter().find(|known| known.name() == self.kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_is_told_with_the_arguments_of_the_command_line() {
        let told = Told::from_problem(&json!({
            "type": "/errors/not-found", "title": "t", "status": 404, "kind": "not-found", "parameter": "at",
            "detail": "no; try validAt=2020-01-01T00:00:00Z or later", "validAt": "2020-01-01T00:00:00Z", "n": 2,
        }));
        assert_eq!((told.kind(), told.text.as_str()), (Some(ErrorKind::NotFound), "no"));
        let context = [("n", "2"), ("validAt", "2020-01-01T00:00:00Z")];
        assert_eq!(told.context, context.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn an_older_server_is_named() {
        let older = json!({ "kind": "not-found", "detail": "path /v1/x: not found; see /openapi.json for all paths" });
        let told = Told::from_answer(StatusCode::NOT_FOUND, older.to_string().as_bytes());
        assert!(told.text.contains(VERSION), "{told:?}");
        let foreign = Told::from_answer(StatusCode::BAD_GATEWAY, b"<html>");
        assert!(foreign.text.contains("502"), "{foreign:?}");
        let proxy = Told::from_answer(StatusCode::UNAUTHORIZED, b"<html>");
        assert!(proxy.kind == "unauthenticated" && proxy.text.contains("--token-file"), "{proxy:?}");
    }
}
