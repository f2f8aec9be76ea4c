import { describe, expect, it, vi } from "vitest";
import { NOTHING, type PythonState } from "@/artifacts/use-python";
import { codeOf } from "./program-code";
import { paced, resultOf } from "./programs";

const ended = { ...NOTHING, outcome: "ended" as const };
const file = (name: string) => ({ name, bytes: new Uint8Array() });

describe("what the model is told of a program", () => {
  it("is what it said on both streams, in their order, and the names of its files", () => {
    const said = [
      { stream: "out" as const, text: "1\n" },
      { stream: "error" as const, text: "ZeroDivisionError" },
    ];
    const state = { ...NOTHING, outcome: "raised" as const, said, files: [file("a.svg")] };
    expect(resultOf({ state: { ...state, left: ["huge.bin"] }, late: false })).toEqual({
      outcome: "raised",
      output: "1\nZeroDivisionError",
      files: ["a.svg", "huge.bin"],
    });
  });

  it("has the beginning and the end of a flood, and at most 50 names", () => {
    const text = `${"a".repeat(10_000)}${"b".repeat(7)}${"c".repeat(5_000)}`;
    const files = Array.from({ length: 60 }, (_, number) => file(`${number}${"x".repeat(300)}`));
    const state = { ...ended, said: [{ stream: "out" as const, text }], files };
    const told = resultOf({ state, late: false });
    expect(told.output).toBe(
      `${"a".repeat(10_000)}\n[7 characters left out]\n${"c".repeat(5_000)}`,
    );
    expect(told.files).toHaveLength(50);
    expect(Math.max(...(told.files ?? []).map((name) => name.length))).toBe(255);
  });

  it("has no null characters and no halves of characters", () => {
    const said = [{ stream: "out" as const, text: "a\0b\ud83dc" }];
    expect(resultOf({ state: { ...ended, said }, late: false }).output).toBe("a\ufffdb\ufffdc");
  });

  it("tells one that ran too long from one that its person stopped", () => {
    const state = { ...NOTHING, outcome: "stopped" as const };
    expect(resultOf({ state, late: false }).outcome).toBe("stopped");
    expect(resultOf({ state, late: true }).outcome).toBe("timeout");
  });
});

describe("the program of a call", () => {
  it("is what stands under `code`, else what was written", () => {
    expect(codeOf('{"code": "print(1)"}')).toBe("print(1)");
    expect(codeOf('{"code": 1}')).toBe('{"code": 1}');
    expect(codeOf("{broken")).toBe("{broken");
    expect(codeOf("null")).toBe("null");
  });
});

describe("a flood of output", () => {
  it("is shown a few times a second, and whole when the program has ended", () => {
    vi.useFakeTimers();
    const shown: PythonState[] = [];
    const show = paced((state) => shown.push(state));
    const saying = (text: string) => [{ stream: "out" as const, text }];
    for (let line = 0; line <= 1000; line += 1) {
      show({ ...NOTHING, phase: "running", said: saying(String(line)) });
    }
    expect(shown).toHaveLength(1);
    vi.advanceTimersByTime(1000);
    expect(shown.map(({ said }) => said[0]?.text)).toEqual(["0", "1000"]);
    show({ ...NOTHING, phase: "running", said: saying("more") });
    show({ ...ended, said: saying("the end") });
    vi.advanceTimersByTime(1000);
    expect(shown.map(({ said }) => said[0]?.text)).toEqual(["0", "1000", "the end"]);
    vi.useRealTimers();
  });
});
