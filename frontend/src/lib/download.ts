/** Saves what a path of the API answers with as a file, under the name that the server gives it. */
export function download(path: string): void {
  const link = document.createElement("a");
  link.href = path;
  link.download = "";
  link.click();
}
