import { expect, test } from "vitest";
import { bwrapArguments, type Mount } from "../../src/sandbox/bwrap-arguments.js";

const layout = {
  network: "off",
  files: { empty: "/empty", unreadable: "/unreadable" },
  mountsProc: true,
  cwd: "/w",
} as const;

/** The arguments that concern paths. */
function mountsOf(mounts: readonly Mount[]): string {
  const args = bwrapArguments({ ...layout, mounts });
  return args.slice(args.lastIndexOf("/proc") + 1, args.indexOf("--chdir")).join(" ");
}

test("everything is read-only and in namespaces of its own, without network and capabilities", () => {
  expect(bwrapArguments({ ...layout, mounts: [] }).join(" ")).toBe(
    "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try --die-with-parent " +
      "--new-session --cap-drop ALL --seccomp 4 --json-status-fd 5 --ro-bind / / --dev /dev --proc /proc --remount-ro /proc --chdir /w --",
  );
});

test("the network can be shared, and /proc left as it is", () => {
  const args = bwrapArguments({ ...layout, network: "on", mountsProc: false, mounts: [] });
  expect(args).not.toContain("--unshare-net");
  expect(args).not.toContain("--proc");
});

test("a folder is mounted before what is inside it, whatever the order", () => {
  const mounts: Mount[] = [
    { kind: "read-only", path: "/w/.git/hooks" },
    { kind: "empty-file", path: "/w/.env" },
    { kind: "writable", path: "/w/.git" },
    { kind: "writable", path: "/w" },
    { kind: "writable", path: "/tmp", from: "/tmp/private" },
  ];
  expect(mountsOf(mounts)).toBe(
    "--bind /tmp/private /tmp --bind /w /w --ro-bind /empty /w/.env --bind /w/.git /w/.git --ro-bind /w/.git/hooks /w/.git/hooks",
  );
  expect(mountsOf(mounts.toReversed())).toBe(mountsOf(mounts));
});

test("an empty folder becomes read-only once the mount points inside it exist", () => {
  const mounts: Mount[] = [
    { kind: "empty-folder", path: "/home" },
    { kind: "writable", path: "/home/w" },
  ];
  expect(mountsOf(mounts)).toBe("--tmpfs /home --bind /home/w /home/w --remount-ro /home");
});

test.each<[Mount["kind"], Mount["kind"], string]>([
  ["writable", "read-only", "--ro-bind /p /p"],
  ["read-only", "empty-file", "--ro-bind /empty /p"],
  ["empty-file", "unreadable-file", "--ro-bind /unreadable /p"],
  ["writable", "empty-folder", "--tmpfs /p --remount-ro /p"],
])("of %s and %s for one path, the stricter applies", (one, other, expected) => {
  const mounts: Mount[] = [
    { kind: one, path: "/p" },
    { kind: other, path: "/p" },
  ];
  expect(mountsOf(mounts)).toBe(expected);
  expect(mountsOf(mounts.toReversed())).toBe(expected);
});

test("a writable folder that contains a mount is one itself, so that it cannot be renamed", () => {
  const mounts: Mount[] = [
    { kind: "writable", path: "/w" },
    { kind: "empty-file", path: "/w/a/b/.env" },
    { kind: "read-only", path: "/w/.cody" },
    { kind: "empty-file", path: "/w/.cody/c/.env" },
    { kind: "read-only", path: "/elsewhere/d" },
    { kind: "writable", path: "/tmp", from: "/private" },
    { kind: "read-only", path: "/tmp/bin/e" },
  ];
  expect(mountsOf(mounts)).toBe(
    "--ro-bind /elsewhere/d /elsewhere/d --bind /private /tmp --ro-bind /tmp/bin/e /tmp/bin/e --bind /w /w " +
      "--ro-bind /w/.cody /w/.cody --ro-bind /empty /w/.cody/c/.env --bind /w/a /w/a --bind /w/a/b /w/a/b --ro-bind /empty /w/a/b/.env",
  );
});
