//! The graph value and the persistent structures that it is made of.

// The graph value is the only user of these structures; until it calls all of them the lint would be noise.
#![allow(dead_code)]

pub(crate) mod vector;

pub(crate) mod id_map;

pub(crate) mod key_set;
