import { expect, test } from "vitest";
import { deniedNotes } from "../../src/sandbox/denied-notes.js";
import type { SandboxSpec } from "../../src/tools/exec/command-sandbox.js";

const spec: SandboxSpec = {
  mode: "workspace-write",
  workspace: "/w",
  writableRoots: ["/cache"],
  network: "off",
  unixSockets: "off",
};

const readOnly = (paths: string, places = "/w, /cache, /tmp") =>
  `read-only: ${paths}. Only ${places} can be written, except git's hooks and configuration, .cody and instruction files`;

const noNetwork = "no network: the setting sandbox.network is off";

test.each<[string, string]>([
  ["touch: cannot touch '/etc/x': Read-only file system", readOnly("/etc/x")],
  ["sh: 1: cannot create .git/hooks/x: Read-only file system", readOnly(".git/hooks/x")],
  ["Error: EROFS: read-only file system, open '/root/.npm/log'", readOnly("/root/.npm/log")],
  ["OSError: [Errno 30] Read-only file system: '/etc/x'", readOnly("/etc/x")],
  ["curl: (6) Could not resolve host: example.com", noNetwork],
  ["connect ENETUNREACH 1.1.1.1:80 - Local (0.0.0.0:0)", noNetwork],
  ["Error: getaddrinfo EAI_AGAIN packages.example.com", noNetwork],
  ["curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server", noNetwork],
  ["open .env failed", "hidden, so that they look empty or cannot be read: .env"],
  ["cat /etc/shadow: nothing", "hidden, so that they look empty or cannot be read: /etc/shadow"],
])("the output %j is explained", (output, note) => {
  expect(deniedNotes({ spec, output, hidden: ["/w/.env", "/etc/shadow", "/w/a.pem"] })).toEqual([note]);
});

test("refused system calls are named", () => {
  const output = "PermissionError: [Errno 1] Operation not permitted";
  expect(deniedNotes({ spec, output, hidden: [] })).toEqual([
    "not permitted: unix sockets (off), tracing other processes, and user namespaces may be refused",
  ]);
});

test("an ordinary failure has no note", () => {
  const output = "1 test failed\nAssertionError: 1 is not 2\nls: cannot access 'x': No such file or directory";
  expect(deniedNotes({ spec, output, hidden: ["/w/.env"] })).toEqual([]);
});

test("in a read-only sandbox only the temporary folder can be written; with a network, it is not to blame", () => {
  const output = "touch: cannot touch 'x': Read-only file system\nCould not resolve host: nowhere";
  const notes = deniedNotes({ spec: { ...spec, mode: "read-only", network: "on" }, output, hidden: [] });
  expect(notes).toEqual(["read-only: x. Only /tmp can be written"]);
});
