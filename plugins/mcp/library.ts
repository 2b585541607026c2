/**
 * The library of the Model Context Protocol, loaded when it is first needed: it is 6 MB in memory, and 100 ms of the
 * event loop at once. So it is loaded in parts, and whatever else waits has its turn between them.
 */
import type * as Sdk from '@modelcontextprotocol/server';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

/** What the library would load itself. */
const PARTS: readonly (() => unknown)[] = [
  () => import('@modelcontextprotocol/server/_shims'),
  () => import('@modelcontextprotocol/core/internal'),
  // Node loads its own requests and answers when one is first named.
  () => globalThis.Headers,
];
export async function loadMcpLibrary(): Promise<typeof Sdk> {
  // This file has brought most of the library with it.
  await yieldToEventLoop();
  for (const load of PARTS) {
    await load();
    await yieldToEventLoop();
  }
  const sdk = await import('@modelcontextprotocol/server');
  await yieldToEventLoop();
  return sdk;
}
