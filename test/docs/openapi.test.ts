import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openapiDocument } from "./openapi-document.js";

// After a change of the messages: npm run docs
test("the published OpenAPI document matches the sources", async () => {
  await expect(`${JSON.stringify(openapiDocument(), null, 2)}\n`).toMatchFileSnapshot("../../docs/openapi.json");
});

test("the REST API is a valid OpenAPI document", async () => {
  const validator = new Validator();
  expect(await validator.validate(openapiDocument())).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  // The validator also detects a reference without a target.
  expect(await validator.validate({ ...openapiDocument(), components: {} })).toMatchObject({ valid: false });
});
