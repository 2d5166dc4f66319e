//! Requests that come again with the header `Idempotency-Key`: they are committed once, and each repeat gets the first receipt.

use std::sync::Arc;

use annals::{IdempotencyKey, Receipt};
use http::{HeaderValue, Method, StatusCode};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::endpoints::{TRANSACTIONS, repeated_transaction};
use crate::protocol::names::{IDEMPOTENCY_KEY, REPLAYED};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::door::Door;

/// A longer key is refused. Units: bytes.
const KEY_BYTES_MAX: usize = 255;

/// The key of a request. A read needs none, and one with it is a read.
///
/// Errors: `invalid-argument` for an empty or a long key, for several, and for a write that keeps none.
pub fn key_of(call: &Call, is_kept: bool) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(text) = call.header(&IDEMPOTENCY_KEY)? else { return Ok(None) };
    if [Method::GET, Method::HEAD].contains(&call.method) {
        return Ok(None);
    }
    let name = IDEMPOTENCY_KEY.as_str();
    // The draft of the header has the text in quotation marks; most clients send it without.
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text);
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let found = key.len();
        return Err(Problem::invalid(format!(
            "header {name}: expected 1 to {KEY_BYTES_MAX} bytes, found {found}; send a UUID"
        )));
    }
    if !is_kept || call.query.get("candidate").is_some() {
        return Err(Problem::invalid(format!(
            "header {name}: expected a write that keeps the key in its record, found another one; send it without"
        )));
    }
    // Not the host: another server has another one.
    let address = call.uri.path_and_query().map_or("/", |address| address.as_str());
    let request = format!("{} {address}", call.method);
    Ok(Some(IdempotencyKey::new(&call.principal.name, key, &request)))
}

/// Answers a request with a key: with the receipt if it is committed already, also by another server, or meanwhile.
pub async fn once(endpoint: &Endpoint, call: Call, key: IdempotencyKey) -> Outcome {
    let door = Arc::clone(&call.door);
    if let Some(receipt) = known(&door, &key)? {
        return replayed(endpoint, &door, receipt).await;
    }
    let outcome = (endpoint.handler)(Box::new(call)).await;
    match outcome {
        // Two tries at once: the later one may fail in many ways, because the earlier one has done it all.
        Err(problem) => match known(&door, &key)? {
            Some(receipt) => replayed(endpoint, &door, receipt).await,
            None => Err(problem),
        },
        answered => answered,
    }
}

/// The receipt of the commit with this key, as far as this server has read the log.
///
/// Errors: `invalid-argument` if it was the key of another request; `opening`, `stopping`.
fn known(door: &Door, key: &IdempotencyKey) -> Result<Option<Receipt>, Problem> {
    Ok(door.snapshot()?.receipt_of(key)?)
}

/// The answer to a repeat.
async fn replayed(endpoint: &Endpoint, door: &Arc<Door>, receipt: Receipt) -> Outcome {
    let body = match endpoint.path {
        TRANSACTIONS => repeated_transaction(door, receipt).await?,
        _ => answer::receipt_to_json(&receipt),
    };
    let mut response = answer::json(StatusCode::OK, &body, receipt.position);
    response.headers_mut().insert(&REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}
