//! Reads query strings and paths as text, and texts as numbers, instants and flags.

use annals::{AsOf, Instant, Position};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::parameter::{Parameter, Place};
use super::problem::Problem;

/// Most query parameters of one request.
const PARAMETERS_MAX: usize = 128;

/// The query parameters of a request, decoded; the endpoint knows all of them.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query string. Refuses names that are not `known`, and repetitions of a parameter that may come once.
    pub fn parse(text: &str, known: &[Parameter]) -> Result<Query, Problem> {
        let mut query = Query::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            let known = known.iter().filter(|parameter| parameter.place == Place::Query);
            let Some(parameter) = known.clone().find(|parameter| parameter.name == name) else {
                let names: Vec<&str> = known.map(|parameter| parameter.name).collect();
                let expected = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(invalid(&name, format!("unknown parameter {name:?}; expected {expected}")));
            };
            if !parameter.is_many && query.get(&name).is_some() {
                return Err(invalid(&name, format!("{name} is given twice; give it once")));
            }
            query.0.push((name, value));
            if query.0.len() > PARAMETERS_MAX {
                return Err(Problem::too_large(format!(
                    "query: expected at most {PARAMETERS_MAX} parameters"
                )));
            }
        }
        Ok(query)
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a required parameter.
    pub fn required(&self, name: &str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| invalid(name, format!("parameter {name} is missing")))
    }

    /// A value of any type that can be parsed from text.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let parse = |text: &str| {
            text.parse()
                .map_err(|_| invalid(name, format!("parameter {name}: expected {expected}, found {text:?}")))
        };
        self.get(name).map(parse).transpose()
    }

    /// A count.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.parsed(name, "a whole number from 0")
    }

    /// A flag; false if it is missing, true if it has no value.
    pub fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("" | "true") => Ok(true),
            Some(text) => {
                Err(invalid(name, format!("parameter {name}: expected true or false, found {text:?}")))
            }
        }
    }

    /// An instant.
    pub fn instant(&self, name: &'static str) -> Result<Option<Instant>, Problem> {
        let parse =
            |text: &str| text.parse().map_err(|error: annals::Error| error.with("parameter", name).into());
        self.get(name).map(parse).transpose()
    }

    /// The time to read as of.
    pub fn as_of(&self) -> Result<AsOf, Problem> {
        Ok(AsOf {
            position: self.number("atPosition")?.map(Position),
            instant: self.instant("at")?,
            valid: self.instant("validAt")?,
        })
    }

    /// The same query as text, with another value of `after`: the query of the next page.
    pub fn following(&self, after: &str) -> String {
        let kept = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs: Vec<String> = kept
            .filter(|(name, _)| *name != "after")
            .chain([("after", after)])
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        pairs.join("&")
    }
}

fn invalid(name: &str, detail: impl Into<String>) -> Problem {
    Problem::invalid(detail).with("parameter", name)
}

/// Decodes `%41` and `+`.
fn decode(text: &str) -> Result<String, Problem> {
    let spaced = text.replace('+', " ");
    decode_percent(&spaced, "query")
}

/// Decodes `%41`. Errors: `invalid-argument` if the result is not UTF-8.
pub fn decode_percent(text: &str, what: &str) -> Result<String, Problem> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| Problem::invalid(format!("{what}: expected UTF-8, percent-encoded")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::parameters;

    #[test]
    fn a_query_is_decoded_and_checked() {
        let known = parameters::finding();
        let query = Query::parse("type=a%20b&where=x%3E%3D1&where=y+z", &known).unwrap();
        assert_eq!(query.get("type"), Some("a b"));
        assert_eq!(query.all("where").collect::<Vec<_>>(), ["x>=1", "y z"]);
        assert_eq!(query.following("7"), "type=a%20b&where=x%3E%3D1&where=y%20z&after=7");
        for bad in ["typ=a", "deleted=only&deleted=with", "type=%ff"] {
            assert_eq!(Query::parse(bad, &known).unwrap_err().to_json()["kind"], "invalid-argument");
        }
    }
}
