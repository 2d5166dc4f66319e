//! The LDP door.

mod resources;
mod members;
mod versions;
mod tags;
mod events;
mod external;
mod fedora;
mod fixity;
mod hostile;
mod refusals;
mod iris;
mod import;
mod said;
mod mixture;
pub mod webac;
mod webac_doors;
mod webac_hiding;
