//! The HTTP door as a library: translates requests into calls of the engine and results into JSON. It decides nothing.
//!
//! [`serve`] opens a repository and serves it until a signal stops it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// Rooms, each of which imports only those before it; `crates/annals/tests/imports.rs` checks it.
mod protocol;
mod bounds;
mod reporting;
mod ldp_types;
mod access;
mod connection;
mod request;
mod answer;
mod content;
pub mod wire;
mod description;
mod layers;
mod ldp;
mod endpoints;
mod serving;
#[cfg(test)]
mod tests;

pub use access::{
    AccessSettings, Listed, OidcSettings, Reason, TlsSettings, TokenFile, check_name, connector, explain,
    hash_of, role_names,
};
pub use bounds::limits::{Limits, STREAMS_MAX};
pub use content::digests;
pub use endpoints::{BACKUP_END, external_contents_count};
pub use ldp::{EXTERNAL, LdpRoot, LdpSettings, SourcePrefix, Sources, WebAc, WebIdPrefix, link, rdf};
pub use protocol::machine::is_this_machine;
pub use reporting::logging::LogSettings;
pub use request::hosts::{Host, Origin, PublicUrl};
pub use serving::in_process::{Closer, Exchange, InProcess};
pub use serving::server::{Settings, serve};
pub use serving::server_file::KnownServer;

/// The OpenAPI document that `/openapi.json` gives.
pub fn description() -> serde_json::Value {
    description::openapi::document(&endpoints::endpoints())
}
