//! Containers of the graph for instances, ids, names and links. None of them knows the meaning of an instance.

pub(crate) mod adjacency;
pub(crate) mod column;
pub(crate) mod hash;
pub(crate) mod id_map;
pub(crate) mod late;
pub(crate) mod links;
pub(crate) mod links_page;
pub(crate) mod rows;
pub(crate) mod slot_set;
pub(crate) mod spill_file;
pub(crate) mod symbols;
pub(crate) mod wide;
pub(crate) mod child;
pub(crate) mod link;
