//! The running server: its start, its stop, and what its operators see.

mod operating;
mod durability;
mod beside_a_writer;
mod small_followers;
mod standby;
mod takeovers;
mod shared_objects;
mod far_servers;
