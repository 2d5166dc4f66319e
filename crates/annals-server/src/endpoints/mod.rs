//! The endpoints, one file for each group: paths, descriptions and handlers. Must not know the layers around them, or the
//! connections.

// In the order of the description.
mod instances;
mod delete_in_steps;
mod lifecycle;
mod versions;
mod neighbors;
mod walk_query;
mod walks;
mod graph;
mod graph_files;
mod line_writer;
mod groups;
mod find;
mod complete;
mod tree;
mod tree_changes;
mod differences;
mod content;
mod classifications;
mod types;
mod transactions;
mod candidates;
mod operational;
mod log;
mod records;
mod import_report;
mod import_csv;
mod import;
mod export;
mod inspection;
mod compactions;
mod backup;
mod feed_events;
mod feed;
mod health;

pub use backup::{BACKUP_END, external_contents_count};
pub use transactions::{PATH as TRANSACTIONS, repeated as repeated_transaction};

use crate::description::endpoint::Endpoint;

/// All endpoints, in the order of the description.
pub fn endpoints() -> Vec<Endpoint> {
    let groups: &[fn() -> Vec<Endpoint>] = &[
        instances::endpoints,
        lifecycle::endpoints,
        versions::endpoints,
        neighbors::endpoints,
        walks::endpoints,
        graph::endpoints,
        find::endpoints,
        complete::endpoints,
        tree::endpoints,
        tree_changes::endpoints,
        differences::endpoints,
        content::endpoints,
        classifications::endpoints,
        types::endpoints,
        transactions::endpoints,
        candidates::endpoints,
        operational::endpoints,
        log::endpoints,
        records::endpoints,
        import::endpoints,
        export::endpoints,
        inspection::endpoints,
        compactions::endpoints,
        backup::endpoints,
        feed::endpoints,
        health::endpoints,
    ];
    groups.iter().flat_map(|endpoints| endpoints()).collect()
}
