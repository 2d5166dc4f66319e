//! The methods of HTTP, and what their requests and answers say about a resource.

// In the order a newcomer should read them.
pub mod link;
pub mod headers;
pub mod slug;
pub mod bodies;
pub mod request;
pub mod answers;
pub mod parent;
pub mod get;
pub mod put;
pub mod post;
pub mod patch;
pub mod delete;
pub mod acl;
pub mod activities;
pub mod events;
