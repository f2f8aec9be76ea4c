declare module "@alpinejs/csp" {
  const Alpine: {
    start(): void;
    addScopeToNode(node: Element, data: Record<string, unknown>): () => void;
    interceptInit(callback: (element: Element) => void): void;
  };
  export default Alpine;
}
