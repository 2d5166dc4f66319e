// Builds the page: `dist/`, with the hash of its bytes in the name of each file, and the list of these files for the server.
// The same sources give the same bytes, in any folder.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import * as esbuild from "esbuild";

const LIST = "../src/serving/explorer_files.rs";
const MEDIA_TYPES = { html: "text/html", css: "text/css", js: "text/javascript", svg: "image/svg+xml" };

process.chdir(import.meta.dirname);
const files = new Map();

/** Bundles one source. Shape: the text of the built file. */
async function bundle(source, defined = {}) {
    const built = await esbuild.build({
        entryPoints: [source],
        bundle: true,
        minify: true,
        write: false,
        format: "esm",
        target: ["chrome123", "firefox120", "safari17.5"],
        jsx: "automatic",
        jsxImportSource: "preact",
        define: defined,
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
    });
    return built.outputFiles[0].text;
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Keeps a file under a name that changes with its bytes. Shape: the name. */
function keep(name, ending, text) {
    const hashed = `${name}-${sha256(text).slice(0, 12)}.${ending}`;
    files.set(hashed, text);
    return hashed;
}

const worker = keep("layout", "js", await bundle("src/lineage/worker.ts"));
const app = keep("app", "js", await bundle("src/main.tsx", { LAYOUT_WORKER: JSON.stringify(worker) }));
const style = keep("style", "css", await bundle("src/style.css"));
const icon = keep("icon", "svg", readFileSync("src/icon.svg", "utf8"));
const page = readFileSync("src/index.html", "utf8");
files.set("index.html", page.replace("APP", app).replace("STYLE", style).replace("ICON", icon));

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist");
const rows = [];
for (const [name, text] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const bytes = Buffer.from(text);
    const packed = brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    });
    writeFileSync(`dist/${name}`, bytes);
    writeFileSync(`dist/${name}.br`, packed);
    const type = `${MEDIA_TYPES[name.split(".").pop()]}; charset=utf-8`;
    rows.push(`    File {
        name: "${name}",
        media_type: "${type}",
        sha256: "${sha256(bytes)}",
        plain: include_bytes!("../../page/dist/${name}"),
        brotli: include_bytes!("../../page/dist/${name}.br"),
    },
`);
    console.log(`${name}: ${bytes.length} bytes, ${packed.length} as brotli`);
}
writeFileSync(
    LIST,
    `//! Lists the built files of the explorer page. The build of the page writes this file: see \`page/build.mjs\`.

use super::explorer::File;

/// The files, in the order of their names.
#[rustfmt::skip]
pub const FILES: &[File] = &[
${rows.join("")}];
`,
);
