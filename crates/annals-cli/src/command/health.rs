//! `annals health`: asks a server whether it lives, for container runtimes and scripts.

use std::time::Duration;

use annals_exchange::text::one_line;
use clap::Args;
use serde_json::{Value as Json, json};

use super::listing::json_of_line;
use crate::context::{Context, Global};
use crate::place::Place;
use crate::remote::Remote;
use crate::request::Request;
use crate::stop::{Outcome, Stop};

/// Longest time until the answer. One that takes longer is none.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The address that `annals serve` listens at, if nobody names another.
const USUAL: &str = "http://127.0.0.1:8280";

/// Ask a server whether it lives; exit code 0 if it does
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals health                             # http://127.0.0.1:8280
  annals health http://127.0.0.1:8301
  annals health --ready                     # is the repository open, and does it take writes?
It needs no token. A server that opens its repository lives, and is not ready.")]
pub struct Arguments {
    /// Address of the server [default: that of --server, or http://127.0.0.1:8280]
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Ask whether it is ready, too: its repository is open, and takes writes unless it is read-only
    #[arg(long = "ready")]
    is_ready: bool,
}

/// Asks, and prints the answer.
pub fn run(context: &mut Context, arguments: &Arguments, global: &Global) -> Outcome {
    let url = arguments.url.clone().or_else(|| global.server()).unwrap_or_else(|| USUAL.to_owned());
    let (path, name) = if arguments.is_ready { ("/health/ready", "ready") } else { ("/health/live", "live") };
    let remote = Remote::new(&url, None, global.ca_file.as_deref())?.within(ANSWER_TIME);
    let asked = Place::Server(Box::new(remote)).ask(Request::get(path));
    let told = asked.and_then(|mut answer| answer.whole()).and_then(|whole| Ok(json_of_line(&whole)?));
    let told = told.map_err(|stop| named(stop, &url))?;
    let is_well = told[name] == Json::Bool(true);
    if context.output.is_json() {
        context.output.json(&json!({ "server": url, name: is_well }))?;
    } else if is_well {
        context.output.line(format!("{} is {name}", one_line(&url)))?;
    }
    if is_well {
        return Ok(());
    }
    Err(Stop::Failed(annals::Error::new(
        annals::ErrorKind::Unavailable,
        format!("server {url}: expected one that is {name}, found another answer"),
    )))
}

/// A refusal that names its server.
fn named(stop: Stop, url: &str) -> Stop {
    match stop {
        Stop::Told(mut told) => {
            told.context.push(("server".to_owned(), url.to_owned()));
            Stop::Told(told)
        }
        stop => stop,
    }
}
