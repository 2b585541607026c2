/** Shows a refused form again, with the faults and the typed values: the same on every page. */
import { View, type PageResult } from '../../ports/http.js';
import { ServiceError } from '../errors.js';

/** The part of a refusal that a page shows. */
export interface Problem {
  message: string;
  code: string;
  /** Field → text, for the controls. */
  errors: Record<string, string>;
}

/** Refusals that a person can correct on the page; every other one leads to the error page. */
const MENDABLE: readonly number[] = [409, 422];

/**
 * `run`, or the page again with the refusal's status and headers (`Retry-After`).
 * @param mendable statuses that the page itself can show
 */
export async function orAgain(
  run: () => Promise<PageResult>,
  again: (problem: Problem) => Promise<PageResult> | PageResult,
  mendable: readonly number[] = MENDABLE,
): Promise<PageResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || !mendable.includes(error.status)) throw error;
    const { message, code, fields: errors = {} } = error;
    const page = await again({ message, code, errors });
    if (!(page instanceof View)) return page;
    const view = page.withStatus(error.status);
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
}
