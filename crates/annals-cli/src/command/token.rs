//! `annals token`: makes, lists and revokes the tokens of clients of a server.

use std::path::PathBuf;
use std::sync::Arc;

use annals::{Error, ErrorKind, Instant};
use annals_server::{Listed, TokenFile, check_name, hash_of, role_names};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::stop::Outcome;

/// Make, list and revoke the tokens by which clients of `annals serve --tokens` prove who they are.
///
/// The file holds hashes only. `annals token new` shows the token once; nothing can show it again. A server reads the file
/// again on SIGHUP.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  annals token new ada --role write --tokens /etc/annals/tokens
  annals token new metrics --role operate --expires 90d > metrics.token
  annals token new backup --role read --role operate --expires never
  annals token new proxy-user --role read --no-secret        # roles for a name that a proxy or a certificate proves
  annals token list
  annals token revoke ada --id 3f2a91c0 && systemctl reload annals")]
pub struct Arguments {
    /// The file of tokens.
    #[arg(long, value_name = "FILE", env = "ANNALS_TOKENS", global = true, default_value = "annals-tokens")]
    tokens: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Make a token, and print it once.
    New(New),
    /// List the tokens: name, id, roles, expiry.
    List,
    /// Revoke the tokens of a name, or one of them.
    Revoke(Revoke),
}

#[derive(Clone, Debug, clap::Args)]
struct New {
    /// The name of the client, which becomes the author of all that it writes.
    name: String,
    /// A role: admin, operate, read, write, or one of your own, which reads what grants in the repository admit;
    /// repeatable.
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<String>,
    /// An instant, how long from now (12h, 90d, 52w), or `never`. If left out, a token expires after 365 days, and roles
    /// without one never.
    #[arg(long, value_name = "WHEN", value_parser = expiry)]
    expires: Option<Expiry>,
    /// Give roles to a name that a client certificate or a proxy proves, without a token.
    #[arg(long)]
    no_secret: bool,
}

/// When a token expires.
#[derive(Clone, Debug)]
enum Expiry {
    Never,
    At(Instant),
}

#[derive(Clone, Debug, clap::Args)]
struct Revoke {
    /// The name of the client.
    name: String,
    /// Only the token with this id, as `annals token list` shows it.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

/// How long a token is good if nobody says. Units: hours.
const DEFAULT_HOURS: i64 = 365 * 24;

/// Runs the command.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let file = TokenFile::at(&arguments.tokens);
    match &arguments.command {
        Command::New(new) => make(context, &file, new),
        Command::List => list(context, &file),
        Command::Revoke(revoke) => remove(context, &file, revoke),
    }
}

fn make(context: &mut Context, file: &TokenFile, new: &New) -> Outcome {
    check_name(&new.name)?;
    for role in &new.roles {
        check_name(role).map_err(|error| error.with("role", role))?;
        if !role_names().any(|known| known == role) {
            let known = role_names().collect::<Vec<_>>().join(", ");
            tell!("The role {role} is none of {known}: it reads what grants in the repository admit.");
        }
    }
    let expires = match &new.expires {
        Some(Expiry::At(instant)) => Some(*instant),
        None if !new.no_secret => Some(after_hours(DEFAULT_HOURS)?),
        Some(Expiry::Never) | None => None,
    };
    let line = |token: &str| Listed {
        name: new.name.as_str().into(),
        hash: (!new.no_secret).then(|| hash_of(token)),
        roles: new.roles.iter().map(|role| Arc::from(role.as_str())).collect(),
        expires,
    };
    let token = file.add(line, &new.name)?;
    let id = line(&token).id();
    if new.no_secret {
        return tell(context, &json!({ "name": new.name, "id": id }), || new.name.clone());
    }
    let until = expires.map(|instant| instant.to_string());
    let json = json!({ "name": new.name, "id": id, "token": token, "expires": until });
    tell(context, &json, || token.clone())?;
    let until = until.map_or_else(|| "never".to_owned(), |until| format!("at {until}"));
    tell!("It expires {until}; --expires WHEN, or never, chooses another end.");
    tell!("This token is shown once. The server takes it after it has read the file again (SIGHUP).");
    Ok(())
}

fn list(context: &mut Context, file: &TokenFile) -> Outcome {
    let now = Instant::now();
    for listed in file.list()? {
        let roles = listed.roles.join(",");
        let expires = listed.expires.map_or_else(|| "never".to_owned(), |instant| instant.to_string());
        let (id, is_expired) = (listed.id(), !listed.stands(now));
        let json = json!({
            "name": &*listed.name,
            "id": id,
            "roles": listed.roles.iter().map(|role| &**role).collect::<Vec<_>>(),
            "expires": listed.expires.map(|instant| instant.to_string()),
            "expired": is_expired,
        });
        let mark = if is_expired { " (expired)" } else { "" };
        tell(context, &json, || format!("{}  {id}  {roles}  {expires}{mark}", listed.name))?;
    }
    Ok(())
}

fn remove(context: &mut Context, file: &TokenFile, revoke: &Revoke) -> Outcome {
    let removed = file.remove(&revoke.name, revoke.id.as_deref())?;
    if removed == 0 {
        let which = revoke.id.as_ref().map(|id| format!(" with the id {id}")).unwrap_or_default();
        let text = format!("token {}{which}: there is none; see annals token list", revoke.name);
        return Err(Error::new(ErrorKind::NotFound, text).into());
    }
    let text = || format!("revoked {removed} of {}; a server knows after SIGHUP", revoke.name);
    tell(context, &json!({ "name": revoke.name, "revoked": removed }), text)
}

fn tell(context: &mut Context, json: &Json, text: impl FnOnce() -> String) -> Outcome {
    if context.output.is_json() { context.output.json(json) } else { context.output.line(text()) }
}

/// An instant, a duration from now, or `never`.
fn expiry(text: &str) -> Result<Expiry, Error> {
    if text == "never" {
        return Ok(Expiry::Never);
    }
    let hours = text.char_indices().next_back().and_then(|(end, unit)| {
        let number: i64 = text[..end].parse().ok().filter(|number| *number > 0)?;
        number.checked_mul(match unit {
            'h' => 1,
            'd' => 24,
            'w' => 7 * 24,
            _ => return None,
        })
    });
    let instant = match hours {
        Some(hours) => after_hours(hours).ok(),
        None => text.parse().ok(),
    };
    instant.map(Expiry::At).ok_or_else(|| {
        let text = format!(
            "{text:?}: expected an instant (2027-08-09T12:00:00Z), a date, how long (12h, 90d, 52w), or never"
        );
        Error::new(ErrorKind::InvalidArgument, text)
    })
}

/// The instant so many hours from now.
fn after_hours(hours: i64) -> Result<Instant, Error> {
    let micros =
        hours.checked_mul(3_600_000_000).and_then(|micros| Instant::now().micros().checked_add(micros));
    Instant::from_micros(micros.unwrap_or(i64::MAX))
}
