//! The running door: the router of all endpoints, and the two ways to reach it, a port and the calls of a program. It
//! connects all rooms, and no room knows it.

// In the order a newcomer should read them.
pub mod repeats;
#[cfg(feature = "explorer")]
mod explorer_files;
#[cfg(feature = "explorer")]
mod explorer;
pub mod router;
pub mod open_files;
pub mod server_file;
pub mod server;
pub mod in_process;
