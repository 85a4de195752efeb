/** How much of a program's arguments an allow rule has to name. */
type Launcher =
  /** Any argument may run another program, or change what later ones are. */
  | "all"
  /** The first argument is a script; those after it are the script's. */
  | "script"
  /** The first argument is one of these subcommands, and none of the others may be one of these options. */
  | { readonly subcommands: ReadonlySet<string> | "any"; readonly options: RegExp };

const all = [
  // They run their arguments as a command, or change what later names mean.
  ["env", "sudo", "doas", "su", "runuser", "pkexec", "chroot", "unshare", "nsenter", "setpriv", "capsh", "bwrap"],
  ["systemd-run", "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "pwsh"],
  ["busybox", "toybox", "eval", "exec", "command", "builtin", "source", ".", "trap", "alias", "unalias", "hash"],
  ["set", "export", "readonly", "unset", "declare", "typeset", "local", "enable", "shopt", "read", "cd", "pushd"],
  // In some shells these set variables, such as PATH, or run commands.
  ["printf", "wait", "getopts", "mapfile", "readarray", "let", "jobs", "fc", "bind", "complete", "compgen"],
  ["popd", "umask", "ulimit", "xargs", "parallel", "nohup", "nice", "ionice", "chrt", "taskset", "timeout", "time"],
  ["stdbuf", "setsid", "flock", "watch", "script", "expect", "unbuffer", "entr", "strace", "ltrace", "gdb", "lldb"],
  ["valgrind", "perf", "at", "batch", "crontab", "run-parts", "npx", "pnpx", "bunx", "uvx", "pipx", "docker"],
  ["podman", "nerdctl", "kubectl", "osascript", "start-stop-daemon", "ld.so", "fakeroot", "faketime", "direnv"],
  // They have options, or a language of their own, that runs programs.
  ["find", "fd", "fdfind", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "tar", "bsdtar", "gtar"],
  ["cpio", "zip", "unzip", "7z", "7za", "ar", "sort", "split", "csplit", "dc", "m4", "jq", "ctags", "tcpdump"],
  ["ssh", "scp", "sftp", "rsync", "socat", "nc", "ncat", "netcat", "telnet", "ftp", "tftp", "curl", "wget"],
  ["vi", "vim", "nvim", "view", "ex", "ed", "emacs", "emacsclient", "nano", "pico", "micro", "hx", "less", "more"],
  ["most", "man", "info", "bat", "make", "gmake", "bmake", "ninja", "cmake", "ctest", "just", "task", "rake"],
  ["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "tclsh", "wish", "groovy", "jshell", "irb", "ghci"],
  ["sqlite3", "psql", "mysql", "mongosh", "redis-cli", "hg", "svn", "gh", "patch", "git-shell", "pre-commit"],
].flat();

const scripts = [
  ["node", "nodejs", "tsx", "ts-node", "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "php", "lua"],
  ["luajit", "Rscript"],
].flat();

const gitCommands = [
  ["add", "blame", "branch", "cat-file", "check-ignore", "checkout", "cherry-pick", "commit", "describe", "diff"],
  ["diff-tree", "for-each-ref", "grep", "init", "log", "ls-files", "ls-tree", "merge-base", "mv", "name-rev", "reset"],
  ["restore", "rev-list", "rev-parse", "rm", "shortlog", "show", "show-ref", "stash", "status", "switch", "tag"],
  ["fetch", "pull", "push", "merge", "worktree"],
].flat();

/** Options that name a program or a file to write. Git accepts every unambiguous beginning of a long option. */
const gitOptions = /^(?:-x|-O|--(?:e|ex|exec?)(?:=|$)|--(?:ext|upl|rece|op|ou|textc|templ|config))/;

const nodePackages = ["npm", "pnpm", "yarn", "bun"];

const table: ReadonlyMap<string, Launcher> = new Map<string, Launcher>([
  ...all.map((name) => [name, "all"] as const),
  ...scripts.map((name) => [name, "script"] as const),
  ["git", { subcommands: new Set(gitCommands), options: gitOptions }],
  ...nodePackages.map(
    (name) =>
      [
        name,
        {
          subcommands: new Set([
            "test",
            "t",
            "run",
            "run-script",
            "start",
            "ls",
            "list",
            "outdated",
            "audit",
            "ci",
            "why",
          ]),
          // npm accepts every unambiguous beginning of a long option.
          options: /^(?:-C|--(?:scr|prefi|node-o|cwd|dir|she|user|globalc|config))/,
        },
      ] as const,
  ),
  [
    "deno",
    { subcommands: new Set(["test", "check", "lint", "fmt"]), options: /^(?:-A|-c|--(?:allow|config|import-map))/ },
  ],
  [
    "cargo",
    {
      subcommands: new Set(["build", "check", "test", "clippy", "fmt", "doc", "bench", "tree", "metadata", "run"]),
      options: /^(?:-C|-Z|--(?:config|manifest-path|target-dir))/,
    },
  ],
  [
    "go",
    {
      subcommands: new Set(["build", "test", "vet", "fmt", "list", "doc", "mod"]),
      options: /^--?(?:C|exec|toolexec|overlay|modfile|vettool|ldflags|gcflags|o)\b/,
    },
  ],
  ["gradle", { subcommands: "any", options: /^(?:-[Ibcp]|--(?:init-script|build-file|settings-file|project-dir))/ }],
  ["mvn", { subcommands: "any", options: /^(?:-[fsglD]|--(?:file|settings|global-settings|toolchains))/ }],
]);

/** Programs whose effects depend on every argument: a rule for one call must not cover calls with more arguments. */
const destructive: ReadonlySet<string> = new Set(
  [
    ["rm", "rmdir", "unlink", "shred", "mv", "cp", "dd", "ln", "install", "truncate", "tee", "chmod", "chown", "chgrp"],
    ["chattr", "setfacl", "kill", "pkill", "killall", "mount", "umount", "mkfs", "mknod", "reboot", "shutdown"],
    ["systemctl", "service", "apt", "apt-get", "dpkg", "yum", "dnf", "apk", "pacman", "brew", "pip", "pip3", "gem"],
    ["git", "gpg", "openssl", "base64", "cat", "scutil", "defaults"],
  ].flat(),
);

/** The name of a program without its folder and version, such as `python` for `/usr/bin/python3.11`. */
function launcherOf(name: string): Launcher | undefined {
  const base = name.slice(name.lastIndexOf("/") + 1);
  return table.get(base) ?? table.get(base.replace(/-?[\d.]+$/, ""));
}

/** Whether this program may run other programs that its arguments name. */
export function isLauncher(name: string): boolean {
  return launcherOf(name) !== undefined;
}

/**
 * The reason why an allow rule for every command that begins with these words would allow arbitrary programs;
 * undefined if it would not.
 */
export function prefixProblem(words: readonly string[]): string | undefined {
  const [name = "", first] = words;
  const launcher = launcherOf(name);
  if (launcher === undefined) return undefined;
  if (launcher === "all") return `${name} can run any program; only a rule for one exact command can allow it`;
  if (first === undefined || first.startsWith("-")) {
    const needed = launcher === "script" ? "script" : "subcommand";
    return `${name} can run any program; a rule has to name its ${needed}, or one exact command`;
  }
  if (launcher === "script" || launcher.subcommands === "any" || launcher.subcommands.has(first)) return undefined;
  return `${name} ${first} can run any program; only a rule for one exact command can allow it`;
}

/** Whether arguments after the words of a prefix rule may make its program run others. */
export function isRefusedByPrefix(words: readonly string[], more: readonly string[]): boolean {
  const launcher = launcherOf(words[0] ?? "");
  return typeof launcher === "object" && more.some((argument) => launcher.options.test(argument));
}

/** Commands with exactly these words, or with more arguments too. */
export interface CommandPattern {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** The commands that an approved one covers: those with more arguments only where these are harmless. */
export function coveringPattern(argv: readonly string[]): CommandPattern {
  const [name = ""] = argv;
  const base = name.slice(name.lastIndexOf("/") + 1);
  const isExact = destructive.has(base) || prefixProblem(argv) !== undefined || isRefusedByPrefix(argv, argv.slice(1));
  return { words: argv, isPrefix: !isExact };
}

/** Whether a person may allow the program for good by answering a question. */
export function isOfferedForGood(name: string): boolean {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const launcher = launcherOf(name);
  return !destructive.has(base) && launcher !== "all" && launcher !== "script";
}
