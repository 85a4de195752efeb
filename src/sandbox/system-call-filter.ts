/** The numbers of system calls, and of the architecture in the kernel's audit records. */
interface Numbers {
  readonly audit: number;
  readonly socket: number;
  readonly clone: number;
  readonly unshare: number;
  readonly setns: number;
  readonly denied: readonly number[];
}

/** The same on every architecture: io_uring_setup, _enter and _register, which bypass the filter; pidfd_getfd. */
const deniedEverywhere = [425, 426, 427, 438];

const clone3 = 435;

/** By Node's name of the architecture. */
const architectures: Readonly<Record<string, Numbers>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    clone: 56,
    unshare: 272,
    setns: 308,
    // ptrace, process_vm_readv and _writev, add_key, request_key, keyctl
    denied: [101, 310, 311, 248, 249, 250],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    clone: 220,
    unshare: 97,
    setns: 268,
    denied: [117, 270, 271, 217, 218, 219],
  },
};

/** The domains in which a command may create sockets. All others, such as those to a hypervisor, are refused. */
const [unix, inet, netlink, inet6] = [1, 2, 16, 10];

const newUserNamespace = 0x1000_0000;

/** Numbers from here on are of the x32 variant of x64, by which every check could be bypassed. */
const firstX32 = 0x4000_0000;

/** The codes of classic BPF that the filter uses. */
const [load, jumpEqual, jumpAtLeast, jumpAnySet, give] = [0x20, 0x15, 0x35, 0x45, 0x06];

const [allow, notPermitted, notImplemented] = [0x7fff_0000, 0x0005_0001, 0x0005_0026];

/** Offsets in the kernel's `seccomp_data`; of an argument, the lower half. */
const [numberAt, architectureAt, firstArgumentAt] = [0, 4, 16];

/** Whether there is a filter for this architecture. */
export function hasFilter(architecture: string): boolean {
  return architecture in architectures;
}

interface FilterOptions {
  /** Node's name of the architecture. */
  readonly architecture: string;
  readonly unixSockets: "off" | "workspace";
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * The system call filter of commands, as the bytes of a seccomp program. It refuses sockets other than those of the
 * network (which has a namespace of its own), reading and changing other processes, the kernel's key rings, system
 * calls that bypass the filter, and further user namespaces, in which a command would have capabilities again.
 */
export function systemCallFilter({ architecture, unixSockets }: FilterOptions): Buffer {
  const numbers = architectures[architecture];
  if (numbers === undefined) throw new Error(`there is no system call filter for ${architecture}`);
  const { audit, socket, clone, unshare, setns, denied } = numbers;
  const domains = [inet, inet6, netlink, ...(unixSockets === "workspace" ? [unix] : [])];
  const instructions: Instruction[] = [
    [load, 0, 0, architectureAt],
    [jumpEqual, 1, 0, audit],
    [give, 0, 0, notPermitted],
    [load, 0, 0, numberAt],
    [jumpAtLeast, 0, 1, firstX32],
    [give, 0, 0, notPermitted],
    ...[...deniedEverywhere, ...denied, setns].flatMap((number): Instruction[] => [
      [jumpEqual, 0, 1, number],
      [give, 0, 0, notPermitted],
    ]),
    // Its flags are in memory, where a filter cannot read them; the C library then uses `clone`.
    [jumpEqual, 0, 1, clone3],
    [give, 0, 0, notImplemented],
    ...[clone, unshare].flatMap((number): Instruction[] => [
      [jumpEqual, 0, 4, number],
      [load, 0, 0, firstArgumentAt],
      [jumpAnySet, 0, 1, newUserNamespace],
      [give, 0, 0, notPermitted],
      [give, 0, 0, allow],
    ]),
    [jumpEqual, 0, domains.length + 2, socket],
    [load, 0, 0, firstArgumentAt],
    ...domains.map((domain, index): Instruction => [jumpEqual, domains.length - index, 0, domain]),
    [give, 0, 0, notPermitted],
    [give, 0, 0, allow],
  ];
  return Buffer.concat(instructions.map(encoded));
}

function encoded([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
