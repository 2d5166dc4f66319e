//! Tests of the whole door in process, which need its rooms from inside.

mod hidden_or_absent;
mod settled_reads;
mod under_load;
