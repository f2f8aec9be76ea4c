import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { CitationContext } from "./citations";
import { Rendered } from "./rendered";

const open = vi.fn();
const cites = (said: string) =>
  said === "lease.pdf, page 3" ? [{ number: 2, name: "lease.pdf, page 3", open }] : [];

const show = (text: string) =>
  render(
    <CitationContext value={cites}>
      <Rendered text={text} />
    </CitationContext>,
  );

it("shows a citation as the number of its source, which opens the place", async () => {
  const { container } = show("It is **4,200** crowns [lease.pdf, page 3].");
  expect(container).toHaveTextContent("It is 4,200 crowns 2.");
  await userEvent.click(screen.getByRole("button", { name: "Source 2: lease.pdf, page 3" }));
  expect(open).toHaveBeenCalledOnce();
});

it("leaves all other brackets as they are written", () => {
  const { container } = show("An [x] and `[lease.pdf, page 3]` and a[0], [no.pdf, page 3].");
  expect(container).toHaveTextContent("An [x] and [lease.pdf, page 3] and a[0], [no.pdf, page 3].");
  expect(screen.queryByRole("button")).toBeNull();
});

it("leaves them where no sources are known", () => {
  const { container } = render(<Rendered text="Said [lease.pdf, page 3]." />);
  expect(container).toHaveTextContent("Said [lease.pdf, page 3].");
});
