//! The HTTP door, tested from outside: the real binary and real sockets.

mod support;

mod http {
    mod conditions;
    mod durability;
    mod feed;
    mod hostile;
    mod limits;
    mod lines;
    mod methods;
    mod protocol;
    mod unread;
}
