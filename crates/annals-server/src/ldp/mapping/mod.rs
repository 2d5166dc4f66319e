//! The mapping to triples: resources as entities, their graphs, their tags, and the writes of them.

// In the order a newcomer should read them.
pub mod vocabulary;
pub mod path;
pub mod readable;
pub mod base;
pub mod constraints;
pub mod model;
pub mod stored_names;
pub mod term;
pub mod view;
pub mod triples;
pub mod membership;
pub mod facts;
pub mod statements;
pub mod rule_check;
pub mod inbound;
pub mod prefer;
pub mod resource_graph;
pub mod shown;
pub mod resource_tag;
pub mod writer;
pub mod changes;
pub mod removal;
pub mod acl_writer;
