//! Requests to the HTTP door in process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use annals::Result;
use annals_server::Exchange;
use http::Response;
use serde_json::json;

use crate::handles::{self, Thing};
use crate::packed::Writer;

/// Largest answer that is read as a whole. Units: bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Sends a request with its whole body, and reads the whole answer. Shape: the head as JSON in a packed text, then the
/// body.
pub fn exchange(repository: i64, head: &[u8], body: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let opened = handles::repository(repository)?;
    let (answer, body) = opened.answer(head, body.unwrap_or_default(), ANSWER_BYTES_MAX)?;
    let mut out = Writer::default();
    out.bytes(&form_of(&answer));
    out.0.extend_from_slice(&body);
    Ok(out.0)
}

/// Sends a request; body and answer are streams.
pub fn send(repository: i64, head: &[u8], has_body: bool) -> Result<i64> {
    let exchange = handles::repository(repository)?.send(head, has_body)?;
    let closer = exchange.closer();
    Ok(handles::add(Thing::Exchange(Arc::new(Mutex::new(exchange)), closer)))
}

/// Gives a part of the request's body.
pub fn write(exchange: i64, part: Vec<u8>) -> Result<()> {
    with(exchange, |exchange| {
        exchange.write(part);
        Ok(())
    })
}

/// Ends the request's body.
pub fn finish(exchange: i64) -> Result<()> {
    with(exchange, |exchange| {
        exchange.finish();
        Ok(())
    })
}

/// Waits for the head of the answer: `{"status": …, "headers": {…}}`.
pub fn head(exchange: i64) -> Result<Vec<u8>> {
    with(exchange, head_of)
}

/// Waits for the next bytes of the answer's body, at most `bytes_max`; `None` at the end.
pub fn read(exchange: i64, bytes_max: usize) -> Result<Option<Vec<u8>>> {
    with(exchange, |exchange| exchange.read_some(bytes_max))
}

fn with<T>(handle: i64, work: impl FnOnce(&mut Exchange) -> Result<T>) -> Result<T> {
    let exchange = handles::exchange(handle)?;
    let mut exchange = exchange.lock().map_err(|_| handles::panicked("exchange"))?;
    work(&mut exchange)
}

fn head_of(exchange: &mut Exchange) -> Result<Vec<u8>> {
    exchange.head().map(form_of)
}

fn form_of<B>(answer: &Response<B>) -> Vec<u8> {
    let headers: BTreeMap<&str, &str> = answer
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()))
        .collect();
    json!({ "status": answer.status().as_u16(), "headers": headers }).to_string().into_bytes()
}
