import { expect, test } from "vitest";
import { addressProblem } from "../../../../src/actors/mcp/login/auth-fetch.js";

const [far, near] = [new URL("https://far.example/mcp"), new URL("http://127.0.0.1:8080/mcp")];

test.each([
  ["https://issuer.example/token", far],
  ["https://far.example/token", far],
  ["http://127.0.0.1:9/token", near],
  ["http://localhost:9/token", near],
  ["https://issuer.example/token", near],
])("a request to %s is allowed for the server %s", (url, server) => {
  expect(addressProblem(new URL(url), server)).toBeUndefined();
});

test.each([
  ["http://issuer.example/token", far],
  ["http://issuer.example/token", near],
  ["http://127.0.0.1/token", far],
  ["https://127.0.0.1/token", far],
  ["https://10.1.2.3/token", far],
  ["https://0x7f000001/token", far],
  ["https://169.254.169.254/latest", far],
  ["https://192.168.0.1/token", far],
  ["https://[::1]/token", far],
  ["https://[::ffff:10.0.0.1]/token", far],
  ["https://[fd00::1]/token", far],
  ["https://localhost/token", far],
  ["https://metadata.google.internal/token", far],
  ["file:///etc/passwd", far],
  ["javascript:alert(1)", far],
])("a request to %s is refused for the server %s", (url, server) => {
  expect(addressProblem(new URL(url), server)).toBeDefined();
});
