//! The answer to a write of a content.

use annals::{Content, Id, Receipt};
use annals_json::named_forms;
use annals_json::wire::{ByName, form};
use serde_json::{Value as Json, json};

named_forms![ContentReceipt];

/// A content that a new version names.
#[form]
#[schemars(example = json!({
    "id": "page-1", "property": "content", "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "size": 3, "mediaType": "image/tiff", "name": "scan.tif", "digests": { "md5": "900150983cd24fb0d6963f7d28e17f72" },
    "isNew": true, "position": 42, "instant": "2025-08-09T00:00:00Z",
}))]
pub struct ContentReceipt {
    pub id: String,
    pub property: String,
    /// Hexadecimal digits.
    pub sha256: String,
    /// Units: bytes.
    pub size: u64,
    pub media_type: String,
    #[serde(default)]
    pub name: Option<String>,
    /// Further digests by algorithm, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub digests: ByName<String>,
    /// False if the store had the same bytes already.
    pub is_new: bool,
    pub position: u64,
    pub instant: String,
}

impl ContentReceipt {
    /// The answer in JSON.
    pub fn json(id: &Id, property: &str, content: &Content, is_new: bool, receipt: &Receipt) -> Json {
        let digests = content.digests.iter();
        let receipt = ContentReceipt {
            id: id.to_string(),
            property: property.to_owned(),
            sha256: content.sha256.to_string(),
            size: content.size,
            media_type: content.media_type.to_string(),
            name: content.name.as_deref().map(str::to_owned),
            digests: digests
                .map(|digest| (digest.algorithm().name().to_owned(), digest.to_string()))
                .collect(),
            is_new,
            position: receipt.position.0,
            instant: receipt.instant.to_string(),
        };
        serde_json::to_value(receipt).expect("texts and numbers have a JSON form")
    }
}
