import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { StationBar } from "./station-bar";

test("the bar says in words how long each station took, in the order of the answer's life", () => {
  render(<StationBar stations={{ decode: 2400, edge: 1.25, queue: 40 }} />);
  expect(screen.getByRole("region", { name: "Where the time went: 2.4 s" })).toBeDefined();
  const items = screen.getAllByRole("listitem").map((item) => item.textContent);
  expect(items).toEqual(["Request 1.3 ms", "Queue 40 ms", "Writing 2.4 s"]);
});

test("parts of the bar are as wide as their share of the time", () => {
  const { container } = render(<StationBar stations={{ queue: 25, decode: 75 }} />);
  const widths = [...container.querySelectorAll("rect")].map((part) => part.getAttribute("width"));
  expect(widths).toEqual(["25", "75"]);
});
