// Each view by its address alone, at two widths and in both schemes.
import { SCHEMES, WIDTHS } from "./browser.mjs";

/** Name, server, address, the element that shows that the view is there, and expected status codes. */
const VIEWS = [
    ["the overview", "catalogue", "", ".counts [data-name=table]"],
    ["hits", "catalogue", "?q=table+order+by+rows&sort=-rows", "tr[data-id='table:orders']"],
    ["hits of Debian", "debian", "?q=package+where+name+^%3D+postgresql", "tr[data-id='package:postgresql']"],
    ["an error of the parser", "catalogue", "?q=table+where+rows+>>+1", ".searched mark", [400]],
    ["an unknown type", "catalogue", "?q=tabel", "[data-state=absent]", [404]],
    ["an empty answer", "catalogue", "?q=table+where+rows+>+99", "[data-state=empty]"],
    ["an entity", "catalogue", "?view=entity&id=job:audience", ".properties [data-name=owner]"],
    ["an entity of then", "catalogue", "?view=entity&id=table:audience&atPosition=5", ".time.past"],
    ["a deleted entity", "catalogue", "?view=entity&id=table:audience", "[data-state=absent]", [410]],
    ["an entity with many neighbours", "debian", "?view=entity&id=package:libc6", ".neighbours [data-type=depends]"],
    ["no entity", "catalogue", "?view=entity", "[data-state=empty]"],
    ["a lineage", "catalogue", "?view=lineage&id=table:customers&down=5", ".list [data-id='table:forecast']"],
    ["a difference", "catalogue", "?view=lineage&id=table:customers&compare=5&sel=job:audience", ".list [data-change=removed]"],
    ["a path", "catalogue", "?view=lineage&id=table:customers&down=5&sel=table:forecast&mark=table:customers&path=true", ".list [data-id='job:forecast']"],
    ["a lineage of hundreds", "debian", "?view=lineage&id=package:gimp&up=3&down=0", ".list [data-id='package:gimp']"],
    ["a lineage too large to draw", "debian", "?view=lineage&id=package:libc6&up=1&down=6", "[data-state=large]"],
];

export const looks = Object.fromEntries(
    VIEWS.flatMap(([name, server, query, shown, expects = []]) =>
        WIDTHS.flatMap((width) =>
            SCHEMES.map((scheme) => [
                `${name} by its address, ${width} pixels, ${scheme}`,
                async ({ data, browser }) => {
                    const opened = await browser.open(data[server], query, { width, scheme, expects });
                    await opened.page.locator(shown).first().waitFor({ state: "attached" });
                    await opened.settle();
                    await opened.close();
                },
            ]),
        ),
    ),
);

for (const [name, server, query, shown, expects = []] of VIEWS) {
    looks[`${name} fits into 320 pixels`] = async ({ data, browser }) => {
        const opened = await browser.open(data[server], query, { width: 320, expects });
        await opened.page.locator(shown).first().waitFor({ state: "attached" });
        await opened.settle();
        await opened.close({ axe: false });
    };
}
