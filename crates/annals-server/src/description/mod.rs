//! Endpoints as values, and the description that is made from them: `/openapi.json`. Must not know which endpoints there
//! are.

// In the order a newcomer should read them.
pub mod parameters;
pub mod endpoint;
pub mod openapi;
