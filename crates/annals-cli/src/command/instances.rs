//! `annals create`, `set`, `link`, `delete` and `purge`: write single instances by their ids.

use annals::{Error, ErrorKind, Id};
use annals_exchange::text::one_line;
use clap::Args;
use serde_json::{Value as Json, json};

use super::apply::{commit, dry_run};
use super::classify::properties;
use super::listing::json_of_line;
use crate::context::{Access, Context, SignatureArguments};
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{Outcome, Stop};
use crate::told::Told;

/// Create an entity
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals create table orders rows=7 steward=ann       an entity of type table with the id orders
  annals create table rows=7                          prints the id that it gets
A value is JSON if it reads as JSON, otherwise the text itself: level=2 is a number, level='\"2\"' a text. A declared type
reads its values: rows=7 is a float if rows is.")]
pub struct Create {
    /// Type of the entity
    type_name: String,
    /// Id of the entity, if you choose one, and its properties
    #[arg(value_name = "ID|PROPERTY=VALUE")]
    rest: Vec<String>,
    /// Id of the entity, for an id with the character =
    #[arg(long, value_name = "ID")]
    id: Option<Id>,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Change some properties of an entity, or of a relationship
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals set orders rows=8 steward=null -m 'no steward any more'     null removes a property
  annals set reads-1 --relationship share=0.5
  annals set orders rows=9 --if-version 3             only if nobody changed it since
Properties that you do not name stay. `annals put PATH --value` does the same by a path of a tree.")]
pub struct Set {
    /// Id of the instance
    id: Id,
    /// Properties
    #[arg(value_name = "PROPERTY=VALUE", required = true)]
    properties: Vec<String>,
    /// It is the id of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
    /// Change it only if this is its version; `annals get` shows the version
    #[arg(long, value_name = "N")]
    if_version: Option<u32>,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Create a relationship between two entities
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  annals link load-orders writes orders since=2025")]
pub struct Link {
    /// Id of the entity where it starts
    from: Id,
    /// Type of the relationship
    type_name: String,
    /// Id of the entity where it ends
    to: Id,
    /// Properties
    #[arg(value_name = "PROPERTY=VALUE")]
    properties: Vec<String>,
    /// Id of the relationship, if you choose one
    #[arg(long, value_name = "ID")]
    id: Option<Id>,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Delete an entity or a relationship
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals delete orders -m 'moved to another system'
  annals delete reads-1 --relationship
  annals delete orders --purge                        permanently, with its whole history
  annals delete archive --in-steps                    a container of a million items, beside other writers
With an entity its relationships are deleted, and everything that it contains. `annals restore` brings all of it back, and
so does `annals take-back`, but not after a purge.")]
pub struct Delete {
    /// Id of the instance
    id: Id,
    /// It is the id of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
    /// Delete permanently, with the whole history
    #[arg(long = "purge")]
    is_purge: bool,
    /// Delete everything that the entity contains first, in many small commits: for a container that is too large for one
    #[arg(long = "in-steps", conflicts_with = "is_relationship")]
    is_in_steps: bool,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Delete an entity or a relationship permanently, with its whole history
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals purge orders                                 checks, and shows what would be left
  annals purge orders --yes -m 'a person asked for it'
  annals purge reads-1 --relationship --yes
With an entity its relationships are purged, and everything that it contains. Nothing brings a purged instance back.
`annals compact` then removes its bytes from the log.")]
pub struct Purge {
    /// Id of the instance, live or deleted
    id: Id,
    /// It is the id of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
    /// Purge it: without it, the command only checks
    #[arg(long = "yes")]
    is_sure: bool,
    #[command(flatten)]
    signature: SignatureArguments,
}

fn kind(is_relationship: bool) -> &'static str {
    if is_relationship { "relationship" } else { "entity" }
}

impl Create {
    /// Commits it, and prints the id.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let (first, rest) = match self.rest.split_first() {
            Some((first, rest)) if !first.contains('=') => (Some(Id::new(first)?), rest),
            _ => (None, &self.rest[..]),
        };
        if let (Some(first), Some(id)) = (&first, &self.id) {
            let text = format!("expected one id, found {first} and --id {id}");
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        let id = first.or_else(|| self.id.clone()).unwrap_or_else(Id::random);
        let operation = json!({
            "action": "create", "kind": "entity", "id": id.to_string(), "type": self.type_name,
            "properties": properties(rest)?,
        });
        one(context, operation, &self.signature, Some(&id))
    }
}

impl Set {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let mut operation = json!({
            "action": "update", "kind": kind(self.is_relationship), "id": self.id.to_string(),
            "patch": properties(&self.properties)?,
        });
        if let Some(version) = self.if_version {
            operation["ifVersion"] = version.into();
        }
        one(context, operation, &self.signature, None)
    }
}

impl Link {
    /// Commits it, and prints the id.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let id = self.id.clone().unwrap_or_else(Id::random);
        let operation = json!({
            "action": "create", "kind": "relationship", "id": id.to_string(), "type": self.type_name,
            "from": self.from.to_string(), "to": self.to.to_string(), "properties": properties(&self.properties)?,
        });
        context.enter(Access::Write)?;
        let there = if self.id.is_none() { self.there(context) } else { None };
        one(context, operation, &self.signature, Some(&id))?;
        if let Some(there) = there.filter(|_| !context.output.is_json()) {
            tell!(
                "hint: {} leads to {} by {} already, as {there}; this is one more. To change the first: annals set {there} \
                 --relationship; to take this one away: annals delete {id} --relationship",
                self.from,
                self.to,
                one_line(&self.type_name)
            );
        }
        Ok(())
    }

    /// The id of a relationship of the type that leads there already.
    fn there(&self, context: &mut Context) -> Option<String> {
        let request = Request::get("/v1/path")
            .with("from", &self.from)
            .with("to", &self.to)
            .with("type", format!("{}:out", self.type_name))
            .with("depthMax", 1);
        let told = context.ask(context.of_candidate(request)).ok()?.whole().ok()?;
        let told = json_of_line(&told).ok()?;
        let there = Shown(&told).all("steps").next()?.of("relationship").optional("id")?.to_owned();
        Some(one_line(&there))
    }
}

impl Delete {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        if self.is_in_steps {
            return self.run_in_steps(context);
        }
        let action = if self.is_purge { "purge" } else { "delete" };
        let operation =
            json!({"action": action, "kind": kind(self.is_relationship), "id": self.id.to_string()});
        one(context, operation, &self.signature, None)
    }

    /// Asks until all of it is deleted. After an interruption the command goes on.
    fn run_in_steps(&self, context: &mut Context) -> Outcome {
        let SignatureArguments { author, message, valid_from } = &self.signature;
        context.enter(Access::Write)?;
        let author = context.author(author.as_deref())?;
        loop {
            let request = Request::get_of("entities", &self.id, "").deleted().with("inSteps", true);
            let request = request.flag("purge", self.is_purge).with_all("validFrom", *valid_from);
            let request = context.of_candidate(request.signed(author.as_deref(), message));
            let left = |told: &Told| told.context.iter().any(|(name, _)| name == "left");
            match context.ask(request) {
                Err(Stop::Told(told)) if left(&told) => tell!("{}", told.text),
                Err(stop) => return Err(stop),
                Ok(mut answer) => {
                    let receipt = json_of_line(&answer.whole()?)?;
                    match context.output.is_json() {
                        true => context.output.json(&receipt)?,
                        false => context
                            .output
                            .line(format!("deleted in steps; now at position {}", receipt["position"]))?,
                    }
                    return context.leave();
                }
            }
        }
    }
}

impl Purge {
    /// Commits it, or checks it and asks.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let kind = kind(self.is_relationship);
        let operation = json!({"action": "purge", "kind": kind, "id": self.id.to_string()});
        if self.is_sure {
            return one(context, operation, &self.signature, None);
        }
        if context.candidate.is_none() {
            dry_run(context, &[operation], &self.signature).map_err(|stop| stop.without("operation"))?;
            context.output.flush()?;
        }
        let text = format!(
            "purge {kind} {}: expected --yes, found none; nothing brings a purged instance back, so repeat it with --yes",
            self.id
        );
        Err(Error::new(ErrorKind::InvalidArgument, text).into())
    }
}

/// Commits one operation. Prints the id of a new instance before the receipt; in JSON the receipt holds it.
fn one(context: &mut Context, operation: Json, signature: &SignatureArguments, new: Option<&Id>) -> Outcome {
    // A relationship needs entities, so it never begins a repository.
    let is_creating = new.is_some() && operation["kind"] == "entity";
    let access = if is_creating { Access::Create } else { Access::Write };
    commit(context, access, &[operation], signature)?;
    match new {
        Some(id) if !context.output.is_json() => context.output.line(id.to_string()),
        _ => Ok(()),
    }
}
