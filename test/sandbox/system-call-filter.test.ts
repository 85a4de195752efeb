import { expect, test } from "vitest";
import { hasFilter, systemCallFilter } from "../../src/sandbox/system-call-filter.js";

const [allowed, denied, missing] = ["allowed", "EPERM", "ENOSYS"];

const verdicts: Readonly<Record<number, string>> = { 0x7fff0000: allowed, 0x00050001: denied, 0x00050026: missing };

interface SystemCall {
  readonly architecture: number;
  readonly number: number;
  readonly argument?: number;
}

/** Runs a filter as the kernel does; an instruction outside of the program fails. */
function verdictOf(filter: Buffer, { architecture, number, argument = 0 }: SystemCall): string | undefined {
  const data = new Map([
    [0, number],
    [4, architecture],
    [16, argument],
  ]);
  let [accumulator, at] = [0, 0];
  for (;;) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    const jump = (isTrue: boolean): number => at + 1 + filter.readUInt8(at * 8 + (isTrue ? 2 : 3));
    if (code === 0x06) return verdicts[value];
    if (code === 0x20) [accumulator, at] = [data.get(value) ?? 0, at + 1];
    else if (code === 0x15) at = jump(accumulator === value);
    else if (code === 0x35) at = jump(accumulator >= value);
    else if (code === 0x45) at = jump((accumulator & value) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
}

const x64 = {
  audit: 0xc000003e,
  read: 0,
  socket: 41,
  socketpair: 53,
  ptrace: 101,
  clone: 56,
  unshare: 272,
  keyctl: 250,
  processRead: 310,
  setns: 308,
};

const arm64 = {
  audit: 0xc00000b7,
  read: 63,
  socket: 198,
  socketpair: 199,
  ptrace: 117,
  clone: 220,
  unshare: 97,
  keyctl: 219,
  processRead: 270,
  setns: 268,
};

const anyway = { ioUringSetup: 425, ioUringEnter: 426, ioUringRegister: 427, pidfdGetfd: 438, clone3: 435 };

const [newUser, newNetwork, signal] = [0x10000000, 0x40000000, 17];

const [unix, inet, inet6, netlink, packet, vsock, alg] = [1, 2, 10, 16, 17, 40, 38];

test.each([
  { name: "x64", numbers: x64 },
  { name: "arm64", numbers: arm64 },
])("on $name, the filter refuses what leads out of the sandbox", ({ name, numbers }) => {
  const strict = systemCallFilter({ architecture: name, unixSockets: "off" });
  const open = systemCallFilter({ architecture: name, unixSockets: "workspace" });
  const verdict = (number: number, argument = 0, filter = strict) =>
    verdictOf(filter, { architecture: numbers.audit, number, argument });
  const { read, socket, socketpair, ptrace, clone, unshare, keyctl, processRead, setns } = numbers;
  for (const number of [read, socketpair, clone, unshare]) expect(verdict(number)).toBe(allowed);
  for (const number of [ptrace, keyctl, processRead, setns]) expect(verdict(number)).toBe(denied);
  for (const number of Object.values(anyway)) {
    expect(verdict(number)).toBe(number === anyway.clone3 ? missing : denied);
  }
  for (const domain of [inet, inet6, netlink]) expect(verdict(socket, domain)).toBe(allowed);
  for (const domain of [unix, packet, vsock, alg, 0, 255]) expect(verdict(socket, domain)).toBe(denied);
  expect(verdict(socket, unix, open)).toBe(allowed);
  for (const domain of [packet, vsock, alg]) expect(verdict(socket, domain, open)).toBe(denied);
  for (const number of [clone, unshare]) {
    expect(verdict(number, newUser)).toBe(denied);
    expect(verdict(number, newUser | newNetwork | signal)).toBe(denied);
    expect(verdict(number, newNetwork | signal)).toBe(allowed);
  }
});

test("calls of another architecture are refused, and those of x32", () => {
  const filter = systemCallFilter({ architecture: "x64", unixSockets: "workspace" });
  const i386 = 0x40000003;
  expect(verdictOf(filter, { architecture: i386, number: x64.read })).toBe(denied);
  expect(verdictOf(filter, { architecture: arm64.audit, number: arm64.read })).toBe(denied);
  expect(verdictOf(filter, { architecture: x64.audit, number: 0x40000000 + x64.read })).toBe(denied);
  expect(verdictOf(filter, { architecture: x64.audit, number: 0x40000000 + x64.socket, argument: inet })).toBe(denied);
});

test("there is no filter for other processors", () => {
  expect(["x64", "arm64", "riscv64", "ia32"].map(hasFilter)).toEqual([true, true, false, false]);
  expect(() => systemCallFilter({ architecture: "riscv64", unixSockets: "off" })).toThrow("riscv64");
});
