import { expect, it } from "vitest";
import { csvOf } from "./csv";

it("quotes what needs it, and makes no formula of a text", () => {
  const rows = [
    ["Name", "Said"],
    ["Ada", 'He said "no", twice'],
    ["Bob", "two\nlines"],
    ["-12.5", "=HYPERLINK(1)"],
    ["+49 30", "@SUM(A1)"],
  ];
  expect(csvOf(rows)).toBe(
    'Name,Said\r\nAda,"He said ""no"", twice"\r\nBob,"two\nlines"\r\n' +
      "-12.5,'=HYPERLINK(1)\r\n+49 30,'@SUM(A1)\r\n",
  );
});
