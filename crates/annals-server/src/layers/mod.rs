//! The layers around every handler: each looks at requests on their way in and at answers on their way out. Must not know
//! which endpoints there are.

// In the order a newcomer should read them.
pub mod shed;
pub mod observe;
pub mod request_ids;
pub mod origins;
pub mod login;
pub mod compression;
pub mod admit;
