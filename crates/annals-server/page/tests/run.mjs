// Runs all tests, or those whose names contain one of the arguments, and prints how many passed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "./browser.mjs";
import { built } from "./built.mjs";
import { byKeys } from "./by_keys.mjs";
import { Data } from "./data.mjs";
import { facts } from "./facts.mjs";
import { hostile } from "./hostile.mjs";
import { layout } from "./layout.mjs";
import { looks } from "./looks.mjs";
import { speed } from "./speed.mjs";
import { states } from "./states.mjs";

const folder = mkdtempSync(join(tmpdir(), "annals-explorer."));
const data = new Data(folder);
const browser = new Browser();
const wanted = process.argv.slice(2);
let passed = 0;
const failed = [];
try {
    await data.make();
    await browser.start();
    for (const group of [built, layout, looks, facts, byKeys, states, hostile, speed]) {
        for (const [name, test] of Object.entries(group)) {
            if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
            try {
                await test({ data, browser });
                passed += 1;
            } catch (error) {
                failed.push(name);
                console.error(`${name}: ${error.stack ?? error}`);
            }
        }
    }
} finally {
    await browser.stop();
    await data.stop();
    rmSync(folder, { recursive: true, force: true });
}
if (failed.length > 0) console.error(`failed:\n  ${failed.join("\n  ")}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
