// The repositories of the tests, and the servers of them: the catalogue of the tutorial, Debian packages of two releases, and
// names and texts that attack.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAMS = process.env.ANNALS_PROGRAMS;
const ROOT = join(import.meta.dirname, "../../../..");

/** Names that attack a page: each is the id of an entity. */
export const NAMES = [
    `"><img src=x onerror="window.attacked=1">`,
    `<script>window.attacked=1</script>`,
    `javascript:window.attacked=1`,
    `it's "quoted" \`here\` \\ and there`,
    `a/b?c=d&e#f%20g%2F`,
    `שלום-עולם ‮txt.exe`,
    `مرحبا`,
    `x`.repeat(255),
    `長`.repeat(85),
    `__proto__`,
    `${"${window.attacked=1}"}`,
];

/** A text of two megabytes. */
export const LONG = "a long text ".repeat(175_000);

export class Data {
    #servers = [];

    constructor(folder) {
        this.folder = folder;
    }

    /** Asks the command line about a repository. Shape: the lines of its JSON. */
    ask(name, ...words) {
        const text = this.annals(name, "--json", ...words);
        return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    }

    annals(name, ...words) {
        const options = { cwd: this.folder, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] };
        return execFileSync(join(PROGRAMS, "annals"), ["-r", join(this.folder, name), ...words], options);
    }

    /** Makes the repositories, and serves each. */
    async make() {
        this.#makeCatalogue();
        this.#makeDebian();
        this.#makeHostile();
        cpSync(join(this.folder, "catalogue"), join(this.folder, "guarded"), { recursive: true });
        const tokens = join(this.folder, "tokens");
        const grant = { role: "readers", where: "* where not classified pii" };
        writeFileSync(join(this.folder, "grant.json"), JSON.stringify([{ action: "create", kind: "entity", type: "annals.Grant", properties: grant }]));
        this.annals("guarded", "apply", join(this.folder, "grant.json"), "--author", "root");
        this.token = this.annals("guarded", "token", "new", "ada", "--role", "read", "--tokens", tokens).match(/annals_\S+/)[0];
        this.granted = this.annals("guarded", "token", "new", "bob", "--role", "readers", "--tokens", tokens).match(/annals_\S+/)[0];
        this.catalogue = await this.#serve("catalogue");
        this.debian = await this.#serve("debian");
        this.hostile = await this.#serve("hostile");
        this.guarded = await this.#serve("guarded", "--tokens", tokens);
        await this.#putContents();
    }

    #makeCatalogue() {
        const lake = join(this.folder, "tutorial");
        cpSync(join(ROOT, "examples/catalogue"), lake, { recursive: true });
        const at = (name) => join(lake, name);
        const crawl = () =>
            writeFileSync(at("crawl.jsonl"), execFileSync("python3", ["crawl.py", "lake"], { cwd: lake }));
        const as = (author, message, ...words) => this.annals("catalogue", ...words, "--author", author, "-m", message);
        this.annals("catalogue", "types", "load", at("types.jsonl"), "--author", "ada");
        crawl();
        const since = ["--valid-from", "2025-03-01"];
        as("crawler", "first crawl", "import", at("crawl.jsonl"), "--merge", ...since);
        as("ada", "from the scheduler", "import", at("jobs.csv"), at("lineage.csv"), "--merge", ...since);
        as("ada", "asked the lawyers", "classify", "column:visits.ip_address", "pii", "sensitivity=low", ...since);
        for (const holds of ["address", "text"]) as("ada", `it holds ${holds}`, "set", "column:customers.email", `holds=${holds}`);
        rmSync(at("lake/marketing/audience.csv"));
        writeFileSync(at("lake/sales/orders.csv"), `${readFileSync(at("lake/sales/orders.csv"), "utf8")}106,2,2025-03-03,31.00\n`);
        crawl();
        const all = ["--merge", "--delete-missing", "--delete-missing-max", "100"];
        as("bob", "the audience is gone", "import", at("crawl.jsonl"), ...all);
        const owner = [{ action: "update", kind: "entity", id: "job:audience", patch: { owner: "marketing" } }];
        writeFileSync(at("owner.json"), JSON.stringify(owner));
        as("bob", "marketing took it over in June", "apply", at("owner.json"), "--valid-from", "2025-06-01");
    }

    #makeDebian() {
        const releases = ["2023-06-10=bookworm", "2025-08-09=trixie"].map((release) => {
            const [day, name] = release.split("=");
            return `${day}=${join(ROOT, "data/debian", `${name}.Packages.gz`)}`;
        });
        const env = { ...process.env, ANNALS_REPOSITORY: join(this.folder, "debian") };
        execFileSync(join(PROGRAMS, "annals-debian"), releases, { env, stdio: "ignore" });
    }

    #makeHostile() {
        const lines = NAMES.map((id) => {
            const properties = { name: id, constructor: "<b>bold</b>" };
            // A plain assignment would set the prototype.
            Object.defineProperty(properties, id, { value: id, enumerable: true });
            return { entity: { id, type: "thing <i>", properties, classifications: [{ name: `mark "&<`, properties: { [id]: id } }] } };
        });
        for (const id of NAMES.slice(1)) lines.push({ relationship: { type: "feeds <u>", from: NAMES[0], to: id, properties: { why: id } } });
        lines.push({ entity: { id: "long", type: "text", properties: { text: LONG } } });
        const file = join(this.folder, "hostile.jsonl");
        writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
        this.annals("hostile", "import", file, "--author", `<img src=x onerror="window.attacked=1">`, "-m", `<script>window.attacked=1</script>`);
    }

    async #putContents() {
        const script = "<script>window.attacked=1;parent.attacked=1</script>";
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="window.attacked=1">${script}<rect width="20" height="20"/></svg>`;
        for (const [id, type, body] of [
            ["page", "text/html", `<h1 id="from-data">a page</h1>${script}`],
            ["picture", "image/svg+xml", svg],
            ["binary", "application/x-unknown", "\u0000\u0001"],
        ]) {
            const init = { method: "PUT", body, headers: { "Content-Type": type } };
            const answer = await fetch(`${this.hostile}/v1/content/${id}?type=file`, init);
            if (!answer.ok) throw new Error(`content ${id}: ${answer.status} ${await answer.text()}`);
        }
    }

    /** Starts a server. Shape: its address. */
    #serve(name, ...words) {
        const child = spawn(join(PROGRAMS, "annals"), ["serve", join(this.folder, name), "--listen", "127.0.0.1:0", ...words]);
        this.#servers.push(child);
        let said = "";
        return new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error(`${name}: the server does not open in a minute: ${said}`)), 60_000);
            const hear = (part) => {
                said += part;
                const url = /listens on (http\S+)/.exec(said);
                if (!url || !/ at position /.test(said)) return;
                clearTimeout(late);
                resolve(url[1].replace(/\/$/, ""));
            };
            child.stdout.on("data", hear);
            child.stderr.on("data", (part) => (said += part));
            child.on("exit", (code) => reject(new Error(`${name}: the server ended with ${code}: ${said}`)));
        });
    }

    async stop() {
        for (const child of this.#servers) {
            child.removeAllListeners("exit");
            const ended = new Promise((resolve) => child.on("exit", resolve));
            if (child.exitCode === null && child.kill()) await ended;
        }
    }
}
