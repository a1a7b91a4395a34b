// Call the demo through openapi-fetch with the types of openapi-typescript:
// node smoke.js URL KEY
import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [address, key] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: address,
  headers: { "x-service-api-key": key },
});
const ownId = `generated-${randomUUID()}`;

const made = await client.POST("/v2/user", { body: { client_user_id: ownId } });
const user: components["schemas"]["UserAnswer"] | undefined = made.data;
assert.ok(user, JSON.stringify(made.error));
assert.equal(user.client_user_id, ownId);
assert.equal(user.fallback_time_zone.id, "UTC");
assert.equal(user.fallback_birth_date, null);
const one = { params: { path: { user_id: user.user_id } } };
assert.deepEqual((await client.GET("/v2/user/{user_id}", one)).data, user);
const page = await client.GET("/v2/user", { params: { query: { limit: 100 } } });
assert.equal(page.data?.total, page.data?.users.length);
const users = [...(page.data?.users ?? [])];
assert.ok(users.some((each) => each.user_id === user.user_id));
users.sort((a, b) => b.connected_sources.length - a.connected_sources.length);
const samples = await client.GET("/v2/timeseries/{user_id}/{resource}/grouped", {
  params: {
    path: { user_id: users[0].user_id, resource: "heartrate" },
    query: { start_date: new Date(Date.now() - 2 * 86400e3).toISOString() },
  },
});
assert.ok(samples.data, JSON.stringify(samples.error));
const tests = await client.GET("/v3/lab_test", {
  params: { query: { lab_test_limit: 5 } },
});
assert.ok(tests.data && tests.data.data.length >= 1, JSON.stringify(tests.error));
assert.ok((await client.DELETE("/v2/user/{user_id}", one)).data?.success);
const gone = await client.GET("/v2/user/{user_id}", one);
assert.equal(gone.response.status, 404);
assert.ok(gone.error && "code" in gone.error && gone.error.code === "not_found");
