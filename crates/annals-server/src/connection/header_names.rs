//! The names of headers in their usual case, as scripts look for them in answers of HTTP/1.1. hyper writes each word with a
//! capital, which is right for all but a few names.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use http::header::ETAG;
use http::{Extensions, Request, Response, Version};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::sync::OnceCell;

/// A request with the names that hyper would write in another case.
const EXAMPLE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nETag: x\r\n\r\n";

/// The names as hyper knows them: in an extension that it gives only to messages that it has read.
#[derive(Clone, Debug, Default)]
pub struct HeaderNames(Extensions);

impl HeaderNames {
    /// Those of [`EXAMPLE`], which hyper reads once.
    pub async fn usual() -> &'static HeaderNames {
        static USUAL: OnceCell<HeaderNames> = OnceCell::const_new();
        USUAL.get_or_init(HeaderNames::learn).await
    }

    async fn learn() -> HeaderNames {
        let learned: Arc<OnceLock<Extensions>> = Arc::default();
        let known = Arc::clone(&learned);
        let service = service_fn(move |request: Request<Incoming>| {
            let _ = known.set(request.extensions().clone());
            std::future::ready(Ok::<_, Infallible>(Response::new(Body::empty())))
        });
        let (mut client, server) = tokio::io::duplex(4 * EXAMPLE.len());
        if client.write_all(EXAMPLE).await.is_err() || client.shutdown().await.is_err() {
            return HeaderNames::default();
        }
        let mut builder = Builder::new();
        builder.preserve_header_case(true).header_read_timeout(None).half_close(true);
        // Without an answer, the names have the capitals that hyper gives them.
        let _ = builder.serve_connection(TokioIo::new(server), service).await;
        HeaderNames(learned.get().cloned().unwrap_or_default())
    }

    /// Tells hyper the names in an answer to a request of this version.
    pub fn add(&self, version: Version, response: &mut Response<Body>) {
        if version < Version::HTTP_2 && response.headers().contains_key(ETAG) {
            response.extensions_mut().extend(self.0.clone());
        }
    }
}
