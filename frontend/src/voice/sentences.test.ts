import { expect, test } from "vitest";
import { sentencesOf } from "./sentences";
import { loudness, wavOf } from "./wav";

test("holds back the last sentence while the text grows, and gives it at the end", () => {
  expect(sentencesOf("One. Two", false)).toEqual(["One."]);
  expect(sentencesOf("One. Two! Thr", false)).toEqual(["One.", "Two!"]);
  expect(sentencesOf("One. Two! Three", true)).toEqual(["One.", "Two!", "Three"]);
});

test("what was given stays the same as the text grows", () => {
  const whole =
    "# Title\n\nIt **is** [so](https://x.test). Run `a.b`:\n\n```py\nx = 1. y\n```\n\n- Done. *Yes*\n\n| a | b |\n|---|---|\n";
  const last = sentencesOf(whole, true);
  expect(last).toEqual(["Title", "It is so.", "Run a.b:", "Code.", "Done.", "Yes"]);
  for (let length = 0; length < whole.length; length++) {
    const known = sentencesOf(whole.slice(0, length), false);
    expect(last.slice(0, known.length)).toEqual(known);
  }
});

test("a recording is a WAV file, and silence has no level", async () => {
  const wav = wavOf([new Float32Array([0, 1, -1])], 16_000);
  expect(wav.size).toBe(44 + 6);
  expect(wav.type).toBe("audio/wav");
  expect(loudness(new Float32Array(8))).toBe(0);
  expect(loudness(new Float32Array(8).fill(1))).toBe(1);
});
