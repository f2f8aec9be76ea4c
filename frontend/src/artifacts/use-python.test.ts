import { describe, expect, it } from "vitest";
import { asFrameMessage } from "@/python-frame/messages";
import { nextState, type PythonState } from "./use-python";

const RUNNING: PythonState = { phase: "running", said: [], files: [], left: [], outcome: null };
const out = (text: string) => ({ type: "output", stream: "out", text }) as const;

describe("a program's state", () => {
  it("joins what is said to one stream", () => {
    const heard = (state: PythonState, text: string) =>
      nextState(state, { type: "heard", message: out(text) });
    expect(heard(heard(RUNNING, "a"), "b").said).toEqual([{ stream: "out", text: "ab" }]);
  });

  it("hears nothing of a stopped program", () => {
    const stopped = nextState(RUNNING, { type: "stop" });
    expect(stopped.outcome).toBe("stopped");
    expect(nextState(stopped, { type: "heard", message: out("late") })).toBe(stopped);
  });

  it("ends with the traceback as the last that was said", () => {
    const message = { type: "ended", error: "ValueError", files: [], left: ["large"] } as const;
    const ended = nextState(RUNNING, {
      type: "heard",
      message: { ...message, files: [], left: ["large"] },
    });
    expect(ended).toMatchObject({ phase: "idle", outcome: "raised", left: ["large"] });
    expect(ended.said).toEqual([{ stream: "error", text: "ValueError" }]);
  });
});

describe("a message of the frame", () => {
  it.each([null, "ready", {}, { type: "start" }, { type: 1 }])("is not %j", (data) => {
    expect(asFrameMessage(data)).toBeNull();
  });

  it("has files with bytes only", () => {
    const file = { name: "a.txt", bytes: new Uint8Array([1]) };
    const files = [file, { name: 1, bytes: file.bytes }, { name: "b", bytes: "text" }, null];
    expect(asFrameMessage({ type: "ended", error: 5, files, left: "no" })).toEqual({
      type: "ended",
      error: null,
      files: [file],
      left: [],
    });
  });
});
