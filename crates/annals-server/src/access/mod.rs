//! Access: which client sends a request, and what its roles allow. Must not know the door, or what a request asks.
//!
//! [`Access`] proves the [`Principal`] of each request once, in front of all doors (`layers/login`). The principal goes with the
//! request. Each operation names the [`Verb`]s that it needs in one table ([`needs`]), and each transaction is checked
//! by its own changes before it is committed ([`may_commit`]).

// In the order a newcomer should read them.
mod verb;
mod principal;
mod needs;
mod grants;
mod limited;
mod explain;
mod acl_changes;
mod change_verbs;
mod may_commit;
mod settings;
mod tokens;
mod token_file;
mod failed_logins;
mod lease_owners;
mod client_certificate;
mod tls;
mod trust;
mod jwt;
mod key_fetch;
mod oidc;
mod proofs;
mod server_proof;

pub use client_certificate::Shown;
pub use explain::{Reason, explain};
pub use grants::Grants;
pub use lease_owners::LeaseOwners;
pub use limited::{limit, told_to};
pub use may_commit::may_commit;
pub use needs::{Needs, of_ldp, of_operation};
pub use oidc::OidcSettings;
pub use principal::{Principal, unauthenticated};
pub use proofs::{Access, Client, Unknown};
pub use server_proof::{PROOF_DIGITS, ServerProof, challenge, is_digits};
pub use settings::AccessSettings;
pub use tls::{Tls, TlsSettings};
pub use token_file::TokenFile;
pub use tokens::{Listed, check_name, hash_of};
pub use trust::connector;
pub use verb::{Verb, Verbs, role_names};
