// Everything by keys alone: no test of this file uses a pointer.
import assert from "node:assert/strict";

/** Presses keys one after the other. */
async function press(opened, ...keys) {
    for (const key of keys) await opened.page.keyboard.press(key);
}

/** Waits until the address has these values. */
async function reaches(opened, wanted) {
    await opened.page.waitForFunction((values) => {
        const query = new URLSearchParams(location.search);
        return Object.entries(values).every(([name, value]) => (query.get(name) ?? "") === value);
    }, wanted);
    await opened.settle();
}

/** Moves the focus with Tab until it is on an element that fits. */
async function tabTo(opened, selector) {
    for (let step = 0; step < 80; step += 1) {
        if (await opened.page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
        await opened.page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${selector}`);
}

export const byKeys = {
    async "from a search to an entity to its lineage, and back"({ data, browser }) {
        const opened = await browser.open(data.catalogue);
        await opened.settle();
        await press(opened, "/");
        await opened.page.waitForFunction(() => document.activeElement?.id === "search");
        await opened.page.keyboard.type("table where owner = finance");
        await press(opened, "Enter");
        await reaches(opened, { q: "table where owner = finance" });
        await tabTo(opened, "tr[data-id='table:revenue'] a");
        await press(opened, "Enter");
        await reaches(opened, { view: "entity", id: "table:revenue" });
        await press(opened, "Escape", "g", "l");
        await reaches(opened, { view: "lineage", id: "table:revenue" });
        await press(opened, "g", "e");
        await reaches(opened, { view: "entity", id: "table:revenue" });
        for (const view of ["lineage", "entity", ""]) {
            await opened.page.goBack();
            await reaches(opened, { view });
        }
        assert.equal(await opened.page.locator("#search").inputValue(), "table where owner = finance");
        await opened.close();
    },

    async "the search completes types, properties, operators and values"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?q=table");
        await opened.page.locator("tr[data-id]").first().waitFor();
        await press(opened, "/");
        await opened.page.keyboard.press("ControlOrMeta+A");
        for (const [letters, text] of [["tab", "table"], ["wh", "table where"], ["own", "table where owner"], ["= fin", "table where owner = 'finance'"]]) {
            await opened.page.keyboard.type(letters);
            await press(opened, "ArrowDown", "Enter");
            // The server completes: an offer that a quick typist takes before it is there comes in the end.
            await opened.page.waitForFunction((text) => document.querySelector("#search").value.trim() === text, text);
        }
        await press(opened, "Enter");
        await reaches(opened, { q: "table where owner = 'finance'" });
        await opened.page.locator("tr[data-id='table:forecast']").waitFor();
        await opened.close();
    },

    async "a column of hits sorts"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?q=table");
        await opened.page.locator("tr[data-id]").first().waitFor();
        await tabTo(opened, "th:nth-child(6) button.sort");
        const name = (await opened.text("th:nth-child(6) button.sort")).trim();
        await press(opened, "Enter");
        await reaches(opened, { sort: name });
        await opened.page.locator("th[aria-sort=ascending]").waitFor();
        await tabTo(opened, "th:nth-child(6) button.sort");
        await press(opened, "Enter");
        await reaches(opened, { sort: `-${name}` });
        await opened.close();
    },

    async "arrows walk along a lineage, and p shows only the path"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?view=lineage&id=table:customers&down=5");
        await opened.settle();
        await press(opened, "l", "ArrowRight");
        await reaches(opened, { sel: "job:audience" });
        assert.match(await opened.text(".notice"), /job:audience, job, 1 in, 0 out/);
        await press(opened, "ArrowLeft");
        await reaches(opened, { sel: "table:customers" });
        await press(opened, "p", "End");
        await reaches(opened, { sel: "table:forecast", mark: "table:customers" });
        await press(opened, "p");
        await reaches(opened, { path: "true" });
        assert.deepEqual(await opened.values(".list li", "id"), ["table:customers", "job:revenue", "table:revenue", "job:forecast", "table:forecast"]);
        await opened.checkAxe();
        await press(opened, "p");
        await reaches(opened, { path: "", mark: "" });
        await press(opened, "l", "Enter");
        await reaches(opened, { view: "entity", id: "table:forecast" });
        await opened.close();
    },

    async "brackets step to the commits that changed what is in view, and n is now"({ data, browser }) {
        const id = "column:customers.email";
        const versions = data.ask("catalogue", "history", id).filter((line) => line.version);
        const touching = versions.map(({ position }) => `${position}`);
        assert.ok(touching.length >= 3, `${touching}`);
        const opened = await browser.open(data.catalogue, `?view=entity&id=${id}`);
        await opened.settle();
        for (const atPosition of touching.slice(1)) {
            await press(opened, "[");
            await reaches(opened, { atPosition });
        }
        await opened.page.locator(".time .commit b", { hasText: touching.at(-1) }).waitFor();
        for (const atPosition of touching.toReversed().slice(1)) {
            await press(opened, "]");
            await reaches(opened, { atPosition });
        }
        await press(opened, "]");
        await reaches(opened, { atPosition: "" });
        await press(opened, "[");
        await reaches(opened, { atPosition: touching[1] });
        await press(opened, "n");
        await reaches(opened, { atPosition: "" });
        await opened.close();
    },

    async "c compares with the commit before, and ends it"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?view=lineage&id=table:customers&down=5");
        await opened.settle();
        await press(opened, "c");
        await opened.page.locator(".list [data-change=changed]").waitFor();
        assert.deepEqual(await opened.values(".list [data-change=changed]", "id"), ["job:audience"]);
        assert.match(await opened.text("[data-part=summary]"), /From position \d+ to now: ~ 1 entity changed/);
        await press(opened, "l", "ArrowRight");
        await opened.page.locator(".difference [data-name=owner]").waitFor();
        assert.deepEqual(await opened.texts(".difference [data-name=owner] td"), ["sales", "marketing"]);
        await press(opened, "d");
        await reaches(opened, { differing: "true" });
        assert.deepEqual(await opened.values(".list li", "id"), ["job:audience"]);
        await opened.checkAxe();
        await press(opened, "c");
        await reaches(opened, { compare: "" });
        assert.ok((await opened.values(".list li", "id")).length > 1);
        await opened.close();
    },

    async "a time is typed, and Escape leaves the field"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?view=entity&id=job:audience");
        await opened.settle();
        await press(opened, "t");
        await opened.page.waitForFunction(() => document.activeElement?.id === "known-at");
        await opened.page.keyboard.type("3");
        await press(opened, "Enter", "Tab");
        await reaches(opened, { atPosition: "3" });
        await opened.page.keyboard.type("2025-03-15");
        await press(opened, "Enter");
        await reaches(opened, { validAt: "2025-03-15" });
        await press(opened, "Escape", "n");
        await reaches(opened, { validAt: "", atPosition: "" });
        await opened.close();
    },

    async "the menu and the help have every action, by keys"({ data, browser }) {
        const opened = await browser.open(data.catalogue, "?view=lineage&id=table:customers");
        await opened.settle();
        await press(opened, "?");
        const helped = (await opened.texts("dialog .help td")).length;
        await opened.checkAxe();
        await press(opened, "Escape", "m");
        await opened.page.locator("dialog .menu button").first().waitFor();
        assert.equal((await opened.texts("dialog .menu button")).length, helped - 1, "the help has Escape, too");
        await opened.checkAxe();
        await tabTo(opened, "dialog .menu li:nth-child(2) button");
        await press(opened, "Enter");
        await reaches(opened, { view: "" });
        // A key that the menu shows works while it is open.
        await press(opened, "m", "g", "l");
        await reaches(opened, { view: "lineage" });
        assert.equal(await opened.page.locator("dialog").count(), 0);
        await opened.close();
    },
};
