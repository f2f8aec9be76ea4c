declare module "pyodide/pyodide.asm.mjs" {
  import type { PyodideConfig } from "pyodide";

  const createPyodideModule: NonNullable<PyodideConfig["createPyodideModule"]>;
  export default createPyodideModule;
}

/** The address of what vite.python-snapshot.ts makes. */
declare module "virtual:python-snapshot" {
  const address: string;
  export default address;
}
