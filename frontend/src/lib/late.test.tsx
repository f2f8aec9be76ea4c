import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { late } from "./late";

const fetched = vi.fn(async () => "here");
const module = late(fetched);

function Page({ wanted }: { wanted: boolean }) {
  return <p>{module.use(wanted) ?? "without"}</p>;
}

it("is fetched once it is wanted, and shown when it is there", async () => {
  const { rerender } = render(<Page wanted={false} />);
  expect(screen.getByText("without")).toBeInTheDocument();
  expect(fetched).not.toHaveBeenCalled();
  rerender(<Page wanted />);
  expect(await screen.findByText("here")).toBeInTheDocument();
  rerender(<Page wanted={false} />);
  rerender(<Page wanted />);
  expect(screen.getByText("here")).toBeInTheDocument();
  expect(fetched).toHaveBeenCalledOnce();
});

it("is asked for again when it could not be fetched", async () => {
  const fetch = vi.fn<() => Promise<string>>();
  fetch.mockRejectedValueOnce(new TypeError("Failed to fetch")).mockResolvedValue("loaded");
  const words = late(fetch);
  await expect(words.load()).rejects.toThrow();
  expect(words.now()).toBeNull();
  expect(await words.load()).toBe("loaded");
  expect(words.now()).toBe("loaded");
});
