//! An instance: packed into a row, decoded to be changed, with its properties, its header and its past.

pub(crate) mod classified;
pub(crate) mod deletions;
pub(crate) mod headers;
pub(crate) mod past;
pub(crate) mod patch;
pub(crate) mod properties;
pub(crate) mod row;
pub(crate) mod row_check;
pub(crate) mod row_convert;
mod row_list;
pub(crate) mod row_pack;
mod row_value;
pub(crate) mod spill;
pub(crate) mod unpacked;
