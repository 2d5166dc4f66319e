//! The layers around every handler: each looks at requests on their way in and at answers on their way out. Must not know
//! which endpoints there are.

// In the order a newcomer should read them.
pub mod observe;
pub mod login;
pub mod shed;
