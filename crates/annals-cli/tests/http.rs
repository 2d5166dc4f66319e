//! The HTTP door, tested from outside: the real binary and real sockets.

mod support;
#[path = "../../annals-logs/tests/postgres/server.rs"]
#[allow(dead_code, reason = "these tests use a part of it")]
mod postgres;
#[path = "../../annals-logs/tests/s3/server.rs"]
#[allow(dead_code, reason = "these tests use a part of it")]
mod moto;

mod http {
    mod protocol;
    mod connection;
    mod bounds;
    mod access;
    mod answer;
    mod endpoints;
    mod description;
    mod ldp;
    mod serving;
    mod requests;
}
