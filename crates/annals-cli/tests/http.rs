//! The HTTP door, tested from outside: the real binary and real sockets.

mod support;

mod http {
    mod access;
    mod authors;
    mod candidates;
    mod conditions;
    mod connections;
    mod contents;
    mod description;
    mod every_endpoint;
    mod durability;
    mod exporting;
    mod feed;
    mod grants;
    mod grants_to_write;
    mod refusals;
    mod graph_files;
    mod hostile;
    mod hosts;
    mod importing;
    mod limits;
    mod lines;
    mod ldp;
    mod ldp_import;
    mod ldp_events;
    mod ldp_external;
    mod ldp_fedora;
    mod ldp_fixity;
    mod ldp_hostile;
    mod ldp_iris;
    mod ldp_members;
    mod ldp_mixture;
    mod ldp_refusals;
    mod ldp_tags;
    mod ldp_versions;
    mod log;
    mod memory;
    mod methods;
    mod mistakes;
    mod nginx;
    mod oidc;
    mod operating;
    mod operational;
    mod parameters;
    mod protocol;
    mod roles;
    mod shares;
    mod tls;
    mod trees;
    mod unchanged;
    mod unread;
    mod webac;
    mod webac_doors;
    mod webac_hiding;
}
