// The browser of the tests: opens a page and keeps all that must not happen on it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** A busy machine may need so long for a view. Units: ms. */
export const PATIENCE = 30_000;

/** Puts values together by what `of` gives. Shape: a map of lists. */
export function groupBy(values, of) {
    const groups = new Map();
    for (const value of values) {
        const key = of(value);
        if (groups.has(key)) groups.get(key).push(value);
        else groups.set(key, [value]);
    }
    return groups;
}

export const WIDTHS = [1280, 360];
export const SCHEMES = ["light", "dark"];

export class Browser {
    async start() {
        this.browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
    }

    async stop() {
        await this.browser?.close();
    }

    /** Opens the page of a server at an address below it. `problems` are the status codes that the view expects. */
    async open(url, query = "", { width = 1280, scheme = "light", expects = [], before } = {}) {
        const context = await this.browser.newContext({
            viewport: { width, height: width < 500 ? 740 : 800 },
            colorScheme: scheme,
            reducedMotion: "reduce",
        });
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE);
        const seen = { errors: [], requests: [], aborted: [] };
        page.on("pageerror", (error) => seen.errors.push(`${error}`));
        page.on("console", (message) => {
            const isExpected = expects.some((status) => message.text().includes(`status of ${status} `));
            if (["error", "warning"].includes(message.type()) && !isExpected) seen.errors.push(message.text());
        });
        page.on("request", (request) => seen.requests.push(request.url()));
        page.on("requestfailed", (request) => seen.aborted.push(request.url()));
        page.on("dialog", (dialog) => {
            seen.errors.push(`a dialogue: ${dialog.message()}`);
            void dialog.dismiss();
        });
        await page.addInitScript(() => {
            window.reports = [];
            addEventListener("securitypolicyviolation", (event) => window.reports.push(`${event.violatedDirective}: ${event.blockedURI}`));
        });
        if (before) await before(page);
        await page.goto(`${url}/explore${query}`);
        return new Opened(page, context, seen, url);
    }
}

/** An open page. */
export class Opened {
    constructor(page, context, seen, url) {
        Object.assign(this, { page, context, seen, url });
    }

    /** Waits until everything that the page asked for is shown. */
    async settle() {
        await this.page.waitForFunction(() => document.querySelector("main") && !document.querySelector("[data-state='loading'], .picture .state"));
    }

    /** The texts of all elements that fit. */
    texts(selector) {
        return this.page.locator(selector).evaluateAll((found) => found.map((element) => element.textContent));
    }

    async text(selector) {
        return this.page.locator(selector).first().textContent();
    }

    /** The values of a `data-` attribute. */
    values(selector, name) {
        return this.page.locator(selector).evaluateAll((found, of) => found.map((element) => element.dataset[of]), name);
    }

    /** What the address says. */
    address() {
        return Object.fromEntries(new URL(this.page.url()).searchParams);
    }

    /** Fails if anything happened that must not, and closes the page. */
    async close({ axe = true } = {}) {
        if (axe) await this.checkAxe();
        const found = await this.page.evaluate(() => ({
            reports: window.reports,
            attacked: window.attacked,
            wider: document.documentElement.scrollWidth - innerWidth,
        }));
        await this.context.close();
        assert.deepEqual(found.reports, [], "reports of the content security policy");
        assert.equal(found.attacked, undefined, "a text of the data ran");
        assert.ok(found.wider <= 0, `the page is ${found.wider} pixels wider than the window`);
        assert.deepEqual(this.seen.errors, [], "errors in the console");
        const foreign = this.seen.requests.filter((request) => !request.startsWith(this.url) && !/^(data|blob):/.test(request));
        assert.deepEqual(foreign, [], "requests to other hosts");
    }

    async checkAxe() {
        await this.page.evaluate(AXE);
        const { violations } = await this.page.evaluate(() => window.axe.run());
        const words = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join("\n  ")}`);
        assert.deepEqual(words, [], "violations by axe");
    }
}
