// The built files are those of the sources, small, and served as a browser needs them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

const PAGE = join(import.meta.dirname, "..");
const DIST = join(PAGE, "dist");
const LIST = join(PAGE, "../src/serving/explorer_files.rs");
/** Units: bytes, of all compressed files. */
const BYTES_MAX = 400 << 10;

const read = () => new Map([...readdirSync(DIST).map((name) => join(DIST, name)), LIST].map((file) => [file, readFileSync(file)]));
/** Other versions of Node may compress to other bytes: the compressed files are compared by what is in them. */
const plain = (files) => [...files].filter(([name]) => !name.endsWith(".br")).map(([name, bytes]) => [name, bytes.toString("base64")]);

export const built = {
    "a build of the sources gives the files that are committed"() {
        const before = read();
        try {
            execFileSync("node", ["build.mjs"], { cwd: PAGE });
            const after = read();
            assert.deepEqual([...after.keys()].sort(), [...before.keys()].sort());
            assert.deepEqual(plain(after), plain(before));
        } finally {
            for (const [name, bytes] of before) writeFileSync(name, bytes);
        }
    },

    "compressed files hold the same bytes, and all are small"() {
        const packed = readdirSync(DIST).filter((name) => name.endsWith(".br"));
        let bytes = 0;
        for (const name of packed) {
            const file = readFileSync(join(DIST, name));
            bytes += file.length;
            assert.deepEqual(brotliDecompressSync(file), readFileSync(join(DIST, name.slice(0, -3))), name);
        }
        assert.equal(packed.length * 2, readdirSync(DIST).length);
        assert.ok(bytes <= BYTES_MAX, `${bytes} bytes`);
    },

    async "the types of the sources agree with the description of the server"({ data }) {
        const description = join(data.folder, "openapi.json");
        writeFileSync(description, await (await fetch(`${data.catalogue}/openapi.json`)).text());
        const bin = join(PAGE, "node_modules/.bin");
        execFileSync(join(bin, "openapi-typescript"), [description, "--output", "src/api/annals.d.ts"], { cwd: PAGE, stdio: "pipe" });
        execFileSync(join(bin, "tsc"), [], { cwd: PAGE, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    },

    async "a browser is led to the page, and programs get the index"({ data }) {
        const ask = (accept) => fetch(`${data.catalogue}/`, { headers: { accept }, redirect: "manual" });
        const led = await ask("text/html,application/xhtml+xml,*/*;q=0.8");
        assert.deepEqual([led.status, led.headers.get("location")], [303, "explore"]);
        for (const accept of ["*/*", "application/json"]) {
            const index = await ask(accept);
            assert.deepEqual([index.status, (await index.json()).openapi], [200, "/openapi.json"]);
        }
    },

    async "files are kept by browsers as long as they hold"({ data }) {
        const page = await fetch(`${data.catalogue}/explore`);
        assert.equal(page.headers.get("cache-control"), "no-cache");
        const [, name] = /explore\/(app-\w+\.js)/.exec(await page.text());
        const tags = [];
        for (const encoding of ["br", "identity"]) {
            const headers = { "accept-encoding": encoding };
            const file = await fetch(`${data.catalogue}/explore/${name}`, { headers });
            assert.equal(file.headers.get("cache-control"), "public, max-age=31536000, immutable");
            assert.equal(file.headers.get("content-encoding"), encoding === "br" ? "br" : null);
            assert.equal(await file.text(), readFileSync(join(DIST, name), "utf8"));
            const tag = file.headers.get("etag");
            tags.push(tag);
            const again = await fetch(`${data.catalogue}/explore/${name}`, { headers: { ...headers, "if-none-match": tag } });
            assert.deepEqual([again.status, await again.text()], [304, ""]);
        }
        assert.notEqual(tags[0], tags[1], "two encodings are two representations");
        assert.match(tags[0], /^"[0-9a-f]+-br"$/);
    },

    async "nothing runs that is not of the server"({ data }) {
        for (const path of ["/explore", `/explore/${readdirSync(DIST).find((name) => /^layout.*js$/.test(name))}`]) {
            const { headers } = await fetch(`${data.guarded}${path}`);
            const policy = headers.get("content-security-policy");
            assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; .*require-trusted-types-for 'script'$/);
            assert.equal(headers.get("x-content-type-options"), "nosniff");
        }
        assert.equal((await fetch(`${data.catalogue}/explore/app.js`)).status, 404);
    },
};
