//! Lists the built files of the explorer page. The build of the page writes this file: see `page/build.mjs`.

use super::explorer::File;

/// The files, in the order of their names.
#[rustfmt::skip]
pub const FILES: &[File] = &[
    File {
        name: "app-8043b93f9170.js",
        media_type: "text/javascript; charset=utf-8",
        sha256: "8043b93f9170a16af4f70df6ef6c40dee90c0eff7a50d6d4ae67d71882682e4f",
        plain: include_bytes!("../../page/dist/app-8043b93f9170.js"),
        brotli: include_bytes!("../../page/dist/app-8043b93f9170.js.br"),
    },
    File {
        name: "icon-1ec8eb65014e.svg",
        media_type: "image/svg+xml; charset=utf-8",
        sha256: "1ec8eb65014e5e7e1d7dde9d329455b9c5ae31e9edd6f557886484941afa56ca",
        plain: include_bytes!("../../page/dist/icon-1ec8eb65014e.svg"),
        brotli: include_bytes!("../../page/dist/icon-1ec8eb65014e.svg.br"),
    },
    File {
        name: "index.html",
        media_type: "text/html; charset=utf-8",
        sha256: "5bc2453cc859e6e17acd9ae6526a043078242b42b92f65ae5881a0418403eb99",
        plain: include_bytes!("../../page/dist/index.html"),
        brotli: include_bytes!("../../page/dist/index.html.br"),
    },
    File {
        name: "layout-9be666591b79.js",
        media_type: "text/javascript; charset=utf-8",
        sha256: "9be666591b79e94d5f6e41fa5bd20ca7a0bcd8e97d047a90de82eb466ed24329",
        plain: include_bytes!("../../page/dist/layout-9be666591b79.js"),
        brotli: include_bytes!("../../page/dist/layout-9be666591b79.js.br"),
    },
    File {
        name: "style-19c633b6c559.css",
        media_type: "text/css; charset=utf-8",
        sha256: "19c633b6c5598f132b6810093fa17497682f4fefa73d899c1da420fff6c84751",
        plain: include_bytes!("../../page/dist/style-19c633b6c559.css"),
        brotli: include_bytes!("../../page/dist/style-19c633b6c559.css.br"),
    },
];
