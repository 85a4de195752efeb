import { expect, test } from "vitest";
import { ollamaBaseUrl } from "../../src/config/providers/vendors.js";

test.each([
  ["gpu-box", "http://gpu-box:11434/v1"],
  ["10.0.0.7:8080", "http://10.0.0.7:8080/v1"],
  [":8080", "http://localhost:8080/v1"],
  ["[::1]", "http://[::1]:11434/v1"],
  ["http://gpu-box", "http://gpu-box/v1"],
  ["https://ollama.example:8443/", "https://ollama.example:8443/v1"],
  ["https://example.org/ollama", "https://example.org/ollama/v1"],
])("OLLAMA_HOST=%s gives the address %s", (host, expected) => {
  expect(ollamaBaseUrl(host)).toBe(expected);
});
