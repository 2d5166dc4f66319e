//! The HTTP door as a library: translates requests into calls of the engine and results into JSON. It decides nothing.
//!
//! [`serve`] opens a repository and serves it until a signal stops it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// In the order a newcomer should read them.
mod server;
mod server_file;
mod in_process;
mod logging;
mod stream;
mod activity;
mod watched;
mod connection;
mod header_names;
mod header_text;
mod open_connections;
mod open_files;
mod limits;
mod access;
mod door;
mod hosts;
mod router;
mod shed;
mod observe;
mod login;
mod request_log;
mod names;
mod endpoint;
mod parameter;
mod parameters;
mod query;
mod body;
mod rate;
mod peers;
mod refusals;
mod patience;
mod content;
mod upload;
mod call;
mod granted;
mod answer;
mod sending;
mod etag;
mod conditions;
mod commit;
mod problem;
mod offset;
mod lines;
mod event_stream;
mod endpoints;
mod ldp;
mod metrics;
#[cfg(test)]
mod hidden_or_absent;
#[cfg(test)]
mod under_load;
mod openapi;
pub mod wire;

pub use access::{
    AccessSettings, Listed, OidcSettings, Reason, TlsSettings, TokenFile, check_name, connector, explain,
    hash_of, role_names,
};
pub use content::digests;
pub use endpoints::{BACKUP_END, external_contents_count};
pub use hosts::{Host, Origin, PublicUrl};
pub use in_process::{Closer, Exchange, InProcess};
pub use ldp::{EXTERNAL, LdpRoot, LdpSettings, SourcePrefix, Sources, WebAc, WebIdPrefix, link, rdf};
pub use limits::{Limits, STREAMS_MAX};
pub use logging::LogSettings;
pub use server::{Settings, serve};
pub use server_file::SERVER_FILE;

/// The OpenAPI document that `/openapi.json` gives.
pub fn description() -> serde_json::Value {
    openapi::document(&endpoints::endpoints())
}
