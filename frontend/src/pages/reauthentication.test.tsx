import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ApiError } from "@/api/errors";
import { Reauthentication, useGuard } from "./reauthentication";

const sent: unknown[] = [];

function Change({ action }: { action: () => Promise<string> }) {
  const guard = useGuard();
  return (
    <button type="button" onClick={() => void guard(action)}>
      Change
    </button>
  );
}

it("asks for password and code where the account has a second factor, then goes on", async () => {
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path === "/api/me/security")
      return Response.json({ totp: true, recovery_codes: 9, passkeys: [], recent_sign_in: false });
    sent.push([path, JSON.parse(String(init?.body))]);
    return new Response(null, { status: 204 });
  });
  const refusal = new ApiError(403, { message: "Prove it.", code: "reauthentication_required" });
  const action = vi.fn().mockRejectedValueOnce(refusal).mockResolvedValueOnce("done");
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Reauthentication>
        <Change action={action} />
      </Reauthentication>
    </QueryClientProvider>,
  );
  act(() => screen.getByRole("button", { name: "Change" }).click());
  const code = await screen.findByLabelText(/Code of your authenticator app/);
  fireEvent.change(screen.getByLabelText("Your password"), { target: { value: "mine" } });
  fireEvent.change(code, { target: { value: "123456" } });
  await act(async () => screen.getByRole("button", { name: "Continue" }).click());
  await vi.waitFor(() => expect(action).toHaveBeenCalledTimes(2));
  expect(sent).toEqual([["/api/me/reauthenticate", { password: "mine", code: "123456" }]]);
});
