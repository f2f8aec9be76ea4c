import { afterEach, expect, it } from "vitest";
import { apiErrorFrom } from "./errors";
import { failuresOfTab, forgetFailures } from "./failures";

afterEach(forgetFailures);

const refused = (status: number, id: string) =>
  apiErrorFrom(
    new Response(JSON.stringify({ error: { message: `It failed as ${id}.` } }), {
      status,
      headers: { "X-Request-Id": id },
    }),
  );

it("keeps the newest ten errors, with the ids of their requests", async () => {
  for (let number = 1; number <= 12; number += 1) await refused(500, `id-${number}`);
  expect(failuresOfTab().map(({ requestId }) => requestId)).toEqual(
    Array.from({ length: 10 }, (_, number) => `id-${12 - number}`),
  );
  expect(failuresOfTab()[0]).toMatchObject({ message: "It failed as id-12.", status: 500 });
});

it("leaves out that nobody is signed in", async () => {
  await refused(401, "id");
  expect(failuresOfTab()).toEqual([]);
});
