//! Changes of earlier versions, and records that are taken back.

mod copies;
mod take_back;
mod taken_places;
mod taken_back_at_once;
mod merged;
