// Asks a Gremlin Server on a repository of Annals what its users ask: node driver.js URL [NAME TOKEN CERTIFICATE]
const assert = require("assert");
const { readFileSync } = require("fs");
const gremlin = require("gremlin");
const { traversal } = gremlin.process.AnonymousTraversalSource;
const { statics: __, P, TextP } = gremlin.process;

async function main(url, name, token, certificate) {
  const options = name
    ? { authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(name, token), ca: readFileSync(certificate) }
    : {};
  const connection = new gremlin.driver.DriverRemoteConnection(url, options);
  const g = traversal().withRemote(connection);
  await g.addV("place").property("name", "Paris").property("people", 2100000).next();
  await g.addV("place").property("name", "Parma").property("people", 200000).next();
  const names = async (found) => (await found.toList()).sort();
  assert.deepStrictEqual(await names(g.V().has("place", "name", TextP.startingWith("Par")).values("name")), ["Paris", "Parma"]);
  assert.deepStrictEqual(await names(g.V().hasLabel("place").has("people", P.gt(1000000)).values("name")), ["Paris"]);
  assert.strictEqual((await g.V().hasLabel("place").count().next()).value, 2);
  await assert.rejects(g.V().has("place", "name", "Paris").addE("near").to(__.V("nowhere")).next());
  await g.V().has("place", "name", "Paris").property("people", 2200000).iterate();
  const [latest, first] = await g.V().has("place", "name", "Paris").call("history").toList();
  const people = (version) => version.get("properties").get("people");
  assert.deepStrictEqual([people(latest), people(first), first.get("version")], [2200000, 2100000, 1]);
  await assert.rejects(g.with_("position", 1).addV("place").next(), /the past cannot be changed/);
  await g.V().hasLabel("place").drop().iterate();
  assert.strictEqual((await g.V().hasLabel("place").count().next()).value, 0);
  await connection.close();
  console.log("javascript: all as expected");
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
