// Uses the generated types with openapi-fetch against the server that the argument names.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./annals.js";

// Answers in lines are left to those who ask for them.
const client = createClient<paths, "application/json" | "application/problem+json">({ baseUrl: process.argv[2] });

type Schemas = components["schemas"];

/** The answer, which is no error. */
function good<Data>(answer: { data?: Data; error?: Schemas["Problem"]; response: Response }): Data {
  assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  assert.ok(answer.data, `no body: ${answer.response.status}`);
  return answer.data;
}

/** The error, which is described. */
function problem(answer: { error?: Schemas["Problem"]; response: Response }, status: number): Schemas["Problem"] {
  assert.equal(answer.response.status, status);
  assert.equal(answer.response.headers.get("content-type"), "application/problem+json");
  assert.ok(answer.error);
  assert.equal(answer.error.status, status);
  assert.equal(answer.error.type, `/errors/${answer.error.kind}`);
  assert.ok(answer.error.title && answer.error.detail);
  return answer.error;
}

async function declareAType() {
  const name: Schemas["Attribute"] = { name: "name", type: "string", required: true };
  const types: Schemas["Type"][] = [{ kind: "entity", name: "package", attributes: [name], statuses: ["active"] }];
  good(await client.POST("/v1/types", { body: { types } }));
  const path = { kind: "entity", name: "package" } as const;
  const found = good(await client.GET("/v1/types/{kind}/{name}", { params: { path } }));
  assert.equal(found.attributes?.[0]?.name, "name");
}

async function create() {
  const properties: Schemas["Properties"] = {
    name: "bash",
    size: 7,
    price: { $decimal: "1.20" },
    tags: { $set: ["shell"] },
    homes: ["a", { $decimal: "2.0" }],
    owner: { name: "ada", age: { $decimal: "36" } },
  };
  const header = { "annals-author": "ada" };
  const bash = { id: "bash", type: "package", properties };
  const created = good(await client.POST("/v1/entities", { params: { header }, body: bash }));
  assert.deepEqual([created.version, created.created.author], [1, "ada"]);
  const read = good(await client.GET("/v1/entities/{id}", { params: { path: { id: "bash" } } }));
  assert.deepEqual(read.properties, properties);
  good(await client.POST("/v1/entities", { body: { id: "libc6", type: "package", properties: { name: "libc6" } } }));
  const made = good(await client.POST("/v1/relationships", { body: { id: "r", type: "depends", from: "bash", to: "libc6" } }));
  assert.deepEqual([made.from, made.to], ["bash", "libc6"]);
  const around = good(await client.GET("/v1/entities/{id}/neighbors", { params: { path: { id: "bash" } } }));
  assert.deepEqual([around.items.map((item) => item.entity.id), around.next], [["libc6"], null]);
}

async function update() {
  const path = { id: "bash" };
  const { response } = await client.GET("/v1/entities/{id}", { params: { path } });
  const tag = response.headers.get("etag");
  assert.ok(tag);
  const params = { path, header: { "if-match": tag } };
  const body: Schemas["Patch"] = { size: 8, price: null };
  const patched = good(await client.PATCH("/v1/entities/{id}", { params, body }));
  assert.deepEqual([patched.version, patched.properties.size, patched.properties.price], [2, 8, undefined]);
  const late = await client.PATCH("/v1/entities/{id}", { params, body });
  assert.equal(problem(late, 412).kind, "precondition-failed");
  const steps = good(await client.PATCH("/v1/entities/{id}", { params: { path }, body: [{ set: "size", value: 9 }] }));
  assert.equal(steps.properties.size, 9);
  const content = { properties: { name: "bash", size: 10 } };
  const replaced = good(await client.PUT("/v1/entities/{id}", { params: { path }, body: content }));
  assert.deepEqual(replaced.properties, content.properties);
}

async function search() {
  const q = "package where size >= 5";
  const text = good(await client.GET("/v1/entities", { params: { query: { q, limit: 10 } } }));
  assert.deepEqual(text.items.map((item) => item.id), ["bash"]);
  const query = { type: ["package"], where: ["name ^= b", "size = 10"] };
  const repeated = good(await client.GET("/v1/entities", { params: { query } }));
  assert.deepEqual(repeated.items.map((item) => item.id), ["bash"]);
  const where: Schemas["Expression"] = {
    all: [
      { property: "size", operator: ">=", value: 5 },
      { has: "out", type: "depends", to: "name = libc6" },
      { none: ["name = libc6"] },
    ],
  };
  const found = good(await client.POST("/v1/find", { body: { type: "package", where, orderBy: ["-size"] } }));
  assert.deepEqual(found.items.map((item) => item.id), ["bash"]);
  const related = good(await client.POST("/v1/find", { body: { kind: "relationship", where: "@type = depends" } }));
  assert.deepEqual(related.items.map((item) => item.id), ["r"]);
}

async function readThePast() {
  const path = { id: "bash" };
  const page = good(await client.GET("/v1/entities/{id}/history", { params: { path, query: { limit: 3 } } }));
  assert.ok(page.next);
  const query = { limit: 3, after: page.next };
  const rest = good(await client.GET("/v1/entities/{id}/history", { params: { path, query } }));
  const versions = [...page.items, ...rest.items];
  assert.deepEqual(versions.map((item) => item.version), [4, 3, 2, 1]);
  const first = versions.at(-1);
  assert.ok(first);
  for (const query of [{ atPosition: first.position }, { at: first.instant }]) {
    const before = good(await client.GET("/v1/entities/{id}", { params: { path, query } }));
    assert.equal(before.properties.size, 7);
  }
}

async function commit() {
  const operations: Schemas["Operation"][] = [
    { action: "create", kind: "entity", id: "zsh", type: "package", properties: { name: "zsh" } },
    { action: "create", kind: "relationship", type: "depends", from: "zsh", to: "libc6" },
    { action: "update", kind: "entity", id: "bash", patch: { size: 11 }, ifVersion: 4 },
  ];
  const body: Schemas["Transaction"] = { author: "ada", message: "three at once", operations };
  const tried = good(await client.POST("/v1/transactions", { body: { ...body, dryRun: true } }));
  assert.ok("dryRun" in tried);
  const done = good(await client.POST("/v1/transactions", { body }));
  assert.ok("position" in done);
  assert.deepEqual([done.ids[0], done.ids.length], ["zsh", 2]);
  const params = { path: { id: "bash" }, header: { "annals-wait-position": String(done.position) } };
  const updated = good(await client.GET("/v1/entities/{id}", { params }));
  assert.equal(updated.properties.size, 11);
  // A second time an operation does not hold: none is done.
  const again = await client.POST("/v1/transactions", { body });
  assert.equal(problem(again, 412).kind, "precondition-failed");
}

async function changeATree() {
  const tree = { tags: ["core", "lab"], clock: { zone: "UTC" } };
  const config = { steps: "/config" };
  const put = good(await client.PUT("/v1/tree/{steps}", { params: { path: config }, body: tree }));
  const zone = { path: { steps: "/config/clock/zone" } };
  good(await client.PUT("/v1/tree/{steps}", { params: zone, body: "CET" }));
  assert.equal(good(await client.GET("/v1/tree/{steps}", { params: zone })), "CET");
  const found = good(await client.GET("/v1/tree-find/{steps}", { params: { path: { steps: "//zone" } } }));
  assert.deepEqual(found.items.map((one) => one.path), ["/config/clock/zone"]);
  const since = { path: config, query: { fromPosition: put.position } };
  const differs = good(await client.GET("/v1/tree-diff/{steps}", { params: since }));
  assert.deepEqual(differs.items.map((one) => [one.path, one.change]), [["/config/clock", "modified"]]);
  good(await client.POST("/v1/tree-revert", { body: { path: "/config", atPosition: put.position } }));
  assert.deepEqual(good(await client.GET("/v1/tree/{steps}", { params: { path: config } })), tree);
}

async function beRefused() {
  const nameless = await client.POST("/v1/entities", { body: { type: "package" } });
  assert.equal(problem(nameless, 422).kind, "invalid-property");
  const bad = await client.GET("/v1/entities", { params: { query: { q: "package where (" } } });
  assert.equal(problem(bad, 400).kind, "invalid-expression");
  const lost = await client.GET("/v1/entities/{id}", { params: { path: { id: "nobody" } } });
  assert.equal(problem(lost, 404).kind, "not-found");
}

for (const step of [declareAType, create, update, search, readThePast, commit, changeATree, beRefused]) {
  await step();
  console.log(`typescript: ${step.name}: ok`);
}
