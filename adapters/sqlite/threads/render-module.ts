/** The function of a rendering (ports/rendering.ts), loaded by the thread that calls the function. */
import type { AnyRender } from '../../../ports/rendering.js';

/** @throws TypeError when the module has no such function: a programming error */
export async function renderOf(module: string): Promise<AnyRender> {
  const { render } = (await import(module)) as { render?: unknown };
  if (typeof render !== 'function') throw new TypeError(`${module} exports no function \`render\``);
  return render as AnyRender;
}
