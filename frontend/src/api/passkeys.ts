/** The browser's half of passkeys (WebAuthn level 3), which speaks JSON with the API. */

import { PasskeyRefused } from "./errors";

export const hasPasskeys = () =>
  typeof window.PublicKeyCredential?.parseCreationOptionsFromJSON === "function";

export async function createPasskey(publicKey: unknown): Promise<unknown> {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(
    publicKey as PublicKeyCredentialCreationOptionsJSON,
  );
  return asJson(() => navigator.credentials.create({ publicKey: options }));
}

export async function askForPasskey(publicKey: unknown): Promise<unknown> {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(
    publicKey as PublicKeyCredentialRequestOptionsJSON,
  );
  return asJson(() => navigator.credentials.get({ publicKey: options }));
}

async function asJson(ask: () => Promise<Credential | null>): Promise<unknown> {
  let credential: Credential | null;
  try {
    credential = await ask();
  } catch (cause) {
    throw new PasskeyRefused(cause);
  }
  if (!credential) throw new PasskeyRefused(null);
  return (credential as PublicKeyCredential).toJSON();
}
