/**
 * The library of the Model Context Protocol, loaded when it is first needed: it is 6 MB in memory, and 100 ms of the
 * event loop at once. So it is loaded in parts, and whatever else waits has its turn between them.
 */
import type * as Sdk from '@modelcontextprotocol/server';

/** What the library would load itself. */
const PARTS: readonly (() => unknown)[] = [
  () => import('@modelcontextprotocol/server/_shims'),
  () => import('@modelcontextprotocol/core/internal'),
  // Node loads its own requests and answers when one is first named.
  () => globalThis.Headers,
];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function loadMcpLibrary(): Promise<typeof Sdk> {
  // This file has brought most of the library with it.
  await turn();
  for (const load of PARTS) {
    await load();
    await turn();
  }
  const sdk = await import('@modelcontextprotocol/server');
  await turn();
  return sdk;
}
