import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type LiveRegion, maxWaitingChars, Painter, type Reflow } from "../../src/cli/terminal/screen/painter.js";
import { Emulator, type EmulatorOptions } from "./support/emulator.js";

const fullClears = ["\u001b[2J", "\u001b[3J", "\u001bc"];

/** A painter whose frames an emulator draws. */
function open(size: EmulatorOptions = {}, reflow: Reflow = "xterm_js") {
  const emulator = new Emulator(size);
  const writes: string[] = [];
  const painter = new Painter(
    {
      get columns() {
        return emulator.columns;
      },
      get rows() {
        return emulator.rows;
      },
      reflow,
      write: async (text) => {
        writes.push(text);
        await emulator.write(text);
      },
    },
    { frameMs: 1 },
  );
  const show = async (live: LiveRegion): Promise<void> => {
    painter.show(() => live);
    await painter.flushed();
  };
  return { emulator, painter, writes, show };
}

describe("Painter", () => {
  it("prints final lines above the live region", async () => {
    const { emulator, painter, show } = open();
    await show({ lines: ["────", "> hello"], cursor: { row: 1, column: 7 } });
    painter.print(["first", "second"]);
    await painter.flushed();
    expect(emulator.screen()).toEqual(["first", "second", "────", "> hello"]);
    expect(emulator.cursor).toEqual({ row: 3, column: 7 });
  });

  it("keeps the transcript in the scrollback", async () => {
    const { emulator, painter, show } = open({ rows: 6 });
    const lines = Array.from({ length: 100 }, (_line, index) => `line ${index}`);
    await show({ lines: ["> "], cursor: { row: 0, column: 2 } });
    for (const line of lines) {
      painter.print([line]);
      await painter.flushed();
    }
    expect(emulator.transcript()).toEqual([...lines, ">"]);
  });

  it("writes one frame for many changes", async () => {
    const { painter, writes } = open();
    for (let count = 0; count < 100; count += 1) {
      painter.print([`line ${count}`]);
      painter.show(() => ({ lines: [`${count}`] }));
    }
    await painter.flushed();
    expect(writes).toHaveLength(1);
    expect(writes[0]?.startsWith("\u001b[?2026h")).toBe(true);
    expect(writes[0]?.endsWith("\u001b[?2026l")).toBe(true);
  });

  it("draws what a key has changed at once, also during a write", async () => {
    const written: string[] = [];
    const released: (() => void)[] = [];
    const painter = new Painter(
      {
        columns: 80,
        rows: 24,
        reflow: "break",
        write: async (text) => {
          written.push(text);
          await new Promise<void>((resolve) => void released.push(resolve));
        },
      },
      { frameMs: 3_600_000 },
    );
    painter.show(() => ({ lines: [`frame ${written.length}`] }));
    await vi.waitUntil(() => written.length === 1);
    painter.refreshNow();
    released[0]?.();
    await vi.waitUntil(() => written.length === 2);
    released[1]?.();
    await painter.flushed();
    painter.refresh();
    painter.refreshNow();
    await vi.waitUntil(() => written.length === 3);
    released[2]?.();
    await painter.flushed();
    expect(written.map((text) => /frame \d/.exec(text)?.[0])).toEqual(["frame 0", "frame 1", "frame 2"]);
  });

  it("writes only rows that changed, and nothing if none did", async () => {
    const { writes, show } = open();
    await show({ lines: ["aaaa", "bbbb", "cccc"], cursor: { row: 2, column: 1 } });
    await show({ lines: ["aaaa", "BBBB", "cccc"], cursor: { row: 2, column: 1 } });
    await show({ lines: ["aaaa", "BBBB", "cccc"], cursor: { row: 2, column: 1 } });
    expect(writes).toHaveLength(2);
    expect(writes[1]).toContain("BBBB");
    expect(writes[1]).not.toMatch(/aaaa|cccc/);
  });

  it("draws any sequence of regions and prints as if each had been drawn anew", async () => {
    const line = fc.string({ unit: "grapheme-ascii", maxLength: 30 }).map((text) => text.trimEnd());
    const arbitraryRegion = fc
      .array(line, { minLength: 1, maxLength: 8 })
      .chain((lines) =>
        fc.record({ lines: fc.constant(lines), row: fc.nat({ max: lines.length - 1 }), column: fc.nat({ max: 19 }) }),
      );
    const step = fc.record({ printed: fc.array(line, { maxLength: 3 }), region: arbitraryRegion });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const { emulator, painter, show } = open({ columns: 20, rows: 10 });
        const printed: string[] = [];
        for (const {
          printed: added,
          region: { lines, row, column },
        } of steps) {
          painter.print(added);
          printed.push(...added);
          await show({ lines, cursor: { row, column } });
          const expected = [...printed.flatMap((text) => wrapped(text, 20)), ...lines.map((text) => text.slice(0, 20))];
          expect(emulator.transcript()).toEqual(withoutEmptyEnd(expected));
          expect(emulator.cursor.column).toBe(column);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("shows the rows around the cursor if the region is taller than the screen", async () => {
    const { emulator, show } = open({ rows: 5 });
    const lines = Array.from({ length: 20 }, (_line, index) => `row ${index}`);
    await show({ lines, cursor: { row: 10, column: 0 } });
    expect(emulator.screen()).toEqual(["row 10", "row 11", "row 12", "row 13"]);
    await show({ lines, cursor: { row: 19, column: 0 } });
    expect(emulator.screen()).toEqual(["row 16", "row 17", "row 18", "row 19"]);
  });

  it("cuts lines that are too wide", async () => {
    const { emulator, show } = open({ columns: 10 });
    await show({ lines: ["\u001b[1m0123456789ABC\u001b[22m", "界界界界界界", "end"] });
    expect(emulator.screen()).toEqual(["0123456789", "界界界界界", "end"]);
  });

  it("keeps one row per line where the terminal draws clusters wider", async () => {
    const { emulator, painter, show } = open({ columns: 10 });
    await show({ lines: ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "end"] });
    painter.print(["printed"]);
    await painter.flushed();
    expect(emulator.screen()).toHaveLength(3);
    expect(emulator.screen().at(-1)).toBe("end");
    expect(emulator.modes.wraps).toBe(true);
  });

  it.each([
    ["narrower", { columns: 20 }],
    ["wider", { columns: 90 }],
    ["shorter", { rows: 8 }],
    ["taller", { rows: 40 }],
    ["narrower and shorter", { columns: 25, rows: 9 }],
  ])("redraws the region without broken lines when the screen gets %s", async (_how, size) => {
    const { emulator, painter, show } = open({ columns: 60, rows: 16 });
    const printed = Array.from({ length: 30 }, (_line, index) => `printed ${index}`);
    painter.print(printed);
    painter.show(() => region(emulator.columns));
    await painter.flushed();
    emulator.resize(size);
    painter.resized();
    await painter.flushed();
    expect(emulator.transcript()).toEqual([...printed, ...region(emulator.columns).lines]);
    await show({ lines: ["> "], cursor: { row: 0, column: 2 } });
    expect(emulator.transcript()).toEqual([...printed, ">"]);
  });

  it("never clears the screen", async () => {
    const { emulator, painter, show } = open({ rows: 8 });
    for (let count = 0; count < 20; count += 1) {
      painter.print(["a", "b"]);
      await show({ lines: Array.from({ length: 1 + (count % 5) }, () => `${count}`) });
      emulator.resize({ columns: 80 - count });
      painter.resized();
    }
    await painter.flushed();
    expect(fullClears.filter((clear) => emulator.received.includes(clear))).toEqual([]);
  });

  it("skips frames while the terminal is not reading", async () => {
    let release: (() => void) | undefined;
    const isRead = new Promise<void>((resolve) => void (release = resolve));
    const writes: string[] = [];
    const painter = new Painter({
      columns: 80,
      rows: 24,
      reflow: "break",
      write: async (text) => {
        writes.push(text);
        await isRead;
      },
    });
    painter.show(() => ({ lines: ["first"] }));
    await new Promise(setImmediate);
    for (let count = 0; count < 1_000; count += 1) painter.show(() => ({ lines: [`later ${count}`] }));
    release?.();
    await painter.flushed();
    expect(writes).toHaveLength(2);
    expect(writes[1]).toContain("later 999");
  });

  it("drops the oldest lines when a slow terminal leaves too many waiting, and reports how many", async () => {
    const { emulator, painter } = open({ scrollback: 200_000 });
    const line = "x".repeat(79);
    const count = Math.ceil((maxWaitingChars * 1.5) / (line.length + 2));
    painter.pause();
    for (let index = 0; index < count; index += 1) painter.print([line]);
    painter.print(["last"]);
    painter.resume();
    await painter.flushed();
    expect(emulator.transcript()[0]).toMatch(/^\[\d+ lines are not shown: the terminal reads too slowly\]$/);
    expect(emulator.transcript().at(-1)).toBe("last");
    expect(emulator.received.length).toBeLessThan(maxWaitingChars * 1.1);
  });

  it("shows other rows on the alternate screen and returns to the transcript", async () => {
    const { emulator, painter, show } = open({ rows: 5 });
    await show({ lines: ["> text"], cursor: { row: 0, column: 6 } });
    let top = 0;
    painter.openAlternate(() => [`page ${top}`, "same", "keys"]);
    await painter.flushed();
    expect(emulator.isAlternate).toBe(true);
    painter.print(["printed meanwhile"]);
    top = 1;
    painter.refresh();
    await painter.flushed();
    expect(emulator.screen()).toEqual(["page 1", "same", "keys"]);
    painter.closeAlternate();
    await painter.flushed();
    expect(emulator.isAlternate).toBe(false);
    expect(emulator.screen()).toEqual(["printed meanwhile", "> text"]);
    expect(emulator.cursor).toEqual({ row: 1, column: 6 });
  });

  it("removes the live region when it pauses, and draws it below what others printed", async () => {
    const { emulator, painter, show } = open();
    painter.print(["printed"]);
    await show({ lines: ["────", "> text"], cursor: { row: 1, column: 2 } });
    await emulator.write(painter.pause());
    await emulator.write("output of another program\r\n");
    painter.resume();
    await painter.flushed();
    expect(emulator.screen()).toEqual(["printed", "output of another program", "────", "> text"]);
  });

  it("ends styles and links with their line", async () => {
    const { emulator, painter, show } = open();
    painter.print(["\u001b[1m\u001b]8;;https://example.com\u001b\\bold"]);
    await show({ lines: ["plain"] });
    expect(emulator.attributesOf("bold").bold).toBe(true);
    expect(emulator.attributesOf("plain").bold).toBe(false);
  });
});

function region(columns: number): LiveRegion {
  const rule = "─".repeat(columns);
  return { lines: [rule, "> text", rule, "status".padEnd(columns, ".")], cursor: { row: 1, column: 6 } };
}

function wrapped(text: string, columns: number): string[] {
  const rows = text.match(new RegExp(`.{1,${columns}}`, "g")) ?? [""];
  return rows.map((row) => row.trimEnd());
}

function withoutEmptyEnd(lines: readonly string[]): string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1).map((line) => line.trimEnd());
}

type Arrival = { readonly columns: number } | "answer";

/** A painter and an emulator with a slow connection in between, of which the test delivers what is on its way. */
async function openSlow(columns: number) {
  const emulator = new Emulator({ columns, rows: 60 });
  const toTerminal: string[] = [];
  const toProgram: Arrival[] = [];
  let known = columns;
  emulator.onAnswer(() => void toProgram.push("answer"));
  const painter = new Painter(
    {
      get columns() {
        return known;
      },
      rows: 60,
      reflow: "xterm_js",
      question: "\u001b[5n",
      write: async (text) => void toTerminal.push(text),
    },
    { frameMs: 0 },
  );
  const toEmulator = async (count = toTerminal.length): Promise<void> => {
    for (const text of toTerminal.splice(0, count)) await emulator.write(text);
  };
  const toPainter = (): void => {
    for (const arrival of toProgram.splice(0)) {
      if (arrival === "answer") painter.confirm();
      else {
        known = arrival.columns;
        painter.resized();
      }
    }
  };
  return {
    emulator,
    painter,
    toEmulator,
    resize: (width: number): void => {
      emulator.resize({ columns: width });
      toProgram.push({ columns: width });
    },
    /** Delivers everything, until both ends know all. */
    settle: async (): Promise<void> => {
      do {
        await toEmulator();
        toPainter();
        await toEmulator();
        toPainter();
        await painter.flushed();
      } while (toTerminal.length + toProgram.length > 0);
    },
  };
}

/** Lines of these lengths, and an editor between lines as wide as the screen. */
function regionOf(lengths: readonly number[], columns: number): string[] {
  const lines = [...lengths.map((length) => "x".repeat(length)), "─".repeat(columns), "> text", "s".repeat(columns)];
  return lines.map((line) => line.slice(0, columns));
}

function filled(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== "");
}

describe("Painter on a slow connection", () => {
  it("leaves no broken lines and loses none when frames for the old size arrive after a resize", async () => {
    const width = fc.integer({ min: 30, max: 120 });
    const step = fc.record({
      finals: fc.array(fc.constantFrom("one", "two words", ""), { maxLength: 3 }),
      open: fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 4 }),
      before: fc.nat({ max: 4 }),
      widths: fc.array(width, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(width, fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 4 }), async (start, bursts) => {
        const { emulator, painter, toEmulator, resize, settle } = await openSlow(start);
        const printed = ["start"];
        painter.print(printed);
        let shown: readonly number[] = [];
        let isCertain = true;
        painter.show(() => ({ lines: regionOf(shown, 200), cursor: { row: shown.length + 1, column: 6 } }));
        await painter.flushed();
        await settle();
        for (const burst of bursts) {
          for (const { finals, open: lengths } of burst) {
            shown = lengths;
            painter.print(finals);
            printed.push(...finals);
            painter.refresh();
            await painter.flushed();
          }
          const [last] = burst;
          await toEmulator(last?.before);
          const widths = last?.widths ?? [];
          isCertain &&= widths.length < 2;
          for (const columns of widths) resize(columns);
          await settle();
          const drawn = regionOf(shown, emulator.columns);
          const transcript = emulator.transcript();
          expect(transcript.slice(-drawn.length)).toEqual(drawn.map((line) => line.trimEnd()));
          // After several steps at once, broken lines may stay, but what was printed is there.
          const above = transcript.slice(0, -drawn.length).filter((line) => isCertain || printed.includes(line));
          expect(isCertain ? above : filled(above)).toEqual(isCertain ? printed : filled(printed));
          if (!isCertain) return;
        }
      }),
      { numRuns: 200 },
    );
  });
});
