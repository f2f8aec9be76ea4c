// npm's oidc-provider, a certified OpenID provider, with one client and the accounts that its one
// argument names (JSON). Its development pages let an account in without a password.
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const { port, client, accounts } = JSON.parse(process.argv[2]);
const issuer = `http://localhost:${port}`;

const key = (kty, options) => {
  const { privateKey } = generateKeyPairSync(kty, options);
  return { ...privateKey.export({ format: "jwk" }), use: "sig" };
};

const provider = new Provider(issuer, {
  clients: [client],
  claims: {
    openid: ["sub", "groups", "resource_access"],
    email: ["email", "email_verified"],
    profile: ["name"],
  },
  cookies: { keys: ["only of tests"] },
  enabledJWA: { idTokenSigningAlgValues: ["RS256", "EdDSA"] },
  features: { backchannelLogout: { enabled: true } },
  // Without the dispatcher that refuses addresses of this machine.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  findAccount: (_, id) =>
    id in accounts
      ? { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }
      : undefined,
  jwks: { keys: [key("rsa", { modulusLength: 2048 }), key("ed25519", {})] },
  pkce: { required: () => true },
});
provider.listen(port, "127.0.0.1", () => console.log("ready"));
