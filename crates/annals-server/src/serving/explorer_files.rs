//! Lists the built files of the explorer page. The build of the page writes this file: see `page/build.mjs`.

use super::explorer::File;

/// The files, in the order of their names.
#[rustfmt::skip]
pub const FILES: &[File] = &[
    File {
        name: "app-ecfcd5a9644d.js",
        media_type: "text/javascript; charset=utf-8",
        sha256: "ecfcd5a9644def78e666b6c7bfdda3122b4f1655dc82d82050da8be73bd743b7",
        plain: include_bytes!("../../page/dist/app-ecfcd5a9644d.js"),
        brotli: include_bytes!("../../page/dist/app-ecfcd5a9644d.js.br"),
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
        sha256: "cc6e805b39a65fcaf2d704dd39c3f7e170584048c3f5bcf36a81e35a8b1da8f4",
        plain: include_bytes!("../../page/dist/index.html"),
        brotli: include_bytes!("../../page/dist/index.html.br"),
    },
    File {
        name: "layout-04781f9c99aa.js",
        media_type: "text/javascript; charset=utf-8",
        sha256: "04781f9c99aa7af6dedda464479c8818112f159e242b8b86d70ea485a09e7ef2",
        plain: include_bytes!("../../page/dist/layout-04781f9c99aa.js"),
        brotli: include_bytes!("../../page/dist/layout-04781f9c99aa.js.br"),
    },
    File {
        name: "style-85c684fb3ab7.css",
        media_type: "text/css; charset=utf-8",
        sha256: "85c684fb3ab7d497203dd8ee243eb09ff2bcc1f950e7cf3e463abf031d119d26",
        plain: include_bytes!("../../page/dist/style-85c684fb3ab7.css"),
        brotli: include_bytes!("../../page/dist/style-85c684fb3ab7.css.br"),
    },
];
