//! A disk in memory that can lose its power.
