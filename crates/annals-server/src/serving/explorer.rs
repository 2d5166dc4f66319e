//! The explorer page: its built files, as a browser gets them. The files hold no data, so that everybody may load them; the
//! page asks the API as any client does. Its sources are in `crates/annals-server/page`.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use super::explorer_files::FILES;
use crate::protocol::header_text::{split, texts};
use crate::protocol::problem::{Outcome, Problem};

/// The path of the page, also in logs and metrics.
pub const PATH: &str = "/explore";
/// The paths of its files.
pub const FILE_PATH: &str = "/explore/{file}";

/// The page itself; all other files have names that change with their bytes.
const PAGE: &str = "index.html";

/// Nothing runs or loads that is not of this server, and no text becomes a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
                      require-trusted-types-for 'script'";

/// A built file.
pub struct File {
    /// Its name, with a part of its hash.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Of its bytes. Shape: hexadecimal.
    pub sha256: &'static str,
    /// Its bytes.
    pub plain: &'static [u8],
    /// The same, compressed by Brotli.
    pub brotli: &'static [u8],
}

/// Answers with the page or one of its files.
pub async fn answer(request: Request) -> Outcome {
    let path = request.uri().path();
    // The page has one address: its files stand beside it.
    let name = path.strip_prefix("/explore/").map_or(PAGE, |name| if name == PAGE { "" } else { name });
    let file = FILES.iter().find(|file| file.name == name).ok_or_else(|| {
        Problem::not_found(format!("path {path}: the explorer page has no such file; load {PATH} again"))
    })?;
    let is_brotli = accepts(request.headers(), &ACCEPT_ENCODING, "br");
    // Two encodings are two representations: each has a tag.
    let tag = format!("\"{}{}\"", file.sha256, if is_brotli { "-br" } else { "" });
    let is_known = texts(request.headers(), &IF_NONE_MATCH)
        .flat_map(|value| split(value, ','))
        .any(|known| known.trim().trim_start_matches("W/") == tag);
    let bytes = match (is_known, is_brotli) {
        (true, _) => Body::empty(),
        (false, true) => Body::from(file.brotli),
        (false, false) => Body::from(file.plain),
    };
    let mut response = Response::new(bytes);
    let headers = response.headers_mut();
    headers.insert(ETAG, HeaderValue::try_from(tag).expect("digits are valid in a header"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let keeping = if name == PAGE { "no-cache" } else { "public, max-age=31536000, immutable" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keeping));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Addresses of the page have ids and searches in them.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    if is_brotli {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    Ok(response)
}

/// The layer around the start page: leads a browser to the explorer. It is outside the check of credentials, because the
/// page asks for them.
pub async fn lead(request: Request, next: Next) -> Response<Body> {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if !is_read || !accepts(request.headers(), &ACCEPT, "text/html") {
        return next.run(request).await;
    }
    // Relative, so that it also holds behind a proxy with a path of its own.
    let headers = [
        (LOCATION, HeaderValue::from_static("explore")),
        (VARY, HeaderValue::from_static("accept")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// True if a header names `wanted` itself, without a weight of 0. `*` is not enough: programs send it, too.
fn accepts(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    texts(headers, name).flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_wanted = parts.next().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_wanted && weight.is_none_or(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Units: bytes, of all compressed files.
    const BYTES_MAX: usize = 400 << 10;

    fn built() -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/dist");
        let names = fs::read_dir(folder).expect("the page is built").flatten();
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_list_has_each_built_file_and_its_hash() {
        let listed = FILES.iter().flat_map(|file| [file.name.to_owned(), format!("{}.br", file.name)]);
        assert_eq!(listed.collect::<BTreeSet<_>>(), built());
        for file in FILES {
            let digest = Sha256::digest(file.plain);
            let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(file.sha256, hash, "{}", file.name);
            assert!(file.name == PAGE || file.name.contains(&hash[..12]), "{}", file.name);
        }
    }

    #[test]
    fn the_page_names_files_that_are_there_and_is_small() {
        let page = FILES.iter().find(|file| file.name == PAGE).expect("the page");
        let page = std::str::from_utf8(page.plain).unwrap();
        let named: Vec<&str> =
            page.split("\"explore/").skip(1).filter_map(|part| part.split('"').next()).collect();
        assert_eq!(named.len(), 3, "{named:?}");
        assert!(named.iter().all(|name| FILES.iter().any(|file| file.name == *name)), "{named:?}");
        let bytes: usize = FILES.iter().map(|file| file.brotli.len()).sum();
        assert!(bytes <= BYTES_MAX, "{bytes}");
    }

    #[test]
    fn a_browser_is_one_that_names_html() {
        for (accept, is_browser) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/json, text/html; q=0", false),
            ("*/*", false),
            ("application/json", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(accepts(&headers, &ACCEPT, "text/html"), is_browser, "{accept}");
        }
    }
}
