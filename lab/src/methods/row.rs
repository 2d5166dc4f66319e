//! The rows of the suite: their names in the published tables, and their bars.

use Bar::{Component, Free, History, Page, Read, Visits, Write};

/// The bar of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Median: a multiple of the fdatasync of one durable commit, measured in turn.
    Write,
    /// Median of looking up one instance by its id.
    Read,
    /// Median of the versions of one instance.
    History,
    /// Median of a page, the first and the last one; twice as much at larger volumes.
    Page,
    /// Median for each returned element.
    Visits,
    /// Median for each element of the connected component.
    Component,
    /// Median, at the volume that the issue names.
    Linking,
    /// No bar.
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
    /// Samples of the published run at 0005-02.
    pub published: usize,
}

impl Row {
    /// Its title in the published table.
    pub fn title(&self) -> String {
        format!("{}: {}", self.profile, self.method)
    }

    /// Its name for `--rows` and JSON, such as `entity-creation-add-entity`.
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

const fn row(profile: &'static str, method: &'static str, bar: Bar, published: usize) -> Row {
    Row { profile, method, bar, published }
}

/// Declares the rows, with a name for each.
macro_rules! rows {
    ($($name:ident: $profile:literal $method:literal $bar:expr, $published:literal;)*) => {
        /// A row, for recording samples.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Method { $($name),* }

        /// All rows, in the order of the published tables, and then rows that are not in them.
        pub const ROWS: &[Row] = &[$(row($profile, $method, $bar, $published)),*];
    };
}

rows! {
    AddEntity: "Entity creation" "addEntity" Write, 1370;
    SaveEntity: "Entity creation" "saveEntityReferenceCopy" Write, 1370;
    FindEntities: "Entity search" "findEntities" Page, 7520;
    FindEntitiesByProperty: "Entity search" "findEntitiesByProperty" Page, 3174;
    FindEntitiesByText: "Entity search" "findEntitiesByPropertyValue" Page, 1219;
    AddRelationship: "Relationship creation" "addRelationship" Write, 1090;
    SaveRelationship: "Relationship creation" "saveRelationshipReferenceCopy" Write, 1090;
    FindRelationships: "Relationship search" "findRelationships" Page, 1406;
    FindRelationshipsByProperty: "Relationship search" "findRelationshipsByProperty" Page, 1825;
    FindRelationshipsByText: "Relationship search" "findRelationshipsByPropertyValue" Page, 405;
    Classify: "Entity classification" "classifyEntity" Write, 540;
    SaveClassification: "Entity classification" "saveClassificationReferenceCopy" Write, 540;
    FindByClassification: "Classification search" "findEntitiesByClassification" Page, 411;
    UpdateEntity: "Entity update" "updateEntityProperties" Write, 1360;
    NullProperties: "Entity update" "nullPropertiesForEntities" Write, 315;
    UpdateRelationship: "Relationship update" "updateRelationshipProperties" Write, 490;
    UpdateClassification: "Classification update" "updateEntityClassification" Write, 265;
    UndoEntity: "Entity undo" "undoEntityUpdate" Write, 1365;
    UndoRelationship: "Relationship undo" "undoRelationshipUpdate" Write, 490;
    KnownEntity: "Entity retrieval" "isEntityKnown" Read, 1370;
    EntitySummary: "Entity retrieval" "getEntitySummary" Read, 1370;
    GetEntity: "Entity retrieval" "getEntityDetail" Read, 1370;
    GetEntityThen: "Entity history retrieval" "getEntityDetail" Read, 1370;
    EntityHistory: "Entity history retrieval" "getEntityDetailHistory" History, 1370;
    KnownRelationship: "Relationship retrieval" "isRelationshipKnown" Read, 1090;
    GetRelationship: "Relationship retrieval" "getRelationship" Read, 1090;
    GetRelationshipThen: "Relationship history retrieval" "getRelationship" Read, 1090;
    RelationshipHistory: "Relationship history retrieval" "getRelationshipHistory" History, 1090;
    FindEntitiesThen: "Entity history search" "findEntities" Page, 6703;
    FindEntitiesByPropertyThen: "Entity history search" "findEntitiesByProperty" Page, 878;
    FindEntitiesByTextThen: "Entity history search" "findEntitiesByPropertyValue" Page, 1261;
    FindRelationshipsThen: "Relationship history search" "findRelationships" Page, 1308;
    FindRelationshipsByPropertyThen: "Relationship history search" "findRelationshipsByProperty" Page, 201;
    FindRelationshipsByTextThen: "Relationship history search" "findRelationshipsByPropertyValue" Page, 405;
    RelationshipsOf: "Graph queries" "getRelationshipsForEntity" Page, 800;
    Neighborhood: "Graph queries" "getEntityNeighborhood" Visits, 4110;
    Related: "Graph queries" "getRelatedEntities" Component, 1370;
    Linking: "Graph queries" "getLinkingEntities" Bar::Linking, 2161;
    RelationshipsOfThen: "Graph history queries" "getRelationshipsForEntity" Page, 800;
    NeighborhoodThen: "Graph history queries" "getEntityNeighborhood" Visits, 4110;
    RelatedThen: "Graph history queries" "getRelatedEntities" Component, 1370;
    LinkingThen: "Graph history queries" "getLinkingEntities" Bar::Linking, 2161;
    RehomeEntity: "Entity re-home" "reHomeEntity" Write, 548;
    RehomeRelationship: "Relationship re-home" "reHomeRelationship" Write, 436;
    Declassify: "Entity declassify" "declassifyEntity" Write, 48;
    PurgeClassification: "Entity declassify" "purgeClassificationReferenceCopy" Write, 106;
    ReidentifyEntity: "Entity re-identify" "reIdentifyEntity" Write, 1365;
    ReidentifyRelationship: "Relationship re-identify" "reIdentifyRelationship" Write, 1090;
    DeleteRelationship: "Relationship delete" "deleteRelationship" Write, 2180;
    DeleteEntity: "Entity delete" "deleteEntity" Write, 2724;
    RestoreEntity: "Entity restore" "restoreEntity" Write, 1370;
    RestoreRelationship: "Relationship restore" "restoreRelationship" Write, 1090;
    PurgeRelationship: "Relationship purge" "purgeRelationship" Write, 1090;
    PurgeRelationshipCopy: "Relationship purge" "purgeRelationshipReferenceCopy" Write, 654;
    PurgeEntity: "Entity purge" "purgeEntity" Write, 1370;
    PurgeEntityCopy: "Entity purge" "purgeEntityReferenceCopy" Write, 706;
    RetypeToSubtype: "Entity re-type" "reTypeEntitySub" Write, 315;
    RetypeToSupertype: "Entity re-type" "reTypeEntitySuper" Write, 1365;
    PurgeHub: "Annals" "purge of an entity with 10,000 relationships" Free, 0;
}

/// Number of rows in the published tables; the rows after them are additional.
pub const PUBLISHED_COUNT: usize = 56;

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
        assert_eq!(Method::RetypeToSubtype as usize, PUBLISHED_COUNT);
        let mut names: Vec<String> = ROWS.iter().map(Row::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
    }
}
