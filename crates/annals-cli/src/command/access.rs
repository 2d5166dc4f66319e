//! `annals access`: explains what a client may do with an entity.

use std::path::PathBuf;
use std::sync::Arc;

use annals::{Error, ErrorKind, Id, Instant, Right, Snapshot, TreePath};
use annals_server::{Reason, TokenFile, explain, role_names};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;
use crate::table::Table;

/// Explain what a client may do with an entity
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals access explain ada page:plans --tokens /etc/annals/tokens
  annals access explain ada /library/plans                  the item at a path
  annals access explain ada page:plans --at 2026-03-01      by the grants, and the page, of then
  annals access explain ada page:plans --role curators      roles that a provider or a proxy gives
docs/security.md describes roles and grants.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Show which of the client's roles and grants hold for an entity
    Explain {
        /// The name of the client
        name: String,
        /// Id of the entity, or its path: /library/plans
        #[arg(value_name = "ID|PATH")]
        id: String,
        /// The file of tokens, which gives the roles of the client
        #[arg(long, value_name = "FILE", env = "ANNALS_TOKENS", default_value = "annals-tokens")]
        tokens: PathBuf,
        /// A role of the client, instead of those in the file; repeatable
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        #[command(flatten)]
        as_of: AsOfArguments,
    },
}

/// Prints the roles and grants of the client, and whether each holds for the entity.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let Action::Explain { name, id, tokens, roles, as_of } = &arguments.action;
    let roles = match roles.is_empty() {
        true => roles_of(&TokenFile::at(tokens), name)?,
        false => roles.iter().map(|role| Arc::from(role.as_str())).collect(),
    };
    let repository = context.open_to_read()?;
    let snapshot = context.snapshot(as_of, &repository)?;
    let id = &match id.starts_with('/') {
        true => at_path(&snapshot, id)?,
        false => Id::new(id)?,
    };
    if snapshot.entity_summary(id)?.is_none() {
        let text =
            format!("entity {id} is not there at this time, so no grant holds for it; see annals history");
        return Err(Error::new(ErrorKind::NotFound, text).into());
    }
    let reasons = explain(&snapshot, &roles, id)?;
    let mut may: Vec<&str> = Vec::new();
    for verb in reasons.iter().filter(|reason| reason.admits).flat_map(|reason| &reason.verbs) {
        if !may.contains(verb) {
            may.push(verb);
        }
    }
    if context.output.is_json() {
        let of = |reason: &Reason| {
            json!({
                "role": &*reason.role,
                "grant": reason.grant.as_ref().map(Id::to_string),
                "verbs": reason.verbs,
                "admits": reason.admits,
                "leads": reason.leads,
            })
        };
        let all: Vec<_> = reasons.iter().map(of).collect();
        return context
            .output
            .json(&json!({ "name": name, "id": id.to_string(), "verbs": may, "reasons": all }));
    }
    let told = if may.is_empty() { "nothing".to_owned() } else { may.join(", ") };
    context.output.line(format!("{name} may do this with entity {id}: {told}"))?;
    let mut table = Table::new(&["role", "grant", "verbs", "holds"]);
    for reason in &reasons {
        table.row([
            reason.role.to_string(),
            reason.grant.as_ref().map_or_else(|| "built in".to_owned(), Id::to_string),
            reason.verbs.join(" "),
            match (reason.admits, reason.leads) {
                (true, _) => "yes",
                (false, true) => "leads to what it holds for",
                (false, false) => "no",
            }
            .to_owned(),
        ]);
    }
    context.output.table(&mut table)?;
    match missing(id, &roles, &may) {
        Some(text) => context.output.line(text),
        None => Ok(()),
    }
}

/// The entity at a path.
fn at_path(snapshot: &Snapshot, path: &str) -> Result<Id, Error> {
    let found = snapshot.tree().item(&TreePath::parse(path)?)?.map(|item| item.entity.id().clone());
    found.ok_or_else(|| {
        let text =
            format!("path {path}: there is nothing at this time, so no grant holds for it; see annals ls");
        Error::new(ErrorKind::NotFound, text)
    })
}

/// The grant that gives the other verbs, which a grant can give; `None` if none is missing.
fn missing(id: &Id, roles: &[Arc<str>], may: &[&str]) -> Option<String> {
    let lacking = |verb: &&str| !may.contains(verb);
    let verbs: Vec<&str> =
        std::iter::once("read").chain(Right::ALL.map(Right::name)).filter(lacking).collect();
    if verbs.is_empty() {
        return None;
    }
    let role = roles.iter().find(|role| !role_names().any(|known| *known == ***role));
    let role = role.map_or("ROLE", |role| &**role);
    let told = verbs.join(", ");
    let grant = json!({ "role": role, "under": id.to_string(), "verbs": verbs });
    Some(format!("missing for {told}: a grant (annals.Grant) that admits it, such as {grant}"))
}

/// The roles of all tokens of a name that have not expired.
fn roles_of(file: &TokenFile, name: &str) -> Result<Vec<Arc<str>>, Error> {
    let now = Instant::now();
    let mut roles: Vec<Arc<str>> = Vec::new();
    let mut is_known = false;
    for listed in file.list()?.into_iter().filter(|listed| *listed.name == *name) {
        is_known = true;
        roles.extend(listed.roles.iter().filter(|_| listed.stands(now)).cloned());
    }
    if !is_known {
        let text = format!(
            "client {name}: expected a name in the file of tokens, found none; name its roles with --role"
        );
        return Err(Error::new(ErrorKind::NotFound, text));
    }
    roles.sort_unstable();
    roles.dedup();
    Ok(roles)
}
