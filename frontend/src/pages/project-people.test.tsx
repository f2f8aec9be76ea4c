import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { ProjectMembers } from "./project-people";

const ADA = { user_id: "a", name: "Ada", email: "ada@example.org", role: "owner" };
const GRACE = { user_id: "g", name: "Grace", email: "grace@example.org", role: "member" };

it("offers only those who are not in the project yet", async () => {
  const inside: (typeof ADA)[] = [];
  vi.stubGlobal("fetch", async (path: string, options?: RequestInit) => {
    if (options?.method === "POST") inside.push(GRACE);
    const data = path.includes("/projects/") ? [...inside] : [GRACE, ADA];
    return Response.json({ data, next_cursor: null });
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MemoryRouter>
        <ProjectMembers projectId="p" manages />
      </MemoryRouter>
    </QueryClientProvider>,
  );
  const choice = await screen.findByLabelText("Member of the organization");
  await screen.findByRole("option", { name: "Grace" });
  expect(choice).toHaveValue("g");
  await userEvent.click(screen.getByRole("button", { name: "Add to the project" }));
  await screen.findByRole("list", { name: "Members of the project" });
  await waitFor(() => expect(choice).toHaveValue("a"));
  expect(screen.queryByRole("option", { name: "Grace" })).not.toBeInTheDocument();
});
