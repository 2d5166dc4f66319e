// What the page shows is what the command line answers.
import assert from "node:assert/strict";
import { groupBy } from "./browser.mjs";

/** Opens a view, waits for it, and gives what is read from it; nothing bad may have happened. */
async function shown({ browser, data }, server, query, selector, read, options = {}) {
    const opened = await browser.open(data[server], query, options);
    await opened.page.locator(selector).first().waitFor({ state: "attached" });
    await opened.settle();
    const found = await read(opened);
    await opened.close({ axe: false });
    return found;
}

const number = (text) => Number(text.replaceAll(",", ""));
const sorted = (ids) => [...ids].sort();

/** The ids of a lineage by the command line: the start, and what two walks reach. */
function lineage(data, server, id, { up, down, types, time = [] }) {
    const walk = (depth, isDown) => {
        if (depth === 0) return [];
        const turned = types.map(([name, flow]) => `${name}:${(flow === "out") === isDown ? "out" : "in"}`);
        const words = ["reach", id, ...turned.flatMap((type) => ["--type", type]), "--depth-max", `${depth}`, ...time];
        return data.ask(server, ...words).filter((line) => line.entity).map((line) => line.entity.id);
    };
    return sorted(new Set([id, ...walk(up, false), ...walk(down, true)]));
}

const CATALOGUE = [
    ["reads", "in"],
    ["writes", "out"],
];
const DEBIAN = [
    ["built-from", "in"],
    ["depends", "in"],
    ["pre-depends", "in"],
];

async function listed(tools, server, query) {
    return shown(tools, server, query, ".list li", (opened) =>
        opened.page
            .locator(".list li")
            .evaluateAll((rows) => rows.map((row) => ({ id: row.querySelector("[data-part=id]").textContent, change: row.dataset.change }))),
        // The start may be absent at one of the times.
        { expects: [404, 410] },
    );
}

export const facts = {
    async "the counts of the overview are those of stats"(tools) {
        for (const [query, ...time] of [[""], ["?atPosition=3", "--at-position", "3"], ["?validAt=2025-03-15", "--valid-at", "2025-03-15"]]) {
            const rows = await shown(tools, "catalogue", query, ".counts tr", (opened) =>
                opened.page.locator(".counts tr").evaluateAll((found) => found.map((row) => [row.dataset.name, row.querySelector(".number").textContent])),
            );
            const [stats] = tools.data.ask("catalogue", "stats", ...time);
            const wanted = ["entities", "classifications", "relationships"].flatMap((kind) => Object.entries(stats[kind].byType));
            assert.deepEqual(new Map(rows.map(([name, count]) => [name, number(count)])), new Map(wanted.filter(([, count]) => count > 0)), query);
        }
    },

    async "hits and their order are those of find"(tools) {
        const opened = (query) => shown(tools, "debian", query, "tr[data-id]", (page) => page.values("tr[data-id]", "id"));
        const search = "package where name ^= postgresql";
        for (const sort of ["-installed_size_kib", "@id", "version"]) {
            const found = await opened(`?q=${encodeURIComponent(search)}&sort=${sort}`);
            const wanted = tools.data.ask("debian", "find", search, "--order-by", sort).filter((line) => line.id);
            assert.deepEqual(found, wanted.map(({ id }) => id), sort);
        }
    },

    async "all pages of hits are all hits, and the count is that of the server"(tools) {
        const search = "section";
        const found = await shown(tools, "debian", `?q=${search}`, "tr[data-id]", async (opened) => {
            await opened.page.getByRole("button", { name: "More" }).click();
            await opened.page.locator("tr[data-id]").nth(55).waitFor();
            return [await opened.values("tr[data-id]", "id"), await opened.text("[data-part=summary]")];
        });
        const wanted = tools.data.ask("debian", "find", search, "--limit", "1000").filter((line) => line.id);
        assert.deepEqual(found[0], wanted.map(({ id }) => id));
        assert.equal(found[1], `${wanted.length} hits`);
    },

    async "an entity shows its values, and which version set each"(tools) {
        const rows = await shown(tools, "debian", "?view=entity&id=package:bash", ".properties [data-part=author]", (opened) =>
            opened.page.locator(".properties tbody tr").evaluateAll((found) =>
                found.map((row) => [row.dataset.name, row.querySelector("[data-part=value]").textContent, row.querySelector("a").textContent]),
            ),
        );
        const [entity] = tools.data.ask("debian", "get", "package:bash");
        const versions = tools.data.ask("debian", "history", "package:bash", "--content").filter((line) => line.version);
        const wanted = Object.entries(entity.properties).map(([name, value]) => {
            // The oldest version in a row that has the value of now.
            const has = (version) => JSON.stringify(version.content.properties[name]) === JSON.stringify(value);
            const end = versions.findIndex((version) => !has(version));
            return [name, String(value), `v${(end < 0 ? versions : versions.slice(0, end)).at(-1).version}`];
        });
        assert.deepEqual(rows, wanted.sort(([one], [other]) => (one < other ? -1 : 1)));
    },

    async "an entity of then has the values of then"(tools) {
        for (const [query, ...time] of [["atPosition=3", "--at-position", "3"], ["validAt=2025-05-15", "--valid-at", "2025-05-15"], ["validAt=2025-06-15", "--valid-at", "2025-06-15"]]) {
            const value = await shown(tools, "catalogue", `?view=entity&id=job:audience&${query}`, ".properties [data-name=owner]", (opened) =>
                opened.text(".properties [data-name=owner] [data-part=value]"),
            );
            const [entity] = tools.data.ask("catalogue", "get", "job:audience", ...time);
            assert.equal(value, entity.properties.owner, query);
        }
    },

    async "neighbours and their counts are those of neighbors"(tools) {
        const groups = await shown(tools, "catalogue", "?view=entity&id=table:customers", ".neighbours li", (opened) =>
            opened.page.locator(".neighbours details").evaluateAll((found) =>
                found.map((group) => ({
                    of: `${group.dataset.direction} ${group.dataset.type}`,
                    count: Number(group.querySelector("[data-part=count]").textContent),
                    ids: [...group.querySelectorAll("li")].map((row) => row.dataset.id),
                })),
            ),
        );
        const all = tools.data.ask("catalogue", "neighbors", "table:customers").filter((line) => line.entity);
        const wanted = groupBy(all, ({ direction, relationship }) => `${direction} ${relationship.type}`);
        assert.deepEqual(sorted(groups.map(({ of }) => of)), sorted(wanted.keys()));
        for (const { of, count, ids } of groups) {
            assert.deepEqual(ids, wanted.get(of).map(({ entity }) => entity.id), of);
            assert.equal(count, ids.length, of);
        }
    },

    async "a lineage is what walks reach, at any time"(tools) {
        const { data } = tools;
        for (const [server, id, up, down, types, query, time] of [
            ["catalogue", "table:customers", 3, 5, CATALOGUE, "", []],
            ["catalogue", "table:customers", 2, 2, CATALOGUE, "&validAt=2025-03-15", ["--valid-at", "2025-03-15"]],
            ["catalogue", "table:forecast", 5, 0, CATALOGUE, "&atPosition=4", ["--at-position", "4"]],
            ["debian", "package:bash", 3, 0, DEBIAN, "", []],
            ["debian", "package:gimp", 2, 1, DEBIAN, "&validAt=2024-01-01", ["--valid-at", "2024-01-01"]],
        ]) {
            const rows = await listed(tools, server, `?view=lineage&id=${id}&up=${up}&down=${down}${query}`);
            assert.deepEqual(sorted(rows.map((row) => row.id)), lineage(data, server, id, { up, down, types, time }), `${id} ${query}`);
        }
    },

    async "the difference of two times is that of two walks"(tools) {
        const { data } = tools;
        for (const [server, id, up, down, types] of [
            ["catalogue", "table:customers", 0, 5, CATALOGUE],
            ["debian", "package:curl", 2, 1, DEBIAN],
        ]) {
            const then = server === "debian" ? "2024-01-01" : "2025-03-15";
            const rows = await listed(tools, server, `?view=lineage&id=${id}&up=${up}&down=${down}&compare=validAt:${then}`);
            const before = new Set(lineage(data, server, id, { up, down, types, time: ["--valid-at", then] }));
            const after = new Set(lineage(data, server, id, { up, down, types }));
            const of = (change) => sorted(rows.filter((row) => row.change === change).map((row) => row.id));
            assert.deepEqual(of("added"), sorted([...after].filter((one) => !before.has(one))), id);
            assert.deepEqual(of("removed"), sorted([...before].filter((one) => !after.has(one))), id);
            const content = (one, ...time) => {
                const [{ type, status, properties, classifications }] = data.ask(server, "get", one, ...time);
                return JSON.stringify([type, status, properties, Object.entries(classifications).map(([name, { properties: own }]) => [name, own])]);
            };
            for (const { id: one, change } of rows.filter((row) => ["same", "changed"].includes(row.change)).slice(0, 12)) {
                assert.equal(change === "same", content(one) === content(one, "--valid-at", then), one);
            }
        }
    },

    async "a start that is gone is removed, and one that is new is added"(tools) {
        const types = CATALOGUE;
        const before = lineage(tools.data, "catalogue", "table:audience", { up: 2, down: 2, types, time: ["--at-position", "5"] });
        assert.ok(before.length > 2);
        for (const [query, change] of [
            ["?view=lineage&id=table:audience&compare=5", "removed"],
            ["?view=lineage&id=table:audience&atPosition=5&compare=now", "added"],
            ["?view=lineage&id=table:audience&atPosition=5&compare=1", "added"],
        ]) {
            const rows = await listed(tools, "catalogue", query);
            assert.deepEqual(sorted(rows.map(({ id }) => id)), before, query);
            assert.deepEqual(new Set(rows.map((row) => row.change)), new Set([change]), query);
        }
    },

    async "more than 5,000 are counted and not loaded"(tools) {
        const query = "?view=lineage&id=package:libc6&up=0&down=8&types=depends:in,pre-depends:in";
        const { total, rows, requests } = await shown(tools, "debian", query, "[data-state=large]", async (opened) => ({
            total: number(await opened.text("[data-part=total]")),
            rows: await opened.page.locator(".list li").count(),
            requests: opened.seen.requests.filter((url) => url.includes("/neighborhood")),
        }));
        const [count] = tools.data.ask("debian", "reach", "package:libc6", "--type", "depends:in", "--type", "pre-depends:in", "--depth-max", "8", "--count");
        assert.equal(total, count.count + 1);
        assert.deepEqual([rows, requests], [0, []]);
    },
};
