//! Access: which clients come, and what they may do.

pub mod tokens;
mod standing;
mod authors;
mod at_commit;
mod roles;
mod grants;
mod grants_to_write;
mod grants_beside_twins;
mod ways;
mod probing;
mod many_grants;
mod refusals;
mod oidc;
pub mod hosts;
