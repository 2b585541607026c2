/**
 * Lazy loading of the MCP library, which is large. It is loaded in parts that yield to the event
 * loop.
 */
import type * as Sdk from '@modelcontextprotocol/server';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

/** Dependencies that the library would load in one step. */
const MODULE_LOADERS: readonly (() => unknown)[] = [
  () => import('@modelcontextprotocol/server/_shims'),
  () => import('@modelcontextprotocol/core/internal'),
  () => globalThis.Headers,
];
export async function loadMcpLibrary(): Promise<typeof Sdk> {
  // The import of this module loaded most of the library.
  await yieldToEventLoop();
  for (const load of MODULE_LOADERS) {
    await load();
    await yieldToEventLoop();
  }
  const sdk = await import('@modelcontextprotocol/server');
  await yieldToEventLoop();
  return sdk;
}
