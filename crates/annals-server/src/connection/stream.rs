//! The stream of a connection: plain, or TLS on top of it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::access::{Shown, Tls};
use crate::protocol::problem::{PROBLEM_JSON, Problem};

/// The first byte of a handshake of TLS.
const HANDSHAKE: u8 = 0x16;
/// How long the server reads on after it has answered a request without TLS, so that the answer is not lost.
const LINGER_TIME: Duration = Duration::from_secs(1);

/// A stream of bytes to a client.
pub enum Stream {
    /// As they are.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Does the handshake of TLS.
    ///
    /// Shape: the stream, and the certificate of the client, if it showed one; `None` if the handshake failed. A request
    /// without TLS gets an answer that says so.
    pub async fn accept(tls: &Tls, mut stream: TcpStream) -> Option<(Stream, Option<Shown>)> {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 1 && first[0] != HANDSHAKE {
            say_tls(&mut stream).await;
            return None;
        }
        let config = tls.config();
        let stream = match TlsAcceptor::from(Arc::clone(&config.server)).accept(stream).await {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(target: "annals::access", "handshake of TLS: {error}");
                return None;
            }
        };
        // Invariant: nothing else believes a certificate of the handshake.
        let shown = config.shown(stream.get_ref().1.peer_certificates());
        Some((Stream::Tls(Box::new(stream)), shown))
    }

    /// The socket below.
    pub fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }
}

/// Answers a request that came without TLS.
async fn say_tls(stream: &mut TcpStream) {
    let problem = Problem::invalid(
        "connection: expected TLS, found a request without it; write https:// in the address",
    );
    let body = problem.to_json().to_string();
    let text = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: {PROBLEM_JSON}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let ends = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = [0; 1_024];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<_, io::Error>(())
    };
    let _ = tokio::time::timeout(LINGER_TIME, ends).await;
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
