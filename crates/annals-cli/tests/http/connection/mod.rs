//! Connections: many, with TLS, and through a proxy.

mod connections;
mod tls;
pub mod nginx;
