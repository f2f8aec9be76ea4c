// The staff's second factor by passkey: the same two calls as the page's sign-in.
const button = document.getElementById("passkey");

async function post(path, body) {
  const token = /(?:^|; )(?:__Host-)?csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": token },
    body: JSON.stringify(body),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error.message);
  return content;
}

button.addEventListener("click", async () => {
  const failure = document.getElementById("passkey-error");
  failure.textContent = "";
  try {
    const { options } = await post("/api/auth/passkey/options", {});
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey);
    const credential = await navigator.credentials.get({ publicKey });
    await post("/api/auth/passkey", { credential: credential.toJSON() });
    window.location.assign(button.dataset.next);
  } catch (error) {
    failure.textContent = error.message;
  }
});
