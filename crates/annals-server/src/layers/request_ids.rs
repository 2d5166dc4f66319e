//! The ids of requests that come without one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use http::Request;
use http::header::HeaderValue;
use tower_http::request_id::{MakeRequestId, RequestId};

use crate::protocol::masking::masked;
use crate::protocol::names::REQUEST_ID;

/// Drops the id of a request that is a token: answers repeat it.
pub fn drop_tokens<B>(mut request: Request<B>) -> Request<B> {
    let id = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok());
    if id.is_some_and(|id| masked(id) != id) {
        request.headers_mut().remove(&REQUEST_ID);
    }
    request
}

/// Numbers requests without an id: the second in which the server started, and a count.
#[derive(Clone)]
pub struct RequestIds {
    started: u64,
    count: Arc<AtomicU64>,
}

impl Default for RequestIds {
    fn default() -> RequestIds {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        RequestIds { started: since.map_or(0, |since| since.as_secs()), count: Arc::default() }
    }
}

impl MakeRequestId for RequestIds {
    fn make_request_id<B>(&mut self, _: &http::Request<B>) -> Option<RequestId> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{count:x}", self.started);
        HeaderValue::try_from(id).ok().map(RequestId::new)
    }
}
