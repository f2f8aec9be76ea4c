import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { meKey } from "@/app/session";
import { SignInPage } from "./sign-in";

const STRANGER = "Your account is locked. Call +1 555 0100.";

function open(query: string) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(meKey, null);
  return render(
    <QueryClientProvider client={client}>
      <MemoryRouter initialEntries={[`/login?${query}`]}>
        <SignInPage />
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

it("says in its own words why single sign-on failed", () => {
  open("sso_error=sso_deactivated");
  expect(screen.getByText("Your organization has deactivated this account.")).toBeInTheDocument();
});

it.each(["sso_error", "detail"])("shows no text of a link's %s", (name) => {
  const query = new URLSearchParams({ sso_error: "x", detail: STRANGER, [name]: STRANGER });
  open(query.toString());
  expect(screen.getByText(/Signing in through your organization didn't work/)).toBeInTheDocument();
  expect(screen.queryByText(/555 0100/)).toBeNull();
});
