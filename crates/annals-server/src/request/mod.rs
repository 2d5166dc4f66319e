//! A request, from its head to the handler: the door that it came to, what it asks for, and the reads and commits of
//! handlers. Must not know how answers look, or which endpoints there are.

// In the order a newcomer should read them.
pub mod hosts;
pub mod cursors;
pub mod door;
pub mod body;
pub mod upload;
pub mod prepared;
pub mod call;
pub mod etag;
pub mod conditions;
pub mod offset;
pub mod granted;
pub mod commit;
