//! The rows of the suite: their names in the published tables, and their bars.

use Bar::{Component, Free, History, Page, Read, Visits, Write};

/// The kind of a row: its bar is that of the line of `limits` with the worst of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Median, in times of the fdatasync of one durable commit, measured in turn.
    Write,
    /// Median of looking up one instance by its id.
    Read,
    /// Median of the versions of one instance.
    History,
    /// Medians of the first page, of all and of the last one.
    Page,
    /// Median for each returned element.
    Visits,
    /// Median for each element of the connected component.
    Component,
    /// Median of the paths between two entities.
    Linking,
    /// Median of the purge of a hub.
    Free,
}

impl Bar {
    /// The line of the table of limits with the worst row of this bar.
    pub fn line(self) -> &'static str {
        match self {
            Write => "methods-write",
            Read => "methods-read",
            History => "methods-history",
            Page => "methods-page",
            Visits | Component => "methods-walk",
            Bar::Linking => "methods-linking",
            Free => "methods-purge-hub",
        }
    }
}

/// A row of the table.
pub struct Row {
    /// Its profile in the published table.
    pub profile: &'static str,
    pub method: &'static str,
    pub bar: Bar,
}

impl Row {
    /// Its title in the published table.
    pub fn title(&self) -> String {
        format!("{}: {}", self.profile, self.method)
    }

    /// Its name for `--row` and in records, such as `entity-creation-add-entity`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for letter in self.profile.chars().chain([' ']).chain(self.method.chars()) {
            match letter {
                ' ' | '-' => name.push('-'),
                letter if letter.is_ascii_uppercase() && !name.is_empty() && !name.ends_with('-') => {
                    name.push('-');
                    name.push(letter.to_ascii_lowercase());
                }
                letter => name.push(letter.to_ascii_lowercase()),
            }
        }
        name
    }
}

const fn row(profile: &'static str, method: &'static str, bar: Bar) -> Row {
    Row { profile, method, bar }
}

/// Declares the rows, with a name for each.
macro_rules! rows {
    ($($name:ident: $profile:literal $method:literal $bar:expr;)*) => {
        /// A row, for recording samples.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Method { $($name),* }

        /// All rows, in the order of the published tables, and then rows that are not in them.
        pub const ROWS: &[Row] = &[$(row($profile, $method, $bar)),*];
    };
}

rows! {
    AddEntity: "Entity creation" "addEntity" Write;
    SaveEntity: "Entity creation" "saveEntityReferenceCopy" Write;
    FindEntities: "Entity search" "findEntities" Page;
    FindEntitiesByProperty: "Entity search" "findEntitiesByProperty" Page;
    FindEntitiesByText: "Entity search" "findEntitiesByPropertyValue" Page;
    AddRelationship: "Relationship creation" "addRelationship" Write;
    SaveRelationship: "Relationship creation" "saveRelationshipReferenceCopy" Write;
    FindRelationships: "Relationship search" "findRelationships" Page;
    FindRelationshipsByProperty: "Relationship search" "findRelationshipsByProperty" Page;
    FindRelationshipsByText: "Relationship search" "findRelationshipsByPropertyValue" Page;
    Classify: "Entity classification" "classifyEntity" Write;
    SaveClassification: "Entity classification" "saveClassificationReferenceCopy" Write;
    FindByClassification: "Classification search" "findEntitiesByClassification" Page;
    UpdateEntity: "Entity update" "updateEntityProperties" Write;
    NullProperties: "Entity update" "nullPropertiesForEntities" Write;
    UpdateRelationship: "Relationship update" "updateRelationshipProperties" Write;
    UpdateClassification: "Classification update" "updateEntityClassification" Write;
    UndoEntity: "Entity undo" "undoEntityUpdate" Write;
    UndoRelationship: "Relationship undo" "undoRelationshipUpdate" Write;
    KnownEntity: "Entity retrieval" "isEntityKnown" Read;
    EntitySummary: "Entity retrieval" "getEntitySummary" Read;
    GetEntity: "Entity retrieval" "getEntityDetail" Read;
    GetEntityThen: "Entity history retrieval" "getEntityDetail" Read;
    EntityHistory: "Entity history retrieval" "getEntityDetailHistory" History;
    KnownRelationship: "Relationship retrieval" "isRelationshipKnown" Read;
    GetRelationship: "Relationship retrieval" "getRelationship" Read;
    GetRelationshipThen: "Relationship history retrieval" "getRelationship" Read;
    RelationshipHistory: "Relationship history retrieval" "getRelationshipHistory" History;
    FindEntitiesThen: "Entity history search" "findEntities" Page;
    FindEntitiesByPropertyThen: "Entity history search" "findEntitiesByProperty" Page;
    FindEntitiesByTextThen: "Entity history search" "findEntitiesByPropertyValue" Page;
    FindRelationshipsThen: "Relationship history search" "findRelationships" Page;
    FindRelationshipsByPropertyThen: "Relationship history search" "findRelationshipsByProperty" Page;
    FindRelationshipsByTextThen: "Relationship history search" "findRelationshipsByPropertyValue" Page;
    RelationshipsOf: "Graph queries" "getRelationshipsForEntity" Page;
    Neighborhood: "Graph queries" "getEntityNeighborhood" Visits;
    Related: "Graph queries" "getRelatedEntities" Component;
    Linking: "Graph queries" "getLinkingEntities" Bar::Linking;
    RelationshipsOfThen: "Graph history queries" "getRelationshipsForEntity" Page;
    NeighborhoodThen: "Graph history queries" "getEntityNeighborhood" Visits;
    RelatedThen: "Graph history queries" "getRelatedEntities" Component;
    LinkingThen: "Graph history queries" "getLinkingEntities" Bar::Linking;
    RehomeEntity: "Entity re-home" "reHomeEntity" Write;
    RehomeRelationship: "Relationship re-home" "reHomeRelationship" Write;
    Declassify: "Entity declassify" "declassifyEntity" Write;
    PurgeClassification: "Entity declassify" "purgeClassificationReferenceCopy" Write;
    ReidentifyEntity: "Entity re-identify" "reIdentifyEntity" Write;
    ReidentifyRelationship: "Relationship re-identify" "reIdentifyRelationship" Write;
    DeleteRelationship: "Relationship delete" "deleteRelationship" Write;
    DeleteEntity: "Entity delete" "deleteEntity" Write;
    RestoreEntity: "Entity restore" "restoreEntity" Write;
    RestoreRelationship: "Relationship restore" "restoreRelationship" Write;
    PurgeRelationship: "Relationship purge" "purgeRelationship" Write;
    PurgeRelationshipCopy: "Relationship purge" "purgeRelationshipReferenceCopy" Write;
    PurgeEntity: "Entity purge" "purgeEntity" Write;
    PurgeEntityCopy: "Entity purge" "purgeEntityReferenceCopy" Write;
    RetypeToSubtype: "Entity re-type" "reTypeEntitySub" Write;
    RetypeToSupertype: "Entity re-type" "reTypeEntitySuper" Write;
    PurgeHub: "Annals" "purge of an entity with 10,000 relationships" Free;
}

impl Method {
    /// The description of the row.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own() {
        assert_eq!(Method::AddEntity.row().name(), "entity-creation-add-entity");
        assert_eq!(Method::PurgeEntity.row().title(), "Entity purge: purgeEntity");
        let mut names: Vec<String> = ROWS.iter().map(Row::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
    }
}
