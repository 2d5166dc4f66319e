//! The client of HTTP below the driver: connections that are kept, certificates that are checked, and the clock of the service.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use annals::{Instant, Result};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};

use super::s3_place::S3Place;
use crate::trust::{Named, trusting};

/// A connection that is not used is kept for so long.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// Connections to the service that are kept.
const IDLE_COUNT_MAX: usize = 16;

/// Sends requests, and notes what the service says of the time.
#[derive(Clone)]
pub(super) struct Http {
    client: Client<HttpsConnector<Tcp>, HttpRequestBody>,
    /// The clock of the service at the latest answer. Units: microseconds since 1970; 0 before the first.
    seen: Arc<AtomicI64>,
}

impl Http {
    /// Errors: `InvalidArgument` without readable certificates.
    pub fn new(place: &S3Place) -> Result<Http> {
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let named = Named { option: "authorities", otherwise: "an endpoint that begins with http://" };
        let is_plain = place.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let config = match is_plain {
            true => rustls::ClientConfig::builder_with_provider(Arc::new(
                rustls::crypto::ring::default_provider(),
            ))
            .with_safe_default_protocol_versions()
            .map(|config| config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
            .map_err(|error| annals::Error::new(annals::ErrorKind::Io, format!("{place}: TLS: {error}")))?,
            false => trusting(place.authorities.as_deref(), &named)?,
        };
        let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_COUNT_MAX)
            .pool_timer(TokioTimer::new())
            .build(connector.wrap_connector(tcp));
        Ok(Http { client, seen: Arc::default() })
    }

    /// The clock of the service at its latest answer; `None` if no answer told it.
    pub fn seen_clock(&self) -> Option<Instant> {
        Instant::from_micros(self.seen.load(Ordering::SeqCst)).ok().filter(|seen| seen.micros() > 0)
    }

    async fn send(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let response = self.client.request(request).await.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Unknown };
            HttpError::new(kind, error)
        })?;
        let (parts, body) = response.into_parts();
        let date = parts.headers.get("date").and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let since = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        if let Some(micros) = since.and_then(|since| i64::try_from(since.as_micros()).ok()) {
            self.seen.store(micros, Ordering::SeqCst);
        }
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http")
    }
}

impl HttpConnector for Http {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Http {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.send(request))
    }
}
