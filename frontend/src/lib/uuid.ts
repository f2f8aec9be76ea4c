/** Whether `text` can be an id of the server's: all that a path of this page names is one. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** `crypto.randomUUID` is there over TLS only. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join("-");
