//! The HTTP door, tested from outside: the real binary and real sockets.

mod support;

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
