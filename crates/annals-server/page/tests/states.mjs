// Loading, empty, failed and refused are four states; a question ends when its view is left.
import assert from "node:assert/strict";

const VIEWS = [
    ["search", "?q=table", "**/v1/find"],
    ["overview", "", "**/v1/stats*"],
    ["entity", "?view=entity&id=table:orders", "**/v1/entities/*"],
    ["lineage", "?view=lineage&id=table:orders", "**/v1/entities/*/reach/groups*"],
];

export const states = {
    async "the credentials are asked for, and kept in memory only"({ data, browser }) {
        for (const [, query] of VIEWS) {
            const opened = await browser.open(data.guarded, query, { expects: [401] });
            await opened.page.locator("[data-state=refused] #token").first().waitFor();
            await opened.checkAxe();
            await opened.page.locator("#token").first().fill(data.token);
            await opened.page.keyboard.press("Enter");
            await opened.page.locator("[data-state=refused]").first().waitFor({ state: "detached" });
            await opened.settle();
            assert.equal(await opened.page.locator(".counts, .hits, .properties, .list").first().isVisible(), true);
            const kept = await opened.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
            assert.ok(!kept.includes(data.token), kept);
            await opened.page.reload();
            await opened.page.locator("[data-state=refused] #token").first().waitFor();
            await opened.close();
        }
    },

    async "a client with grants sees its part, and no byte of the rest arrives"({ data, browser }) {
        const hidden = "column:visits.ip_address";
        assert.ok(data.ask("catalogue", "get", hidden)[0].classifications.pii);
        const bodies = [];
        for (const [query, selector] of [
            ["", ".counts [data-name=column]"],
            ["?q=column", "tr[data-id='column:visits.page']"],
            ["?view=entity&id=table:visits", ".neighbours [data-type='has-column'] li"],
            ["?view=lineage&id=table:visits&types=has-column:out,reads:in", ".list [data-id='column:visits.page']"],
            [`?q=${encodeURIComponent(hidden)}`, "[data-state=absent], [data-state=empty]"],
        ]) {
            const opened = await browser.open(data.guarded, query, { expects: [401, 404] });
            opened.page.on("response", async (response) => bodies.push(await response.text().catch(() => "")));
            await opened.page.locator("#token").first().fill(data.granted);
            await opened.page.keyboard.press("Enter");
            await opened.page.locator(selector).first().waitFor();
            await opened.settle();
            await opened.close();
        }
        assert.ok(bodies.some((body) => body.includes("column:visits.page")));
        // Only the question itself, which the error repeats, may name it.
        const leaks = bodies.filter((body) => body.includes("ip_address") && !body.includes("\"detail\""));
        assert.deepEqual(leaks, []);
    },

    async "a wrong token is refused again, and says so"({ data, browser }) {
        const opened = await browser.open(data.guarded, "?view=entity&id=table:orders", { expects: [401] });
        await opened.page.locator("#token").fill("annals_ada_wrong");
        await opened.page.keyboard.press("Enter");
        await opened.page.getByText("Another token").waitFor();
        await opened.close();
    },
};

/** Addresses that people mistype, and the state that each leads to. */
const ODD = [
    ["?at=foo", "failed"],
    ["?atPosition=abc", "failed"],
    ["?view=entity&id=table:orders&validAt=3000-01-01", "failed"],
    ["?view=entity&id=table:orders&atPosition=999999", "absent"],
    ["?view=entity&id=table:orders&at=1970", "absent"],
    ["?view=entity&id=nope", "absent"],
    [`?view=entity&id=${"y".repeat(300)}`, "failed"],
    ["?view=lineage&id=nope", "absent"],
    ["?view=lineage&id=table:orders&compare=foo", "failed"],
    ["?view=lineage&id=table:orders&types=nope:in", "absent"],
    ["?view=bogus&up=-4&down=99999&sel=%E0%A4%A", ""],
    ["?view=lineage&id=table:orders&types=none&up=99", ""],
    ["?q=table&sort=nope", "absent"],
    ["?q=%00", "failed"],
];

for (const [query, state] of ODD) {
    states[`the address ${query.slice(0, 60)} says what is wrong`] = async ({ data, browser }) => {
        const opened = await browser.open(data.catalogue, query, { expects: [400, 404] });
        await opened.page.locator(state ? `[data-state=${state}]` : "main :is(.counts, .list)").first().waitFor();
        await opened.settle();
        await opened.close();
    };
}

for (const [name, query, asked] of VIEWS) {
    states[`${name}: loading, and its question ends when it is left`] = async ({ data, browser }) => {
        const before = (page) => page.route(asked, () => undefined);
        const opened = await browser.open(data.catalogue, query, { before });
        await opened.page.locator("[data-state=loading]").first().waitFor();
        await opened.checkAxe();
        const failed = opened.page.waitForEvent("requestfailed");
        // Another view: the held question is of no use any more.
        await opened.page.evaluate((isEntity) => {
            history.pushState(null, "", isEntity ? "?view=lineage" : "?view=entity");
            dispatchEvent(new PopStateEvent("popstate"));
        }, name === "entity");
        assert.match((await failed).failure().errorText, /ABORTED/);
        await opened.page.locator("[data-state=empty]").waitFor();
        await opened.close();
    };
    states[`${name}: failed, and asked again`] = async ({ data, browser }) => {
        let isGone = true;
        const before = (page) => page.route(asked, (route) => (isGone ? route.abort("connectionrefused") : route.continue()));
        const opened = await browser.open(data.catalogue, query, { before });
        await opened.page.locator("[data-state=failed]").first().waitFor();
        await opened.checkAxe();
        isGone = false;
        opened.seen.errors = opened.seen.errors.filter((error) => !error.includes("ERR_CONNECTION_REFUSED"));
        await opened.page.getByRole("button", { name: "Try again" }).first().click();
        await opened.page.locator("[data-state=failed]").first().waitFor({ state: "detached" });
        await opened.settle();
        await opened.close();
    };
}
