// Names and texts of the data that attack the page, and stored pages and pictures with scripts.
import assert from "node:assert/strict";
import { WIDTHS } from "./browser.mjs";
import { LONG, NAMES } from "./data.mjs";

/** The page shows the id as it is, and nothing of it became an element. */
async function checkShown(opened, selector, id) {
    assert.equal(await opened.text(selector), id);
    assert.equal(await opened.page.locator("main :is(script, iframe, object, embed, i:not(.hint i), u), main img:not(.contents img)").count(), 0);
}

export const hostile = {
    async "a page and a picture with scripts are shown without running"({ data, browser }) {
        for (const [id, selector] of [
            ["page", ".contents pre"],
            ["picture", ".contents img"],
            ["binary", ".contents .none"],
        ]) {
            const opened = await browser.open(data.hostile, `?view=entity&id=${id}`);
            await opened.page.locator(selector).waitFor();
            await opened.settle();
            if (id === "page") assert.match(await opened.text(".contents pre"), /<h1 id="from-data">a page<\/h1><script>/);
            if (id === "picture") {
                await opened.page.waitForFunction(() => document.querySelector(".contents img").naturalWidth === 20);
            }
            assert.equal(await opened.page.locator("#from-data, main iframe").count(), 0);
            await opened.close();
        }
    },

    async "a text of megabytes is cut, and shown on request"({ data, browser }) {
        const opened = await browser.open(data.hostile, "?view=entity&id=long");
        const value = opened.page.locator(".properties [data-name=text] bdi.value");
        await value.waitFor();
        assert.ok((await value.textContent()).length < 1_000);
        await opened.page.getByRole("button", { name: /^All / }).click();
        assert.equal(await value.textContent(), LONG);
        await opened.close({ axe: false });
        const hits = await browser.open(data.hostile, "?q=text");
        await hits.page.locator("tr[data-id=long]").waitFor();
        assert.ok((await hits.text("tr[data-id=long]")).length < 1_000);
        await hits.close();
    },

    async "attacking names in a lineage, a search and a message"({ data, browser }) {
        for (const width of WIDTHS) {
            const lineage = await browser.open(data.hostile, `?view=lineage&id=${encodeURIComponent(NAMES[0])}`, { width });
            await lineage.page.locator(".list li").first().waitFor();
            await lineage.settle();
            const ids = await lineage.texts(".list [data-part=id]");
            assert.deepEqual([...ids].sort(), [...NAMES].sort());
            await lineage.close();
            const hits = await browser.open(data.hostile, `?q=${encodeURIComponent("`thing <i>`")}`, { width });
            await hits.page.locator("tr[data-id]").first().waitFor();
            await hits.settle();
            assert.deepEqual((await hits.texts("tr[data-id] th [data-part=id]")).sort(), [...NAMES].sort());
            await hits.close();
        }
    },

    async "a search that attacks is an error of the parser, or finds nothing"({ data, browser }) {
        for (const name of NAMES) {
            const opened = await browser.open(data.hostile, `?q=${encodeURIComponent(name)}`, { expects: [400, 404] });
            // The id itself is found.
            await opened.page.locator(".same-id").waitFor();
            await opened.settle();
            await checkShown(opened, ".same-id [data-part=id]", name);
            await opened.close({ axe: false });
        }
    },
};

for (const name of NAMES) {
    hostile[`the entity ${JSON.stringify(name.slice(0, 40))} as it is`] = async ({ data, browser }) => {
        for (const width of WIDTHS) {
            const opened = await browser.open(data.hostile, `?view=entity&id=${encodeURIComponent(name)}`, { width });
            await opened.page.locator(".properties [data-part=author]").first().waitFor();
            await opened.settle();
            await checkShown(opened, "h1 [data-part=id]", name);
            const values = await opened.texts(".properties [data-part=value] bdi");
            assert.ok(values.includes(name) && values.includes("<b>bold</b>"), `${values}`);
            await opened.close();
        }
    };
}
