import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { Dialog } from "./dialog";
import { IconButton } from "./icon-button";
import { Menu, MenuItem } from "./menu";
import { Toaster, toast } from "./toast";

function Colours({ choose }: { choose: (name: string) => void }) {
  return (
    <Menu trigger={<button type="button">Colours</button>}>
      <MenuItem onSelect={() => choose("red")}>Red</MenuItem>
      <MenuItem onSelect={() => choose("blue")}>Blue</MenuItem>
    </Menu>
  );
}

function Asking() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      <Dialog open={open} onOpenChange={setOpen} title="Colours">
        <input aria-label="Name" />
      </Dialog>
    </>
  );
}

const trigger = () => screen.getByRole("button", { name: "Colours" });

it("a menu opens by a click, and again after a choice", async () => {
  const choose = vi.fn();
  render(<Colours choose={choose} />);
  expect(trigger()).toHaveAttribute("aria-haspopup", "menu");
  expect(trigger()).toHaveAttribute("aria-expanded", "false");
  for (const name of ["Blue", "Red"]) {
    await userEvent.click(trigger());
    await userEvent.click(await screen.findByRole("menuitem", { name }));
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
  }
  expect(choose.mock.calls).toEqual([["blue"], ["red"]]);
});

it.each(["{Enter}", "{ArrowDown}"])(
  "a menu opens by %s, and its first item by Enter",
  async (key) => {
    const choose = vi.fn();
    render(<Colours choose={choose} />);
    await userEvent.tab();
    expect(trigger()).toHaveFocus();
    await userEvent.keyboard(key);
    await waitFor(() => expect(screen.getByRole("menuitem", { name: "Red" })).toHaveFocus());
    await userEvent.keyboard("{Enter}");
    expect(choose).toHaveBeenCalledWith("red");
  },
);

it("a menu that is closed by Escape leaves the focus at its button", async () => {
  render(<Colours choose={vi.fn()} />);
  await userEvent.click(trigger());
  await screen.findByRole("menu");
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
  expect(trigger()).toHaveFocus();
});

it("a dialog has the focus, and gives it back", async () => {
  render(<Asking />);
  await userEvent.click(screen.getByRole("button", { name: "Open" }));
  const dialog = await screen.findByRole("dialog", { name: "Colours" });
  await waitFor(() => expect(dialog).toContainElement(document.activeElement as HTMLElement));
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.getByRole("button", { name: "Open" })).toHaveFocus();
});

it("a tooltip shows where the pointer rests, and goes by Escape", async () => {
  render(
    <IconButton label="Copy" hint="Ctrl+C">
      x
    </IconButton>,
  );
  await userEvent.hover(screen.getByRole("button", { name: "Copy" }));
  expect(await screen.findByText("Ctrl+C")).toBeInTheDocument();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByText("Ctrl+C")).toBeNull());
});

it("a notice that came before its place is shown there", async () => {
  toast("Saved");
  render(<Toaster />);
  expect(await screen.findByText("Saved")).toBeInTheDocument();
});
