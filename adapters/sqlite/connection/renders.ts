/**
 * The functions that make JSON of documents (ports/rendering.ts), loaded by the thread that calls them. The writer
 * loads one before the first change, since a transaction cannot wait.
 */
import type { AnyRender } from '../../../ports/rendering.js';
import type { Connection } from './connection.js';

/** @throws TypeError when the module has no such function: a programming error */
async function renderOf(module: string): Promise<AnyRender> {
  const { render } = (await import(module)) as { render?: unknown };
  if (typeof render !== 'function') throw new TypeError(`${module} exports no function \`render\``);
  return render as AnyRender;
}

/** What a loaded module makes of documents. @throws TypeError with the reason why the module could not be loaded */
export function renderIn(connection: Connection, module: string): AnyRender {
  const render = connection.renders.get(module);
  if (typeof render === 'function') return render;
  throw new TypeError(render?.message ?? `${module} is not loaded`, { cause: render });
}

/** A failure is kept as the reason, and the next call tries again. */
export async function loadRender(connection: Connection, module: string): Promise<void> {
  if (typeof connection.renders.get(module) === 'function') return;
  connection.renders.set(module, await renderOf(module).catch((error: unknown) => error as Error));
}
