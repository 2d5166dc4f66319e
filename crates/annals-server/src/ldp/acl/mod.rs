//! Web Access Control: what ACLs give to the client of a request whose role does not give it.

// In the order a newcomer should read them.
pub mod modes;
pub mod authorization;
pub mod web_ids;
pub mod agent;
pub mod permit;
pub mod admission;
pub mod acl_rules;
