//! `annals import ldp`: copies the resources of an LDP server, such as Fedora, into a running Annals server.

use std::time::Duration;

use annals::{Error, ErrorKind, Result};
use annals_exchange::text::{count, one_line};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::Args;
use hyper::Uri;
use hyper::header::HeaderValue;
use serde_json::json;

use crate::context::Context;
use crate::ldp_import::{CopyOptions, CopyReport, import};
use crate::output::bytes;
use crate::progress::Progress;
use crate::stop::{Outcome, REFUSED_LINES, Stop};

/// Levels below the root that are copied, by default.
const DEPTH_MAX: u16 = 200;
/// Resources that are copied at most, by default.
const RESOURCES_MAX: u64 = 10_000_000;
/// Largest binary, by default. Units: bytes.
const BINARY_BYTES_MAX: u64 = 1 << 40;
/// Largest document by default: one of some 400,000 children. Units: bytes.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;
/// Longest wait for an answer, by default. Units: seconds.
const WAIT_SECONDS_MAX: u64 = 60;

/// Options of `import ldp`.
#[derive(Args, Debug)]
#[command(next_help_heading = "LDP")]
pub struct LdpArguments {
    /// User and password for the source, as USER:PASSWORD
    #[arg(long, value_name = "USER:PASSWORD", env = "ANNALS_SOURCE_USER", hide_env_values = true)]
    source_user: Option<String>,
    /// Leave out the pairs of digits that Fedora 4 puts before the UUID of a posted resource: /a/3f/51/af/56/3f51af56-…
    /// becomes /a/3f51af56-…, everywhere
    #[arg(long)]
    shorten_pairs: bool,
    /// Copy at most this many levels below the root
    #[arg(long, value_name = "N", default_value_t = DEPTH_MAX, value_parser = clap::value_parser!(u16).range(1..=250))]
    depth_max: u16,
    /// Copy at most this many resources
    #[arg(long, value_name = "N", default_value_t = RESOURCES_MAX)]
    resources_max: u64,
    /// Largest binary, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = BINARY_BYTES_MAX)]
    binary_max: u64,
    /// Largest document in RDF, in bytes: a container names all of its children in one
    #[arg(long, value_name = "BYTES", default_value_t = DOCUMENT_BYTES_MAX, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    document_max: u64,
    /// Longest wait for an answer, and between two parts of one, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_SECONDS_MAX, value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait_max: u64,
}

impl LdpArguments {
    /// An option that is given on the command line.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.shorten_pairs, "--shorten-pairs"),
            (self.depth_max != DEPTH_MAX, "--depth-max"),
            (self.resources_max != RESOURCES_MAX, "--resources-max"),
            (self.binary_max != BINARY_BYTES_MAX, "--binary-max"),
            (self.document_max != DOCUMENT_BYTES_MAX, "--document-max"),
            (self.wait_max != WAIT_SECONDS_MAX, "--wait-max"),
        ];
        all.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// The further arguments of the command line.
pub struct Common<'a> {
    /// Source and target.
    pub addresses: &'a [String],
    /// The author of the writes.
    pub author: &'a str,
    /// Why.
    pub message: &'a str,
    /// Most refused resources that are shown.
    pub errors_max: u64,
}

/// Copies, and prints what was done.
pub fn run(context: &mut Context, arguments: &LdpArguments, common: &Common<'_>) -> Outcome {
    let options = options(arguments, common)?;
    let is_json = context.output.is_json();
    let started = std::time::Instant::now();
    let progress = Progress::new("import", "resources");
    let mut report = CopyReport::default();
    let mut told_count = 0;
    let mut tell = |iri: &str, reason: &str| {
        told_count += 1;
        progress.suspend(|| match told_count {
            shown if shown <= common.errors_max && is_json => {
                tell!("{}", json!({ "refused": { "resource": iri, "reason": reason } }));
            }
            shown if shown <= common.errors_max => tell!("{}: {}", one_line(iri), one_line(reason)),
            shown if shown == common.errors_max + 1 && !is_json => {
                tell!("more resources are refused and counted, not shown; see --errors-max");
            }
            _ => {}
        });
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("start the client", error))?;
    let mut show = |seen_count| progress.set(seen_count, None);
    let outcome = runtime.block_on(import(&options, &mut report, &mut tell, &mut show));
    progress.finish();
    let seconds = started.elapsed().as_secs_f64();
    if is_json {
        context.output.json(&json!({
            "created": report.created_count,
            "updated": report.updated_count,
            "unchanged": report.unchanged_count,
            "refused": report.refused_count,
            "binaries": report.binaries_count,
            "bytes": report.bytes,
            "withoutDigest": report.unproven_count,
            "seconds": seconds,
        }))?;
    } else {
        context.output.line(format!(
            "copied {} resources: created {}, updated {}, unchanged {}, refused {} ({seconds:.1} s)",
            count(report.seen_count() - report.refused_count),
            count(report.created_count),
            count(report.updated_count),
            count(report.unchanged_count),
            count(report.refused_count),
        ))?;
        if report.binaries_count > 0 {
            context.output.line(format!(
                "wrote {} binaries with {}; the source stated no digest for {}",
                count(report.binaries_count),
                bytes(report.bytes),
                count(report.unproven_count),
            ))?;
        }
    }
    outcome?;
    if report.refused_count > 0 { Err(Stop::Silent(REFUSED_LINES)) } else { Ok(()) }
}

fn options(arguments: &LdpArguments, common: &Common<'_>) -> Result<CopyOptions> {
    let [from, to] = common.addresses else {
        let text = format!(
            "import ldp: expected the addresses of two root containers, such as http://localhost:8080/rest \
             http://localhost:8280/ldp, found {}",
            common.addresses.len()
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    };
    let authorization = arguments.source_user.as_ref().map(|user| {
        let value = HeaderValue::try_from(format!("Basic {}", BASE64.encode(user)));
        let mut value = value.expect("base64 is ASCII");
        value.set_sensitive(true);
        value
    });
    Ok(CopyOptions {
        from: address(from)?,
        to: address(to)?,
        authorization,
        author: common.author.to_owned(),
        message: common.message.to_owned(),
        are_pairs_short: arguments.shorten_pairs,
        depth_max: usize::from(arguments.depth_max),
        resources_max: usize::try_from(arguments.resources_max).unwrap_or(usize::MAX),
        binary_bytes_max: arguments.binary_max,
        document_bytes_max: usize::try_from(arguments.document_max).unwrap_or(usize::MAX),
        time: Duration::from_secs(arguments.wait_max),
    })
}

/// Errors: `InvalidArgument` for anything but an address with `http://`.
fn address(text: &str) -> Result<String> {
    let invalid = |found: &str| {
        let text = format!("{text}: expected an address such as http://localhost:8080/rest, found {found}");
        Error::new(ErrorKind::InvalidArgument, text)
    };
    let uri: Uri = text.parse().map_err(|error: hyper::http::uri::InvalidUri| invalid(&error.to_string()))?;
    let authority = uri.authority().map(|authority| authority.as_str());
    match (uri.scheme_str(), authority) {
        (Some("http"), Some(authority)) if !authority.contains('@') && uri.query().is_none() => {
            Ok(text.to_owned())
        }
        (Some("http"), Some(_)) => Err(invalid("a user or a query; give a user with --source-user")),
        (Some("https"), _) => {
            Err(invalid("https, which this command does not speak; put a proxy for TLS in front of it"))
        }
        _ => Err(invalid("none")),
    }
}
